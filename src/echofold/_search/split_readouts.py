"""Readouts of the winner's splits, and the one that a final model makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from echofold._data.problem import Problem
from echofold._data.runs import Runs
from echofold._engine.lockstep import closed_loop_outputs, closed_loop_sums
from echofold._engine.states import States
from echofold._folds.splits import RowSplits
from echofold._models.base import fit_all, of_outputs
from echofold._search.finals import FINALS, mean_ridge
from echofold._validation.score import finish_sums, score_outputs, score_residuals
from echofold._validation.settings import Settings
from echofold._validation.validate import validate
from echofold.metrics._metric import resolve

KEPT_OUTPUTS = 2**20  # numbers: validation outputs of a series longer than memory


@dataclass(frozen=True)
class SplitReadouts:
    """What a validation leaves for final models of one candidate.

    ``W (splits, 1 + m, outputs)``, ``rmse (splits,)`` and ``ridge (splits, 1 or outputs)`` belong
    to the splits; ``residuals (runs, steps, outputs)``, in original units, are those of closed-loop
    validation (None for other tasks), NaN past the end of a shorter run and where there is no
    value; ``outputs`` are what they belong to. Of a series longer than memory they are those of the
    first steps of every run. If logarithms are learned, there are ``log_residuals`` too. ``apart``
    is how many of the runs do not overlap.
    """

    W: np.ndarray
    rmse: np.ndarray
    ridge: np.ndarray
    train_rows: np.ndarray
    residuals: np.ndarray | None = None
    outputs: np.ndarray | None = None
    log_residuals: np.ndarray | None = None
    apart: int = 1


def validate_winner(
    source: States, splits: RowSplits, ridge: np.ndarray, penalised: bool
) -> SplitReadouts:
    """Readouts and errors of every split at its ``ridge (splits, 1 or outputs)``, from one run."""
    path, place = np.unique(ridge, return_inverse=True)
    place = place.reshape(ridge.shape)
    rmse = [resolve("rmse")]
    settings = Settings(path, penalised, rmse, readouts=True)
    one = validate(source, {"winner": splits}, settings, close=False)["winner"]
    W, train_rows = of_outputs(one.W[0], place), splits.train_sizes
    if source.problem.present is not None:
        train_rows = splits.among(source.problem.present).train_sizes
    if not source.problem.task.fed_back:
        errors = one.scores["rmse"][0, np.arange(len(splits)), place[:, 0]]
        if ridge.shape[1] > 1:
            errors = score_readouts(source, splits, W, rmse)["rmse"]
        return SplitReadouts(W, errors, ridge, train_rows)
    starts = one.starts
    if starts is None:  # intervals of one step, for which a validation needs no run
        starts = source.begins(splits.runs.first)
    problem, scored, runs = source.problem, source.problem.scored, _kept(source.problem, splits)
    begun = W[None, :, None], starts
    (found,) = closed_loop_outputs(source, *begun, runs)
    if runs is splits.runs:
        errors = score_outputs(scored, splits, found, rmse)["rmse"][:, 0]
    else:  # all steps count, but not all are kept
        sums = {"squared": splits.runs.added(closed_loop_sums(source, *begun, splits.runs)[0])}
        errors = finish_sums(scored, splits, sums, rmse)["rmse"][:, 0]
    rows = runs.rows
    with np.errstate(over="ignore", invalid="ignore"):  # of runs that diverge
        targets = scored.targets[np.minimum(rows, problem.rows - 1)]
        residuals = (targets - found[:, :, 0]) * scored.unit
        outputs = _targets(problem, rows) - residuals
    residuals[~problem.counts(rows)] = np.nan
    logs = None
    if problem.form.multiplicative:
        logs = log_errors(validation_truth(problem, splits), residuals)
    more = residuals, outputs, logs, _apart(splits.runs)
    return SplitReadouts(W, errors, ridge, train_rows, *more)


def output_ridges(
    source: States, splits: RowSplits, path: np.ndarray, penalised: bool
) -> np.ndarray:
    """The ridge of a path ``(outputs,)`` at which each output has its lowest mean squared error.

    Outputs of an open loop know nothing of each other: a readout of one is a column of the common
    one. Means over splits, as of scores.
    """
    settings = Settings(path, penalised, [resolve("rmse")], readouts=True)
    W = validate(source, {"winner": splits}, settings, close=False)["winner"].W[0]
    rows, problem = splits.valid_rows, source.problem
    counts = problem.counts(rows)
    sums = np.zeros((*W.shape[:2], W.shape[-1]))
    for split, places, states in _states_of(source, rows):
        errors = problem.targets[rows[split, places]] - problem.clip(_outputs(states, W[split]))
        with np.errstate(over="ignore"):  # an error that large is not the lowest
            sums[split] += (errors[:, counts[split, places]] ** 2).sum(axis=1)
    means = sums / np.maximum(counts.sum(axis=1), 1)[:, None, None]
    return path[means.mean(axis=0).argmin(axis=0)]


def score_readouts(source: States, splits: RowSplits, W: np.ndarray, wanted) -> dict:
    """Scores ``(splits,)`` of open-loop readouts ``W (splits, 1 + m, outputs)`` by metrics."""
    problem, rows = source.problem, splits.valid_rows
    targets = problem.targets[np.minimum(rows, problem.rows - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        residuals = (targets - _open_loop(source, rows, W))[:, :, None]
    scores = score_residuals(problem, splits, rows, residuals, wanted)
    return {name: values[:, 0] for name, values in scores.items()}


def _apart(runs: Runs) -> int:
    """How many runs do not overlap: rows in any of them, by the longest."""
    covered, end = 0, 0
    for a, b in sorted(zip(runs.first, runs.first + runs.steps, strict=True)):
        covered, end = covered + max(0, b - max(a, end)), max(b, end)
    return max(1, round(covered / runs.longest))


def log_errors(truth: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Errors of logarithms, from values and errors that are not; NaN where a value is none.

    ``log y − log ŷ = log(1 + (y − ŷ) / ŷ)``, which keeps the digits of small errors.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        outputs = truth - residuals
        return np.log1p(residuals / np.where(outputs > 0, outputs, np.nan))


def validation_truth(problem: Problem, splits: RowSplits) -> np.ndarray:
    """True values ``(runs, steps, outputs)`` of the validation rows, NaN where there is none."""
    rows = _rows_kept(problem, splits)
    truth = _targets(problem, rows)
    truth[~problem.counts(rows)] = np.nan
    return truth


def _kept(problem: Problem, splits: RowSplits) -> Runs:
    """Runs of which outputs are kept: of a series longer than memory, the first steps of each."""
    runs = splits.runs
    most = max(1, KEPT_OUTPUTS // (len(runs) * problem.targets.shape[1]))
    return runs if not problem.lazy or runs.longest <= most else runs.cut(most)


def _rows_kept(problem: Problem, splits: RowSplits) -> np.ndarray:
    """Validation rows whose outputs are kept: of every run of a forecast, else of every split."""
    if problem.task.fed_back or problem.lazy:
        return _kept(problem, splits).rows
    return splits.valid_rows


def _targets(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Targets of ``rows (splits, steps)`` in original units, NaN past the end."""
    scored = problem.scored
    truth = scored.original(scored.targets[np.minimum(rows, problem.rows - 1)])
    truth[rows >= problem.rows] = np.nan
    return truth


