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
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from echofold import ESNForecaster, load
from echofold._search.plain import Better, plain_forecasts
from echofold.cli.app import COMMANDS, app
from echofold.experiments._tables import EXACT

SMALL = ("--units", "12", "--grid", "small", "--k", "4", "--origins", "1")


@pytest.fixture
def daily(tmp_path):
    """Sixty days without two, with a weekly cycle."""
    values = np.sin(2 * np.pi * np.arange(60) / 7) * 10 + 50 + np.arange(60) % 5
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60), "visits": values})
    path = tmp_path / "daily.csv"
    frame.drop(index=[10, 11]).to_csv(path, index=False)
    return path


def refused(result, code, *words):
    assert result[0] == code
    assert result[1] == ""
    lines = [line for line in result[2].splitlines() if not line.startswith("note:")]
    assert len(lines) == 1 and lines[0].startswith("Error: ")
    for word in words:
        assert word in lines[0]


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
    refused(run("forecast", daily, "--horizon", "3", "--level", "90"), 2, "--level")
    for season in ("0", "-7", "7.5", "week", "7,", "1,7"):
        refused(run("forecast", daily, "--horizon", "3", "--season", season), 2, "--season", season)
    refused(run("schemes", "--out", "splits.png"), 2, "--scheme")
    refused(run("schemes", "--scheme", "k-fold", "--out", "splits.doc"), 2, ".png")
    refused(run("schemes", "--scheme", "k-fold", "--min-train", "3"), 2, "--min-train")
    refused(run("reproduce", "everything"), 2, "everything", "generative")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--column", "a", "--column", "b"), "--column was given 2 times, 'a', 'b'"),
        (("--column", "a", "--column=b"), "'a', 'b': leave out all but one"),
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
    refused(run("forecast", daily, "--horizon", "61", *out), 1, "61", "60 values")
    refused(run("forecast", daily, "--horizon", "5", "--k", "50", *out), 1, "--k 50")
    refused(run("forecast", daily, "--horizon", "5", "--out", daily), 1, "--out", "folder")
    refused(run("validate", daily, "--test", "50"), 1, "--test 50")
    refused(run("schemes", "--n", "20", "--k", "30"), 1, "k=30", "n=20")
    (tmp_path / "empty.csv").write_text("")
    refused(run("forecast", tmp_path / "empty.csv", "--horizon", "3", *out), 1, "empty")
    assert not (tmp_path / "out").exists()


def test_debug_shows_where(daily):
    with pytest.raises(ValueError, match="61"):
        app.main(["forecast", str(daily), "--horizon", "61", "--debug"], standalone_mode=False)


def test_a_forecast_its_files_and_its_json_agree(run, daily, tmp_path):
    out = tmp_path / "results"
    args = ("forecast", daily, "--horizon", "5", "--scheme", "all", *SMALL, "--out", out, "--json")
    code, shown, err = run(*args)
    assert code == 0
    content = json.loads(shown)
    written = pd.read_csv(out / "forecast.csv", **EXACT)
    assert list(written.columns) == ["day", "forecast", "lower_90", "upper_90"]
    assert list(written["day"]) == [f"2024-03-0{d}" for d in range(1, 6)]
    records = pd.DataFrame(content["forecast"])
    np.testing.assert_array_equal(records["forecast"], written["forecast"])
    np.testing.assert_array_equal(records["lower"], written["lower_90"])
    assert (written["lower_90"] < written["forecast"]).all()
    model = load(out / "model.echofold")
    again = model.forecast(5, level=0.9)
    np.testing.assert_array_equal(again.mean, written["forecast"])
    np.testing.assert_array_equal(again.upper[0.9], written["upper_90"])
    report = (out / "report.html").read_text()
    assert "<h1>daily.csv: visits</h1>" in report and "Forecast of visits for 5 steps" in report
    assert "not measured" not in report
    for row in content["schemes"]:  # every scheme with its expected error
        assert f'<td class="number" data-value="{row["expected"]}">' in report
    for note in content["notes"]:
        assert html.escape(note[1:]) in report
    schemes = {row["scheme"]: row for row in content["schemes"]}
    assert list(schemes) == ["single", "k-fold", "accumulative", "walk-forward"]
    chosen = content["chosen"]["scheme"]
    assert schemes[chosen]["expected"] == min(row["expected"] for row in schemes.values())
    assert schemes[chosen]["parameters"] == content["chosen"]["parameters"]
    assert set(content["simple"]) == {"last value", "drift", "value 7 steps ago", "blend"}
    assert any("2 of 60 values are missing" in note for note in content["notes"])
    assert "2 of 60 values are missing" in err


