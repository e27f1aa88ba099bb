"""Reservoirs of other libraries: slowly, but exactly as they step themselves."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from copy import deepcopy
from threading import Lock
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from echofold._data.arguments import is_integer, refuse
from echofold._engine.kind import Reservoir

PIECE = 2**13  # words handed to Python in one array: see `_Node.step`
RIGHT = (
    "an object with step(u) that holds its state (as a reservoir of reservoirpy does), or with "
    "step(x, u) that gives the next state"
)


class Foreign(Reservoir):
    """A reservoir of another library, or any object that can step.

    Every step leaves the compiled program, sets the state of the object for one network after the
    other, lets it step, and reads its new state. With 100 units this takes some 40 times as long
    as a kind of echofold, but it is the other library's reservoir in every scheme, closed loop and
    ridge path, to the last bits that matter.

    Parameters
    ----------
    node : object
        Either it has ``state``, a dict of arrays among which ``"out"`` is what is seen, and
        ``initialize(u)`` and ``step(u)``, as nodes of reservoirpy do. Or it has ``step(x, u)``,
        which gives the next state ``(units,)`` from the state before it and inputs ``(inputs,)``.
        It must compute with NumPy, not with JAX, and give the same whenever it is asked the same.
    units : int, optional
        Values of a state, of an object with ``step(x, u)``; what its attribute ``units`` or
        ``size`` says by default.

    Notes
    -----
    A copy of the object is stepped, always from a state of zeros: the object itself stays as it
    is, and ``random_state`` does not change its weights. Draws are therefore all alike; to compare
    several, give a search a list: ``{"reservoir": [Foreign(one) for one in nodes]}``.

    A network with such a reservoir cannot be saved.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster
    >>> from echofold.reservoirs import Foreign
    >>> class Bucket:
    ...     units = 20
    ...
    ...     def step(self, x, u):
    ...         return np.tanh(0.9 * np.roll(x, 1) + np.linspace(-1, 1, 20) * u[0])
    >>> y = np.sin(np.arange(200) / 5)
    >>> model = ESNForecaster(reservoir=Foreign(Bucket())).fit(y)
    >>> model.forecast(3).shape
    (3,)
    """

    compiled_in = ("units",)
    objects = ("node",)
    stored = {"node_": ()}
    shows = False

    def __init__(self, node=None, *, units=None):
        self.node = node
        self.units = units

    def check(self) -> None:
        """Raise for an object that cannot be stepped."""
        if not callable(getattr(self.node, "step", None)):
            refuse("node", self.node, RIGHT)
        if not _holds_state(self.node):
            units = self._units()
            if not is_integer(units) or units < 1:
                refuse("units", units, "the number of values in a state of node, 1 or more")
        elif self.units is not None:
            raise ValueError(
                f"units={self.units!r} is not needed: node={self.node!r} says itself how large its "
                "state is. Leave it out."
            )

    def _units(self) -> Any:
        """Values of a state of an object that holds none, as far as anyone says."""
        if self.units is not None:
            return self.units
        return getattr(self.node, "units", getattr(self.node, "size", None))

    def _ready(self, inputs: int) -> _Node:
        """A copy of the object, ready for so many inputs."""
        known = self.__dict__.setdefault("_known", {})
        if inputs not in known:
            known[inputs] = _Node(deepcopy(self.node), inputs, self._units())
        return known[inputs]

    def size(self, inputs: int) -> int:
        """Number of values in all parts of its state."""
        return self._ready(inputs).size

    def look(self, x, u):
        """What the object shows of its state."""
        return x[: self.units]

    def looks(self, inputs: int) -> int:
        """How many values that is."""
        return self._ready(inputs).shown

    def constants(self, inputs: int) -> dict[str, Any]:
        """How many values are seen."""
        return {"units": self.looks(inputs)}

    def shared(self) -> tuple:
        """Objects share nothing, whatever they say about being equal."""
        return id(self.node), self.units

    def draw(self, inputs: int, seed: int) -> _Node:
        """A copy of the object."""
        return self._ready(inputs)

    def columns(self, weights: Any, kinds: Sequence[Foreign], inputs: int) -> dict[str, np.ndarray]:
        """Nothing but as many columns as there are candidates."""
        return {"candidate": np.zeros(len(kinds))}

    def step(self, weights: _Node, columns, x, u):
        """One update of states ``x (size, columns)`` by inputs ``u (inputs, columns or 1)``."""
        return weights.step(x, u)

    def trained(self, weights: _Node, columns) -> dict[str, Any]:
        """The copy."""
        return {"node_": weights}

    def restored(self, stored: dict[str, Any]) -> tuple[_Node, dict[str, np.ndarray]]:
        """The copy, and one column."""
        node = stored["node_"]
        self.__dict__.setdefault("_known", {})[node.inputs] = node  # whatever became of the object
        return node, {"candidate": np.zeros(1)}

    def __getstate__(self) -> dict[str, Any]:
        """Without copies: a copy of this kind looks at the object anew, which may have changed."""
        return {name: value for name, value in super().__getstate__().items() if name != "_known"}


@jax.tree_util.register_pytree_node_class
class _Node:
    """An object that steps, as a tree without arrays: programs are compiled for what is in it.

    The parts of its state follow each other in one vector, what is seen first. Equal contents make
    equal nodes, so that the copies of one object share their programs, and a changed object has
    its own.
    """

    def __init__(self, node: Any, inputs: int, units: Any):
        self.node, self._lock, self._holds = node, Lock(), _holds_state(node)
        self.inputs, u = inputs, np.zeros(inputs)
        if self._holds:
            if not getattr(node, "initialized", False):
                node.initialize(u)
            parts = {name: np.shape(part) for name, part in node.state.items()}
            if "out" not in parts:
                refuse("node", node, f"{RIGHT}; its state has {sorted(parts)}, but no 'out'")
            self._parts = {"out": parts.pop("out"), **parts}
        else:
            self._parts = {"out": (int(units),)}
        self.shown = int(np.prod(self._parts["out"]))
        self.size = sum(int(np.prod(shape)) for shape in self._parts.values())
        self._try(u)
        try:
            self._contents: Any = hashlib.sha256(pickle.dumps(node)).digest()
        except Exception:  # whatever its author raises where it cannot be taken apart
            self._contents = id(node)

    def _try(self, u: np.ndarray) -> None:
        """Raise unless the object makes a step as it must."""
        try:
            found = self._one(np.zeros(self.size), u)
        except Exception as error:  # whatever it raises
            raise ValueError(
                f"node={self.node!r} failed to step from a state of {self.size} zeros under "
                f"{len(u)} inputs: {error}. It must be {RIGHT}."
            ) from error
        if any(isinstance(part, jax.Array) for part in found):
            raise ValueError(
                f"node={self.node!r} computes with JAX, which must not be called from inside of a "
                "program of JAX. Use echofold.reservoirs.Custom, which compiles it."
            )
        sizes = [np.size(part) for part in found]
        if sizes != [int(np.prod(shape)) for shape in self._parts.values()]:
            raise ValueError(
                f"node={self.node!r} gave a state of {sizes} values from one of {self.size}. It "
                f"must be {RIGHT}; units= says how many values a state has."
            )

    def _one(self, x: np.ndarray, u: np.ndarray) -> list:
        """The parts of the state after ``x (size,)`` under inputs ``u (inputs,)``."""
        if not self._holds:
            return [self.node.step(x, u)]
        state, first = {}, 0
        for name, shape in self._parts.items():
            size = int(np.prod(shape))
            state[name] = x[first : first + size].reshape(shape).copy()
            first += size
        self.node.state = state
        self.node.step(u)
        return [self.node.state[name] for name in self._parts]

    def step(self, x, u):
        """One step of every column of ``x (size, columns)``, outside of the program.

        JAX copies what it hands to Python, and the larger arrays in a thread of the pool that the
        program itself runs in: if all threads wait so, none is left to copy. Pieces are small
        enough to be copied at once. And these threads know nothing of 64-bit floats, which the
        engine asks for in its own, so that numbers travel as pairs of 32-bit words.
        """
        u = jnp.broadcast_to(u, (u.shape[0], x.shape[1]))
        words = _words(jnp.concatenate([x, u]))
        pieces = [words[first : first + PIECE] for first in range(0, words.shape[0], PIECE)]
        new = jax.ShapeDtypeStruct((2 * x.size,), jnp.uint32)
        new = jax.pure_callback(self._all, new, *pieces, vmap_method="broadcast_all")
        return lax.bitcast_convert_type(new.reshape(*x.shape, 2), jnp.float64)

    def _all(self, *pieces) -> np.ndarray:
        """New states ``(…, size · columns)`` in words, one network after the other."""
        words = np.concatenate([np.asarray(piece) for piece in pieces], axis=-1)
        columns = words.shape[-1] // (2 * (self.size + self.inputs))
        both = words.view(np.float64).reshape(-1, self.size + self.inputs, columns)
        new = np.empty((len(both), self.size, columns))
        with self._lock:  # threads of a search share the object
            for batch, column in np.ndindex(len(both), columns):
                x = np.ascontiguousarray(both[batch, : self.size, column])
                u = np.ascontiguousarray(both[batch, self.size :, column])
                parts = [np.ravel(part) for part in self._one(x, u)]
                new[batch, :, column] = np.concatenate(parts)
        return new.reshape(*words.shape[:-1], -1).view(np.uint32)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple:
        return type(self.node), self._contents, tuple(self._parts.items())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def tree_flatten(self):
        """No arrays, and itself."""
        return (), self

    @classmethod
    def tree_unflatten(cls, node: _Node, arrays):
        """Itself."""
        return node


def _words(values):
    """64-bit numbers as pairs of 32-bit words, ``(2 · count,)``."""
    return lax.bitcast_convert_type(values.astype(jnp.float64), jnp.uint32).ravel()


def _holds_state(node: Any) -> bool:
    """Whether an object keeps its state, and steps by inputs alone."""
    return callable(getattr(node, "initialize", None)) or isinstance(
        getattr(node, "state", None), dict
    )
