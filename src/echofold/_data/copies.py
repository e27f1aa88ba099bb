"""Copies of estimators that share their functions: those of JAX break when they are copied."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from sklearn.base import clone

PLAIN = (dict, list, tuple)  # what is looked into


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
