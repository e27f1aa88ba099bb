"""Calendars: against dates written by hand, and counts against days added up one by one."""

import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

from echofold import AutoForecaster, ESNForecaster, calendar
from echofold._data.calendar import _sunday, group_of, told_by

needs_holidays = pytest.mark.usefixtures("package")
EASTER = """1818-03-22 1943-04-25 1954-04-18 1981-04-19 2000-04-23 2008-03-23 2011-04-24 2016-03-27
2018-04-01 2024-03-31 2025-04-20 2038-04-25 2049-04-18 2076-04-19"""
OF_THE_EAST = "2010-04-04 2016-05-01 2019-04-28 2021-05-02 2023-04-16 2024-05-05 2025-04-20"
BAVARIA = """2024-01-01 2024-01-06 2024-03-29 2024-04-01 2024-05-01 2024-05-09 2024-05-20 2024-05-30
2024-10-03 2024-11-01 2024-12-25 2024-12-26"""
FREQUENCIES = ["h", "6h", "D", "B", "2D", "W-MON", "W-SUN", "W-WED", "2W-MON", "SMS", "MS", "ME",
               "QS", "QE-FEB", "YS", "YE"]  # fmt: skip


@pytest.fixture
def package():
    return pytest.importorskip("holidays", reason="needs the extra holidays")


def dates_of(flags):
    return flags.index[flags == 1].strftime("%Y-%m-%d").tolist()


@pytest.mark.parametrize(("known", "eastern"), [(EASTER, False), (OF_THE_EAST, True)])
def test_easter(known, eastern):
    for day in map(date.fromisoformat, known.split()):
        assert date.fromordinal(date(1970, 1, 1).toordinal() + _sunday(day.year, eastern)) == day


@needs_holidays
def test_holidays_of_a_subdivision():
    found = calendar(pd.date_range("2024-01-01", "2024-12-31"), "DE-BY")
    assert dates_of(found["DE-BY holiday"]) == BAVARIA.split()
    pd.testing.assert_frame_equal(found, calendar(found, "de", subdiv="by"))
    berlin = calendar(found, "DE-BE")
    assert dates_of(berlin["DE-BE holiday"])[1] == "2024-03-08"  # Women's Day, and no Epiphany
    assert sorted(set(found.to_numpy().ravel())) == [0.0, 1.0]


@needs_holidays
def test_days_around_holidays_are_none_themselves():
    found = calendar(pd.date_range("2024-12-20", "2025-01-03"), "DE", around=2)
    days = {
        "day before": ["2024-12-24", "2024-12-31"],
        "2 days before": ["2024-12-23", "2024-12-30"],
        "day after": ["2024-12-27", "2025-01-02"],
        "2 days after": ["2024-12-28", "2025-01-03"],
    }
    for words, dates in days.items():
        assert dates_of(found[f"DE {words} holiday"]) == dates
    assert not any("before" in name for name in calendar(found, "DE", around=0))
    first = calendar(pd.date_range("2024-12-28", periods=1, freq="D"), "DE", around=2)
    assert dates_of(first["DE 2 days after holiday"]) == ["2024-12-28"]  # of days before the index


@needs_holidays
def test_working_days_know_the_weekend_of_a_country():
    week = pd.date_range("2023-06-01", periods=7)  # a Thursday
    assert dates_of(1 - calendar(week, "IL")["IL working day"]) == ["2023-06-02", "2023-06-03"]
    assert dates_of(1 - calendar(week)["working day"]) == ["2023-06-03", "2023-06-04"]


def test_ends_of_months_in_leap_years():
    for year, last in ((2023, 28), (2024, 29), (1900, 28), (2000, 29)):
        found = calendar(pd.date_range(f"{year}-02-26", f"{year}-03-02"))
        assert dates_of(found["month end"]) == [f"{year}-02-{last}"]
        assert dates_of(found["month start"]) == [f"{year}-03-01"]


def test_paydays_move_back_to_a_working_day():
    found = calendar(pd.date_range("2024-05-25", "2024-09-30"), paydays=[15, 31])
    assert dates_of(found["payday 15"]) == ["2024-06-14", "2024-07-15", "2024-08-15", "2024-09-13"]
    last = ["2024-05-31", "2024-06-28", "2024-07-31", "2024-08-30", "2024-09-30"]
    assert dates_of(found["payday 31"]) == last


@needs_holidays
def test_a_payday_is_no_holiday_either():
    found = calendar(pd.date_range("2024-03-01", "2024-04-30"), "DE", paydays=(1, 31))
    assert dates_of(found["DE payday 31"]) == ["2024-03-28", "2024-04-30"]  # before Good Friday
    assert dates_of(found["DE payday 1"]) == ["2024-03-01", "2024-03-28", "2024-04-30"]
    alone = calendar(pd.date_range("2024-03-28", "2024-03-28", freq="D"), "DE", paydays=(1,))
    assert alone["DE payday 1"].item() == 1  # of a month that is not in the index


