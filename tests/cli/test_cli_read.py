"""Files that strangers have: each is read as meant, or refused in one line that says what to do."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from echofold.cli.output import Output
from echofold.cli.reading import read_series, read_table

DAYS = pd.date_range("2023-01-02", periods=60, freq="D")
VALUES = np.round(100 + 10 * np.sin(np.arange(60)), 2)


@pytest.fixture
def read(tmp_path):
    def run(content, name="file.csv", **options):
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content = content.to_csv(index=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        output = Output(quiet=True, as_json=False)
        given = {
            "column": None, "date": None, "date_format": None, "decimal": None,
            "fill": "leave", "season": None, **options,
        }  # fmt: skip
        series = read_series(str(path), output.note, **given)
        return series, output.notes

    return run


def table(days=DAYS, values=VALUES, form="%Y-%m-%d"):
    return pd.DataFrame({"day": days.strftime(form), "visits": values})


def refused(read, match, *given, **options):
    with pytest.raises(ValueError, match=match) as error:
        read(*given, **options)
    assert "\n" not in str(error.value)


def test_a_plain_file_needs_no_options_and_no_notes(read):
    series, notes = read(table())
    assert notes == []
    np.testing.assert_array_equal(series.values, VALUES)
    assert series.values.index.equals(DAYS)
    assert (series.values.index.freqstr, series.spacing, series.seasons) == ("D", "daily", (7,))
    assert series.values.index.name == "day"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_and_encodings_are_found(read, separator, encoding):
    text = table().rename(columns={"visits": "Größe"}).to_csv(index=False, sep=separator)
    series, notes = read(text.encode(encoding))
    assert series.values.name == "Größe"
    assert notes == []
    np.testing.assert_array_equal(series.values, VALUES)


def test_letters_of_windows_are_read_and_said(read):
    text = table().rename(columns={"visits": "Größe in €"}).to_csv(index=False)
    series, notes = read(text.encode("cp1252"))
    assert series.values.name == "Größe in €"
    assert len(notes) == 1 and "UTF-8" in notes[0]


def test_semicolons_with_decimal_commas_and_points_for_thousands(read):
    rows = "".join(f"{d:%d.%m.%Y};{1000 + i},5\n" for i, d in enumerate(DAYS[:30]))
    rows += "".join(f"{d:%d.%m.%Y};1.{100 + i},25\n" for i, d in enumerate(DAYS[30:]))
    series, notes = read("Datum;Umsatz\n" + rows)
    expected = [*(1000.5 + np.arange(30)), *(1100.25 + np.arange(30))]
    np.testing.assert_allclose(series.values, expected, rtol=0)
    assert series.values.index.equals(DAYS)
    assert any("decimal" in note for note in notes)


def test_one_column_with_decimal_commas(read):
    series, _ = read("umsatz\n" + "\n".join(f"{i},5" for i in range(1, 30, 1)))
    np.testing.assert_array_equal(series.values, np.arange(1, 30) + 0.5)


def test_a_comma_of_thousands_in_quotes_and_the_option_that_decides(read):
    text = "day,n\n" + "\n".join(f'{d:%Y-%m-%d},"1,{100 + i}"' for i, d in enumerate(DAYS))
    series, notes = read(text)
    assert series.values.iloc[0] == 1100
    assert any("thousands" in note for note in notes)
    assert read(text, decimal=",")[0].values.iloc[0] == 1.1


@pytest.mark.parametrize(
    "form", ["%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d %b %Y", "%Y%m%d", "%m/%d/%Y %H:%M", "%d-%b-%y"]
)
def test_forms_of_dates(read, form):
    series, _ = read(table(form=form))
    assert series.values.index.equals(DAYS)


@pytest.mark.parametrize(
    ("freq", "form", "words", "seasons"),
    [
        ("W-FRI", "%Y-%m-%d", "weekly (Fridays)", ()),
        ("MS", "%Y-%m", "monthly", (12,)),
        ("ME", "%b %d, %Y", "monthly", (12,)),
        ("QS", "%YQ%q", "quarterly", (4,)),
        ("YS", "%Y", "yearly", ()),
        ("h", "%Y-%m-%dT%H:%M:%S", "hourly", (24,)),
        ("30min", "%Y-%m-%d %H:%M", "every 30 minutes", ()),
        ("B", "%Y-%m-%d", "on business days", (5,)),
        ("10D", "%Y-%m-%d", "every 10 days", ()),
    ],
)
def test_frequencies_also_with_a_gap(read, freq, form, words, seasons):
    days = pd.date_range("1950-01-06", periods=60, freq=freq)
    text = [d.strftime(form.replace("%q", str(d.quarter))) for d in days]
    data = pd.DataFrame({"when": text, "x": VALUES})
    whole, _ = read(data)
    assert (whole.spacing, whole.seasons) == (words, seasons)
    assert whole.values.index.equals(days)
    cut, notes = read(data.drop(index=[20, 33]))
    assert cut.values.index.equals(days)
    assert list(np.flatnonzero(cut.values.isna())) == [20, 33]
    assert any("2 of 60 values are missing" in note for note in notes)


def test_missing_days_are_said_left_filled_or_refused(read):
    data = table().drop(index=[5, 6, 40])
    series, notes = read(data)
    assert "3 of 60 values are missing, the first at 2023-01-07; left out, neither" in notes[0]
    assert list(np.flatnonzero(series.values.isna())) == [5, 6, 40]
    series, notes = read(data, fill="interpolate")
    assert "filled along straight lines" in notes[0]
    np.testing.assert_allclose(series.values.iloc[5:7], np.interp([5, 6], [4, 7], VALUES[[4, 7]]))
    assert read(data, fill="forward")[0].values.iloc[6] == VALUES[4]
    refused(read, "3 of 60 values are missing.*--fill", data, fill="none")


def test_empty_cells_inside_are_missing_and_at_the_ends_left_out(read):
    values = VALUES.astype(object)
    values[[0, 30, 58, 59]] = ["NA", "", "n/a", None]
    series, notes = read(table(values=values))
    assert len(series.values) == 57
    assert series.values.index[0] == DAYS[1]
    assert "the first row has no value and is left out." in notes
    assert "the last 2 rows have no value and are left out: the series ends at 2023-02-28." in notes
    assert list(np.flatnonzero(series.values.isna())) == [29]


def test_month_ends_that_are_trading_days_move_to_the_month(read):
    days = pd.date_range("2015-01-01", periods=60, freq="BME").delete([7])
    series, notes = read(table(days, np.delete(VALUES, 7)))
    assert series.values.index.equals(pd.date_range("2015-01-01", periods=60, freq="MS"))
    assert any("start of their period" in note for note in notes)


def test_rows_out_of_order_are_sorted_and_said(read):
    series, notes = read(table().sample(frac=1, random_state=0))
    np.testing.assert_array_equal(series.values, VALUES)
    assert any("sorted" in note for note in notes)


def test_times_with_zones_become_utc_and_days_stay_local(read):
    hours = pd.date_range(DAYS[0], periods=len(DAYS), freq="h")
    for times, ahead in ((hours, pd.Timedelta(hours=2)), (DAYS, pd.Timedelta(0))):
        text = [f"{d:%Y-%m-%dT%H:%M:%S}+02:00" for d in times]
        series, notes = read(pd.DataFrame({"t": text, "x": VALUES}))
        assert series.values.index[0] == times[0] - ahead
        assert any("UTC" in note for note in notes)


def test_numbered_rows_no_header_and_no_dates(read):
    numbered, _ = read(pd.DataFrame({"id": range(5, 65), "x": VALUES}))
    assert numbered.values.name == "x"
    bare, notes = read("\n".join(map(str, VALUES)))
    np.testing.assert_array_equal(bare.values, VALUES)
    assert "no header" in notes[0]
    spaced, _ = read(pd.DataFrame({"id": range(0, 120, 2), "x": VALUES}), date="id")
    assert list(spaced.values.index[:2]) == [0, 2]
    ignored, _ = read(table().drop(index=[5]), date="none")
    assert len(ignored.values) == 59


def test_parquet_and_its_index(tmp_path):
    pytest.importorskip("pyarrow")
    table().assign(day=DAYS).set_index("day").to_parquet(tmp_path / "a.parquet")
    found = read_table(str(tmp_path / "a.parquet"), None, pytest.fail)
    assert list(found.frame.columns) == ["day", "visits"]
    np.testing.assert_array_equal(found.numbers("visits")[0], VALUES)


def test_two_columns_of_numbers_need_a_name(read):
    data = table().assign(price=VALUES[::-1], shop=1, city="Kaunas")
    refused(read, "2 columns of numbers, 'visits', 'price'.*--column", data)
    assert read(data, column="price")[0].values.iloc[0] == VALUES[-1]
    refused(read, "no column 'Visit'.*did you mean 'visits'", data, column="Visit")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"day,x\n", "no rows"),
        (b"day,x\n2023-01-01,\n2023-01-02,NA\n", "the cells of 'x' are empty"),
        (b"a,b\nx,y\nz,w\n", "no column of numbers"),
        (b"PK\x03\x04 ...", "save the sheet as CSV"),
        (b"\x00\x01\x02" * 20, "not a text file"),
        (b"Sales of 2023\n\nday,x\n2023-01-01,1,5\n", "line 4 has 3 fields|not an even table"),
        (b"x,x\n1,2\n3,4\n", "two columns named 'x'"),
    ],
)
def test_files_without_a_series(read, content, message):
    refused(read, message, content)


def test_text_in_numbers_is_named_with_its_row(read):
    values = VALUES.astype(object)
    values[16] = "closed"
    refused(read, "'visits'.*holds 'closed' in row 17,", table(values=values))
    values[20] = "inf"
    refused(read, "row 17 .and 1 more", table(values=values), column="visits")


def test_dates_that_cannot_be_used(read):
    doubled = pd.concat([table(), table().iloc[[3]] + ["", 1]])
    refused(read, r"more than one row for 2023-01-05 \(rows 4 and 61\).*--duplicates", doubled)
    closed = table().astype({"day": object})
    closed.loc[59, "day"] = "Closed"
    refused(read, "holds 'Closed' in row 60", closed)
    uneven = DAYS[0] + pd.to_timedelta(np.cumsum(np.arange(60) ** 2 % 37 + 1), unit="h")
    refused(read, "not evenly spaced.*--date none", table(uneven, form="%Y-%m-%d %H:%M"))
    refused(read, "no column 'dayy'.*'day'", table(), date="dayy")
    refused(read, "holds '2023-01-02' in row 1", table(), date="day", date_format="%d/%m/%Y")


def test_a_missing_file_suggests_the_nearest(tmp_path):
    (tmp_path / "sales.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match="no file .*did you mean .*sales.csv"):
        read_table(str(tmp_path / "sale.csv"), None, pytest.fail)
    with pytest.raises(ValueError, match="folder"):
        read_table(str(tmp_path), None, pytest.fail)


def test_files_that_take_far_more_memory_as_tables_are_refused(read):
    names = ",".join(f"c{i}" for i in range(5000))
    refused(read, "5,000 fields, and most of its 3,001 lines have few", names + "\n1,a" * 3000)
    refused(read, "100,000 columns, and at most 10,000", "," * 99_999 + "\n1,a")
    blank = "a,b\n" + "\n" * 500_000 + "\n".join(f"{i % 9},x" for i in range(60))
    assert len(read(blank)[0].values) == 60


def test_a_long_cell_takes_no_longer_than_its_length(read):
    """Patterns that can cut digits in many ways would take hours for each of these."""
    for cell in ("1" * 200_000 + "x", "1 " * 200_000 + "x", "111." * 100_000, ",1" * 200_000):
        refused(read, "no column of numbers|not an even|columns", f'"x"\n"{cell}"\n' * 3)


@pytest.mark.parametrize("header", ["day,visits", "visits"])
@pytest.mark.parametrize("options", [{}, {"date_format": "%d.%m.%Y"}])
def test_a_long_cell_does_not_widen_the_others(read, header, options):
    """An array of text has room for the longest cell in each of its rows."""
    days = pd.date_range("2015-01-01", periods=3000).strftime("%d.%m.%Y")
    lines = [f"{day},{i % 7}" if "," in header else f"{i % 7}.5" for i, day in enumerate(days)]
    lines[1500] = "x" * 70_000 + lines[1500]
    tracemalloc.start()
    try:
        refused(read, r"holds 'xxx.* in row 1501", "\n".join([header, *lines]), **options)
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes
    finally:
        tracemalloc.stop()


def test_zero_bytes_and_cut_text(read):
    text = table().to_csv(index=False)
    text += text.partition("\n")[2] * 5
    refused(read, "line 362 holds a zero byte", text.encode() + b"\0")
    refused(read, "UTF-16 text, but is damaged at byte ", table().to_csv().encode("utf-16")[:-1])
    refused(read, "never closed", table().to_csv(index=False).replace("2023-01-09", '"2023-01-09'))


def test_devices_never_end():
    if not os.path.exists("/dev/zero"):
        pytest.skip("no such device")
    with pytest.raises(ValueError, match="'/dev/zero' is a device"):
        read_table("/dev/zero", None, pytest.fail)


def test_parquet_that_is_damaged_empty_or_odd(read, tmp_path):
    pytest.importorskip("pyarrow")

    def written(frame):
        frame.to_parquet(tmp_path / "a.parquet")
        return (tmp_path / "a.parquet").read_bytes()

    whole = written(table())
    refused(read, "file.csv cannot be read as Parquet", whole[:-20])
    refused(read, "file.csv cannot be read as Parquet", whole[:200] + bytes(99) + whole[299:])
    refused(read, "no rows", written(table().iloc[:0]))
    odd = table().assign(lists=[[1, 2]] * 60, words=pd.Series(["a", None] * 30, dtype="string"))
    assert read(written(odd))[0].values.name == "visits"


def half_hours(rows, text, at=500):
    days = pd.date_range("2024-01-01", periods=rows, freq="30min").strftime("%Y-%m-%d %H:%M")
    days = days.to_numpy(dtype=object)
    days[at] = text
    return pd.DataFrame({"day": days, "x": 100 + np.arange(rows) % 7})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2204-01-11 10:00", r"2024-01-21 19:30 .row 1000. to 2204-01-11 10:00 .row 501."),
        ("1920-01-11 10:00", r"1920-01-11 10:00 .row 501. to 2024-01-01 00:00 .row 1."),
        ("2034-01-11 10:00", r"2024-01-21 19:30 .row 1000. to 2034-01-11 10:00 .row 501."),
    ],
)
def test_a_mistyped_year_is_named_and_opens_no_rows(read, monkeypatch, text, message):
    made = []
    whole = pd.date_range
    monkeypatch.setattr(pd, "date_range", lambda *a, **k: made.append(whole(*a, **k)) or made[-1])
    data = half_hours(1000, text)
    made.clear()
    refused(read, f"mostly gaps.*{message}: correct row 501 .*--date none", data)
    assert sum(map(len, made)) < 10_000
    assert len(read(data, date="none")[0].values) == 1000


@pytest.mark.parametrize("step", ["D", "W", "MS", "h"])
def test_a_mistyped_year_is_named_whatever_the_frequency(read, step):
    days = pd.date_range("2015-01-04", periods=60, freq=step, unit="s")
    days = days.to_series().reset_index(drop=True)
    days[30] = days[30].replace(year=2171)
    refused(read, "mostly gaps.* correct row 31 ", table(days.dt, form="%Y-%m-%d %H:%M"))


def test_reading_a_mistyped_year_takes_little_memory(tmp_path):
    """In a process of its own, for memory that NumPy takes is counted for a whole process."""
    pytest.importorskip("resource")
    half_hours(1000, "2204-01-11 10:00").to_csv(tmp_path / "year.csv", index=False)
    seconds = pd.date_range("2024-01-01", periods=1000, freq="s").strftime("%Y-%m-%d %H:%M:%S")
    seconds = seconds.to_numpy(dtype=object)
    seconds[7] = "2042-01-01 00:00:07"
    pd.DataFrame({"t": seconds, "x": np.arange(1000) % 7}).to_csv(tmp_path / "s.csv", index=False)
    text = "id,x\n" + "\n".join(f"{i},{i % 7}" for i in [*range(1, 60), 10**9])
    (tmp_path / "id.csv").write_text(text)
    code = f"""