def final_readout(
    final: str, source: States, readouts: SplitReadouts, penalised: bool, correct_ridge: bool
) -> tuple[np.ndarray, float | list[float]]:
    """The readout of a final model, and the ridge it stands for, or those of its outputs.

    A ridge acts against a sum over rows, so ``correct_ridge`` raises it in proportion when
    retraining on more rows (of those that have a value) than the splits had.
    """
    combine = FINALS[final].combine
    if combine is not None:
        error = np.where(np.isfinite(readouts.rmse), readouts.rmse, np.inf)
        readout, ridge = combine(readouts.W, error, readouts.ridge)
    else:
        ridge = mean_ridge(readouts.ridge)
        if correct_ridge:
            ridge = ridge * (source.problem.known_rows / readouts.train_rows.mean())
        readout = fit_all(source, ridge, penalised, condition=False)[0]
    return readout, float(ridge[0]) if len(ridge) == 1 else ridge.tolist()


@dataclass(frozen=True)
class ValidationOutputs:
    """What the winner's splits said about their validation rows, in original units.

    ``rows (splits, steps)``, of forecasts ``(runs, steps)``, are rows of ``y`` (for a classifier,
    sequences), -1 past the end of a shorter set; ``truth`` and ``outputs (…, steps, outputs)`` are
    NaN there. ``truth`` is NaN in rows without a value, too. Outputs of runs that diverged are not
    finite.
    """

    rows: np.ndarray
    truth: np.ndarray
    outputs: np.ndarray


def validation_outputs(
    source: States, splits: RowSplits, readouts: SplitReadouts
) -> ValidationOutputs:
    """Forecasts or predictions of every split for its validation rows, in original units."""
    problem, rows = source.problem, _rows_kept(source.problem, splits)
    past, truth = rows >= problem.rows, validation_truth(problem, splits)
    if readouts.outputs is not None:
        outputs = readouts.outputs
    else:
        outputs = problem.original(_open_loop(source, rows, readouts.W))
        outputs[past] = np.nan
    first = problem.skipped + problem.task.ahead
    return ValidationOutputs(np.where(past, -1, rows + first), truth, outputs)


def _open_loop(source: States, rows: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Scaled outputs of every split's readout for its ``rows``, NaN past the end."""
    outputs = np.full((*rows.shape, W.shape[-1]), np.nan)
    for split, places, states in _states_of(source, rows):
        outputs[split, places] = _outputs(states, W[split])
    return outputs


def _outputs(states: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Outputs ``(..., rows, outputs)`` of readouts ``W (..., 1 + m, outputs)``."""
    return W[..., :1, :] + states @ W[..., 1:, :]


def _states_of(source: States, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Each split, places in its ``rows`` and the states there, over one pass of the reservoir."""
    for start, (states,) in source.blocks():
        inside = (rows >= start) & (rows < start + len(states))
        for split in np.flatnonzero(inside.any(axis=1)):
            places = np.flatnonzero(inside[split])
            yield int(split), places, states[rows[split, places] - start]
