"""The details of a report, gathered from a search as plain data; members of an ensemble, too."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

from echofold import __version__
from echofold._data.text import count, in_words, short
from echofold._folds.tolerances import COLLINEAR
from echofold._models.ensemble import TRIMMED, is_ensemble
from echofold._search.selection import FINALS
from echofold._validation.record import describe_trouble
from echofold.metrics._metric import RELATIVE
from echofold.plots._series import given_series
from echofold.report._code import code_of

PACKAGES = ("jax", "numpy", "pandas", "scikit-learn", "scipy", "xarray", "matplotlib")
NATURAL_ENDS = {"leak_rate": 1, "connectivity": 1, "spectral_radius": 0, "ridge": 0}
COLUMNS = 12  # columns or classes described at most


def details(search: Any) -> dict[str, Any]:
    """Everything but the pictures."""
    first = next(iter(search._results.values()))
    data = _sequences(search) if search.estimator._task.labels else _series(search)
    return {
        "metric": first.attrs["metric"],
        "winner": {
            "params": [(name, in_words(value)) for name, value in search.best_params_.items()],
            "final": FINALS[search.final].words,
            "seed": int(search.best_estimator_.seed_),
        },
        "members": _members(search),
        "schemes": [_scheme(search, name) for name in search._results],
        "asked": _asked(search, first),
        "data": data,
        "best": _best(search, first),
        "condition": _condition(search, first),
        "warnings": [*_warnings(search, first), *_edges(search, first)],
        "versions": _versions(),
        "code": code_of(search, data["described"]),
    }


def without_search(ahead: Any) -> dict[str, Any]:
    """The same of a forecast that no networks were searched for."""
    return {
        "metric": ahead.metric.name,
        "winner": None,
        "warnings": [],
        "data": _columns_of(ahead.table, []),
        "versions": _versions(),
    }


def _versions() -> list[tuple[str, str]]:
    own = [("echofold", __version__), ("Python", platform.python_version())]
    return own + [(name, version(name)) for name in PACKAGES]


def _series(search: Any) -> dict[str, Any]:
    """Size, range and columns of a series."""
    problem, _ = search._reader.problem(search.candidates_[search.best_index_])
    table = given_series(search)
    rows, outputs = table.values.shape
    task = problem.task
    facts = [(task.rows.capitalize(), str(rows)), ("Outputs", str(outputs))]
    if not task.fed_back:
        facts.insert(1, ("Inputs", str(problem.segments.n_inputs)))
    elif known := problem.known.shape[1]:
        facts.append(("Inputs known in advance", str(known)))
        given = getattr(search.best_estimator_, "X_schema_", None)
        if given is not None and given.names is not None:
            more = ", …" if len(given.names) > COLUMNS else ""
            facts.append(("Given as", ", ".join(map(str, given.names[:COLUMNS])) + more))
    if task.ordered:
        facts.append(("Washout", f"{len(problem.washout)} rows that only warm the reservoir up"))
    facts.append(("Split by schemes", f"{problem.rows} {task.rows}"))
    return _columns_of(table, facts)


def _columns_of(table: Any, facts: list[tuple[str, str]]) -> dict[str, Any]:
    """Facts, what is missing, where a table begins and ends, and the range of every column."""
    text = count(len(table.values), "row")
    if missing := int(np.isnan(table.values).sum()):
        facts = [*facts, ("Missing", f"{missing} of {table.values.size} values")]
    if table.index is not None:  # of dates, without their midnight
        ends = " to ".join(str(table.index[i]).removesuffix(" 00:00:00") for i in (0, -1))
        facts, text = [*facts, ("Index", ends)], f"{text}, {ends}"
    outputs = table.values.shape[1]
    names = table.schema.names or [f"output {i}" if outputs > 1 else "y" for i in range(outputs)]
    return {
        "facts": facts,
        "head": ("column", "minimum", "mean", "maximum"),
        "rows": [
            (str(name), *map(in_words, (np.nanmin(column), np.nanmean(column), np.nanmax(column))))
            for name, column in zip(names, table.values.T[:COLUMNS], strict=False)
        ],
        "left_out": max(0, outputs - COLUMNS),
        "described": text,
    }


def given_sequences(search: Any) -> tuple[list[np.ndarray], np.ndarray]:
    """The sequences ``(time, inputs)`` and labels that a search of a classifier was fitted on."""
    given, labels = (
        search._reader.data[i] if len(search._reader.data) > i else search._reader.fit_params[name]
        for i, name in enumerate(("sequences", "y"))
    )
    return search.best_estimator_._sequences(given), np.asarray(labels)


def _sequences(search: Any) -> dict[str, Any]:
    """Size and classes of sequences."""
    problem, _ = search._reader.problem(search.candidates_[search.best_index_])
    sequences, _ = given_sequences(search)
    classes, counts = search.best_estimator_.classes_, np.bincount(problem.labels)
    lengths = {len(one) for one in sequences}
    return {
        "facts": [
            ("Sequences", str(len(sequences))),
            ("Steps", " to ".join(map(str, sorted({min(lengths), max(lengths)})))),
            ("Inputs", str(problem.segments.n_inputs)),
            ("Classes", str(len(classes))),
        ],
        "head": ("class", "sequences"),
        "rows": [(str(c), str(n)) for c, n in zip(classes, counts, strict=True)][:COLUMNS],
        "left_out": max(0, len(classes) - COLUMNS),
        "described": f"{len(sequences)} sequences of {len(classes)} classes",
    }


def _members(search: Any) -> dict[str, Any] | None:
    """Members with equal parameters as one row; None if the final model is no ensemble."""
    model = search.best_estimator_
    if not is_ensemble(model):
        return None
    shaping = model.members[0]._shapes_the_problem
    searched = dict.fromkeys(name for one in search.candidates_ for name in one)
    names = [name for name in searched if name in shaping]
    names += [name for name in searched if name not in shaping and name != "ridge"] + ["ridge"]
    groups = Counter(
        tuple(in_words(getattr(member, name)) for name in names) for member in model.members
    )
    total = len(model.members)
    return {
        "head": names,
        "rows": [(values, number, f"{number / total:.1%}") for values, number in groups.items()],
        "total": total,
        "trimmed": f"{TRIMMED:.0%}",
    }


def _scheme(search: Any, name: str) -> dict[str, Any]:
    """A row of the table of schemes."""
    unseen, evaluation = None, search.evaluation_
    if evaluation is not None and name == next(iter(search._results)):
        unseen = float(evaluation[evaluation.attrs["metric"]].values.mean())
    dataset, splits = search._results[name], search._schemes[name]
    scores, winner = dataset[dataset.attrs["metric"]].values, search._winner(name)
    params = dict(search.candidates_[winner.candidate])
    params["ridge"] = float(dataset.ridge.values[winner.ridge].mean())
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
    """What was searched, by what."""
    nouns = {"candidate": "candidate", "ridge": "ridge value", "draw": "random draw"}
    selected = "the mean over splits"
    if search.n_draws > 1:
        selected += " and draws" if search.select == "mean" else " in the best draw"
    if search.ridge_per == "split":
        selected += ", with a ridge for each split"
    return [
        ("Estimator", repr(search.estimator)),
        ("Searched", " × ".join(count(first.sizes[name], noun) for name, noun in nouns.items())),
        *_spaces(search),
        ("Strategy", first.attrs["strategy"]),
        ("Schemes", "; ".join(dataset.attrs["scheme"] for dataset in search._results.values())),
        ("Metric", ", ".join(_metrics(first))),
        ("Selected by", selected),
        ("Final model", FINALS[search.final].words),
        ("Seed", str(search.seed_)),
    ]


def _spaces(search: Any) -> list[tuple[str, str]]:
    """The values of hyper-parameters: those of all spaces, then where spaces differ."""
    spaces = [search.space_] if isinstance(search.space_, dict) else search.space_
    texts = [{name: _values(value) for name, value in space.items()} for space in spaces]
    names = dict.fromkeys(name for one in texts for name in one)
    shared = [name for name in names if len({one.get(name) for one in texts}) == 1]
    rows = [(name, texts[0][name]) for name in shared]
    if len(shared) < len(names):
        for number, one in enumerate(texts, 1):
            differing = (f"{name}: {text}" for name, text in one.items() if name not in shared)
            rows.append((f"Space {number}", "; ".join(differing)))
    return rows


def _values(value: Any) -> str:
    """The values of one hyper-parameter, not all of them if there are many."""
    if hasattr(value, "rvs"):
        named = (f"{k}={in_words(v)}" for k, v in value.kwds.items())
        return f"{value.dist.name}({', '.join([*map(in_words, value.args), *named])})"
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return in_words(value)
    shown = [
        in_words(one)
        if np.ndim(one) == 0 or (isinstance(one, tuple | list) and np.size(one) <= 6)
        else f"array {np.shape(one)}"
        for one in value
    ]
    if len(shown) > 16:
        shown = [*shown[:8], "…", *shown[-4:]]
    return ", ".join(shown)


def _metrics(dataset: Any) -> list[str]:
    return [str(k) for k, v in dataset.items() if {"split", "ridge"} <= set(v.dims)]


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
    values, attrs = first.condition.values, first.attrs
    own = float(search.best_estimator_.condition_)
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


def _warnings(search: Any, first: Any) -> Iterator[str]:
    """What went wrong or was cut short, by scheme, and what is to be said of a poor winner."""
    for name, dataset in search._results.items():
        prefix = f"{name}: " if isinstance(search.cv, dict) and len(search._results) > 1 else ""
        for note in describe_trouble(dataset, dataset.ridge.values):
            yield prefix + note
        if "pruned" in dataset and dataset.pruned.values.any():
            share = f"{int(dataset.pruned.values.sum())} of {dataset.pruned.size}"
            kind = "upper" if dataset.attrs.get("better") == "higher" else "lower"
            yield (
                f"{prefix}{share} mean scores are {kind} bounds: those candidates were dropped as "
                "soon as they could not win any more. The winner's score is complete."
            )
    score, name = search.best_score_, first.attrs["metric"]
    if not np.isfinite(score):
        yield "No candidate has a finite score: the winner is the first of them."
    elif name in RELATIVE and score >= 1:
        yield (
            f"An {name.upper()} of {in_words(score)} is no better than guessing the mean of each "
            "validation stretch, as far as the mean over splits tells."
        )


def _edges(search: Any, first: Any) -> Iterator[str]:
    """Hyper-parameters of the winner at an end of what was searched."""
    spaces = [search.space_] if isinstance(search.space_, dict) else search.space_
    drawn = {name for space in spaces for name, value in space.items() if hasattr(value, "rvs")}
    for name in [*first.attrs["hyper_parameters"], "ridge"]:
        if name in drawn:  # the ends of a distribution are not those of what it gave
            continue
        values, best = np.unique(first[name].values), search.best_params_.get(name)
        if np.ndim(best) or len(values) < 3 or values.dtype.kind not in "iuf":
            continue  # a ridge for each output, say
        if best in (values[0], values[-1]) and NATURAL_ENDS.get(name) != best:
            end = "smallest" if best == values[0] else "largest"
            yield (
                f"The winner has the {end} {name} of those searched, {in_words(best)}; a wider "
                "range may hold a better one."
            )
