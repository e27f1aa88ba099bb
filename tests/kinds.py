"""Every kind of reservoir in one table, each beside its equations in plain NumPy."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from echofold.reservoirs import (
    NVAR,
    Bank,
    Custom,
    Deep,
    EdgeOfStability,
    Foreign,
    Leaky,
    Plastic,
    Reservoir,
)


class Plain(NamedTuple):
    """A reservoir at rest, its step, and what is seen of a state.

    ``step(x, u, n)`` is step ``n`` while states are collected, and ``n`` is None elsewhere.
    """

    rest: Any
    step: Any
    look: Any = lambda x, u: x


def swish(x):
    """An activation that has no name."""
    return x / (1 + jnp.exp(-x))


ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "identity": lambda x: x,
    "sine": np.sin,
    swish: lambda x: x / (1 + np.exp(-x)),
}


def dense(W) -> np.ndarray:
    """An array of a matrix that may be sparse."""
    return W.toarray() if hasattr(W, "toarray") else W


def noise(seed: int, n, u: np.ndarray, units: int) -> np.ndarray:
    """Normal numbers of a seed, a step (or several) and its inputs."""
    key = np.random.SeedSequence([seed, 1]).generate_state(2)
    mixed = np.zeros(np.shape(n), dtype=np.uint32)
    for word in np.moveaxis(np.ascontiguousarray(u, dtype=float).view(np.uint32), -1, 0):
        with np.errstate(over="ignore"):
            mixed = (mixed ^ word) * np.uint32(0x9E3779B1)
        mixed = mixed ^ (mixed >> np.uint32(15))

    def of_one(n, word):
        one = jax.random.fold_in(jax.random.wrap_key_data(key, impl="threefry2x32"), n)
        return jax.random.normal(jax.random.fold_in(one, word), (units,), jnp.float64)

    with jax.enable_x64(True):
        of_all = jax.vmap(of_one) if np.ndim(n) else of_one
        return np.asarray(of_all(n, mixed))


def leaky(model) -> Plain:
    kind, W, a = model.reservoir_, dense(model.W_), model.leak_rate_
    f = ACTIVATIONS[kind.activation]

    def step(x, u, n=None):
        new = (1 - a) * x + a * f(model.W_in_ @ np.concatenate([[1.0], u]) + W @ x)
        if getattr(kind, "noise", 0) and n is not None:
            new = new + kind.noise * noise(model.seed_, n, u, len(x))
        return new

    return Plain(np.zeros(kind.units), step)


def deep(model) -> Plain:
    kind = model.reservoir_
    f = ACTIVATIONS[kind.activation]

    def step(x, u, n=None):
        states = []
        for layer, own in enumerate(np.split(x, kind.layers), 1):
            W_in, W = getattr(model, f"W_in_{layer}_"), dense(getattr(model, f"W_{layer}_"))
            a = model.leak_rates_[layer - 1]
            u = (1 - a) * own + a * f(W_in @ np.concatenate([[1.0], u]) + W @ own)
            states.append(u)
        return np.concatenate(states)

    return Plain(np.zeros(kind.units * kind.layers), step)


def edge(model) -> Plain:
    kind, W, O, b = model.reservoir_, dense(model.W_), model.orthogonal_, model.proximity_  # noqa: E741
    f = ACTIVATIONS[kind.activation]

    def step(x, u, n=None):
        return b * f(model.W_in_ @ np.concatenate([[1.0], u]) + W @ x) + (1 - b) * O @ x

    return Plain(np.zeros(kind.units), step)


@cache
def chosen(count: int, degree: int) -> np.ndarray:
    """Which of so many values are factors of each product of a degree."""
    return np.array(list(combinations_with_replacement(range(count), degree)))


def products(values, degree: int) -> np.ndarray:
    """Products of so many of the values, each once."""
    return values[chosen(len(values), degree)].prod(axis=1)


def nvar(model) -> Plain:
    """The state is the list of all inputs so far, the last one last."""
    kind = model.reservoir_

    def step(x, u, n=None):
        return [*x, np.array(u)]

    def look(x, u):
        zero = np.zeros(len(u))
        taps = [u] + [
            x[-1 - d * kind.spacing] if d * kind.spacing < len(x) else zero
            for d in range(1, kind.delays)
        ]
        values = np.concatenate(taps)
        degrees = kind.degree if isinstance(kind.degree, tuple) else (kind.degree,)
        found = [products(values, degree) for degree in degrees if degree > 1]
        return np.concatenate([*taps[1:], *found])

    return Plain([], step, look)


def bank(model) -> Plain:
    """The state is that of all units, and the list of all inputs so far, the last one last."""
    kind, a = model.reservoir_, model.leak_rates_
    delays = sorted({q * apart for apart in (1, 2, 4, 8) for q in (1, 2, 3, 4)})
    delays = [delay for delay in delays if delay <= kind.longest][: model.W_in_.shape[1]]

    def step(state, u, n=None):
        x, past = state
        taps = [past[-delay] if delay <= len(past) else 0 * u for delay in delays]
        driven = model.W_in_ @ np.concatenate([[1.0], u, *taps])
        heard = [W @ own for W, own in zip(model.W_, np.split(x, kind.members), strict=True)]
        return (1 - a) * x + a * np.tanh(driven + np.concatenate(heard)), [*past, np.array(u)]

    return Plain((np.zeros(len(a)), []), step, lambda state, u: state[0])


UNITS = 12


def init(inputs, seed):
    rng = np.random.default_rng(seed)
    return {"V": rng.normal(size=(UNITS, inputs)), "more": (rng.uniform(0, 6, (UNITS, 1)),)}


def phases(weights, parameters, x, u):
    echo = parameters["strength"] * jnp.roll(x, 1, axis=0)
    return jnp.sin(weights["V"] @ u + weights["more"][0] + echo)


def half(x, u):
    return jnp.concatenate([x[::2], u[:1] * x[:1]])


def custom(model) -> Plain:
    V, (phase,) = model.weights_["V"], model.weights_["more"]
    strength = model.parameters_["strength"][0]

    def step(x, u, n=None):
        return np.sin(V @ u + phase[:, 0] + strength * np.roll(x, 1))

    if model.reservoir_.look is not half:
        return Plain(np.zeros(UNITS), step)
    return Plain(np.zeros(UNITS), step, lambda x, u: np.concatenate([x[::2], u[:1] * x[:1]]))


class Bucket:
    """An object of nobody's library."""

    def __init__(self, gain, units=UNITS):
        self.gain, self.units = gain, units

    def step(self, x, u):
        return np.tanh(self.gain * np.roll(x, 1) + np.outer(np.linspace(-1, 1, len(x)), u).sum(1))


