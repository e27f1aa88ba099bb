"""Learning on: what `partial_fit` goes on from, and how a readout follows from it.

Rows ``[1, X, Y]`` are kept as their R factor, to which rows are added by Householder reflections:
this is as accurate as a QR of all rows at once, and products of rows are never summed up. A row
costs O(p²) for ``p`` columns, and so does the readout after it, which is why there is a second
factor, of the rows below ``√β P``.

Forgetting multiplies the weights of all rows before by a factor, and with them the penalty in that
second factor, of which the share ``c`` is left. With ``K`` its part for the states and ``h`` that
for the targets, the readout ``w`` that minimises ``‖X w − y‖² + β ‖w‖²`` solves

    (I + β (1 − c) K⁻ᵀ K⁻¹) z = h,    K w = z,

whose eigenvalues are between 1 and ``1 / c``: conjugate gradients take about twenty products, each
O(p²), and it is exact. Where ``c`` falls below a half the second factor is made anew, in O(p³).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtpqrt, dtrtrs

from echofold._data.arguments import check_number
from echofold._folds.ridge import QR_BLOCK, column_sizes
from echofold._folds.tolerances import EPS, negligible, probe
from echofold._machine.device import one_blas_thread
from echofold._validation.refit import Triangle, of_outputs

LEAST_SHARE = 0.5  # of the penalty that must be left in the second factor
ROUNDS = 4  # of inverse iteration, which find the smallest singular value to a factor of two or so
SAFE = 4.0  # times the singular value from which on no direction may be negligible
NOTHING = 1e-9  # of a readout, that rounding may be
LEAST_WEIGHT = np.finfo(float).tiny / EPS  # root of what all rows weigh, of which less is rounding
MOST_PRODUCTS = 60  # by conjugate gradients, more than rounding ever takes


@dataclass(frozen=True)
class Penalised:
    """The R factor of rows below ``√β P``, and the ``share`` of that penalty that is left."""

    rows: Triangle
    ridge: float
    share: float = 1.0


@dataclass(frozen=True)
class Learning:
    """What `partial_fit` goes on from, besides the network itself.

    ``rows`` are all that were trained on; None if they are not known, or held by the model of all
    of several series. ``past (rows, columns)`` are the last rows of the data, from which what is
    missing in the next ones is filled: whether all values were there, values, scaled inputs known
    in advance, and how each of these was filled; of a regressor scaled inputs alone. ``behind
    (size,)`` is the state along data whose last values are missing and were filled; the model's own
    is that along its forecasts. ``pending (rows, columns)`` are states, targets and weights of rows
    whose targets of several steps are not all known yet.
    """

    rows: Triangle | None = None
    past: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    behind: np.ndarray | None = None
    pending: np.ndarray | None = None
    _penalised: list[Penalised] = field(default_factory=list, compare=False, repr=False)

    def parts(self) -> dict[str, Any]:
        """What a file holds of it."""
        assert self.rows is not None and self.rows.first is not None

        def some(values: np.ndarray | None) -> np.ndarray | None:
            return None if values is None or not len(values) else np.ascontiguousarray(values)

        return {
            "columns": self.rows.columns,
            "penalised": self.rows.penalised,
            "R": np.ascontiguousarray(self.rows.R),
            "first": self.rows.first,
            **{name: some(getattr(self, name)) for name in ("past", "behind", "pending")},
        }

    @classmethod
    def of_parts(cls, columns: int, penalised: bool, R, first, past, behind, pending) -> Learning:
        """The same from what a file holds."""
        rows = Triangle(columns, penalised, np.asfortranarray(R), first)
        return cls(rows, np.zeros((0, 0)) if past is None else past, behind, pending)

    def extended(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray, decay: float) -> Learning:
        """The same with more rows, after the weights of those before were multiplied by a decay."""
        assert self.rows is not None
        kept = []
        for one in self._penalised:
            share = one.share * decay
            if len(X) <= len(one.rows.R) and share >= LEAST_SHARE:  # else it is quicker made anew
                kept.append(replace(one, rows=_with(one.rows, X, Y, weights, decay), share=share))
        return replace(self, rows=_with(self.rows, X, Y, weights, decay), _penalised=kept)

    def readout(self, ridge: float | np.ndarray, penalised: bool) -> np.ndarray:
        """The readout ``(1 + m, outputs)`` of all rows; outputs may have ridges of their own."""
        assert self.rows is not None
        if not abs(self.rows.R[0, 0]) > LEAST_WEIGHT:
            raise ValueError(
                "forgetting leaves no weight to any row with a value: too many have passed without "
                "one. Pass these by update (a forecaster), or use forgetting closer to 1."
            )
        rows = self.rows.with_penalty_on_bias() if penalised else self.rows
        first, p = 0 if penalised else 1, 1 + rows.columns
        path, place = np.unique(np.atleast_1d(ridge), return_inverse=True)
        beta = float(path[0])
        with one_blas_thread():
            F, g = rows.R[first:p, first:p], rows.R[first:p, p:]
            # Rounding in a direction that no row has is divided by the ridge; or there is none.
            harmless = NOTHING * beta > EPS * np.linalg.norm(F) * np.linalg.norm(g)
            if len(path) > 1 or not (harmless or surely_full_rank(F, units=beta > 0)):
                self._penalised.clear()
                return of_outputs(rows.readouts(path), place)
            one = Penalised(rows, 0.0) if beta == 0 else self._below(rows, beta, first)
            K, z = one.rows.R[first:p, first:p], one.rows.R[first:p, p:]
            w = _solved(K, _restored(K, z, beta * (1 - one.share)))
            return w if penalised else rows.with_bias(w)

    def _below(self, rows: Triangle, beta: float, first: int) -> Penalised:
        """The rows below their penalty; the factor is kept for the rows that follow."""
        known = self._penalised[0] if self._penalised else None
        if known is None or known.ridge != beta or known.rows.penalised != (first == 0):
            size, p = len(rows.R), 1 + rows.columns
            penalty = np.zeros((size, size), order="F")
            at = np.arange(first, p)
            penalty[at, at] = beta**0.5
            below = copy(rows)
            block = min(size, QR_BLOCK)
            below.R = dtpqrt(size, block, penalty, np.triu(rows.R), overwrite_a=True)[0]
            below.penalised = first == 0
            known = Penalised(below, beta)
            self._penalised[:] = [known]
        return known


def check_forgetting(forgetting: float) -> float:
    """The factor; raise unless it is one."""
    expected = "a number in (0, 1], by which weights are multiplied with every row"
    check_number("forgetting", forgetting, expected, above=0, most=1)
    return float(forgetting)


def aged(rows: int, forgetting: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Weights ``(rows,)`` of the last rows: less, the more rows follow."""
    age = forgetting ** np.arange(rows - 1, -1, -1.0)
    return age if weights is None else age * weights


