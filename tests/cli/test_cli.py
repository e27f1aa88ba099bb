"""The command line: light help, exit codes, errors in one line, and what a forecast leaves."""

import base64
import html
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from echofold import AutoForecaster, ESNForecaster, load
from echofold._search.auto import TOGETHER
from echofold._search.verdict import plain_forecasts
from echofold.cli.app import COMMANDS, app
from echofold.experiments._tables import EXACT

SMALL = ("--units", "5", "--grid", "small", "--k", "4", "--draws", "1")
FILES = ("forecast.csv", "model.echofold", "report.html")


@pytest.fixture
def daily(tmp_path):
    """Sixty days without two, with a weekly cycle."""
    values = np.sin(2 * np.pi * np.arange(60) / 7) * 10 + 50 + np.arange(60) % 5
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60), "visits": values})
    path = tmp_path / "daily.csv"
    frame.drop(index=[10, 11]).to_csv(path, index=False)
    return path


@pytest.fixture
def short(tmp_path):
    """Thirty rows, too few for networks."""
    values = np.random.default_rng(1).normal(size=30).cumsum() + 50
    pd.DataFrame({"x": values}).to_csv(tmp_path / "short.csv", index=False)
    return tmp_path / "short.csv"


def refused(result, code, *words):
    assert result[0] == code
    assert result[1] == ""
    *before, last = result[2].splitlines()
    assert last.startswith("Error: ")
    assert all(line.startswith("note:") or ": column " in line for line in before)
    for word in words:
        assert word in last


