"""Kinds of reservoir by a user's functions, and by objects of other libraries.

The latter run slowly, but exactly as they step themselves.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer, check_number, describe, refuse
from echofold._engine.kind import (
    SIDE_BY_SIDE,
    Reservoir,
    features_of,
    of_shape,
    side_by_side,
    tried,
)
from echofold._machine.arrays import jax, jnp, once_imported
from echofold._machine.programs import outside

STEPPING = Lock()
RIGHT = (
    "an object with step(u) that holds its state (as a reservoir of reservoirpy does), or with "
    "step(x, u) that gives the next state"
)


def everything(x, u):
    """The whole state is seen: the ``look`` of a `Custom` that is given none."""
    return x


class Custom(Reservoir):
    """Your own reservoir, by two functions.

    ``init(inputs, seed)`` gives weights, and ``step(weights, parameters, x, u)`` the next states.
    They take the places of the methods of a `Reservoir`; search, closed loops and devices then
    work as for any kind, but a file holds no functions. To save a network, or to check parameters,
    write a subclass of `Reservoir` instead.

    Parameters
    ----------
    units : int, default=100
        Values of a state.
    init : callable
        Of the number of inputs and a seed: arrays, in any tree of tuples, lists and dicts.
    step : callable
        Of these weights, the parameters, states ``x (units, networks)`` and inputs ``u (inputs,
        networks or 1)``: the new states. Networks are side by side in the last axis. It is made of
        ``jax.numpy`` operations, and depends on nothing else.
    parameters : dict of str to float, optional
        Numbers that ``step`` gets as arrays of shape ``(networks,)``. Candidates that differ in
        them alone share their weights, and run side by side: ``{"reservoir__parameters": [{...},
        {...}]}`` is the space of a search. A value may be an array; the networks are then its last
        axis.
    look : callable, optional
        Of ``x`` and ``u``: what the readout sees of a state, ``(features, networks)``. All of the
        state by default.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold
    >>> from echofold.reservoirs import Custom
    >>> def init(inputs, seed):
    ...     rng = np.random.default_rng(seed)
    ...     return {"V": rng.normal(size=(40, inputs)), "phase": rng.uniform(0, 6, (40, 1))}
    >>> def step(weights, parameters, x, u):
    ...     echo = parameters["strength"] * jnp.roll(x, 1, axis=0)
    ...     return jnp.sin(weights["V"] @ u + weights["phase"] + echo)
    >>> kind = Custom(40, init=init, step=step, parameters={"strength": 0.5})
    >>> space = {"reservoir__parameters": [{"strength": s} for s in (0.2, 0.5, 0.9)]}
    >>> model = ESNForecaster(reservoir=kind, random_state=0)
    >>> found = ESNSearchCV(model, space, cv=KFold(4)).fit(np.sin(np.arange(300) / 5))
    >>> found.results_.sizes["candidate"]
    3
    """

    compiled_in = ("step", "look")
    objects = ("init", "step", "look")
    stored = {"weights_": (), "parameters_": ()}

    def __init__(self, units=100, *, init=None, step=None, parameters=None, look=everything):
        self.units = units
        self.init = init
        self.step = step  # type: ignore[method-assign]
        self.parameters = parameters  # type: ignore[misc]
        self.look = look  # type: ignore[method-assign]

    @property
    def _values(self) -> dict[str, Any]:
        """The parameters, none if there are none."""
        return dict(self.parameters or {})  # type: ignore[arg-type]

    @property
    def shows(self) -> bool:
        return self.look is everything

    def size(self, inputs: int) -> int:
        return int(self.units)

    def looks(self, inputs: int) -> int:
        if self.shows:
            return int(self.units)
        return features_of("look", self.look, states=int(self.units), inputs=inputs)

    def check(self) -> None:
        check_integer("units", self.units, 1)
        for name in ("init", "step", "look"):
            if not callable(getattr(self, name)):
                refuse(name, getattr(self, name), "a function")
        if not isinstance(self.parameters, dict | None):
            refuse("parameters", self.parameters, "a dict of numbers by name, or None")
        for name, value in self._values.items():
            array = np.asarray(value)
            if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
                refuse(f"parameters[{name!r}]", value, "a finite number, or an array of them")

    def shared(self) -> tuple:
        """Equal for candidates that can share a draw: all but the values of ``parameters``."""
        shapes = ((name, np.shape(value)) for name, value in self._values.items())
        return int(self.units), self.init, self.step, self.look, *sorted(shapes)

    def draw(self, inputs: int, seed: int) -> Any:
        """What ``init`` gives."""
        weights = jax.tree.map(np.asarray, self.init(inputs, seed))
        for array in jax.tree.leaves(weights):
            if array.dtype.kind not in "biuf":
                raise ValueError(
                    f"init={self.init!r} gave {describe(array)} of {array.dtype}, expected arrays "
                    "of numbers in tuples, lists and dicts."
                )
        return weights

    def columns(self, weights: Any, kinds: Sequence[Custom], inputs: int) -> dict[str, np.ndarray]:
        """The parameters of candidates side by side; ``step`` is tried with them."""
        columns = side_by_side([kind._values for kind in kinds])
        x, u = of_shape(int(self.units), len(kinds)), of_shape(inputs, 1)
        args = weights, columns, x, u
        given = f"arrays of shapes {_shapes(args)}"
        new = tried("step", self.step, given, *args, rule=SIDE_BY_SIDE)
        if getattr(new, "shape", None) != x.shape:
            raise ValueError(
                f"step={self.step!r} gave {_shapes(new)} for states of shape {x.shape} and inputs "
                f"of shape {u.shape}, expected {x.shape}: networks are side by side in the last "
                "axis."
            )
        return columns

    def trained(self, weights: Any, columns) -> dict[str, Any]:
        """Weights and parameters, as they are."""
        return {"weights_": weights, "parameters_": dict(columns)}

    def restored(self, stored: dict[str, Any]) -> tuple[Any, dict[str, np.ndarray]]:
        """Weights and parameters, as they are."""
        return stored["weights_"], stored["parameters_"]

    def step(self, weights: Any, columns, x, u):
        """What every object has of its own."""
        raise NotImplementedError


def _shapes(found: Any) -> str:
    """Shapes of what a function gave."""
    return str(jax.tree.map(lambda one: getattr(one, "shape", one), found))


@dataclass(eq=False, repr=False)
class Foreign(Reservoir):
    """A reservoir of another library, or any object that can step.

    Every step leaves the compiled program, and lets the object step for one network after the
    other. With 100 units this takes some 40 times as long as a kind of echofold, but it is the
    other library's reservoir in every scheme, closed loop and ridge path, to the last bits that
    matter.

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
    several, give a search a list: ``{"reservoir": [Foreign(one) for one in nodes]}``. A network
    with such a reservoir cannot be saved.

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

    node: Any = None
    _: KW_ONLY
    units: Any = None

    def check(self) -> None:
        if not callable(getattr(self.node, "step", None)):
            refuse("node", self.node, RIGHT)
        if not _holds_state(self.node):
            expected = "the number of values in a state of node, 1 or more"
            check_number("units", self._units(), expected, least=1, kind=Integral)
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
        return self._ready(inputs).size

    def look(self, x, u):
        """What the object shows of its state."""
        return x[: self.units]

    def looks(self, inputs: int) -> int:
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

    def step(self, weights: _Node, columns, x, u):
        return weights.step(x, u)

    def trained(self, weights: _Node, columns) -> dict[str, Any]:
        """The copy."""
        return {"node_": weights}

    def restored(self, stored: dict[str, Any]) -> tuple[_Node, dict[str, np.ndarray]]:
        """The copy, and one column."""
        node = stored["node_"]
        self.__dict__.setdefault("_known", {})[node.inputs] = node  # whatever became of the object
        return node, self.columns(node, [self], node.inputs)

    def __getstate__(self) -> dict[str, Any]:
        """Without copies: a copy of this kind looks at the object anew, which may have changed."""
        return {name: value for name, value in super().__getstate__().items() if name != "_known"}


