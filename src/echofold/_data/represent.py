"""Representations of a series, there and back: all that is known about how one is represented.

With ``z = g(y)`` the *levels* of the values, a network learns ``w = φ(B) z``, where ``φ`` is a
product of ``(1 − B^lag)`` and ``B`` shifts by one step: ``w(t) = z(t) + Σ c_j z(t−j)``. What it
forecasts is brought back by ``z(t) = w(t) − Σ c_j z(t−j)``, from the last levels that are known.
Waves of seasons stand beside, as inputs known in advance.

A new representation is a subclass of `Form` that `representation_of` finds by the parameters of an
estimator, and `read_representation` by what a model file holds: both are below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from echofold._data.arguments import check_count, is_integer, refuse
from echofold._data.lazy import mapped
from echofold._machine.arrays import few_lengths, namespace
from echofold._machine.available import check_room
from echofold._machine.programs import entered, entry

PARAMETERS = ("log", "difference", "season", "harmonics")  # of estimators, which say how
SKIPS_ROWS = ("difference",)  # of these, those that lose rows
MOST = 10**6  # steps that differences of a stored model go back, and waves of its seasons
MOST_TERMS = 4  # of differences, for which room is made in a closed loop; more if there are more

Seasons = tuple[tuple[float, int], ...]  # lengths, and how many waves each has


class Inverse(NamedTuple):
    """How outputs become values in a closed loop: data, so that one program serves all lags.

    ``offset (outputs, columns or 1)`` is what a scaled zero of each output is worth; ``lags`` and
    ``coefficients`` are those of a `Form`, zero where it has fewer; levels are kept between ``low``
    and ``high``, of the same shape; ``curve.value(level)`` is the value of a level.
    """

    offset: Any
    lags: Any
    coefficients: Any
    low: Any
    high: Any
    curve: Any

    def step(self, unit, y, past, n):
        """Step ``n``: outputs whose level is inside of the limits, their values, the new past.

        ``y`` is ``(outputs, columns)``, ``unit`` too or ``(outputs, 1)``; ``past (room, outputs,
        columns)`` holds the levels before, the one of step ``n`` at ``n % room``.
        """
        xp, room = namespace(y), past.shape[0]
        level = y * unit + self.offset
        for term in range(self.lags.shape[0]):
            lag, c = self.lags[term], self.coefficients[term]
            level = level - xp.where(c == 0, 0.0, c * entry(past, (n - lag) % room))
        kept = xp.clip(level, self.low, self.high)
        y = xp.where(kept == level, y, y + (kept - level) / unit)
        return y, self.curve.value(kept), entered(past, kept, n % room)


@dataclass(frozen=True)
class Form:
    """How a series is represented: levels are its values, or their logarithms.

    ``lags`` are those of the differences, one after the other; ``seasons`` are lengths of seasons,
    each with its number of waves. It is false if values stay as they are. Another kind of levels is
    a subclass.
    """

    log: bool = False
    lags: tuple[int, ...] = ()
    seasons: Seasons = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return self.log or bool(self.lags)

    @property
    def multiplicative(self) -> bool:
        """Whether errors grow with the values: intervals are factors, and nothing is below zero."""
        return self.log

    @property
    def stored(self) -> tuple:
        """What a model file holds of it, for `read_representation`."""
        return self.log, self.lags, self.seasons

    @property
    def curve(self) -> Any:
        """`values` for a closed loop: a tuple of arrays with a method ``value(level)``."""
        return Logarithm(np.asarray(self.log))

    def levels(self, y: np.ndarray, first: int = 0) -> np.ndarray:
        """Levels ``z (T, outputs)`` of values that begin with row ``first``; NaN stays."""
        if not self.log:
            return y
        if (y <= 0).any():  # what is missing is neither
            row, column = np.argwhere(y <= 0)[0]
            raise ValueError(
                f"log=True needs positive values, but y holds {y[row, column]:.6g} in row "
                f"{first + row}. Use log=False, or add a constant to all values first."
            )
        return np.log(y)

    def values(self, z: np.ndarray) -> np.ndarray:
        """Values in original units of levels ``z``."""
        if not self.log:
            return z
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(z)

    def limits(self, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Levels of the lowest and the highest value ``(2, outputs)`` that are allowed."""
        if not self.log:
            return ends[0], ends[1]
        with np.errstate(divide="ignore"):
            low, high = np.log(np.maximum(ends, 0.0))
        return low, high

    @cached_property
    def terms(self) -> tuple[tuple[int, float], ...]:
        """Lags ``j`` and coefficients ``c_j`` of what differencing adds to a level.

        Examples
        --------
        >>> Form(lags=(12, 1)).terms
        ((1, -1.0), (12, -1.0), (13, 1.0))
        """
        phi = np.ones(1)
        for lag in self.lags:
            phi = np.convolve(phi, np.concatenate([[1.0], np.zeros(lag - 1), [-1.0]]))
        return tuple((j, float(phi[j])) for j in range(1, len(phi)) if phi[j])

    @cached_property
    def lost(self) -> int:
        """Values at the beginning that have no difference."""
        return sum(self.lags)

    @property
    def season(self) -> int | None:
        """Rows of a season, to fill by: the first given, or the first lag that is longer than 1."""
        if self.seasons:
            return round(self.seasons[0][0])
        return next((lag for lag in self.lags if lag > 1), None)

    @property
    def reach(self) -> int:
        """How many rows back a row depends on: a season to fill from, or what differences take."""
        return max(self.season or 1, self.lost + 1)

    def differences(self, z: np.ndarray) -> np.ndarray:
        """``w (T − lost, outputs)`` of levels ``z (T, outputs)``."""
        w = z[self.lost :].copy()
        for lag, c in self.terms:
            w += c * z[self.lost - lag : len(z) - lag]
        return w

    def represented(self, values: Any) -> tuple[Any, Any]:
        """Levels of values, in memory or not, and differences of them."""
        if not self:
            return values, values
        levels = mapped(self.levels, values)
        return levels, mapped(self.differences, levels, self.lost)

    def whole(self, present: np.ndarray) -> np.ndarray:
        """Rows ``(T,)`` whose difference is made of ``present (T,)`` values only.

        Examples
        --------
        >>> import numpy as np
        >>> Form(lags=(2,)).whole(np.array([True, True, True, False, True, True]))
        array([False, False,  True, False,  True, False])
        """
        whole = present.copy()
        whole[: self.lost] = False
        for lag, _ in self.terms:
            whole[lag:] &= present[:-lag]
        return whole

    def back(self, w: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Levels ``(…, steps, outputs)`` of ``w``, after the ``lost`` levels ``before`` them.

        Examples
        --------
        >>> import numpy as np
        >>> Form(lags=(1,)).back(np.array([[1.0], [2.0]]), np.array([[10.0]]))
        array([[11.],
               [13.]])
        """
        z = np.concatenate([before, w], axis=-2)
        if self.lags:
            with np.errstate(invalid="ignore"):  # of runs that diverged
                for t in range(self.lost, z.shape[-2]):
                    for lag, c in self.terms:
                        z[..., t, :] -= c * z[..., t - lag, :]
        return z[..., before.shape[-2] :, :]

    def inverse(self, offset, limits=None) -> Inverse:
        """The way back in a closed loop, with levels inside of ``limits``.

        ``offset`` is ``(outputs,)`` or ``(outputs, columns)``.
        """
        offset = np.reshape(offset, (len(offset), -1))
        terms = max(MOST_TERMS, len(self.terms))
        lags, coefficients = np.ones(terms, dtype=int), np.zeros(terms)
        for place, (lag, c) in enumerate(self.terms):
            lags[place], coefficients[place] = lag, c
        ends = np.asarray(limits or (-np.inf, np.inf), dtype=float).reshape(2, -1, 1)
        low, high = np.broadcast_to(ends, (2, *offset.shape))
        return Inverse(offset, lags, coefficients, low, high, self.curve)

    @property
    def room(self) -> int:
        """Levels that a column remembers: of few sizes, because each is compiled once."""
        return few_lengths(max(self.lost, 1))

    def past(self, before: np.ndarray) -> np.ndarray:
        """The past ``(room, outputs, runs)`` made of levels ``before (runs, lost, outputs)``."""
        past = np.zeros((self.room, before.shape[2], len(before)))
        past[self.room - self.lost :] = np.moveaxis(before, 0, 2)
        return past

    def waves(self, first: int, stop: int) -> np.ndarray:
        """Sines and cosines ``(rows, …)`` of the seasons, at the times ``first … stop``.

        Of a season of an even length the last sine is zero everywhere, and left out.
        """
        t = np.arange(first, stop)[:, None]
        columns = [np.zeros((stop - first, 0))]
        for length, count in self.seasons:
            k = np.arange(1, count + 1)
            angle = 2 * np.pi * ((t * k / length) % 1.0)
            columns += [np.sin(angle[:, 2 * k != length]), np.cos(angle)]
        return np.hstack(columns)


class Logarithm(NamedTuple):
    """Whether levels are logarithms: data, as the lags are."""

    log: Any

    def value(self, level):
        """The value of a level."""
        xp = namespace(level)
        return xp.where(self.log, xp.exp(level), level)


def representation_of(params: Mapping[str, Any]) -> Form:
    """The representation that an estimator's parameters describe, checked."""
    log, lags = _log_and_lags(params["log"], params["difference"])
    season, harmonics = params["season"], params["harmonics"]
    if season is None:
        return Form(log, lags)
    lengths = season if isinstance(season, list | tuple) else (season,)
    for length in lengths:
        if isinstance(length, bool) or not isinstance(length, int | float | np.number):
            refuse("season", season, "a length in steps, several of them, or None")
        if not 2 <= length < np.inf:
            refuse("season", season, "lengths of at least 2 steps")
    check_count("harmonics", harmonics)
    found = tuple((float(length), min(int(harmonics), int(length // 2))) for length in lengths)
    inputs = 2.0 * sum(count for _, count in found)
    check_room(8 * inputs**2, f"harmonics={harmonics}, {inputs:,.0f} inputs,", "fewer harmonics")
    return Form(log, lags, found)


def _log_and_lags(log: Any, lags: Any) -> tuple[bool, tuple[int, ...]]:
    """Whether logarithms are taken, and the lags of differences, checked."""
    if not isinstance(log, bool | np.bool_):
        refuse("log", log, "True or False")
    each = lags if isinstance(lags, list | tuple) else (lags,)
    if not all(is_integer(lag) and lag > 0 for lag in each):
        refuse("difference", lags, "a tuple of positive lags, such as (), (1,) or (12, 1)")
    return bool(log), tuple(int(lag) for lag in each)


def read_representation(value: Any) -> Form:
    """The representation of a stored model; a ValueError for anything else."""
    try:
        log, lags, seasons = value
        known = Form(*_log_and_lags(log, lags), seasons)
        for length, count in seasons:
            sound = isinstance(length, float) and 2 <= length < np.inf
            if not (sound and is_integer(count) and 1 <= count <= length // 2):
                raise ValueError(f"a season of {length!r} steps and {count!r} waves")
    except (TypeError, ValueError) as error:
        raise ValueError(f"represented_ is no representation: {error}") from error
    if type(log) is not bool or type(lags) is not tuple or type(seasons) is not tuple:
        raise ValueError("represented_ is no representation")
    if sum(lags) > MOST or sum(count for _, count in seasons) > MOST:
        raise ValueError(f"represented_ goes back, or has waves, beyond {MOST}")
    return known