def test_help_is_light():
    code = """
import json, sys
sys.argv = ["echofold", "--help"]
from echofold.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    loaded = set(json.loads(done.stderr))
    assert "click" in loaded
    assert not loaded & {"jax", "pandas", "numpy", "scipy", "sklearn", "rich", "matplotlib"}
    assert not loaded & {f"echofold.cli.{name}" for name in ("commands", *COMMANDS)}


def test_without_click_one_line_names_the_extra():
    code = "import sys; sys.modules['click'] = None; from echofold.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "echofold[cli]" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(run, name):
    code, out, _ = run(name, "--help")
    assert code == 0
    assert f"\n    echofold {name}" in out
    for option in ("--seed", "--quiet", "--json", "--debug"):
        assert option in out
    help_of = app.get_command(None, name).get_short_help_str(80)
    assert help_of.rstrip(".") == COMMANDS[name].rstrip(".")


def test_usage_errors(run, daily):
    refused(run("forcast"), 2, "forcast", "did you mean 'forecast'")
    refused(run("forecast"), 2, "FILE", "echofold forecast --help")
    refused(run("forecast", daily), 2, "--horizon")
    refused(run("forecast", daily, "--horizon", "0"), 2, "--horizon", "0")
    refused(run("forecast", daily, "--horizon", "3", "--scheme", "walk"), 2, "walk-forward")
    refused(run("forecast", daily, "--horizon", "3", "--scheme", "all"), 2, "--scheme")
    refused(run("forecast", daily, "--horizon", "3", "--level", "90"), 2, "--level")
    refused(run("forecast", daily, "--horizon", "3", "--effort", "max"), 2, "'fast', 'normal'")
    refused(run("forecast", daily, "--horizon", "3", "--grid", "auto"), 2, "'small', 'medium'")
    for season in ("0", "-7", "7.5", "week", "7,", "1,7"):
        refused(run("forecast", daily, "--horizon", "3", "--season", season), 2, "--season", season)
    refused(run("schemes", "--out", "splits.png"), 2, "--scheme")
    refused(run("schemes", "--scheme", "k-fold", "--out", "splits.doc"), 2, ".png")
    refused(run("schemes", "--scheme", "k-fold", "--min-train", "3"), 2, "--min-train")
    refused(run("reproduce", "everything"), 2, "everything", "generative")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--date", "a", "--date", "b"), "--date was given 2 times, 'a', 'b'"),
        (("--date", "a", "--date=b"), "'a', 'b': leave out all but one"),
        (("--horizon", "3"), "--horizon was given 2 times, '2', '3'"),
        (("--level", "0.5", "--level", "0.9"), "for several, give --level 0.5,0.9"),
        (("--log", "--no-log"), "'--log', '--no-log'"),
        (("--out", "x", "--fill", "none", "--out", "--quiet"), "'x', '--quiet'"),
    ],
)
def test_an_option_of_one_value_is_given_once(run, daily, args, words):
    refused(run("forecast", daily, "--horizon", "2", *args), 2, words, "echofold forecast --help")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_refuses_options_given_twice_but_for_flags(run, name):
    refused(run(name, "--seed", "1", "-q", "-q", "--json", "--seed", "2"), 2, "'1', '2'")
    _, _, err = run("schemes", "--n", "20", "--k", "2", "-q", "--quiet", "--json", "--json")
    assert err == ""


def test_data_errors(run, daily, tmp_path):
    out = ("--out", tmp_path / "out")
    refused(run("forecast", tmp_path / "dialy.csv", "--horizon", "3", *out), 1, "daily.csv")
    refused(run("forecast", daily, "--column", "visit", "--horizon", "3", *out), 1, "'visits'")
    refused(
        run("forecast", daily, "--horizon", "3", "--fill", "none", *out), 1, "2 of 60", "--fill"
    )
    refused(run("forecast", daily, "--horizon", "5", "--out", daily), 1, "--out", "folder")
    refused(run("validate", daily, "--test", "60"), 1, "--test 60", "at most 59")
    refused(run("validate", daily, "--test", "20", "--origins", "3"), 1, "3 times", "at most 19")
    refused(run("schemes", "--n", "20", "--k", "30"), 1, "k=30", "n=20")
    (tmp_path / "empty.csv").write_text("")
    refused(run("forecast", tmp_path / "empty.csv", "--horizon", "3", *out), 1, "empty")
    contrary = ("--allow-negative", "--minimum", "0")
    refused(run("forecast", daily, "--horizon", "3", *contrary, *out), 1, "contradict")
    assert not (tmp_path / "out").exists()


def test_debug_shows_where(daily):
    args = ["forecast", str(daily), "--horizon", "6", "--fill", "none", "--debug"]
    with pytest.raises(ValueError, match="2 of 60"):
        app.main(args, standalone_mode=False)


def test_a_forecast_its_files_and_its_json_agree(run, daily, tmp_path):
    out = tmp_path / "results"
    code, shown, err = run("forecast", daily, "--horizon", "5", *SMALL, "--out", out, "--json")
    assert code == 0
    content = json.loads(shown)
    written = pd.read_csv(out / "forecast.csv", **EXACT)
    ends = ["lower_50", "upper_50", "lower_90", "upper_90"]
    assert list(written.columns) == ["day", "forecast", *ends]
    assert list(written["day"]) == [f"2024-03-0{d}" for d in range(1, 6)]
    records = pd.DataFrame(content["forecast"])
    assert list(records) == ["time", "forecast", "lower_50", "upper_50", "lower", "upper"]
    np.testing.assert_array_equal(records.iloc[:, 1:], written.iloc[:, 1:])
    inside = written[["lower_90", "lower_50", "forecast", "upper_50", "upper_90"]]
    assert (np.diff(inside, axis=1) > 0).all()
    model = load(out / "model.echofold")
    again = model.forecast(5)
    np.testing.assert_array_equal(again.mean, written["forecast"])
    np.testing.assert_array_equal(again.upper[0.9], written["upper_90"])
    report = (out / "report.html").read_text()
    assert "<h1>daily.csv: visits</h1>" in report and "Forecast of visits for 5 steps" in report
    assert html.escape(content["verdict"]["words"]) in report and "not measured" not in report
    for note in content["notes"]:
        assert html.escape(note[1:]) in report
    assert "2 of 60 values are missing" in content["notes"][0] and content["notes"][0] in err
    assert (content["seasons"], content["given"], content["level"]) == ([7], TOGETHER, 0.9)
    assert sum(row["weight"] for row in content["members"]) == pytest.approx(1)
    assert content["members"] == model.members_.reset_index().to_dict("records")
    assert content["simple"] == model.baselines_ and "value 7 steps ago" in content["simple"]
    verdict = content["verdict"]
    assert verdict["best_error"] == min(content["simple"].values()) > verdict["error"]
    assert (verdict["stretches"], verdict["steps"]) == (4, 5)
    networks = content["networks"]
    assert (networks["units"], networks["splits"], networks["validated_steps"]) == (5, 4, 5)
    assert networks["final"] == "ensemble" and "accumulative" in networks["searched"]
    assert (content["origins"], content["expected"]) == (0, None)


def test_a_seed_decides_the_forecast(run, daily, tmp_path):
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--out", tmp_path, "--json")
    first, again, other = (
        json.loads(run(*args, *more)[1])["forecast"] for more in ((), ("--quiet",), ("--seed", "1"))
    )
    assert again == first
    assert other != first


def test_several_seasons_or_none(run, short, tmp_path):
    args = ("forecast", short, "--horizon", "5", "--out", tmp_path, "--json", "--season")
    two, none, long = (json.loads(run(*args, season)[1]) for season in ("14,7", "1", "7,16"))
    assert (two["seasons"], none["seasons"], long["seasons"]) == ([7, 14], [], [7])
    repeated = {"value 7 steps ago", "value 14 steps ago", "mean of values 14 steps apart"}
    assert repeated < set(two["simple"])
    assert list(none["simple"]) == ["last value", "drift", "mean", "last value and half its change"]
    assert (
        "a season of 16 steps is not used: 30 values do not show it often enough." in long["notes"]
    )


def test_a_forecast_in_words_and_quietly(run, daily, tmp_path):
    args = (
        "forecast",
        daily,
        "--scheme",
        "walk-forward",
        "--out",
        tmp_path,
        "--horizon",
        "5",
        *SMALL,
    )
    code, out, err = run(*args, "--level", "0.8")
    assert code == 0
    assert f"{TOGETHER} ←" in out and "  networks" in out and "last week" in out
    assert "lower_80" in out and "lower_50" not in out and "2024-03-05" in out
    assert "the best plain forecast, on 4 past stretches of 5 steps" in out.splitlines()[1]
    assert "daily.csv: column 'visits', 60 values, daily, 2024-01-01 to 2024-02-29" in err
    code, out, err = run(*args, "--quiet")
    assert (code, err) == (0, "")
    assert out.split() == [str(tmp_path / name) for name in FILES]


def test_the_whole_is_repeated_on_beginnings(run, short, tmp_path):
    args = ("forecast", short, "--horizon", "3", "--out", tmp_path, "--origins", "2")
    content = json.loads(run(*args, "--json")[1])
    values, errors = pd.read_csv(short)["x"].to_numpy(), []
    for start in (24, 27):
        ahead = AutoForecaster(3, progress=False).fit(values[:start]).forecast().mean
        errors.append(np.sqrt(np.mean((values[start : start + 3] - ahead) ** 2)))
    assert content["origins"] == 2
    assert content["expected"]["error"] == pytest.approx(np.mean(errors))
    assert "The whole repeated on 2 shorter beginnings: RMSE" in run(*args)[1]
    assert "rmse on unseen data" in (tmp_path / "report.html").read_text()


def test_links_planted_in_the_folder_are_not_followed(run, short, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept.txt"
    out.mkdir()
    kept.write_text("precious")
    planted = [f".{name}.part" for name in FILES]
    for name in (*FILES, *planted):
        (out / name).symlink_to(kept)
    mask = os.umask(0o027)
    try:
        assert run("forecast", short, "--horizon", "5", "--out", out, "--quiet")[0] == 0
        assert run("schemes", "--scheme", "k-fold", "--out", out / "a.svg")[0] == 0
        (out / "b.svg").symlink_to(kept)
        assert run("schemes", "--scheme", "k-fold", "--out", out / "b.svg")[0] == 0
    finally:
        os.umask(mask)
    assert kept.read_text() == "precious"
    assert sorted(p.name for p in out.iterdir()) == sorted([*FILES, *planted, "a.svg", "b.svg"])
    for name in (*FILES, "a.svg", "b.svg"):
        assert (out / name).is_file() and not (out / name).is_symlink()
        if os.name != "nt":
            assert stat.S_IMODE((out / name).stat().st_mode) == 0o640


def test_a_folder_may_be_a_link(run, short, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    args = ("--horizon", "5", "--out", tmp_path / "link", "--quiet")
    assert run("forecast", short, *args)[0] == 0
    assert len(list((tmp_path / "real").iterdir())) == 3


def test_names_in_a_file_cannot_write_to_the_terminal(run, tmp_path):
    days = pd.date_range("2024-01-01", periods=30).astype(str)
    lines = [f"{day},{i % 7}" for i, day in enumerate(days)]
    path = tmp_path / "escape.csv"
    path.write_text("\n".join(["\x1b[2Jday\x07,v\x1b[31m", *lines]))
    code, out, err = run("forecast", path, "--horizon", "3", "--out", tmp_path)
    assert code == 0
    assert not set("\x1b\x07") & set(out + err)
    assert "\ufffd[2Jday" in out


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 35, 36])
def test_any_number_of_rows_is_enough(run, tmp_path, rows):
    path = tmp_path / "few.csv"
    values = np.sin(np.arange(36.0)) + np.arange(36) % 3
    pd.DataFrame({"x": values[:rows]}).to_csv(path, index=False)
    code, shown, err = run("forecast", path, "--horizon", "4", *SMALL[:4], "--draws", "1",
                           "--out", tmp_path / "out", "--json")  # fmt: skip
    assert code == 0, err
    content = json.loads(shown)
    assert [row["time"] for row in content["forecast"]] == [f"{rows + i}" for i in range(1, 5)]
    ahead = [row["forecast"] for row in content["forecast"]]
    assert values[:rows].min() - 3 < min(ahead) <= max(ahead) < values[:rows].max() + 3
    assert (content["networks"] is None) == (rows < 36)
    assert ("too few for networks, which need 36" in err) == (rows < 36)
    known = [row["upper"] is not None for row in content["forecast"]]
    assert known == [rows > 1] * 4  # of one value, no error is known
    assert (content["verdict"]["error"] is None) == (rows == 1)
    assert content["verdict"]["steps"] == {1: 0, 2: 1, 3: 1, 8: 2}.get(rows, 4)
    assert ("intervals beyond step" in err) == (1 < rows < 35)
    assert load(tmp_path / "out" / "model.echofold").forecast().mean.tolist() == ahead
    assert "<h1>few.csv: x</h1>" in (tmp_path / "out" / "report.html").read_text()


def test_a_checkpoint_is_kept_and_used(run, daily, tmp_path):
    kept = tmp_path / "kept"
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--out", tmp_path, "--checkpoint", kept)
    first = json.loads(run(*args, "--json")[1])
    before = {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()}
    assert before
    second = json.loads(run(*args, "--json")[1])
    assert second["forecast"] == first["forecast"]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert run(*args, "--metric", "mae")[0] == 1
    held = ("validate", daily, "--test", "5", *SMALL, "--scheme", "single", "--final", "best")
    assert run(*held, "--origins", "2", "--checkpoint", tmp_path / "held")[0] == 0
    names = sorted(path.name for path in (tmp_path / "held").iterdir())
    assert names == ["beginning-50", "beginning-55"]


def test_an_interrupt_says_how_to_go_on(daily, tmp_path):
    if os.name == "nt":
        pytest.skip("signals differ")
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # jobs do not
    program = f"{hear}; from echofold.cli import main; main()"
    command = [sys.executable, "-c", program, "forecast"]
    command += [str(daily), "--horizon", "5", "--out", str(tmp_path), "--checkpoint", "kept"]
    command += ["--draws", "10000"]  # hours of work, whatever the machine
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    for line in process.stderr:
        if line.startswith("daily.csv"):
            break
    while not (tmp_path / "kept").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()  # one that did not hear it would go on for hours
    assert process.returncode == 130
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("Error: interrupted") and "kept: run the same command" in last
    assert "Traceback" not in err


def test_an_interrupt_is_heard_where_python_ignores_errors(run, monkeypatch):
    class Collected:
        def __del__(self):
            raise KeyboardInterrupt

    def command(**_):
        one = Collected()
        del one
        time.sleep(300)  # left by the interrupt

    monkeypatch.setattr("echofold.cli.commands.schemes.callback", command)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of shells ignore it
    try:
        code, _, err = run("schemes")
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130 and err.splitlines()[-1].startswith("Error: interrupted")


def test_validate_compares_every_scheme_and_final_model(run, daily):
    code, shown, _ = run("validate", daily, "--test", "7", *SMALL, "--json")
    assert code == 0
    content = json.loads(shown)
    rows = content["schemes"]
    assert len(rows) == 20
    assert list(dict.fromkeys(row["scheme"] for row in rows)) == [
        "accumulative", "single", "k-fold", "walk-forward"
    ]  # fmt: skip
    single = [row["test"] for row in rows if row["scheme"] == "single"]
    assert len(set(np.round(single[1:4], 9))) == 1  # one split has one readout
    values = pd.read_csv(daily)["visits"].to_numpy()
    ahead = np.array([row["forecast"] for row in content["forecast"]])
    for found, said in ((content["plain"]["last value"], values[-8]), (content["test"], ahead)):
        assert found == pytest.approx(np.sqrt(np.mean((values[-7:] - said) ** 2)))
    assert content["plain_wins"] == (min(content["plain"].values()) < content["test"])
    assert (content["values"], content["origins"], content["seasons"]) == (60, 1, [7])
    code, out, _ = run("validate", daily, "--test", "7", *SMALL, "--final", "best")
    assert "best" in out and "retrain" not in out and "inside their intervals" in out


def test_validate_needs_no_networks(run, short):
    content = json.loads(run("validate", short, "--json")[1])
    assert (content["schemes"], content["networks"]) == ([], None)
    values = pd.read_csv(short)["x"].to_numpy()
    ahead = AutoForecaster(3, progress=False).fit(values[:27]).forecast().mean
    assert [row["forecast"] for row in content["forecast"]] == ahead.tolist()
    assert content["test"] == pytest.approx(np.sqrt(np.mean((values[27:] - ahead) ** 2)))


def test_plain_forecasts_are_of_the_values_before_each_start():
    values = np.arange(20.0)
    found = plain_forecasts(values, (3,), np.array([10, 15]), 5)
    np.testing.assert_array_equal(found["last value"], [[9.0] * 5, [14.0] * 5])
    np.testing.assert_array_equal(found["drift"][0], np.arange(10, 15))
    np.testing.assert_array_equal(found["mean"], [[4.5] * 5, [7.0] * 5])
    np.testing.assert_array_equal(found["value 3 steps ago"][1], [12, 13, 14, 12, 13])
    np.testing.assert_array_equal(found["mean of values 3 steps apart"][0], [4, 5, 6, 4, 5])
    half = np.array([7, 8, 9, 7, 8]) + [1.5, 1.5, 1.5, 3, 3]  # of 3 for each season
    np.testing.assert_array_equal(found["value 3 steps ago and half its change"][0], half)
    assert list(plain_forecasts(values, (3, 4), np.array([10]), 5))[3:] == [
        "value 3 steps ago", "mean of values 3 steps apart", "value 4 steps ago",
        "mean of values 4 steps apart", "value 4 steps ago and half its change",
    ]  # fmt: skip


def test_a_plain_forecast_that_is_clearly_better_is_given(run, tmp_path):
    rng = np.random.default_rng(1)
    pattern = 10 * rng.normal(size=8)  # an arbitrary pattern of 8 steps, and hardly any noise
    values = np.resize(pattern, 35) + 0.01 * rng.normal(size=35)
    path = tmp_path / "repeating.csv"
    pd.DataFrame({"sales": values}).to_csv(path, index=False)
    args = ("forecast", path, "--season", "8", "--out", tmp_path / "out", "--horizon")
    code, out, err = run(*args, "1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["given"] == found["verdict"]["best"] == "mean of values 8 steps apart"
    assert found["verdict"]["error"] == found["verdict"]["best_error"]
    words = "This is a plain forecast, taking the mean of values 8 steps apart: it was"
    words += r" \d+ % better than all members together on 16 past stretches of 1 step; "
    assert re.match(words, found["verdict"]["words"])
    table = pd.read_csv(tmp_path / "out" / "forecast.csv", **EXACT)
    np.testing.assert_allclose(table["forecast"], values[[11, 19, 27]].mean())
    assert (table["lower_90"] < table["forecast"]).all()
    assert (table["upper_90"] - table["lower_90"] < 1).all()
    model = load(found["files"]["model"])
    np.testing.assert_array_equal(model.forecast().mean, table["forecast"])
    own = values[34] - values[[10, 18, 26]].mean()  # intervals are of its own errors
    np.testing.assert_allclose(model.residuals_[-1, 0, 0], own)
    report = (tmp_path / "out" / "report.html").read_text()
    assert re.search(f'id="verdict">{words}', report)
    row = re.search(r">mean of values 8 steps apart</th>(.*?)</tr>", report, re.DOTALL)[1]
    assert "lowest, given above" in row
    file = re.search(r"data:text/csv;charset=utf-8;base64,([^\"]+)", report)[1]
    assert base64.b64decode(file) == (tmp_path / "out" / "forecast.csv").read_bytes()
    first = re.search(r'<th scope="row">36</th><td class="number" data-value="([^"]+)"', report)
    assert float(first[1]) == table["forecast"][0]
    assert "mean of values 8 steps apart ←" in run(*args, "1")[1]
    found = json.loads(run(*args, "6", "--json")[1])
    assert found["given"] == TOGETHER  # of 3 stretches, luck is not told apart


def test_representations_and_levels_that_were_asked_for(run, daily, tmp_path):
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--out", tmp_path / "out", "--json")
    asked = ("--log", "--difference", "7", "--difference", "7,1", "--level", "0.9,0.3")
    code, out, _ = run(*args, *asked)
    assert code == 0
    networks = json.loads(out)["networks"]
    assert networks["parameters"]["log"] is True
    assert networks["parameters"]["difference"] in ([7], [7, 1])
    assert networks["searched"].startswith("4 networks of 5 units in 2 representations")
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert list(table.columns)[2:] == ["lower_30", "upper_30", "lower_90", "upper_90"]
    assert (table["lower_90"] < table["lower_30"]).all()
    many = ("--k", "50", "--out", tmp_path)
    refused(run("forecast", daily, "--horizon", "5", *many), 1, "50 splits of 5 steps do not fit")
    refused(run(*args, "--difference", "30,1"), 1, "leaves too few of 60 values")
    refused(run(*args, "--difference", "x"), 2, "is not a lag")
    refused(run(*args, "--level", "0.5,1"), 2, "is not a share")


def test_a_column_of_dates_that_is_called_forecast(run, tmp_path):
    path = tmp_path / "odd.csv"
    days = pd.date_range("2024", periods=30, freq="D")
    pd.DataFrame({"forecast": days, "v": np.sin(np.arange(30))}).to_csv(path, index=False)
    assert run("forecast", path, "--horizon", "3", "--out", tmp_path / "out")[0] == 0
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert list(table.columns)[:2] == ["date", "forecast"]


def test_forecasts_keep_inside_of_limits(run, tmp_path):
    rng = np.random.default_rng(1)
    values = np.maximum(0, np.sin(np.arange(35) / 2) + 0.3 * rng.normal(size=35))
    path = tmp_path / "rain.csv"

    def ends(*options, values=values):
        pd.DataFrame({"rain": values}).to_csv(path, index=False)
        code, out, err = run("forecast", path, "--horizon", "9", "--out", tmp_path, *options)
        assert code == 0, err
        table = pd.read_csv(tmp_path / "forecast.csv").iloc[:, 1:]
        return table.to_numpy().min(), table.to_numpy().max(), err

    low, _, said = ends()
    assert low == 0 and "kept at 0, because no value is negative" in said
    low, _, said = ends("--allow-negative")
    assert low < 0 and "kept at" not in said
    assert ends("--minimum", "-0.1")[0] == -0.1
    most = values.max() + 0.01
    assert ends("--maximum", most)[:2] == (0, most)
    assert ends(values=values - 1)[0] < -1  # negative values, so nothing is assumed
    percent = [f"{100 * min(value, 1):.0f}%" for value in values]
    low, high, said = ends(values=percent)
    assert (low, high) == (0, 100) and "in per cent" in said
    args = ("forecast", path, "--horizon", "9", "--out", tmp_path)
    refused(run(*args, "--minimum", "1"), 1, "holds 0, outside of")
    pd.DataFrame({"rain": [*values, *values]}).to_csv(path, index=False)
    refused(run(*args, "--log"), 1, "needs positive values, but value")


def test_schemes_are_drawn_in_words_in_json_and_to_files(run, tmp_path):
    code, out, _ = run("schemes", "--n", "20", "--k", "2", "--scheme", "accumulative", "--gap", "2")
    assert code == 0
    assert "────────··█████·····\n─────────────··█████" in out
    picture = tmp_path / "splits.svg"
    args = ("--n", "20", "--k", "2", "--valid", "0.2", "--scheme", "walk-forward")
    code, out, _ = run("schemes", *args, "--json", "--out", picture)
    found = json.loads(out)["schemes"]["walk-forward"]
    assert found["splits"][1] == {"train": [[6, 16]], "valid": [16, 20]}
    assert "<svg" in picture.read_text()[:2000]
    code, out, _ = run("schemes", "--n", "20", "--quiet")
    assert len(out.splitlines()) == 21  # one, and five of each scheme that has a length
    args = ("schemes", "--n", "20", "--valid", "5", "--start", "2", "--step", "6")
    code, out, _ = run(*args, "--scheme", "recycle")
    assert "──▓▓▓▓▓─────────────\n────────▓▓▓▓▓───────\n──────────────▓▓▓▓▓─" in out
    assert "▓ both" in out
    code, out, _ = run(*args, "--scheme", "k-fold", "--k", "2", "--quiet")
    assert out.splitlines() == ["──█████─────────────", "────────█████───────"]
    refused(run("schemes", "--scheme", "k-fold", "--step", "3"), 1, "step=3 without valid")
    refused(run("schemes", "--scheme", "single", "--start", "3"), 2, "--start has no meaning")
    refused(run("forecast", "x.csv", "--horizon", "3", "--scheme", "k-fold"), 2, "walk-forward")


def test_info_tells_versions_devices_and_memory(run):
    code, out, _ = run("info", "--json")
    content = json.loads(out)
    assert content["packages"]["numpy"] == np.__version__
    assert content["devices"][0]["name"]
    assert 0 < content["memory"]["used_by_default"] < content["memory"]["available"]
    assert run("info")[1].startswith("echofold ")


def test_info_lists_every_extra_and_says_where_programs_are_kept(run, tmp_path, monkeypatch):
    page = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    content = json.loads(run("info", "--json")[1])
    own = {"dev", "docs"}  # of those who work on the library
    assert content["extras"].keys() == page["optional-dependencies"].keys() - own
    monkeypatch.setenv("ECHOFOLD_CACHE", str(tmp_path / "kept"))
    assert f"0 are kept for the next time, 0.0 MiB of at most 256, in {tmp_path}" in run("info")[1]
    (tmp_path / "kept/one.program").write_bytes(bytes(2**20))
    (tmp_path / "kept/another.txt").write_bytes(bytes(2**20))
    assert "1 is kept for the next time, 1.0 MiB" in run("info")[1]
    (tmp_path / "file").touch()
    monkeypatch.setenv("ECHOFOLD_CACHE", str(tmp_path / "file"))
    assert "not kept: no folder that can be written to" in run("info")[1]
    monkeypatch.setenv("ECHOFOLD_CACHE", "off")
    assert "by JAX in" in run("info")[1]  # which the tests tell it
    monkeypatch.setattr("echofold.cli.info.JAX", "jax_debug_nans")
    assert "not kept: ECHOFOLD_CACHE=off" in run("info")[1]
    assert json.loads(run("info", "--json")[1])["programs"]["why"] == "refused"


def test_several_columns_are_several_series(run, daily, tmp_path):
    frame = pd.read_csv(daily)
    frame["buys"] = frame["visits"] / 10 + np.arange(len(frame)) % 3
    frame.to_csv(daily, index=False)
    both = ("--column", "buys", "--column", "visits", "--column", "buys", "--effort", "fast")
    code, _, said = run("forecast", daily, "--horizon", "4", "--out", tmp_path / "all", *both)
    assert code == 0
    found = pd.read_csv(tmp_path / "all/forecasts.csv")
    assert found["column"].tolist() == 4 * ["buys"] + 4 * ["visits"]
    page = (tmp_path / "all/index.html").read_text(encoding="utf-8")
    assert "buys" in page and "daily.csv</h1>" in page
    melted = frame.melt("day", ["buys", "visits"], "column", "x")  # as --id takes them
    melted.to_csv(tmp_path / "long.csv", index=False)
    options = ("--id", "column", "--effort", "fast", "--out", tmp_path / "long")
    assert run("forecast", tmp_path / "long.csv", "--horizon", "4", *options)[0] == 0
    pd.testing.assert_frame_equal(found, pd.read_csv(tmp_path / "long/forecasts.csv"))
    code, out, _ = run("validate", daily, "--test", "4", *both, "--json", *SMALL)
    assert code == 0 and [one["id"] for one in json.loads(out)] == ["buys", "visits"]
    assert [one["column"] for one in json.loads(out)] == ["buys", "visits"]
    asked = ("forecast", daily, "--horizon", "4", *both)
    refused(run(*asked, "--column", "sells"), 1, "no column 'sells' (option --column)")
    refused(run(*asked, "--id", "day"), 2, "--id tells series apart by rows")


def test_the_demo_is_what_the_commands_do_on_the_same_series(run, tmp_path, monkeypatch):
    from echofold import datasets
    from echofold.cli import commands

    loaded = datasets.load_gasoline()
    part = replace(loaded, data=loaded.data.iloc[-200:])
    monkeypatch.setattr(datasets, "load_gasoline", lambda: part)
    monkeypatch.setattr(commands, "HORIZON", 12)
    for command in (commands.validate, commands.forecast):  # smaller, for both sides alike
        for param in command.params:
            if param.name in ("units", "k", "grid", "draws"):
                small = {"units": 5, "k": 4, "grid": "small", "draws": 1}
                monkeypatch.setattr(param, "default", small[param.name])
    monkeypatch.chdir(tmp_path)
    part.data.to_csv("gasoline.csv")
    code, out, err = run("demo", "--json")
    assert code == 0 and [path.name for path in tmp_path.iterdir()] == ["gasoline.csv"]
    found = json.loads(out)
    other = json.loads(run("validate", "gasoline.csv", "--test", "12", "--json")[1])
    for name in ("schemes", "plain", "test", "forecast", "verdict", "seasons"):
        assert found[name] == other[name]
    code, out, err = run("demo", "--out", "demo")
    for word in ("walk-forward", "last year", "million barrels", "wrote demo/report.html"):
        assert word in out
    run("forecast", "gasoline.csv", "--horizon", "12", "--out", "other")
    for name in ("forecast.csv", "model.echofold"):
        assert (tmp_path / "demo" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_forecast_that_runs_away_is_never_written(run, daily, tmp_path, monkeypatch):
    """All networks run away, when they continue the series: other members forecast alone."""
    calm = ESNForecaster._ahead
    monkeypatch.setattr(ESNForecaster, "_ahead", lambda *given: calm(*given) - 1e4)
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--final", "best")
    assert run(*args, "--out", tmp_path / "out")[0] == 0
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert table["forecast"].between(30, 70).all()
    report = (tmp_path / "out" / "report.html").read_text()
    assert "-9,9" not in report and "-9.9" not in report
    loaded = load(tmp_path / "out" / "model.echofold")
    np.testing.assert_allclose(loaded.forecast().mean, table["forecast"])
    content = json.loads(run("validate", daily, "--test", "5", *SMALL, "--json")[1])
    assert all(30 < row["forecast"] < 70 for row in content["forecast"])


def test_what_is_held_out_chooses_nothing(run, tmp_path):
    """Rows that are held out turn negative and lose their season: the past is searched alike."""
    values = 20 + 5 * np.sin(2 * np.pi * np.arange(90) / 7) + np.arange(90) / 20
    found = []
    for name, end in (("same", values[78:]), ("other", -np.abs(np.arange(12) - 6.0) - 50)):
        path = tmp_path / f"{name}.csv"
        pd.DataFrame({"v": np.append(values[:78], end)}).to_csv(path, index=False)
        small = (*SMALL, "--json", "--final", "best")  # what is chosen is the same for all
        one = json.loads(run("validate", path, "--test", "12", *small)[1])
        found.append([[row["validation"], row["parameters"]] for row in one["schemes"]])
        found[-1] += [one[name] for name in ("members", "verdict", "notes", "forecast", "simple")]
    assert found[0] == found[1]


def test_reproduce_hands_its_options_on(run, tmp_path, monkeypatch):
    from echofold import experiments

    calls = []
    monkeypatch.setattr(
        experiments, "run", lambda *a: calls.append(a) or [a[1] / "table.csv"], raising=False
    )
    run("reproduce", "racca", "--out", tmp_path, "--quiet")
    assert calls.pop() == ("racca", tmp_path, None, None, None, True)
    assert "racca, the table of" in " ".join(run("reproduce", "--help")[1].split())
    args = ("--draws", "2", "--datasets", "labor, gasoline", "--schemes", "CV", "--json")
    code, out, _ = run("reproduce", "generative", "--out", tmp_path, *args)
    assert calls == [("generative", tmp_path, 2, ("labor", "gasoline"), ("CV",), True)]
    assert json.loads(out)["files"] == [str(tmp_path / "table.csv")]