def test_a_seed_decides_the_forecast(run, daily, tmp_path):
    args = ("forecast", daily, "--horizon", "5", *SMALL[:-2], "--scheme", "single")
    args += ("--out", tmp_path)
    first, again, other = (
        json.loads(run(*args, "--origins", "0", "--json", *more)[1])["forecast"]
        for more in ((), ("--quiet",), ("--seed", "1"))
    )
    assert again == first
    assert other != first


def test_several_seasons_or_none(run, daily, tmp_path):
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--scheme", "single", "--out", tmp_path)
    args += ("--json", "--season")
    two = json.loads(run(*args, "14,7")[1])
    assert two["seasons"] == [7, 14]
    plain = {"last value", "drift", "blend"}
    assert set(two["simple"]) == {*plain, "value 7 steps ago", "value 14 steps ago"}
    none = json.loads(run(*args, "1")[1])
    assert none["seasons"] == [] and set(none["simple"]) == plain


def test_a_forecast_in_words_and_quietly(run, daily, tmp_path):
    args = (
        "forecast",
        daily,
        "--scheme",
        "k-fold",
        "--out",
        tmp_path,
        "--horizon",
        "5",
        *SMALL[:-1],
    )
    code, out, err = run(*args, "1", "--level", "0.8")
    assert code == 0
    assert "k-fold ←" in out and "last value" in out and "walk-forward" not in out
    assert "having been picked" not in out  # one scheme, nothing to pick from
    assert "lower_80" in out and "2024-03-05" in out
    assert "daily.csv: column 'visits', 60 values, daily, 2024-01-01 to 2024-02-29" in err
    code, out, err = run(*args, "0", "--quiet")
    assert (code, err) == (0, "")
    assert out.split() == [str(tmp_path / f"{n}") for n in
                           ("forecast.csv", "model.echofold", "report.html")]  # fmt: skip


