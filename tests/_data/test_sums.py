"""Sums of series by date, at all levels that ids tell apart."""

import numpy as np
import pandas as pd
import pytest

from echofold._data.sums import check_ids, levels_of, sums_of

MONTHS = pd.date_range("2020-01-01", periods=24, freq="MS", name="month")


def series(first=0, end=24, seed=0):
    values = np.random.default_rng(seed).integers(5, 9, 24).astype(float)
    return pd.Series(values, MONTHS, name="sold")[first:end]


def added(y, called=("shop", "item"), horizon=6, season=None):
    ids = {name: name if isinstance(name, tuple) else (name,) for name in y}
    return sums_of(y, ids, called, lambda own: own, horizon, lambda _: season)


def test_levels():
    ids = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    found = levels_of(ids, ["shop", "item"])
    assert [level for level, _ in found] == ["total", "shop", "item"]
    assert [set(own) for _, own in found] == [
        {("(all)", "(all)")},
        {("a", "(all)"), ("b", "(all)")},
        {("(all)", "x"), ("(all)", "y")},
    ]
    assert [own[2] for _, own in found] == [("(all)",) * 2, ("b", "(all)"), ("(all)", "x")]
    assert [level for level, _ in levels_of([("a",), ("b",)], ["shop"])] == ["total"]
    assert [level for level, _ in levels_of(ids, ["total", "x"])] == ["(all)", "total", "x"]


@pytest.mark.parametrize(
    ("ids", "levels"),
    [
        # A shop is in one region: by shop alone is by region and shop.
        ([(r, s, i) for r, s in ("pa", "pb", "qc") for i in "xy"],
         ["total", "region", "item", "region / shop", "region / item"]),
        # One region: the total is the total, and not "by region".
        ([("p", s, i) for s in "ab" for i in "xy"], ["total", "region / shop", "region / item"]),
        # An item is in one shop: by item is the series themselves.
        ([("p", "a", "x"), ("p", "a", "y"), ("q", "b", "z")], ["total", "region / shop"]),
    ],
)  # fmt: skip
def test_levels_that_split_alike_are_one(ids, levels):
    found = levels_of(ids, ["region", "shop", "item"])
    assert sorted(level for level, _ in found) == sorted(levels)
    assert found[0][0] == "total" and set(found[0][1]) == {("(all)",) * 3}


def test_sums_are_by_date():
    y = {(s, i): series(seed=n) for n, (s, i) in enumerate(["ax", "ay", "bx"])}
    found = added(y)
    total = found.series["(all)", "(all)"]
    np.testing.assert_array_equal(total, y["a", "x"] + y["a", "y"] + y["b", "x"])
    assert total.index.equals(MONTHS) and total.name == "sold"
    np.testing.assert_array_equal(found.series["a", "(all)"], y["a", "x"] + y["a", "y"])
    assert found.members["(all)", "x"] == [("a", "x"), ("b", "x")]
    assert found.levels["(all)", "x"] == "item" and found.each == "shop / item"
    assert not found.notes and not found.padded


def test_a_series_counts_from_its_first_value_on():
    """Empty rows before it are nothing, too."""
    late = series(9)
    late.iloc[:2] = np.nan
    y = {("a", "x"): series(4), ("a", "y"): late, ("b", "x"): series(2, seed=1)}
    found = added(y)
    sums = found.series["a", "(all)"]
    assert sums.index[0] == MONTHS[4]
    np.testing.assert_array_equal(sums[:7], y["a", "x"][:7])
    np.testing.assert_array_equal(sums[7:], y["a", "x"][7:] + late[2:])
    assert found.series["(all)", "(all)"].index[0] == MONTHS[2]
    assert found.notes == [
        "sums grow by the beginning of series ('a', 'x') (2020-05-01), and of 1 more series, later "
        "than that of others."
    ]