class Counter:
    """The same, that holds its state, of which a part is hidden."""

    def __init__(self, gain):
        self.gain, self.state = gain, {}

    def initialize(self, u):
        self.inputs, self.initialized = np.size(u), True
        self.state = {"steps": np.zeros((1, 1)), "out": np.zeros(UNITS)}

    def step(self, u):
        if np.size(u) != self.inputs:
            raise ValueError(f"{np.size(u)} inputs, but {self.inputs} before")
        out = np.tanh(self.gain * np.roll(self.state["out"], 1) + np.linspace(-1, 1, UNITS) * u[0])
        steps = self.state["steps"] + 1
        self.state = {"steps": steps, "out": out + np.sin(steps[0, 0]) / 10}
        return self.state["out"]


def foreign(model) -> Plain:
    node = model.reservoir_.node
    if isinstance(node, Bucket):
        return Plain(np.zeros(node.units), lambda x, u, n=None: node.step(x, u))

    def step(x, u, n=None):
        new = np.tanh(node.gain * np.roll(x[:-1], 1) + np.linspace(-1, 1, UNITS) * u[0])
        return np.append(new + np.sin(x[-1] + 1) / 10, x[-1] + 1)

    return Plain(np.zeros(UNITS + 1), step, lambda x, u: x[:-1])


PLAIN = {
    Leaky: leaky, Deep: deep, EdgeOfStability: edge, NVAR: nvar, Bank: bank, Custom: custom,
    Foreign: foreign, Plastic: leaky,
}  # fmt: skip