def _with(
    rows: Triangle, X: np.ndarray, Y: np.ndarray, weights: np.ndarray, decay: float
) -> Triangle:
    """A factor with more rows; the old one stays as it is."""
    more = copy(rows)
    more.R = np.array(rows.R, order="F") * decay**0.5
    with one_blas_thread():
        more.add_rows(X, Y, weights)
    return more


def surely_full_rank(F: np.ndarray, units: bool) -> bool:
    """Whether no direction of a triangle can be negligible, in ``units`` of its columns or not.

    The smallest singular value is estimated by inverse iteration, O(p²) a round. Where it is not
    surely large enough, the definition looks closer.
    """
    size, p = column_sizes(F), len(F)
    if not p or not (size > 0).all():
        return False
    least = 8 * SAFE * negligible(np.linalg.norm(F), p)  # 8 as in `_folds.ridge._least_norm`
    if units:  # the first of the pivots that `row_space` compares with is 1
        F, least = F / size, SAFE * negligible(1.0, p)
    v = probe(p, 1)
    for _ in range(ROUNDS):
        v = v / np.linalg.norm(v)
        for transposed in (1, 0):
            v, singular = dtrtrs(F, v, trans=transposed)
            if singular or not np.abs(v).max() < 1 / EPS**2:
                return False
    return bool(np.linalg.norm(v) ** -0.5 > least)


def _solved(K: np.ndarray, z: np.ndarray, transposed: bool = False) -> np.ndarray:
    """``K⁻¹ z`` of an upper triangle, or ``K⁻ᵀ z``."""
    return dtrtrs(K, z, trans=int(transposed))[0]


def _restored(K: np.ndarray, h: np.ndarray, lacking: float) -> np.ndarray:
    """``z`` with ``(I + lacking K⁻ᵀ K⁻¹) z = h``, by conjugate gradients, column by column."""
    z = h.copy()
    if not lacking:
        return z

    def product(v: np.ndarray) -> np.ndarray:
        return v + lacking * _solved(K, _solved(K, v), transposed=True)

    r = h - product(z)
    d, size = r.copy(), (r * r).sum(axis=0)
    least = (EPS / 4) ** 2 * (h * h).sum(axis=0)
    for _ in range(MOST_PRODUCTS):
        if (size <= least).all():
            break
        along = product(d)
        step = size / np.maximum((d * along).sum(axis=0), np.finfo(float).tiny)
        z += step * d
        r -= step * along
        before, size = size, (r * r).sum(axis=0)
        d = r + size / np.maximum(before, np.finfo(float).tiny) * d
    return z
