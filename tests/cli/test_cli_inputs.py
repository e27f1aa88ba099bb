"""Inputs known in advance, from a file of their own or from columns of the series' file."""

import json

import numpy as np
import pandas as pd
import pytest

from echofold import load
from echofold.cli.output import Output
from echofold.cli.reading import read_inputs, read_series

ROWS, HORIZON = 120, 10
SMALL = ("--units", "12", "--grid", "small", "--k", "4", "--draws", "1", "--season", "1", "--json")
DAYS = pd.date_range("2024-01-01", periods=ROWS + HORIZON)
RNG = np.random.RandomState(0)
PROMOTION = RNG.uniform(size=ROWS + HORIZON) < 0.3
PRICE = np.round(RNG.uniform(1, 2, size=ROWS + HORIZON), 3)
UNITS = np.round(50 + 20 * PROMOTION - 15 * PRICE + RNG.normal(size=ROWS + HORIZON), 3)
SALES = pd.DataFrame({"day": DAYS[:ROWS], "units": UNITS[:ROWS]})
CALENDAR = pd.DataFrame({"day": DAYS, "promotion": PROMOTION, "price": PRICE})


@pytest.fixture
def given(tmp_path):
    """Read a series with its inputs: two frames, or one with named columns."""

    def read(main, calendar=None, columns=(), horizon=HORIZON, suffix="csv", **options):
        paths = {"sales": main, "calendar": calendar}
        for name, frame in paths.items():
            if frame is not None and suffix == "csv":
                frame.to_csv(tmp_path / f"{name}.csv", index=False)
            elif frame is not None:
                frame.to_parquet(tmp_path / f"{name}.{suffix}")
        output = Output(quiet=True, as_json=False)
        reads = {"date": None, "column": None, "season": (1,)} | options
        alike = {"date_format": None, "decimal": None, "fill": reads.pop("fill", "leave")}
        series = read_series(
            str(tmp_path / f"sales.{suffix}"), output.note, inputs=columns, **alike, **reads
        )
        file = None if calendar is None else str(tmp_path / f"calendar.{suffix}")
        return series, read_inputs(series, horizon, output.note, file=file, **alike), output.notes

    return read


def refused(read, match, *args, **options):
    with pytest.raises(ValueError, match=match) as error:
        read(*args, **options)
    assert "\n" not in str(error.value)


def test_a_file_beside_the_series(given):
    series, inputs, notes = given(SALES, CALENDAR)
    assert notes == []
    assert inputs.names == ["promotion", "price"]
    assert inputs.past.index.equals(series.values.index) and inputs.ahead.index.equals(DAYS[ROWS:])
    np.testing.assert_array_equal(inputs.past, np.column_stack([PROMOTION, PRICE])[:ROWS])
    np.testing.assert_array_equal(inputs.ahead, np.column_stack([PROMOTION, PRICE])[ROWS:])
    assert given(SALES)[1] is None


def test_rows_in_any_order_and_more_than_needed(given):
    wider = pd.date_range("2023-12-30", periods=ROWS + HORIZON + 5)
    calendar = pd.DataFrame({"when": wider, "price": np.r_[0, 0, PRICE, 0, 0, 0]})
    _, inputs, notes = given(SALES, calendar.sample(frac=1, random_state=0))
    np.testing.assert_array_equal(inputs.past["price"], PRICE[:ROWS])
    assert len(notes) == 2
    assert "2 rows of calendar.csv before the first value are not needed" in notes[0]
    assert "3 rows of calendar.csv after the last step are not needed" in notes[1]