KINDS = {
    "leaky": Leaky(UNITS, leak_rate=0.6),
    "relu": Leaky(UNITS, activation="relu", input_scaling=0.3),
    "identity": Leaky(UNITS, activation="identity", leak_rate=0.5),
    "sine": Leaky(UNITS, activation="sine"),
    "swish": Leaky(UNITS, activation=swish),
    "noise": Leaky(UNITS, noise=0.05, leak_rate=0.6),
    "normal": Leaky(UNITS, topology="normal"),
    "sparse normal": Leaky(40, topology="normal", connectivity=0.05),
    "ring": Leaky(40, topology="ring", leak_rate=0.6),
    "ring with jumps": Leaky(40, topology="ring with jumps", jump=7),
    "delay line": Leaky(40, topology="delay line"),
    "orthogonal": Leaky(UNITS, topology="orthogonal"),
    "small world": Leaky(40, topology="small world", connectivity=0.1),
    "deep": Deep(UNITS, inter_scaling=0.2, spectral_radius=0.5),
    "deeper": Deep(
        UNITS, layers=3, leak_rate=(1.0, 0.5, 0.2), spectral_radius=(0.5, 0.9, 1.1),
        bias_scaling=(1.0, 0.2, 0.0), inter_scaling=(0.5, 0.1), activation="sine",
    ),
    "deep rings": Deep(40, layers=2, topology="ring", leak_rate=0.7),
    "edge": EdgeOfStability(UNITS, proximity=0.3),
    "edge, relu": EdgeOfStability(UNITS, activation="relu", input_scaling=0.1, topology="normal"),
    "nvar": NVAR(),
    "nvar, spaced": NVAR(3, spacing=2, degree=(2, 3)),
    "nvar, linear": NVAR(5, spacing=3, degree=1),
    "nvar, one": NVAR(1, degree=3),
    "plastic": Plastic(UNITS, leak_rate=0.6, rate=1e-3, epochs=2),
    "plastic ring": Plastic(40, topology="ring", mean=0.1, sigma=0.2),
    "bank": Bank(4, members=3, longest=4),
    "bank, longer": Bank(3, members=4, longest=8, delayed=1.0, leak_rate=0.7),
    "custom": Custom(UNITS, init=init, step=phases, parameters={"strength": 0.6}),
    "custom, looked at": Custom(
        UNITS, init=init, step=phases, parameters={"strength": 0.6}, look=half
    ),
    "foreign": Foreign(Bucket(0.7)),
    "foreign, held": Foreign(Counter(0.7)),
}  # fmt: skip

SEARCHED = {  # a kind, and values of its parameters: each goes through all of the machinery
    "noise": (Leaky(UNITS, noise=0.05), {"noise": [0.0, 0.1], "leak_rate": [0.4, 1.0]}),
    "ring": (Leaky(40, topology="ring"), {"spectral_radius": [0.4, 0.9], "activation": [swish]}),
    "topologies": (Leaky(UNITS), {"topology": ["normal", "orthogonal", "ring"]}),
    "deep": (Deep(UNITS), {"leak_rate": [0.3, (1.0, 0.4)], "inter_scaling": [0.2]}),
    "edge": (EdgeOfStability(UNITS), {"proximity": [0.2, 0.8], "spectral_radius": [1.1]}),
    "nvar": (NVAR(), {"delays": [2, 3], "degree": [(2, 3)]}),
    "plastic": (
        Plastic(UNITS, epochs=2, rate=1e-3), {"sigma": [0.2, 0.4], "rate": [0.0, 1e-3]},
    ),
    "bank": (Bank(4, members=3, longest=4), {"leak_rate": [0.3, (0.1, 1.0)], "delayed": [0.5]}),
    "custom": (
        KINDS["custom, looked at"], {"parameters": [{"strength": s} for s in (0.2, 0.9)]},
    ),
    "foreign": (Foreign(Bucket(0.1)), {"node": [Bucket(0.2), Counter(0.7)]}),
}  # fmt: skip


class Ring(Reservoir):
    """Units in a ring, each driven by its neighbour; the readout also sees their squares."""

    parameters = ("strength", "input_scaling")
    compiled_in = ("activation", "squares")
    stored = {"V_": ("size", "inputs"), "ring_": (), "gains_": ("inputs",)}

    def __init__(self, units=10, strength=0.8, input_scaling=1.0, activation="tanh", squares=True):
        self.units = units
        self.strength = strength
        self.input_scaling = input_scaling
        self.activation = activation
        self.squares = squares

    def size(self, inputs):
        return self.units

    def check(self):
        if not 0 <= self.strength < 2:
            raise ValueError(f"strength={self.strength!r} is not allowed: it must be in [0, 2).")

    def draw(self, inputs, seed):
        return {"V": np.random.RandomState(seed).rand(self.units, inputs) - 0.5}

    def columns(self, weights, kinds, inputs):
        return {
            "strength": np.array([float(kind.strength) for kind in kinds]),
            "gains": np.array([np.full(inputs, float(kind.input_scaling)) for kind in kinds]).T,
        }

    def step(self, weights, columns, x, u):
        driven = weights["V"] @ (columns["gains"] * u)
        around = jnp.concatenate([x[-1:], x[:-1]])
        return {"tanh": jnp.tanh, "sine": jnp.sin}[self.activation](
            driven + columns["strength"] * around
        )

    def look(self, x, u):
        return jnp.concatenate([x, x[::2] ** 2]) if self.squares else x

    def looks(self, inputs):
        return self.units + (-(-self.units // 2) if self.squares else 0)

    def trained(self, weights, columns):
        gains, strength = columns["gains"][:, 0], columns["strength"][0]
        return {"V_": weights["V"], "ring_": float(strength), "gains_": np.array(gains)}

    def restored(self, stored):
        columns = {"strength": np.array([stored["ring_"]]), "gains": stored["gains_"][:, None]}
        return {"V": stored["V_"]}, columns
