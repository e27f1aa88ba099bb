"""Models of several series moved on: each compared and judged, all of them, nothing lost."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from lives import KILLED, content_of, refused, rows

from echofold import AutoForecaster, load, save
from echofold._search.panel import unit_of
from echofold.cli.history import judged, read_history
from echofold.cli.updates import _ranked
from echofold.experiments._tables import EXACT

MONTHS = pd.date_range("2019-01-01", periods=40, freq="MS", name="month")
BEGIN, HORIZON, SHOPS = 28, 3, 11
CHANCE = np.random.RandomState(1)
SOLD = pd.DataFrame(
    {
        f"shop {n}": 50 + 10 * n + np.arange(40) / 2 + CHANCE.normal(size=40).cumsum()
        for n in range(SHOPS)
    },
    MONTHS,
).round(2)  # fmt: skip
LATE = "shop 3"  # which a month came late of


def long(wide):
    """A row for each time of each series."""
    return wide.melt(ignore_index=False, var_name="shop", value_name="sold").dropna()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with what a forecast of all has written."""
    from echofold.cli.app import app

    folder = tmp_path_factory.mktemp("fitted")
    file = rows(folder, long(SOLD[:BEGIN]))
    args = ["forecast", file, "--id", "shop", "--horizon", HORIZON, "--out", folder / "out"]
    assert app.main([str(arg) for arg in args], standalone_mode=False) == 0
    return folder / "out"


@pytest.fixture
def model(fitted, tmp_path):
    """A copy of its model, and of its page."""
    (tmp_path / "life").mkdir()
    for name in ("model.echofold", "index.html"):
        (tmp_path / "life" / name).write_bytes((fitted / name).read_bytes())
    return tmp_path / "life/model.echofold"


def seen(number):
    """The file of each month; a value of one series comes a month late."""
    wide = SOLD[: BEGIN + number + 1].copy()
    if number == 4:
        wide.iloc[-1, wide.columns.get_loc(LATE)] = np.nan
    return long(wide if number % 2 else wide.iloc[-2:])


def by_hand(path, number_of_updates):
    """What a user would find who compares in Python: a plain transcription."""
    own, found = load(path), []
    stood = dict.fromkeys(SOLD, BEGIN)
    for number in range(number_of_updates):
        ahead, each, new = own.forecast(), {}, {}
        for name in SOLD:
            end = BEGIN + number + (0 if number == 4 and name == LATE else 1)
            if end == stood[name]:
                continue
            new[name], one = SOLD[name][stood[name] : end], own.series_[name]
            steps = len(new[name])
            low, high = (side[0.9][name][:steps] for side in (ahead.lower, ahead.upper))
            said, typical = ahead.mean[name][:steps], np.abs(one.residuals_[:, :steps, 0])
            each[name] = {
                "truth": new[name].tolist(),
                "mean": said.tolist(),
                "error": (new[name] - said).abs().mean(),
                "bias": (new[name] - said).mean(),
                "expected": np.nanmean(typical, axis=0).mean(),
                "inside": float(((low <= new[name]) & (new[name] <= high)).mean()),
                "unit": unit_of(one, one.values_),
            }
            stood[name] = end
        found.append(each)
        own.update(new)
    return found, own


