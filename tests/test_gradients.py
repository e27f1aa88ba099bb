"""A whole ridge path at once by conjugate gradients equals what factors and plain refits give."""

import numpy as np
import pytest

from echofold import Accumulative, KFold, cross_validate_readout
from echofold._folds import whitened
from echofold._folds.whitened import is_cheaper, solve_together

RNG = np.random.default_rng(0)
COLUMNS, ROWS = 130, 700
RIDGE = [0.0, *np.logspace(-9, 3, 11)]
# Columns that are nearly copies of one another, as the units of a reservoir are.
STATES = RNG.normal(size=(ROWS, COLUMNS)) * np.logspace(0, -6, COLUMNS)
STATES = STATES @ np.linalg.qr(RNG.normal(size=(COLUMNS, COLUMNS)))[0]


def systems(least: float):
    """A matrix with eigenvalues from ``least`` to 1, penalties from 0 to large, right sides."""
    Q = np.linalg.qr(RNG.normal(size=(COLUMNS, COLUMNS)))[0]
    gram = Q * np.geomspace(least, 1, COLUMNS) @ Q.T
    diagonals = np.logspace(-8, 8, COLUMNS)[:, None] * np.array([0.0, 1e-6, 1.0, 1e6])
    return (gram + gram.T) / 2, diagonals, RNG.normal(size=(COLUMNS, 4))


def test_solutions():
    gram, diagonals, right = systems(0.2)
    right[:, 1] = 0.0
    found = solve_together(gram, diagonals, right)
    for column, (d, b) in enumerate(zip(diagonals.T, right.T, strict=True)):
        expected = np.linalg.solve(gram + np.diag(d), b)
        scale = np.sqrt(np.diag(gram) + d)
        error = np.linalg.norm(scale * (found[:, column] - expected))
        assert error <= 1e-13 * np.linalg.norm(scale * expected)


def test_what_would_take_too_many_products_is_left():
    assert solve_together(*systems(1e-6)) is None
    gram, diagonals, right = systems(0.2)
    assert solve_together(gram - 2 * np.eye(COLUMNS), diagonals, right) is None
    assert solve_together(np.full_like(gram, np.nan), diagonals, right) is None


def test_when_it_is_cheaper():
    assert is_cheaper(500, 12, 1)
    assert not is_cheaper(51, 12, 1)
    assert not is_cheaper(500, 1, 1)
    assert not is_cheaper(500, 12, 50)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [KFold(5), KFold(6, valid=60, gap=5), Accumulative(4)], ids=repr)
def test_readouts_equal_plain_refits(cv, weighted, monkeypatch):
    solved = []

    def counted(gram, diagonals, right):
        solved.append(found := solve_together(gram, diagonals, right))
        return found

    monkeypatch.setattr(whitened, "solve_together", counted)
    y = STATES @ RNG.normal(size=COLUMNS) + 0.1 * RNG.normal(size=ROWS)
    weights = RNG.uniform(0.2, 2, ROWS) if weighted else None
    found = [
        cross_validate_readout(
            STATES, y, cv=cv, ridge=RIDGE, sample_weight=weights, algorithm=algorithm, readouts=True
        )
        for algorithm in ("small_k", "naive")
    ]
    assert solved
    if isinstance(cv, KFold):
        assert all(one is not None for one in solved)
    fast, plain = (STATES @ one.readout.values[:, :, 1:] for one in found)
    np.testing.assert_allclose(fast, plain, atol=1e-9 * np.abs(plain).max())
    np.testing.assert_allclose(found[0].nrmse, found[1].nrmse, rtol=1e-9)


def test_a_set_that_products_do_not_solve_is_factored():
    """One fold holds a direction that the others lack."""
    X = STATES.copy()
    X[: ROWS // 5, 3] += np.linspace(0, 100, ROWS // 5)
    y = RNG.normal(size=ROWS)
    found = [
        cross_validate_readout(X, y, cv=KFold(5), ridge=RIDGE, algorithm=algorithm).nrmse
        for algorithm in ("small_k", "naive")
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8)
