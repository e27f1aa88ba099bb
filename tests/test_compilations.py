"""Compilations kept on disk: whose folder, how large, and that nothing in it can hurt."""

import os
import subprocess
import sys

import pytest

from echofold._machine import compilations

SCRIPT = """
import sys
import numpy as np
import echofold
kept = echofold.keep_compilations(sys.argv[1])
saved = []
from jax import monitoring
monitoring.register_event_listener(lambda event, **_: saved.append(event))
y = np.sin(np.arange(200) / 5)
print(kept is not None, repr(echofold.ESNForecaster(7, random_state=0).fit(y).forecast(3).tolist()))
print(sum(event.endswith("cache_hits") for event in saved))
"""


def fitted(folder):
    told = {"ECHOFOLD_CACHE", "JAX_COMPILATION_CACHE_DIR"}
    env = {name: value for name, value in os.environ.items() if name not in told}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, str(folder)],
        capture_output=True, text=True, check=True, env=env,
    )  # fmt: skip
    first, hits = done.stdout.splitlines()
    return *first.split(" ", 1), int(hits), done.stderr


def test_a_second_process_compiles_nothing_and_damage_costs_time_only(tmp_path):
    folder = tmp_path / "programs"
    used, forecast, hits, _ = fitted(folder)
    assert used == "True"
    entries = [path for path in folder.iterdir() if path.name.endswith("-cache")]
    assert len(entries) >= 3 > hits  # programs that are alike are kept once
    again = fitted(folder)
    assert again[1] == forecast and again[2] >= len(entries)
    for number, path in enumerate(sorted(entries)):
        content = path.read_bytes()
        path.write_bytes([b"", content[: len(content) // 2], b"\0" * 100][number % 3])
    (folder / "something-cache").write_bytes(b"of another program")
    _, damaged, hits, said = fitted(folder)
    assert damaged == forecast and hits == 0
    assert "Warning" not in said


def test_folders_that_cannot_or_should_not_be_used(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    assert compilations.keep_compilations(file / "below") is None
    if hasattr(os, "getuid"):
        shared = tmp_path / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        assert compilations.keep_compilations(shared) is None
        foreign = tmp_path / "foreign"
        foreign.mkdir(mode=0o700)
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        assert compilations.keep_compilations(foreign) is None


@pytest.mark.parametrize("said", ["off", "0", "no"])
def test_it_can_be_refused(monkeypatch, said):
    monkeypatch.setenv(compilations.VARIABLE, said)
    assert compilations.keep_compilations() is None


def test_the_folder_is_the_one_that_was_said(monkeypatch, tmp_path):
    monkeypatch.setenv(compilations.VARIABLE, str(tmp_path / "mine"))
    assert compilations._chosen() == tmp_path / "mine"
    monkeypatch.delenv(compilations.VARIABLE)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "elsewhere")
    assert compilations._chosen() is None
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert compilations._chosen() == tmp_path / "echofold" / "programs"


def test_a_folder_that_has_grown_is_cut_to_what_was_used_last(monkeypatch, tmp_path):
    monkeypatch.setattr(compilations, "MOST_BYTES", 1000)
    for number in range(12):
        path = tmp_path / f"{number}-cache"
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    compilations._trim(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"{n}-cache" for n in range(7, 12)}
