"""From a candidate to the problem it is validated on: data are read once for all that share it."""

from __future__ import annotations

from itertools import product
from typing import Any

from sklearn.base import clone

from echofold._data.problem import Problem
from echofold._folds.splits import RowSplits
from echofold._validation.settings import resolve_schemes
from echofold.metrics._metric import Metric


class Reader:
    """Problems and splits of candidates.

    Parameters of an estimator that change how data are read are its ``_shapes_the_problem``. Those
    that decide where scored rows begin are its ``_openings``: where candidates of ``spaces`` have
    several values, all are scored on the rows after the longest.
    """

    def __init__(
        self,
        estimator: Any,
        data: tuple,
        fit_params: dict[str, Any],
        groups: Any,
        cv: Any,
        metrics: list[Metric],
        spaces: list[dict[str, Any]],
    ):
        self.estimator, self.data, self.fit_params = estimator, data, fit_params
        self.groups, self.cv, self.metrics = groups, cv, metrics
        self._own = estimator.get_params(deep=False)
        self._aligned: dict[str, int] = {}
        self._problems: dict[tuple, tuple[Problem, dict[str, RowSplits]]] = {}
        names = [name for name in estimator._openings if name in self._own]
        values = product(*(values_of(name, spaces, self._own[name]) for name in names))
        openings = [dict(zip(names, one, strict=True)) for one in values]
        if len(openings) > 1:
            self._aligned = {"washout": max(self._read(one).skipped for one in openings)}

    def _read(self, shaping: dict[str, Any]) -> Problem:
        """The problem that data become with some parameters."""
        reader = clone(self.estimator).set_params(**shaping)
        return reader._read(*self.data, **self.fit_params)

    def params(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """All parameters of a candidate; ``reservoir__size`` is one of its reservoir."""
        if any("__" in name for name in candidate):
            return clone(self.estimator).set_params(**candidate).get_params(deep=False)
        return {**self._own, **candidate}

    def problem(self, candidate: dict[str, Any]) -> tuple[Problem, dict[str, RowSplits]]:
        """The problem that a candidate is validated on, and its splits by every scheme."""
        params = self.params(candidate) | self._aligned
        shaping = {name: params[name] for name in self.estimator._shapes_the_problem}
        key = tuple(map(repr, shaping.values()))
        if key not in self._problems:
            problem = self._read(shaping)
            schemes = resolve_schemes(self.cv, problem, self.groups, self.metrics)
            if self._problems:
                _check_as_many(next(iter(self._problems.values()))[1], schemes)
            self._problems[key] = problem, schemes
        return self._problems[key]


def values_of(name: str, spaces: list[dict[str, Any]], own: Any) -> list[Any]:
    """Values that a parameter takes in a search, ``own`` by default; of a range, the largest.

    Examples
    --------
    >>> values_of("washout", [{"washout": [10, 50]}, {"units": [20]}], "auto")
    [10, 50, 'auto']
    """
    values: list[Any] = []
    for one in spaces:
        given = one.get(name, [own])
        for value in [given] if hasattr(given, "rvs") else given:
            if hasattr(value, "rvs"):
                values.append(int(value.support()[1]))
            elif hasattr(value, "choices"):  # Optuna's distributions
                values += value.choices
            else:
                values.append(getattr(value, "high", value))
    return values


def _check_as_many(before: dict[str, RowSplits], now: dict[str, RowSplits]) -> None:
    """Candidates that shape the data differently must still have equally many splits."""
    for name in before:
        if len(before[name]) != len(now[name]):
            raise ValueError(
                f"candidates have different numbers of splits by {before[name].name}: "
                f"{len(before[name])} and {len(now[name])}. Give washout one value, or a scheme "
                "with a fixed number of splits."
            )
