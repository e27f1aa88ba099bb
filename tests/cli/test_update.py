"""A model's life after its first forecast: moved on, compared, judged; nothing is ever lost."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lives import KILLED, content_of, refused, rows

from echofold import AutoForecaster, ESNClassifier, ESNForecaster, ESNSearchCV, KFold, load, save
from echofold._machine.files import alone_with
from echofold._models.forecast import Forecast
from echofold.cli.history import ENOUGH, FIELDS, judged, read_history, record_of
from echofold.cli.update import _after
from echofold.experiments._tables import EXACT

MONTHS = pd.date_range("2015-01-01", periods=96, freq="MS", name="month")
CHANCE = np.random.RandomState(0)
SALES = pd.Series(
    (100 + np.arange(96) / 3 + 20 * np.sin(np.arange(96) * np.pi / 6) + CHANCE.normal(size=96)),
    MONTHS, name="sales",
).round(2)  # fmt: skip
BEGIN, HORIZON = 72, 6
FEW = {"units": 5, "grid": "small", "draws": 1, "k": 4}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model of the first years, in a file."""
    path = tmp_path_factory.mktemp("fitted") / "model.echofold"
    save(AutoForecaster(HORIZON, search=FEW, progress=False).fit(SALES[:BEGIN]), path)
    return path


@pytest.fixture
def model(fitted, tmp_path):
    """A copy of it."""
    (tmp_path / "life").mkdir()
    path = tmp_path / "life/model.echofold"
    path.write_bytes(fitted.read_bytes())
    return path


def by_hand(path, months):
    """What a user would find who compares in Python: a plain transcription."""
    own, found = load(path), []
    typical = np.abs(own.residuals_[:, :, 0])
    for month in months:
        ahead, true = own.forecast(), SALES[month]
        low, high = (end[0.9].iloc[0] for end in (ahead.lower, ahead.upper))
        found.append({
            "after": f"{month - pd.DateOffset(months=1):%Y-%m-%d}",
            "mean": ahead.mean.tolist(),
            "upper": ahead.upper[0.9].tolist(),
            "truth": [true],
            "error": abs(true - ahead.mean.iloc[0]),
            "bias": true - ahead.mean.iloc[0],
            "expected": np.nanmean(typical[:, 0]),
            "inside": float(low <= true <= high),
        })  # fmt: skip
        own.update(SALES[[month]])
    return found, own


@pytest.mark.parametrize(
    "kills",
    [
        # Between the history and the model, and within the model's file; before the history, and
        # between the model and the page.
        {9: ("replace", 2), 20: ("fsync", 2)},
        pytest.param({0: ("replace", 1), 14: ("replace", 3)}, marks=pytest.mark.slow),
    ],
)
def test_two_years_of_a_user_killed_twice(run, model, tmp_path, kills):
    """24 monthly updates, of which two are killed at some moment and run again."""
    expected, own = by_hand(model, MONTHS[BEGIN:])
    for number, month in enumerate(MONTHS[BEGIN:]):
        file = rows(tmp_path, SALES[:month] if number % 3 else SALES[[month]])
        if number in kills:
            before = read_history(model.parent / "model.history.jsonl")
            name, left = kills[number]
            args = [sys.executable, "-c", KILLED, name, str(left), "update", model, file]
            assert subprocess.run(list(map(str, args)), capture_output=True).returncode == -9
            load(model)  # whole
            after = read_history(model.parent / "model.history.jsonl")
            assert after[: len(before)] == before and len(after) - len(before) == (left > 1)
        assert run("update", model, file)[0] == 0
        if number in kills:  # the same file again changes nothing
            there = content_of(model.parent)
            assert run("update", model, file)[0] == 0
            assert content_of(model.parent) == there
    history = read_history(model.parent / "model.history.jsonl")
    assert len(history) == 24
    for one, other in zip(history, expected, strict=True):
        found = {name: one[name] for name in other} | {
            "upper": one["upper"]["0.9"], "inside": one["inside"]["0.9"]
        }  # fmt: skip
        assert found == other  # to the digit
    table = pd.read_csv(model.parent / "forecast.csv", **EXACT)
    assert table["forecast"].tolist() == own.forecast().mean.tolist()
    assert table["month"].tolist() == [f"2023-{month:02d}-01" for month in range(1, 7)]
    judgement = judged(history)
    assert judgement.compared == 24 and not judgement.losing
    assert judgement.error == np.mean([one["error"] for one in expected])
    page = (model.parent / "updates.html").read_text(encoding="utf-8")
    assert page.count('<th scope="row">20') == 24 + HORIZON


