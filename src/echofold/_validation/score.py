"""From residuals on validation rows to scores; sums of errors add over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from echofold._data.problem import Problem, in_words_of
from echofold._engine.lockstep import Sum
from echofold._folds.splits import OfSeries, RowSplits
from echofold._machine.arrays import namespace
from echofold._machine.programs import program
from echofold.metrics._horizon import Horizon
from echofold.metrics._metric import SIZES, Metric, Scaled, check_not_zero
from echofold.metrics._targets import Spread, denominators, interval_denominators, spread_in_blocks

AT_A_TIME = 2**16  # rows looked at together where a copy of all would be large
LONG_INTERVAL = 2**12  # rows from which there is little to gain in treating many at once


def needs_of(metrics: list[Metric]) -> tuple[str, ...]:
    """What sums of errors these metrics are made of."""
    return tuple(dict.fromkeys(metric.needs for metric in metrics))


def summed(problem: Problem, metrics: list[Metric], of: str | None = None) -> Sum:
    """What closed loops add up for these metrics: the only kind of sum, or the one asked for."""
    of = of or needs_of(metrics)[0]
    return Sum(of, _tolerance(problem.scored, metrics) if of == "lost" else None)


def _tolerance(problem: Problem, metrics: list[Metric]) -> np.ndarray | None:
    """Errors of outputs, in original units, beyond which a run is lost; None if none can be.

    ``(outputs,)``, or ``(series, outputs)`` of several.
    """
    horizons = [one.function for one in metrics if isinstance(one.function, Horizon)]
    if not horizons:
        return None
    if problem.each:
        return np.stack([cast(Any, _tolerance(one, metrics)) for one in problem.each])
    return horizons[0].tolerance(spread_in_blocks(values_in_blocks(problem)))


def values_in_blocks(problem: Problem) -> Iterator[np.ndarray]:
    """Targets ``(rows, outputs)`` in original units, some at a time; NaN where missing."""
    for first in range(0, problem.rows, AT_A_TIME):
        rows = np.arange(first, min(first + AT_A_TIME, problem.rows))
        values = problem.offset + problem.unit * np.asarray(problem.targets[rows])
        yield np.where(problem.is_scored(rows)[:, None], values, np.nan)


def check_values_of(problem: Problem, splits: RowSplits, metrics: list[Metric]) -> None:
    """Raise for a series that never changes, or zeros, which a metric cannot divide by."""
    if problem.each:
        for one in splits.of_series:
            with in_words_of(problem.names[one.series]):
                check_values_of(problem.each[one.series], one.splits, metrics)
        return
    for metric in metrics:
        if isinstance(metric.function, Scaled):
            metric.function.scale(values_in_blocks(problem.scored))
        if metric.needs == "relative":
            _check_not_zero(problem, splits)


def _check_not_zero(problem: Problem, splits: RowSplits) -> None:
    """Raise for a validation row with a value of zero."""
    scored, first = problem.scored, 0
    begins, ends = np.array([runs for valid in splits.valid for runs in valid]).T
    for values in values_in_blocks(scored):
        last = first + len(values)
        open_ = np.zeros(len(values) + 1, dtype=int)
        np.add.at(open_, np.clip(begins, first, last) - first, 1)
        np.add.at(open_, np.clip(ends, first, last) - first, -1)
        validated = np.flatnonzero(np.cumsum(open_[:-1]) > 0)
        values = values[validated]  # NaN, where there is none, is not zero
        # A zero that was scaled comes back as zero up to the rounding of what it was scaled by.
        made_of = np.abs(scored.offset) + np.abs(values)
        in_data = first + validated + problem.first_target
        check_not_zero(values, made_of, in_data)
        first = last


def error_sums(
    problem: Problem, rows: np.ndarray, residuals, metrics: list[Metric]
) -> dict[str, np.ndarray]:
    """Sums of errors of each split and ridge, in original units: ``(…, splits, ridge)`` each.

    ``rows (splits, longest)`` are row numbers, ``n`` or more where padded; ``residuals``
    ``(…, splits, longest, ridge, outputs)`` are target minus output, in scaled units, on the host
    or on a device. Rows without a value are left out.
    """
    sums = sums_of_errors if isinstance(residuals, np.ndarray) else program(sums_of_errors)
    with np.errstate(over="ignore", invalid="ignore"):
        found = sums(residuals, compared(problem, rows, metrics), needs=needs_of(metrics))
    return {kind: np.asarray(total) for kind, total in found.items()}


class Compared(NamedTuple):
    """What residuals of ``rows (splits, longest)`` are compared with, and in what units.

    ``real (splits, longest)`` tells which rows count. ``targets (splits, longest, 1, outputs)`` and
    ``limits`` are there where outputs are clipped or labels counted, ``labels`` for the latter.
    Where steps are counted until a run is lost, ``tolerance (outputs,)`` says what errors it may
    have, and ``left (splits, longest)`` how many validation rows there are from each on. ``truth``
    are targets in original units, where errors are relative to them.
    """

    real: Any
    unit: Any
    targets: Any = None
    limits: Any = None
    labels: Any = None
    tolerance: Any = None
    left: Any = None
    truth: Any = None


def compared(problem: Problem, rows: np.ndarray, metrics: list[Metric]) -> Compared:
    """What sums of errors of these rows are made with."""
    needs = needs_of(metrics)
    real, at = problem.is_scored(rows), np.minimum(rows, problem.rows - 1)
    targets = labels = None
    if problem.output_range is not None or "labels" in needs:
        targets = problem.targets[at][:, :, None]
    if "labels" in needs:
        assert problem.labels is not None
        labels = problem.labels[at][:, :, None]
    left = None
    if "lost" in needs:
        left = np.cumsum((rows < problem.rows)[:, ::-1], axis=1)[:, ::-1]
    truth = None
    if set(SIZES) & set(needs) - {"squared", "absolute"}:
        truth = problem.offset + problem.unit * problem.targets[at][:, :, None]
    tolerance, limits = _tolerance(problem, metrics), problem.output_range
    return Compared(real, problem.unit, targets, limits, labels, tolerance, left, truth)


def sums_of_errors(residuals, c: Compared, *, needs: tuple[str, ...]) -> dict[str, Any]:
    """Sums ``(…, splits, ridge)`` of residuals ``(…, splits, longest, ridge, outputs)``.

    Arrays are those of the host or of a device.
    """
    xp = namespace(residuals)
    if c.targets is not None:
        outputs = c.targets - residuals
        if c.limits is not None:
            outputs = xp.clip(outputs, *c.limits)
        residuals = c.targets - outputs
    sums = {}
    e = xp.where(c.real[:, :, None, None], residuals, 0.0) * c.unit
    if "squared" in needs:
        sums["squared"] = xp.einsum("...slro,...slro->...sr", e, e)
    for of in set(SIZES) & set(needs) - {"squared"}:
        sums[of] = SIZES[of](-e, c.truth).sum(axis=(-3, -1))
    if "lost" in needs:
        beyond = ~(((e / c.tolerance) ** 2).sum(axis=-1) <= 1) & c.real[:, :, None]
        sums["lost"] = xp.where(beyond, c.left[:, :, None], 0).max(axis=-2).astype(float)
    if "labels" in needs:
        wrong = (outputs.argmax(axis=-1) != c.labels) & c.real[:, :, None]
        sums["labels"] = wrong.sum(axis=-2).astype(float)
    return {kind: xp.where(xp.isnan(total), xp.inf, total) for kind, total in sums.items()}


def call_metric(metric: Metric, problem: Problem, rows: np.ndarray, residuals) -> np.ndarray:
    """Scores ``(…, splits, ridge)`` of a metric that wants targets and predictions."""
    if residuals.ndim > 4:
        return np.stack([call_metric(metric, problem, rows, one) for one in residuals])
    scores = np.empty((residuals.shape[0], residuals.shape[2]))
    for split in range(len(scores)):
        real = problem.is_scored(rows[split])  # rows of a gap may stand before those of validation
        targets = problem.targets[rows[split][real]]
        for ridge in range(scores.shape[1]):
            outputs = targets - residuals[split, real, ridge]
            if not np.isfinite(outputs).all():
                scores[split, ridge] = metric.worst
                continue
            truth, predicted = problem.offset + problem.unit * targets, problem.original(outputs)
            if truth.shape[1] == 1:
                truth, predicted = truth[:, 0], predicted[:, 0]
            scores[split, ridge] = metric.function(truth, predicted)
    return scores


Score = Callable[[Problem, OfSeries], dict]  # of one series, scores (…, its splits, ridge)


def mean_over_series(problem: Problem, splits: RowSplits, score: Score) -> dict:
    """Scores ``(…, splits, ridge)`` of several series: means of those that each has by itself."""
    total: dict[str, np.ndarray] = {}
    count = np.zeros((len(splits), 1))
    for one in splits.of_series:
        count[one.places] += 1
        with in_words_of(problem.names[one.series]):
            found = score(problem.each[one.series], one)
        for name, scores in found.items():
            if name not in total:
                total[name] = np.zeros((*scores.shape[:-2], len(splits), scores.shape[-1]))
            total[name][..., one.places, :] += scores
    return {name: scores / count for name, scores in total.items()}


def of_each_series(problem: Problem, splits: RowSplits, score: Score) -> dict:
    """The same one by one, ``(splits, series)`` at the only ridge; NaN where one has no split."""
    total: dict[str, np.ndarray] = {}
    shape = len(splits), len(problem.each)
    for one in splits.of_series:
        for name, scores in score(problem.each[one.series], one).items():
            total.setdefault(name, np.full(shape, np.nan))[one.places, one.series] = scores[:, 0]
    return total


def score_residuals(
    problem: Problem, splits: RowSplits, at, residuals, metrics, gather=mean_over_series
) -> dict:
    """Scores ``(…, splits, ridge)`` of every metric, as `error_sums` takes them.

    Those of several series are brought together by ``gather``.
    """
    if problem.each:
        parts = [np.flatnonzero(rows < problem.rows) for rows in at]
        edges = [
            np.searchsorted(rows[real], problem.bounds)
            for rows, real in zip(at, parts, strict=True)
        ]

        def own(each: Problem, one: OfSeries) -> dict:
            """Scores of one series, whose rows are the places ``part`` of every split."""
            ends = [edges[split][one.series : one.series + 2] for split in one.places]
            own_rows = np.full((len(ends), max(int(b - a) for a, b in ends)), each.rows)
            place = np.zeros_like(own_rows)
            for row, (split, (a, b)) in enumerate(zip(one.places, ends, strict=True)):
                place[row, : b - a] = parts[split][a:b]
                rows = at[split][parts[split][a:b]]
                own_rows[row, : b - a] = rows - problem.bounds[one.series]
            chosen = residuals[..., one.places[:, None], place, :, :]
            return score_residuals(each, one.splits, own_rows, chosen, metrics)

        return gather(problem, splits, own)
    sums = error_sums(problem, at, residuals, metrics)
    scores = finish_sums(problem, splits, sums, metrics)
    for metric in metrics:
        if metric.needs == "predictions":
            scores[metric.name] = call_metric(metric, problem, at, np.asarray(residuals))
    return {metric.name: scores[metric.name] for metric in metrics}


def score_outputs(
    problem: Problem, splits: RowSplits, outputs, metrics, gather=mean_over_series
) -> dict:
    """The same of ``outputs (runs, steps, ridge, outputs)`` of closed loops, in scaled units."""
    runs = splits.runs
    if problem.each:

        def own(each: Problem, one: OfSeries) -> dict:
            mine = outputs[one.runs, : one.splits.runs.longest]
            return score_outputs(each, one.splits, mine, metrics)

        return gather(problem, splits, own)
    with np.errstate(over="ignore", invalid="ignore"):
        residuals = problem.targets[np.minimum(runs.rows, problem.rows - 1)][:, :, None] - outputs
    if runs.single:
        return score_residuals(problem, splits, runs.rows, residuals, metrics)
    at = splits.valid_rows  # those of the runs of a split, one run after the other
    of_splits = np.zeros((*at.shape, *residuals.shape[2:]))
    of_splits[at < problem.rows] = residuals[runs.rows < problem.rows]
    return score_residuals(problem, splits, at, of_splits, metrics)


def finish_runs(problem: Problem, splits: RowSplits, sums, metrics) -> dict:
    """`finish_sums` of those of runs ``(…, runs, ridge)``, which add up for each split.

    Of several series each is scored by itself.
    """
    if not problem.each:
        added = {kind: splits.runs.added(total) for kind, total in sums.items()}
        return finish_sums(problem, splits, added, metrics)

    def own(each: Problem, one: OfSeries) -> dict:
        mine = {kind: total[..., one.runs, :] for kind, total in sums.items()}
        return finish_runs(each, one.splits, mine, metrics)

    return mean_over_series(problem, splits, own)


def finish_sums(problem: Problem, splits: RowSplits, sums, metrics, lean: bool = False) -> dict:
    """Scores of the metrics that are made of sums of errors; ``lean``: in little memory."""
    below, targets, steps = None, problem.targets, splits.sizes[:, None]
    if problem.present is not None:
        targets, splits = targets[problem.present], splits.among(problem.present)
    if any(metric.per == "variation" for metric in metrics):
        lean = lean or problem.lazy
        if lean or (splits.intervals and splits.n > LONG_INTERVAL * len(splits.valid)):
            spans = [valid[0] for valid in splits.valid]
            below = interval_denominators(targets, problem.unit, spans)[:, None]
        else:
            below = denominators(targets * problem.unit, splits.valid_rows)[:, None]
    outputs, rows = problem.targets.shape[1], splits.sizes[:, None]
    scores = {}
    for metric in metrics:
        if metric.needs in sums:
            divisor: Any = below
            if isinstance(metric.function, Scaled):
                divisor = metric.function.scale(values_in_blocks(problem))
            # A run goes on over rows without a value, which no error is measured in.
            count = steps if metric.needs == "lost" else rows
            scores[metric.name] = metric.finish(sums[metric.needs], count, outputs, divisor)
    return scores


# --- of what was said, where values may be missing ------------------------------------------------


def spread_of(values: Any) -> Spread:
    """How far all values spread, for stretches that are constant; only whole rows count."""
    values = np.asarray(values, dtype=float).reshape(len(values), -1)
    whole = np.where(complete(values)[:, None], values, np.nan)
    return spread_in_blocks([whole])._replace(rows=whole)


def complete(values: np.ndarray) -> np.ndarray:
    """Rows that have a value of every output."""
    return ~np.isnan(values).reshape(len(values), -1).any(axis=1)


def score_given(metric: Metric, truth: np.ndarray, outputs: np.ndarray, spread: Spread) -> float:
    """The score of outputs on the rows that have a value, as in a validation; NaN without any.

    Of a horizon all steps count, and one without a value is no error. Outputs that run away are not
    shown to a user's function.
    """
    there = complete(truth)
    if not there.any():
        return np.nan
    if metric.needs == "lost":
        known = np.where(there.reshape(-1, *[1] * (truth.ndim - 1)), truth, outputs)
        return metric.measure(known, outputs, spread)
    if metric.needs == "predictions" and not np.isfinite(outputs[there]).all():
        return metric.worst
    return metric.measure(truth[there], outputs[there], spread)


def check_zeros(
    metrics: Sequence[Metric], values: np.ndarray, starts: np.ndarray, horizon: int
) -> None:
    """Raise for a value of zero that a metric would divide by, naming its row of the data."""
    if any(metric.needs == "relative" for metric in metrics) and len(starts):
        rows = np.unique(np.asarray(starts)[:, None] + np.arange(horizon))
        scored = np.asarray(values, dtype=float).reshape(len(values), -1)[rows]
        check_not_zero(scored, scored, rows)
