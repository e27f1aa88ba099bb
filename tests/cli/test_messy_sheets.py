"""Every Excel file is read as a person would, or refused in one line; forecasts go out alike."""

import io
import json
import random
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from messy_files import VALUES
from messy_sheets import SHEETS, book, changed, pairs

from echofold.cli.output import Output
from echofold.cli.reading import read_series
from echofold.cli.reading.dialect import FORMS, Dialect

GIVEN = {
    "column": None, "date": None, "date_format": None, "decimal": None, "fill": "leave",
    "season": None,
}  # fmt: skip


def read(path, content, **options):
    path.write_bytes(content)
    output = Output(quiet=True, as_json=False)
    return read_series(str(path), output.note, **{**GIVEN, **options}), output.notes


def test_there_are_many():
    assert len({one.content for one in SHEETS.values()}) >= 30


@pytest.mark.parametrize("name", SHEETS)
def test_messy_sheets(tmp_path, name):
    file, path = SHEETS[name], tmp_path / "file.xlsx"
    if file.error:
        with pytest.raises(ValueError) as error:
            read(path, file.content, **file.options)
        words = str(error.value)
        assert "\n" not in words and "file.xlsx" in words and len(words) < 500
        for part in file.error:
            assert part in words, words
        return
    series, notes = read(path, file.content, **file.options)
    np.testing.assert_allclose(series.values, file.values, rtol=1e-12)
    if file.dates is None:
        assert not isinstance(series.values.index, pd.DatetimeIndex)
    else:
        assert series.values.index.equals(pd.DatetimeIndex(file.dates))
    for part in file.notes:
        assert part in " ".join(notes), notes
    assert bool(notes) == bool(file.notes), notes


def test_what_is_read_does_not_depend_on_the_name_and_a_sheet_needs_a_workbook(tmp_path):
    series, _ = read(tmp_path / "sales.csv", book(pairs()))
    assert series.source == "sales.csv" and series.dialect.excel
    with pytest.raises(ValueError, match=r"--sheet A: x.csv is no Excel file"):
        read(tmp_path / "x.csv", b"x\n1\n2\n", sheet="A")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    content = book(pairs())
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"file.xlsx: .*pip install 'echofold\[excel\]'"):
        read(tmp_path / "file.xlsx", content)


def test_a_file_that_unpacks_to_too_much_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("echofold.cli.reading.excel.MOST_BYTES", 10_000)
    content = io.BytesIO(book(pairs()))
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet2.xml", bytes(10**6))
    with pytest.raises(ValueError, match="takes 1 MB when it is unpacked, and at most"):
        read(tmp_path / "file.xlsx", content.getvalue())


def harmed(seed):
    """A workbook with some bytes changed, in a sheet or anywhere, or cut off."""
    chance = random.Random(seed)
    content = bytearray(chance.choice([one.content for one in SHEETS.values() if not one.error]))
    if seed % 2:
        for _ in range(chance.randint(1, 6)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        return bytes(content[: chance.randrange(len(content)) if seed % 4 == 1 else None])

    def change(member, text):
        own = bytearray(text)
        for _ in range(chance.randint(1, 4) if "sheet" in member else 0):
            at, most = chance.randrange(len(own)), chance.randint(0, 3)
            own[at : at + most] = bytes(chance.choice(b'<>"/09azAZ') for _ in range(most))
        return bytes(own)

    return changed(bytes(content), change)


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 4000), marks=pytest.mark.fuzz)], ids=str
)
@pytest.mark.filterwarnings("ignore")
def test_damaged_sheets_are_read_or_refused_in_a_line(tmp_path, seeds):
    refused = 0
    for seed in seeds:
        try:
            series, _ = read(tmp_path / "file.xlsx", harmed(seed))
            assert series.values.count() >= 1
        except ValueError as error:
            assert "file.xlsx" in str(error) and "\n" not in str(error), seed
            refused += 1
    assert 0 < refused < len(seeds)


def rows_of(path):
    return [list(row) for row in openpyxl.load_workbook(path).active.iter_rows(values_only=True)]