def test_nothing_of_a_history_is_run_by_a_page(run, model, tmp_path):
    run("update", model, rows(tmp_path, SALES[: BEGIN + 1]))
    history = model.parent / "model.history.jsonl"
    history.write_text(history.read_text().replace("2021-01-01", "<script>alert(1)</script>"))
    assert run("update", model, rows(tmp_path, SALES[: BEGIN + 2]))[0] == 0
    page = (model.parent / "updates.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_a_second_job_says_so_and_changes_nothing(run, model, tmp_path):
    there, file = content_of(model.parent), rows(tmp_path, SALES)
    with alone_with(model):
        refused(run("update", model, file), "model.echofold: another process is at work on it")
        with pytest.raises(BlockingIOError), alone_with(model):
            pass
        assert content_of(model.parent) == there | {".model.echofold.lock": b""}
    assert content_of(model.parent) == there
    assert run("update", model, file)[0] == 0
    refused(run("update", tmp_path / "none/model", file), "none/model: there is no such file")


def test_the_report_shows_the_history(run, tmp_path):
    file, folder = rows(tmp_path, SALES[:BEGIN], "s.csv"), tmp_path / "out"
    args = ("forecast", file, "--horizon", "6", "--effort", "fast", *FAST, "--out", folder)
    assert run(*args)[0] == 0
    plain = (folder / "report.html").read_text(encoding="utf-8")
    run("update", folder / "model.echofold", rows(tmp_path, SALES[: BEGIN + 9]))
    told = (folder / "report.html").read_text(encoding="utf-8")
    judgement = judged(read_history(folder / "model.history.jsonl"))
    assert judgement.words in told and judgement.words not in plain
    assert told.count('<a href="updates.html">') == 1 and told.count("2020-12-01</th>") == 1
    there = content_of(folder)
    run("update", folder / "model.echofold", rows(tmp_path, SALES[: BEGIN + 9]))
    assert content_of(folder) == there
    run("update", folder / "model.echofold", rows(tmp_path, SALES[: BEGIN + 10]))
    again = (folder / "report.html").read_text(encoding="utf-8")
    assert again.count("What came of forecasts") == 1 and again.count("2021-09-01</th>") == 1
    rows(tmp_path, SALES[4 : BEGIN + 4], "s.csv")  # a new model, of as many rows
    assert run(*args)[0] == 0
    anew = (folder / "report.html").read_text(encoding="utf-8")
    assert "Nothing to compare yet" in anew and "2021-09-01</th>" in anew
    assert run("update", folder / "model.echofold", rows(tmp_path, SALES[: BEGIN + 9]))[0] == 0
    assert len(read_history(folder / "model.history.jsonl")) == 3  # nothing is lost


def test_what_is_printed(run, model, tmp_path):
    code, out, _ = run("update", model, rows(tmp_path, SALES[:75]))
    assert code == 0
    assert out.startswith("3 new values of 'sales': the model stands at 2021-03-01 now.")
    assert "The mean absolute error of the last 3 values that came is " in out
    assert "too little to judge by" in out
    names = ("model.echofold", "model.history.jsonl", "updates.html", "forecast.csv")
    assert out.splitlines()[-4:] == [f"wrote {model.parent / name}" for name in names]
    times = {path: path.stat().st_mtime_ns for path in model.parent.iterdir()}
    code, out, _ = run("update", model, rows(tmp_path, SALES[:75]))
    assert code == 0 and "Nothing new in new.csv: the model stands at 2021-03-01." in out
    assert "wrote" not in out
    assert {path: path.stat().st_mtime_ns for path in model.parent.iterdir()} == times
    code, out, _ = run("update", model, rows(tmp_path, SALES[:76]), "--json", "--out", tmp_path)
    found = json.loads(out)
    assert (found["new"], found["updates"]) == (1, 2)
    assert found["judgement"]["compared"] == 4
    assert found["compared"]["truth"] == [SALES.iloc[75]]
    assert len(found["forecast"]) == HORIZON
    assert found["files"]["forecast"] == str(tmp_path / "forecast.csv")
    out = run("update", model, rows(tmp_path, SALES[:76]), "--quiet")[1]
    assert out.splitlines() == list(json.loads(json.dumps(found["files"])).values())[:2] + [
        str(model.parent / name) for name in ("updates.html", "forecast.csv")
    ]


@pytest.mark.parametrize(
    ("form", "day"), [("%d.%m.%Y", 0), ("%Y-%m", 0), ("%B %Y", 0), ("%m/%d/%Y", 14)]
)
def test_one_row_of_any_form_is_read(run, model, tmp_path, form, day):
    dates = (MONTHS[[BEGIN]] + pd.Timedelta(days=day)).strftime(form)
    new = pd.Series(SALES.iloc[[BEGIN]].tolist(), dates, name="sales")
    file = rows(tmp_path, new.rename_axis("when"), sep=";", decimal=",")
    assert run("update", model, file, "--date-format", form)[0] == 0
    (record,) = read_history(model.parent / "model.history.jsonl")
    assert record["truth"] == [SALES.iloc[BEGIN]]
    head, first, *_ = (model.parent / "forecast.csv").read_text().splitlines()
    assert head.startswith("when;") or head.startswith("month;")
    assert first.count(",") == 5


@pytest.mark.parametrize(
    ("freq", "form"),
    [
        ("15min", "%d/%m/%Y %H:%M"), ("B", "%m/%d/%Y"), ("W-FRI", "%Y-%m-%d"), ("ME", "%Y%m%d"),
        ("QS", "Q"), ("QE", "%d.%m.%y"), ("YS", "%Y"), ("D", "%Y-%m-%dT%H:%M:%SZ"),
    ],
)  # fmt: skip
def test_one_date_is_on_the_grid_of_those_before(run, tmp_path, freq, form):
    """A day of a row alone may be a month, and a year a number: the model knows what comes next."""
    dates = pd.date_range("2019-03-01", periods=20, freq=freq, name="when")
    values = np.arange(20) % 4 + CHANCE.normal(size=20).round(2)
    cells = [f"{one.year}Q{one.quarter}" for one in dates] if form == "Q" else dates.strftime(form)
    save(AutoForecaster(2, progress=False).fit(pd.Series(values, dates)[:16]), tmp_path / "model")
    for number, part in enumerate((slice(16, 17), slice(0, 18), slice(18, 20))):
        file = rows(tmp_path, pd.Series(values, pd.Index(cells, name="when"), name="x")[part])
        code, out, _ = run("update", tmp_path / "model", file, "--json")
        assert (code, json.loads(out)["new"]) == (0, (1, 1, 2)[number])
    found = [one["truth"] for one in read_history(tmp_path / "model.history.jsonl")]
    assert [one for each in found for one in each] == values[16:].tolist()


def test_missing_values_and_steps_are_kept_as_such(run, model, tmp_path):
    new = SALES[BEGIN : BEGIN + 5].copy()
    new.iloc[1] = np.nan
    code, _, _ = run("update", model, rows(tmp_path, new.drop(new.index[3])))
    (record,) = read_history(model.parent / "model.history.jsonl")
    assert code == 0 and [one is None for one in record["truth"]] == [0, 1, 0, 1, 0]
    assert record["compared"] == 3
    other = SALES[: BEGIN + 6].copy()
    other.iloc[[3, 70]] += 1
    _, _, said = run("update", model, rows(tmp_path, other))
    assert "note: 2 values are different from what the model has seen" in said


def test_what_cannot_be_followed_is_refused_and_changes_nothing(run, model, tmp_path):
    there = content_of(model.parent)
    far = SALES[BEGIN + 9 :]
    refused(run("update", model, rows(tmp_path, far)), "goes on at 2021-10-01", "2021-01-01 comes")
    days = pd.Series(1.0, pd.date_range("2021-01-04 13:00", periods=9, freq="7h"), name="sales")
    refused(run("update", model, rows(tmp_path, days)), "more than one row")
    none = SALES[BEGIN:].reset_index(drop=True)
    refused(run("update", model, rows(tmp_path, none, index=False)), "no dates", "--date")
    refused(run("update", model, rows(tmp_path, SALES), "--learn"), "--learn", "cannot learn on")
    refused(run("update", model, rows(tmp_path, SALES), "--column", "x"), "no column 'x'")
    refused(run("update", model, tmp_path / "absent.csv"), "there is no file")
    refused(run("update", tmp_path / "absent", rows(tmp_path, SALES)), "absent")
    refused(run("update", model, rows(tmp_path, SALES), "--id", "shop"), "--only")
    assert content_of(model.parent) == there
    (model.parent / "model.history.jsonl").write_text('{"rows": 3}\n')
    words = "line 1 of model.history.jsonl is no record of an update, it lacks model"
    refused(run("update", model, rows(tmp_path, SALES)), words)
    lacking = dict.fromkeys(set(FIELDS) - {"compared"}, 1)
    (model.parent / "model.history.jsonl").write_text(json.dumps(lacking) + "\n")
    refused(run("update", model, rows(tmp_path, SALES)), "it lacks compared")
    for name, other, said in (
        ("classes", ESNClassifier().fit([[1.0, 2.0], [3.0, 1.0]], [0, 1]), "forecasts nothing"),
        ("several", ESNForecaster(5).fit({1: SALES, 2: SALES}), "one network of 2 series"),
        ("arrays", ESNForecaster(5).fit(SALES.to_numpy()), "data without dates"),
    ):
        save(other, tmp_path / name)
        refused(run("update", tmp_path / name, rows(tmp_path, SALES)), said)


def test_a_network_learns_on_if_it_can(run, tmp_path):
    settings = {"units": 10, "random_state": 0, "washout": 5}
    model = tmp_path / "net.echofold"
    plain = ESNForecaster(**settings).fit(SALES[:BEGIN])
    save(plain, model, learning=True)
    file = rows(tmp_path, SALES[: BEGIN + 9])
    refused(run("update", model, file, "--learn"), "give --horizon")
    found = run("update", model, file, "--learn", "--horizon", "4")
    assert found[0] == 0, found
    (record,) = read_history(tmp_path / "net.history.jsonl")
    assert record["mean"] == plain.forecast(4).tolist() and record["inside"] == {}
    learned = plain.partial_fit(SALES[BEGIN : BEGIN + 9])
    assert np.array_equal(load(model).readout_, learned.readout_)
    assert load(model).forecast(4).equals(learned.forecast(4))
    assert run("update", model, rows(tmp_path, SALES), "--learn", "--horizon", "4")[0] == 0


def test_known_inputs_go_on(run, tmp_path):
    index = MONTHS.append(MONTHS + pd.DateOffset(years=8))[: 96 + HORIZON]
    calendar = pd.DataFrame({"price": np.arange(len(index)) % 5 + 1.0, "fest": ""}, index)
    calendar.loc[calendar.index.month == 12, "fest"] = "yule"
    table = pd.DataFrame({"price": calendar["price"], "fest=yule": index.month == 12}, index)
    table = table.astype(float)
    auto = AutoForecaster(HORIZON, search=FEW, progress=False)
    auto.fit(SALES[:BEGIN], table[:BEGIN])
    model = tmp_path / "model.echofold"
    save(auto, model)
    file, beside = rows(tmp_path, SALES[[MONTHS[BEGIN]]]), rows(tmp_path, calendar, "known.csv")
    refused(run("update", model, file), "price", "--inputs")
    found = run("update", model, file, "--inputs", beside)
    assert found[0] == 0, found
    (record,) = read_history(tmp_path / "model.history.jsonl")
    assert record["mean"] == auto.forecast(X=table[BEGIN : BEGIN + HORIZON]).mean.tolist()
    auto.update(SALES[[MONTHS[BEGIN]]], table[BEGIN : BEGIN + 1])
    found = pd.read_csv(tmp_path / "forecast.csv", **EXACT)["forecast"]
    assert found.tolist() == auto.forecast(X=table[BEGIN + 1 :]).mean.tolist()
    both = calendar.assign(sales=SALES.reindex(index)).rename_axis("month")
    both = both.iloc[: BEGIN + 3 + HORIZON].assign(
        sales=lambda frame: frame["sales"].where(np.arange(len(frame)) < BEGIN + 3)
    )
    options = ("--input", "price", "--input", "fest")
    assert run("update", model, rows(tmp_path, both), *options)[0] == 0
    assert len(read_history(tmp_path / "model.history.jsonl")[1]["truth"]) == 2


def test_rows_without_dates_are_known_by_their_values(run, tmp_path):
    (tmp_path / "s.csv").write_text("\n".join(["x", *map(str, SALES[:BEGIN])]))
    options = ("--horizon", "3", "--effort", "fast", "--no-log", *FAST, "--out", tmp_path)
    assert run("forecast", tmp_path / "s.csv", *options)[0] == 0
    for last, new in ((BEGIN + 2, 2), (BEGIN + 2, 0), (BEGIN + 3, 1)):
        (tmp_path / "s.csv").write_text("\n".join(["x", *map(str, SALES[:last])]))
        _, out, _ = run("update", tmp_path / "model.echofold", tmp_path / "s.csv", "--json")
        assert json.loads(out)["new"] == new
    (tmp_path / "s.csv").write_text("\n".join(["x", *map(str, SALES[BEGIN + 3 : BEGIN + 7])]))
    for new in (4, 0):
        _, out, _ = run("update", tmp_path / "model.echofold", tmp_path / "s.csv", "--json")
        assert json.loads(out)["new"] == new
    assert [one["rows"] for one in read_history(tmp_path / "model.history.jsonl")] == [72, 74, 75]


FAST = ("--units", "5", "--grid", "small", "--k", "4", "--draws", "1")


def records_of(errors, expected, plain=None, level=0.9, wide=10.0):
    """One value each, of the forecast 0."""
    ahead = Forecast(np.zeros(1), {level: np.array([-wide])}, {level: np.array([wide])})
    said = None if plain is None else ("last value", np.array([plain]))
    return [
        record_of("one", row, str(row), ["t"], ahead, np.array([error]), said, np.array([expected]))
        for row, error in enumerate(errors)
    ]


def test_one_of_several_series_and_a_pipe(run, model, tmp_path, monkeypatch):
    both = pd.concat({"north": SALES[: BEGIN + 2], "south": -SALES}, names=["shop"]).rename("sales")
    options = ("--id", "shop", "--only", "north", "--json")
    code, out, _ = run("update", model, rows(tmp_path, both), *options)
    assert (code, json.loads(out)["compared"]["truth"]) == (0, SALES[BEGIN : BEGIN + 2].tolist())
    piped = io.BytesIO(SALES[: BEGIN + 3].to_csv().encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    code, out, _ = run("update", model, "-", "--json")
    assert (code, json.loads(out)["new"]) == (0, 1)


def test_a_model_is_not_judged_by_the_one_before_it(run, model, tmp_path):
    shifted = SALES.copy()
    shifted.iloc[BEGIN:] += 200
    for last in (BEGIN + 4, BEGIN + 8):
        found = run("update", model, rows(tmp_path, shifted[:last]), "--json")[1]
    assert json.loads(found)["judgement"]["losing"]
    again = AutoForecaster(HORIZON, search=FEW, progress=False).fit(shifted[: BEGIN + 8])
    save(again, model)
    found = json.loads(run("update", model, rows(tmp_path, shifted[: BEGIN + 9]), "--json")[1])
    assert found["updates"] == 3 and found["judgement"]["compared"] == 1
    assert not found["judgement"]["losing"]


def test_judgements():
    sure, shift = np.tile([1.0, -1.0], 10), np.tile([3.0, 2.0], 10)
    assert judged([]).words.startswith("Nothing to compare")
    assert "too little" in judged(records_of(9 * sure[: ENOUGH - 1], 1.0)).words
    fine = judged(records_of(sure, 1.0, plain=3.0))
    assert not fine.losing and fine.error == 1.0 and fine.coverage == 1.0 and fine.plain == 3.0
    assert judged(records_of(1.4 * sure, 1.0)).losing is False
    losing = judged(records_of(1.6 * sure, 1.0, wide=1.0))
    assert losing.losing and losing.words.endswith("The model is losing: search again.")
    assert losing.coverage == 0.0
    other = [one | {"plain": {"name": "mean", "error": 0.85}} for one in records_of(sure, 1.0)]
    assert judged(other).losing and "A plain forecast was better (0.85)" in judged(other).words
    drift = judged(records_of(shift, 3.0))
    assert "Forecasts are too low, by 2.5 in the mean" in drift.words and not drift.losing
    assert "too high" in judged(records_of(-shift, 3.0)).words
    late = judged([*records_of(9 * sure, 1.0), *records_of(np.tile(sure, 2)[:24], 1.0)])
    assert not late.losing and late.compared == 24  # what is long past counts no more


def test_values_that_repeat():
    seen = np.array([1.0, 2.0, 3.0, 3.0])
    assert _after(seen, np.array([3.0, 3.0, 3.0])) == 2
    assert _after(seen, np.array([3.0])) == 1
    assert _after(seen, np.array([9.0])) == 0
    assert _after(np.zeros(0), np.array([9.0, 8.0])) == 0


def test_a_search_moves_on():
    estimator = ESNForecaster(9, random_state=0)
    for final in ("retrain", "ensemble"):
        search = ESNSearchCV(estimator, {"ridge": [1e-2, 1]}, cv=KFold(3), final=final)
        search.fit(SALES[:BEGIN])
        before, best = search.forecast(2), search.best_estimator_
        other = ESNSearchCV(estimator, {"ridge": [1e-2, 1]}, cv=KFold(3), final=final)
        moved = other.fit(SALES[:BEGIN]).best_estimator_.update(SALES[BEGIN:])
        assert search.update(SALES[BEGIN:]) is search
        assert search.forecast(2).equals(moved.forecast(2))
        assert best.forecast(2).equals(before)
        with pytest.raises(ValueError, match="does not follow"):
            search.update(SALES[:3])
        assert search.forecast(2).equals(moved.forecast(2))
    assert not hasattr(ESNSearchCV(ESNClassifier()), "update")


def test_the_nightly_job_of_the_page(model, tmp_path):
    page = (Path(__file__).parents[2] / "docs/howto/work.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"```bash\n(#!/bin/sh.*?)```", page, re.DOTALL)
    rows(model.parent, SALES[: BEGIN + 9], "sales.csv")
    command = tmp_path / "echofold"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m echofold "$@"\n')
    command.chmod(0o755)
    paths = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    job = job.replace("/srv/forecasts", str(model.parent))
    done = subprocess.run(["sh", "-c", job], env=paths, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (record,) = read_history(model.parent / "model.history.jsonl")
    assert len(record["truth"]) == 9
    assert not (model.parent / "report.html").exists()  # of a search, had it been losing
