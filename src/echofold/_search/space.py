"""Candidates of a search: a grid, random draws from distributions, and the ridge path inside."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from echofold._data.arguments import did_you_mean
from echofold._folds.ridge import check_ridge


def check_space(space: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """A space as a list of dicts of values; raise for names that are no parameters."""
    given = [space] if isinstance(space, Mapping) else space
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise TypeError(
            f"space={space!r}: expected a dict from parameter names to values, or a list of them."
        )
    if not any(given):
        raise ValueError(
            f"space={space!r} is empty, so there is nothing to search; give values of at least one "
            "parameter, such as {'ridge': [1e-8, 1e-4, 1]}."
        )
    for name in {name for one in given for name in one}:
        if name not in names:
            raise ValueError(
                f"space has {name!r}, which is not a parameter of the estimator."
                f"{did_you_mean(name, names)} "
                f"Its parameters are {', '.join(names)}."
            )
    return [{name: _values(name, value) for name, value in one.items()} for one in given]


def _values(name: str, value: Any) -> Any:
    """The values of one parameter, or its distribution; a single one counts as a list of one."""
    if hasattr(value, "rvs"):
        return value
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return [value]
    values = list(value)
    if not values:
        raise ValueError(
            f"space[{name!r}] is empty, so the grid has no candidates; give at least one value."
        )
    return [one.item() if isinstance(one, np.generic) else one for one in values]


def split_ridge(spaces: list[dict[str, Any]], own: float) -> tuple[list[dict], np.ndarray]:
    """Take the ridge path out of a space; the estimator's own value if there is none."""
    paths = [d["ridge"] for d in spaces if "ridge" in d]
    if not paths and np.ndim(own):
        raise ValueError(
            f"ridge={own!r} of the estimator is one for each output, and no path to search; give "
            "space['ridge'], and ridge_per='output' to choose one for each output."
        )
    paths = paths or [[own]]
    if any(hasattr(path, "rvs") for path in paths):
        raise ValueError(
            "space['ridge'] is a distribution, but the whole ridge path is searched inside every "
            "candidate at once; give a list of values, such as [0, 1e-8, 1e-6, 1e-4, 1e-2, 1]."
        )
    path = check_ridge(paths[0])
    if any(not np.array_equal(path, check_ridge(other)) for other in paths[1:]):
        raise ValueError(
            "the dicts of space have different ridge paths; give the same one in each, because "
            "results share one ridge dimension."
        )
    rest = [{name: v for name, v in d.items() if name != "ridge"} for d in spaces]
    if len(np.unique(path)) != len(path):
        raise ValueError(f"ridge={path.tolist()} has repeated values; list every one once.")
    return rest, path


def values_of(name: str, spaces: list[dict[str, Any]], own: dict[str, Any]) -> list[Any]:
    """Values that a parameter takes in a search; of a distribution, the largest.

    Examples
    --------
    >>> values_of("washout", [{"washout": [10, 50]}, {"units": [20]}], {"washout": "auto"})
    [10, 50, 'auto']
    """
    if name not in own:
        return []
    values: list[Any] = []
    for one in spaces:
        given = one.get(name, [own[name]])
        for value in [given] if hasattr(given, "rvs") else given:
            if hasattr(value, "rvs"):
                values.append(int(value.support()[1]))
            elif hasattr(value, "choices"):  # Optuna's distributions
                values += value.choices
            else:
                values.append(getattr(value, "high", value))
    return values


def grid(spaces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every combination of the values, in the order they are given.

    Examples
    --------
    >>> grid([{"leak_rate": [0.5, 1.0], "units": [50]}])
    [{'leak_rate': 0.5, 'units': 50}, {'leak_rate': 1.0, 'units': 50}]
    """
    candidates = []
    for one in spaces:
        for name, values in one.items():
            if hasattr(values, "rvs"):
                raise ValueError(
                    f"space[{name!r}] is a distribution, which a grid cannot list; use "
                    "strategy='random' with n_iter, or give a list of values."
                )
        candidates += [
            dict(zip(one, values, strict=True)) for values in itertools.product(*one.values())
        ]
    return candidates


def sample(spaces: list[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """``count`` random candidates from lists and ``scipy.stats`` distributions."""
    rng = np.random.RandomState(seed % 2**32)
    candidates = []
    for _ in range(count):
        one = spaces[rng.randint(len(spaces))]
        values = {}
        for name, choice in one.items():
            if hasattr(choice, "rvs"):
                value = choice.rvs(random_state=rng)
                values[name] = value.item() if isinstance(value, np.generic) else value
            else:
                values[name] = choice[rng.randint(len(choice))]
        candidates.append(values)
    return candidates
