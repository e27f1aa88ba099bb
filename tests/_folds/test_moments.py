"""Whitened moments: additive, exact where normal equations are not, never blind in a direction."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference
from cases import relative
from hypothesis import given, settings
from hypothesis import strategies as st
from passing import Passing

from echofold import ESNRegressor, KFold, LeaveOneOut, WalkForward, cross_validate
from echofold._data.problem import REGRESSION, Problem, Segments
from echofold._data.rows import rows
from echofold._folds.algorithms import KeptRows, Naive, SmallK, fit_rows
from echofold._folds.moments import add_pieces, is_poor, moments, solve, whitening
from echofold._folds.splits import add_up, cut, resolve_cv
from echofold._folds.tolerances import WELL
from echofold._folds.whitened import squared_errors
from echofold._validation.streamed import accumulate

RIDGE = np.array([0.0, 1e-9, 1e-3, 1.0])


def collinear(n=300, m=8, condition=1e9, seed=0):
    """States with singular values spread over many decades, away from zero, and targets."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(n, m)))
    V, _ = np.linalg.qr(rng.normal(size=(m, m)))
    X = np.sqrt(n) * (U * np.logspace(0, -np.log10(condition), m)) @ V.T + rng.normal(size=m)
    return X, rng.normal(size=(n, 2)) + U[:, :2]


def extended(Z):
    return np.hstack([np.ones((len(Z), 1)), Z])


# --- whitening ----------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e7, 1e9])
def test_whitened_rows_have_unit_covariance(condition):
    X, _ = collinear(condition=condition)
    white = whitening(X)
    Z = white.apply(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-15 * condition)
    by_gram = condition < 1 / WELL  # which loses twice the digits, and these are enough
    atol = 1e-15 * condition ** (2 if by_gram else 1)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(8), atol=atol)
    np.testing.assert_allclose(white.V.T @ white.V, np.eye(8), atol=1e-14)
    assert white.condition == pytest.approx(np.linalg.cond(X - X.mean(axis=0)), rel=1e-3)


def test_the_frame_leads_back():
    X, _ = collinear(condition=1e6)
    white = whitening(X[::3])
    np.testing.assert_allclose(extended(white.apply(X)) @ white.frame, extended(X), rtol=1e-10)


def test_no_direction_is_dropped():
    X, _ = collinear(condition=10)
    X[:, 3] = 0.5
    white = whitening(X)
    np.testing.assert_allclose(white.V @ white.V.T, np.eye(8), atol=1e-14)
    assert white.sigma.min() == pytest.approx(9 * np.finfo(float).eps * white.sigma[0])
    assert white.condition == pytest.approx(1 / np.finfo(float).eps)
    moved = X.copy()
    moved[5, 3] += 1e-3
    assert np.abs(white.apply(moved) - white.apply(X)).max() > 1e9  # seen, and clearly


def test_few_and_constant_pilots():
    X, _ = collinear(n=12)
    few = whitening(X[:3])
    assert few.V.shape == (8, 8) and (few.sigma > 0).all()
    still = whitening(np.ones((5, 3)))
    assert (still.sigma == 1).all() and np.isfinite(still.apply(X[:, :3])).all()


# --- sums ---------------------------------------------------------------------------------------


def test_moments_are_sums_over_rows():
    X, Y = collinear(n=40)
    weights = np.linspace(0.5, 2, 40)
    A = np.hstack([np.ones((40, 1)), X, Y])
    np.testing.assert_allclose(moments(X, Y), sum(np.outer(a, a) for a in A), rtol=1e-12)
    expected = sum(w * np.outer(a, a) for w, a in zip(weights, A, strict=True))
    np.testing.assert_allclose(moments(X, Y, weights), expected, rtol=1e-12)


