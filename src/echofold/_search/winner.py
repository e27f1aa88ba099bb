"""Final models of a search's winner, made from what the search has found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import candidate_seed
from echofold._engine.states import States
from echofold._models.ensemble import ForecastEnsemble, combined
from echofold._models.train import network
from echofold._search.finals import FINALS
from echofold._search.reader import Reader
from echofold._search.select import Winner, best_ridges, ranked, select
from echofold._search.split_readouts import (
    SplitReadouts,
    ValidationOutputs,
    final_readout,
    validate_winner,
    validation_outputs,
)

WORST = 2.0  # times the lowest validation error, beyond which a representation is left out
MOST_MEMBERS = 48  # of an ensemble
REMEMBERED = 8  # winners whose readouts are kept, so that several final models cost little


@dataclass
class Winners:
    """Who wins a search, by any of its schemes, and the final models of it.

    ``results[scheme]`` are the Datasets of the search; ``by_draw`` tells whether the best draw is
    selected, or the best mean over draws.
    """

    reader: Reader
    candidates: list[dict[str, Any]]
    results: dict[str, Any]
    seed: int
    by_draw: bool
    _validated: dict[tuple, SplitReadouts] = field(default_factory=dict)

    def winner(self, scheme: str, draw: int | None, individual: bool) -> Winner:
        """The winner by a scheme, over all draws or within one."""
        dataset = self.results[scheme]
        eligible = ~dataset.pruned.values if "pruned" in dataset else None
        scores = self._scores(scheme)
        if draw is None and self.by_draw:
            each = [select(scores, individual, d, eligible) for d in range(scores.shape[0])]
            return min(each, key=lambda winner: winner.order)
        return select(scores, individual, draw, eligible)

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
        model._install(network(source, readout, model.random_state, condition))
        if readouts.residuals is not None:
            model.residuals_ = readouts.residuals
        return model

    def ensemble(self, scheme: str, draw: int | None, individual: bool) -> ForecastEnsemble:
        """The best candidate of every representation, with all draws (or one), as one forecaster.

        Representations whose error is more than `WORST` times the lowest are left out.
        """
        if not self.reader.estimator._task.fed_back:
            raise ValueError(
                "final='ensemble' combines forecasts, and needs a search of an ESNForecaster. Use "
                "'retrain', 'average', 'best' or 'weighted'."
            )
        draws = range(len(self._scores(scheme))) if draw is None else [draw]
        chosen = self._of_each_form(scheme, list(draws), individual)
        members: list[Any] = []
        errors: list[Any] = []
        for winner in chosen[: max(1, MOST_MEMBERS // len(draws))]:
            for one in draws:
                model = self._trained("retrain", scheme, winner, one, individual, False)
                errors.append(model.residuals_)
                model.residuals_ = None  # intervals are those of the ensemble
                members.append(model)
        ensemble = ForecastEnsemble(members)
        _, schemes = self.reader.problem(self.candidates[chosen[0].candidate])
        ensemble.residuals_ = _combined_errors(np.stack(errors), schemes[scheme].sizes)
        return ensemble

    def _of_each_form(self, scheme: str, draws: list[int], individual: bool) -> list[Winner]:
        """The best candidate of every representation, the best of them first."""
        dataset = self.results[scheme]
        eligible = ~dataset.pruned.values if "pruned" in dataset else None
        scores, names = self._scores(scheme), self.reader.estimator._shapes_the_problem
        forms: dict[str, list[int]] = {}
        for place, candidate in enumerate(self.candidates):
            params = self.reader.params(candidate)
            forms.setdefault(repr([params[name] for name in names]), []).append(place)
        winners = []
        for places in forms.values():
            part = None if eligible is None else eligible[np.ix_(draws, places)]
            if part is not None and not part.all(axis=0).any():
                continue  # all of them were dropped, so they are worse than the winner
            best = select(scores[np.ix_(draws, places)], individual, None, part)
            winners.append(replace(best, candidate=places[best.candidate]))
        winners.sort(key=lambda winner: winner.order)
        most = WORST * winners[0].score
        return [one for one in winners if one is winners[0] or one.score <= most]

    def outputs(self, scheme: str, individual: bool) -> ValidationOutputs:
        """What the winner's splits say about the rows that they were not trained on."""
        winner, draw = self._drawn(scheme, None, individual)
        model = self._estimator(winner, draw)
        problem, schemes = self.reader.problem(self.candidates[winner.candidate])
        source = model._states(problem, model.random_state)
        readouts = self._readouts(scheme, winner, draw, individual, model, source)
        return validation_outputs(source, schemes[scheme], readouts)

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
            place = best_ridges(self._scores(scheme)[draw, winner.candidate])
        ridge = self.results[scheme].ridge.values[place]
        key = (scheme, winner.candidate, draw, ridge.tobytes())
        if key not in self._validated:
            while len(self._validated) >= REMEMBERED:
                del self._validated[next(iter(self._validated))]
            aligned, schemes = self.reader.problem(self.candidates[winner.candidate])
            if aligned.skipped > source.problem.skipped:  # another's, for equal rows
                source = model._states(aligned, model.random_state)
            penalised = bool(model.penalize_bias)
            self._validated[key] = validate_winner(source, schemes[scheme], ridge, penalised)
        return self._validated[key]

    def _scores(self, scheme: str) -> np.ndarray:
        """Scores ``(draw, candidate, split, ridge)`` to select by."""
        dataset = self.results[scheme]
        return dataset[dataset.attrs["metric"]].values

    def _best_draw(self, scheme: str, winner: Winner, individual: bool) -> int:
        """The draw in which the winner did best."""
        scores = self._scores(scheme)[:, winner.candidate]
        worst = np.where(np.isnan(scores), np.inf, scores)
        each = worst.min(axis=2) if individual else worst[:, :, winner.ridge[0]]
        return int(ranked(each.T)[0])


def _combined_errors(errors: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Errors of a combination, from those of its members ``(members, splits, steps, outputs)``.

    The truth is the same for all, so the error of the combination is the combination of errors.
    """
    whole = np.full(errors.shape[1:], np.nan)  # past the end of a shorter split
    for split, size in enumerate(sizes):
        whole[split, :size] = combined(errors[:, split, :size])
    return whole


def describe_winner(winner: Winner, dataset) -> list[str]:
    """A sentence about a winner that diverges, because every candidate does."""
    if np.isfinite(winner.score):
        return []
    runs = dataset.sizes["split"] * (dataset.sizes["draw"] if winner.draw is None else 1)
    return [
        f"Every candidate diverges on some split, so no mean score is finite; chosen is the one "
        f"that diverges least often, in {winner.diverged} of {runs} runs. Search larger ridge "
        "values, smaller spectral radii or shorter validation intervals."
    ]
