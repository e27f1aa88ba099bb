"""Compilations kept on disk: whose folder, how large, and that nothing in it can hurt."""

import errno
import os
import random
import subprocess
import sys
import time

import pytest

from echofold._machine import compilations
from echofold._machine.compilations import SUFFIX, Entries

SCRIPT = """
import sys
import numpy as np
import echofold
kept = echofold.keep_compilations(sys.argv[1])
saved = []
from jax import monitoring
monitoring.register_event_listener(lambda event, **_: saved.append(event))
y = np.sin(np.arange(200) / 5)
model = echofold.ESNForecaster(7, connectivity=0.6, random_state=0).fit(y)  # is compiled
print(kept is not None, repr(model.forecast(3).tolist()))
print(sum(event.endswith("cache_hits") for event in saved))
"""


def started(folder, before=""):
    told = {"ECHOFOLD_CACHE", "ECHOFOLD_CACHE_FOUND", "JAX_COMPILATION_CACHE_DIR"}
    env = {name: value for name, value in os.environ.items() if name not in told}
    return subprocess.Popen(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", before + SCRIPT, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip


def fitted(folder, before=""):
    process = started(folder, before)
    out, said = process.communicate()
    assert process.returncode == 0, said
    first, hits = out.splitlines()
    return *first.split(" ", 1), int(hits), said


def test_a_second_process_compiles_nothing_and_damage_costs_time_only(tmp_path):
    folder = tmp_path / "programs"
    used, forecast, hits, _ = fitted(folder)
    assert used == "True"
    entries = [path for path in folder.iterdir() if path.name.endswith(SUFFIX)]
    assert len(entries) == 2 and hits == 0  # driving, and the forecast
    for number, path in enumerate(sorted(entries)):
        content = path.read_bytes()
        path.write_bytes([b"", content[: len(content) // 2], b"\0" * 100][number % 3])
    (folder / f"something{SUFFIX}").write_bytes(b"of another program")
    _, damaged, hits, said = fitted(folder)
    assert damaged == forecast and hits == 0
    assert said == ""
    _, again, hits, _ = fitted(folder)
    assert again == forecast and hits >= len(entries)  # what was damaged has been replaced


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
        path = tmp_path / f"{number}{SUFFIX}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    kept = Entries(tmp_path)
    assert kept.size == 500
    assert {path.name for path in tmp_path.iterdir()} == {f"{n}{SUFFIX}" for n in range(7, 12)}
    for number in range(12):  # and while it grows
        kept.put(f"new{number}", b"x" * 100)
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000
    assert kept.get("new11") == b"x" * 100


def test_an_entry_is_whole_and_of_this_processor_or_not_there(monkeypatch, tmp_path):
    kept = Entries(tmp_path)
    kept.put("program", b"steps" * 100)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    assert Entries(tmp_path).get("program") == b"steps" * 100
    for wrong in (b"", whole[:-1], whole[:20], whole + b"x", b"steps" * 100, whole[::-1]):
        path.write_bytes(wrong)
        assert kept.get("program") is None
    kept.put("program", b"again")
    assert kept.get("program") == b"again"
    monkeypatch.setattr(compilations, "_processor", lambda: "another")
    assert Entries(tmp_path).get("program") is None


def test_what_a_killed_process_left_is_removed_later(tmp_path):
    old, new = tmp_path / ".1.part", tmp_path / ".2.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    Entries(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [new.name]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_folder_that_cannot_be_written_to_is_tried_once(monkeypatch, tmp_path, error):
    asked = []

    def refuse(path, content):
        asked.append(path)
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(compilations, "write_atomically", refuse)
    kept = Entries(tmp_path)
    for _ in range(3):
        kept.put("program", b"steps")
        assert kept.get("program") is None
    assert len(asked) == 1


def test_a_folder_that_vanishes_costs_time_only(tmp_path):
    kept = Entries(tmp_path / "gone")
    kept.put("program", b"steps")
    assert kept.get("program") is None


@pytest.mark.slow
def test_kills_at_any_moment_and_two_processes_at_once(tmp_path):
    folder = tmp_path / "programs"
    expected = fitted("/dev/null/none")[1]
    rng = random.Random(0)
    for most in (1, 1, 2, 1, 2):  # killed as soon as so many more files are there, or a bit later
        process = started(folder)
        before = len(list(folder.iterdir())) if folder.exists() else 0
        while process.poll() is None:
            there = len(os.listdir(folder)) if folder.exists() else 0
            if there >= before + most:
                time.sleep(rng.random() / 20)
                process.kill()
        process.communicate()
    used, forecast, _, said = fitted(folder)
    assert (used, forecast, said) == ("True", expected, "")
    both = tmp_path / "both"
    for process in [started(both), started(both)]:
        out, said = process.communicate()
        assert process.returncode == 0 and said == ""
        assert out.splitlines()[0] == f"True {expected}"
    assert not list(both.glob("*.part"))


@pytest.mark.slow
def test_a_full_or_read_only_folder_costs_time_only(tmp_path):
    expected = fitted("/dev/null/none")
    assert expected[0] == "False"
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    full += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    used, forecast, hits, said = fitted(tmp_path / "full", before=full)
    assert (used, forecast, hits, said) == ("True", expected[1], 0, "")
    assert not list((tmp_path / "full").iterdir())
    later = "import os, shutil, echofold\n"  # taken away after it was looked at
    later += "from echofold._machine import compilations\n"
    later += "def refuse(*_): raise OSError(30, 'Read-only file system')\n"
    later += "compilations.write_atomically = refuse\n"
    used, forecast, hits, said = fitted(tmp_path / "later", before=later)
    assert (used, forecast, hits, said) == ("True", expected[1], 0, "")
    locked = tmp_path / "locked"
    fitted(locked)
    locked.chmod(0o500)
    try:
        _, forecast, _, said = fitted(locked)
    finally:
        locked.chmod(0o700)
    assert (forecast, said) == (expected[1], "")


def test_a_program_in_the_file_of_another_is_none(tmp_path):
    """Exchanged files, or one copied over another: as good as damaged."""
    kept = Entries(tmp_path)
    for key in ("drive", "solve"):
        kept.put(key, key.encode() * 9)
    first, second = kept._file("drive"), kept._file("solve")
    contents = first.read_bytes(), second.read_bytes()
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    assert kept.get("drive") is None and kept.get("solve") is None
    kept.put("drive", b"compiled anew")
    assert kept.get("drive") == b"compiled anew"