def test_forecasts_of_a_workbook_are_one_too(run, tmp_path):
    file, out = tmp_path / "sales.xlsx", tmp_path / "out"
    file.write_bytes(book(pairs(head=("'=day", "x"))))
    code, shown, _ = run("forecast", file, "--horizon", "3", "--out", out, "--json")
    assert code == 0
    assert json.loads(shown)["files"]["workbook"] == str(out / "forecast.xlsx")
    table, found = pd.read_csv(out / "forecast.csv"), rows_of(out / "forecast.xlsx")
    assert found[0] == ["=day", *table.columns[1:]] and table.columns[0] == "'=day"
    assert [f"{row[0]:%Y-%m-%d}" for row in found[1:]] == table["'=day"].tolist()
    np.testing.assert_allclose([row[1:] for row in found[1:]], table.iloc[:, 1:], rtol=1e-12)
    content = (out / "forecast.xlsx").read_bytes()
    again, _ = read(tmp_path / "again.xlsx", content, column="forecast")
    assert again.values.tolist() == [row[1] for row in found[1:]]


def test_several_series_of_a_workbook(run, tmp_path):
    rows = [["shop", "day", "x"], *(["'=a", *row] for row in pairs()[1:]),
            *(["b", *row] for row in pairs(2 * VALUES)[1:])]  # fmt: skip
    file, out = tmp_path / "shops.xlsx", tmp_path / "out"
    file.write_bytes(book([["nothing"]], rows, names=("A", "B")))
    options = ("--id", "shop", "--sheet", "B", "--out", out)
    assert run("forecast", file, "--horizon", "2", *options)[0] == 0
    found = rows_of(out / "forecasts.xlsx")
    assert found[0][:3] == ["shop", "day", "forecast"]
    assert [row[0] for row in found[1:]] == ["=a", "=a", "b", "b"]
    assert (out / "forecasts.csv").read_text().splitlines()[1].startswith("'=a,2023-02-01,")


# --- the dialect of a file ------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_dates_are_written_as_they_were_read(tmp_path, form):
    every = {"q}": "QS", "%V": "W-MON", "%M": "6h", "%d": "D", "%m": "MS", "%b": "MS", "%B": "MS"}
    freq = next((one for mark, one in every.items() if mark in form), "YS")
    dates = pd.date_range("2001-01-01", periods=60, freq=freq)
    cells = Dialect(dates=form).written(dates)
    lines = ["When;x", *(f"{cell};{i % 7},5" for i, cell in enumerate(cells[:50]))]
    series, _ = read(tmp_path / "x.csv", "\n".join(lines).encode(), date="When")
    assert series.values.index.equals(dates[:50])
    assert series.dialect.written(dates[50:]) == cells[50:]
    assert (series.dialect.separator, series.dialect.decimal) == (";", ",")


def test_a_forecast_is_written_in_the_dialect_of_its_file(run, tmp_path):
    quarters = [f"Q{1 + i % 4} {2010 + i // 4}" for i in range(24)]
    lines = ["Quartal;Absatz", *(f"{q};{10 + i % 4},5" for i, q in enumerate(quarters))]
    (tmp_path / "q.csv").write_text("\n".join(lines))
    out = tmp_path / "out"
    code, shown, _ = run("forecast", tmp_path / "q.csv", "--horizon", "2", "--out", out, "--json")
    head, *rows = (out / "forecast.csv").read_text().splitlines()
    assert head == "Quartal;forecast;lower_50;upper_50;lower_90;upper_90"
    assert [row.split(";")[0] for row in rows] == ["Q1 2016", "Q2 2016"]
    values = [float(row.split(";")[1].replace(",", ".")) for row in rows]
    found = json.loads(shown)["forecast"]
    assert values == [one["forecast"] for one in found]
    assert found[0]["time"] == "2016-01-01"  # for programs
    both = [f"{shop};{line}" for shop in "ab" for line in lines[1:]]
    (tmp_path / "s.csv").write_text("\n".join(["shop;" + lines[0], *both]))
    options = ("--id", "shop", "--out", out)
    assert run("forecast", tmp_path / "s.csv", "--horizon", "1", *options)[0] == 0
    rows = (out / "forecasts.csv").read_text().splitlines()
    assert rows[0].startswith("shop;Quartal;forecast;") and rows[2].startswith("b;")
