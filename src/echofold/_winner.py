"""Final models of a search's winner, made from what the search has found."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from echofold._candidates import candidate_seed
from echofold._evaluator import Evaluator
from echofold._final import (
    FINALS,
    Readouts,
    final_readout,
    network,
    single,
    validate_winner,
)
from echofold._select import Winner, ranked, select

REMEMBERED = 8  # winners whose readouts are kept, so that several final models cost little


class FinalModels:
    """What a fitted search does with its results; part of `ESNSearchCV`."""

    estimator: Any
    individual_ridge: bool
    n_draws: int
    prune: bool
    select: str
    candidates_: list[dict[str, Any]]
    results_: Any
    seed_: int
    _results: dict[str, Any]
    _data: tuple
    _fit_params: dict[str, Any]
    _evaluator: Evaluator
    _validated: dict[tuple, Readouts]

    def _winner(self, scheme: str, draw: int | None, individual: bool | None = None) -> Winner:
        """The winner by a scheme, over all draws or within one."""
        individual = self.individual_ridge if individual is None else individual
        found = self._results[scheme]
        eligible = None
        if "pruned" in found:
            eligible = ~found.pruned.values
        scores = found[found.attrs["metric"]].values
        if draw is None and self.select == "draw":
            each = [select(scores, individual, d, eligible) for d in range(scores.shape[0])]
            return min(each, key=lambda winner: winner.order)
        return select(scores, individual, draw, eligible)

    def finalize(self, final, scheme=None, draw=None, correct_ridge=False, individual_ridge=None):
        """Make a final model of the winner, without searching again.

        Parameters
        ----------
        final : {"retrain", "average", "best", "weighted"}
            Retrain on all data; average the readouts of the splits; take the readout of the split
            with the lowest RMSE; or average weighted by inverse squared error.
        scheme : str, optional
            Name of the scheme to select by when ``cv`` is a dict; the first by default.
        draw : int, optional
            Select within this draw and use its weights. By default the winner over all draws,
            with the weights of the draw where it did best.
        correct_ridge : bool
            Whether "retrain" raises the ridge in proportion to the longer training set.
        individual_ridge : bool, optional
            Whether every split takes its own best ridge; as the search was told by default.

        Returns
        -------
        estimator
            Fitted; forecasters know the residuals of their validation, for prediction intervals.
        """
        check_is_fitted(self, "results_")
        if final not in FINALS:
            raise ValueError(
                f"final={final!r} is unknown: it must be {', '.join(map(repr, FINALS))}."
            )
        scheme = self._scheme(scheme)
        if draw is not None and not 0 <= draw < self.n_draws:
            raise ValueError(f"draw={draw!r}: this search has draws 0 to {self.n_draws - 1}.")
        if draw is not None and self.prune and self.select == "mean" and self.n_draws > 1:
            raise ValueError(
                f"draw={draw!r}: prune=True dropped candidates by their mean over draws, so the "
                "best one of a single draw may be missing. Use select='draw' or prune=False."
            )
        individual = self.individual_ridge if individual_ridge is None else bool(individual_ridge)
        if individual and self.prune:
            raise ValueError(
                f"individual_ridge={individual_ridge!r}: prune=True dropped ridge values that "
                "single splits may prefer. Search with prune=False."
            )
        winner = self._winner(scheme, draw, individual)
        if draw is None:
            draw = winner.draw
        if draw is None:
            draw = self._best_draw(scheme, winner, individual)
        return self._make(final, scheme, winner, draw, correct_ridge, individual)

    def _scheme(self, name: str | None) -> str:
        """The name of a scheme of this search, the first by default."""
        name = next(iter(self._results)) if name is None else name
        if name not in self._results:
            raise ValueError(
                f"scheme={name!r} is not one of this search: {', '.join(self._results)}."
            )
        return name

    def _best_draw(self, scheme: str, winner: Winner, individual: bool) -> int:
        """The draw in which the winner did best."""
        found = self._results[scheme]
        scores = found[found.attrs["metric"]].values[:, winner.candidate]
        worst = np.where(np.isnan(scores), np.inf, scores)
        each = worst.min(axis=2) if individual else worst[:, :, winner.ridge[0]]
        return int(ranked(each.T)[0])

    def _make(
        self, final: str, scheme: str, winner: Winner, draw: int, correct_ridge, individual: bool
    ):
        """Fit the winner's final model with one draw's weights."""
        candidate = self.candidates_[winner.candidate]
        found = self._results[scheme]
        place = winner.ridge
        if individual and winner.draw is None:
            scores = found[found.attrs["metric"]].values[draw, winner.candidate]
            place = np.where(np.isnan(scores), np.inf, scores).argmin(axis=1)
        seed = candidate_seed(candidate, self.seed_) + draw
        model = clone(self.estimator).set_params(**{**candidate, "random_state": seed})
        problem = model._read(*self._data, **self._fit_params)
        source = judged = single(problem, model.get_params(deep=False), seed)
        aligned, schemes = self._evaluator.problem(candidate)
        if len(aligned.washout) > len(problem.washout):  # of another candidate, for equal rows
            judged = single(aligned, model.get_params(deep=False), seed)
        penalised = bool(model.penalize_bias)
        ridge = found.ridge.values[place]
        key = (scheme, winner.candidate, draw, ridge.tobytes())
        if key not in self._validated:
            while len(self._validated) >= REMEMBERED:
                del self._validated[next(iter(self._validated))]
            self._validated[key] = validate_winner(judged, schemes[scheme], ridge, penalised)
        readouts = self._validated[key]
        readout, model.ridge = final_readout(final, source, readouts, penalised, correct_ridge)
        condition = float(found.condition.values[draw, winner.candidate])
        model._install(network(source, readout, seed, condition))
        if problem.kind == "forecast":
            model.residuals_ = readouts.residuals
        return model