class _Node:
    """An object that steps, static for JAX: programs are compiled for what is in it.

    The parts of its state follow each other in one vector, what is seen first. Equal contents make
    equal nodes, so that the copies of one object share their programs, and a changed object has
    its own.
    """

    def __init__(self, node: Any, inputs: int, units: Any):
        self.node, self._holds = node, _holds_state(node)
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
        self._sizes = [int(np.prod(shape)) for shape in self._parts.values()]
        self.shown, self.size = self._sizes[0], sum(self._sizes)
        self._try(u)
        try:
            contents: Any = hashlib.sha256(pickle.dumps(node)).digest()
        except Exception:  # whatever its author raises where it cannot be taken apart
            contents = id(node)
        self._key = type(node), contents, tuple(self._parts.items())

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
        if sizes != self._sizes:
            raise ValueError(
                f"node={self.node!r} gave a state of {sizes} values from one of {self.size}. It "
                f"must be {RIGHT}; units= says how many values a state has."
            )

    def _one(self, x: np.ndarray, u: np.ndarray) -> list:
        """The parts of the state after ``x (size,)`` under inputs ``u (inputs,)``."""
        if not self._holds:
            return [self.node.step(x, u)]
        parts = np.split(x, np.cumsum(self._sizes)[:-1])
        shaped = zip(self._parts.items(), parts, strict=True)
        self.node.state = {name: part.reshape(shape).copy() for (name, shape), part in shaped}
        self.node.step(u)
        return [self.node.state[name] for name in self._parts]

    def step(self, x, u):
        """One step of every column of ``x (size, columns)``, outside of the program."""
        u = jnp.broadcast_to(u, (u.shape[0], x.shape[1]))
        return outside(self._all, jnp.concatenate([x, u]), self.size)

    def _all(self, both: np.ndarray) -> np.ndarray:
        """New states ``(size, columns)`` of states above inputs, one network after the other."""
        new = np.empty((self.size, both.shape[1]))
        with STEPPING:  # threads of a search share the object
            for column in range(both.shape[1]):
                one = np.ascontiguousarray(both[:, column])
                parts = self._one(one[: self.size], one[self.size :])
                new[:, column] = np.concatenate([np.ravel(part) for part in parts])
        return new

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


once_imported(lambda: jax.tree_util.register_static(_Node))


def _holds_state(node: Any) -> bool:
    """Whether an object keeps its state, and steps by inputs alone."""
    holds = isinstance(getattr(node, "state", None), dict)
    return holds or callable(getattr(node, "initialize", None))
