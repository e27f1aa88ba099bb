"""A kind of reservoir by functions of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from echofold._data.arguments import check_integer, describe, refuse
from echofold._engine.kind import SIDE_BY_SIDE, Reservoir, features_of, of_shape, tried


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
        """Whether all of a state is seen."""
        return self.look is everything

    def size(self, inputs: int) -> int:
        """Number of values in a state."""
        return int(self.units)

    def looks(self, inputs: int) -> int:
        """How many values ``look`` gives."""
        if self.shows:
            return int(self.units)
        return features_of("look", self.look, states=int(self.units), inputs=inputs)

    def check(self) -> None:
        """Raise for a parameter that is not allowed."""
        check_integer("units", self.units, 1)
        for name in ("init", "step", "look"):
            if not callable(getattr(self, name)):
                refuse(name, getattr(self, name), "a function")
        if self.parameters is None:
            return
        if not isinstance(self.parameters, dict):
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
        each = [kind._values for kind in kinds]
        columns = {
            name: np.stack([np.asarray(one[name], dtype=float) for one in each], axis=-1)
            for name in each[0]
        } or {"candidate": np.zeros(len(kinds))}  # fmt: skip
        x, u = of_shape(int(self.units), len(kinds)), of_shape(inputs, 1)
        given = f"arrays of shapes {_shapes((weights, columns, x, u))}"
        args = weights, columns, x, u
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
