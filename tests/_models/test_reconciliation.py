"""Forecasts that add up, against the plain dense definition."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from echofold._models.reconciliation import LEAST, minimum_trace, shrunk

A = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], float)
SUMS, N = 5, 9


def errors_of(dates, seed=0):
    return np.random.default_rng(seed).normal(size=(dates, N)) * np.logspace(0, 2, N)


def plain(W, y):
    """``(S' W⁻¹ S)⁻¹ S' W⁻¹ y`` by least squares in units of the errors."""
    L = np.linalg.cholesky(W)
    S = np.vstack([A, np.eye(N - SUMS)])
    return np.linalg.lstsq(np.linalg.solve(L, S), np.linalg.solve(L, y), rcond=None)[0]


def covariance(errors, runs, unknown, least=0.0):
    """The shrunk covariance by loops over pairs; variances are at least so much."""
    count = np.isfinite(errors).sum(axis=0)
    variance = np.where(count, np.nansum(errors**2, axis=0) / np.maximum(count, 1), unknown**2)
    r, spread = np.zeros((2, N, N))
    each = np.unique(runs)
    for i in range(N):
        for j in range(N):
            if i == j or not (count[i] and count[j] and variance[i] and variance[j]):
                continue
            unit = np.sqrt(variance[i] * variance[j] * count[i] * count[j])
            products = np.nan_to_num(errors[:, i] * errors[:, j]) / unit
            parts = [len(each) * products[runs == run].sum() for run in each]
            r[i, j] = products.sum()
            if len(each) > 1:
                spread[i, j] = np.var(parts, ddof=1) / len(each)
    squares = (r**2).sum()
    share = 1.0
    if len(each) > 1 and squares:
        share = np.clip(spread.sum() / squares, LEAST, 1)
    variance[:SUMS] = np.maximum(variance[:SUMS], 1e-6 * A @ variance[SUMS:])
    before = np.where(count, np.nansum(errors**2, axis=0) / np.maximum(count, 1), 0)
    W = np.diag(np.maximum(variance, least))
    return W + (1 - share) * r * np.sqrt(np.outer(before, before)), share


def spoilt(errors, how):
    if how == "missing":
        errors[3:9, 2] = errors[::2, 7] = np.nan
    if how == "unknown":
        errors[:, 6] = np.nan
    if how == "equal":
        errors[:, 6] = errors[:, 5]
        errors[:, 0] = errors[:, 1] = 3 * errors[:, 5]
    if how == "constant":
        errors[:] = np.abs(errors[:1])
    if how == "exact sum":
        errors[:, [0, 1]] = 0.0
    return errors


@pytest.mark.parametrize("dates", [1, 2, 12, 36])
@pytest.mark.parametrize("how", ["plain", "missing", "unknown", "equal", "constant", "exact sum"])
def test_equal_to_the_plain_definition(dates, how):
    errors, unknown = spoilt(errors_of(dates), how), np.linspace(1, 2, N)
    y = 100 * np.random.default_rng(1).normal(size=(N, 3))
    for runs in (np.arange(dates), np.arange(dates) // 12):
        W = shrunk(errors, runs, unknown, csr_array(A))
        expected, share = covariance(errors, runs, unknown)
        np.testing.assert_allclose(W.share, share, rtol=1e-9)
        dense = np.diag(W.diagonal) + W.factor.T @ W.factor
        np.testing.assert_allclose(dense, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(W.times(y), dense @ y, rtol=1e-9, atol=1e-6)
        found = minimum_trace(A, W)(y)
        np.testing.assert_allclose(found, plain(expected, y), atol=1e-8 * np.abs(y).max())


@pytest.mark.parametrize("without", [[5], [6, 7], [1, 5, 6]])
def test_series_without_errors_stay(without):
    """The limit of the definition; a sum of which nothing is uncertain is not looked at."""
    errors, runs = errors_of(36), np.arange(36) // 12
    errors[:, without] = 0.0
    y = 100 * np.random.default_rng(1).normal(size=(N, 3))
    W = shrunk(errors, runs, np.ones(N), csr_array(A))
    found = minimum_trace(A, W)(y)
    series = [n for n in without if n >= SUMS]
    np.testing.assert_array_equal(found[[n - SUMS for n in series]], y[series])
    if 1 in without:
        y[1] = y[5] + y[6]
    expected, _ = covariance(errors, runs, np.ones(N), least=1e-9)
    np.testing.assert_allclose(found, plain(expected, y), atol=1e-6)


def test_nothing_is_known():
    """Without any error, in any series, forecasts stay as they are."""
    y = np.random.default_rng(1).normal(size=(N, 2))
    for errors in (np.zeros((4, N)), np.full((0, N), np.nan)):
        W = shrunk(errors, np.zeros(len(errors)), np.zeros(N), csr_array(A))
        np.testing.assert_array_equal(minimum_trace(A, W)(y), y[SUMS:])


def test_the_share_is_that_of_schaefer_and_strimmer():
    errors = np.random.default_rng(0).normal(size=(30, N)) @ np.random.default_rng(1).normal(
        size=(N, N)
    )
    x = errors / np.sqrt((errors**2).mean(axis=0))
    w = x[:, :, None] * x[:, None, :]
    r, off = w.mean(axis=0), ~np.eye(N, dtype=bool)
    spread = 30 / 29**3 * ((w - r) ** 2).sum(axis=0) * (29 / 30) ** 2
    share = shrunk(errors, np.arange(30), np.ones(N), csr_array(A)).share
    assert share == pytest.approx(spread[off].sum() / (r[off] ** 2).sum(), rel=1e-9)


def test_forecasts_that_add_up_stay():
    errors = errors_of(24)
    series = np.random.default_rng(1).normal(size=(N - SUMS, 2))
    W = shrunk(errors, np.arange(24) // 8, np.ones(N), csr_array(A))
    found = minimum_trace(A, W)(np.concatenate([A @ series, series]))
    np.testing.assert_allclose(found, series, atol=1e-12)


def test_many_series_need_no_square_of_them():
    """A matrix with a row and a column for each of 40,000 series would take 12 GiB."""
    stores, products = 200, 200
    n = stores * products
    codes = np.stack([np.zeros(n), 1 + np.arange(n) // products, 201 + np.arange(n) % products])
    many = csr_array((np.ones(3 * n), (codes.astype(int).ravel(), np.tile(np.arange(n), 3))))
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(12, 401 + n))
    W = shrunk(errors, np.arange(12) // 4, np.ones(401 + n), many)
    y = rng.normal(size=(401 + n, 2))
    found = minimum_trace(many, W)(y)
    # Of what is optimal no change of the series lowers the error: S' W⁻¹ (y - S b) is zero, that
    # is, y - S b is W times something that S' takes to zero, as C' x is.
    rest = y - np.concatenate([many @ found, found])
    inner = np.linalg.inv(np.eye(12) + (W.factor / W.diagonal) @ W.factor.T)
    scaled = rest / W.diagonal[:, None]
    solved = scaled - (W.factor / W.diagonal).T @ (inner @ (W.factor @ scaled))
    np.testing.assert_allclose(many.T @ solved[:401] + solved[401:], 0, atol=1e-8)
