"""The details of a report, gathered from a search as plain data; members of an ensemble, too."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from echofold import __version__
from echofold._data.text import in_words, short
from echofold._folds.tolerances import COLLINEAR
from echofold._models.ensemble import TRIMMED, is_ensemble
from echofold._search.finals import FINALS
from echofold._validation.record import describe_trouble
from echofold.metrics._metric import RELATIVE
from echofold.report._code import code_of
from echofold.report._data import described


def members_of(search: Any) -> dict[str, Any] | None:
    """Members with equal parameters as one row; None if the final model is no ensemble."""
    model = search.best_estimator_
    if not is_ensemble(model):
        return None
    shaping = model.members[0]._shapes_the_problem
    searched = dict.fromkeys(name for one in search.candidates_ for name in one)
    names = [name for name in searched if name in shaping]
    names += [name for name in searched if name not in shaping and name != "ridge"] + ["ridge"]
    groups: dict[tuple[str, ...], int] = {}
    for member in model.members:
        values = tuple(in_words(getattr(member, name)) for name in names)
        groups[values] = groups.get(values, 0) + 1
    total = len(model.members)
    return {
        "head": names,
        "rows": [(values, count, f"{count / total:.1%}") for values, count in groups.items()],
        "total": total,
        "trimmed": f"{TRIMMED:.0%}",
    }


PACKAGES = ("jax", "numpy", "pandas", "scikit-learn", "scipy", "xarray", "matplotlib")
NATURAL_ENDS = {"leak_rate": 1, "connectivity": 1, "spectral_radius": 0, "ridge": 0}


def details(search: Any, expected: dict[str, float]) -> dict[str, Any]:
    """Everything but the pictures; ``expected`` are errors on unseen data by scheme."""
    data = described(search)
    first = next(iter(search._results.values()))
    return {
        "metric": first.attrs["metric"],
        "winner": _winner(search),
        "members": members_of(search),
        "schemes": [_scheme(search, name, expected) for name in search._results],
        "asked": _asked(search, first),
        "data": data,
        "best": _best(search, first),
        "condition": _condition(search, first),
        "warnings": _warnings(search),
        "versions": [("echofold", __version__), ("Python", platform.python_version())]
        + [(name, version(name)) for name in PACKAGES],
        "code": code_of(search, data["described"]),
    }


def _winner(search: Any) -> dict[str, Any]:
    return {
        "params": [(name, in_words(value)) for name, value in search.best_params_.items()],
        "final": FINALS[search.final].words,
        "seed": int(search.best_estimator_.seed_),
    }


def _scheme(search: Any, name: str, expected: dict[str, float]) -> dict[str, Any]:
    """A row of the table of schemes."""
    unseen = expected.get(name)
    if unseen is None and search.evaluation_ is not None and name == next(iter(search._results)):
        evaluation = search.evaluation_
        unseen = float(evaluation[evaluation.attrs["metric"]].values.mean())
    dataset = search._results[name]
    scores = dataset[dataset.attrs["metric"]].values
    winner = search._winner(name)
    params = dict(search.candidates_[winner.candidate])
    params["ridge"] = float(dataset.ridge.values[winner.ridge].mean())
    splits = search._schemes[name]
    lengths = sorted({int(splits.sizes.min()), int(splits.sizes.max())})
    return {
        "name": name if isinstance(search.cv, dict) else splits.name,
        "described": splits.name,
        "splits": len(splits),
        "rows": " to ".join(map(str, lengths)),
        "score": search._winners.score(winner),
        "expected": unseen,
        "lost": int((~np.isfinite(scores)).sum()),
        "total": scores.size,
        "params": ", ".join(f"{k}={in_words(v)}" for k, v in params.items()),
    }


def _asked(search: Any, first: Any) -> list[tuple[str, str]]:
    sizes = first.sizes
    rows = [
        ("Estimator", repr(search.estimator)),
        (
            "Searched",
            " × ".join(
                f"{count} {what}{'s' if count > 1 else ''}"
                for count, what in (
                    (sizes["candidate"], "candidate"),
                    (sizes["ridge"], "ridge value"),
                    (sizes["draw"], "random draw"),
                )
            ),
        ),
    ]
    spaces = [search.space] if isinstance(search.space, dict) else search.space
    rows += _spaces(spaces)
    rows += [
        ("Strategy", first.attrs["strategy"]),
        ("Schemes", "; ".join(dataset.attrs["scheme"] for dataset in search._results.values())),
        ("Metric", ", ".join(_metrics(first))),
        ("Selected by", _selection(search)),
        ("Final model", FINALS[search.final].words),
        ("Seed", str(search.seed_)),
    ]
    return rows


def _spaces(spaces: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The values of hyper-parameters: those of all spaces, then where spaces differ."""
    texts = [{name: _values(value) for name, value in space.items()} for space in spaces]
    names = dict.fromkeys(name for one in texts for name in one)
    shared = [name for name in names if len({one.get(name) for one in texts}) == 1]
    rows = [(name, texts[0][name]) for name in shared]
    if len(shared) == len(names):
        return rows
    return rows + [
        (
            f"Space {number}",
            "; ".join(f"{name}: {text}" for name, text in one.items() if name not in shared),
        )
        for number, one in enumerate(texts, 1)
    ]


