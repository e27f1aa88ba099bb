import functools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from echofold import metrics
from echofold._data.rows import padded
from echofold.metrics import error_rate, mae, mse, nrmse, rmse
from echofold.metrics._metric import Metric, resolve
from echofold.metrics._targets import denominators

T2 = np.array([[0.0, 10.0], [2.0, 10.0], [4.0, 16.0]])  # deviations: 4+0+4 and 4+4+16
Y2 = np.array([[1.0, 10.0], [2.0, 14.0], [1.0, 16.0]])  # errors: 1, 4, 3


def test_hand_computed_values():
    # squared errors 1 + 16 + 9 = 26; variation 8 + 24 = 32
    assert nrmse(T2, Y2) == pytest.approx(np.sqrt(26 / 32), rel=1e-15)
    assert mse(T2, Y2) == pytest.approx(26 / 6, rel=1e-15)
    assert rmse(T2, Y2) == pytest.approx(np.sqrt(26 / 6), rel=1e-15)
    assert mae(T2, Y2) == pytest.approx(8 / 6, rel=1e-15)
    assert nrmse([1, 2, 3, 4], [1, 2, 3, 6]) == pytest.approx(np.sqrt(4 / 5), rel=1e-15)
    assert error_rate([1, 2, 3, 1], [1, 3, 3, 2]) == 0.5
    assert error_rate(["a", "b"], ["a", "b"]) == 0.0


def test_one_dimension_equals_one_column():
    t, y = T2[:, 0], Y2[:, 0]
    for metric in (nrmse, rmse, mse, mae):
        assert metric(t, y) == metric(t[:, None], y) == metric(list(t), y[:, None])


@given(arrays(float, (7, 2), elements=st.floats(-100, 100)), st.floats(0.1, 10))
def test_nrmse_of_the_mean_is_one_and_scale_free(noise, factor):
    t = np.cumsum(np.ones((7, 2)), axis=0) * 50 + noise / 10
    y = t + noise
    assert nrmse(t, np.broadcast_to(t.mean(axis=0), t.shape)) == pytest.approx(1, rel=1e-12)
    assert nrmse(factor * t + 3, factor * y + 3) == pytest.approx(nrmse(t, y), rel=1e-6, abs=1e-9)


def test_one_row_and_constant_rows_use_scale():
    assert nrmse([[5.0, 1.0]], [[8.0, 5.0]], scale=4.0) == pytest.approx(2.5, rel=1e-15)
    assert nrmse([3.0] * 4, [5.0] * 4, scale=16.0) == pytest.approx(0.5, rel=1e-15)
    assert nrmse([1.0, 3.0], [2.0, 2.0], scale=100.0) == 1.0
    for t in ([7.0], [0.0, 0.0], [0.1] * 1000):
        with pytest.raises(ValueError, match=f"constant over its T={len(t)} rows.*pass scale="):
            nrmse(t, t)


@pytest.mark.parametrize("scale", [0, -1.0, np.nan, np.inf, "a"])
def test_scale_must_be_positive(scale):
    with pytest.raises(ValueError, match="scale=.*expected a positive number"):
        nrmse([1.0], [1.0], scale=scale)


def test_constant_means_up_to_rounding():
    # The mean of a long constant column is off by many roundings; it must still be constant.
    constant = np.full((200_000, 2), 0.3)
    assert nrmse(constant, constant + 1, scale=8.0) == pytest.approx(0.5, rel=1e-12)
    wobble = 1e6 * (1 + 1e-15 * np.arange(6))
    assert nrmse(wobble, wobble + 1, scale=4.0) == pytest.approx(0.5)
    # Real variation, however small beside the level, is not rounding.
    small = 1e6 + 1e-3 * np.array([-1.0, 1.0])
    assert nrmse(small, [1e6, 1e6], scale=9.0) == pytest.approx(1, rel=1e-6)
    # A large constant output does not hide one that varies.
    t = np.column_stack([np.full(2, 1e9), [-1e-5, 1e-5]])
    y = np.column_stack([np.full(2, 1e9), [0.0, 0.0]])
    assert nrmse(t, y, scale=9.0) == pytest.approx(1, rel=1e-12)


