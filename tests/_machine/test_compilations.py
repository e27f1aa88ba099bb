"""Compilations kept on disk: whose folder, how large, and that nothing in it can hurt."""

import errno
import os
import random
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from echofold import ESNForecaster
from echofold._machine import compilations
from echofold._machine.compilations import SUFFIX, Entries
from echofold._machine.device import engine
from echofold._machine.programs import program

SCRIPT = """
import sys
import numpy as np
import echofold
kept = echofold.keep_compilations(sys.argv[1])
saved = []
from jax import monitoring
monitoring.register_event_listener(lambda event, **_: saved.append(event))
y = np.sin(np.arange(200) / 5)
own = echofold.reservoirs.Leaky(7, activation=lambda x: x / (1 + abs(x)))  # is compiled
model = echofold.ESNForecaster(reservoir=own, random_state=0).fit(y)
print(kept is not None, repr(model.forecast(3).tolist()))
print(sum(event.endswith("cache_hits") for event in saved))
"""


def started(folder, before=""):
    told = {"ECHOFOLD_CACHE", "JAX_COMPILATION_CACHE_DIR"}
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


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A user without any setting, at home in an empty folder."""
    if sys.platform != "linux":
        pytest.skip("homes are elsewhere")
    told = getattr(jax.config, compilations.JAX)
    jax.config.update(compilations.JAX, None)
    for name in (compilations.VARIABLE, compilations.JAX.upper()):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compilations._entries.cache_clear()
    yield tmp_path
    compilations._entries.cache_clear()
    jax.config.update(compilations.JAX, told)


def compile_one():
    """Compile a program that no process had before, and one that is not of this library."""
    number = float(np.random.default_rng().random())

    @program
    def ours(x):
        return x * number

    with engine():
        ours(np.ones(3))

    def theirs(x):
        return x + number

    jax.jit(theirs)(np.ones(3))


def programs_in(folder):
    return [path.name.split("-")[0] for path in folder.rglob(f"*{SUFFIX}")]


def test_the_first_program_is_kept_without_being_asked_and_those_of_others_are_not(home):
    before = dict(jax.config.values), dict(os.environ)
    ESNForecaster(5, random_state=0).fit(np.arange(40.0)).forecast(2)
    assert not list(home.iterdir())  # nothing was compiled
    with engine():
        pass
    assert not list(home.iterdir())
    compile_one()
    assert programs_in(home) == ["jit_ours"]
    assert home.joinpath("echofold", "programs").stat().st_mode & 0o777 == 0o700
    assert (dict(jax.config.values), dict(os.environ)) == before


@pytest.mark.parametrize("how", ["call", "variable", "folder of JAX", "JAX keeps nothing"])
def test_what_was_refused_or_is_told_otherwise_is_not_kept(home, monkeypatch, how):
    monkeypatch.setenv(compilations.VARIABLE, "off" if how == "variable" else "")
    if how == "call":
        assert compilations.keep_compilations("off") is None
    elif how == "folder of JAX":
        jax.config.update(compilations.JAX, str(home / "theirs"))
    elif how == "JAX keeps nothing":
        jax.config.update("jax_enable_compilation_cache", False)
        jax._src.compilation_cache.reset_cache()
    try:
        compile_one()
    finally:
        if how == "JAX keeps nothing":
            jax.config.update("jax_enable_compilation_cache", True)
            jax._src.compilation_cache.reset_cache()
    assert not programs_in(home)
    monkeypatch.setenv(compilations.VARIABLE, str(home / "mine"))
    compile_one()
    assert programs_in(home / "mine") == ["jit_ours"]


@pytest.mark.parametrize("how", ["no home", "a file", "of others", "not absolute"])
def test_a_home_that_is_none_keeps_nothing(home, monkeypatch, how):
    if how == "no home":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(compilations.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
    elif how == "a file":
        home.joinpath("echofold").write_text("")
    elif how == "of others":
        home.joinpath("echofold", "programs").mkdir(parents=True)
        home.joinpath("echofold", "programs").chmod(0o777)
    else:
        monkeypatch.chdir(home)
        monkeypatch.setenv("XDG_CACHE_HOME", "below")
    compile_one()
    assert not programs_in(home)
    assert compilations.keep_compilations() is None


def test_a_folder_is_kept_for_processes_that_are_started(home, monkeypatch):
    monkeypatch.setenv(compilations.VARIABLE, "")
    monkeypatch.chdir(home)
    assert compilations.keep_compilations("mine") == home / "mine"
    assert os.environ[compilations.VARIABLE] == str(home / "mine")


def test_folders_that_cannot_or_should_not_be_used(tmp_path, monkeypatch):
    monkeypatch.setenv(compilations.VARIABLE, "off")
    compilations._entries.cache_clear()
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


@pytest.mark.parametrize("said", ["on", "1", "True", ""])
def test_a_word_for_yes_is_no_folder(said, monkeypatch, tmp_path):
    monkeypatch.setenv(compilations.VARIABLE, said)
    monkeypatch.setattr(compilations, "_of_user", lambda: tmp_path / "custom")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.delitem(sys.modules, "jax", raising=False)  # whose own folder would win
    assert compilations._chosen() == tmp_path / "custom"


@pytest.mark.parametrize("said", ["off", "0", "no"])
def test_it_can_be_refused(monkeypatch, said):
    monkeypatch.setenv(compilations.VARIABLE, said)
    assert compilations.keep_compilations() is None


def test_a_command_can_refuse(home, monkeypatch, run, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(compilations.VARIABLE, "")
    file = tmp_path / "few.csv"
    file.write_text("value\n1\n2\n3\n")
    for arguments, said in ([], ""), (["--no-cache"], "off"):
        code, _, _ = run("forecast", file, "--horizon", "1", "--json", *arguments)
        assert not code and os.environ[compilations.VARIABLE] == said


def test_the_folder_is_the_one_that_was_said(home, monkeypatch):
    assert compilations._chosen() == home / "echofold" / "programs"
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "jax")  # it is told before it is imported
        patch.setenv(compilations.JAX.upper(), "elsewhere")
        assert compilations._chosen() is None
        patch.setenv(compilations.VARIABLE, str(home / "mine"))
        assert compilations._chosen() == home / "mine"


def test_a_folder_that_has_grown_is_cut_to_what_was_used_last(monkeypatch, tmp_path):
    monkeypatch.setattr(compilations, "MOST_BYTES", 1000)
    for number in range(12):
        path = tmp_path / f"{number}{SUFFIX}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    kept = Entries(tmp_path)
    assert kept.size == 500
    assert {path.name for path in tmp_path.iterdir()} == {f"{n}{SUFFIX}" for n in range(7, 12)}
    letter = tmp_path / "letter.txt"
    letter.write_bytes(b"of someone else" * 1000)
    os.utime(letter, (0, 0))
    for number in range(12):  # and while it grows
        kept.put(f"new{number}", b"x" * 100)
        assert sum(path.stat().st_size for path in tmp_path.glob(f"*{SUFFIX}")) <= 1000
    assert letter.exists()
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
    old, new, theirs = (tmp_path / f"{name}.part" for name in (f".{0:016x}", f".{1:016x}", "a"))
    for path in (old, new, theirs):
        path.write_bytes(b"half")
    for path in (old, theirs):
        os.utime(path, (0, 0))
    Entries(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {new.name, theirs.name}


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
