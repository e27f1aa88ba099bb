"""Exponential smoothing against a plain transcription of its definition; seasons; demand."""

import numpy as np
import pytest

from echofold._models.smoothing import (
    CALM,
    LIVELY,
    TRENDED,
    Smoothing,
    _forecasts,
    _grid,
    adjusted,
    croston,
    levels_read,
    seasonal_indices,
    smoothed,
    theta,
)

RNG = np.random.RandomState(0)
MONTHS = 50 + 0.4 * np.arange(40) + 8 * np.sin(np.arange(40) * np.pi / 2) + RNG.normal(size=40)


def of_one(y, starts, *given):
    """What smoothing says of a single series."""
    return smoothed([(y, starts)], *given)[0]


def errors_from(z, start, shares, season):
    """One-step errors and forecasts of one column, by the recursion as it is told."""
    a, b, damping, g, seasonal, trended = shares
    level, trend = start[0], start[1] * trended
    pattern = [one * seasonal for one in start[2:]] or [0.0]
    errors = []
    for t, value in enumerate(z):
        trend *= damping
        level += trend
        error = value - level - pattern[t % season]
        errors.append(error)
        level, trend = level + a * error, trend + b * error
        pattern[t % season] += g * error
    ahead = []
    for step in range(6):
        trend *= damping
        level += trend
        ahead.append(level + pattern[(len(z) + step) % season])
    return np.array(errors), np.array(ahead)


@pytest.mark.parametrize("season", [1, 4])
def test_columns_are_those_of_the_definition(season):
    """The mean start under its prior, by a least squares problem with the prior as rows of it."""
    z, shares = MONTHS[:24], _grid(season, CALM.trends)
    kind = CALM._replace(logs=False)
    ((_, _, forecasts, costs),) = _forecasts([(z, np.array([24]))], season, 6, shares, kind)
    size = 2 + (season if season > 1 else 0)
    changes = [np.abs(z[lag:] - z[:-lag]).mean() for lag in (1, season)]
    step, spread = min(changes), z.std()
    prior = np.array([np.sqrt(9 * spread**2 + step**2), 0.6 * step, *[spread] * (size - 2)]) / step
    mean = np.array([z[: max(3, season)].mean(), *[0.0] * (size - 1)])
    for column in range(0, len(shares), 37):
        rest = errors_from(z, np.zeros(size), shares[column], season)[0]
        units = np.eye(size)
        effects = np.array([errors_from(z, one, shares[column], season)[0] - rest for one in units])
        rows = np.vstack([effects.T, np.diag(1 / prior)])
        s = np.linalg.lstsq(rows, -np.append(rest, -mean / prior), rcond=None)[0]
        errors, ahead = errors_from(z, s, shares[column], season)
        np.testing.assert_allclose(forecasts[:, column], ahead, rtol=1e-8)
        left = (errors**2).sum() + (((s - mean) / prior) ** 2).sum()
        logdet = np.linalg.slogdet(rows.T @ rows)[1] + 2 * np.log(prior).sum()
        cost = 24 * np.log(left / 24) + logdet + TRENDED * shares[column, 5]
        assert costs[column] == pytest.approx(cost, rel=1e-8)


@pytest.mark.parametrize("kind", [CALM, LIVELY, Smoothing(CALM.trends, 1.0, False)])
@pytest.mark.parametrize("season", [1, 4])
def test_one_pass_is_a_pass_for_each_start(kind, season):
    starts = np.array([1, 2, 3, 5, 6, 9, 30, 40])
    together = of_one(MONTHS, starts, season, 5, kind)
    apart = [of_one(MONTHS[:row], np.array([row]), season, 5, kind)[0] for row in starts]
    np.testing.assert_allclose(together, apart, rtol=1e-9)