@needs_holidays
def test_months_and_weeks_have_counts():
    months = calendar(pd.period_range("2024-03", periods=3, freq="M"), "DE-BY")
    assert months.to_numpy().tolist() == [[1, 20, 3], [1, 21, 1], [4, 19, 0]]
    assert months.columns.tolist() == ["DE-BY holiday", "DE-BY working day", "DE-BY easter"]
    weeks = calendar(pd.date_range("2024-03-25", periods=2, freq="W-MON"), "DE")
    assert weeks["DE holiday"].tolist() == [1, 1]  # Good Friday; Easter Monday
    assert weeks["DE working day"].tolist() == [4, 4]
    assert weeks["DE month end"].tolist() == [1, 0] and weeks["DE easter"].tolist() == [3, 1]
    ends = calendar(pd.date_range("2024-03-31", periods=2, freq="W-SUN"), "DE")
    assert np.array_equal(ends, weeks)
    greek = calendar(pd.period_range("2024-03", periods=3, freq="M"), "GR")
    assert greek["GR easter"].tolist() == [0, 0, 4]


def days_in(one, after, before, freq):
    """The days of a row, by the words of the documentation."""
    kind = freq.lstrip("26").partition("-")[0]
    if kind in ("h", "D", "B") and freq != "2D":
        return pd.date_range(one.normalize(), periods=1)
    if kind in ("MS", "QS", "YS", "SMS") or freq in ("2D", "W-MON", "2W-MON"):
        return pd.date_range(one, after, inclusive="left")
    return pd.date_range(before, one, inclusive="right")


@needs_holidays
@pytest.mark.parametrize("freq", FREQUENCIES)
def test_rows_add_up_their_days(freq):
    longer = pd.date_range("2019-12-01", periods=40, freq=freq)
    index = longer[1:-1]
    found = calendar(index, "DE", paydays=[15])
    days = pd.date_range(longer[0] - pd.Timedelta("400D"), longer[-1] + pd.Timedelta("400D"))
    each = calendar(days.normalize(), "DE", paydays=[15])
    for place, one in enumerate(index):
        own = each.loc[days_in(one, longer[place + 2], longer[place], freq)]
        assert found.iloc[place].to_dict() == own[found.columns].sum().to_dict(), one


@needs_holidays
@pytest.mark.parametrize("freq", FREQUENCIES)
def test_columns_do_not_depend_on_the_dates(freq):
    index = pd.date_range("2020-01-01", periods=60, freq=freq)
    whole = calendar(index, "AT", paydays=(1, 15))
    for part in (index[:1], index[3:5], index[50:]):
        own = calendar(part, "AT", paydays=(1, 15))
        pd.testing.assert_frame_equal(own, whole.loc[part], check_freq=False)
    ragged = index.delete(7)  # a gap, and no frequency
    if freq == "SMS":  # which pandas cannot find again
        return
    pd.testing.assert_frame_equal(calendar(ragged, "AT", paydays=(1, 15)), whole.loc[ragged])
    if freq in ("D", "W-SUN", "MS", "QS", "YS"):
        periods = index.to_period()
        assert np.array_equal(calendar(periods, "AT", paydays=(1, 15)), whole)


@needs_holidays
def test_zones_have_their_own_dates():
    hours = pd.date_range("2024-12-24 21:00", periods=30, freq="h", tz="UTC")
    here = calendar(hours.tz_convert("Europe/Berlin"), "DE")["DE holiday"]
    assert here.to_numpy().argmax() == 2  # 23:00 in London is midnight in Berlin
    assert calendar(hours, "DE")["DE holiday"].to_numpy().argmax() == 3
    clocks = pd.date_range("2024-03-29", periods=120, freq="h", tz="Europe/Berlin")
    easter = calendar(clocks.delete(50), "DE")["DE easter"]
    assert easter.sum() == 4 * 24 - 1 - 1  # Sunday has 23 hours, and one was deleted


@needs_holidays
@pytest.mark.parametrize(
    "asked", [{}, {"around": 0}, {"around": 3, "paydays": (5, 31)}, {"subdiv": "BY"}]
)
def test_names_tell_how_a_calendar_was_made(asked):
    made = calendar(pd.date_range("2024-01-01", periods=3), "DE", **asked)
    again = calendar(made, **told_by(made.columns))
    pd.testing.assert_frame_equal(made, again)
    assert told_by([*made.columns[2:4], "price"])["country"] == made.columns[0].split()[0]
    assert {group_of(name) for name in made} == {f"calendar {made.columns[0].split()[0]}"}


def test_other_names_tell_of_no_calendar():
    assert told_by(["holiday", "working day", "de holiday", "DE holidays", "price"]) is None
    assert told_by(["DE holiday", "FR holiday"]) is None
    assert group_of("holiday") == "holiday"


# --- what it is for -------------------------------------------------------------------------------


