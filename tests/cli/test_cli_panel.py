"""Panels on the command line: all series in one table and one page, one that fails stops none."""

import csv
import io
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from messy_files import DAYS, ROWS, VALUES, panel

from echofold._data.text import guarded, unguarded
from echofold._machine import files
from echofold._search import panel as recipe_of_many
from echofold.cli import forecasts
from echofold.cli import panel as panels
from echofold.cli.app import app
from echofold.cli.reading import read_table, tables_by_id
from echofold.cli.reading.dialect import FORMS
from echofold.cli.reading.table import _Text
from echofold.report import _panel

FORECAST = ("--horizon", "3")  # of series that are too short for networks
FILES = ["forecasts.csv", "index.html", "model.echofold"]


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A panel of three series, one of them without a value, and the forecast of all."""
    folder = tmp_path_factory.mktemp("panel")
    lines = panel("north/1", "North:1", "empty", header="shop,day,x").decode().splitlines()
    lines[-ROWS:] = [f"{line.rpartition(',')[0]}," for line in lines[-ROWS:]]
    (folder / "shops.csv").write_text("\n".join(lines))
    args = ["forecast", folder / "shops.csv", "--id", "shop", *FORECAST, "--out", folder / "out"]
    code = app.main([str(arg) for arg in args], standalone_mode=False)
    return folder, code


def test_all_series_are_forecast_into_one_table_and_one_page(shops):
    folder, code = shops
    assert code == 1  # one of them has no value
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES
    whole = pd.read_csv(folder / "out" / "forecasts.csv")
    ends = ["lower_50", "upper_50", "lower_90", "upper_90"]
    assert list(whole.columns) == ["shop", "day", "forecast", *ends]
    assert list(whole["shop"]) == ["north/1"] * 3 + ["North:1"] * 3
    assert list(whole["day"]) == 2 * ["2023-02-01", "2023-02-02", "2023-02-03"]
    assert (whole["lower_90"] <= whole["lower_50"]).all()
    page = (folder / "out" / "index.html").read_text()
    assert (
        "column &#39;x&#39; of shops.csv, &#39;empty&#39; holds no numbers" in page
        and page.count("<svg") == 6
    )


def test_one_of_them_is_forecast_as_in_a_file_of_its_own(run, shops, tmp_path):
    folder, _ = shops
    whole = pd.read_csv(folder / "out" / "forecasts.csv").set_index("shop")
    alone = pd.DataFrame({"day": DAYS, "x": VALUES + 1})
    alone.to_csv(tmp_path / "alone.csv", index=False)
    only = ("--id", "shop", "--only", "North:1")
    for file, options in ((folder / "shops.csv", only), (tmp_path / "alone.csv", ())):
        code, shown, err = run("forecast", file, *options, *FORECAST, "--out", tmp_path, "--json")
        assert code == 0, err
        got = [row["forecast"] for row in json.loads(shown)["forecast"]]
        expected = whole.loc["North:1", "forecast"]
        np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_json_is_a_list_and_a_failure_is_told(run, shops, tmp_path):
    folder, _ = shops
    args = ("--id", "shop", *FORECAST, "--out", tmp_path / "out", "--json")
    code, shown, err = run("forecast", folder / "shops.csv", *args)
    content = json.loads(shown)
    assert code == 1
    assert [one["id"] for one in content] == ["north/1", "North:1", "empty"]
    assert len(content[0]["forecast"]) == 3 and content[0]["values"] == ROWS
    assert "holds no numbers" in content[2]["error"]
    assert "note: 'empty': column 'x' of shops.csv, 'empty' holds no numbers" in err
    assert "1 of 3 series failed" in err and "1 of 3 series failed" not in shown


def test_all_are_validated_with_a_closing_table(run, shops):
    folder, _ = shops
    args = ("validate", folder / "shops.csv", "--id", "shop", "--test", "4")
    code, shown, err = run(*args)
    rows = [line.split() for line in shown.splitlines() if line]
    assert code == 1
    assert rows[0] == ["shop", "error", "plain", "by"]
    assert [row[0] for row in rows[2:5]] == ["north/1", "North:1", "empty"]
    found = json.loads(run(*args, "--json")[1])[0]
    own, least = found["test"], min(found["plain"].values())
    assert [float(one) for one in rows[2][1:3]] == pytest.approx([own, least], rel=1e-3)
    assert found["plain"][" ".join(rows[2][3:])] == least
    assert rows[4][-1] == "failed"
    assert "1 of 3 series failed" in err


def test_a_disk_that_is_full_leaves_an_earlier_table_whole(run, shops, tmp_path, monkeypatch):
    args = ("forecast", shops[0] / "shops.csv", "--id", "shop", *FORECAST, "--out", tmp_path)
    assert run(*args)[0] == 1
    before = (tmp_path / "forecasts.csv").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device", "forecasts.csv")

    monkeypatch.setattr(files.os, "fsync", full)
    code, shown, err = run(*args)
    assert (code, shown) == (1, "") and "No space left on device" in err
    assert (tmp_path / "forecasts.csv").read_bytes() == before


def test_many_series_are_written_some_at_a_time(run, shops, tmp_path, monkeypatch):
    args = ("forecast", shops[0] / "shops.csv", "--id", "shop", *FORECAST, "--out", tmp_path)
    monkeypatch.setattr(forecasts, "BLOCK", 1)
    assert run(*args)[0] == 1
    whole = (shops[0] / "out" / "forecasts.csv").read_bytes()
    assert (tmp_path / "forecasts.csv").read_bytes() == whole


def test_many_failures_are_not_all_told_of(run, tmp_path, monkeypatch):
    monkeypatch.setattr(panels, "MOST", 3)
    monkeypatch.setattr(_panel, "MOST", 2)
    lines = panel(*(f"s{i}" for i in range(6)), header="shop,day,x").decode().splitlines()
    lines[-5 * ROWS :] = [f"{line.rpartition(',')[0]}," for line in lines[-5 * ROWS :]]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    args = ("--id", "shop", "--column", "x", *FORECAST, "--out", tmp_path)
    code, _, err = run("forecast", tmp_path / "p.csv", *args)
    assert code == 1 and "2 more series that failed are not told of here" in err
    page = (tmp_path / "index.html").read_text()
    failed = page.partition("Series that failed")[2]
    assert "The first 2; 3 more failed." in failed and failed.count("holds no numbers") == 2


@pytest.mark.parametrize("blank", [False, True])
def test_a_table_of_one_series_is_that_of_its_rows(tmp_path, blank):
    rows = [("a" if i % 3 else " b", f"2024-01-{i + 1:02}", f"{i / 4}") for i in range(20)]
    rows[5] = ("", *rows[5][1:])
    if blank:
        rows[7] = (rows[7][0], "", rows[7][2])  # dates are read by series then
    text = "shop,day,sold\n" + "\n".join(",".join(row) for row in rows)
    (tmp_path / "p.csv").write_text(text)
    table = read_table(str(tmp_path / "p.csv"), None, print)
    parts = tables_by_id(table, ["shop"], None, print)
    assert list(parts) == ["b", "a"] and len(parts) == 2
    for name, part in parts.items():
        own = [row for row in rows if row[0].strip() == name]
        assert part.frame["sold"].tolist() == [row[2] for row in own]
        assert (part.frame["day"].dtype.kind == "M") == (not blank)
        assert part.frame["day"].astype(str).tolist() == [row[1] for row in own]
    parts.forget()
    assert list(parts) == ["b", "a"]


def test_a_text_is_read_as_it_is():
    text = 'a;ü\r\n1;"x\n€"\r\n' * 50_000
    own = _Text(text)
    assert own.read(3) + own.read(0) + own.read() == text and own.read(9) == ""
    found, plain = (
        pd.read_csv(file, sep=";", dtype=str) for file in (_Text(text), io.StringIO(text))
    )
    pd.testing.assert_frame_equal(found, plain)


def test_series_that_two_columns_tell_apart(run, tmp_path):
    rows = [
        f"{shop},{item},{day:%Y-%m-%d},{i % 7 + 3 * (shop == 'b') + (item == 'y')}"
        for shop in "ab"
        for item in "xy"
        for i, day in enumerate(pd.date_range("2023-01-01", periods=30))
    ]
    (tmp_path / "p.csv").write_text("shop,item,day,sold\n" + "\n".join(rows))
    code, shown, err = run("forecast", tmp_path / "p.csv", *FORECAST, "--out", tmp_path / "o")
    assert code == 1 and "forecast all with --id shop --id item" in err
    ids = ("--id", "shop", "--id", "item")
    code, shown, err = run("forecast", tmp_path / "p.csv", *FORECAST, *ids, "--out", tmp_path / "o")
    assert code == 0, err
    whole = pd.read_csv(tmp_path / "o" / "forecasts.csv")
    assert list(whole.columns[:3]) == ["shop", "item", "day"]
    assert list(zip(whole["shop"], whole["item"], strict=True))[::3] == [
        ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")
    ]  # fmt: skip
    assert "b / y" in shown
    only = ("--only", "b / y", "--json")
    code, shown, err = run(
        "forecast", tmp_path / "p.csv", *FORECAST, *ids, *only, "--out", tmp_path
    )
    assert code == 0, err
    found = [row["forecast"] for row in json.loads(shown)["forecast"]]
    np.testing.assert_allclose(found, whole["forecast"][-3:], rtol=1e-9)


@example("")
@example("''=x")
@given(st.text() | st.text("='+-@\t\r\n\"a,", max_size=6))
def test_text_that_is_guarded_is_no_formula_and_comes_back(text):
    cell = guarded(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cell == text or cell == f"'{text}"
    assert unguarded(cell) == text
    assume("\r" not in text)  # which pandas writes without quotes
    file = io.StringIO(pd.DataFrame({cell: [cell, "-5"]}).to_csv(index=False), newline="")
    (name,), (one,), (number,) = csv.reader(file)
    assert (unguarded(name), unguarded(one), number) == (text, text, "-5")


def test_ids_that_look_like_formulas_come_back_from_the_file_of_forecasts(run, tmp_path):
    ids = ["=1+1", "'n", "x"]
    (tmp_path / "p.csv").write_bytes(panel(*ids, header="=shop,+day,-x"))
    args = ("--id", "=shop", "--horizon", "25", "--json", "--out")
    code, shown, err = run("forecast", tmp_path / "p.csv", *args, tmp_path / "o")
    assert code == 0, err
    assert [one["id"] for one in json.loads(shown)] == ids
    lines = (tmp_path / "o" / "forecasts.csv").read_text().splitlines()
    assert lines[0] == "'=shop,'+day,forecast,lower_50,upper_50,lower_90,upper_90"
    assert [line.split(",")[0] for line in lines[1::25]] == ["'=1+1", "''n", "x"]
    again = ("--column", "forecast", *args)
    code, shown, err = run("forecast", tmp_path / "o" / "forecasts.csv", *again, tmp_path / "p")
    assert code == 0, err
    assert [one["id"] for one in json.loads(shown)] == ids


def test_inputs_of_each_series(run, tmp_path):
    lines = []
    for number, shop in enumerate("ab"):
        for i, day in enumerate(pd.date_range("2023-01-02", periods=63)):
            price = (i * (7 + number)) % 5
            lines.append(f"{shop},{day:%Y-%m-%d},{10 * price + i % 2 if i < 60 else ''},{price}")
    (tmp_path / "p.csv").write_text("shop,day,x,price\n" + "\n".join(lines))
    args = ("--column", "x", "--id", "shop", "--input", "price", *FORECAST, "--out", tmp_path / "o")
    args += ("--units", "5", "--grid", "small", "--k", "4", "--draws", "1", "--season", "1")
    code, shown, err = run("forecast", tmp_path / "p.csv", *args, "--json")
    assert code == 0, err
    a, b = json.loads(shown)
    assert a["inputs"] == b["inputs"] == ["price"]
    for one, step in ((a, 7), (b, 8)):
        expected = [10 * ((i * step) % 5) for i in range(60, 63)]
        np.testing.assert_allclose([r["forecast"] for r in one["forecast"]], expected, atol=5)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 1, "3 series, told apart by 'shop'"),
        (("--only", "empty"), 2, "name their column with --id"),
        (("--id", "shop", "--only", "north-1"), 1, "did you mean 'north/1'"),
        (("--id", "shops"), 1, "no column 'shops' (option --id): did you mean 'shop'?"),
        (("--id", "shop", "--column", "shop"), 1, "both name 'shop'"),
        (("--duplicates", "median"), 2, "--duplicates"),
    ],
)
def test_wrong_options(run, shops, options, code, words):
    args = (*FORECAST, *options, "--out", shops[0] / "none")
    got, shown, err = run("forecast", shops[0] / "shops.csv", *args)
    assert (got, shown) == (code, "")
    assert words in err and err.count("Error: ") == 1


def test_all_series_have_the_same_column(run, tmp_path):
    """Where one lacks it, this one fails, and no other column is taken for it."""
    rows = [
        f"{one},{day:%Y-%m-%d},{'' if one == 'a' else i % 7},{100 + i % 5}"
        for one in "abcd"
        for i, day in enumerate(pd.date_range("2023-01-01", periods=30))
    ]
    (tmp_path / "p.csv").write_text("shop,day,sales,stock\n" + "\n".join(rows))
    own = "\n".join(row for row in rows if not row.startswith("a"))
    (tmp_path / "p.csv").write_text("shop,day,sales,stock\n" + "\n".join(rows[:30]) + "\n" + own)
    args = (*FORECAST, "--id", "shop", "--out", tmp_path / "o")
    code, _, err = run("forecast", tmp_path / "p.csv", *args, "--column", "sales")
    assert code == 1 and "'a': column 'sales' of p.csv, 'a' holds no numbers" in err
    assert "1 of 4 series failed" in err
    whole = pd.read_csv(tmp_path / "o" / "forecasts.csv")
    assert sorted(set(whole["shop"])) == ["b", "c", "d"] and whole["forecast"].max() < 10


@pytest.mark.parametrize(
    ("head", "ids", "words"),
    [
        ("shop,forecast,day,x", ("shop", "forecast"), "is called as a column of forecasts.csv"),
        ("shop,lower_50,day,x", ("lower_50",), "is called as a column of forecasts.csv"),
        ("shop,item,day,x", ("shop", "shop"), "names a column twice"),
    ],
)
def test_ids_that_cannot_be_written(run, tmp_path, head, ids, words):
    rows = [f"a,{one}" for one in rows_of("x", "y")]
    (tmp_path / "p.csv").write_text(f"{head}\n" + "\n".join(rows))
    given = [part for one in ids for part in ("--id", one)]
    args = ("forecast", tmp_path / "p.csv", *FORECAST, *given, "--out", tmp_path / "o")
    code, shown, err = run(*args)
    assert code and shown == "" and words in err and not (tmp_path / "o").exists()


def test_ids_that_could_be_mistaken_for_others(run, tmp_path):
    rows = [f"a / b,{one}" for one in rows_of("c")] + [f"a,{one}" for one in rows_of("b / c")]
    (tmp_path / "p.csv").write_text("shop,item,day,x\n" + "\n".join(rows))
    args = (*FORECAST, "--id", "shop", "--id", "item", "--out", tmp_path / "o")
    code, _, err = run("forecast", tmp_path / "p.csv", *args)
    assert code == 1 and "column 'shop' of p.csv holds ' / '" in err


def test_sums_add_up_in_the_table_and_are_on_the_page(run, tmp_path):
    rng, days = np.random.default_rng(0), pd.date_range("2023-01-01", periods=40)
    rows = [
        f"{shop},{item},{day:%Y-%m-%d},{rng.integers(3, 30) + i % 7}"
        for shop in ("a", "=b")
        for item in "xyz"
        for i, day in enumerate(days)
    ]
    (tmp_path / "p.csv").write_text("shop,item,day,sold\n" + "\n".join(rows))
    args = ("forecast", tmp_path / "p.csv", *FORECAST, "--id", "shop", "--id", "item")
    code, shown, err = run(*args, "--out", tmp_path / "o", "--total")
    assert code == 0, err
    assert "all levels add up by minimum trace" in err and "errors on the past are" in err
    lines = [line.split() for line in shown.splitlines()]
    at = lines.index(["level", "series", "alone", "reconciled"])
    assert [line[:-2] for line in lines[at + 2 : at + 6]] == [
        ["total", "1"], ["shop", "2"], ["item", "3"], ["shop", "/", "item", "6"]
    ]  # fmt: skip
    whole = pd.read_csv(tmp_path / "o" / "forecasts.csv", dtype=str)
    assert list(whole.columns[:4]) == ["shop", "item", "day", "forecast"]
    ids = list(zip(whole["shop"], whole["item"], strict=True))[::3]
    assert ids[:6] == [
        ("(all)", "(all)"), ("a", "(all)"), ("'=b", "(all)"),
        ("(all)", "x"), ("(all)", "y"), ("(all)", "z"),
    ]  # fmt: skip
    each = whole[(whole["shop"] != "(all)") & (whole["item"] != "(all)")]
    assert len(each) == 18
    for (shop, item, day), one in whole.groupby(["shop", "item", "day"])["forecast"]:
        own = each[each["day"] == day]
        own = own if shop == "(all)" else own[own["shop"] == shop]
        own = own if item == "(all)" else own[own["item"] == item]
        assert sum(map(Decimal, own["forecast"])) == Decimal(one.iloc[0])
    page = (tmp_path / "o" / "index.html").read_text()
    assert "<h2>Sums</h2>" in page and '<th scope="row">(all) / x</th>' in page
    assert "in the mean over 6 series" in page
    code, shown, err = run(*args, "--out", tmp_path / "p", "--total=bottom-up", "--json")
    assert code == 0, err
    found = json.loads(shown)
    assert [one["level"] for one in found] == ["total", *["shop"] * 2, *["item"] * 3, *[
        "shop / item"
    ] * 6]  # fmt: skip
    assert found[0]["id"] == "(all) / (all)" and found[0]["error_in_mean_changes"] > 0
    total = [sum(one["forecast"][h]["forecast"] for one in found[6:]) for h in range(3)]
    np.testing.assert_allclose([one["forecast"] for one in found[0]["forecast"]], total)
    assert run(*args, "--out", tmp_path / "q", "--json")[0] == 0


def test_a_killed_forecast_with_sums_goes_on(run, tmp_path, monkeypatch):
    each = [f"{row}{n // ROWS}" for n, row in enumerate(rows_of(*"abcdefghijkl"))]
    (tmp_path / "p.csv").write_text("shop,day,x\n" + "\n".join(each))
    args = ("forecast", tmp_path / "p.csv", *FORECAST, "--id", "shop", "--total", "--quiet")
    monkeypatch.setattr(recipe_of_many, "BLOCK", 5)
    assert run(*args, "--out", tmp_path / "o")[0] == 0
    right, done = recipe_of_many._past_of, []

    def killed(*args):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(args)
        return right(*args)

    again = (*args, "--checkpoint", tmp_path / "kept", "--out", tmp_path / "p")
    monkeypatch.setattr(recipe_of_many, "_past_of", killed)
    code, shown, err = run(*again)
    assert (code, shown) == (130, "") and "run the same command to go on" in err
    assert len(list((tmp_path / "kept").iterdir())) == 2
    done.clear()
    monkeypatch.setattr(recipe_of_many, "_past_of", lambda *a: done.append(1) or right(*a))
    assert run(*again)[0] == 0 and len(done) == 1
    both = [(tmp_path / one / "forecasts.csv").read_bytes() for one in "op"]
    assert both[0] == both[1]


def test_sums_are_without_series_that_cannot_be_read(run, shops, tmp_path):
    args = (*FORECAST, "--id", "shop", "--total", "--out", tmp_path)
    code, shown, err = run("forecast", shops[0] / "shops.csv", *args)
    assert code == 1 and "sums are without 1 series that cannot be read" in err
    whole = pd.read_csv(tmp_path / "forecasts.csv").set_index("shop")["forecast"]
    np.testing.assert_allclose(
        whole["(all)"].to_numpy(), whole["north/1"].to_numpy() + whole["North:1"].to_numpy()
    )


@pytest.mark.parametrize(
    ("ids", "options", "code", "words"),
    [
        (("a", "b"), (), 2, "--total adds series up: name the column of their ids with --id"),
        (("a", "b"), ("--id", "shop", "--only", "a"), 2, "--only takes one: leave one out"),
        (("a", "(All)"), ("--id", "shop"), 1, "'(All)', which stands for what was summed over"),
        (("a", "b"), ("--id", "shop", "--id", "shop"), 2, "names a column twice"),
        (("a", "b"), ("--id", "shop", "--total", "middle"), 2, "--total was given 2 times"),
    ],
)
def test_totals_that_cannot_be(run, tmp_path, ids, options, code, words):
    (tmp_path / "p.csv").write_text("shop,day,x\n" + "\n".join(rows_of(*ids)))
    args = ("forecast", tmp_path / "p.csv", *FORECAST, "--total", "--out", tmp_path / "o")
    got, shown, err = run(*args, *options)
    assert (got, shown) == (code, "") and words in err
    assert not (tmp_path / "o").exists()


def rows_of(*ids, days=ROWS, freq="D"):
    dates = pd.date_range("2023-01-01", periods=days, freq=freq)
    return [f"{one},{day:%Y-%m-%d},{i % 7 + 3}" for one in ids for i, day in enumerate(dates)]


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ([*rows_of("a", "b"), "b,2023-01-01,99"], 1, "'b' has more than one row for 2023-01-01"),
        ([*rows_of("a", "b"), "c,2023-03-01,"], 1, "column 'x' of p.csv, 'c' holds no numbers"),
        ([*rows_of("a", "b"), "c,2023-01-05,3"], 0, "has one date, which tells no spacing"),
        ([*rows_of("a"), *rows_of("b", freq="W")], 0, "1 are daily, 1 are weekly (Sundays)"),
        (rows_of(1, 2, 3), 0, "3 series"),
        ([*rows_of("a", "b"), ",2023-01-01,5"], 0, "1 row of p.csv without an id"),
        (rows_of("Shop", "shop"), 0, "'Shop' and 'shop' differ in case alone: two series"),
        (rows_of("a", "a ", "b"), 0, "repeat others of p.csv cell by cell"),
        (rows_of("../x", "con", "a/b", "=1+1", "<b>", "x" * 300), 0, "6 series"),
    ],
)
def test_bad_panels(run, tmp_path, rows, code, words):
    (tmp_path / "p.csv").write_text("shop,day,x\n" + "\n".join(rows))
    args = (*FORECAST, "--id", "shop", "--out", tmp_path / "o")
    got, _, err = run("forecast", tmp_path / "p.csv", *args)
    assert words in err and err.count("Error: ") == (1 if code and "failed" not in err else 0)
    assert got == code
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == FILES
    whole = pd.read_csv(tmp_path / "o" / "forecasts.csv")
    assert whole["forecast"].notna().all() and list(whole.columns[:3]) == [
        "shop",
        "day",
        "forecast",
    ]
    assert "<b>" not in (tmp_path / "o" / "index.html").read_text().partition("<main>")[2].replace(
        "</span><b>", ""
    )


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%y 06:00"])
@pytest.mark.parametrize("last", ["2024-03-09", "2024-03-02"])
def test_dates_are_read_in_one_order_in_all_series(run, tmp_path, form, last):
    """Days up to the twelfth could be months: the other series tell."""
    days = {"a": pd.date_range("2024-01-01", "2024-02-29"), "b": pd.date_range("2024-03-01", last)}
    rows = [f"{one},{day.strftime(form)},{place}" for one in days for place, day in
            enumerate(days[one])]  # fmt: skip
    (tmp_path / "p.csv").write_text("\n".join(["shop,day,x", *rows]))
    args = ("forecast", tmp_path / "p.csv", "--id", "shop", *FORECAST, "--out", tmp_path)
    assert run(*args)[0] == 0
    found = pd.read_csv(tmp_path / "forecasts.csv").set_index("shop")["day"]
    found = pd.to_datetime(found, format=form if form in FORMS else None)  # as they were read
    for one, dates in days.items():
        assert (found[one].dt.normalize() == dates[-1] + pd.to_timedelta([1, 2, 3], "D")).all()
    code, shown, _ = run(*args, "--only", "b", "--json")
    assert (
        code == 0
        and pd.Timestamp(next(iter(json.loads(shown)["forecast"][0].values())))
        == found["b"].iloc[0]
    )


def test_a_column_of_different_names_tells_no_series_apart(run, tmp_path):
    (tmp_path / "p.csv").write_text("name,x\na,1\nb,2\nc,3\n")
    args = (*FORECAST, "--id", "name", "--out", tmp_path / "o")
    code, shown, err = run("forecast", tmp_path / "p.csv", *args)
    assert (code, shown) == (1, "")
    assert "3 series apart, 'a', 'b', 'c' first, and none has more than one row" in err


def test_folders_are_safe_and_never_shared():
    ids = [
        "a", "A", "a/b", "a\\b", "a:b", "..", ".", "/etc/passwd", "~", "CON", "con", "nul", "LPT1",
        "x" * 300, "x" * 299 + "y", "é", "e\u0301", "forecasts.csv", "a-2", "日本", " ", "-",
        "ﬁ", "fi",
    ]  # fmt: skip
    names = panels.folder_names(ids)
    assert list(names) == ids
    assert len({name.casefold() for name in names.values()}) == len(ids)
    for name in names.values():
        assert 0 < len(name) < 80 and not set(name) & set('/\\:.*?"<>|~ \n')
        assert name.lower() not in panels.RESERVED
    assert (names["a"], names["日本"], names["forecasts.csv"]) == ("a", "日本", "forecasts-csv")
    assert panels.folder_names(ids) == names