def _metrics(dataset: Any) -> list[str]:
    return [str(k) for k, v in dataset.items() if {"split", "ridge"} <= set(v.dims)]


def _selection(search: Any) -> str:
    text = "the mean over splits"
    if search.n_draws > 1:
        text += " and draws" if search.select == "mean" else " in the best draw"
    return text + (", with a ridge for each split" if search.ridge_per == "split" else "")


def _values(value: Any) -> str:
    """The values of one hyper-parameter, not all of them if there are many."""
    if hasattr(value, "rvs"):
        named = (f"{k}={in_words(v)}" for k, v in value.kwds.items())
        arguments = [*map(in_words, value.args), *named]
        return f"{value.dist.name}({', '.join(arguments)})"
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return in_words(value)
    shown = [in_words(v) if _short(v) else f"array {np.shape(v)}" for v in value]
    if len(shown) > 16:
        shown = [*shown[:8], "…", *shown[-4:]]
    return ", ".join(shown)


def _short(value: Any) -> bool:
    """Whether a value is fit to be written out: a number, a word, a few of them."""
    return np.ndim(value) == 0 or (isinstance(value, tuple | list) and np.size(value) <= 6)


def _best(search: Any, first: Any) -> dict[str, Any]:
    """The ten best candidates by the first scheme."""
    table = search.to_frame()
    total, table = len(table), table.head(10)
    scores = [name for name in table if str(name).removesuffix("_std") in _metrics(first)]
    table = table[scores + [name for name in table if name not in scores]]
    return {
        "total": total,
        "head": [str(name) for name in table.columns],
        "rows": [[in_words(value) for value in row] for row in table.itertuples(index=False)],
    }


def _condition(search: Any, first: Any) -> dict[str, Any]:
    """How well the states can be told apart numerically, and how the numbers were computed."""
    values = first.condition.values
    own = float(search.best_estimator_.condition_)
    attrs = first.attrs
    return {
        "own": own,
        "low": float(np.nanmin(values)),
        "high": float(np.nanmax(values)),
        "collinear": int((~(values < COLLINEAR)).sum()),
        "count": values.size,
        "limit": short(COLLINEAR),
        "fine": own < COLLINEAR,
        "facts": [
            ("Algorithm", f"{first.algorithm.values[search.best_index_]}: {attrs['reason']}"),
            ("Memory", attrs["memory"]),
            ("Splits solved again for accuracy", str(attrs["refitted_splits"])),
            ("Reservoir steps driven", str(attrs["steps_driven"])),
            ("Seconds", f"{attrs['seconds']:.1f}"),
        ],
    }


def _warnings(search: Any) -> list[str]:
    """What a reader should know, in sentences."""
    notes: list[str] = []
    for name, dataset in search._results.items():
        trouble = describe_trouble(dataset, dataset.ridge.values)
        if "pruned" in dataset and dataset.pruned.values.any():
            share = f"{int(dataset.pruned.values.sum())} of {dataset.pruned.size}"
            kind = "upper" if dataset.attrs.get("better") == "higher" else "lower"
            trouble.append(
                f"{share} mean scores are {kind} bounds: those candidates were dropped as soon as "
                "they could not win any more. The winner's score is complete."
            )
        prefix = f"{name}: " if isinstance(search.cv, dict) and len(search._results) > 1 else ""
        notes += [prefix + note for note in trouble]
    score, first = search.best_score_, next(iter(search._results.values()))
    if not np.isfinite(score):
        notes.append("No candidate has a finite score: the winner is the first of them.")
    elif first.attrs["metric"] in RELATIVE and score >= 1:
        name = first.attrs["metric"].upper()
        notes.append(
            f"An {name} of {in_words(score)} is no better than guessing the mean of each "
            "validation interval, as far as the mean over splits tells."
        )
    return notes + _edges(search, first)


def _edges(search: Any, first: Any) -> list[str]:
    """Hyper-parameters of the winner at an end of what was searched."""
    notes = []
    spaces = [search.space] if isinstance(search.space, dict) else search.space
    drawn = {name for space in spaces for name, value in space.items() if hasattr(value, "rvs")}
    for name in [*first.attrs["hyper_parameters"], "ridge"]:
        if name in drawn:  # the ends of a distribution are not those of what it gave
            continue
        values = np.unique(first[name].values)
        best = search.best_params_.get(name)
        if np.ndim(best) or len(values) < 3 or values.dtype.kind not in "iuf":
            continue  # a ridge for each output, say
        if NATURAL_ENDS.get(name) == best:
            continue
        if best in (values[0], values[-1]):
            end = "smallest" if best == values[0] else "largest"
            notes.append(
                f"The winner has the {end} {name} of those searched, {in_words(best)}; a wider "
                "range may hold a better one."
            )
    return notes