@pytest.mark.parametrize("cv", [KFold(4, gap=2), KFold(4, shuffle=True, random_state=1)], ids=repr)
@pytest.mark.parametrize("block", [7, 40])
def test_training_moments_are_sums_of_pieces(cv, block):
    X, Y = collinear(n=40)
    weights = np.linspace(0.5, 2, 40)
    splits = resolve_cv(cv, 40)
    pieces = cut(40, [splits])
    leaves = np.zeros((pieces.count, 11, 11))
    for start in range(0, 40, block):
        part = slice(start, start + block)
        add_pieces(leaves, pieces, start, X[part], Y[part], weights[part])
    for sets in (splits.train, splits.valid):
        found = add_up(leaves, [pieces.runs[one] for one in sets])
        for one, intervals in zip(found, sets, strict=True):
            at = rows(intervals)
            np.testing.assert_allclose(one, moments(X[at], Y[at], weights[at]), rtol=1e-12)


@st.composite
def partial_sums(draw):
    count = draw(st.integers(1, 20))
    sets = draw(st.lists(st.sets(st.integers(0, count - 1), min_size=1), min_size=1, max_size=5))
    return count, sets


@given(partial_sums())
def test_add_up_adds_every_piece_once(case):
    count, sets = case
    leaves = 2.0 ** np.arange(count)[:, None]  # a sum tells which leaves are in it
    runs = [tuple((i, i + 1) for i in sorted(chosen)) for chosen in sets]
    found = add_up(leaves, runs)[:, 0]
    assert found.tolist() == [sum(2.0**i for i in chosen) for chosen in sets]
    assert add_up(leaves, [((0, count),)])[0, 0] == 2.0**count - 1


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 2**16))
def test_pieces_cover_every_set(n, count, seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((count, n)) < rng.random((count, 1))
    sets = [tuple((i, i + 1) for i in np.flatnonzero(mask)) for mask in masks]
    pieces = cut(
        n, [SimpleNamespace(distinct=SimpleNamespace(train=sets), valid=sets, bounds=None)]
    )
    labels = pieces.labels(0, n)
    assert pieces.count == len(np.unique(labels))
    for mask, one in zip(masks, sets, strict=True):
        runs = pieces.runs[one]
        inside = rows(runs) if runs else []
        assert np.array_equal(np.isin(labels, inside), mask)
    parts = [(piece, np.arange(n)[at]) for piece, at in pieces.parts(0, n)]
    assert sorted(np.concatenate([at for _, at in parts])) == list(range(n))
    assert all((labels[at] == piece).all() for piece, at in parts)


# --- readouts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_readouts_of_nearly_collinear_states(penalised, weighted):
    X, Y = collinear(condition=1e9)
    weights = np.linspace(0.5, 2, len(X)) if weighted else None
    white, shift = whitening(X), Y.mean(axis=0)
    M = moments(white.apply(X), Y - shift, weights)[None]
    found = solve(M, white, shift, RIDGE, penalised)
    expected = fit_rows(X, Y, weights, RIDGE, penalised)
    outputs = extended(X) @ found.W[0]
    np.testing.assert_allclose(outputs, extended(X) @ expected, atol=1e-6)
    whitened = extended(white.apply(X)) @ found.v[0] + shift
    np.testing.assert_allclose(whitened, extended(X) @ expected, atol=1e-6)
    # What normal equations in the original coordinates make of the same rows.
    rows = extended(X) if weights is None else extended(X) * np.sqrt(weights)[:, None]
    plain = np.linalg.lstsq(rows.T @ rows, rows.T @ rows @ expected[0], rcond=None)[0]
    assert np.abs(extended(X) @ (plain - expected[0])).max() > 1e-3


@pytest.mark.parametrize("penalised", [False, True])
def test_readouts_equal_the_definition(penalised):
    X, Y = collinear(condition=50)
    weights = np.linspace(0.5, 2, len(X))
    white, shift = whitening(X[::4]), np.array([3.0, -1.0])
    M = moments(white.apply(X), Y - shift, weights)[None]
    found = solve(M, white, shift, RIDGE, penalised).W[0]
    expected = [reference.ridge(extended(X), Y, beta, penalised, weights) for beta in RIDGE]
    assert relative(found, np.array(expected), 2).max() < 1e-10


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_fewer_rows_than_columns_are_not_trusted(n, penalised):
    X, Y = collinear(n=40, condition=10)
    white, shift = whitening(X), Y.mean(axis=0)
    Z = white.apply(X)
    M = np.stack([moments(Z[:n], Y[:n] - shift), moments(Z[n:], Y[n:] - shift)])
    found = solve(M, white, shift, RIDGE, penalised)
    assert found.trusted.tolist() == [False, True]
    assert relative(found.W[1], fit_rows(X[n:], Y[n:], None, RIDGE, penalised), 2).max() < 1e-8


@pytest.mark.parametrize("penalised", [False, True])
def test_squared_errors_come_from_moments(penalised):
    X, Y = collinear(condition=1e6)
    white, shift = whitening(X), Y.mean(axis=0)
    Z = white.apply(X)
    found = solve(moments(Z[:200], Y[:200] - shift)[None], white, shift, RIDGE, penalised)
    errors = squared_errors(moments(Z[200:], Y[200:] - shift)[None], found.v)
    residuals = Y[200:] - extended(X[200:]) @ fit_rows(X[:200], Y[:200], None, RIDGE, penalised)
    np.testing.assert_allclose(errors[0], (residuals**2).sum(axis=1), rtol=1e-8)


def test_a_squared_error_that_is_mostly_rounding_is_not_given():
    X, _ = collinear(condition=10)
    Y = X[:, :2] + 1e-6 * np.random.default_rng(0).normal(size=(len(X), 2))
    white, shift = whitening(X), Y.mean(axis=0)
    M = moments(white.apply(X), Y - shift)[None]
    errors = squared_errors(M, solve(M, white, shift, RIDGE, False).v)
    assert np.isnan(errors[0, 0]).all()
    assert np.isfinite(errors[0, -1]).all()


# --- a pilot that missed something --------------------------------------------------------------


def with_late_inputs(size=1.0, n=400):
    """States with columns that are zero in the pilot (every tenth row): two that nearly agree."""
    X, Y = collinear(n, condition=100)
    X[:, 3:5] = 0
    late = np.flatnonzero(np.arange(n) % 10 > 0)[: n // 3]
    X[late, 3] = size * np.sin(np.arange(len(late)))
    X[late, 4] = X[late, 3] * (1 + 1e-4 * np.cos(np.arange(len(late))))
    return X, Y + X[:, 3:4] / size


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_a_poor_pilot_is_found_out(size):
    X, Y = with_late_inputs(size)
    white, shift = whitening(X[::10]), Y.mean(axis=0)
    assert is_poor(white, moments(white.apply(X), Y - shift))
    source = Passing(
        Problem(REGRESSION, Y, Segments.series(X), np.ones(2), np.zeros(2)),
        30,
        np.arange(0, 400, 10),
    )
    summed = accumulate(source, cut(400, []), shift)
    (white,), (total,), (condition,) = summed.whites, summed.training[:, 0], summed.condition
    assert np.linalg.cond(total[:9, :9]) < 10
    assert condition == pytest.approx(np.linalg.cond(X - X.mean(axis=0)), rel=1e-2)
    found = solve(total[None], white, shift, RIDGE, False)
    assert found.trusted.all()
    outputs, expected = extended(X) @ found.W[0], extended(X) @ fit_rows(X, Y, None, RIDGE, False)
    np.testing.assert_allclose(outputs, expected, atol=1e-8 * np.abs(expected).max())


def test_a_good_pilot_is_kept():
    X, Y = collinear(n=400, condition=1e9)
    white = whitening(X[::5])
    assert not is_poor(white, moments(white.apply(X), Y))
    X[:, 2] = 4.0  # a direction that holds nothing anywhere is no reason to look again
    white = whitening(X[::5])
    assert not is_poor(white, moments(white.apply(X), Y))


def late_problem(agree, rows=700, burst=20):
    """A regression with inputs that are zero over every segment of the pilot."""
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(rows, 3))
    inputs[:, 1:] = 0
    # A pilot of 16 segments of ten rows starts at multiples of about (rows - 10) / 15.
    first = int(4.5 * (rows - 10) / 15)
    late = slice(first - burst // 2, first + burst // 2)
    inputs[late, 1:] = rng.normal(size=(burst, 2))
    if agree:
        inputs[late, 2] = inputs[late, 1] * (1 + 1e-4 * inputs[late, 2])
    W_in = rng.uniform(-0.5, 0.5, size=(4, 4))
    target = np.roll(inputs[:, 0], 1) + inputs[:, 1] + 0.1 * rng.normal(size=rows)
    return ESNRegressor(4, W_in=W_in, random_state=0, washout=0, scale=None), inputs, target


# Whether two late inputs nearly agree, so that the pilot's coordinates are poor and not only long.
@pytest.mark.parametrize("agree", [False, True])
@pytest.mark.parametrize("cv", [KFold(5), KFold(5, gap=3), WalkForward(4), LeaveOneOut()], ids=repr)
def test_inputs_that_are_zero_over_the_pilot(cv, agree):
    model, inputs, target = late_problem(agree)
    ways = ("pieces",) if isinstance(cv, LeaveOneOut) else ("pieces", "fold", "frugal")
    options = {"cv": cv, "ridge": [0.0, 1e-6, 1.0], "metric": "mse"}
    plain = cross_validate(model, inputs, target, algorithm="naive", **options)
    factored = cross_validate(model, inputs, target, algorithm="large_k", cv=LeaveOneOut(), ridge=0)
    for way in ways:
        found = cross_validate(model, inputs, target, memory=way, **options)
        np.testing.assert_allclose(found.mse, plain.mse, rtol=1e-8)
        assert float(found.condition) == pytest.approx(float(factored.condition), rel=1e-2)
        if way == "pieces":  # agreeing inputs take two more passes, to whiten by all rows
            passes = 3 if agree else 1
            # The split that never sees them is refitted from its rows, and errors are predicted.
            passes += 2 * (found.attrs["refitted_splits"] > 0)
            assert found.attrs["steps_driven"] == passes * len(inputs)


def test_no_second_pass_when_the_pilot_saw_everything():
    model, inputs, target = late_problem(False)
    inputs[:, 1:] = np.random.default_rng(0).normal(size=(len(inputs), 2))
    found = cross_validate(model, inputs, target, cv=KFold(5), ridge=1e-6, memory="pieces")
    assert found.attrs["steps_driven"] == len(inputs)
    assert found.attrs["pilot_steps"] > 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [1e-3, 0.0])
def test_readouts_that_moments_lose_are_corrected_by_the_rows(share, weighted, monkeypatch):
    """A direction that the other folds hold little of costs products, and not a refit."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))
    X[:, 5] = X[:, :5] @ rng.normal(size=5) + np.where(np.arange(200) < 40, 1, share) * X[:, 5]
    Y = X @ rng.normal(size=(6, 2)) + rng.normal(size=(200, 2))
    weights = rng.uniform(0.5, 2, 200) if weighted else None
    splits, ridge = resolve_cv(KFold(5), 200), np.array([1e-8, 1e-5, 1e3])
    kept = KeptRows(X, Y, weights, ridge, False, cut(200, [splits]))
    W, refitted = SmallK(kept).readouts(splits)[:2]
    assert refitted == (share == 0)  # the definition leaves out what only rounding holds
    plain = Naive(kept).readouts(splits).W
    np.testing.assert_allclose(W, plain, rtol=1e-10, atol=1e-11)
    if share:
        monkeypatch.setattr("echofold._folds.moments.CORRECTIONS", 0)
        assert SmallK(kept).readouts(splits).refitted == 1
        monkeypatch.setattr("echofold._folds.whitened.POOR", 1e12)  # believed as they are
        lost = SmallK(kept).readouts(splits).W
        assert np.abs(lost - W).max() > 10 * np.abs(W - plain).max()
