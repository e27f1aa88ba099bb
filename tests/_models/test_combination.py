"""Members together: weights by errors, no look ahead, nothing that runs away."""

import numpy as np
import pytest

from echofold._models.combination import (
    FLATTERED,
    NETWORKS,
    POOLED,
    RULES,
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


def past_of(names, y=Y, steps=6):
    rows = STARTS[:, None] + np.arange(steps)
    return Past(rows, y[rows], forecasts_of(names, y, STARTS, lambda _: (6,), steps), len(STARTS))


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
    same = forecasts_of(["theta", "theta"], Y, STARTS, lambda _: (6,), 6)
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
    here, there = (forecasts_of([name], one, starts, lambda _: (6,), 6) for one in (Y, other))
    np.testing.assert_allclose(here, there, rtol=1e-9)


def test_the_weights_of_a_stretch_are_those_of_the_others():
    names = ["exponential smoothing", "theta", "blend"]
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
    whole = forecasts_of(["drift"], line, np.array([30]), lambda _: (), 7)[0, 0]
    np.testing.assert_allclose(whole, np.arange(30, 37))
    cut = forecasts_of(["drift"], gone, np.array([34]), lambda _: (), 3)[0, 0]
    np.testing.assert_allclose(cut, np.arange(34, 37))


def test_demand_that_comes_now_and_then():
    demand = np.where(np.arange(40) % 3, 0.0, 5.0)
    assert is_intermittent(demand) and not is_intermittent(demand - 1)
    assert not is_intermittent(np.zeros(9)) and not is_intermittent(Y)
    assert set(priors_for(demand, False, {})) == {"mean", "intermittent demand", "smoothing"}
    names = list(priors_for(demand, False, {}))
    ahead = forecasts_of(names, demand, np.array([40]), lambda _: (), 3)[:, 0]
    np.testing.assert_allclose(ahead, 5 / 3, rtol=0.35)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e150])
def test_values_of_any_size(size):
    names = list(RULES)
    usual = forecasts_of(names, Y, STARTS, lambda _: (6,), 6)
    np.testing.assert_allclose(
        forecasts_of(names, size * Y, STARTS, lambda _: (6,), 6), size * usual, rtol=1e-6
    )
