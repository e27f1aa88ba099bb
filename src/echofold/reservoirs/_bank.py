"""A bank of small reservoirs that differ in all that is usually tuned, for whole sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from echofold._data.arguments import check_integer, check_number, refuse
from echofold._engine.kind import Reservoir, side_by_side
from echofold._machine.arrays import namespace
from echofold._machine.available import remembered
from echofold._machine.device import one_blas_thread

# Parameters that are drawn between two ends, and what these must be.
RANGES: dict[str, dict[str, Any]] = {
    "leak_rate": {"expected": "a number in (0, 1], or a pair of these", "above": 0, "most": 1},
    "spectral_radius": {"expected": "a positive number, or a pair of these", "above": 0},
    "input_scaling": {"expected": "a positive number, or a pair of these", "above": 0},
}
MOST_TAPS = 5  # steps that a unit sees, the current one counted
GAIN = 1.5  # size of the weights of several steps
QUICKEST = 0.2  # share of units that have the largest leak rate itself
MOST_UNITS = 100_000  # of all members


class Drawn(NamedTuple):
    """What members are made of before anything is scaled, and where in its range each number lies.

    ``W_in (units, inputs · (1 + delays))``, the current inputs first, ``W (members, units, units)``
    of spectral radius one, ``bias (units, 1)``; places in (0, 1) of leak rates and scalings
    ``(units, 1)`` and of radii ``(members, 1)``.
    """

    W_in: Any
    W: Any
    bias: Any
    leak: Any
    scaling: Any
    radius: Any


@dataclass(eq=False, repr=False)
class Bank(Reservoir):
    """Many small reservoirs side by side, no two alike, all of which the readout sees.

    Each of the ``members`` has its own ``W`` and spectral radius, each unit its own leak rate,
    scaling and choice of inputs, many of them a pattern of several steps::

        x(n) = (1 − a) ∘ x(n−1) + a ∘ tanh(b + s ∘ W_in [u(n); u(n−1); …; u(n−d)] + ρ W x(n−1))

    What is a pair ``(low, high)`` is drawn from between its ends, evenly in logarithms; a number is
    the same for all. So there is little to tune: a readout with a ridge takes what it needs of it.
    It is what classifiers and regressors of whole sequences use by default.

    Parameters
    ----------
    units : int, default=50
        Units of each member.
    members : int, default=16
    leak_rate : float in (0, 1] or pair, default=(0.02, 1.0)
        Of each unit; a fifth of them have the upper end itself, which few would come near.
    spectral_radius : float or pair, default=(0.3, 1.2)
        Of each member.
    input_scaling : float or pair, default=(0.1, 3.0)
        Of each unit.
    bias_scaling : float, default=1.0
        Biases are drawn evenly up to this size, of either sign.
    longest : int, default=32
        The longest delay, in steps; 0 for none.
    delayed : float in [0, 1], default=0.65
        Share of the units that see a pattern of two to five steps, the current one and earlier ones
        1, 2, 4, … steps apart; the others see the current one.

    Notes
    -----
    Weights are normal. With several inputs a unit sees some of them alone: how many is drawn
    evenly in logarithms, which ones evenly; its weights are divided by the root of their number. A
    pattern has these weights at every step, times one normal number for each, all of which together
    are brought to the size 1.5. How far apart and how many its steps are is drawn evenly from what
    the longest delay allows.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNClassifier
    >>> from echofold.reservoirs import Bank
    >>> up = [np.sin(np.arange(n) ** 1.5 / 60) for n in range(40, 60)]
    >>> down = [one[::-1] for one in up]
    >>> model = ESNClassifier(reservoir=Bank(20, members=4), random_state=0)
    >>> model = model.fit(up[::2] + down[::2], ["up"] * 10 + ["down"] * 10)
    >>> float(model.score(up[1::2] + down[1::2], ["up"] * 10 + ["down"] * 10))
    1.0
    """

    parameters = ("leak_rate", "spectral_radius", "input_scaling", "bias_scaling")
    compiled_in = ("units", "members", "longest")
    shows = False
    eager = True

    units: int = 50
    _: KW_ONLY
    members: int = 16
    leak_rate: Any = (0.02, 1.0)
    spectral_radius: Any = (0.3, 1.2)
    input_scaling: Any = (0.1, 3.0)
    bias_scaling: float = 1.0
    longest: int = 32
    delayed: float = 0.65

    @property
    def _all(self) -> int:
        """Units of all members."""
        return int(self.units) * int(self.members)

    @property
    def _delays(self) -> list[int]:
        """The delays of all patterns, in steps."""
        return sorted({delay for pattern in patterns(int(self.longest)) for delay in pattern})

    @property
    def stored(self) -> Mapping[str, tuple[str, ...]]:
        """Weights with all scalings applied: bias, inputs and delayed inputs; of the members."""
        return {
            "W_in_": ("all units", "1 + inputs and delayed"),
            "W_": ("members", "units", "units"),
            "leak_rates_": ("all units",),
        }

    def axes(self, inputs: int) -> dict[str, int]:
        seen = 1 + inputs * (1 + len(self._delays))
        sizes = {"members": int(self.members), "units": int(self.units)}
        return sizes | {"all units": self._all, "1 + inputs and delayed": seen}

    def size(self, inputs: int) -> int:
        """Number of units, and of inputs that are remembered."""
        return self._all + inputs * max(self._delays, default=0)

    def look(self, x, u):
        """The units."""
        return x[: self._all]

    def looks(self, inputs: int) -> int:
        return self._all

    def check(self) -> None:
        check_integer("units", self.units, 1)
        check_integer("members", self.members, 1)
        check_integer("longest", self.longest, 0)
        if self._all > MOST_UNITS:
            raise ValueError(
                f"units={self.units} in each of members={self.members} are {self._all} units, more "
                f"than {MOST_UNITS}. Use fewer members, or fewer units."
            )
        for name, rule in RANGES.items():
            ends = getattr(self, name)
            pair = isinstance(ends, tuple | list)
            if pair and len(ends) != 2:
                refuse(name, ends, rule["expected"])
            for one in ends if pair else [ends]:
                check_number(name, one, **rule)
            if pair and ends[0] > ends[1]:
                refuse(name, ends, f"{rule['expected']}, the lower one first")
        check_number("bias_scaling", self.bias_scaling, "a finite number")
        check_number("delayed", self.delayed, "a number in [0, 1]", least=0, most=1)

    def draw(self, inputs: int, seed: int) -> Drawn:
        sizes = int(self.units), int(self.members), inputs, int(self.longest)
        return _drawn(*sizes, float(self.delayed), seed)

    def columns(self, weights: Drawn, kinds: Sequence[Any], inputs: int) -> dict[str, np.ndarray]:
        """Leak rates, radii, biases and scalings of candidates."""
        each = [
            {
                "leak": _between(kind.leak_rate, weights.leak[:, 0]),
                "gain": _between(kind.spectral_radius, weights.radius[:, 0]),
                "scaling": _between(kind.input_scaling, weights.scaling[:, 0]),
                "bias": weights.bias[:, 0] * float(kind.bias_scaling),
            }
            for kind in kinds
        ]
        return side_by_side(each)

    def step(self, weights: Drawn, columns, x, u):
        """One update of all members; the remembered inputs move on by one."""
        xp, inputs, wide = namespace(x), u.shape[0], x.shape[1]
        own, past, u = x[: self._all], x[self._all :], xp.broadcast_to(u, (u.shape[0], wide))
        taps = [past[(delay - 1) * inputs : delay * inputs] for delay in self._delays]
        driven = columns["bias"] + columns["scaling"] * (weights.W_in @ xp.concatenate([u, *taps]))
        members = own.reshape(int(self.members), int(self.units), wide)
        heard = columns["gain"][:, None] * (weights.W @ members)
        new = own + columns["leak"] * (xp.tanh(driven + heard.reshape(own.shape)) - own)
        if not taps:
            return new
        return xp.concatenate([new, u, past[: past.shape[0] - inputs]])

    def warmup(self, columns) -> int:
        return int(np.clip(30 / np.min(columns["leak"]), 200, 3000)) + int(self.longest)

    def trained(self, weights: Drawn, columns) -> dict[str, Any]:
        W_in = np.hstack([columns["bias"], columns["scaling"] * np.asarray(weights.W_in)])
        W = np.asarray(weights.W) * columns["gain"][:, None]
        leaks = np.ascontiguousarray(columns["leak"][:, 0])
        return {"W_in_": np.ascontiguousarray(W_in), "W_": W, "leak_rates_": leaks}

    def restored(self, stored: dict[str, Any]) -> tuple[Drawn, dict[str, np.ndarray]]:
        W_in, W, leaks = stored["W_in_"], stored["W_"], stored["leak_rates_"][:, None]
        ones = np.ones_like(leaks)
        none = np.zeros((0, 1))
        columns = {
            "leak": leaks, "gain": np.ones((len(W), 1)), "scaling": ones, "bias": W_in[:, :1],
        }  # fmt: skip
        return Drawn(np.ascontiguousarray(W_in[:, 1:]), W, W_in[:, :1], none, none, none), columns

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless leak rates are such."""
        leaks = stored["leak_rates_"]
        if not ((leaks > 0) & (leaks <= 1)).all():
            raise ValueError(f"leak_rates_ are {leaks}, expected numbers in (0, 1]")


