"""Final models of a search's winner, made from what the search has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import candidate_seed
from echofold._engine.states import States
from echofold._models.train import network
from echofold._search.reader import Reader
from echofold._search.select import Winner, best_ridges, ranked, select
from echofold._search.split_readouts import (
    SplitReadouts,
    ValidationOutputs,
    final_readout,
    validate_winner,
    validation_outputs,
)

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
        winner, draw = self._drawn(scheme, draw, individual)
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