def test_links_planted_in_the_folder_are_not_followed(run, daily, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept.txt"
    out.mkdir()
    kept.write_text("precious")
    outputs = ("forecast.csv", "model.echofold", "report.html")
    planted = (".forecast.csv.part", ".model.echofold.part", ".report.html.part")
    for name in (*outputs, *planted):
        (out / name).symlink_to(kept)
    mask = os.umask(0o027)
    try:
        args = ("--horizon", "5", *SMALL, "--scheme", "single", "--out", out, "--quiet")
        assert run("forecast", daily, *args)[0] == 0
        assert run("schemes", "--scheme", "k-fold", "--out", out / "a.svg")[0] == 0
        (out / "b.svg").symlink_to(kept)
        assert run("schemes", "--scheme", "k-fold", "--out", out / "b.svg")[0] == 0
    finally:
        os.umask(mask)
    assert kept.read_text() == "precious"
    assert sorted(p.name for p in out.iterdir()) == sorted([*outputs, *planted, "a.svg", "b.svg"])
    for name in (*outputs, "a.svg", "b.svg"):
        assert (out / name).is_file() and not (out / name).is_symlink()
        if os.name != "nt":
            assert stat.S_IMODE((out / name).stat().st_mode) == 0o640


def test_a_folder_may_be_a_link(run, daily, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    args = ("--horizon", "5", *SMALL, "--scheme", "single", "--out", tmp_path / "link", "--quiet")
    assert run("forecast", daily, *args)[0] == 0
    assert len(list((tmp_path / "real").iterdir())) == 3


def test_names_in_a_file_cannot_write_to_the_terminal(run, tmp_path):
    days = pd.date_range("2024-01-01", periods=40).astype(str)
    lines = [f"{day},{i % 7}" for i, day in enumerate(days)]
    path = tmp_path / "escape.csv"
    path.write_text("\n".join(["\x1b[2Jday\x07,v\x1b[31m", *lines]))
    code, out, err = run("forecast", path, "--horizon", "3", *SMALL, "--scheme", "single",
                         "--out", tmp_path)  # fmt: skip
    assert code == 0
    assert not set("\x1b\x07") & set(out + err)
    assert "\ufffd[2Jday" in out


def test_thirty_rows_are_enough(run, tmp_path):
    path = tmp_path / "thirty.csv"
    pd.DataFrame({"x": np.sin(np.arange(30.0)) + np.arange(30) % 3}).to_csv(path, index=False)
    args = ("forecast", path, "--horizon", "4", "--scheme", "walk-forward", *SMALL[:4])
    code, shown, err = run(*args, "--origins", "1", "--out", tmp_path, "--json")
    assert code == 0
    content = json.loads(shown)
    assert [row["time"] for row in content["forecast"]] == ["31", "32", "33", "34"]
    assert np.isfinite([row["upper"] for row in content["forecast"]]).all()
    code, shown, err = run(
        *args[:3], "12", *args[4:], "--origins", "0", "--out", tmp_path, "--json"
    )
    assert code == 0
    assert json.loads(shown)["validated_steps"] < 12
    assert "validated on" in err


def test_a_checkpoint_is_kept_and_used(run, daily, tmp_path):
    kept = tmp_path / "kept"
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--scheme", "single", "--out", tmp_path)
    first = json.loads(run(*args, "--json", "--checkpoint", kept)[1])
    assert sorted(p.name for p in kept.iterdir()) == ["all", "beginning-55"]
    second = json.loads(run(*args, "--json", "--checkpoint", kept)[1])
    assert second["forecast"] == first["forecast"]
    other = (*args, "--checkpoint", kept, "--metric", "mae")
    assert run(*other)[0] == 1


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
        if line.startswith("searching"):
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
    results = content["results"]
    assert len(results) == 20
    best = min(results, key=lambda row: row["test"])
    assert content["best"] == {"scheme": best["scheme"], "final": best["final"]}
    single = [row["test"] for row in results if row["scheme"] == "single"]
    assert len(set(np.round(single[1:4], 9))) == 1  # one split has one readout
    values = pd.read_csv(daily).set_index("day")["visits"].to_numpy()
    error = np.sqrt(np.mean((values[-7:] - values[-8]) ** 2))
    assert content["simple"]["last value"] == pytest.approx(error)
    code, out, _ = run("validate", daily, "--test", "7", *SMALL, "--final", "best")
    assert "best" in out and "retrain" not in out and "inside their intervals" in out


def test_plain_forecasts_repeat_values_and_seasons_or_go_on_with_their_drift():
    values = np.arange(20.0)
    found = plain_forecasts(values, (3,), np.array([10, 15]), 5)
    np.testing.assert_array_equal(found["last value"], [[9.0] * 5, [14.0] * 5])
    np.testing.assert_array_equal(found["drift"][0], np.arange(10, 15))
    np.testing.assert_array_equal(found["value 3 steps ago"][0], [7, 8, 9, 7, 8])
    np.testing.assert_array_equal(found["value 3 steps ago"][1], [12, 13, 14, 12, 13])
    half = [1.5, 1.5, 1.5, 3, 3]  # of 3 for each season
    np.testing.assert_array_equal(found["blend"][0], np.array([7, 8, 9, 7, 8]) + half)
    both = plain_forecasts(values, (3, 4), np.array([10]), 5)
    names = ["last value", "drift", "value 3 steps ago", "value 4 steps ago", "blend"]
    assert list(both) == names
    short = plain_forecasts(values, (6,), np.array([10]), 5)
    assert list(short) == ["last value", "drift", "blend"]
    np.testing.assert_array_equal(short["blend"][0], 9 + np.arange(1, 6) / 2)


def test_a_plain_forecast_that_is_clearly_better_is_given(run, tmp_path):
    rng = np.random.default_rng(0)
    pattern = 10 * rng.normal(size=30)  # an arbitrary pattern of 30 steps, and hardly any noise
    values = np.tile(pattern, 4) + 0.01 * rng.normal(size=120)
    path = tmp_path / "repeating.csv"
    pd.DataFrame({"sales": values}).to_csv(path, index=False)
    args = ("forecast", path, "--horizon", "10", "--season", "30", *SMALL, "--difference", "1")
    code, out, err = run(*args, "--out", tmp_path / "out", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["given"] == "value 30 steps ago"
    assert "a plain forecast, value 30 steps ago, did clearly better" in found["notes"][-1]
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    np.testing.assert_allclose(table["forecast"], values[90:100])
    assert (table["lower_90"] < table["forecast"]).all()
    assert (table["upper_90"] - table["lower_90"] < 1).all()
    report = (tmp_path / "out" / "report.html").read_text()
    assert "<h1>repeating.csv: sales</h1>" in report
    words = "This is a plain forecast, repeating the value of 30 steps ago: on past validation"
    assert re.search(
        rf'id="verdict">{words} intervals it was \d+ % better than the networks', report
    )
    assert ">networks</th>" in report and "Networks: rmse on unseen data" in report
    file = re.search(r"data:text/csv;charset=utf-8;base64,([^\"]+)", report)[1]
    assert base64.b64decode(file) == (tmp_path / "out" / "forecast.csv").read_bytes()
    first = re.search(r'<th scope="row">121</th><td class="number" data-value="([^"]+)"', report)
    assert float(first[1]) == table["forecast"][0]


def test_representations_and_levels_that_were_asked_for(run, daily, tmp_path):
    args = ("forecast", daily, "--horizon", "5", *SMALL, "--out", tmp_path / "out", "--json")
    asked = ("--log", "--difference", "7", "--difference", "7,1", "--level", "0.9,0.5")
    code, out, _ = run(*args, *asked)
    assert code == 0
    params = json.loads(out)["schemes"][0]["parameters"]
    assert params["log"] is True
    assert params["difference"] in ([7], [7, 1])
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    ends = ["lower_50", "upper_50", "lower_90", "upper_90"]
    assert list(table.columns) == ["day", "forecast", *ends]
    assert (table["lower_90"] < table["lower_50"]).all()
    records = json.loads(out)["forecast"]
    assert set(records[0]) == {"time", "forecast", "lower_50", "upper_50", "lower", "upper"}


def test_the_blend_that_is_given_is_the_one_that_was_validated():
    values = 100 + 3 * np.cumsum(np.random.RandomState(0).normal(size=44) + 0.15)
    better = Better("blend", 1.0, 2.0, np.ones((3, 6, 1)), 2, seasons=())
    index = pd.RangeIndex(44, 50)
    found = better.forecast(pd.Series(values), index, (0.9,))
    expected = plain_forecasts(values, (), np.array([44]), 6)["blend"][0]
    np.testing.assert_array_equal(found.mean, expected)
    low = better.forecast(pd.Series(values), index, (0.9,), least=1000.0).lower[0.9]
    assert (low == 1000).all()


def test_a_column_of_dates_that_is_called_forecast(run, tmp_path):
    path = tmp_path / "odd.csv"
    days = pd.date_range("2024", periods=70, freq="D")
    pd.DataFrame({"forecast": days, "v": np.sin(np.arange(70))}).to_csv(path, index=False)
    args = ("forecast", path, "--horizon", "3", *SMALL[:-1], "9", "--difference", "14")
    assert run(*args, "--out", tmp_path / "out")[0] == 0
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert list(table.columns)[:2] == ["date", "forecast"]


def test_nothing_falls_below_zero_if_it_must_not(run, tmp_path):
    rng = np.random.default_rng(1)
    values = np.maximum(0, np.sin(np.arange(150) / 2) + 0.3 * rng.normal(size=150))
    path = tmp_path / "rain.csv"
    pd.DataFrame({"rain": values}).to_csv(path, index=False)
    args = ("forecast", path, "--horizon", "30", *SMALL, "--out", tmp_path / "out")
    assert run(*args)[0] == 0
    assert pd.read_csv(tmp_path / "out" / "forecast.csv")["lower_90"].min() < 0
    assert run(*args, "--nonnegative")[0] == 0
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert table[["forecast", "lower_90", "upper_90"]].to_numpy().min() == 0
    refused(run(*args, "--log"), 1, "--log needs positive values, but value")
    pd.DataFrame({"rain": values - 1}).to_csv(path, index=False)
    refused(run(*args, "--nonnegative"), 1, "--nonnegative, but value 1 is -0.896325")
    refused(run(*args, "--difference", "60,1"), 1, "leaves too few of 150 values")
    refused(run(*args, "--difference", "x"), 2, "is not a lag")
    refused(run(*args, "--level", "0.5,1"), 2, "is not a share")


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
    refused(run("forecast", "x.csv", "--horizon", "3", "--scheme", "recycle"), 2, "k-fold")


def test_info_tells_versions_devices_and_memory(run):
    code, out, _ = run("info", "--json")
    content = json.loads(out)
    assert content["packages"]["numpy"] == np.__version__
    assert content["devices"][0]["name"]
    assert 0 < content["memory"]["used_by_default"] < content["memory"]["available"]
    assert content["programs"] is None or content["programs"]["bytes"] >= 0
    assert run("info")[1].startswith("echofold ")


def test_the_demo_is_what_the_commands_do_on_the_same_series(run, tmp_path, monkeypatch):
    from echofold import datasets
    from echofold.cli import commands

    loaded = datasets.load_gasoline()
    part = replace(loaded, data=loaded.data.iloc[-160:])
    monkeypatch.setattr(datasets, "load_gasoline", lambda: part)
    monkeypatch.setattr(commands, "HORIZON", 12)
    for command in (commands.validate, commands.forecast):  # smaller, for both sides alike
        for param in command.params:
            if param.name in ("units", "k", "grid", "draws"):
                small = {"units": 12, "k": 4, "grid": "small", "draws": 1}
                monkeypatch.setattr(param, "default", small[param.name])
    monkeypatch.chdir(tmp_path)
    part.data.to_csv("gasoline.csv")
    code, out, err = run("demo", "--json")
    assert code == 0 and [path.name for path in tmp_path.iterdir()] == ["gasoline.csv"]
    found = json.loads(out)
    other = json.loads(run("validate", "gasoline.csv", "--test", "12", "--json")[1])
    for name in ("results", "simple", "forecast", "best", "seasons"):
        assert found[name] == other[name]
    code, out, err = run("demo", "--out", "demo")
    for word in ("walk-forward", "value 52 steps ago", "million barrels", "wrote demo/report.html"):
        assert word in out
    run("forecast", "gasoline.csv", "--horizon", "12", "--out", "other")
    for name in ("forecast.csv", "model.echofold"):
        assert (tmp_path / "demo" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


@pytest.mark.parametrize("lost", [1, 1000])
def test_a_forecast_that_runs_away_is_never_written(run, daily, tmp_path, monkeypatch, lost):
    """The first networks run away: one, for which an ensemble steps in, or all of them."""
    calm, calls = ESNForecaster._ahead, []

    def ahead(self, known):
        calls.append(self)
        return calm(self, known) - 1e4 * (len(calls) <= lost)

    args = ("forecast", daily, "--horizon", "5", *SMALL[:-2], "--origins", "0", "--final", "best")
    monkeypatch.setattr(ESNForecaster, "_ahead", ahead)
    code, out, err = run(*args, "--out", tmp_path / "out")
    assert code == 0
    first = out.strip().splitlines()[0]
    assert "runs far away" in first and ("ensemble" if lost == 1 else "a plain one") in first
    table = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert table["forecast"].between(30, 70).all()
    report = (tmp_path / "out" / "report.html").read_text()
    assert "-9,9" not in report and "-9.9" not in report
    if lost > 1:
        assert "because that of the networks runs far away" in report
    else:
        loaded = load(tmp_path / "out" / "model.echofold")
        np.testing.assert_allclose(loaded.forecast(5), table["forecast"])
    calls.clear()
    content = json.loads(run("validate", daily, "--test", "5", *SMALL, "--json")[1])
    assert all(30 < row["forecast"] < 70 for row in content["forecast"])


def test_what_is_held_out_chooses_nothing(run, tmp_path):
    """Rows that are held out turn negative and lose their season: the past is searched alike."""
    values = 20 + 5 * np.sin(2 * np.pi * np.arange(90) / 7) + np.arange(90) / 20
    found = []
    for name, end in (("same", values[78:]), ("other", -np.abs(np.arange(12) - 6.0) - 50)):
        path = tmp_path / f"{name}.csv"
        pd.DataFrame({"v": np.append(values[:78], end)}).to_csv(path, index=False)
        small = ("--units", "12", "--grid", "small", "--k", "4", "--draws", "1", "--json")
        small += ("--final", "best")  # what is chosen is the same for all of them
        one = json.loads(run("validate", path, "--test", "12", *small)[1])
        two = json.loads(run("validate", path, "--test", "6", "--origins", "2", *small)[1])
        found.append([[row["validation"], row["parameters"]] for row in one["results"]])
        found[-1].append([row["test"] for row in two["results"]][0] > 0)
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