def test_columns_of_the_file_with_rows_to_come(given):
    whole = CALENDAR.assign(units=[*UNITS[:ROWS], *[None] * HORIZON])
    series, inputs, notes = given(whole, columns=("price", "promotion"))
    assert notes == [] and series.values.name == "units" and len(series.values) == ROWS
    assert inputs.names == ["price", "promotion"]
    np.testing.assert_array_equal(inputs.ahead["price"], PRICE[ROWS:])
    _, fewer, _ = given(whole, columns=("price",), horizon=4)
    np.testing.assert_array_equal(fewer.ahead["price"], PRICE[ROWS : ROWS + 4])
    refused(given, r"10 rows after its last value, but --input needs 11, until 2024-05-10",
            whole, columns=("price",), horizon=11)  # fmt: skip
    refused(given, "no row for 2024-05-03, which is to be forecast", whole.drop(index=[ROWS + 3]),
            columns=("price",))  # fmt: skip
    refused(given, "no column 'prize'.*--input.*did you mean 'price'", whole, columns=("prize",))
    refused(given, "--input units: this column is to be forecast", whole, columns=("units",),
            column="units")  # fmt: skip


def test_rows_of_missing_dates_are_as_the_values_are(given):
    whole = CALENDAR.assign(units=[*UNITS[:ROWS], *[None] * HORIZON]).drop(index=[20, 21])
    columns = ("price", "promotion")
    _, inputs, notes = given(whole, columns=columns)
    assert inputs.past.isna().all(axis=1).sum() == inputs.past.isna().any(axis=1).sum() == 2
    assert any("inputs in the 2 missing rows are filled with the value before" in n for n in notes)
    _, inputs, notes = given(whole, columns=columns, fill="interpolate")
    expected = np.interp([20, 21], [19, 22], PRICE[[19, 22]])
    np.testing.assert_allclose(inputs.past["price"].iloc[20:22], expected)
    assert set(inputs.past["promotion"].iloc[20:22]) == {float(PROMOTION[19])}
    assert any("inputs in the 2 missing rows are filled along straight" in note for note in notes)
    _, inputs, _ = given(whole, columns=columns, fill="forward")
    assert inputs.past["price"].iloc[21] == PRICE[19]
    cut = SALES.drop(index=[20, 21])
    _, inputs, _ = given(cut, CALENDAR)  # which has these days
    np.testing.assert_array_equal(inputs.past["price"], PRICE[:ROWS])
    refused(given, "no row for 2024-01-21 and for 1 other date of the 130", cut,
            CALENDAR.drop(index=[20, 21]))  # fmt: skip


@pytest.mark.parametrize("words", [("True", "False"), ("yes", "no"), ("Y", "N"), (1, 0)])
def test_yes_and_no(given, words):
    _, inputs, _ = given(SALES, CALENDAR.assign(promotion=np.where(PROMOTION, *words)))
    np.testing.assert_array_equal(inputs.past["promotion"], PROMOTION[:ROWS])


def test_names_become_an_input_each(given):
    names = np.array([""] * (ROWS + HORIZON), dtype=object)
    names[[5, 40, ROWS + 2]], names[[9, 77]], names[ROWS + 5] = "Easter", "May Day", "Christmas"
    _, inputs, notes = given(SALES, CALENDAR[["day"]].assign(holiday=names))
    assert inputs.names == ["holiday=Easter", "holiday=May Day"]
    np.testing.assert_array_equal(np.flatnonzero(inputs.past["holiday=Easter"]), [5, 40])
    np.testing.assert_array_equal(np.flatnonzero(inputs.ahead["holiday=Easter"]), [2])
    assert any("never change beside the values: 'holiday=Christmas'" in note for note in notes)
    many = CALENDAR[["day"]].assign(shop=[f"shop {i % 21}" for i in range(ROWS + HORIZON)])
    refused(given, "'shop' of calendar.csv holds 21 different names.*at most 20", SALES, many)


def test_parquet(given):
    pytest.importorskip("pyarrow")
    _, inputs, _ = given(SALES, CALENDAR, suffix="parquet")
    np.testing.assert_array_equal(inputs.ahead, np.column_stack([PROMOTION, PRICE])[ROWS:])


