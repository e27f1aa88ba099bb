"""Checks of an estimator that was given to be validated or searched, and of its data's order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from echofold._data.argument_names import check_names
from echofold._data.arguments import describe

Method = TypeVar("Method", bound=Callable[..., Any])
NETWORKS = "ESNForecaster, ESNRegressor or ESNClassifier"


def is_network(given: Any) -> bool:
    """Whether this is one of the library's estimators, and no class."""
    return hasattr(given, "_task") and hasattr(given, "_read") and not isinstance(given, type)


def check_network(given: Any, argument: str = "estimator") -> None:
    """Raise unless this is an estimator of the library."""
    if is_network(given):
        return
    if isinstance(given, type):
        raise TypeError(
            f"{argument}={given.__name__} is a class; give an {NETWORKS} made of it, as "
            f"{given.__name__}(), with its parameters in the parentheses."
        )
    if is_network(getattr(given, "estimator", None)):
        raise TypeError(
            f"{argument} is an {type(given).__name__}, expected an {NETWORKS}: give the estimator "
            "that it searches, or use evaluate(search, ...) to judge the search as a whole."
        )
    raise TypeError(
        f"{argument}={describe(given)}: expected an {NETWORKS}. For estimators of other libraries "
        "use scikit-learn's GridSearchCV and cross_validate; readouts of states from elsewhere are "
        "validated by echofold.cross_validate_readout."
    )


def check_fit_params(function: Callable, estimator: Any, given: Iterable[str]) -> None:
    """Raise for keywords that neither ``function`` nor ``estimator.fit`` takes."""
    parameters = [
        one
        for takes in (function, type(estimator).fit)
        for one in inspect.signature(takes).parameters.values()
    ]
    known = dict.fromkeys(
        one.name
        for one in parameters
        if one.name != "self" and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    )
    check_names(given, known, function.__qualname__)


def series_first(method: Method) -> Method:
    """Make a method of ``y`` and ``X`` refuse scikit-learn's order, a table and then one column.

    An ``X`` that is given by its name is meant as one.
    """

    @wraps(method)
    def ordered(self, *data, **named):
        first, second = (_shape(one) for one in data[:2]) if len(data) > 1 else ((), ())
        if len(first) == 2 and len(second) == 1 and first[0] == second[0]:
            raise ValueError(
                f"y is a table of shape {tuple(first)} and X a single column of as many values: a "
                "forecaster takes the series first, then inputs known in advance. Use fit(y, X); "
                "to forecast the columns of a table with one known input, name it: fit(y, X=...)."
            )
        return method(self, *data, **named)

    return ordered  # type: ignore[return-value]


def _shape(given: Any) -> tuple[int, ...]:
    """The shape of data, as far as it has one."""
    try:
        return tuple(given.shape) if hasattr(given, "shape") else np.shape(given)
    except ValueError:  # of rows of unequal length
        return ()