@pytest.mark.parametrize("season", [None, 12])
def test_a_missing_value_is_no_zero(season):
    small, large = series(), 100 * series(seed=1)
    small.iloc[15] = large.iloc[18] = np.nan
    found = added({"s": small, "l": large}, ["shop"], season=season)
    total = found.series[("(all)",)]
    stands = small.iloc[14 if season is None else 3]
    assert total.iloc[15] == stands + large.iloc[15]
    assert np.isnan(total.iloc[18]) and total.notna().sum() == 23
    assert found.notes == [
        "in sums the last known value, of the same time of the season, stands in for 2 missing "
        "values; where that is more than a tenth of a sum, it is missing (1 value)."
    ]


def test_series_that_end_apart():
    """A little before others: the same dates are forecast; long before: they are in no sum."""
    y = {"a": series(), "late": series(3, 21, 1), "over": series(0, 18, 2)}
    found = added(y, ["shop"])
    assert found.members[("(all)",)] == ["a", "late"]
    padded = found.padded["late"]
    assert padded.index.equals(MONTHS[3:]) and list(found.padded) == ["late"]
    np.testing.assert_array_equal(padded[:-3], y["late"])
    assert padded[-3:].isna().all()
    total = found.series[("(all)",)]
    np.testing.assert_array_equal(total[3:21], y["a"][3:21] + y["late"])
    assert total[21:].isna().all()
    assert any("'late' (2021-09-01) is before 2021-12-01" in note for note in found.notes)
    assert any("'over' (2021-06-01) is so long before" in note for note in found.notes)
    assert len(added({**y, "over": series(0, 19, 2)}, ["shop"]).members[("(all)",)]) == 3


def test_rows_without_dates():
    y = {name: series(seed=n).to_numpy() for n, name in enumerate("ab")}
    total = added(y, ["shop"]).series[("(all)",)]
    assert isinstance(total, np.ndarray)
    np.testing.assert_array_equal(total, y["a"] + y["b"])
    with pytest.raises(ValueError, match="'b' has 20 values and no dates, another has 24"):
        added({"a": y["a"], "b": y["b"][:20]}, ["shop"])


def test_periods_and_whole_numbers_are_dates():
    for index in (MONTHS.to_period(), pd.Index(np.arange(3, 27))):
        y = {"a": series().set_axis(index), "b": series(5).set_axis(index[5:])}
        total = added(y, ["shop"]).series[("(all)",)]
        assert total.index.equals(index)
        np.testing.assert_array_equal(total[5:], y["a"][5:] + y["b"])


@pytest.mark.parametrize(
    "other",
    [
        pd.Series(1.0, pd.date_range("2020-01-01", periods=8, freq="QS")),
        pd.Series(1.0, pd.date_range("2020-01-31", periods=20, freq="ME")),
        series().drop(MONTHS[7]),
    ],
)
def test_dates_that_do_not_fit_together(other):
    with pytest.raises(ValueError, match="has no row for 2020-.*summed by date"):
        added({"a": series(), "b": other}, ["shop"])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (series() * np.nan, "it has no value"),
        (series().replace(5.0, np.inf), "inf"),
        (series()[::-1], "not in order"),
        (series().to_numpy(), "no dates of the kind"),
        (pd.DataFrame(np.ones((24, 2)), MONTHS), "2 columns"),
    ],
)
def test_what_cannot_be_summed_is_named(other, words):
    found = added({"a": series(), "b": other}, ["shop"])
    assert found.members == {("(all)",): ["a"]}
    assert found.notes[0].startswith("series 'b' is in no sum: ") and words in found.notes[0]
    with pytest.raises(ValueError, match="none of 1 series can be added up"):
        added({"b": series() * np.nan}, ["shop"])


@pytest.mark.parametrize("one", ["(all)", "(ALL)", " (all) "])
def test_ids_that_look_like_the_mark(one):
    with pytest.raises(ValueError, match="stands for what was summed over. Rename it"):
        check_ids({("a", one): ("a", one)}, ["shop", "item"])
    with pytest.raises(ValueError, match="has 1 id, and others have 2"):
        check_ids({"a": ("a",)}, ["shop", "item"])