import resource
from echofold.cli.output import Output
from echofold.cli.reading import read_series
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
given = dict(column="x", date_format=None, decimal=None, fill="leave", season=None)
before = None
for name, date in (("year.csv", "none"), ("year.csv", None), ("s.csv", None), ("id.csv", "id")):
    try:
        read_series({str(tmp_path)!r} + "/" + name, Output(True, False).note, date=date, **given)
    except (ValueError, MemoryError) as error:
        assert "mostly gaps" in str(error), error
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = before or used
print((used - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 50  # megabytes


def test_numbers_of_rows_that_jump_are_refused(read):
    values = {"x": VALUES}
    refused(
        read,
        r"mostly gaps.*'id' jumps from 59 \(row 59\) to 1000000000 \(row 60\): correct row 60 ",
        pd.DataFrame({"id": [*range(1, 60), 10**9], **values}),
        date="id",
    )
    refused(
        read, "neither dates nor evenly", pd.DataFrame({"id": np.linspace(1, 1e300, 60), **values}),
        date="id",
    )  # fmt: skip
    some = pd.DataFrame({"id": [*range(1, 60), 66], **values})
    series, notes = read(some, date="id")
    assert len(series.values) == 66 and "6 of 66 values are missing" in notes[0]
    refused(
        read,
        "30 of 90 values are missing, 30 of them from 60 to 89",
        some.replace(66, 90),
        date="id",
    )


def test_nights_are_gaps_without_a_row_to_correct(read):
    days = pd.date_range("2024-01-01", periods=48 * 40, freq="30min")
    days = days[(days.day_of_week < 5) & (days.hour >= 9) & (days.hour < 16)]
    data = pd.DataFrame({"t": days.strftime("%Y-%m-%d %H:%M"), "x": np.arange(len(days)) % 9})
    refused(read, r"mostly gaps.* to 2024-01-08 09:00 \(row 71\): take rows as", data)


def test_years_before_nanoseconds_begin_and_after_they_end(read):
    whole = pd.DataFrame({"year": range(1600, 1660), "x": VALUES})
    assert read(whole.assign(year=[f"{y}-01-01" for y in whole.year]))[0].spacing == "yearly"
    assert read(whole.assign(year=[f"{y}-01-01" for y in whole.year]).drop(index=9))[1]
    for year in ("0001", "9999", "20244"):
        refused(read, f"holds '{year}-01-11' in row 8", table().assign(
            day=[f"{d:%Y-%m-%d}" if i != 7 else f"{year}-01-11" for i, d in enumerate(DAYS)]
        ))  # fmt: skip
    odd = table().assign(day=[f"{d:%d.%m.%Y}" for d in DAYS[:-1]] + ["01.01.9999"])
    refused(read, "'01.01.9999' in row 60", odd, date="day", date_format="%d.%m.%Y")


def test_dates_far_apart_in_a_parquet_file(tmp_path, read):
    pytest.importorskip("pyarrow")
    for unit, odd in (("us", "2190-01-01"), ("ns", "2190-01-01"), ("ns", "1690-01-01")):
        days = DAYS.as_unit(unit).to_series().reset_index(drop=True)
        days[7] = pd.Timestamp(odd)
        pd.DataFrame({"t": days, "x": VALUES}).to_parquet(tmp_path / "a.parquet")
        content = (tmp_path / "a.parquet").read_bytes()
        refused(read, f"mostly gaps.*{odd}.*correct row 8 ", content)


def test_dates_of_mixed_zones_and_leap_seconds(read):
    zones = ["+02:00", "+01:00"]
    mixed = [f"{d:%Y-%m-%dT00:00:00}{zones[i % 2]}" for i, d in enumerate(DAYS)]
    data = pd.DataFrame({"t": mixed, "x": VALUES})
    assert read(data)[0].spacing == "daily"
    form = "%Y-%m-%dT%H:%M:%S%z"
    assert read(data, date="t", date_format=form)[0].spacing == "daily"
    short = [cell[:-3] for cell in mixed]  # +02, which is a zone too
    short[30:] = [cell[:-3] for cell in short[30:]]
    assert read(pd.DataFrame({"t": short, "x": VALUES}))[0].spacing == "daily"
    mixed[9] = "2023-01-11T23:59:60+02:00"
    refused(read, "23:59:60.*row 10", pd.DataFrame({"t": mixed, "x": VALUES}))
    for bad in ("%Q", "%", "%Y %Y"):
        refused(read, "--date-format .* cannot be used", data, date="t", date_format=bad)


@pytest.mark.parametrize("options", [{}, {"date": "id", "column": "x"}])
def test_a_single_row_is_a_series(read, options):
    series, notes = read("id,x\n2024-01-01,5\n", **options)
    assert list(series.values) == [5] and list(series.values.index) == [1]
    assert (series.spacing, series.seasons) == (None, ()) and "has one date" in notes[0]
    series, _ = read("id,x\n7,5\n", **({"column": "x"} | options))
    assert list(series.values) == [5]


@pytest.mark.parametrize("values", [[7.0] * 60, [0.0] * 60, VALUES[:2], VALUES * 1e-200])
def test_values_that_are_few_or_hardly_vary_are_a_series(read, values):
    series, notes = read(table(DAYS[: len(values)], values))
    np.testing.assert_allclose(series.values, values, rtol=1e-12)
    assert notes == [] and series.values.index.equals(DAYS[: len(values)])


def test_numbers_too_large_to_compute_with(read):
    values = VALUES.astype(object)
    values[3] = "1e308"
    refused(read, "'1e308' in row 4, too large", table(values=values))
    values[3] = "1e999"
    refused(read, "'1e999' in row 4, but numbers", table(values=values))
    values[3] = "9" * 5000
    refused(read, "'9{59}…' in row 4, but numbers", table(values=values))
    fine, _ = read(table(values=VALUES * 1e97))
    assert fine.values.max() > 1e98


@pytest.mark.parametrize(
    ("freq", "rows", "seasons"),
    [
        ("15min", 2 * 96, (96,)),
        ("15min", 2 * 672, (96, 672)),
        ("30min", 671, (48,)),
        ("30min", 672, (48, 336)),
        ("h", 500, (24, 168)),
        ("6h", 100, (4, 28)),
        ("7h", 100, (24,)),
        ("D", 3 * 365 - 1, (7,)),
        ("D", 3 * 365, (7, 365)),
        ("W", 103, ()),
        ("W", 104, (52,)),
        ("MS", 30, (12,)),
    ],
)
def test_seasons_by_the_calendar_that_fit(read, freq, rows, seasons):
    days = pd.date_range("2001-01-01", periods=rows, freq=freq)
    values = np.random.RandomState(0).normal(size=rows)
    assert read(table(days, values, "%Y-%m-%d %H:%M"))[0].seasons == seasons


def test_a_season_is_found_in_values_without_dates(read):
    pattern = [3.0, 1, 4, 1, 5, 9, 2]
    values = np.tile(pattern, 12) + np.random.RandomState(0).normal(size=84) / 5
    assert read(pd.DataFrame({"x": values}))[0].seasons == (7,)
    gaps = pd.DataFrame({"x": values}).drop(index=[10, 33, 34]).reindex(range(84))
    assert read(gaps)[0].seasons == (7,)
    numbered = pd.DataFrame({"id": range(84), "x": values})
    assert read(numbered, date="id")[0].seasons == (7,)
    days = pd.date_range("2001-01-01", periods=84, freq="10D")
    assert read(table(days, values))[0].seasons == (7,)
    yearly = table(pd.date_range("1900-01-01", periods=84, freq="YS"), values)
    assert read(yearly)[0].seasons == ()
    for given, seasons in (((5,), (5,)), ((21, 7), (7, 21)), ((1,), ()), ((43, 7), (7,))):
        series, notes = read(pd.DataFrame({"x": values}), season=given)
        assert (series.seasons, notes) == (seasons, [])


@pytest.mark.parametrize("option", ["--column", "--input"])
def test_dates_are_no_values(run, tmp_path, option):
    lines = [f"{1950 + i},{i % 7}" for i in range(60)]
    (tmp_path / "y.csv").write_text("year,v\n" + "\n".join(lines))
    others = () if option == "--column" else ("--column", "v")
    args = ("--date", "year", option, "year", *others, "--horizon", "3")
    code, _, err = run("forecast", tmp_path / "y.csv", *args)
    assert code == 1 and f"{option} 'year' of y.csv is its column of dates" in err
