"""The paper's generative experiment: four series, ten schemes and gaps, three final models.

What the paper does not state was found by recomputing its table: series are scaled to [0, 1] over
all of their values, the bias of the readout is penalised, draw ``s`` takes its weights from
``RandomState(s)``, and the grid is the one below.

One row of the published table is not what its name says: the windows of "FV _V" were lengthened
*backwards* by the gap and end where the validation interval begins. Both are computed here,
"FV _V" with a gap and "FV _V as published" with those windows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    SingleSplit,
    WalkForward,
    __version__,
)
from echofold import datasets as data
from echofold.experiments import _tables, published
from echofold.experiments._tables import Say, checkpoint, expecting_collinear_states
from echofold.metrics import nrmse


@dataclass(frozen=True)
class Series:
    """Lengths of one experiment, in pairs of input and target."""

    washout: int
    pairs: int
    valid: int  # of every validation interval, of gaps and of the test
    k: int
    min_train: int

    def scaled(self, name: str) -> np.ndarray:
        """The series in [0, 1]."""
        values = getattr(data, f"load_{name}")().data.to_numpy()
        return (values - values.min()) / (values.max() - values.min())

    def parts(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Values to search on, and those to test on."""
        y = self.scaled(name)
        end = self.washout + self.pairs + 1
        return y[:end], y[end : end + self.valid]


SERIES = {
    "labor": Series(washout=9, pairs=340, valid=10, k=34, min_train=170),
    "gasoline": Series(washout=81, pairs=1206, valid=67, k=18, min_train=575),
    "sunspots": Series(washout=200, pairs=1800, valid=200, k=10, min_train=1000),
    "electricity": Series(washout=213, pairs=3617, valid=201, k=18, min_train=1915),
}
SPACE = {
    "leak_rate": [i / 10 for i in range(1, 10)],
    "spectral_radius": [i / 10 for i in range(15)],
    "ridge": [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2, 1.0, 10.0, 100.0, 1000.0],
}
AS_PUBLISHED = "FV _V as published"
SCHEMES = (*published.GENERATIVE_VALIDATION, AS_PUBLISHED)
FINALS = ("average", "best", "retrain")
PRUNE_FROM = 200  # steps; over shorter intervals comparing bounds costs more than it saves
WITHIN = 0.002  # difference up to which a published number counts as reproduced

_DIVERGES = (
    "In draw {} the winner has next to no ridge and its run over the test interval diverges: the "
    "mean is that one error, which multiplies the rounding of the readout."
)
_SOUND = (
    " In other draws readouts at ridge 0 and a small radius, noise when they come from normal "
    "equations, validate best once they are computed soundly."
)
REASONS = {  # with the published five draws
    ("gasoline", "SV"): _DIVERGES.format("1 (retrained, in draw 2 too)") + _SOUND,
    ("gasoline", "SV _V"): _DIVERGES.format("1") + _SOUND,
    ("electricity", "SV"): _DIVERGES.format("4"),
    ("sunspots", "SV _V"): "In draws 2 and 3 the winner has ridge 0 and nearly collinear states: "
    "from normal equations its validation error, and with it who wins, depends on rounding.",
    ("sunspots", "CV V_"): "In draw 1 two candidates validate within 0.0005 of each other. Normal "
    "equations round the winner's error (ridge 1e-9) up by 0.001; then the other (leak 0.2, radius "
    "0.8, ridge 1e-7) wins, and with it the means are the published ones.",
}


def schemes_of(s: Series) -> dict[str, Any]:
    """Every scheme and gap for one series."""
    v, steps = s.valid, {"valid": s.valid, "min_train": s.min_train}
    longer = [
        (np.arange(max(0, a - s.min_train - v), a), np.arange(a, b))
        for a, b in (split.valid for split in WalkForward(s.k, **steps).splits(s.pairs))
    ]
    return {
        "SV": SingleSplit(v),
        "SV _V": SingleSplit(v, gap=v),
        "CV": KFold(s.k, valid=v),
        "CV V_": KFold(s.k, valid=v, gap=(0, v)),
        "CV _V": KFold(s.k, valid=v, gap=(v, 0)),
        "CV _V_": KFold(s.k, valid=v, gap=v),
        "AV": Accumulative(s.k, **steps),
        "AV _V": Accumulative(s.k, **steps, gap=v),
        "FV": WalkForward(s.k, **steps),
        "FV _V": WalkForward(s.k, **steps, gap=v),
        AS_PUBLISHED: longer,
    }


def search(name: str, schemes: list[str], draws: int, **options: Any) -> ESNSearchCV:
    """Search one series by several schemes at once, every draw by itself."""
    s = SERIES[name]
    by_name = schemes_of(s)
    model = ESNForecaster(50, washout=s.washout, scale=None, penalize_bias=True)
    return ESNSearchCV(
        model, SPACE, cv={scheme: by_name[scheme] for scheme in schemes}, n_draws=draws,
        select="draw", final="average", random_state=1, prune=s.valid >= PRUNE_FROM, **options,
    ).fit(s.parts(name)[0])  # fmt: skip


def final_errors(found: ESNSearchCV, name: str, scheme: str, draw: int) -> list[dict[str, Any]]:
    """A row for every final model of the winner of one draw."""
    s = SERIES[name]
    test = s.parts(name)[1]
    results = found.results_[scheme].isel(draw=draw)
    scores = results.nrmse.mean("split")
    if "pruned" in results:  # lower bounds of candidates that could not win
        scores = scores.where(~results.pruned)
    finals = ("average", "retrain") if scheme.startswith("SV") else FINALS
    rows = []
    for final in finals:
        model = found.finalize(final, scheme=scheme, draw=draw)
        rows.append({
            "dataset": name, "scheme": scheme, "draw": draw + 1, "final": final,
            "validation": float(scores.min()), "test": nrmse(test, model.forecast(s.valid)),
            "leak_rate": model.leak_rate, "spectral_radius": model.spectral_radius,
            "ridge": model.ridge,
        })  # fmt: skip
    return rows