def test_diverged_predictions_score_infinity_quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in ([np.inf, 0.0], [1e200, 0.0]):
            assert nrmse([1.0, 2.0], y) == rmse([1.0, 2.0], y) == mse([1.0, 2.0], y) == np.inf
        assert mae([1.0, 2.0], [-np.inf, 0.0]) == np.inf
        assert mae([1.0, 2.0], [1.7e308, 1.7e308]) == np.inf
        assert nrmse([1e-9, 2e-9], [1e150, 0.0]) == np.inf


@pytest.mark.parametrize("metric", [nrmse, rmse, mse, mae])
def test_array_errors(metric):
    with pytest.raises(ValueError, match=r"y_true has shape \(3, 1\) and y_pred \(2, 1\)"):
        metric([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match=r"y_true: got an array of shape \(0,\)"):
        metric([], [])
    with pytest.raises(ValueError, match=r"y_pred: got an array of shape \(1, 1, 1\)"):
        metric([1.0], [[[1.0]]])
    with pytest.raises(TypeError, match="y_pred: expected an array of real numbers"):
        metric([1.0], ["a"])
    with pytest.raises(ValueError, match="y_true holds NaN or infinity"):
        metric([1.0, np.nan], [1.0, 2.0])


def test_label_errors():
    with pytest.raises(ValueError, match=r"labels_true has shape \(2,\) and labels_pred \(3,\)"):
        error_rate([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"shape \(0,\)"):
        error_rate([], [])
    with pytest.raises(TypeError, match="never equal; give both as text or both as numbers"):
        error_rate(["1", "2"], [1, 2])


@pytest.mark.parametrize("name, function", [("nrmse", nrmse), ("rmse", rmse), ("mse", mse)])
def test_finish_of_squared_sums_equals_the_function(name, function):
    total = np.sum((T2 - Y2) ** 2)
    found = resolve(name).finish(total, 3, 2, denominators(T2, np.arange(3)[None]))
    assert found == pytest.approx(function(T2, Y2), rel=1e-14)


def test_finish_broadcasts_and_carries_infinity():
    total = np.array([[6.0, np.inf], [24.0, 54.0]])
    rows = np.array([3, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {
            name: resolve(name).finish(total, rows, 2, np.array([6.0, 13.5]))
            for name in ("nrmse", "rmse", "mse", "mae", "error_rate")
        }
    np.testing.assert_allclose(found["nrmse"], [[1, np.inf], [2, 2]])
    np.testing.assert_allclose(found["mse"], [[1, np.inf], [4, 27]])
    np.testing.assert_allclose(found["rmse"], np.sqrt(found["mse"]))
    np.testing.assert_allclose(found["mae"], [[1, np.inf], [4, 27]])
    np.testing.assert_allclose(found["error_rate"], [[2, np.inf], [8, 54]])


def test_resolve():
    def worst(y_true, y_pred):
        return np.max(np.abs(y_true - y_pred))

    needs = {"nrmse": "squared", "rmse": "squared", "mse": "squared", "mae": "absolute"}
    assert {name: resolve(name).needs for name in needs} == needs
    assert resolve("error_rate") == Metric("error_rate", "labels", error_rate)
    assert resolve(worst) == Metric("worst", "predictions", worst)
    assert resolve(functools.partial(worst)).name == "partial"
    assert resolve(nrmse) is resolve("nrmse")


@pytest.mark.parametrize(
    "wrong, near",
    [("nmrse", "nrmse"), ("RMSE", "rmse"), ("errorrate", "error_rate")],
)
def test_unknown_names_suggest_the_nearest(wrong, near):
    message = f"metric='{wrong}' is unknown; did you mean '{near}'[?] Expected one of nrmse, rmse"
    with pytest.raises(ValueError, match=message):
        resolve(wrong)


def test_unknown_metrics_list_the_names():
    with pytest.raises(ValueError, match="metric='kappa' is unknown. Expected one of nrmse,"):
        resolve("kappa")
    with pytest.raises(TypeError, match="metric=3: expected one of nrmse, rmse, mse, log_mse"):
        resolve(3)


def test_denominators():
    targets = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0], [2.0, 5.0], [7.0, 0.0]])
    scale = (4 + 0 + 1 + 1 + 16 + 4 * 1 + 16) / 5  # means 3 and 4
    valid = [((0, 2),), ((2, 4),), ((4, 5),), ((0, 1), (4, 5)), ((2, 3), (3, 4))]
    expected = [2, 2 * scale, scale, 18 + 12.5, 2 * scale]
    np.testing.assert_allclose(
        denominators(targets, padded(valid, len(targets))), expected, rtol=1e-14
    )


def test_denominators_of_single_rows_agree_with_nrmse():
    rng = np.random.default_rng(0)
    targets = 1e4 + rng.normal(size=(300, 2))
    scale = np.sum(np.var(targets, axis=0))
    found = denominators(targets, np.arange(300)[:, None])
    np.testing.assert_allclose(found, np.full(300, scale), rtol=1e-10)
    blocks = denominators(targets, np.arange(300).reshape(6, 50))
    for i, block in zip(range(0, 300, 50), blocks, strict=True):
        t, y = targets[i : i + 50], targets[i : i + 50] + 0.5
        assert np.sqrt(0.25 * t.size / block) == pytest.approx(nrmse(t, y), rel=1e-12)


def test_denominators_need_targets_that_vary():
    with pytest.raises(ValueError, match="constant over all n=9 rows.*use metric='rmse'"):
        denominators(np.full((9, 1), 0.3), np.arange(3)[None])


# --- intervals and distributions ------------------------------------------------------------------


def test_interval_score_is_lowest_for_the_true_quantiles():
    t = np.random.default_rng(0).normal(size=20000)
    ones = np.ones_like(t)
    score = {q: metrics.interval_score(t, -q * ones, q * ones, 0.9) for q in (1.2, 1.645, 2.2)}
    assert score[1.645] < min(score[1.2], score[2.2])
    plain = np.mean([3.29 + 20 * max(0, abs(v) - 1.645) for v in t])
    assert score[1.645] == pytest.approx(plain)
    with pytest.raises(ValueError, match="level=1 is not allowed"):
        metrics.interval_score(t, t, t, 1)
    with pytest.raises(ValueError, match="same shape"):
        metrics.interval_score(t, t[1:], t, 0.9)


def test_crps_of_a_normal_distribution():
    """Known in closed form: at the mean, ``sigma (sqrt(2) - 1) / sqrt(pi)``."""
    from types import SimpleNamespace

    from scipy import stats

    levels = np.arange(0.02, 1, 0.02)
    lower = {level: np.full(3, stats.norm.ppf((1 - level) / 2)) for level in levels}
    upper = {level: -low for level, low in lower.items()}
    forecast = SimpleNamespace(mean=np.zeros(3), lower=lower, upper=upper)
    at = np.array([0.0, 1.0, -2.5])
    exact = at * (2 * stats.norm.cdf(at) - 1) + 2 * stats.norm.pdf(at) - 1 / np.sqrt(np.pi)
    assert metrics.crps(at, forecast) == pytest.approx(exact.mean(), rel=2e-2)
    assert exact[0] == pytest.approx((np.sqrt(2) - 1) / np.sqrt(np.pi))
    with pytest.raises(TypeError, match="intervals at several levels"):
        metrics.crps(at, at)


def test_accuracy_is_what_the_error_rate_leaves():
    true, predicted = ["a", "b", "b", "a", "c"], ["a", "b", "a", "a", "b"]
    assert metrics.accuracy(true, predicted) == pytest.approx(0.6)
    known = resolve("accuracy")
    assert resolve(metrics.accuracy) is known
    assert known.finish(np.array([2.0]), 5, 3, None) == pytest.approx([0.6])
    assert known.higher
    assert known.cost(0.9) < known.cost(0.6)
