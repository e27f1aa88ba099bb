"""What is asked of a validation: metrics, schemes and settings, checked against the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.lazy import AT_ONCE
from echofold._data.problem import Problem, Task, in_words_of
from echofold._data.rows import Intervals
from echofold._data.text import inflected
from echofold._folds.splits import RowSplits, resolve_cv, split_series
from echofold._validation.score import check_values_of
from echofold.metrics._metric import OF_VALUES, TOGETHER, Metric, resolve
from echofold.schemes._scheme import Scheme

LOST = 1e-4  # of the spread of an input, by rounding it: what users are told of


@dataclass(frozen=True)
class Settings:
    """What is asked of a validation.

    ``ridge (ridges,)`` is the path, ``penalised`` whether it acts on the bias, too; the first of
    the metrics is the one to select by; ``memory`` is as users give it; ``readouts`` tells whether
    those of every split are kept. ``pool`` says how several series share a readout, and ``shrink``
    is the ridge of what each adds to it.
    """

    ridge: np.ndarray
    penalised: bool
    metrics: list[Metric]
    algorithm: str = "auto"
    memory: Any = None
    readouts: bool = False
    verify: bool = False
    workers: int = 1  # that share the free memory
    threads: int = 1  # of each of them, for candidates whose states are kept
    pool: str = "all"
    shrink: float = 0.0


def check_metrics(metric) -> list[Metric]:
    """One or several metrics; the first is the one to select by."""
    given = list(metric) if isinstance(metric, list | tuple) else [metric]
    if not given:
        raise ValueError("metric=[] is empty; give at least one, such as 'nrmse'.")
    metrics = [resolve(one) for one in given]
    names = [one.name for one in metrics]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"metric has {names.count(name)} entries named {name!r}, and results are stored by "
                "name; drop one, or give functions different __name__s."
            )
    return metrics


def resolve_schemes(cv, problem: Problem, groups, metrics) -> dict[str, RowSplits]:
    """Splits of every scheme asked for, checked against the task."""
    named = cv if isinstance(cv, dict) else {"cv": cv}
    if not named:
        raise ValueError("cv={} is empty; give at least one scheme, such as {'CV': KFold(10)}.")
    if groups is not None:
        groups = _groups(groups, problem)
        if all(isinstance(one, Scheme) for one in named.values()):
            raise ValueError(
                f"groups was given, but cv={cv!r} does not look at groups. Use cv=None or an "
                "integer for folds of groups, or a splitter such as scikit-learn's GroupKFold."
            )
    schemes = {}
    for name, one in named.items():
        if problem.each:
            splits = split_series(one, problem.segments.rows.tolist(), groups=groups)
        else:
            shuffled = not problem.task.ordered
            splits = resolve_cv(
                one, problem.rows, groups=groups, labels=problem.labels, shuffled=shuffled
            )
        splits = splits.with_values(problem.present)
        schemes[str(name)] = splits if problem.steps == 1 else splits.in_steps(problem.steps)
        _check_values(problem, schemes[str(name)])
        check_task(problem, schemes[str(name)], metrics)
    return schemes


def _groups(groups, problem: Problem) -> np.ndarray:
    """Groups of the rows that are split; a pair of a forecast takes its target's.

    Those of several series follow each other.
    """
    if problem.each:
        ends = np.cumsum([one.data_rows for one in problem.each])[:-1]
        several = isinstance(groups, list | tuple | dict) and len(groups) == len(problem.each)
        parts = list(groups.values() if isinstance(groups, dict) else groups) if several else []
        parts = parts or np.split(np.asarray(groups), ends)
        pairs = zip(parts, problem.each, problem.names, strict=True)
        return np.concatenate([_groups_of(name, one, each) for one, each, name in pairs])
    groups = np.asarray(groups)
    if groups.shape != (problem.data_rows,):
        raise ValueError(
            f"groups has shape {groups.shape}, expected ({problem.data_rows},): one group for each "
            "row of the data (of whole sequences, for each of them)."
        )
    first = problem.first_target
    return groups[first : first + problem.rows]


def _groups_of(name: Any, groups, problem: Problem) -> np.ndarray:
    """`_groups` of one of several series."""
    with in_words_of(name):
        return _groups(groups, problem)


def check_pool(problem: Problem, schemes: dict[str, RowSplits], settings: Settings) -> None:
    """Raise where series cannot have readouts of their own, as they would."""
    if settings.verify:
        raise ValueError(
            f"verify=True refits the readouts of splits, and with pool={settings.pool!r} each "
            "series has one of its own. Use verify=False, or pool='all'."
        )
    for splits in schemes.values() if settings.pool == "none" else ():
        for one in splits.of_series:
            rows = weighed_rows(splits.trained_alone(one).train, problem.each[one.series].weights)
            if not rows.all():
                at = f" in split {one.places[int(rows.argmin())] + 1} of cv={splits.name}"
                raise ValueError(
                    f"pool='none': series {problem.names[one.series]!r} has no row to be trained on"
                    f"{at if splits.name else ''}, and the readouts of others are not its own. Use "
                    "pool='all' or 'shrunk', or a scheme that splits each series by its time."
                )


def weighed_rows(sets: Sequence[Intervals], weights: np.ndarray | None) -> np.ndarray:
    """How many rows ``(sets,)`` of each set have a positive weight."""
    if weights is None:
        return np.array([sum(b - a for a, b in one) for one in sets])
    before = np.append(0, np.cumsum(weights > 0))
    return np.array([sum(before[b] - before[a] for a, b in one) for one in sets])


def check_labels(metrics: list[Metric], task: Task) -> None:
    """Raise for a metric of labels where there are none."""
    for metric in metrics:
        if metric.needs == "labels" and not task.labels:
            raise ValueError(
                f"metric={metric.name!r} counts wrong labels and needs a classifier; "
                f"use one of {', '.join(OF_VALUES)}."
            )


def check_one_run(splits: RowSplits) -> None:
    """Raise for validation sets of a forecaster that are not one stretch of time."""
    several = splits.bounds is not None  # series, of which each has a stretch of its own
    each = [one.splits for one in splits.of_series] if several else [splits]
    if not all(one.runs.single for one in each):
        raise ValueError(
            f"cv={splits.name} has validation sets that are not one interval each; a forecast runs "
            "over one. Use a scheme such as KFold, Accumulative or WalkForward."
        )


def check_task(problem: Problem, splits: RowSplits, metrics: list[Metric]) -> None:
    """Raise for a scheme or a metric that makes no sense for the task."""
    if problem.task.fed_back:
        check_one_run(splits)
    _check_weights(problem, splits)
    if problem.lazy:
        _check_lazy(splits, metrics, problem.task.fed_back)
    check_labels(metrics, problem.task)
    for metric in metrics:
        each = [one.splits for one in splits.of_series] if problem.each else [splits]
        intervals = all(one.intervals for one in each)
        if metric.needs == "lost" and not (intervals and problem.task.ordered):
            raise ValueError(
                f"metric={metric.function!r} is the time until an error is too large, and needs "
                f"validation rows that follow each other in time; cv={splits.name} has others. Use "
                f"a scheme such as KFold without shuffling, or one of {', '.join(OF_VALUES)}."
            )
        if problem.task.labels and (metric.needs == "relative" or metric.per == "change"):
            raise ValueError(
                f"metric={metric.name!r} is for series, and classes are none; use 'error_rate' or "
                "'nrmse'."
            )
        if metric.per == "change" and not problem.task.ordered:
            raise ValueError(
                f"metric={metric.name!r} compares errors with changes in time, and sequences do "
                "not follow each other; use 'nrmse' or 'mae'."
            )
    check_values_of(problem, splits, metrics)


def _check_lazy(splits: RowSplits, metrics: list[Metric], fed_back: bool) -> None:
    """Raise for what would need all rows of a series that is read in blocks."""
    if not splits.intervals:
        raise ValueError(
            f"cv={splits.name} has validation sets that are not one interval each; a series so "
            "long that it is read in blocks is validated over intervals. Use a scheme such as "
            "KFold, Accumulative or WalkForward, without shuffling."
        )
    rows = int(splits.sizes.sum())
    for metric in metrics:
        together = metric.needs == "predictions" or (metric.needs in TOGETHER and not fed_back)
        if together and 8 * rows > AT_ONCE:
            raise ValueError(
                f"metric={metric.name!r} needs all predictions at once, of {rows} validation rows, "
                "but the series is so long that it is read in blocks. Use one of "
                f"{', '.join(OF_VALUES)}, or shorter validation stretches, as "
                "KFold(10, valid=1000)."
            )


def check_prunable(problem: Problem, schemes: dict[str, RowSplits]) -> None:
    """Raise where runs that stop and go on would need too much memory."""
    rows = max(int(splits.sizes.sum()) for splits in schemes.values())
    columns = problem.targets.shape[1] + problem.known.shape[1]
    if problem.lazy and 8 * rows * columns > AT_ONCE:
        raise ValueError(
            f"prune=True keeps all {rows} validation rows in memory, but the series is so long "
            "that it is read in blocks. Use prune=False, or shorter validation stretches, as "
            "KFold(10, valid=1000)."
        )


def describe_data(problem: Problem, schemes: dict[str, RowSplits]) -> list[str]:
    """Sentences about missing values, splits that are left out for them, and classes not seen."""
    notes = list(problem.notes)
    for splits in schemes.values():
        if problem.labels is not None:
            notes += _describe_unseen(problem, splits)
        if splits.short:
            some = ", ".join(repr(problem.names[place]) for place in splits.short[:5])
            notes.append(
                f"{len(splits.short)} of {len(problem.each)} series ({some}"
                f"{', …' if len(splits.short) > 5 else ''}) are too short for cv={splits.name}: "
                "they are trained on in every split, and not validated."
            )
        if splits.empty:
            notes.append(
                f"{splits.empty} of {splits.empty + len(splits)} splits of cv={splits.name} are "
                "left out: y is missing in all rows that they would be scored on."
            )
    return notes


def describe_few(problem: Problem, columns: int, ridge: Any, freedom: float) -> list[str]:
    """What should be known of a readout with more weights than rows that the ridge leaves free.

    Where ``freedom`` is more than half of the rows, weights follow noise: from there on forecasts
    of short series were 1.2 to 1.6 times as wrong as with a ridge of 1, and 1.1 times below.
    """
    rows = problem.trained_rows
    if freedom <= rows / 2:
        return []
    return [
        f"{1 + columns} weights of the readout, one for each thing that it sees, are fitted to "
        f"{inflected(rows, '1 row', '{} rows')}, and ridge={np.min(ridge):g} leaves {freedom:.0f} "
        "of them free, more than half of the rows: what is noise is learned too. Use a larger "
        "ridge, fewer units or more data, or let ESNSearchCV find what holds."
    ]


def describe_rounding(problem: Problem, dtype: np.dtype) -> list[str]:
    """A sentence about inputs of which driving in so few bits loses much."""
    if dtype.itemsize == 8 or problem.lazy:
        return []
    steps = np.asarray(problem.segments.steps)
    with np.errstate(over="ignore", invalid="ignore"):  # of what is too large for so few bits
        rounding = np.spacing(np.abs(steps).max(axis=0).astype(dtype)) / 2
        spread = steps.std(axis=0)
    if not (lost := int((~(rounding <= LOST * spread) & (spread > 0)).sum())):
        return []
    return [
        f"{lost} of {steps.shape[1]} inputs vary so little for their size that precision='single' "
        f"loses more than {LOST:g} of their spread. Use scale='standard', or precision='double'."
    ]


def _describe_unseen(problem: Problem, splits: RowSplits) -> list[str]:
    """A sentence about classes that a split is validated on and has not been trained on."""
    before = np.append(np.zeros((1, problem.targets.shape[1])), problem.targets.cumsum(0), axis=0)

    def there(sets: list[Intervals]) -> np.ndarray:
        return np.array([sum(before[b] - before[a] for a, b in one) > 0 for one in sets])

    unseen = there(splits.valid) & ~there(splits.train)
    if not unseen.any():
        return []
    names = [repr(one) for one in problem.classes[unseen.any(axis=0)].tolist()]
    several = f"{len(names)} classes" if len(names) > 1 else "a class"
    some = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return [
        f"{int(unseen.any(axis=1).sum())} of {len(splits)} splits of cv={splits.name} are "
        f"validated on {several} that they were not trained on ({some}), so their errors "
        "say nothing about a model of all classes. Use cv=None or an integer for stratified, "
        "shuffled folds, and give each class at least two sequences."
    ]


def _check_values(problem: Problem, splits: RowSplits) -> None:
    """Raise where no split has a row to be scored on."""
    if not len(splits):
        raise ValueError(
            f"y is missing (NaN) in all validation rows of cv={splits.name}, so nothing can be "
            f"scored: {problem.known_rows} of {problem.rows} rows after the washout "
            "have a value. Use a scheme that validates on some of them, or fill some of the others."
        )


def _check_weights(problem: Problem, splits: RowSplits) -> None:
    """Raise where all training rows of a split have no weight."""
    if problem.weights is None:
        return
    for split, rows in enumerate(weighed_rows(splits.train, problem.weights), 1):
        if not rows:
            why = "sample_weight is 0"
            if problem.present is not None:
                why = "y is missing, differs from a missing value or has sample_weight 0"
            raise ValueError(
                f"{why} for every training row of split {split} of {len(splits)} of "
                f"cv={splits.name}. Give some of them a positive weight, or use another scheme."
            )
