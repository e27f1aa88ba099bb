"""What scikit-learn asks of estimators: copies, and metadata that go where its routing says.

Copies share their functions: those of JAX break when they are copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

MYPY = False  # true for mypy alone, to which a class without types, as these are, is any class
if MYPY:

    class BaseEstimator:
        """What is used of that of scikit-learn."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Parameters by name."""
            return {}

        @classmethod
        def _get_param_names(cls) -> list[str]:
            return []

        def __sklearn_tags__(self) -> Any: ...

        def __getstate__(self) -> Any: ...

        def __getattr__(self, name: str) -> Any: ...

        def _repr_mimebundle_(self, **given: Any) -> Any: ...

        @property
        def _repr_html_(self) -> Any: ...

    class RegressorMixin(BaseEstimator):
        """A regressor."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The coefficient of determination."""
            return 0.0

    class ClassifierMixin(RegressorMixin):
        """A classifier, with its accuracy."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin  # noqa: F401

PLAIN = (dict, list, tuple)  # what is looked into
DATA = ("X", "y", "sequences", "labels")  # by keyword they are data all the same


class SharesFunctions:
    """Lets `sklearn.base.clone` and `copy.deepcopy` keep functions as they are, wherever given.

    A function that JAX compiled cannot be copied, and a copy of any other would be compiled anew.
    """

    def __sklearn_clone__(self) -> Any:
        new = type(self)(**{name: copied(v) for name, v in self.get_params(deep=False).items()})  # type: ignore[attr-defined]
        for name in {"_metadata_request", "_sklearn_output_config"} & vars(self).keys():
            setattr(new, name, deepcopy(getattr(self, name)))
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        new = memo[id(self)] = object.__new__(type(self))
        state: dict[str, Any] = self.__getstate__()  # type: ignore[assignment]
        memo.update((id(one), one) for one in _functions(state))
        vars(new).update(deepcopy(state, memo))
        return new


def copied(value: Any) -> Any:
    """A parameter as `clone` copies it, with the functions in it left as they are."""
    if _is_function(value):
        return value
    if type(value) is dict:
        return {name: copied(one) for name, one in value.items()}
    if type(value) in PLAIN:
        return type(value)(copied(one) for one in value)
    return clone(value, safe=False)


def _functions(value: Any) -> Iterator[Any]:
    """The functions in a parameter, or in a state."""
    if _is_function(value):
        yield value
    elif type(value) in PLAIN:
        for one in value.values() if type(value) is dict else value:
            yield from _functions(one)


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type) and not hasattr(value, "get_params")


def router_of(search: Any) -> MetadataRouter:
    """What ``fit`` of the estimator and ``split`` of splitters ask for, when a search is fitted."""
    router = MetadataRouter(owner=type(search).__name__)
    fitted = MethodMapping().add(caller="fit", callee="fit")
    router.add(estimator=search.estimator, method_mapping=fitted)
    for name, splitter in _splitters(search.cv).items():
        split = MethodMapping().add(caller="fit", callee="split")
        router.add(method_mapping=split, **{name: splitter})
    return router


def _splitters(cv: Any) -> dict[str, Any]:
    """Objects among ``cv`` that split, by names that no other part of a search has."""
    named = {f"splitter {name}": one for name, one in cv.items()} if isinstance(cv, dict) else {}
    named = named or {"splitter": cv}
    return {name: one for name, one in named.items() if hasattr(one, "split")}


def routed(search: Any, groups: Any, fit_params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Groups for splitters, and what else the estimator reads.

    Without scikit-learn's metadata routing these are what was given. With it they are what was
    asked for, and an error says what was not.
    """
    if not get_config()["enable_metadata_routing"]:
        return groups, fit_params
    data = {name: value for name, value in fit_params.items() if name in DATA}
    metadata = {name: value for name, value in fit_params.items() if name not in DATA}
    if groups is not None:
        metadata["groups"] = groups
    found = process_routing(search, "fit", **metadata)
    split = [found[name].split.get("groups") for name in _splitters(search.cv)]
    groups = next((given for given in split if given is not None), None)
    return groups, data | dict(found["estimator"].fit)
