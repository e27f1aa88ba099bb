"""Plain forecasts, public: numbers by hand, missing values, seasons that were not seen."""

import numpy as np
import pandas as pd
import pytest

from echofold import baselines

Y = np.array([1.0, 5.0, 2.0, 7.0, 3.0, 9.0])
EACH = [getattr(baselines, name) for name in baselines.__all__]


@pytest.mark.parametrize(
    ("name", "season", "expected"),
    [
        ("last_value", 1, [9, 9, 9]),
        ("mean", 1, [4.5, 4.5, 4.5]),
        ("drift", 1, [10.6, 12.2, 13.8]),
        ("seasonal_naive", 2, [3, 9, 3]),
        ("seasonal_mean", 2, [2, 7, 2]),
        ("seasonal_mean", 4, [2, 7, 3]),  # one season alone is there whole
        ("blend", 1, [9.8, 10.6, 11.4]),
        # the last three changes by season are 7 - 5, 3 - 2 and 9 - 7, half of their mean is 5 / 6
        ("blend", 2, [3 + 5 / 6, 9 + 5 / 6, 3 + 10 / 6]),
    ],
)
def test_by_hand(name, season, expected):
    np.testing.assert_allclose(getattr(baselines, name)(Y, 3, season), expected)


@pytest.mark.parametrize("rule", EACH)
def test_a_season_that_was_not_seen_whole_counts_as_none(rule):
    np.testing.assert_array_equal(rule(Y, 4, 7), rule(Y, 4))
    np.testing.assert_array_equal(rule(pd.Series(Y), 4), rule(Y.tolist(), 4))
    assert rule([2.0], 3).tolist() == [2.0, 2.0, 2.0]


def test_what_is_missing_is_the_last_known_or_that_of_the_season():
    holes = np.array([1.0, np.nan, 2.0, 7.0, np.nan, np.nan])
    assert baselines.last_value(holes, 1) == [7.0]
    assert baselines.mean(holes, 1) == pytest.approx(10 / 3)  # of what is known
    assert baselines.seasonal_naive(holes, 2, 2).tolist() == [2.0, 7.0]


@pytest.mark.parametrize("rule", EACH)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((Y, 0), "horizon=0"),
        ((Y, 2, 0), "season=0"),
        ((np.ones((4, 2)), 2), "2 columns"),
        (([np.nan, np.nan], 2), "no value"),
        (([], 2), "empty"),
    ],
)
def test_errors(rule, given, words):
    with pytest.raises(ValueError, match=words):
        rule(*given)
