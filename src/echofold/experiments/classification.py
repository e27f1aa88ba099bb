"""The paper's classification experiment: telling nine speakers of Japanese vowels apart.

What the paper does not state was found by recomputing its table: all values of the training and
test utterances are scaled to [0, 1] together, draw ``s`` shuffles the training utterances by the
seed ``s`` as well as drawing its weights from it, and the bias of the readout is penalised.

"CV IReg" lets every split take its own best ridge; it needs no search of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import shuffle

from echofold import ESNClassifier, ESNSearchCV, KFold, SingleSplit, __version__
from echofold.datasets import SequenceDataset, load_japanese_vowels
from echofold.experiments import _tables, published
from echofold.experiments._tables import Say, expecting_collinear_states
from echofold.metrics import nrmse

SPACE = {
    "leak_rate": [i / 10 for i in range(1, 10)],
    "spectral_radius": [i / 10 for i in range(1, 15)],
    "ridge": [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1.0],
}
SCHEMES = tuple(published.CLASSIFICATION_VALIDATION)
FINALS = ("average", "retrain")


def utterances() -> tuple[SequenceDataset, list[np.ndarray], list[np.ndarray]]:
    """The data set, and its training and test utterances in [0, 1]."""
    vowels = load_japanese_vowels()
    every = np.concatenate([*vowels.train, *vowels.test])
    low, high = every.min(), every.max()
    train, test = (
        [(one - low) / (high - low) for one in part] for part in (vowels.train, vowels.test)
    )
    return vowels, train, test


def search(seed: int, train, labels) -> ESNSearchCV:
    """Search with the weights and the order of utterances of one draw."""
    train, labels = shuffle(train, labels, random_state=seed)
    model = ESNClassifier(50, scale=None, penalize_bias=True, states="last")
    return ESNSearchCV(
        model, SPACE, cv={"SV": SingleSplit(15), "CV": KFold(18)}, metric="nrmse",
        final="average", random_state=seed, progress=False,
    ).fit(train, labels)  # fmt: skip


def one_draw(seed: int, data, schemes: list[str]) -> list[dict[str, Any]]:
    """A row for every scheme and final model of one draw."""
    vowels, train, test = data
    fitted = search(seed, train, vowels.train_labels)
    targets = (vowels.test_labels[:, None] == np.unique(vowels.train_labels)).astype(float)
    rows = []
    for scheme in schemes:
        cv, individual = scheme.removesuffix(" IReg"), scheme.endswith(" IReg")
        scores = fitted.results_[cv].nrmse.isel(draw=0)
        scores = scores.min("ridge") if individual else scores
        for final in FINALS:
            model = fitted.finalize(final, scheme=cv, ridge_per="split" if individual else "all")
            outputs = model.decision_function(test)
            wrong = model.classes_[outputs.argmax(axis=1)] != vowels.test_labels
            rows.append({
                "draw": seed, "scheme": scheme, "final": final,
                "validation": float(scores.mean("split").min()),
                "test": nrmse(targets, outputs), "wrong": int(wrong.sum()),
                "leak_rate": model.leak_rate, "spectral_radius": model.spectral_radius,
                "ridge": model.ridge,
            })  # fmt: skip
    return rows


def run(
    out: Path, draws: int = 500, schemes: list[str] | None = None, quiet: bool = False
) -> list[Path]:
    """Compute the draws that are missing, and write the table."""
    say, wanted = Say(quiet), schemes or list(SCHEMES)
    settings = {"echofold": __version__, "space": SPACE}
    rows = _tables.Rows(
        out / "classification_draws.csv", settings, ("draw", "scheme", "final"), say
    )
    data = utterances()
    for seed in range(1, draws + 1):
        missing = [scheme for scheme in wanted if not len(rows.where(draw=seed, scheme=scheme))]
        if not missing:
            continue
        with expecting_collinear_states():
            rows.add(one_draw(seed, data, missing))
        wrong = " ".join(str(n) for n in rows.where(draw=seed).wrong)
        say(f"classification, draw {seed} of {draws}: {wrong} of 370 wrong", timed=True)
    table = summarize(rows, draws)
    return [
        rows.path,
        _tables.write(out / "classification.csv", table.to_csv(index=False)),
        _tables.write(out / "classification.md", describe(table, draws)),
    ]


def summarize(rows: _tables.Rows, draws: int) -> pd.DataFrame:
    """Means and deviations over draws beside the published ones."""
    lines = []
    for scheme, final in published.CLASSIFICATION_TEST:
        cell = rows.where(scheme=scheme, final=final)
        cell = cell[cell.draw <= draws]
        if len(cell) < draws:
            continue
        row: dict[str, Any] = {"scheme": scheme, "final": final}
        for name, printed in (
            ("validation", published.CLASSIFICATION_VALIDATION[scheme]),
            ("test", published.CLASSIFICATION_TEST[scheme, final]),
            ("wrong", published.CLASSIFICATION_WRONG[scheme, final]),
        ):
            row |= {
                name: cell[name].mean(), f"{name}_deviation": cell[name].std(ddof=0),
                f"{name}_published": printed[0], f"{name}_published_deviation": printed[1],
            }  # fmt: skip
        lines.append(row)
    return pd.DataFrame(lines)


def describe(table: pd.DataFrame, draws: int) -> str:
    """The table as in the paper."""
    lines = []
    for row in table.itertuples():
        cells = []
        for name in ("validation", "test", "wrong"):
            ours, printed = (
                _tables.plus_minus(getattr(row, which), getattr(row, f"{which}_deviation"))
                for which in (name, f"{name}_published")
            )
            cells.append(f"{ours} ({printed})")
        lines.append([row.scheme, row.final, *cells])
    header = ["scheme", "final", "validation NRMSE", "test NRMSE", "wrong of 370"]
    return "\n".join([
        "# Classification experiment", "",
        f"Mean ± standard deviation over {draws} draws, ours (published, 500 draws). For SV, "
        '"average" is the model as it was validated.', "",
        _tables.markdown(header, lines), "",
    ])  # fmt: skip
