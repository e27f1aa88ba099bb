"""Seasons found in values: the right one, or none."""

import numpy as np
import pytest
from scipy.signal import lfilter

from echofold._data.season import LATEST, detected_season

PATTERNS = {
    "sine": lambda s: np.sin(2 * np.pi * np.arange(s) / s),
    "sawtooth": lambda s: np.arange(s) / s,
    "square": lambda s: np.where(np.arange(s) < s // 2, 1.0, -1.0),
    "spikes": lambda s: (np.arange(s) == 2) * 1.0,
    "any": lambda s: np.random.RandomState(s).normal(size=s),
    "half": lambda s: PATTERNS["sine"](s) + 1.5 * np.sin(4 * np.pi * np.arange(s) / s),
}
LENGTHS = [(4, 8), (7, 6), (12, 6), (12, 20), (24, 10), (48, 20), (52, 10)]


def repeated(pattern, season, periods, noise, seed):
    rng = np.random.RandomState(seed)
    values = np.tile(PATTERNS[pattern](season), periods + 1)[: season * periods + seed % season]
    return values / values.std() + noise * rng.normal(size=len(values))


def autoregressive(seed, count, *factors):
    noise = np.random.RandomState(seed).normal(size=count + 198)
    return lfilter([1.0], [1.0, *(-f for f in factors)], noise)[198:]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("season", "periods"), LENGTHS)
def test_any_pattern_is_found_at_its_own_length(pattern, season, periods):
    """Neither a half nor a double of it, whatever the trend."""
    for seed in range(3):
        values = repeated(pattern, season, periods, 0.1, seed)
        t = np.arange(len(values))
        walk = np.random.RandomState(seed).normal(size=len(t)).cumsum()
        for trend in (0 * t, 0.1 * t, -0.001 * t**2, 0.02 * walk):
            assert detected_season(values + trend) == season
        assert detected_season(np.exp(0.02 * t) * (5 + values)) == season


@pytest.mark.parametrize("season", [4, 7, 12])
def test_three_periods_are_enough_if_they_are_clear_and_two_are_not(season):
    values = repeated("any", season, 3, 0.02, 0)
    assert detected_season(values) == season
    assert detected_season(values[: 3 * season - 1]) != season


def test_the_noise_may_be_nearly_as_strong():
    found = [detected_season(repeated("any", 12, 25, 0.9, seed)) for seed in range(20)]
    assert found.count(12) >= 19
    assert set(found) <= {12, None}


def test_of_days_and_weeks_the_days_are_found():
    t = np.arange(24 * 7 * 8)
    values = np.sin(2 * np.pi * t / 24) + 0.5 * (t // 24 % 7 >= 5)
    assert detected_season(values + 0.1 * np.random.RandomState(0).normal(size=len(t))) == 24


@pytest.mark.parametrize(
    "count", [20, 60, 400, *(pytest.param(n, marks=pytest.mark.slow) for n in (36, 150))]
)
def test_noise_has_no_season(count):
    found = [detected_season(np.random.RandomState(seed).normal(size=count)) for seed in range(200)]
    assert sum(one is not None for one in found) <= 2  # of a hundred, one
    uneven = [np.random.RandomState(seed).standard_t(3, size=count) for seed in range(100)]
    assert sum(detected_season(values) is not None for values in uneven) <= 1


@pytest.mark.parametrize("count", [40, 120, 400])
@pytest.mark.parametrize("factors", [(1.0,), (0.9,), (0.5,), (-0.7,), (1.5, -0.5), (0.5, 0.4)])
def test_walks_and_smooth_noise_have_no_season(count, factors):
    found = [detected_season(autoregressive(seed, count, *factors)) for seed in range(60)]
    assert sum(one is not None for one in found) <= 1


def test_cycles_of_varying_length_are_no_seasons():
    found = []
    for seed in range(60):
        rng = np.random.RandomState(seed)
        cycles = [np.sin(2 * np.pi * np.arange(k) / k) for k in rng.randint(8, 14, size=20)]
        found.append(detected_season(np.concatenate(cycles)))
    assert sum(one is not None for one in found) <= 2
    swinging = [autoregressive(seed, 200, 1.9 * np.cos(2 * np.pi / 10), -0.9) for seed in range(60)]
    assert sum(detected_season(values) is not None for values in swinging) <= 2


def test_a_cycle_between_whole_lengths_is_not_reported_as_two():
    """Of cycles of 9.6 steps, two make nearly 19, as of the lynx."""
    rng = np.random.RandomState(0)
    values = np.sin(2 * np.pi * np.arange(114) / 9.5) + 0.2 * rng.normal(size=114)
    assert detected_season(values) is None


def test_what_alternates_is_no_season():
    found = [detected_season(autoregressive(seed, 100, -0.95)) for seed in range(50)]
    assert sum(one is not None for one in found) <= 1
    assert detected_season(np.tile([1.0, -1.0], 50)) is None


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [1, 2, 3], np.ones(50), np.arange(100), np.arange(50.0) ** 2, np.eye(1, 80)[0]],
)
def test_nothing_to_repeat(values):
    assert detected_season(values) is None


def test_units_and_offsets_do_not_matter():
    values = repeated("any", 12, 8, 0.3, 1)
    for unit, offset in ((1e90, 0), (1e-90, 0), (1, 1e6), (-3, 7)):
        assert detected_season(unit * values + offset) == 12


def test_long_series():
    values = repeated("any", 1440, 80, 0.5, 0)
    assert len(values) > 2 * LATEST
    assert detected_season(values) == 1440
    assert detected_season(np.random.RandomState(0).normal(size=100_000).cumsum()) is None