def run(
    out: Path,
    draws: int = 5,
    datasets: list[str] | None = None,
    schemes: list[str] | None = None,
    quiet: bool = False,
) -> list[Path]:
    """Compute what is missing of the table, and write it."""
    names, wanted, say = datasets or list(SERIES), schemes or list(SCHEMES), Say(quiet)
    settings = {
        "echofold": __version__, "space": SPACE, "series": {n: asdict(SERIES[n]) for n in SERIES},
    }  # fmt: skip
    rows = _tables.Rows(
        out / "generative_draws.csv", settings, ("dataset", "scheme", "draw", "final"), say
    )
    for name in names:
        missing = [scheme for scheme in wanted if not _complete(rows, name, scheme, draws)]
        if not missing:
            say(f"generative, {name}: finished before")
            continue
        with checkpoint(out, f"generative-{name}", missing, draws) as path:
            with expecting_collinear_states():
                fitted = search(name, missing, draws, checkpoint=path, progress=say.progress)
            rows.add(
                row
                for scheme in missing
                for draw in range(draws)
                for row in final_errors(fitted, name, scheme, draw)
            )
        say(f"generative, {name}: finished", timed=True)
    table = summarize(rows, draws)
    return [
        rows.path,
        _tables.write(out / "generative.csv", table.to_csv(index=False)),
        _tables.write(out / "generative.md", describe(table, draws)),
    ]


def _complete(rows: _tables.Rows, name: str, scheme: str, draws: int) -> bool:
    """Whether all draws of one scheme are there."""
    return set(range(1, draws + 1)) <= set(rows.where(dataset=name, scheme=scheme).get("draw", ()))


def summarize(rows: _tables.Rows, draws: int) -> pd.DataFrame:
    """Means over draws beside the published ones, a row for every cell that is finished."""
    lines = []
    for scheme in SCHEMES:
        for final in FINALS:
            for name in SERIES:
                cell = rows.where(dataset=name, scheme=scheme, final=final)
                if len(cell) == 0 or not _complete(rows, name, scheme, draws):
                    continue
                mean = cell[cell.draw <= draws][["validation", "test"]].mean()
                printed = _published(name, scheme, final)
                lines.append({
                    "scheme": scheme, "final": final, "dataset": name,
                    "validation": mean.validation, "validation_published": printed[0],
                    "test": mean.test, "test_published": printed[1],
                })  # fmt: skip
    return pd.DataFrame(lines)


def _published(dataset: str, scheme: str, final: str) -> tuple[float | None, float | None]:
    """Published validation and test error; those of "FV _V" belong to the longer windows."""
    if scheme == "FV _V":
        return None, None
    scheme = "FV _V" if scheme == AS_PUBLISHED else scheme
    at = published.DATASETS.index(dataset)
    return (
        published.GENERATIVE_VALIDATION[scheme][at],
        published.GENERATIVE_TEST[scheme, final][at],
    )


def describe(table: pd.DataFrame, draws: int) -> str:
    """The table as in the paper, how much of it was reproduced, and why the rest was not."""
    names = [name for name in SERIES if name in set(table.dataset)]
    cells = {(row.scheme, row.final, row.dataset): row for row in table.itertuples()}
    lines, before = [], ""
    for scheme, final in dict.fromkeys((scheme, final) for scheme, final, _ in cells):
        line = ["" if scheme == before else scheme, final]
        for name in names:
            row = cells.get((scheme, final, name))
            if row is None:
                line += ["", ""]
                continue
            valid = _tables.beside(row.validation, row.validation_published, WITHIN)
            line += ["" if scheme == before else valid]
            line += [_tables.beside(row.test, row.test_published, WITHIN)]
        lines.append(line)
        before = scheme
    header = ["validation", "final"]
    header += [f"{name}, {which}" for name in names for which in ("valid", "test")]
    return "\n".join([
        "# Generative experiment", "",
        f"Mean NRMSE over {draws} draws, ours (published); * where they differ by more than "
        f"{WITHIN}. For SV, \"average\" is the model as it was validated.", "",
        _tables.markdown(header, lines), "",
        *_reproduced(table, draws), "",
        f"The published row FV _V is the one called {AS_PUBLISHED!r} here: its windows were "
        "lengthened backwards by the gap, and no gap lies before the validation interval.", "",
    ])  # fmt: skip


def _reproduced(table: pd.DataFrame, draws: int) -> list[str]:
    """How many published numbers were reproduced, and the list of those that were not."""
    lines: list[str] = []
    differing: dict[tuple[str, str], list[str]] = {}
    for which, rows in (("test", table), ("validation", table[table.final == "average"])):
        known = rows[rows[f"{which}_published"].notna()]
        same = 0
        for row in known.itertuples():
            ours, printed = getattr(row, which), getattr(row, f"{which}_published")
            if _tables.agrees(ours, printed, WITHIN):
                same += 1
                continue
            name = f"test, {row.final}" if which == "test" else which
            at = differing.setdefault((row.dataset, row.scheme), [])
            at.append(f"{name} {_tables.beside(ours, printed)}")
        lines.append(
            f"Of {len(known)} published {which} errors {same} are reproduced within {WITHIN}."
        )
    if differing:
        lines += ["", "Those that differ:", ""]
    for key, cells in sorted(differing.items()):
        reason = REASONS.get(key, "") if draws == 5 else ""
        lines.append(f"- {', '.join(key)}: {'; '.join(cells)}. {reason}".rstrip())
    return lines
