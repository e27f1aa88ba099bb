"""What a plot is given: scores of a search or a Dataset, and outputs of the winner's validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.tables import Table, read
from echofold._search.finals import mean_costs, named
from echofold._search.winner import ValidationOutputs


@dataclass(frozen=True)
class Scores:
    """Scores of one scheme: ``values (draw, candidate, split, ridge)`` and what belongs to them.

    ``bounds (candidate, ridge)`` are true for candidates that were dropped early: what they could
    have reached at best.
    """

    found: Any
    values: np.ndarray
    bounds: np.ndarray
    individual: bool

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.found.attrs["metric"]

    @property
    def sign(self) -> int:
        """What scores are multiplied by to be costs: -1 if higher ones are better."""
        return -1 if self.found.attrs.get("better") == "higher" else 1

    @property
    def best_word(self) -> str:
        """What the best score is called."""
        return "lowest" if self.sign == 1 else "highest"

    def mean(self, individual: bool = False) -> np.ndarray:
        """Means ``(candidate, ridge)`` over draws and splits, infinite where not finite."""
        return self.sign * self.mean_cost(individual)

    def mean_cost(self, individual: bool = False) -> np.ndarray:
        """The same, of costs."""
        return mean_costs(self.sign * self.values, individual).mean(axis=0)

    def best(self) -> int:
        """The best candidate whose score is no bound."""
        mean = self.mean_cost(self.individual)
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
    dataset = results[named(results, scheme)]
    name = getattr(dataset, "attrs", {}).get("metric")
    if name is None or name not in dataset:
        raise TypeError(
            f"got {type(source).__name__}, expected a fitted ESNSearchCV, its results_, or what "
            "cross_validate returns."
        )
    array = dataset[name]
    array = array.expand_dims([d for d in ("draw", "candidate") if d not in array.dims])
    values = array.transpose("draw", "candidate", "split", "ridge").values
    bounds = np.zeros(values.shape[1::2], dtype=bool)
    if "pruned" in dataset:
        bounds = dataset.pruned.transpose("draw", "candidate", "ridge").values.any(axis=0)
    individual = getattr(source, "ridge_per", "all") == "split"
    return Scores(dataset, values, bounds, individual)


def fitted(search: Any) -> Any:
    """The search itself; an error if it has not been fitted."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(search, "finalize"):
        raise TypeError(f"search={search!r}: expected a fitted ESNSearchCV.")
    check_is_fitted(search, "results_")
    return search


def given_series(search: Any) -> Table:
    """The targets ``y`` that a search of a forecaster or regressor was fitted on, with NaN."""
    place = search.estimator._task.targets
    data = search._reader.data
    y = data[place] if len(data) > place else search._reader.fit_params["y"]
    return read(y, "y", missing=True)


def validation_outputs(search: Any, scheme: str | None = None) -> ValidationOutputs:
    """Forecasts or predictions of every split of the winner for its validation rows."""
    scheme = named(fitted(search)._results, scheme)
    return search._winners.outputs(scheme, search.ridge_per == "split")
