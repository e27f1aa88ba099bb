"""Prediction intervals: what conformal half widths are, and how often they cover."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import RIDGE, SERIES, searched

from echofold import ESNForecaster, KFold
from echofold._models.intervals import half_widths


def residuals(count, steps=1, outputs=1, seed=0):
    return np.random.default_rng(seed).standard_t(4, size=(count, steps, outputs))


# --- half widths ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "level", "rank"),
    [(9, 0.9, 9), (10, 0.9, 10), (19, 0.9, 18), (19, 0.95, 19), (99, 0.9, 90), (3, 0.5, 2),
     (19, 0.55, 11), (1, 0.5, 1), (20, 0.05, 2), (29, 0.7, 21)],
)  # fmt: skip
def test_the_half_width_is_an_order_statistic(count, level, rank):
    size = np.arange(1.0, count + 1)
    signed = np.where(np.arange(count) % 2, size, -size)
    shuffled = np.random.default_rng(0).permutation(signed)
    assert half_widths(shuffled.reshape(-1, 1, 1), 1, level)[0, 0] == rank


def test_every_step_and_output_has_its_own():
    found = residuals(40, 3, 2)
    widths = half_widths(found, 3, 0.8)
    assert widths.shape == (3, 2)
    for step in range(3):
        for output in range(2):
            expected = np.sort(np.abs(found[:, step, output]))[33 - 1]
            assert widths[step, output] == expected
    assert len(np.unique(widths)) == 6


def test_wider_for_higher_levels_and_in_proportion_to_the_residuals():
    found = residuals(50, 4)
    levels = [half_widths(found, 4, level) for level in (0.5, 0.8, 0.9, 0.95)]
    assert all((a <= b).all() for a, b in zip(levels, levels[1:], strict=False))
    assert (levels[0] < levels[-1]).all()
    np.testing.assert_allclose(half_widths(-7 * found, 4, 0.8), 7 * levels[1])
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_array_equal(half_widths(found[order], 4, 0.8), levels[1])


def test_few_residuals_are_pooled_with_those_of_neighbouring_steps():
    found = np.arange(1.0, 16).reshape(3, 5, 1)  # 3 forecasts of 5 steps
    # Nine residuals are needed at 0.9: those of three steps, and the ninth of nine is the largest.
    pooled = [found[:, :3], found[:, :3], found[:, 1:4], found[:, 2:], found[:, 2:]]
    assert half_widths(found, 5, 0.9)[:, 0].tolist() == [part.max() for part in pooled]
    # Enough at every step: nothing is pooled.
    assert half_widths(found, 5, 0.75)[:, 0].tolist() == found.max(axis=0)[:, 0].tolist()


def test_no_more_is_pooled_than_needed():
    near = np.ones((5, 8, 1))
    near[:, 6:] = 100.0
    assert half_widths(near, 8, 0.8)[:6, 0].tolist() == [1.0] * 6  # five suffice
    assert half_widths(near, 8, 0.9)[:5, 0].tolist() == [1.0] * 5  # ten: one neighbour each side
    assert half_widths(near, 8, 0.9)[5, 0] == 100.0


def test_missing_residuals_of_shorter_intervals_are_left_out():
    found = residuals(12, 3)
    found[:6, 2] = np.nan
    widths = half_widths(found, 3, 0.8)
    assert widths[2, 0] == np.sort(np.abs(found[6:, 2, 0]))[6 - 1]
    assert widths[1, 0] == half_widths(found[:, :2], 2, 0.8)[1, 0]


def test_beyond_the_validated_steps_the_widest_counts():
    found = residuals(40, 3, 2) * np.array([1, 5, 2])[:, None]
    widths = half_widths(found, 7, 0.9)
    assert widths.shape == (7, 2)
    np.testing.assert_array_equal(widths[:3], half_widths(found, 3, 0.9))
    np.testing.assert_array_equal(widths[3:], np.tile(widths[:3].max(axis=0), (4, 1)))


def test_too_few_residuals_altogether_give_no_finite_width():
    assert half_widths(np.ones((2, 3, 1)), 3, 0.9).tolist() == [[np.inf]] * 3
    assert half_widths(np.ones((3, 3, 1)), 3, 0.9).tolist() == [[1.0]] * 3


def test_diverged_residuals_count_as_the_largest():
    found = np.ones((20, 1, 1))
    found[0] = -np.inf
    assert half_widths(found, 1, 0.9)[0, 0] == 1
    found[:3] = np.inf
    assert half_widths(found, 1, 0.9)[0, 0] == np.inf


def widened_by_one(residuals, horizon, level):
    """Half widths by taking along one more step on either side until there are enough."""
    size = np.abs(residuals)
    needed = math.ceil((1 / (1 - level)) * (1 - 1e-12)) - 1
    steps = min(horizon, size.shape[1])
    found = np.empty((horizon, size.shape[2]))
    for step, output in np.ndindex(steps, size.shape[2]):
        for reach in range(size.shape[1]):
            near = size[:, max(0, step - reach) : step + reach + 1, output]
            near = np.sort(near[~np.isnan(near)])
            if len(near) >= needed:
                break
        rank = math.ceil((len(near) + 1) * level * (1 - 1e-12))
        found[step, output] = near[rank - 1] if rank <= len(near) else np.inf
    found[steps:] = found[:steps].max(axis=0)
    return found


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.01, 0.9999), st.sampled_from([0, 0.3, 0.9]))
def test_neighbours_are_found_as_by_widening_one_by_one(seed, level, missing):
    rng = np.random.default_rng(seed)
    found = rng.standard_t(2, size=rng.integers(1, [20, 30, 3]))
    if seed % 2:
        found = found.round()  # ties
    found[rng.random(found.shape) < missing] = np.nan
    found[rng.random(found.shape) < missing / 3] = np.inf
    horizon = int(rng.integers(1, found.shape[1] + 4))
    np.testing.assert_array_equal(
        half_widths(found, horizon, level), widened_by_one(found, horizon, level)
    )


def test_the_work_does_not_grow_with_the_square_of_the_steps(monkeypatch):
    looks, isnan = [], np.isnan
    monkeypatch.setattr(np, "isnan", lambda array: looks.append(array.size) or isnan(array))
    found = residuals(1, 500)
    widths = half_widths(found, 500, 0.9999)  # 9,999 residuals are needed
    assert (widths == np.inf).all()
    assert sum(looks) <= 3 * found.size  # one by one: 94 million


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_coverage_of_exchangeable_residuals(level):
    """Theory: between ``level`` and ``level + 1 / (count + 1)``, on the average."""
    count, repeats = 24, 4000
    drawn = residuals(count + 1, repeats)[:, :, 0]
    widths = half_widths(drawn[:count, :, None], repeats, level)[:, 0]
    covered = (np.abs(drawn[count]) <= widths).mean()
    spread = 4 * np.sqrt(level * (1 - level) / repeats)
    assert level - spread <= covered <= level + 1 / (count + 1) + spread


# --- of a forecaster ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def search():
    return searched(space={"leak_rate": [0.3, 1.0], "ridge": RIDGE})


@pytest.mark.parametrize("horizon", [5, 36, 40])
def test_intervals_lie_around_the_forecast(search, horizon):
    model = search.best_estimator_
    mean, lower, upper = model.forecast(horizon, level=0.8)
    np.testing.assert_array_equal(mean, model.forecast(horizon))
    widths = half_widths(model.residuals_, horizon, 0.8)[:, 0]
    np.testing.assert_allclose(upper - mean, widths, rtol=1e-12)
    np.testing.assert_allclose(mean - lower, widths, rtol=1e-12)
    assert np.isfinite(widths).all()
    assert (widths[36:] == widths[:36].max()).all()


def test_every_final_model_and_scheme_has_intervals():
    search = searched(space={"ridge": RIDGE}, cv={"CV": KFold(4), "more": KFold(8, valid=36)})
    for final in ("retrain", "average", "best", "weighted"):
        one, more = (search.finalize(final, scheme=name) for name in ("CV", "more"))
        assert (one.residuals_.shape, more.residuals_.shape) == ((4, 36, 1), (8, 36, 1))
        assert np.isfinite(more.forecast(36, level=0.5).upper).all()


def test_intervals_stay_when_the_model_moves_on(search):
    model = search.finalize("retrain")
    before = model.forecast(5, level=0.8)
    model.update(SERIES[:30])
    after = model.forecast(5, level=0.8)
    np.testing.assert_allclose(after.upper - after.mean, before.upper - before.mean, rtol=1e-9)
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


def test_a_single_residual_far_away_is_found():
    found = np.full((1, 10**6, 1), np.nan)
    found[0, -1] = -3.0
    assert half_widths(found, 2, 0.5).tolist() == [[3.0], [3.0]]