def test_logarithms_are_taken_up_to_the_first_value_that_has_none():
    y = np.append(np.exp(MONTHS[:30] / 20), [0.0, 1.0, 2.0])
    starts = np.array([20, 30, 33])
    together = of_one(y, starts, 1, 3)
    np.testing.assert_allclose(together[1], of_one(y[:30], np.array([30]), 1, 3)[0], rtol=1e-9)
    np.testing.assert_allclose(
        together[2],
        of_one(y, np.array([33]), 1, 3, CALM._replace(logs=False))[0],
        rtol=1e-9,
    )


def test_a_strong_season_is_followed_from_two_of_them_on():
    season = np.tile([10.0, 40.0, 5.0, 20.0], 6)
    for rows in (8, 12, 20):
        ahead = of_one(season[:rows], np.array([rows]), 4, 4)[0]
        assert np.abs(ahead - season[:4]).max() < 2, rows


def test_a_line_goes_on_and_a_constant_stays():
    line = of_one(np.arange(30.0), np.array([30]), 1, 3)[0]
    np.testing.assert_allclose(line, [30, 31, 32], rtol=0.02)
    np.testing.assert_allclose(of_one(np.full(20, 7.0), np.array([20]), 1, 3)[0], 7)


def test_seasons_are_taken_off_and_put_back():
    pattern = np.tile([1.2, 0.8, 1.0], 10)
    rest = adjusted(np.exp(np.arange(30) / 30) * pattern, (3,))
    np.testing.assert_allclose(np.diff(np.log(rest.values)), 1 / 30, atol=0.02)
    np.testing.assert_allclose(rest.restored(np.ones(3)), pattern[:3], rtol=0.03)
    assert not seasonal_indices(np.arange(5.0), 3).any()  # seen once only
    noise = RNG.normal(size=48)
    assert np.abs(seasonal_indices(noise, 12)).max() < 0.5 * np.abs(noise).max()


def test_series_side_by_side_are_each_as_alone():
    lengths = [3, 100, 1, 9, 40, 700, 2, 10, 100, 64]
    each = [RNG.normal(size=rows).cumsum() for rows in lengths]
    each = [np.exp(y / 10) if place % 2 else y for place, y in enumerate(each)]
    for y, found in zip(each, theta(each, 5), strict=True):
        y, best = y[-480:], (np.inf, y[-1], 0.0)
        slope = np.polyfit(np.arange(len(y)), y, 1)[0] / 2 if len(y) > 2 else 0.0
        for share in np.linspace(0.05, 1, 20) if len(y) > 2 else ():
            level, cost = y[0], 0.0
            for value in y[1:]:
                error = value - level - slope
                level, cost = level + slope + share * error, cost + error**2
            best = min(best, (cost, level, slope))
        np.testing.assert_allclose(found, best[1] + best[2] * np.arange(1, 6), rtol=1e-12)
    for y, found in zip(each, levels_read(each, 5), strict=True):
        np.testing.assert_array_equal(found, levels_read([y], 5)[0])
    assert theta([], 5) == levels_read([], 5) == []


def test_theta_levels_and_demand_by_hand():
    line = theta([np.arange(20.0)], 4)[0]
    np.testing.assert_allclose(np.diff(line), 0.5)  # half the slope of the line
    assert theta([np.array([3.0, 4.0])], 2)[0].tolist() == [4.0, 4.0]
    walk = RNG.normal(size=200).cumsum()
    assert np.abs(levels_read([walk], 3)[0] - walk[-1]).max() < 1.0
    assert (levels_read([np.exp(walk / 10)], 3)[0] > 0).all()
    for rows in range(1, 20):  # before which there is little to learn
        assert np.isfinite(levels_read([walk[:rows]], 30)[0]).all()
    # sizes 4 and 2 after 2 and 3 steps: size 4 - 0.2, distance 2.5 - 0.05 + 0.1 * 0.55
    expected = 0.95 * 3.8 / (0.9 * (0.9 * 2.5 + 0.1 * 2) + 0.1 * 3)
    np.testing.assert_allclose(croston(np.array([0, 4.0, 0, 0, 2.0]), 2), expected)
    assert croston(np.zeros(5), 2).tolist() == [0.0, 0.0]
