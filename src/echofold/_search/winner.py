"""Final models of a search's winner, made from what the search has found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import candidate_seed
from echofold._data.represent import representation_of
from echofold._engine.states import States
from echofold._folds.splits import RowSplits
from echofold._models.ensemble import ForecastEnsemble, combined
from echofold._search.finals import FINALS, check_forecasts
from echofold._search.reader import Reader
from echofold._search.select import Winner, best_of, best_ridges, ranked, select
from echofold._search.split_readouts import (
    SplitReadouts,
    ValidationOutputs,
    final_readout,
    log_errors,
    output_ridges,
    score_readouts,
    validate_winner,
    validation_outputs,
    validation_truth,
)
from echofold.metrics._metric import costs_of

# Members of an ensemble, as measured by benchmarks/accuracy.py (see CHANGELOG).
OF_EACH = 2  # candidates of a representation
WORST = 2.0  # times the lowest validation error, beyond which a candidate is left out
EARNED = 0.9  # the same for representations that are not differenced exactly once
MOST_MEMBERS = 48
REMEMBERED = 8  # winners whose readouts are kept, so that several final models cost little


@dataclass
class Winners:
    """Who wins a search, by any of its schemes, and the final models of it.

    ``results[scheme]`` are the Datasets of the search; ``by_draw`` tells whether the best draw is
    selected, or the best mean over draws; ``per_output``, whether each output of the winner takes
    a ridge of its own.
    """

    reader: Reader
    candidates: list[dict[str, Any]]
    results: dict[str, Any]
    seed: int
    by_draw: bool
    per_output: bool = False
    _validated: dict[tuple, SplitReadouts] = field(default_factory=dict)

    def winner(self, scheme: str, draw: int | None, individual: bool) -> Winner:
        """The winner by a scheme, over all draws or within one."""
        dataset = self.results[scheme]
        eligible = ~dataset.pruned.values if "pruned" in dataset else None
        costs = self._costs(scheme)
        if draw is None and self.by_draw:
            each = [select(costs, individual, d, eligible) for d in range(costs.shape[0])]
            return min(each, key=lambda winner: winner.order)
        return select(costs, individual, draw, eligible)

    def score(self, winner: Winner) -> float:
        """The score of a winner, as users read it; all its outputs have one ridge."""
        return float(self.reader.metrics[0].cost(winner.cost))

    def given_score(self, scheme: str, individual: bool) -> float:
        """The score of a scheme's winner with the ridges that it is given."""
        winner, metric = self.winner(scheme, None, individual), self.reader.metrics[0]
        if not self.per_output:
            return self.score(winner)
        source, splits, readouts = self._found(scheme, individual)
        return float(score_readouts(source, splits, readouts.W, [metric])[metric.name].mean())

    def model(self, final: str, scheme: str, draw: int | None, correct_ridge, individual: bool):
        """The winner's final model, with the weights of its draw (the best one by default)."""
        if FINALS[final].several:
            return self.ensemble(scheme, draw, individual)
        winner, draw = self._drawn(scheme, draw, individual)
        return self._trained(final, scheme, winner, draw, individual, correct_ridge)

    def _trained(
        self, final: str, scheme: str, winner: Winner, draw: int, individual: bool, correct_ridge
    ):
        """The final model of one candidate with the weights of one draw."""
        model = self._estimator(winner, draw)
        problem = model._read(*self.reader.data, **self.reader.fit_params)
        source = model._states(problem, model.random_state)
        readouts = self._readouts(scheme, winner, draw, individual, model, source)
        readout, model.ridge = final_readout(
            final, source, readouts, bool(model.penalize_bias), correct_ridge
        )
        condition = float(self.results[scheme].condition.values[draw, winner.candidate])
        model._install(source, readout, model.random_state, condition)
        if readouts.residuals is not None:
            model.residuals_, model.runs_ = readouts.residuals, readouts.apart
            if readouts.log_residuals is not None:
                model.log_residuals_ = readouts.log_residuals
        return model

    def ensemble(self, scheme: str, draw: int | None, individual: bool) -> ForecastEnsemble:
        """The best candidates of representations, with all draws (or one), as one forecaster."""
        check_forecasts(self.reader.estimator._task)
        draws = range(len(self._costs(scheme))) if draw is None else [draw]
        chosen = self._fit_for_an_ensemble(scheme, list(draws), individual)
        members: list[Any] = []
        errors: list[Any] = []
        for winner in chosen[: max(1, MOST_MEMBERS // len(draws))]:
            for one in draws:
                model = self._trained("retrain", scheme, winner, one, individual, False)
                members.append(model)
                errors.append(model.residuals_)
        ensemble = ForecastEnsemble(members)
        ensemble.runs_ = members[0].runs_
        problem, schemes = self.reader.problem(self.candidates[chosen[0].candidate])
        truth = validation_truth(problem, schemes[scheme])
        ensemble.residuals_ = truth - _combined_outputs(ensemble, truth - np.stack(errors))
        if ensemble.learns_logarithms:
            ensemble.log_residuals_ = log_errors(truth, ensemble.residuals_)
        for model in members:  # intervals are those of the ensemble
            model._forget_validation()
        return ensemble

    def _fit_for_an_ensemble(self, scheme: str, draws: list[int], individual: bool) -> list[Winner]:
        """The best candidates of representations, the best of them first.

        Which representation is best is hard to tell from a few validation intervals, and one that
        is differenced exactly once is seldom far off: the level of a series moves, and so seldom
        that of its changes. Those are members unless their error is more than `WORST` times the
        lowest of them; the others must have earned it, by an error below `EARNED` times that.
        """
        dataset = self.results[scheme]
        eligible = ~dataset.pruned.values if "pruned" in dataset else None
        costs, names = self._costs(scheme), self.reader.estimator._shapes_the_problem
        forms: dict[str, list[int]] = {}
        for place, candidate in enumerate(self.candidates):
            params = self.reader.params(candidate)
            forms.setdefault(repr([params[name] for name in names]), []).append(place)
        winners: list[Winner] = []
        for places in forms.values():
            part = None if eligible is None else eligible[np.ix_(draws, places)]
            each = best_of(costs[np.ix_(draws, places)], individual, OF_EACH, part)
            winners += [replace(one, candidate=places[one.candidate]) for one in each]
        winners.sort(key=lambda winner: winner.order)
        once = [one for one in winners if self._differences(one) == 1 and np.isfinite(one.cost)]
        times, lowest = self.reader.metrics[0].times, (once or winners)[0].cost
        if not once:
            most = times(lowest, WORST)
            return [one for one in winners if one is winners[0] or one.cost <= most]
        return [
            one
            for one in winners
            if one.cost <= times(lowest, WORST if self._differences(one) == 1 else EARNED)
        ]

    def _differences(self, winner: Winner) -> int:
        """How often the representation of a candidate is differenced."""
        return len(representation_of(self.reader.params(self.candidates[winner.candidate])).lags)

    def outputs(self, scheme: str, individual: bool) -> ValidationOutputs:
        """What the winner's splits say about the rows that they were not trained on."""
        return validation_outputs(*self._found(scheme, individual))

    def _found(self, scheme: str, individual: bool) -> tuple[States, RowSplits, SplitReadouts]:
        """States of the winner by a scheme, its splits and their readouts."""
        winner, draw = self._drawn(scheme, None, individual)
        model = self._estimator(winner, draw)
        problem, schemes = self.reader.problem(self.candidates[winner.candidate])
        source = model._states(problem, model.random_state)
        readouts = self._readouts(scheme, winner, draw, individual, model, source)
        return source, schemes[scheme], readouts

    def _drawn(self, scheme: str, draw: int | None, individual: bool) -> tuple[Winner, int]:
        """The winner, and the draw whose weights it has: by default the one where it did best."""
        winner = self.winner(scheme, draw, individual)
        if draw is None:
            draw = winner.draw
        return winner, self._best_draw(scheme, winner, individual) if draw is None else draw

    def _estimator(self, winner: Winner, draw: int):
        """An estimator with the winner's parameters and the seed of a draw."""
        candidate = self.candidates[winner.candidate]
        seed = candidate_seed(candidate, self.seed) + draw
        return clone(self.reader.estimator).set_params(**{**candidate, "random_state": seed})

    def _readouts(
        self, scheme: str, winner: Winner, draw: int, individual: bool, model, source: States
    ) -> SplitReadouts:
        """Readouts of the winner's splits, validated once for all final models."""
        place = winner.ridge
        if individual and winner.draw is None:
            place = best_ridges(self._costs(scheme)[draw, winner.candidate])
        path = self.results[scheme].ridge.values
        ridge = path[place][:, None]
        key = (scheme, winner.candidate, draw, ridge.tobytes())
        if key not in self._validated:
            while len(self._validated) >= REMEMBERED:
                del self._validated[next(iter(self._validated))]
            aligned, schemes = self.reader.problem(self.candidates[winner.candidate])
            if aligned.skipped > source.problem.skipped:  # another's, for equal rows
                source = model._states(aligned, model.random_state)
            penalised = bool(model.penalize_bias)
            if self.per_output:
                own = output_ridges(source, schemes[scheme], path, penalised)
                ridge = np.tile(own, (len(ridge), 1))
            self._validated[key] = validate_winner(source, schemes[scheme], ridge, penalised)
        return self._validated[key]

    def _costs(self, scheme: str) -> np.ndarray:
        """Costs ``(draw, candidate, split, ridge)`` to select by."""
        return costs_of(self.results[scheme])

    def _best_draw(self, scheme: str, winner: Winner, individual: bool) -> int:
        """The draw in which the winner did best."""
        costs = self._costs(scheme)[:, winner.candidate]
        worst = np.where(np.isnan(costs), np.inf, costs)
        each = worst.min(axis=2) if individual else worst[:, :, winner.ridge[0]]
        return int(ranked(each.T)[0])


def _combined_outputs(ensemble: ForecastEnsemble, outputs: np.ndarray) -> np.ndarray:
    """Validation forecasts of an ensemble, from ``outputs (members, splits, steps, outputs)``."""
    whole = np.full(outputs.shape[1:], np.nan)  # past the end of a shorter split
    for split in range(outputs.shape[1]):
        there = ~np.isnan(outputs[:, split]).all(axis=(0, 2))
        whole[split, there] = combined(
            outputs[:, split, there], ensemble.range_, ensemble.learns_logarithms
        )
    return whole


def describe_winner(winner: Winner, dataset) -> list[str]:
    """A sentence about a winner that diverges, because every candidate does."""
    if np.isfinite(winner.cost):
        return []
    runs = dataset.sizes["split"] * (dataset.sizes["draw"] if winner.draw is None else 1)
    return [
        f"Every candidate diverges on some split, so no mean score is finite; chosen is the one "
        f"that diverges least often, in {winner.diverged} of {runs} runs. Search larger ridge "
        "values, smaller spectral radii or shorter validation intervals."
    ]
