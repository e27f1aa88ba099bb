"""Dates in any form come out as they were meant, with a note of what was assumed."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from messy_dates import CASES, table

from echofold.cli.output import Output
from echofold.cli.reading import calendar, read_series
from echofold.cli.reading.dates import in_order, take_apart


def read(path, content, **options):
    path.write_text(content, encoding="utf-8")
    output = Output(quiet=True, as_json=False)
    given = {
        "column": "sales", "date": None, "date_format": None, "decimal": None, "fill": "none",
        "season": None, **options,
    }  # fmt: skip
    return read_series(str(path), output.note, **given), output.notes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file(tmp_path, case):
    if case.error:
        with pytest.raises(ValueError, match=case.error):
            read(tmp_path / "file.csv", case.content, **case.options)
        return
    series, notes = read(tmp_path / "file.csv", case.content, **case.options)
    ends = tuple(str(series.values.index[end]) for end in (0, -1))
    assert ends == (case.first, case.last), notes
    assert series.spacing == (case.words or None)
    if case.words:
        assert series.seasons == case.seasons
    notes = [note for note in notes if not re.match("season of .* found|.*no header", note)]
    assert all("\n" not in note for note in notes)
    if case.note:
        assert any(case.note in note for note in notes), notes
    else:
        assert notes == []


DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%m-%d-%Y", "%d %b %Y", "%B %d %Y", "%Y %B %d",
    "%a %d %b %Y", "%d%b%Y", "%Y-%m-%d", "%d/%m/%y", "%d-%b-%y", "%Y%m%d",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", "T%H:%M", ", %H:%M")
FREQUENCIES = {"D": 120, "W-WED": 60, "MS": 60, "QS-JAN": 40, "YS-JAN": 40, "h": 120, "15min": 150}
STARTS = ("1981-03-01", "1998-11-20", "2012-06-09")
COUNTED = {
    "seconds": lambda days: days.as_unit("s").asi8,
    "microseconds": lambda days: days.as_unit("us").asi8,
    "Excel": lambda days: (days - pd.Timestamp("1899-12-30")) / pd.Timedelta("1D"),
}


def written(days, form):
    if form in COUNTED:
        return COUNTED[form](days)
    return [f'"{day}"' for day in days.strftime(form)]


@pytest.mark.parametrize("freq", FREQUENCIES)
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_what_is_written_in_a_form_is_read_back(tmp_path, freq, every):
    """Every form, from one of the starts by turns, or from each."""
    fine = freq in ("h", "15min")
    forms = [day + time for day in DAYS for time in (TIMES[1:] if fine else TIMES[:2])]
    random = np.random.RandomState(0)
    for turn, start in enumerate(STARTS):
        days = pd.date_range(start, periods=FREQUENCIES[freq], freq=freq)
        for form in (*forms, *COUNTED)[turn % every :: every]:
            if "T%H" in form and not form.startswith(("%Y-", "%Y%m%d")):
                continue
            if "%y" in form and days[-1].year > 2025:
                continue  # it would be of the last century
            rows = random.permutation(len(days)) if random.rand() < 0.2 else slice(None)
            content = table(time=written(days[rows], form))
            series, notes = read(tmp_path / "file.csv", content)
            assert series.values.index.equals(days), (form, freq, start, notes)
            assert series.values.index.freqstr[:2] == freq[:2]  # QS-OCT are the months of QS-JAN


def test_centuries_follow_from_today(monkeypatch):
    monkeypatch.setattr(calendar, "_today", lambda: datetime.date(2030, 6, 1))
    cases = {
        (49, 60): (1949, 1960), (95, 5): (1995, 2005), (30, 31): (2030, 2031),
        (31, 32): (1931, 1932), (5, 95): (1905, 1995), (32, 31): (1932, 2031),
    }  # fmt: skip
    for (first, last), expected in cases.items():
        years = np.arange(first, last + (100 if last < first else 0) + 1) % 100
        for order in (years, years[::-1]):
            whole = calendar.centuries(order)
            assert (whole.min(), whole.max()) == expected
            assert len(np.unique(whole)) == len(years)
    np.testing.assert_array_equal(calendar.centuries(np.array([-1, 49, -1])), [-1, 1949, -1])
    np.testing.assert_array_equal(
        calendar.centuries(np.array([99, 0, 98, 1])), [1999, 2000, 1998, 2001]
    )


def test_notes_name_the_reading_and_the_option(tmp_path):
    months = pd.date_range("1949-01-01", periods=48, freq="MS")
    _, notes = read(tmp_path / "file.csv", table(date=months.strftime("%d/%m/%Y")))
    assert notes == [
        "dates in 'date' are read with the day first, because they are monthly then: '01/12/1952' "
        "is 1 December 1952, and could be read with the month first too; see --date-format."
    ]
    _, notes = read(tmp_path / "file.csv", table(date=["soon"] * 48))
    assert notes[0].startswith("'date' may hold dates, but 'soon' is not read as one")
    assert "--date " in notes[0] and "--date-format" in notes[0]


def test_a_named_month_beats_its_weekday_and_prices_are_no_dates():
    apart = take_apart(
        ["mar. 5 mar 2019", "12.50", "5-mar-2019 10:30", "③/1/x", "mar mar 2019", "jui 2019"]
    )
    assert apart.counts.tolist() == [3, 0, 3, 0, 2, 0]
    found, short = in_order(apart, "dmy")
    assert not short and list(found[[0, 2]]) == [
        pd.Timestamp("2019-03-05"), pd.Timestamp("2019-03-05 10:30")
    ]  # fmt: skip


def test_names_of_months_alone_are_no_dates(tmp_path):
    months = pd.date_range("2021-01-01", periods=36, freq="MS").strftime("%B")
    series, notes = read(tmp_path / "file.csv", table(month=list(months)))
    assert series.spacing is None and len(series.values) == 36
    assert any("'January' is not read as one" in note for note in notes)


def test_one_date_for_all_rows_is_refused(tmp_path):
    with pytest.raises(ValueError, match="2021-11-29 in 'week' and no other time"):
        read(tmp_path / "file.csv", "week,sales\n" + "2021-W48,101.24\n" * 40)


def test_hours_and_minutes_in_columns_of_their_own(tmp_path):
    days = pd.date_range("2020-01-01", periods=60, freq="15min")
    parts = {part: getattr(days, part) for part in ("year", "month", "day", "hour", "minute")}
    series, notes = read(tmp_path / "file.csv", table(**parts))
    assert series.values.index.equals(days)
    assert "'day' and 'hour' and 'minute' (see" in notes[0]
    parts["hour"] = parts["minute"] = np.zeros(60, int)
    with pytest.raises(ValueError, match="more than one row for 2020-01-01 "):
        read(tmp_path / "file.csv", table(**parts))


def test_weeks_before_nanoseconds_reach(tmp_path):
    weeks = [f"1592-W{week:02}" for week in range(1, 53)]
    series, _ = read(tmp_path / "file.csv", table(week=weeks))
    assert series.spacing == "weekly (Mondays)" and str(series.values.index[0])[:10] == "1591-12-30"
