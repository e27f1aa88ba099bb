"""The winner of a search: validated once more for the readouts of its splits, and trained.

And whether another might have won, had states been driven in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import candidate_seed
from echofold._data.problem import Problem
from echofold._data.rows import Runs
from echofold._engine.kind import PRECISIONS
from echofold._engine.lockstep import closed_loop_outputs, closed_loop_sums
from echofold._engine.states import States
from echofold._folds.splits import RowSplits
from echofold._machine.device import is_accelerator
from echofold._machine.programs import foresee
from echofold._machine.progress import Progress
from echofold._models.base import Fitted, fit_all
from echofold._models.ensemble import ForecastEnsemble
from echofold._search.runner import Reader, Runner
from echofold._search.selection import (
    FINALS,
    OF_EACH,
    Winner,
    check_final,
    comparable,
    mean_costs,
    mean_ridge,
    ranked,
    select,
)
from echofold._validation.record import Validated
from echofold._validation.refit import of_outputs
from echofold._validation.score import (
    finish_runs,
    mean_over_series,
    of_each_series,
    score_outputs,
    score_residuals,
)
from echofold._validation.settings import Settings, describe_rounding
from echofold._validation.validate import validate
from echofold.metrics._metric import Metric, costs_of, resolve

KEPT_OUTPUTS = 2**20  # numbers: validation outputs of a series longer than memory
MOST_MEMBERS = 48
RMSE = resolve("rmse")
REMEMBERED = 8  # winners whose readouts are kept, so that several final models cost little


def networks_of(final: str, draws: int, evaluations: int, problems: int) -> int:
    """About how many networks a final model trains, of a search of so many problems."""
    if FINALS[final].members is None:
        return 1
    return min(MOST_MEMBERS, OF_EACH * problems * draws, evaluations)


@dataclass
class Winners:
    """Who wins a search, by any of its schemes, and the final models of it.

    ``results[scheme]`` are the Datasets of the search; ``by_draw`` tells whether the best draw is
    selected, or the best mean over draws; ``ridge_per``, what takes a ridge of its own.
    """

    reader: Reader
    candidates: list[dict[str, Any]]
    results: dict[str, Any]
    seed: int
    by_draw: bool
    ridge_per: str
    _validated: dict[tuple, SplitReadouts] = field(default_factory=dict)

    @property
    def ridge_per_split(self) -> bool:
        """Whether each split takes a ridge of its own."""
        return self.ridge_per == "split"

    def winner(self, scheme: str, draw: int | None = None) -> Winner:
        """The winner by a scheme, over all draws or within one."""
        return self.select(self.costs(scheme), draw)

    def select(self, costs: np.ndarray, draw: int | None = None) -> Winner:
        """The winner by costs ``(draw, candidate, split, ridge)``."""
        if draw is None and self.by_draw:
            each = [select(costs, self.ridge_per_split, one) for one in range(len(costs))]
            return min(each, key=lambda winner: winner.order)
        return select(costs, self.ridge_per_split, draw)

    def score(self, winner: Winner) -> float:
        """The score of a winner, as users read it; all its outputs have one ridge."""
        return float(self.reader.metrics[0].cost(winner.cost))

    def best_score(self, scheme: str) -> float:
        """The score of a scheme's winner, whose outputs may have ridges of their own."""
        if self.ridge_per != "output":
            return self.score(self.winner(scheme))
        source, splits, readouts = self._validated_winner(scheme)
        scores = score_readouts(source, splits, readouts.W, self.reader.metrics[:1])
        return float(next(iter(scores.values())).mean())

    def outputs(self, scheme: str) -> ValidationOutputs:
        """What the winner's splits say about the rows that they were not trained on."""
        source, splits, readouts = self._validated_winner(scheme)
        problem, truth, outputs = source.problem, readouts.truth, readouts.outputs
        if problem.each:
            raise ValueError(
                f"this is shown of one series, and the search has {len(problem.each)} in one model."
            )
        whole = not problem.lazy and not problem.task.fed_back
        rows = splits.valid_rows if whole else _kept(problem, splits).rows
        if outputs is None:
            truth = _targets(problem, rows)[1]
            truth[~problem.is_scored(rows)] = np.nan
            outputs = problem.original(_open_loop(source, rows, readouts.W))
        first = problem.first_target
        return ValidationOutputs(np.where(rows < problem.rows, rows + first, -1), truth, outputs)

    def series_scores(self, scheme: str) -> dict[str, np.ndarray]:
        """Scores ``(splits, series)`` of the winner by every metric, for each of several series."""
        source, splits, readouts = self._validated_winner(scheme)
        problem, metrics = source.problem, self.reader.metrics
        if problem.task.fed_back:
            begun = readouts.W[None, :, None], source.begins(splits.runs.first)
            (found,) = closed_loop_outputs(source, *begun, splits.runs)
            return score_outputs(problem.scored, splits, found, metrics, of_each_series)
        return score_readouts(source, splits, readouts.W, metrics, of_each_series)

    def model(self, final: str, scheme: str, draw: int | None, correct_ridge: bool):
        """The winner's final model, with the weights of its draw (the best one by default)."""
        if members := FINALS[final].members:
            return self._ensemble(members, scheme, draw)
        winner = self._drawn(self.winner(scheme, draw), scheme)
        return self._trained(final, scheme, winner, correct_ridge)[0]

    def _ensemble(
        self, members: Callable[..., list[Winner]], scheme: str, draw: int | None
    ) -> ForecastEnsemble:
        """The members of a final model, with all draws (or one), as one forecaster."""
        costs = self.costs(scheme)
        draws = list(range(len(costs))) if draw is None else [draw]
        params = [self.reader.params(one) for one in self.candidates]
        chosen = members(
            costs[draws], self.ridge_per_split, self.reader.metrics[0], params,
            self.reader.estimator._shapes_the_problem,
        )  # fmt: skip
        each = [
            self._trained("retrain", scheme, self._drawn(winner, scheme, one))
            for winner in chosen[: max(1, MOST_MEMBERS // len(draws))]
            for one in draws
        ]
        ensemble, (_, first) = ForecastEnsemble([model for model, _ in each]), each[0]
        residuals = np.stack([readouts.residuals for _, readouts in each])
        ensemble.runs_, truth = first.apart, first.truth
        outputs = truth - residuals  # (members, splits, steps, outputs)
        ensemble.residuals_ = np.full_like(truth, np.nan)  # past the end of a shorter split
        for split in range(len(truth)):
            there = ~np.isnan(outputs[:, split]).all(axis=(0, 2))
            forecasts = ensemble._combine(outputs[:, split, there])
            ensemble.residuals_[split, there] = truth[split, there] - forecasts
        if ensemble.learns_logarithms:
            ensemble.log_residuals_ = log_errors(truth, ensemble.residuals_)
        for model in ensemble.members:  # intervals are those of the ensemble
            model._forget_validation()
            model._forget("learning_")
        return ensemble

    def _trained(
        self, final: str, scheme: str, winner: Winner, correct_ridge: bool = False
    ) -> tuple[Any, SplitReadouts]:
        """The final model of one candidate with the weights of one draw, and what it is made of."""
        model, problem = self.reader.model(self.candidates[winner.candidate], self._seed(winner))
        source = model._states(problem, model.random_state)
        readouts = self._readouts(scheme, winner, model, source)
        if problem.each and problem.task.fed_back:
            check_final(final, [model.pool])
        found, model.ridge = final_readout(
            final, source, readouts, model._fitting(vars(model), problem), correct_ridge
        )
        condition = float(self.results[scheme].condition.values[winner.draw, winner.candidate])
        model._install(source, found.readout, model.random_state, condition)
        model._begin_learning(problem, found)
        if model._task.fed_back and readouts.residuals is not None:
            views = list(getattr(model, "series_", {0: model}).values())
            for view, which, apart in readouts.of_series:
                truth, errors = readouts.truth[which], readouts.residuals[which]
                views[view].residuals_, views[view].runs_ = errors, apart
                if problem.form.multiplicative:
                    views[view].log_residuals_ = log_errors(truth, errors)
        return model, readouts

    def _validated_winner(self, scheme: str) -> tuple[States, RowSplits, SplitReadouts]:
        """States of the winner by a scheme, its splits and their readouts."""
        winner = self._drawn(self.winner(scheme), scheme)
        candidate = self.candidates[winner.candidate]
        model = clone(self.reader.estimator).set_params(
            **candidate, random_state=self._seed(winner)
        )
        problem, schemes = self.reader.problem(candidate)
        source = model._states(problem, model.random_state)
        return source, schemes[scheme], self._readouts(scheme, winner, model, source)

    def _drawn(self, winner: Winner, scheme: str, draw: int | None = None) -> Winner:
        """A winner with the weights of one draw: its own, one given, or where it did best."""
        if winner.draw is not None:
            return winner
        costs = self.costs(scheme)[:, winner.candidate]  # (draw, split, ridge)
        if draw is None:
            at = 0 if self.ridge_per_split else winner.ridge[0]
            draw = int(ranked(comparable(costs, self.ridge_per_split)[:, :, at].T)[0])
        ridge = comparable(costs[draw]).argmin(axis=1) if self.ridge_per_split else winner.ridge
        return replace(winner, draw=draw, ridge=ridge)

    def _seed(self, winner: Winner) -> int:
        """The seed of a winner's draw."""
        assert winner.draw is not None
        return candidate_seed(self.candidates[winner.candidate], self.seed) + winner.draw

    def _readouts(self, scheme: str, winner: Winner, model, source: States) -> SplitReadouts:
        """Readouts of the winner's splits, validated once for all final models."""
        path = self.results[scheme].ridge.values
        ridge = path[winner.ridge][:, None]
        key = (scheme, winner.candidate, winner.draw, ridge.tobytes())
        if key not in self._validated:
            if len(self._validated) == REMEMBERED:
                self._validated.popitem()  # the last, as members of an ensemble are many
            aligned, schemes = self.reader.problem(self.candidates[winner.candidate])
            if np.any(aligned.skipped > source.problem.skipped):  # another's, for equal rows
                source = model._states(aligned, model.random_state)
            splits, fitting = schemes[scheme], model._fitting(vars(model), source.problem)
            if self.ridge_per == "output":
                own = output_ridges(source, splits, path, fitting)
                ridge = np.tile(own, (len(ridge), 1))
            self._validated[key] = validate_winner(source, splits, ridge, fitting)
        return self._validated[key]

    def costs(self, scheme: str) -> np.ndarray:
        """Costs ``(draw, candidate, split, ridge)`` to select by, infinite where only bounds."""
        dataset, costs = self.results[scheme], costs_of(self.results[scheme])
        if "pruned" in dataset:
            costs = np.where(dataset.pruned.values[:, :, None], np.inf, costs)
        return costs


def foresee_winner(reader: Reader, scheme: str, candidate: dict[str, Any], seed: int) -> None:
    """Have what will be run of a winner compiled on an accelerator, by one of the candidates."""
    model, problem = reader.model(candidate, seed)
    splits, fitting = reader.problem(candidate)[1][scheme], model._fitting(vars(model), problem)

    def work() -> None:
        source = model._states(problem, seed)
        if is_accelerator(source.device):
            validate_winner(source, splits, np.ones((len(splits), 1)), fitting)
            for _ in source.blocks():
                pass

    foresee(work)


# --- readouts of splits ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SplitReadouts:
    """What a validation leaves for final models of one candidate.

    ``W (splits, 1 + m, outputs)``, ``rmse (splits,)`` and ``ridge (splits, 1 or outputs)`` belong
    to the splits (``W`` to the runs, where series have readouts of their own); ``residuals (runs,
    steps, outputs)``, in original units, are those of closed-loop validation (None for other
    tasks), NaN past the end of a shorter run and where there is no
    value, as is the ``truth``; ``outputs`` are what they belong to. Of a series longer than memory
    all are those of the first steps of every run. ``apart`` is how many runs do not overlap;
    ``of_series`` has, for each series, its number, which runs are its own, and how many of these do
    not overlap.
    """

    W: np.ndarray
    rmse: np.ndarray
    ridge: np.ndarray
    train_rows: np.ndarray
    residuals: Any = None
    outputs: Any = None
    truth: Any = None
    apart: int = 1
    of_series: Sequence[tuple[int, Any, int]] = ()


def readouts_by_ridge(
    source: States, splits: RowSplits, path: np.ndarray, fitting: dict[str, Any]
) -> Validated:
    """Readouts ``W (1, splits, ridge, 1 + m, outputs)`` of one network; no closed loop is run.

    Where series have readouts of their own, they are ``(1, runs, …)``.
    """
    settings = Settings(path, metrics=[RMSE], readouts=True, **fitting)
    return validate(source, {"one": splits}, settings, loops=False)["one"]


def validate_winner(
    source: States, splits: RowSplits, ridge: np.ndarray, fitting: dict[str, Any]
) -> SplitReadouts:
    """Readouts and errors of every split at its ``ridge (splits, 1 or outputs)``, from one run."""
    path, place = np.unique(ridge, return_inverse=True)
    place = place.reshape(ridge.shape)
    one = readouts_by_ridge(source, splits, path, fitting)
    problem, scored = source.problem, source.problem.scored
    if one.W.shape[1] > len(place):  # of runs
        place = place[splits.runs.split]
    W, train_rows = of_outputs(one.W[0], place), splits.train_sizes
    if problem.present is not None:
        train_rows = splits.among(problem.present).train_sizes
    if not problem.task.fed_back:
        errors = one.scores["rmse"][0, np.arange(len(splits)), place[:, 0]]
        if ridge.shape[1] > 1:
            errors = score_readouts(source, splits, W, [RMSE])["rmse"][:, 0]
        return SplitReadouts(W, errors, ridge, train_rows)
    starts = one.starts
    if starts is None:  # intervals of one step, for which a validation needs no run
        starts = source.begins(splits.runs.first)
    runs, begun = _kept(problem, splits), (W[None, :, None], starts)
    (found,) = closed_loop_outputs(source, *begun, runs)
    if runs is splits.runs:
        errors = score_outputs(scored, splits, found, [RMSE])["rmse"][:, 0]
    else:  # all steps count, but not all are kept
        sums = {"squared": closed_loop_sums(source, *begun, splits.runs)[0]}
        errors = finish_runs(scored, splits, sums, [RMSE])["rmse"][:, 0]
    rows = runs.rows
    targets, truth = _targets(problem, rows)
    with np.errstate(over="ignore", invalid="ignore"):  # of runs that diverge
        units = scored.unit_at(np.minimum(rows, problem.rows - 1))
        residuals = (targets - found[:, :, 0]) * units
        outputs = truth - residuals
    residuals[~problem.is_scored(rows)] = truth[~problem.is_scored(rows)] = np.nan
    apart = _apart(splits.runs)
    of_series: list[tuple[int, Any, int]] = [(0, slice(None), apart)]
    if problem.each:
        parts = splits.of_series
        of_series = [(one.series, one.runs, _apart(one.splits.runs)) for one in parts]
    return SplitReadouts(
        W, errors, ridge, train_rows, residuals, outputs, truth, apart,
        of_series,
    )  # fmt: skip


def output_ridges(
    source: States, splits: RowSplits, path: np.ndarray, fitting: dict[str, Any]
) -> np.ndarray:
    """The ridge of a path ``(outputs,)`` at which each output has its lowest mean squared error.

    Outputs of an open loop know nothing of each other: a readout of one is a column of the common
    one. Means over splits, as of scores.
    """
    W = readouts_by_ridge(source, splits, path, fitting).W[0]
    rows, problem = splits.valid_rows, source.problem
    counts = problem.is_scored(rows)
    sums = np.zeros((*W.shape[:2], W.shape[-1]))
    for split, places, states in _states_of(source, rows):
        errors = problem.targets[rows[split, places]] - problem.clip(_outputs(states, W[split]))
        with np.errstate(over="ignore"):  # an error that large is not the lowest
            sums[split] += (errors[:, counts[split, places]] ** 2).sum(axis=1)
    means = sums / np.maximum(counts.sum(axis=1), 1)[:, None, None]
    return path[means.mean(axis=0).argmin(axis=0)]


def score_readouts(
    source: States, splits: RowSplits, W: np.ndarray, metrics: list[Metric], gather=mean_over_series
) -> dict[str, np.ndarray]:
    """Scores ``(splits, 1)`` of open-loop readouts ``W (splits, 1 + m, outputs)``."""
    problem, rows = source.problem, splits.valid_rows
    targets = problem.targets[np.minimum(rows, problem.rows - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        residuals = (targets - _open_loop(source, rows, W))[:, :, None]
    return score_residuals(problem, splits, rows, residuals, metrics, gather)


def final_readout(
    final: str, source: States, readouts: SplitReadouts, fitting: Any, correct_ridge: bool
) -> tuple[Fitted, float | list[float]]:
    """The readout of a final model, and the ridge it stands for, or those of its outputs.

    A ridge acts against a sum over rows, so ``correct_ridge`` raises it in proportion when
    retraining on more rows (of those that have a value) than the splits had.
    """
    combine = FINALS[final].combine
    if combine is not None:
        error = np.where(np.isfinite(readouts.rmse), readouts.rmse, np.inf)
        readout, ridge = combine(readouts.W, error, readouts.ridge)
        found = Fitted(readout, np.nan)
    else:
        ridge = mean_ridge(readouts.ridge)
        if correct_ridge:
            ridge = ridge * (source.problem.known_rows / readouts.train_rows.mean())
        found = fit_all(source, ridge, condition=False, **fitting)
    return found, float(ridge[0]) if len(ridge) == 1 else ridge.tolist()


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


# --- outputs for validation rows ------------------------------------------------------------------


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


def _kept(problem: Problem, splits: RowSplits) -> Runs:
    """Runs of which outputs are kept: of a series longer than memory, the first steps of each."""
    runs = splits.runs
    most = max(1, KEPT_OUTPUTS // (len(runs) * problem.targets.shape[1]))
    return runs if not problem.lazy or runs.longest <= most else runs.cut(most)


def _targets(problem: Problem, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Targets of ``rows (splits, steps)`` scaled, and in original units with NaN past the end."""
    at = np.minimum(rows, problem.rows - 1)
    scaled = problem.scored.targets[at]
    truth = problem.scored.original(scaled, at)
    truth[rows >= problem.rows] = np.nan
    return scaled, truth


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


# --- whether a choice hangs on single precision ---------------------------------------------------

# The best candidates once more, in double. How far single precision moves scores is measured on
# those that are compared; another could win if it is no further behind than a few times as far.
FIRST = 4  # candidates that are compared at first, the winner among them
MOST = 16  # in all, unless every one is asked for
FURTHER = 3.0  # times the largest difference seen: others may have moved further than these


def describe_single(runner: Runner, winners: Winners, scheme: str, every: bool) -> list[str]:
    """Sentences about single precision, where there is any: what it loses, and who else may win."""
    own = runner.reader.estimator.precision
    precisions = [one.get("precision", own) for one in winners.candidates]
    single = np.flatnonzero(np.array(precisions) == "single")
    if not len(single):
        return []
    notes = describe_rounding(runner.reader.problem({})[0], PRECISIONS["single"])
    if np.isfinite(winners.winner(scheme).cost):
        notes += _describe_choice(runner, winners, scheme, single, every)
    return notes


def _describe_choice(
    runner: Runner, winners: Winners, scheme: str, single: np.ndarray, every: bool
) -> list[str]:
    """A sentence if one of the ``single`` candidates wins in double precision, or might.

    All candidates are compared if ``every``. How many were, and how far the lowest score of one was
    moved at most, becomes an attribute of the results.
    """
    results, winner = winners.results[scheme], winners.winner(scheme)
    low = _lowest(winners, costs_of(results))  # of those that pruning dropped, a bound
    costs = winners.costs(scheme)
    kept, exact, moved = _lowest(winners, costs), costs.copy(), 0.0
    exact[:, single] = np.inf
    waiting = single[np.argsort(low[single], kind="stable")]
    todo = waiting if every else waiting[:FIRST]
    while len(todo):
        exact[:, todo] = _in_double(runner, [winners.candidates[place] for place in todo])
        found = _lowest(winners, exact)
        best = todo[:FIRST]  # those that are far behind may move without limit
        best = best[np.isfinite(found[best]) & np.isfinite(kept[best])]
        moved = max([moved, *np.abs(found[best] - kept[best])])
        waiting = waiting[~np.isin(waiting, todo)]
        near = waiting[low[waiting] - FURTHER * moved <= found.min()]
        compared = len(single) - len(waiting)
        todo = near[: max(MOST - compared, 0)]
    results.attrs |= {"compared_in_double": compared, "moved_by_single": float(moved)}
    better = winners.select(exact)
    how_far = (
        f"precision='single' moves the best scores by up to {moved:.2g}, by {compared} candidates "
        "that were validated in both"
    )
    other = found[better.candidate] < found[winner.candidate]  # not its twin in double precision
    own = better.candidate == winner.candidate and (better.ridge != winner.ridge).any()
    if other or own:
        ridge = results.ridge.values
        was, now = (
            f"candidate {one.candidate}"
            + (f" at ridge={ridge[one.ridge[0]]:g}" if (one.ridge == one.ridge[0]).all() else "")
            for one in (winner, better)
        )
        return [
            f"The choice hangs on rounding: in double precision {now} wins, not {was}; {how_far}. "
            "Search with precision='double', or take either."
        ]
    if len(near):
        return [
            f"The choice may hang on rounding: {len(near)} more candidates are no further behind "
            f"than {FURTHER:g} times what single precision may do; {how_far}. Search with "
            "precision='double', or compare all of them by verify=True."
        ]
    return []


def _lowest(winners: Winners, costs: np.ndarray) -> np.ndarray:
    """The lowest cost ``(candidates,)`` of each at any ridge, as winners are selected."""
    means = mean_costs(costs, winners.ridge_per_split)  # (draw, candidate, ridge)
    return (means.min(axis=0) if winners.by_draw else means.mean(axis=0)).min(axis=1)


def _in_double(runner: Runner, candidates: list[dict[str, Any]]) -> np.ndarray:
    """Costs ``(draw, candidate, split, ridge)`` of candidates, driven in double precision."""
    plain = replace(runner.settings, verify=False)
    again = replace(
        runner, settings=plain, together=False, prune=False, checkpoint=None, progress=Progress()
    )
    return again.costs(again.run([one | {"precision": "double"} for one in candidates]))
