"""What a plot is given: scores of a search or a Dataset, and outputs of the winner's validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.tables import Table, read
from echofold._search.select import best_ridges, mean_scores


@dataclass(frozen=True)
class Scores:
    """Scores of one scheme: ``values (draw, candidate, split, ridge)`` and what belongs to them.

    ``bounds (candidate, ridge)`` are true for lower bounds of candidates that were dropped early.
    """

    found: Any
    values: np.ndarray
    bounds: np.ndarray
    individual: bool

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.found.attrs["metric"]

    def mean(self, individual: bool = False) -> np.ndarray:
        """Means ``(candidate, ridge)`` over draws and splits, infinite where not finite."""
        return mean_scores(self.values, individual).mean(axis=0)

    def best(self) -> int:
        """The candidate with the lowest score that is no bound."""
        mean = self.mean(self.individual)
        if not self.individual:
            mean = np.where(self.bounds, np.inf, mean)
        return int(mean.min(axis=1).argmin())


def scores_of(source: Any, scheme: str | None) -> Scores:
    """Scores of a fitted search, of its results, or of what `cross_validate` returns."""
    results: Any = source
    if hasattr(source, "finalize"):
        results = fitted(source)._results
    elif not isinstance(source, dict):  # a Dataset is a Mapping too
        if scheme is not None:
            raise ValueError(
                f"scheme={scheme!r} was given with the results of a single scheme; leave it out."
            )
        results = {None: source}
    found = results[scheme_name(results, scheme)]
    name = getattr(found, "attrs", {}).get("metric")
    if name is None or name not in found:
        raise TypeError(
            f"got {type(source).__name__}, expected a fitted ESNSearchCV, its results_, or what "
            "cross_validate returns."
        )
    array = found[name]
    array = array.expand_dims([d for d in ("draw", "candidate") if d not in array.dims])
    values = array.transpose("draw", "candidate", "split", "ridge").values
    bounds = np.zeros(values.shape[1::2], dtype=bool)
    if "pruned" in found:
        bounds = found.pruned.transpose("draw", "candidate", "ridge").values.any(axis=0)
    individual = bool(getattr(source, "individual_ridge", False))
    return Scores(found, values, bounds, individual)


def scheme_name(results: dict, scheme: str | None) -> Any:
    """The scheme asked for, or the first."""
    if scheme is None:
        return next(iter(results))
    if scheme not in results:
        raise ValueError(
            f"scheme={scheme!r} is not one of this search: {', '.join(map(str, results))}."
        )
    return scheme


def fitted(search: Any) -> Any:
    """The search itself; an error if it has not been fitted."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(search, "finalize"):
        raise TypeError(f"search={search!r}: expected a fitted ESNSearchCV.")
    check_is_fitted(search, "results_")
    return search


def given_series(search: Any) -> Table:
    """The targets ``y`` that a search of a forecaster or regressor was fitted on."""
    place = search.estimator._task.targets
    data = search._reader.data
    return read(data[place] if len(data) > place else search._reader.fit_params["y"], "y")


@dataclass(frozen=True)
class ValidationOutputs:
    """What the winner's splits said about rows they were not trained on, in original units.

    ``rows (splits, steps)`` are rows of ``y`` (for a classifier, sequences), -1 past the end of a
    shorter set; ``truth`` and ``outputs (splits, steps, outputs)`` are NaN there. Outputs of runs
    that diverged are not finite.
    """

    rows: np.ndarray
    truth: np.ndarray
    outputs: np.ndarray


def validation_outputs(search: Any, scheme: str | None = None) -> ValidationOutputs:
    """Forecasts or predictions of every split of the winner for its validation rows."""
    scheme = scheme_name(fitted(search)._results, scheme)
    winner = search._winner(scheme)
    candidate = search.candidates_[winner.candidate]
    problem, schemes = search._reader.problem(candidate)
    splits = schemes[scheme]
    model = search.best_estimator_
    if scheme != next(iter(search._results)):
        model = search.finalize("average", scheme)
    rows = splits.valid_rows
    past = rows >= problem.rows
    truth = problem.original(problem.targets)[np.minimum(rows, problem.rows - 1)]
    truth[past] = np.nan
    if problem.task.fed_back:
        outputs = truth - model.residuals_
    else:
        outputs = _open_loop(search, scheme, winner, model, problem, splits)
        outputs[past] = np.nan
    first = len(problem.washout) + problem.task.ahead
    return ValidationOutputs(np.where(past, -1, rows + first), truth, outputs)


def _open_loop(search: Any, scheme: str, winner: Any, model: Any, problem: Any, splits: Any):
    """Outputs of every split's readout for its validation rows, over one pass of the reservoir."""
    from echofold._data.arguments import candidate_seed
    from echofold._search.split_readouts import validate_winner

    found = search._results[scheme]
    place = winner.ridge
    if search.individual_ridge:
        candidate = search.candidates_[winner.candidate]
        draw = model.seed_ - candidate_seed(candidate, search.seed_)
        scores = found[found.attrs["metric"]].values[draw, winner.candidate]
        place = best_ridges(scores)
    source = model._states(problem, model.seed_)
    W = validate_winner(source, splits, found.ridge.values[place], bool(model.penalize_bias)).W
    rows = splits.valid_rows
    outputs = np.full((*rows.shape, problem.targets.shape[1]), np.nan)
    for start, (states,) in source.blocks():
        inside = (rows >= start) & (rows < start + len(states))
        for split in np.flatnonzero(inside.any(axis=1)):
            at = rows[split, inside[split]] - start
            outputs[split, inside[split]] = W[split, 0] + states[at] @ W[split, 1:]
    return problem.original(outputs)