@pytest.mark.parametrize(
    "kills",
    [
        {2: ("replace", 2), 5: ("fsync", 3)},  # before the model is in its place; before the page
        pytest.param({1: ("replace", 1), 4: ("replace", 4)}, marks=pytest.mark.slow),
    ],
)
def test_months_of_many_series_killed_twice(run, model, tmp_path, kills):
    expected, own = by_hand(model, 9)
    history = model.parent / "model.history.jsonl"
    for number in range(9):
        args = ("update", model, rows(tmp_path, seen(number)), "--id", "shop")
        if number in kills:
            before = read_history(history)
            name, left = kills[number]
            killed = [sys.executable, "-c", KILLED, name, left, *args]
            assert subprocess.run(list(map(str, killed)), capture_output=True).returncode == -9
            load(model)  # whole
            after = read_history(history)
            assert after[: len(before)] == before and len(after) - len(before) == (left > 1)
        code, _, err = run(*args)
        assert code == 0, err
        if number in kills:  # the same file again changes nothing
            there = content_of(model.parent)
            assert run(*args)[0] == 0
            assert content_of(model.parent) == there
    known = read_history(history)
    assert len(known) == 9
    for one, other in zip(known, expected, strict=True):
        assert one["series"].keys() == other.keys()
        for name, by_name in other.items():
            found = {**one["series"][name], "inside": one["series"][name]["inside"]["0.9"]}
            assert {key: found[key] for key in by_name} == by_name  # to the digit
        values = [len(by_name["truth"]) for by_name in other.values()]
        units = np.array([by_name["unit"] for by_name in other.values()])
        for key in ("error", "bias", "expected"):
            each = np.array([by_name[key] for by_name in other.values()])
            assert one[key] == pytest.approx((values * each / units).sum() / sum(values), rel=1e-12)
        assert one["compared"] == max(values)
    assert LATE not in known[4]["series"] and len(known[5]["series"][LATE]["truth"]) == 2
    table = pd.read_csv(model.parent / "forecasts.csv", **EXACT)
    ahead = own.forecast()
    for name, part in table.groupby("shop"):
        assert part["forecast"].tolist() == ahead.mean[name].tolist()
        assert part["upper_90"].tolist() == ahead.upper[0.9][name].tolist()
        assert part["month"].tolist() == ahead.mean[name].index.strftime("%Y-%m-%d").tolist()
    page = (model.parent / "updates.html").read_text(encoding="utf-8")
    assert page.count('<th scope="row">shop') == SHOPS and page.count("<svg") == 4
    report = (model.parent / "index.html").read_text(encoding="utf-8")
    assert judged(known, "step").words in report and report.count("2021-04-01</th>") == 1


def test_what_is_printed_of_many(run, model, tmp_path):
    losing = SOLD[: BEGIN + 9].copy()
    losing.iloc[BEGIN:, 2] += 300
    for last in (BEGIN + 3, BEGIN + 6, BEGIN + 9):
        file = rows(tmp_path, long(losing[:last]))
        code, out, _ = run("update", model, file, "--id", "shop", "--json")
    found = json.loads(out)
    assert (code, found["new"], found["updates"]) == (0, 3 * SHOPS, 3)
    assert out.count('"losing": true') == found["judgement"]["losing"]  # the nightly job looks
    known = read_history(model.parent / "model.history.jsonl")
    error, expected = (
        pd.DataFrame([{name: of[key] for name, of in one["series"].items()} for one in known])
        for key in ("error", "expected")
    )
    far = error.mean() / expected.mean()
    assert set(found["losing"]) == set(far[far > 1.5].index) != set(SOLD)
    assert found["losing"][0] == found["series"][0]["id"] == far.idxmax() == "shop 2"
    assert found["judgement"]["compared"] == 9 and found["compared"]["series"] == SHOPS
    assert [len(one["forecast"]) for one in found["series"]] == SHOPS * [HORIZON]
    assert found["files"]["forecast"] == str(model.parent / "forecasts.csv")
    code, out, _ = run("update", model, file, "--id", "shop")
    assert code == 0 and out.startswith("Nothing new in new.csv: most series stand at 2022-01-01.")
    assert "losing" in out and "wrote" not in out
    assert "steps" in out and "in units of each series' mean change" in out
    out = run("update", model, file, "--id", "shop", "--quiet")[1]
    assert out.splitlines()[0] == str(model)


def test_series_that_come_and_go_and_fail(run, model, tmp_path):
    wide = SOLD[: BEGIN + 1].drop(columns=["shop 0", "shop 1"]).assign(new=1.0)
    table = long(wide)
    far = table["shop"].eq("shop 4") & (table.index == MONTHS[BEGIN])
    table = pd.concat([table[~far], long(SOLD[["shop 4"]].iloc[BEGIN + 3 : BEGIN + 4])])
    table["sold"] = table["sold"].astype(object).where(table["shop"].ne("shop 5"), "?")
    code, out, err = run("update", model, rows(tmp_path, table), "--id", "shop", "--json")
    found = {one["id"]: one for one in json.loads(out)["series"]}
    assert code == 1
    assert {name for name, one in found.items() if one["new"]} == {
        f"shop {n}" for n in (2, 3, 4, 6, 7, 8, 9, 10)
    }
    assert "shop 5" in err and "holds no numbers" in found["shop 5"]["error"]
    assert "1 series of new.csv, 'new' first, the model does not know" in err
    assert "2 series of the model, 'shop 0', 'shop 1' first, new.csv does not hold" in err
    page = (model.parent / "updates.html").read_text(encoding="utf-8")
    assert "could not be moved on" in page and "holds no numbers" in page
    table = pd.read_csv(model.parent / "forecasts.csv")
    assert set(table["shop"]) == set(SOLD)  # from where each stands