def patterns(longest: int) -> list[list[int]]:
    """Delays of the patterns of most steps, equally far apart; 1, 2, 4, … steps.

    Examples
    --------
    >>> patterns(10)
    [[1, 2, 3, 4], [2, 4, 6, 8]]
    >>> patterns(2)
    [[1, 2]]
    """
    many = min(MOST_TAPS - 1, longest)
    found, apart = [], 1
    while many and many * apart <= longest:
        found.append([many_times * apart for many_times in range(1, many + 1)])
        apart *= 2
    return found


def _between(ends: Any, places: np.ndarray) -> np.ndarray:
    """Numbers at places from 0 to 1 between two ends, in logarithms; or one number."""
    low, high = ends if isinstance(ends, tuple | list) else (ends, ends)
    return np.clip(low ** (1 - places) * high**places, low, high)  # rounding leads beyond


def _bytes_of(drawn: Drawn) -> int:
    """Memory that a draw takes."""
    return sum(array.nbytes for array in drawn)


@remembered(size=_bytes_of)
def _drawn(units: int, members: int, inputs: int, longest: int, delayed: float, seed: int) -> Drawn:
    """A draw, kept because blocks of candidates that share it come one after the other."""
    rng, count = np.random.RandomState(seed % 2**32), units * members
    W = rng.normal(size=(members, units, units))
    with one_blas_thread():  # more threads round otherwise
        radius = np.abs(np.linalg.eigvals(W)).max(axis=1)
    W /= np.where(radius > 0, radius, 1.0)[:, None, None]
    # Which inputs a unit sees: those that come first in an order of its own.
    how_many = np.exp(rng.rand(count, 1) * np.log(inputs + 0.5)).astype(int)
    ranks = rng.rand(count, inputs).argsort(axis=1).argsort(axis=1)
    now = rng.normal(size=(count, inputs)) * (ranks < how_many) / np.sqrt(how_many)
    every = patterns(longest)
    delays = sorted({delay for pattern in every for delay in pattern})
    taps = np.zeros((count, 1 + len(delays)))
    taps[:, 0] = 1.0
    if every:
        at = np.array([[0, *(1 + delays.index(delay) for delay in one)] for one in every])
        chosen = at[rng.randint(len(every), size=count)]  # (units, taps)
        many = rng.randint(2, chosen.shape[1] + 1, size=(count, 1))
        weights = rng.normal(size=chosen.shape) * (np.arange(chosen.shape[1]) < many)
        weights *= GAIN / np.linalg.norm(weights, axis=1, keepdims=True)
        sees = np.flatnonzero(rng.rand(count) < delayed)
        taps[sees[:, None], chosen[sees]] = weights[sees]
    W_in = taps[:, :, None] * now[:, None]
    bias = rng.uniform(-1, 1, (count, 1))
    leak = np.where(rng.rand(count, 1) < QUICKEST, 1.0, rng.rand(count, 1))
    places = leak, rng.rand(count, 1), rng.rand(members, 1)
    return Drawn(W_in.reshape(count, -1), W, bias, *places)