def test_rows_without_dates_are_taken_in_order(given):
    main, calendar = SALES[["units"]], CALENDAR[["promotion", "price"]]
    series, inputs, notes = given(main, calendar)
    assert list(inputs.ahead.index) == list(range(ROWS + 1, ROWS + HORIZON + 1))
    np.testing.assert_array_equal(inputs.ahead["price"], PRICE[ROWS:])
    refused(given, "130 rows, and 131 are needed: one for each of the 120 values .* and 11 for",
            main, calendar, horizon=11)  # fmt: skip
    _, _, notes = given(main, calendar, horizon=7)
    assert notes == ["the last 3 rows of calendar.csv are not needed."]
    _, dated, notes = given(main, CALENDAR)
    assert dated.names == ["promotion", "price"]
    assert any("dates in 'day' of calendar.csv are not used" in note for note in notes)


def test_numbered_rows_are_matched_by_their_numbers(given):
    numbered = np.arange(100, 100 + 2 * (ROWS + HORIZON), 2)
    main = pd.DataFrame({"id": numbered[:ROWS], "units": UNITS[:ROWS]})
    calendar = pd.DataFrame({"id": numbered, "price": PRICE})
    _, inputs, _ = given(main, calendar.sample(frac=1, random_state=0), date="id")
    np.testing.assert_array_equal(inputs.past["price"], PRICE[:ROWS])
    assert list(inputs.ahead.index) == list(numbered[ROWS:])
    dated = calendar.assign(id=DAYS)
    refused(given, "'id' of calendar.csv holds dates, but .* numbers", main, dated, date="id")


def test_months_may_be_named_by_another_day_if_the_values_are(given):
    ends = pd.date_range("2010-01-01", periods=ROWS + HORIZON, freq="BME")
    main = pd.DataFrame({"day": ends[:ROWS], "units": UNITS[:ROWS]})
    _, inputs, notes = given(main.drop(index=[7]), CALENDAR.assign(day=ends))
    np.testing.assert_array_equal(inputs.past["price"], PRICE[:ROWS])
    assert "dates of the inputs are moved to the start of their period." in notes


def test_files_that_do_not_fit(given):
    short = CALENDAR.iloc[: ROWS + 4]
    refused(given, "calendar.csv ends at 2024-05-03, but inputs are needed until 2024-05-09, for "
            "the 10 steps to forecast after sales.csv; add 6 rows", SALES, short)  # fmt: skip
    refused(given, "no row for 2024-01-01 and for 129 other dates of the 130 that are needed, "
            "2024-01-01 to 2024-05-09", SALES, CALENDAR.assign(
                day=CALENDAR["day"] + pd.Timedelta(days=900)))  # fmt: skip
    refused(given, "more than one row for 2024-01-06, rows 6 and 131; keep one", SALES,
            pd.concat([CALENDAR, CALENDAR.iloc[[5]]]))  # fmt: skip
    refused(given, "calendar.csv has no column of dates, but sales.csv has.*'day'", SALES,
            CALENDAR[["price"]])  # fmt: skip
    refused(given, "no column beside its dates", SALES, CALENDAR[["day"]])
    refused(given, "calendar.csv holds 'units', which is to be forecast", SALES,
            CALENDAR.assign(units=UNITS))  # fmt: skip
    refused(given, "no input changes beside the values", SALES, CALENDAR[["day"]].assign(one=1))
    whole = CALENDAR.assign(units=[*UNITS[:ROWS], *[None] * HORIZON])
    refused(given, "input 'price' is in sales.csv and in .*calendar.csv", whole, CALENDAR,
            columns=("price",), column="units")  # fmt: skip


