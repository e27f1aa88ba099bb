"""What a readout sees of inputs and states: ``readout=`` of an estimator, read once.

The columns are computed here alone, for driven states and for closed loops alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from echofold._data.arguments import refuse

TRIED = 3  # columns of the arrays that users' functions are tried with
SIDE_BY_SIDE = "made of jax.numpy operations, with networks side by side in the last axis"
MOST_COLUMNS = 20_000  # of a polynomial: the readout is solved by a matrix of their square
EXPECTED = (
    "'states', 'inputs+states', either of them followed by '+squares', 'polynomial 2' (or another "
    "degree up to 5), or a function of (u, x)"
)


@dataclass(frozen=True)
class View:
    """What stands in a row beside its one: inputs or not, then what `look` gives.

    ``inputs`` tells whether the inputs ``u`` do. The states ``x``, as the reservoir shows them,
    come first, then their squares or the products of ``[u, x]`` up to ``degree``; a ``function``
    of ``(u, x)`` stands in the place of all this.
    """

    inputs: bool = True
    squares: bool = False
    degree: int = 1
    function: Callable | None = None

    def look(self, u, x):
        """Columns ``(looks, columns)`` of inputs ``u (inputs, columns or 1)`` and ``x``."""
        if self.function is not None:
            return self.function(_as_wide(u, x), x)
        if self.squares:
            return jnp.concatenate([x, x * x])
        if self.degree > 1:
            values = jnp.concatenate([_as_wide(u, x), x])
            each = [products(values, degree) for degree in range(2, self.degree + 1)]
            return jnp.concatenate([x, *each])
        return x

    def looks(self, inputs: int, shown: int) -> int:
        """How many columns `look` gives, for so many inputs and values shown of a state."""
        if self.function is not None:
            return features_of("readout", self.function, inputs=inputs, states=shown)
        if self.squares:
            return 2 * shown
        terms = comb(inputs + shown + self.degree, self.degree) - 1 - inputs  # of degree 1 and more
        if self.degree > 1 and terms > MOST_COLUMNS:
            raise ValueError(
                f"readout='polynomial {self.degree}' of {inputs} inputs and {shown} values of a "
                f"state has {terms} columns, more than {MOST_COLUMNS}. Use fewer units, a lower "
                "degree, or 'inputs+states+squares'."
            )
        return terms if self.degree > 1 else shown

    @property
    def shows_states(self) -> bool:
        """Whether `look` begins with what the reservoir shows."""
        return self.function is None


def view_of(readout: Any) -> View:
    """The view that ``readout=`` of an estimator asks for."""
    if callable(readout):
        return View(inputs=False, function=readout)
    if not isinstance(readout, str):
        refuse("readout", readout, EXPECTED)
    words = readout.split()
    if len(words) == 2 and words[0] == "polynomial" and words[1] in ("2", "3", "4", "5"):
        return View(degree=int(words[1]))
    parts = [part.strip() for part in readout.split("+")]
    if parts in (["states"], ["inputs", "states"]):
        return View(inputs=len(parts) == 2)
    if parts in (["states", "squares"], ["inputs", "states", "squares"]):
        return View(inputs=len(parts) == 3, squares=True)
    return refuse("readout", readout, EXPECTED)


def products(values, degree: int):
    """Products ``(terms, columns)`` of ``degree`` of the ``values (count, columns)``, each once."""
    chosen = np.array(list(combinations_with_replacement(range(values.shape[0]), degree)))
    product = values[chosen[:, 0]]
    for factor in range(1, degree):
        product = product * values[chosen[:, factor]]
    return product


def _as_wide(u, x):
    """Inputs, given once for all columns, for every column."""
    return jnp.broadcast_to(u, (u.shape[0], x.shape[1]))


def tried(name: str, function: Callable, given: str, *args: Any, rule: str) -> Any:
    """Shapes that a user's function gives for ``args``, arrays or shapes, which ``given`` tells."""
    try:
        return jax.eval_shape(function, *args)
    except Exception as error:  # whatever a user's function raises
        raise ValueError(
            f"{name}={function!r} failed for {given}: {error}. It must be {rule}."
        ) from error


def of_shape(rows: int, columns: int = TRIED) -> Any:
    """An array that is not there, for `tried`."""
    return jax.ShapeDtypeStruct((rows, columns), jnp.result_type(float))


def features_of(name: str, function: Callable, **arrays: int) -> int:
    """How many features a user's function gives for arrays of so many rows, by what they are.

    It must do so for any number of networks.
    """
    shapes = [of_shape(rows) for rows in arrays.values()]
    given = " and ".join(f"{what} of shape ({rows}, {TRIED})" for what, rows in arrays.items())
    seen = tried(name, function, given, *shapes, rule=SIDE_BY_SIDE)
    if getattr(seen, "ndim", 0) != 2 or seen.shape[1] != TRIED or not seen.shape[0]:
        raise ValueError(
            f"{name}={function!r} gave shape {getattr(seen, 'shape', None)} for {given}, expected "
            f"(features, {TRIED}): networks are side by side in the last axis."
        )
    return int(seen.shape[0])
