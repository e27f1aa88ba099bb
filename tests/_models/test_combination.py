"""Members together: weights by errors, no look ahead, nothing that runs away."""

import numpy as np
import pytest

from echofold._models.combination import (
    FLATTERED,
    NETWORKS,
    POOLED,
    RULES,
    Asked,
    Past,
    forecasts_of,
    is_intermittent,
    mixed,
    network_share,
    priors_for,
    weights_of,
)

RNG = np.random.RandomState(0)
Y = 50 + 6 * np.sin(np.arange(60) * np.pi / 3) + RNG.normal(size=60)
STARTS = np.array([14, 20, 26, 32, 38, 44, 50])


def said(names, y=Y, starts=STARTS, seasons=(6,), steps=6):
    """Forecasts (members, starts, steps) of one series."""
    return forecasts_of([Asked(names, y, starts, lambda _: seasons)], steps)[0]


def past_of(names, y=Y, steps=6):
    rows = STARTS[:, None] + np.arange(steps)
    return Past(rows, y[rows], said(names, y, steps=steps), len(STARTS))


def test_weights_are_priors_times_a_power_of_errors():
    priors = np.array([0.2, 0.8])
    errors = np.array([[1.0, 3.0], [2.0, 2.0]])  # relative to the median: 1/2 and 3/2, 1 and 1
    raw = priors * np.array([0.75, 1.25]) ** (-6 * 4 / 7)
    np.testing.assert_allclose(weights_of(errors, priors, 4), raw / raw.sum())
    np.testing.assert_allclose(weights_of(errors[:0], priors, 4), priors)
    np.testing.assert_allclose(weights_of(np.full((3, 2), np.nan), priors, 4), priors)
    np.testing.assert_allclose(weights_of(np.zeros((3, 2)), priors, 4), priors)
    lost = weights_of(np.array([[1.0, np.inf, 1.0]]), np.full(3, 1 / 3), 4)
    assert lost[1] < 1e-3


def test_networks_are_believed_less_than_their_errors_say():
    names = (NETWORKS, "theta")
    same = said(["theta", "theta"])
    rows = STARTS[:, None] + np.arange(6)
    weights = Past(rows, Y[rows], same, 7).weights(dict.fromkeys(names, 0.5))
    assert weights[1] / weights[0] == pytest.approx(FLATTERED ** (6 * 7 / 10))


def test_the_share_of_networks_grows_with_length():
    shares = [network_share(length) for length in (1, 35, 50, 100, 1000, 10**6)]
    assert shares[:2] == [0, 0] and shares == sorted(shares) and shares[-1] == 0.9
    for own in ({}, {NETWORKS: 0.3}, {POOLED: 0.8}):
        for seasonal in (False, True):
            for once in (False, True):
                priors = priors_for(Y, seasonal, own, once)
                assert sum(priors.values()) == pytest.approx(1)
                assert own.items() <= priors.items()


@pytest.mark.parametrize("name", RULES)
def test_a_forecast_knows_nothing_of_what_follows(name):
    other = Y.copy()
    other[26:] = RNG.normal(size=34) * 1000 + 50
    starts = np.array([14, 20, 26])
    here, there = (said([name], one, starts) for one in (Y, other))
    np.testing.assert_allclose(here, there, rtol=1e-9)


def test_the_weights_of_a_stretch_are_those_of_the_others():
    names = ["exponential smoothing", "theta", "drift"]
    priors = dict.fromkeys(names, 1 / 3)
    past = past_of(names)
    before = past.combined(Y, priors, np.array([-np.inf, np.inf]))
    truth = past.truth.copy()
    truth[3] += 40  # of which only the weights of other stretches know
    after = Past(past.rows, truth, past.outputs, past.runs)
    after = after.combined(Y, priors, np.array([-np.inf, np.inf]))
    np.testing.assert_array_equal(before[3], after[3])
    assert (before[0] != after[0]).any()
    plain = weights_of(np.delete(past.errors, 3, axis=0), np.full(3, 1 / 3), 6)
    np.testing.assert_allclose(before[3], plain @ past.outputs[:, 3])


def test_members_that_run_away_are_left_out():
    span, weights = np.array([0.0, 10.0]), np.array([0.5, 0.25, 0.25])
    forecasts = np.array([[5.0, 99.0], [4.0, 4.0], [8.0, np.inf]])
    assert mixed(forecasts, weights, span).tolist() == [4.0, 4.0]
    assert mixed(forecasts[[0, 2]], weights[:2], span).tolist() == [5.0, 20.0]  # all of them do


def test_forecasts_go_on_from_the_last_value_that_is_known():
    line = np.arange(30.0)
    gone = np.append(line, [np.nan] * 4)
    whole = said(["drift"], line, np.array([30]), (), 7)[0, 0]
    np.testing.assert_allclose(whole, np.arange(30, 37))
    cut = said(["drift"], gone, np.array([34]), (), 3)[0, 0]
    np.testing.assert_allclose(cut, np.arange(34, 37))


def test_demand_that_comes_now_and_then():
    demand = np.where(np.arange(40) % 3, 0.0, 5.0)
    assert is_intermittent(demand) and not is_intermittent(demand - 1)
    assert not is_intermittent(np.zeros(9)) and not is_intermittent(Y)
    assert set(priors_for(demand, False, {})) == {"mean", "intermittent demand", "smoothing"}
    names = list(priors_for(demand, False, {}))
    ahead = said(names, demand, np.array([40]), (), 3)[:, 0]
    np.testing.assert_allclose(ahead, 5 / 3, rtol=0.35)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e150])
def test_values_of_any_size(size):
    names = list(RULES)
    np.testing.assert_allclose(said(names, size * Y), size * said(names), rtol=1e-6)


@pytest.mark.parametrize("name", RULES)
def test_series_side_by_side_are_forecast_as_alone(name):
    several = []
    for place, seasons in enumerate([(6,), (), (6, 30), (4,), (6,), (12,), (30,), (6,)]):
        y = Y[: 60 - 7 * place].copy()
        if place in (1, 4):
            y -= 50  # without logarithms; or with, at the first starts alone
        if place == 5:
            y[-3:] = np.nan
        starts = np.arange(len(y), 8, -6)[::-1]
        once = 20 if place == 3 else None
        members = [name, "last season"] if once else [name]
        several.append(Asked(members, y, starts, lambda row, own=seasons: own, once))
    together = forecasts_of(several, 6)
    for one, found in zip(several, together, strict=True):
        np.testing.assert_allclose(found, forecasts_of([one], 6)[0], rtol=1e-9)
