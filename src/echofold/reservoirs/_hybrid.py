"""Hybrids: a network beside an imperfect model of the series that it forecasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from echofold._engine.kind import TRIED, Compiled, Reservoir, of_shape, wide_as
from echofold._machine.arrays import jax, namespace
from echofold._machine.programs import outside

RULE = (
    "It must be a function of values y (outputs, columns), made of jax.numpy or NumPy operations, "
    "that gives the values one step later, of the same shape, each column by itself"
)


@dataclass(frozen=True)
class Outside:
    """A model that JAX cannot compile: NumPy computes it, programs leave for it."""

    function: Callable

    def __call__(self, y):
        if isinstance(y, np.ndarray):
            return np.asarray(self.function(y), dtype=float)
        return outside(self.function, y, y.shape[0])


class Beside(NamedTuple):
    """Weights of a network, and what outputs are scaled by, both ``(outputs, 1)``."""

    own: Any
    center: Any
    unit: Any


class Hybrid(Reservoir):
    """A network driven by inputs and by what a model says of them, which the readout sees too [1]_.

    With ``f`` the model in scaled units, ``u = [y, known inputs]`` and the network's own state
    ``x``, the state is ``[f(y(n)); x(n)]``, where ``x(n)`` is a step under ``[u(n); f(y(n))]``.

    References
    ----------
    .. [1] J. Pathak, A. Wikner, R. Fussell, S. Chandra, B. R. Hunt, M. Girvan and E. Ott, "Hybrid
       forecasting of chaotic processes: using machine learning in conjunction with a
       knowledge-based model", Chaos 28, 041101, 2018.
    """

    objects = ("model",)

    def __init__(self, kind=None, model=None, outputs=1, center=None, unit=None):
        self.kind = kind
        self.model = model
        self.outputs = outputs
        self.center = center
        self.unit = unit

    @classmethod
    def of(cls, kind: Reservoir, model: Callable, center: np.ndarray, unit: np.ndarray) -> Hybrid:
        """A kind beside a model of values that ``center`` and ``unit (outputs,)`` scale."""
        usable = _usable(model, tuple(center.tolist()), tuple(unit.tolist()))
        found = cls(kind, usable, len(center), center[:, None], unit[:, None])
        found._view, found._precision = kind._view, kind._precision
        return found

    @property
    def network(self) -> Reservoir:
        """The kind beside the model, also where that is compiled in."""
        return self.kind.kind if isinstance(self.kind, Compiled) else self.kind

    @property
    def stored(self) -> Mapping[str, tuple[str, ...]]:
        return self.network.stored

    @property
    def shows(self) -> bool:
        return self.network.shows

    @property
    def eager(self) -> bool:
        return isinstance(self.model, Outside) and self.network.eager

    def size(self, inputs: int) -> int:
        return self.outputs + self.network.size(inputs + self.outputs)

    def looks(self, inputs: int) -> int:
        return self.outputs + self.network.looks(inputs + self.outputs)

    def constants(self, inputs: int) -> dict[str, Any]:
        """What the model is, and what its network is compiled for."""
        network = self.kind._compiled(inputs + self.outputs)
        network.kind._given = inputs  # noise must not depend on how others are rounded
        return {"kind": network, "model": self.model, "outputs": self.outputs}

    def check(self) -> None:
        self.network.check()

    def shared(self) -> tuple:
        return type(self.kind), self.network.shared(), self.model

    def free(self) -> Hybrid:
        found = copy(self)
        found.kind = self.kind.free()
        return found

    def draw(self, inputs: int, seed: int) -> Beside:
        return Beside(self.network.draw(inputs + self.outputs, seed), self.center, self.unit)

    def columns(self, weights: Beside, kinds: Sequence[Hybrid], inputs: int) -> dict[str, Any]:
        return self.network.columns(weights.own, [one.kind for one in kinds], inputs + self.outputs)

    def silent(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.network.silent(columns)

    def step(self, weights: Beside, columns: Mapping[str, Any], x, u):
        said, both = self._said(weights, u)
        own = self.network.step(weights.own, columns, x[self.outputs :], both)
        return namespace(x).concatenate([wide_as(said, x), own])

    def adapts(self) -> int:
        return self.network.adapts()

    def adapted(self, weights: Beside, columns: Mapping[str, Any], x, u):
        said, both = self._said(weights, u)
        own, columns = self.network.adapted(weights.own, columns, x[self.outputs :], both)
        return namespace(x).concatenate([wide_as(said, x), own]), columns

    def _said(self, weights: Beside, u) -> tuple[Any, Any]:
        """What the model says of inputs, in scaled units, and both together."""
        y = weights.center + weights.unit * u[: self.outputs]
        said = (self.model(y) - weights.center) / weights.unit
        return said, namespace(u).concatenate([u, said])

    def look(self, x, u):
        """What the model says, then what is seen of the network."""
        said, xp = x[: self.outputs], namespace(x)
        own = self.network.look(x[self.outputs :], xp.concatenate([wide_as(u, x), said]))
        return xp.concatenate([said, own])

    def warmup(self, columns: Mapping[str, Any]) -> int:
        return self.network.warmup(columns)

    def trained(self, weights: Beside, columns: Mapping[str, Any]) -> dict[str, Any]:
        return self.network.trained(weights.own, columns)

    def restored(self, stored: dict[str, Any]) -> tuple[Beside, dict[str, np.ndarray]]:
        own, columns = self.network.restored(stored)
        return Beside(own, self.center, self.unit), columns


@lru_cache(maxsize=64)
def _usable(model: Callable, center: tuple[float, ...], unit: tuple[float, ...]) -> Callable:
    """A model as kinds call it: itself if JAX compiles it, else `Outside`; tried by some values."""
    values = np.array(center)[:, None] + np.array(unit)[:, None] * np.linspace(-1, 1, TRIED)
    given = f"y of shape {values.shape}"
    usable, found = model, None
    try:
        shape = jax.eval_shape(model, of_shape(*values.shape)).shape
    except Exception:  # whatever it does with what is no array of NumPy
        usable = Outside(model)
        try:
            with np.errstate(all="ignore"):
                found, alone = usable(values), usable(values[:, :1])
        except Exception as error:  # whatever a user's function raises
            raise ValueError(f"model={model!r} failed for {given}: {error}. {RULE}.") from error
        shape = found.shape
    if shape != values.shape:
        raise ValueError(f"model={model!r} gave shape {shape} for {given}. {RULE}.")
    if found is not None and not np.allclose(found[:, :1], alone, equal_nan=True):
        raise ValueError(f"model={model!r} gave a column other values beside others. {RULE}.")
    return usable