def shop(seed, effect):
    """A daily series of two years, which is closed on holidays and busy before, or knows of none.

    Its last month has Easter.
    """
    days = pd.date_range("2022-04-15", "2024-04-14")
    rng, t = np.random.RandomState(seed), np.arange(len(days))
    week = np.array([0, 2, 3, 4, 8, -10, -25.0])[days.day_of_week]
    y = 100 + week + 8 * np.sin(2 * np.pi * t / 365.25) + 2 * rng.normal(size=len(t))
    known = calendar(days, "DE")
    weekday = effect * (days.day_of_week < 5)
    y += weekday * (12 * known["DE day before holiday"] - 40 * known["DE holiday"]).to_numpy()
    return pd.Series(y, days), known


@needs_holidays
@pytest.mark.parametrize(("effect", "most"), [(1.0, 0.8), (0.0, 1.25)])
def test_forecasts_are_better_with_a_calendar_if_it_matters(effect, most):
    errors = np.zeros(2)
    for seed in range(1):
        y, X = shop(seed, effect)
        for place, known in enumerate((None, X)):
            search = {"units": 30, "grid": "small", "k": 8, "draws": 1}
            model = AutoForecaster(28, search=search, progress=False)
            model.fit(y[:-28], None if known is None else known[:-28])
            ahead = model.forecast(X=None if known is None else known[-28:])
            errors[place] += np.sqrt(((np.asarray(ahead.mean) - y[-28:]) ** 2).mean())
    assert errors[1] < most * errors[0]


def test_an_input_that_never_changed_says_nothing_when_it_does():
    """There was no Easter yet. Taken as a number, it would drive the network anywhere."""
    days = pd.date_range("2023-05-01", "2024-04-14")
    noise = 0.2 * np.random.RandomState(0).normal(size=len(days))
    y = pd.Series(np.sin(2 * np.pi * np.arange(len(days)) / 7) + noise, days)
    X = calendar(days)
    assert X["easter"][:-28].nunique() == 1 and X["easter"][-28:].nunique() == 2
    model = ESNForecaster(50, ridge=1e-6, input_scaling=0.5, random_state=0)
    ahead = model.fit(y[:-28], X[:-28]).forecast(28, X[-28:])
    never = X[-28:].assign(easter=0.0)
    np.testing.assert_array_equal(ahead, model.forecast(28, never))
    assert np.sqrt(((ahead - y[-28:]) ** 2).mean()) < 0.3


# --- wrong use ------------------------------------------------------------------------------------

DAYS = pd.date_range("2024-01-01", periods=9)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([1, 2, 3], {}, "index='list' is not allowed.*pandas index of dates"),
        (pd.RangeIndex(9), {}, "index='RangeIndex'.*dates or periods"),
        (pd.DatetimeIndex(["2024-01-01", None]), {}, "without NaT"),
        (pd.DatetimeIndex([]), {}, "index='DatetimeIndex' is not allowed"),
        (pd.DatetimeIndex(["2024-01-01", "2024-01-02"]), {}, "too few to tell their step.*freq="),
        (DAYS[[0, 1, 8]] + pd.to_timedelta([0, 7, 3], "h"), {}, "not evenly spaced.*PeriodIndex"),
        (DAYS, {"freq": "fortnight"}, "freq='fortnight' is not allowed.*frequency of pandas"),
        (DAYS, {"around": -1}, "around=-1 is not allowed.*0 to 30"),
        (DAYS, {"around": 1.5}, "around=1.5 is not allowed"),
        (DAYS, {"paydays": [0]}, r"paydays=\[0\] is not allowed.*1 to 31"),
        (DAYS, {"paydays": 32}, "paydays=32 is not allowed.*as \\[15, 31\\]"),
        (DAYS, {"country": 49}, "country=49 is not allowed.*'DE-BY'"),
        (DAYS, {"subdiv": "BY"}, "country=None is not allowed"),
    ],
)
def test_wrong_arguments(given, options, message):
    with pytest.raises(ValueError, match=message):
        calendar(given, **options)


@needs_holidays
@pytest.mark.parametrize(
    ("country", "message"),
    [
        ("Germany", "country='Germany' is no code.*Did you mean 'DE'.*two letters"),
        ("DEU", "Did you mean 'DE'"),
        ("UK", "Did you mean 'GB'"),
        ("untied states", "Did you mean 'US'"),
        ("XX", "country='XX' is no code that the package holidays knows. Give the two letters"),
        ("DE-XX", "'DE' has no subdivision 'XX': .*'BB', 'BE'"),
        ("DE-BYE", "did you mean 'BY'"),
        ("LU-1", "'LU' has no subdivision '1': There are none"),
    ],
)
def test_wrong_countries(country, message):
    with pytest.raises(ValueError, match=message):
        calendar(DAYS, country)


@needs_holidays
def test_two_subdivisions():
    with pytest.raises(ValueError, match="country='DE-BY' and subdiv='BE' name two"):
        calendar(DAYS, "DE-BY", subdiv="BE")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(ImportError, match=r"pip install 'echofold\[holidays\]'"):
        calendar(DAYS, "DE")
    assert len(calendar(DAYS)) == 9