def test_cells_that_do_not_fit(given):
    price = PRICE.astype(object)
    price[16] = "cheap"
    refused(given, "'price' of calendar.csv holds 'cheap' in row 17, but numbers", SALES,
            CALENDAR.assign(price=price))  # fmt: skip
    price[16] = "1e200"
    refused(given, "'price' of calendar.csv holds '1e200' in row 17, too large", SALES,
            CALENDAR.assign(price=price))  # fmt: skip
    price[[16, 50]] = None
    empty = "'price' of {} is empty in row 17 and 1 more row; .* fill it in"
    refused(given, empty.format("calendar.csv"), SALES, CALENDAR.assign(price=price))
    whole = CALENDAR.assign(price=price, units=[*UNITS[:ROWS], *[None] * HORIZON])
    refused(given, empty.format("sales.csv"), whole, columns=("price",))
    flags = np.where(PROMOTION, "yes", "no").astype(object)
    flags[ROWS + 1] = ""
    refused(given, "'promotion' of calendar.csv is empty in row 122;", SALES,
            CALENDAR.assign(promotion=flags))  # fmt: skip


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SALES.to_csv("sales.csv", index=False)
    CALENDAR.to_csv("calendar.csv", index=False)
    whole = CALENDAR.assign(units=[*UNITS[:ROWS], *[None] * HORIZON])
    whole.to_csv("whole.csv", index=False)


def test_informative_inputs_lower_the_error(run, tmp_path):
    args = ("--horizon", HORIZON, *SMALL, "--out", "out")
    plain = json.loads(run("forecast", "sales.csv", *args)[1])
    code, out, err = run("forecast", "sales.csv", *args, "--inputs", "calendar.csv")
    assert code == 0, err
    assert "inputs known in advance: 'promotion', 'price'" in err
    informed = json.loads(out)
    assert (plain["inputs"], informed["inputs"]) == ([], ["promotion", "price"])
    assert informed["verdict"]["error"] < plain["verdict"]["error"] / 2
    weights = {row["member"]: row["weight"] for row in informed["members"]}
    assert weights["networks"] > 0.9  # only they learn from inputs
    ahead = np.array([row["forecast"] for row in informed["forecast"]])
    assert np.sqrt(np.mean((ahead - UNITS[ROWS:]) ** 2)) < 0.4 * UNITS.std()
    assert [row["time"] for row in informed["forecast"]] == list(DAYS[ROWS:].strftime("%Y-%m-%d"))
    known = CALENDAR.set_index("day").astype(float).asfreq("D").iloc[ROWS:]
    again = load(tmp_path / "out" / "model.echofold").forecast(HORIZON, X=known, level=0.9)
    np.testing.assert_allclose(again.mean, ahead)
    assert "promotion, price" in (tmp_path / "out" / "report.html").read_text()
    columns = ("--input", "promotion", "--input", "price")
    same = json.loads(run("forecast", "whole.csv", *args, *columns)[1])
    assert same["forecast"] == informed["forecast"]


def test_inputs_are_of_no_use_without_networks(run):
    SALES.iloc[-30:].to_csv("short.csv", index=False)
    args = ("--horizon", HORIZON, *SMALL, "--out", "out")
    code, out, err = run("forecast", "short.csv", *args, "--inputs", "calendar.csv")
    assert code == 0 and "only networks learn from them" in err
    assert (
        json.loads(out)["forecast"]
        == json.loads(run("forecast", "short.csv", *args)[1])["forecast"]
    )


def test_validate_takes_inputs(run):
    args = ("--test", HORIZON, *SMALL, "--scheme", "accumulative", "--final", "retrain")
    plain = json.loads(run("validate", "sales.csv", *args)[1])
    code, out, err = run("validate", "sales.csv", *args, "--inputs", "calendar.csv")
    assert code == 0, err
    informed = json.loads(out)
    assert informed["inputs"] == ["promotion", "price"]
    assert informed["test"] < plain["test"] / 2
    assert informed["schemes"][0]["test"] < plain["schemes"][0]["test"] / 2
    code, out, _ = run("validate", "whole.csv", *args, "--input", "promotion", "--input", "price")
    assert json.loads(out)["schemes"] == informed["schemes"]


def test_errors_end_in_one_line(run):
    code, out, err = run("forecast", "sales.csv", "--horizon", "11", "--inputs", "calendar.csv")
    assert (code, out) == (1, "") and err.startswith("Error: calendar.csv ends at 2024-05-09")
    code, _, err = run("forecast", "sales.csv", "--horizon", "3", "--inputs", "calender.csv")
    assert code == 1 and "did you mean 'calendar.csv'" in err
