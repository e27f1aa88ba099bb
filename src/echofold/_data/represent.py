"""Representations of a series: logarithms and differences, there and back.

With ``z = log y`` or ``z = y``, a network learns ``w = φ(B) z``, where ``φ`` is a product of
``(1 − B^lag)`` and ``B`` shifts by one step: ``w(t) = z(t) + Σ c_j z(t−j)``. What it forecasts is
brought back by ``z(t) = w(t) − Σ c_j z(t−j)``, from the last values that are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from echofold._data.arguments import is_integer, refuse
from echofold._machine.available import check_room

MOST = 10**6  # steps that differences of a stored model go back, and waves of its seasons


@dataclass(frozen=True)
class Form:
    """How a series is represented; ``lags`` are those of the differences, one after the other."""

    log: bool = False
    lags: tuple[int, ...] = ()

    @cached_property
    def terms(self) -> tuple[tuple[int, float], ...]:
        """Lags ``j`` and coefficients ``c_j`` of what differencing adds to a value.

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

    def __bool__(self) -> bool:
        return self.log or bool(self.lags)

    def levels(self, y: np.ndarray, argument: str, first: int = 0) -> np.ndarray:
        """``z (T, outputs)``: the values, or their logarithms; ``y`` begins with row ``first``."""
        if not self.log:
            return y
        if (y <= 0).any():  # what is missing is neither
            row, column = np.argwhere(y <= 0)[0]
            raise ValueError(
                f"log=True needs positive values, but {argument} holds {y[row, column]:.6g} in row "
                f"{first + row}. Use log=False, or add a constant to all values first."
            )
        return np.log(y)

    def limits(self, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Levels of the lowest and the highest value ``(2, outputs)`` that are allowed."""
        if not self.log:
            return ends[0], ends[1]
        with np.errstate(divide="ignore"):
            low, high = np.log(np.maximum(ends, 0.0))
        return low, high

    def differences(self, z: np.ndarray) -> np.ndarray:
        """``w (T − lost, outputs)`` of levels ``z (T, outputs)``."""
        w = z[self.lost :].copy()
        for lag, c in self.terms:
            w += c * z[self.lost - lag : len(z) - lag]
        return w

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

    def values(self, z: np.ndarray) -> np.ndarray:
        """Values in original units of levels ``z``."""
        if not self.log:
            return z
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(z)


def form_of(params: dict[str, Any]) -> Form:
    """The representation that an estimator's parameters describe, checked."""
    log, lags = params["log"], params["difference"]
    if not isinstance(log, bool | np.bool_):
        refuse("log", log, "True or False")
    lags = (lags,) if is_integer(lags) else lags
    if not isinstance(lags, list | tuple) or not all(is_integer(lag) and lag > 0 for lag in lags):
        refuse("difference", lags, "a tuple of positive lags, such as (), (1,) or (12, 1)")
    return Form(bool(log), tuple(int(lag) for lag in lags))


def seasons_of(params: dict[str, Any]) -> tuple[tuple[float, int], ...]:
    """Lengths of the seasons, each with its number of harmonics, checked."""
    season, harmonics = params["season"], params["harmonics"]
    if season is None:
        return ()
    lengths = season if isinstance(season, list | tuple) else (season,)
    for length in lengths:
        if isinstance(length, bool) or not isinstance(length, int | float | np.number):
            refuse("season", season, "a length in steps, several of them, or None")
        if not 2 <= length < np.inf:
            refuse("season", season, "lengths of at least 2 steps")
    if not is_integer(harmonics) or harmonics < 1:
        refuse("harmonics", harmonics, "a positive integer")
    found = tuple((float(length), min(int(harmonics), int(length // 2))) for length in lengths)
    inputs = 2.0 * sum(count for _, count in found)
    check_room(8 * inputs**2, f"harmonics={harmonics}, {inputs:,.0f} inputs,", "fewer harmonics")
    return found


def harmonics_of(seasons: tuple[tuple[float, int], ...], first: int, rows: int) -> np.ndarray:
    """Sines and cosines ``(rows, …)`` of the seasons, at the times from ``first`` on.

    Of a season of an even length the last sine is zero everywhere, and left out.
    """
    t = np.arange(first, first + rows)[:, None]
    columns = [np.zeros((rows, 0))]
    for length, count in seasons:
        k = np.arange(1, count + 1)
        angle = 2 * np.pi * ((t * k / length) % 1.0)
        columns += [np.sin(angle[:, 2 * k != length]), np.cos(angle)]
    return np.hstack(columns)


def read_representation(value: Any) -> tuple[Form, tuple[tuple[float, int], ...]]:
    """The form and the seasons of a stored model; a ValueError for anything else."""
    try:
        log, lags, seasons = value
        known = form_of({"log": log, "difference": lags})
        for length, count in seasons:
            if (
                not isinstance(length, float)
                or not 2 <= length < np.inf
                or not is_integer(count)
                or not 1 <= count <= length // 2
            ):
                raise ValueError(f"a season of {length!r} steps and {count!r} waves")
    except (TypeError, ValueError) as error:
        raise ValueError(f"represented_ is no representation: {error}") from error
    if type(log) is not bool or type(lags) is not tuple or type(seasons) is not tuple:
        raise ValueError("represented_ is no representation")
    if sum(lags) > MOST or sum(count for _, count in seasons) > MOST:
        raise ValueError(f"represented_ goes back, or has waves, beyond {MOST}")
    return known, seasons
