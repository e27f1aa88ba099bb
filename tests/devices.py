"""Work that a device and the host do alike, and the plain definition that both are held to."""

import cases
import numpy as np
from cases import COLUMNS, RIDGE, ROWS, SCHEMES, splits_of

from echofold import (
    KFold,
)
from echofold._folds.algorithms import naive
from echofold._folds.many_rows import ManyRows
from echofold._folds.splits import cut
from echofold._machine.arrays import pad_rows
from echofold._machine.device import engine


def on_both(accelerated, work):
    """What the host and the device make of the same work."""
    found = []
    for on in (False, True):
        accelerated(on)
        found.append(work())
    return found


def matrices():
    """States of candidates: plain, graded, one tiny column, and two columns that are the same."""
    X = cases.X
    tiny = X * np.append(np.ones(COLUMNS - 1), 1e-7)
    return [X, X * 10.0 ** -np.arange(COLUMNS), tiny, np.hstack([X[:, :-1], X[:, :1]])]


def equal_the_definition(device, scheme, outputs, penalised, weighted, little):
    """Readouts and residuals by both ways; candidates in groups where memory is little."""
    splits = splits_of(SCHEMES[scheme])
    Y = np.random.default_rng(1).normal(size=(ROWS, outputs))
    weights = np.random.default_rng(2).uniform(0.2, 2, ROWS) if weighted else None
    if weighted:
        weights[5] = 0.0
    many, pieces = matrices(), cut(ROWS, [splits])
    with engine(device):
        X = np.stack([pad_rows(one, ROWS + 4) for one in many])
        rows = ManyRows(X, Y, weights, RIDGE, penalised, pieces, 2**15 if little else 2**30)
        ways = [rows.solved(way, splits, True, True) for way in ("small_k", "leave_out")]
    for one, states in enumerate(many):
        plain = naive(states, Y, weights, splits.train, RIDGE, penalised)
        extended = np.hstack([np.ones((ROWS, 1)), states])
        expected = extended @ plain  # (splits, ridge, rows, outputs)
        close = {"atol": 1e-11 * np.abs(expected).max(), "rtol": 0}
        for found in ways:
            np.testing.assert_allclose(extended @ np.asarray(found.W[one]), expected, **close)
            residuals = np.asarray(found.residuals[one])
            for split, numbers in enumerate(found.at):
                real = numbers < ROWS
                errors = np.moveaxis(Y[numbers[real]] - expected[split][:, numbers[real]], 1, 0)
                np.testing.assert_allclose(residuals[split][real], errors, **close)


def nearly_the_same(bits: int) -> np.ndarray:
    """Columns of small integers, of which two differ by integers times ``2 ** -bits``, exactly."""
    X = np.random.default_rng(3).integers(-8, 9, (ROWS, COLUMNS + 1)).astype(float)
    X[:, 0] += X[:, -1] * 2.0**-bits
    X[:, -2] = X[:, 0] - X[:, -1] * 2.0**-bits
    return X[:, :-1]


def rank_in_doubt(device, penalised):
    """At a ridge of 0 a direction of ``2 ** -46`` of the largest is kept, one of ``2 ** -51`` not.

    Rounding leaves one digit of what the former does.
    """
    splits = splits_of(KFold(6))
    Y = np.random.default_rng(1).normal(size=(ROWS, 2))
    many, ridge = [nearly_the_same(bits) for bits in (20, 40, 46, 51)], np.array([0.0, 1e-3])
    with engine(device):
        X = np.stack([pad_rows(one, ROWS + 4) for one in many])
        rows = ManyRows(X, Y, None, ridge, penalised, cut(ROWS, [splits]), 2**30)
        W = rows.solved("small_k", splits, True, False).W
    for states, found, close in zip(many, W, (1e-9, 0.01, 0.2, 1e-9), strict=True):
        plain = naive(states, Y, None, splits.train, ridge, penalised)
        found, size = np.asarray(found), np.abs(plain[:, 0]).max()
        np.testing.assert_allclose(found[:, 0], plain[:, 0], rtol=0, atol=close * size)
        np.testing.assert_allclose(found[:, 1], plain[:, 1], rtol=0, atol=1e-9)
    assert np.abs(np.asarray(W[2])).max() > 1e10
    assert np.abs(np.asarray(W[3])).max() < 10


def only_one_fold(device, leaving, penalised):
    """Without it, the other rows are refitted in coordinates of their own, where rank is less."""
    splits = splits_of(KFold(6))
    X, Y = cases.X.copy(), np.random.default_rng(1).normal(size=(ROWS, 1))
    seldom = np.where(np.arange(ROWS) < 4, 1.0, 0.0)
    rare = X.copy()
    rare[:, 2] = seldom + 1e-4 * X[:, 2]
    X[:, 2] = seldom
    with engine(device):
        many = np.stack([pad_rows(one, ROWS + 4) for one in (X, rare)])
        rows = ManyRows(many, Y, None, RIDGE, penalised, cut(ROWS, [splits]), 2**30)
        found = rows.solved("leave_out" if leaving else "small_k", splits, True, False)
    assert found.refitted >= 2
    for states, W in zip((X, rare), found.W, strict=True):
        plain = naive(states, Y, None, splits.train, RIDGE, penalised)
        np.testing.assert_allclose(np.asarray(W), plain, rtol=1e-9, atol=1e-9)
