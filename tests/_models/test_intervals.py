"""Prediction intervals: what their ends are made of, and how often they cover."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from searches import RIDGE, SERIES, searched

from echofold import Accumulative, EchofoldWarning, ESNForecaster, ESNSearchCV, KFold
from echofold._models.forecast import interval


def errors(count, steps=1, outputs=1, seed=0):
    return np.random.default_rng(seed).standard_t(4, size=(count, steps, outputs))


def never_falling(values, counts):
    """The closest never falling sequence, by pooling neighbours until none falls."""
    pools = []
    for value, count in zip(values, counts, strict=True):
        pools.append([value * count, count, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, weight, steps = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + weight, pools[-1][2] + steps]
    return np.concatenate([np.full(steps, total / weight) for total, weight, steps in pools])


def plain(errors, horizon, level, runs):
    """The definition, one output after the other."""
    low, high = np.empty((2, horizon, errors.shape[2]))
    for output in range(errors.shape[2]):
        columns = [step[np.isfinite(step)] for step in errors[:, :, output].T]
        while not len(columns[-1]):
            columns.pop()
        each = [np.sqrt(np.mean(step**2)) if len(step) else 0.0 for step in columns]
        typical = never_falling(each, [max(len(step), 1e-9) for step in columns])
        pooled = [
            (error / size, share)
            for step, size in zip(columns, typical, strict=True)
            for error in step
            for error, share in ((error, 1.0), (-error, min(1.0, 2.0 / runs)))
            if size > 0
        ]
        values, weights = np.array(sorted(pooled)).T if pooled else np.array([[0.0], [1.0]])
        middles = (np.cumsum(weights) - weights / 2) / weights.sum()
        upper = (1 + level) / 2
        ends = np.interp([1 - upper, 0.5, upper], middles, values)
        wider = stats.t.ppf(upper, max(runs, 2)) / stats.norm.ppf(upper)
        known, power = len(typical), 0.5
        if known > 1 and typical[0] > 0:  # the slope of logarithms by least squares, 1 at most
            slope = stats.linregress(np.log(1 + np.arange(known)), np.log(typical)).slope
            power = min(1.0, slope)
        more = [typical[-1] * (step / known) ** power for step in range(known + 1, horizon + 1)]
        ahead = np.append(typical, more)[:horizon]
        low[:, output] = ahead * (ends[1] + wider * (ends[0] - ends[1]))
        high[:, output] = ahead * (ends[1] + wider * (ends[2] - ends[1]))
    return low, high


# --- the ends -------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**31), st.floats(0.01, 0.9999), st.sampled_from([0, 0.3, 0.8]),
    st.integers(1, 40),
)  # fmt: skip
def test_ends_are_those_of_the_definition(seed, level, missing, runs):
    rng = np.random.default_rng(seed)
    found = rng.standard_t(2, size=rng.integers(1, [20, 30, 3])) + rng.normal()
    if seed % 2:
        found = found.round()  # ties, and steps without any error
    found[rng.random(found.shape) < missing] = np.nan
    found[rng.random(found.shape) < missing / 3] = np.inf
    found[0, 0] = 1.0  # some error is known
    horizon = int(rng.integers(1, found.shape[1] + 4))
    for got, expected in zip(
        interval(found, horizon, level, runs), plain(found, horizon, level, runs), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_errors_on_one_side_move_the_interval_to_that_side():
    found = np.abs(errors(200, 3))
    low, high = interval(found, 3, 0.9, runs=200)
    assert (low > 0).all() or (np.abs(low) < 0.1 * high).all()
    few_low, few_high = interval(found, 3, 0.9, runs=2)  # of two forecasts, both may err again
    np.testing.assert_allclose(few_low, -few_high)


def test_wider_for_higher_levels_fewer_forecasts_and_in_proportion():
    found = errors(50, 4)
    ends = [interval(found, 4, level, 50) for level in (0.5, 0.8, 0.9, 0.95, 0.999)]
    for (low, high), (lower, higher) in zip(ends, ends[1:], strict=False):
        assert (lower < low).all()
        assert (high < higher).all()
    for low, high in (interval(found, 4, 0.8, runs) for runs in (2, 5, 10)):
        assert (high - low > ends[1][1] - ends[1][0]).all()
    low, high = interval(-7 * found, 4, 0.8, 50)
    np.testing.assert_allclose(low, -7 * ends[1][1])
    np.testing.assert_allclose(high, -7 * ends[1][0])
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_allclose(interval(found[order], 4, 0.8, 50), ends[1])


def test_they_grow_with_the_errors_ahead_and_never_shrink():
    found = errors(400, 4) * np.array([1.0, 5.0, 2.0, 9.0])[:, None]
    low, high = interval(found, 6, 0.9, 400)
    assert (np.diff(high[:, 0]) >= 0).all()
    assert (np.diff(low[:, 0]) <= 0).all()
    assert high[0, 0] < high[1, 0] == high[2, 0] < high[3, 0] < high[4, 0] < high[5, 0]
    even = interval(np.ones((3, 4, 1)), 9, 0.9, 400)[1][:, 0]
    np.testing.assert_allclose(even, np.full(9, even[0]))  # errors that do not grow go on so
    walk = interval(np.ones((3, 1, 1)), 9, 0.9, 400)[1][:, 0]
    np.testing.assert_allclose(walk, walk[0] * np.sqrt(np.arange(1, 10)))


def test_they_are_finite_however_few_errors_there_are():
    low, high = interval(np.full((1, 1, 1), 2.0), 3, 0.9999, 1)
    assert np.isfinite([low, high]).all()
    assert (high == -low).all()
    exact = interval(np.zeros((4, 3, 1)), 5, 0.9, 4)
    np.testing.assert_array_equal(exact, np.zeros((2, 5, 1)))
    with pytest.raises(ValueError, match="no validation forecast is finite"):
        interval(np.full((3, 2, 1), np.inf), 2, 0.9, 3)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("steps", [1, 12])
def test_coverage_of_independent_errors(level, steps):
    drawn = errors(24 + 1, steps * 500).reshape(25, 500, steps, 1)
    covered = []
    for i in range(500):
        low, high = interval(drawn[:24, i], steps, level, 24)
        covered.append((drawn[24, i] >= low) & (drawn[24, i] <= high))
    assert level - 0.03 <= np.mean(covered) <= level + 0.05


# --- of a forecaster ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def search():
    return searched(space={"leak_rate": [0.3, 1.0], "ridge": RIDGE})


@pytest.mark.parametrize("horizon", [5, 36, 40])
def test_intervals_lie_around_the_forecast(search, horizon):
    model = search.best_estimator_
    with pytest.warns(EchofoldWarning, match="beyond step 36") if horizon > 36 else nullcontext():
        mean, lower, upper = model.forecast(horizon, level=0.8)
    np.testing.assert_array_equal(mean, model.forecast(horizon))
    low, high = interval(model.residuals_, horizon, 0.8, model.runs_)
    np.testing.assert_allclose(upper[0.8] - mean, high[:, 0], rtol=1e-12)
    np.testing.assert_allclose(lower[0.8] - mean, low[:, 0], rtol=1e-12)
    assert (np.diff(high[35:, 0]) > 0).all()


def test_every_final_model_and_scheme_has_intervals():
    search = searched(space={"ridge": RIDGE}, cv={"CV": KFold(4), "more": KFold(8, valid=36)})
    for final in ("retrain", "average", "best", "weighted"):
        one, more = (search.finalize(final, scheme=name) for name in ("CV", "more"))
        assert (one.residuals_.shape, more.residuals_.shape) == ((4, 36, 1), (8, 36, 1))
        assert np.isfinite(more.forecast(36, level=0.5).upper[0.5]).all()


def test_intervals_stay_when_the_model_moves_on(search):
    model = search.finalize("retrain")
    before = model.forecast(5, level=0.8)
    model.update(SERIES[:30])
    after = model.forecast(5, level=0.8)
    widths = [one.upper[0.8] - one.mean for one in (after, before)]
    np.testing.assert_allclose(*widths, rtol=1e-9)
    assert not np.allclose(after.mean, before.mean)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, "0.9", np.nan])
def test_levels_that_make_no_sense(search, level):
    with pytest.raises(
        ValueError, match=r"level=.* is not allowed: it must be a number in \(0, 1\)"
    ):
        search.forecast(3, level=level)


def test_a_plain_fit_has_no_intervals():
    with pytest.raises(ValueError, match="intervals come from ESNSearchCV"):
        ESNForecaster(12, random_state=0).fit(SERIES).forecast(3, level=0.9)


def test_several_levels_at_once(search):
    one, both = search.forecast(6, level=0.5), search.forecast(6, level=[0.9, 0.5])
    assert list(both.lower) == list(both.upper) == [0.5, 0.9]
    np.testing.assert_array_equal(both.lower[0.5], one.lower[0.5])
    np.testing.assert_array_equal(both.upper[0.5], one.upper[0.5])
    assert (both.upper[0.5] < both.upper[0.9]).all()
    np.testing.assert_array_equal(
        search.forecast(6, level=np.array(0.5)).lower[0.5], one.lower[0.5]
    )
    for wrong in ([], [0.5, 1.0], "0.9", [None], 1e-16, 1 - 1e-16):
        with pytest.raises(ValueError, match="level=.* is not allowed"):
            search.forecast(3, level=wrong)


@pytest.mark.parametrize(
    ("cv", "runs"),
    [(KFold(4), 4), (KFold(20, valid=36), 4), (Accumulative(20, valid=20), 4), (KFold(2), 2)],
)
def test_forecasts_that_overlap_count_less(cv, runs):
    assert searched(space={"ridge": RIDGE}, cv=cv).best_estimator_.runs_ == runs


def test_logarithms_have_intervals_of_factors():
    t = np.arange(120)
    y = np.exp(0.01 * t + 0.5 * np.sin(t) + 0.4 * np.random.default_rng(0).normal(size=120))
    options = {"cv": KFold(5), "metric": "rmse"}
    search = ESNSearchCV(
        ESNForecaster(10, log=True, random_state=0), {"ridge": [0.1, 1.0]}, **options
    ).fit(y)
    model = search.best_estimator_
    mean, lower, upper = search.forecast(12, level=0.99)
    low, high = interval(model.log_residuals_, 12, 0.99, model.runs_)
    np.testing.assert_allclose(lower[0.99], mean * np.exp(low[:, 0]))
    np.testing.assert_allclose(upper[0.99], mean * np.exp(high[:, 0]))
    assert (lower[0.99] > 0).all()
    outputs = search._winners.outputs(next(iter(search._results)))
    logs = np.log(outputs.truth) - np.log(outputs.outputs)
    np.testing.assert_allclose(model.log_residuals_, logs, rtol=1e-9, atol=1e-12)


def test_frames_of_forecasts(search):
    frame = search.forecast(4, level=[0.5, 0.9]).to_frame()
    assert list(frame) == ["forecast", "lower_50", "upper_50", "lower_90", "upper_90"]
    assert frame.shape == (4, 5)
    assert list(search.forecast(4, level=0.9).to_frame()) == ["forecast", "lower_90", "upper_90"]
    close = search.forecast(4, level=[0.99999, 0.999999]).to_frame()
    assert list(close)[1::2] == ["lower_99.999", "lower_99.9999"]
    days = pd.date_range("2024", periods=len(SERIES), freq="D")
    two = pd.DataFrame({"a": SERIES, "b": SERIES[::-1]}, index=days)
    search = ESNSearchCV(ESNForecaster(10, random_state=0), {"ridge": RIDGE}, cv=KFold(4))
    found = search.fit(two).forecast(3, level=0.8)
    frame = found.to_frame()
    assert frame.index.equals(found.mean.index)
    assert list(frame.columns) == [
        (name, part) for name in ("a", "b") for part in ("forecast", "lower_80", "upper_80")
    ]
    pd.testing.assert_series_equal(frame["b", "upper_80"], found.upper[0.8]["b"], check_names=False)


def test_frames_of_polars_forecasts(monkeypatch):
    import polars as pl

    monkeypatch.setattr(pl.DataFrame, "to_pandas", None)  # which needs another package
    two = pl.DataFrame({"a": SERIES, "b": SERIES[::-1]})
    search = ESNSearchCV(ESNForecaster(10, random_state=0), {"ridge": RIDGE}, cv=KFold(4))
    found = search.fit(two).forecast(3, level=0.8)
    np.testing.assert_array_equal(
        found.to_frame()["b", "upper_80"], found.upper[0.8]["b"].to_numpy()
    )
