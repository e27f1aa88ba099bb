"""--holidays on every command, remembered by the model; --fast; what inputs are worth, printed."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from echofold import calendar, load

pytest.importorskip("holidays", reason="needs the extra holidays")

ROWS, HORIZON = 150, 10
SMALL = ("--units", "12", "--grid", "small", "--k", "4", "--draws", "1", "--season", "7")
DAYS = pd.date_range("2023-12-20", periods=ROWS + HORIZON, name="day")
RNG = np.random.RandomState(0)
KNOWN = calendar(DAYS, "DE-BY")
PRICE = np.round(RNG.uniform(1, 2, size=len(DAYS)), 3)
WEEK = np.array([0, 2, 3, 4, 8, -10, -25])[DAYS.day_of_week]
CLOSED = -40 * (KNOWN["DE-BY holiday"] * (DAYS.day_of_week < 5)).to_numpy()
UNITS = np.round(80 + WEEK + CLOSED - 5 * PRICE + RNG.normal(size=len(DAYS)), 2)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = pd.DataFrame({"day": DAYS, "units": UNITS})
    whole.to_csv("whole.csv", index=False)
    whole[:ROWS].to_csv("sales.csv", index=False)
    pd.DataFrame({"day": DAYS, "price": PRICE}).to_csv("prices.csv", index=False)
    part = whole[:ROWS].assign(shop="a")
    pd.concat([part, part.assign(shop="b", units=UNITS[:ROWS] + 9)]).to_csv("shops.csv")


def refused(result, code, *words):
    assert result[0] == code and result[1] == ""
    last = result[2].splitlines()[-1]
    assert last.startswith("Error: ")
    for word in words:
        assert word in last


def test_a_forecast_knows_holidays_and_its_model_remembers_them(run):
    args = ("--horizon", HORIZON, *SMALL, "--json", "--out", "out")
    plain = json.loads(run("forecast", "sales.csv", *args)[1])
    code, out, err = run("forecast", "sales.csv", *args, "--holidays", "DE-BY", "--paydays", "15")
    assert code == 0, err
    assert "inputs known in advance: 'calendar DE-BY'" in err
    found = json.loads(out)
    expected = calendar(DAYS, "DE-BY", paydays=[15])
    assert found["inputs"] == list(expected)
    assert found["verdict"]["error"] < 0.8 * plain["verdict"]["error"]
    assert plain["contributions"] == []
    rows = found["contributions"]
    assert [row["left_out"] for row in rows] == ["nothing", "calendar DE-BY"]
    assert rows[1]["ratio"] > 1.2 and rows[1]["error"] > rows[0]["error"]
    assert "What the inputs are worth" in Path("out/report.html").read_text()
    model = load("out/model.echofold")
    same = model.forecast(HORIZON, X=expected[ROWS:])
    np.testing.assert_allclose(same.mean, [row["forecast"] for row in found["forecast"]])
    code, out, err = run("update", "out/model.echofold", "whole.csv", "--json")
    assert code == 0, err
    later = pd.date_range(DAYS[-1] + pd.Timedelta("1D"), periods=HORIZON, name="day")
    y = pd.Series(UNITS[ROWS:], DAYS[ROWS:], name="units")
    model.update(y, expected[ROWS:])
    ahead = model.forecast(X=calendar(later, "DE-BY", paydays=[15]))
    np.testing.assert_allclose(ahead.mean, [row["forecast"] for row in json.loads(out)["forecast"]])


def test_inputs_and_a_calendar_go_together(run):
    args = ("--horizon", HORIZON, *SMALL, "--holidays", "DE", "--inputs", "prices.csv")
    code, out, err = run("forecast", "sales.csv", *args)
    assert code == 0, err
    assert "inputs known in advance: 'price', 'calendar DE'" in err
    table = out[out.index("left out") :].splitlines()
    assert [line.split("  ")[0] for line in table[2:6]] == [
        "nothing", "price", "calendar DE", "all inputs",
    ]  # fmt: skip
    assert table[2].split()[-1] != "100%" and table[3].endswith("%")
    assert "RMSE of the best network on these stretches" in out
    last = pd.DataFrame({"day": DAYS + pd.Timedelta(days=HORIZON), "price": PRICE[::-1]})
    pd.concat([pd.read_csv("prices.csv", parse_dates=["day"]), last[-HORIZON:]]).to_csv(
        "prices.csv", index=False
    )
    model = "echofold-results/model.echofold"
    refused(run("update", model, "whole.csv"), 1, "inputs 'price' of the model are not given")
    assert run("update", model, "whole.csv", "--inputs", "prices.csv")[0] == 0


def test_a_calendar_in_a_file_is_taken_from_there(run):
    known = calendar(pd.date_range(DAYS[0], periods=200, name="day"), "DE")
    known["DE holiday"] *= 5.0  # which a calendar made anew would not have
    known.to_csv("calendar.csv")
    args = ("--horizon", HORIZON, *SMALL)
    assert run("forecast", "sales.csv", *args, "--inputs", "calendar.csv", "--json")[0] == 0
    both = [json.loads(run("update", "echofold-results/model.echofold", "whole.csv", "--inputs",
                           "calendar.csv", "--json")[1])]  # fmt: skip
    assert both[0]["new"] == HORIZON
    refused(
        run("forecast", "sales.csv", *args, "--inputs", "calendar.csv", "--holidays", "DE"),
        1, "input 'DE holiday' is one of --holidays too",
    )  # fmt: skip


def test_a_name_like_those_of_a_calendar_is_taken_as_it_is(run):
    pd.DataFrame({"day": DAYS, "UK holiday": PRICE}).to_csv("prices.csv", index=False)
    args = ("--inputs", "prices.csv")
    assert run("forecast", "sales.csv", "--horizon", 3, *SMALL, *args)[0] == 0
    update = ("update", "echofold-results/model.echofold", "whole.csv", "--horizon", "3")
    pd.DataFrame({"day": DAYS, "units": UNITS})[: ROWS + 3].to_csv("whole.csv", index=False)
    assert run(*update, *args)[0] == 0
    refused(run(*update), 1, "'UK' is no code")


def test_validate_and_panels_take_a_calendar(run):
    args = (*SMALL, "--holidays", "DE-BY", "--json")
    code, out, err = run("validate", "sales.csv", "--test", HORIZON, *args, "--final", "retrain")
    assert code == 0, err
    assert json.loads(out)["inputs"] == list(KNOWN)
    code, out, err = run("forecast", "shops.csv", "--id", "shop", "--column", "units", "--horizon",
                         HORIZON, *args)  # fmt: skip
    assert code == 0, err
    assert [one["inputs"] for one in json.loads(out)] == 2 * [list(KNOWN)]


def test_months_have_counts(run):
    months = pd.date_range("2015-01-01", periods=60, freq="MS")
    days = calendar(months, "US")["US working day"]
    pd.DataFrame({"month": months.strftime("%Y-%m"), "x": 9 * days}).to_csv("m.csv", index=False)
    code, out, err = run("forecast", "m.csv", "--horizon", "3", *SMALL[:-2], "--holidays", "US",
                         "--json")  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["inputs"] == ["US holiday", "US working day", "US easter"]
    assert json.loads(out)["contributions"][1]["ratio"] > 1.5


def test_fast_is_an_effort(run):
    args = ("forecast", "sales.csv", "--horizon", "3", "--season", "7", "--units", "5", "--json")
    found = [
        json.loads(run(*args, *more)[1])["networks"]["searched"]
        for more in (["--fast"], ["--effort", "fast"], ["--fast", "--effort", "fast"])
    ]
    assert found[0] == found[1] == found[2]
    words = "--fast and --effort high contradict each other"
    refused(run(*args, "--fast", "--effort", "high"), 2, words)
    refused(run("validate", "sales.csv", "--effort", "high", "--fast"), 2, words)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--holidays", "Germany"], 1, ["'Germany' is no code", "Did you mean 'DE'?"]),
        (["--holidays", "DE-XX"], 1, ["'DE' has no subdivision 'XX'", "'BB'"]),
        (["--holidays", "DE", "--date", "none"], 1, ["--holidays needs dates", "--date"]),
        (["--paydays", "15"], 2, ["--paydays need a country", "--holidays"]),
        (["--holidays", "DE", "--paydays", "32"], 2, ["'32' is not a day of the month"]),
        (["--holidays", "DE", "--holidays", "FR"], 2, ["--holidays was given 2 times"]),
    ],
)
def test_wrong_use(run, options, code, words):
    refused(run("forecast", "sales.csv", "--column", "units", "--horizon", "3", *options),
            code, *words)  # fmt: skip


def test_without_the_package(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    refused(run("forecast", "sales.csv", "--horizon", "3", "--holidays", "DE"), 1,
            "pip install 'echofold[holidays]'")  # fmt: skip