def test_columns_are_series_too(run, tmp_path):
    file = rows(tmp_path, SOLD.iloc[:BEGIN, :2].assign(other=2.0))
    both = ("--column", "shop 0", "--column", "shop 1")
    assert run("forecast", file, *both, "--horizon", "3", "--out", tmp_path)[0] == 0
    model = tmp_path / "model.echofold"
    own = load(model)
    file = rows(tmp_path, SOLD.iloc[: BEGIN + 2, :2].assign(other=2.0))
    found = json.loads(run("update", model, file, *both, "--json")[1])
    assert found["new"] == 4
    file = rows(tmp_path, SOLD.iloc[BEGIN + 2 : BEGIN + 3, :2].assign(other=2.0))
    found = json.loads(run("update", model, file, "--json")[1])  # known by their names
    assert found["new"] == 2 and found["updates"] == 2
    own.update({name: SOLD[name][BEGIN : BEGIN + 3] for name in SOLD.columns[:2]})
    table = pd.read_csv(tmp_path / "forecasts.csv", **EXACT)
    for name, part in table.groupby("column"):
        assert part["forecast"].tolist() == own.forecast().mean[name].tolist()


def test_inputs_of_many(run, tmp_path):
    index = MONTHS[: BEGIN + 10]
    price = pd.DataFrame({"price": np.arange(len(index)) % 4 + 1.0}, index)
    two = SOLD.iloc[:, :2]
    auto = AutoForecaster(HORIZON, progress=False, search={"units": 5, "grid": "small", "draws": 1})
    each = {name: two[name] for name in two}
    wide = pd.concat([two[:20], two[20:BEGIN]])  # enough for networks
    auto.fit({name: wide[name] for name in wide}, dict.fromkeys(wide, price[:BEGIN]))
    model = tmp_path / "model.echofold"
    save(auto, model)
    file, beside = rows(tmp_path, long(two[: BEGIN + 2])), rows(tmp_path, price, "price.csv")
    used = [one.X_schema_ is not None for one in auto.series_.values()]
    assert all(used)
    refused(run("update", model, file, "--id", "shop"), "price", "--inputs")
    found = run("update", model, file, "--id", "shop", "--inputs", beside)
    assert found[0] == 0, found
    new = {name: one[BEGIN : BEGIN + 2] for name, one in each.items()}
    auto.update(new, dict.fromkeys(new, price[BEGIN : BEGIN + 2]))
    ahead = auto.forecast(X=dict.fromkeys(new, price[BEGIN + 2 : BEGIN + 5])).mean
    table = pd.read_csv(tmp_path / "forecasts.csv", **EXACT)
    for name, part in table.groupby("shop"):
        assert part["forecast"].tolist() == ahead[name].tolist()


def test_what_does_not_fit_is_refused_and_changes_nothing(run, model, tmp_path):
    there, file = content_of(model.parent), rows(tmp_path, long(SOLD))
    refused(run("update", model, file), "11 series", "--id")
    refused(run("update", model, file, "--id", "shop", "--only", "shop 1"), "--only")
    refused(run("update", model, file, "--id", "shop", "--learn"), "--learn", "cannot learn on")
    refused(run("update", model, file, "--id", "nothing"), "nothing")
    other = rows(tmp_path, long(SOLD.add_prefix("a ")), "other.csv")
    refused(run("update", model, other, "--id", "shop"), "none of the 11 series", "'a shop 0'")
    far = rows(tmp_path, long(SOLD[BEGIN + 9 :]), "far.csv")
    refused(run("update", model, far, "--id", "shop"), "none of the series", "goes on at 2022-02")
    assert content_of(model.parent) == there


def test_the_worst_are_first():
    record = {"compared": 8, "error": 1.0, "expected": 1.0, "bias": 0.0, "plain": None,
              "inside": {"0.9": 1.0}, "truth": [1.0, -1.0], "mean": [0.0, 0.0]}  # fmt: skip
    each = {"fine": record, "losing": {**record, "error": 2.0}, "worse": {**record, "error": 1.2}}
    found = _ranked(dict.fromkeys([*each, "quiet"]), [{"series": each}])
    assert list(found) == ["losing", "worse", "fine", "quiet"]
    assert [one.losing for one in found.values()] == [True, False, False, False]
