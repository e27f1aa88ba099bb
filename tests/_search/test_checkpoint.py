"""A search that is killed, interrupted or runs out of disk goes on where it was."""

import errno
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import searches
from scipy import stats
from scipy.sparse import csr_array
from searches import CV, GRID, INPUTS, OUTPUTS, RIDGE, SEED, SERIES, TASKS, identical, searched
from threadpoolctl import threadpool_limits

import echofold._engine.weights as weights
import echofold._machine.files as _atomic
import echofold._search.blocks as work
from echofold import (
    Accumulative,
    EchofoldWarning,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
)
from echofold._machine.progress import Progress
from echofold._search.checkpoint import Checkpoint, Expected
from echofold._validation.record import Record
from echofold.metrics import mase

SPACE = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
DRAWS = 6  # as many blocks
PATIENCE = 300  # seconds after which a test gives up on a process that does nothing

PROGRAM = """
import os, signal, sys, time
from echofold._search.checkpoint import Checkpoint
from searches import searched

signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs of shells ignore
path, moment, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
write, count = Checkpoint._write, 0

def watched(self, file, data, *first, **firsts):
    global count
    if file.name.startswith("block"):
        count += 1
        if count == at:
            if moment == "wait":
                write(self, file, data)
                time.sleep(1000)
            if moment == "half":
                half = file.with_name(f"{file.name}.{os.getpid()}.part")
                half.write_bytes(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
    write(self, file, data, *first, **firsts)

Checkpoint._write = watched
searched(n_draws=6, checkpoint=path)
print("finished")
"""


def start(path, moment, at=0):
    here = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), moment, str(at)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def blocks(path):
    return sorted(file.name for file in Path(path).glob("block-*.npz"))


def wait_for_blocks(process, path, count):
    """Wait until a running search has finished this many blocks."""
    for _ in range(PATIENCE * 100):
        if len(blocks(path)) >= count:
            return
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    raise AssertionError("no block was finished")


@pytest.fixture(scope="module")
def undisturbed():
    return searched(n_draws=DRAWS)


@pytest.fixture
def computed(monkeypatch):
    """The draws of blocks that are computed from here on."""
    found = []
    run = work.run_block

    def counted(block):
        found.append(block.draws)
        return run(block)

    monkeypatch.setattr(work, "run_block", counted)
    return found


# --- killed ---------------------------------------------------------------------------------------


def test_killed_several_times_over(tmp_path, undisturbed, computed):
    path = tmp_path / "kept"
    process = start(path, "half", 2)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, errors
    assert "finished" not in output
    assert len(blocks(path)) == 1
    process = start(path, "wait", 2)
    wait_for_blocks(process, path, 3)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert len(blocks(path)) == 3
    resumed = searched(n_draws=DRAWS, checkpoint=path)
    assert len(computed) == DRAWS - 3  # nothing that was finished is computed again
    identical(resumed, undisturbed)
    np.testing.assert_array_equal(resumed.forecast(9), undisturbed.forecast(9))
    computed.clear()
    identical(searched(n_draws=DRAWS, checkpoint=path), undisturbed)
    assert computed == []


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_interrupted_in_a_terminal(tmp_path, undisturbed, computed):
    path = tmp_path / "kept"
    process = start(path, "wait", 2)
    wait_for_blocks(process, path, 2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, None) and "finished" not in output
    assert len(blocks(path)) == 2
    last = errors.strip().splitlines()[-1]
    assert last.startswith("KeyboardInterrupt: interrupted after 4 of ")
    assert f"of {4 * DRAWS} evaluations; they are kept in {str(path)!r}" in last
    assert last.endswith(". Run it again to go on.")
    assert not list(path.glob("*.part"))
    identical(searched(n_draws=DRAWS, checkpoint=path), undisturbed)
    assert len(computed) == DRAWS - 2


class Interrupts(Progress):
    """Ctrl-C after some evaluations."""

    def __init__(self, after):
        self.after = after

    def update(self, done, *_):
        if done >= self.after:
            raise KeyboardInterrupt


@pytest.fixture
def interrupted(monkeypatch):
    """Run a search and interrupt it after some evaluations; the message."""

    def run(after, **options):
        with monkeypatch.context() as patch:
            patch.setattr("echofold._search.search.progress", lambda *_: Interrupts(after))
            with pytest.raises(KeyboardInterrupt) as caught:
                searched(**options)
        return str(caught.value)

    return run


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_message_of_an_interrupt(tmp_path, interrupted, n_jobs):
    options = {"task": "regression", "n_draws": 3, "n_jobs": n_jobs}
    message = interrupted(8, **options)
    assert message == (
        "interrupted after 8 of 12 evaluations; give checkpoint=... to keep finished blocks on "
        "disk and go on later."
    )
    message = interrupted(8, **options, checkpoint=tmp_path)
    assert message.startswith(
        f"interrupted after 8 of 12 evaluations; they are kept in '{tmp_path}'"
    )
    assert len(blocks(tmp_path)) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "halving"},
        {"strategy": "random", "n_iter": 4},
        {"strategy": "optuna", "n_iter": 5},
        {"ridge_per": "split", "metric": ["rmse", "mae"], "cv": {"a/b": CV, "é": KFold(3)}},
        {"prune": True, "task": "forecast"},
    ],
    ids=lambda options: next(iter(options)) + "-" + str(next(iter(options.values()))),
)
def test_every_kind_of_search_goes_on(options, tmp_path, interrupted, computed, monkeypatch):
    monkeypatch.setattr("echofold._search.runner.WIDEST", 2)
    monkeypatch.setattr("echofold._search.prune.SEGMENTS", 2)
    monkeypatch.setattr("echofold._search.candidates.BATCH", 3)
    options = {"task": "regression", "n_draws": 1, **options}
    if "prune" in options:
        options |= {"n_draws": 2, "select": "draw"}
    plain = searched(**options)
    needed = len(computed)
    computed.clear()
    after = 1
    while len(blocks(tmp_path)) < needed:  # again and again, one more block at the most
        interrupted(after, **options, checkpoint=tmp_path)
        after += 2
    assert after > 2
    identical(searched(**options, checkpoint=tmp_path), plain)
    assert len(computed) == needed


def test_other_workers_may_go_on(tmp_path, interrupted):
    plain = searched("regression", n_draws=3, final="average")
    interrupted(4, task="regression", n_draws=3, checkpoint=tmp_path)
    resumed = searched(
        "regression", n_draws=3, checkpoint=str(tmp_path), n_jobs=2, progress=False, final="average"
    )
    identical(resumed, plain)


def test_complete_blocks_of_large_networks_give_the_same_bits(tmp_path, computed):
    estimator = ESNForecaster(320, random_state=SEED)

    def run(**options):
        return ESNSearchCV(estimator, {"ridge": RIDGE}, cv=CV, n_draws=3, **options).fit(SERIES)

    def forget():  # as in another process
        weights.drawn.kept.clear()

    run(checkpoint=tmp_path)
    forget()
    with threadpool_limits(1, user_api="blas"):
        plain = run()
    forget()
    computed.clear()
    with threadpool_limits(4, user_api="blas"):
        resumed = run(checkpoint=tmp_path)
    assert computed == []
    identical(resumed, plain)
    for name in ("W_", "W_in_", "readout_", "state_"):
        one, other = (getattr(search.best_estimator_, name) for search in (resumed, plain))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(resumed.forecast(20), plain.forecast(20))


# --- whole files only -----------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["cut", "empty", "short", "flipped", "foreign", "gone"])
def test_blocks_that_are_not_whole_are_computed_again(damage, tmp_path, computed):
    plain = searched("regression", n_draws=3, checkpoint=tmp_path)
    file = tmp_path / blocks(tmp_path)[1]
    data = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 1
        file.write_bytes(
            {
                "cut": data[:-100], "empty": b"", "short": data[:30], "flipped": bytes(flipped),
                "foreign": b"x" * len(data),
            }[damage]
        )  # fmt: skip
    computed.clear()
    identical(searched("regression", n_draws=3, checkpoint=tmp_path), plain)
    assert computed == [(1,)]
    assert file.read_bytes()[64:] != data[64:] or damage == "gone"  # other seconds, whole again
    computed.clear()
    identical(searched("regression", n_draws=3, checkpoint=tmp_path), plain)
    assert computed == []


def test_a_block_comes_back_as_it_was(tmp_path):
    arrays = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    arrays[0, 0, 0, 0], arrays[0, 0, 0, 1] = np.inf, np.nan
    outcome = Record(
        {"a/b": {"nrmse": arrays, "é": -arrays}, "c": {"nrmse": arrays * 2, "é": arrays * 3}},
        condition=arrays[:, :, 0, 0],
        seconds=np.full((2, 3), 0.25),
        algorithm={"a/b": ["naive"] * 3, "c": ["large_k"] * 3},
        notes={"a/b": {"reason": "why", "refitted_splits": 3}, "c": {"estimated_seconds": 0.1}},
        pruned={"c": arrays[:, :, 0] > 0},
        steps=7,
        column_steps=2**40,
    )
    wanted = Expected("these", {"a/b": 4, "c": 4}, ("nrmse", "é"), (2, 3, 5), True)
    outcome.pruned["a/b"] = arrays[:, :, 1] > 0
    kept = Checkpoint(tmp_path, {"seed": 1}, 0)
    assert kept.load(3, wanted) is None
    kept.save(3, outcome, wanted)
    found = Checkpoint(tmp_path, {"seed": 1}, 0).load(3, wanted)
    for scheme, metrics in outcome.scores.items():
        assert list(found.scores[scheme]) == list(metrics)
        for metric, values in metrics.items():
            np.testing.assert_array_equal(found.scores[scheme][metric], values)
    np.testing.assert_array_equal(found.condition, outcome.condition)
    np.testing.assert_array_equal(found.pruned["c"], outcome.pruned["c"])
    np.testing.assert_array_equal(found.seconds, outcome.seconds)
    for name in ("algorithm", "notes", "steps", "column_steps"):
        assert getattr(found, name) == getattr(outcome, name)


# --- blocks that belong elsewhere -----------------------------------------------------------------


def packed(meta, arrays, save=np.savez):
    """A block as a file, with the hash in front."""
    buffer = io.BytesIO()
    save(buffer, meta=json.dumps(meta), **arrays)
    return hashlib.sha256(buffer.getvalue()).hexdigest().encode() + buffer.getvalue()


def unpacked(file):
    with np.load(io.BytesIO(file.read_bytes()[64:])) as found:
        arrays = dict(found)
    return json.loads(str(arrays.pop("meta"))), arrays


@pytest.fixture
def goes_on(tmp_path, computed):
    """Run a search with damaged blocks; assert a warning for each, and the right results."""

    def run(plain, names, why, **options):
        computed.clear()
        with pytest.warns(EchofoldWarning, match=why) as caught:
            resumed = searched("regression", checkpoint=tmp_path, **options)
        ours = [one for one in caught if issubclass(one.category, EchofoldWarning)]
        assert [Path(str(one.message).split()[0]).name for one in ours] == names
        assert all("is computed again and the file replaced" in str(o.message) for o in ours)
        assert all(one.filename == searches.__file__ for one in ours)  # where fit is called
        identical(resumed, plain)
        assert len(computed) == len(names)
        computed.clear()
        identical(searched("regression", checkpoint=tmp_path, **options), plain)
        assert computed == []

    return run


@pytest.mark.parametrize("space", [{"leak_rate": [0.3, 1.0, 0.5]}, GRID], ids=["unequal", "equal"])
def test_swapped_blocks_are_not_used(tmp_path, goes_on, monkeypatch, space):
    monkeypatch.setattr(
        "echofold._search.runner.WIDEST", 2
    )  # three candidates are blocks of 2 and 1
    plain = searched("regression", space, checkpoint=tmp_path)
    names = blocks(tmp_path)
    one, other = (tmp_path / name for name in names)
    data = one.read_bytes(), other.read_bytes()
    one.write_bytes(data[1])
    other.write_bytes(data[0])
    goes_on(plain, names, "is block [01] of this search under another name", space=space)


def test_blocks_of_another_search_are_not_used(tmp_path, goes_on, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("other")
    plain = searched("regression", n_draws=2, checkpoint=tmp_path)
    searched("regression", n_draws=2, checkpoint=elsewhere, random_state=9)
    name = blocks(tmp_path)[1]
    (tmp_path / name).write_bytes((elsewhere / name).read_bytes())
    goes_on(plain, [name], "belongs to another search", n_draws=2)


def test_inputs_in_another_unit_are_noticed_where_they_matter(tmp_path, computed):
    space = {"scale": ["standard", None], "ridge": RIDGE}
    options = {"cv": CV, "metric": "rmse", "checkpoint": tmp_path}
    ESNSearchCV(TASKS["regression"][0], space, **options).fit(INPUTS, OUTPUTS)
    computed.clear()
    with pytest.warns(EchofoldWarning, match="block-000001.npz holds other candidates, draws, dat"):
        found = ESNSearchCV(TASKS["regression"][0], space, **options).fit(2 * INPUTS, OUTPUTS)
    assert len(computed) == 1  # the same once scaled, but not where they are not
    options["checkpoint"] = None
    identical(found, ESNSearchCV(TASKS["regression"][0], space, **options).fit(2 * INPUTS, OUTPUTS))


def _header(shape="(1, 4, 4, 3)", kind="'<f8'"):
    """The beginning of an array that claims to be large."""
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def _archive(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return hashlib.sha256(buffer.getvalue()).hexdigest().encode() + buffer.getvalue()


def _members(data):
    with zipfile.ZipFile(io.BytesIO(data[64:])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


HOSTILE = {
    "compressed": (lambda m, a, d: packed(m, a, np.savez_compressed), "is compressed"),
    "a bomb": (
        lambda m, a, d: _archive(
            _members(d) | {"array0.npy": _header("(8000000,)") + bytes(64_000_000)},
            zipfile.ZIP_DEFLATED,
        ),
        "is compressed",
    ),
    "a large claim": (
        lambda m, a, d: _archive(_members(d) | {"array0.npy": _header("(1000000000000, 9)")}),
        "of another size than it says",
    ),
    "a negative length": (
        lambda m, a, d: _archive(_members(d) | {"array0.npy": _header("(-1, -1)") + bytes(8)}),
        "none of numbers",
    ),
    "objects": (
        lambda m, a, d: _archive(_members(d) | {"array0.npy": _header("(1,)", "'|O'") + bytes(8)}),
        "none of numbers",
    ),
    "too large": (lambda m, a, d: d + bytes(2**24), "is too large"),
    "no archive": (
        lambda m, a, d: hashlib.sha256(b"zip").hexdigest().encode() + b"zip",
        "is not a block of a search",
    ),
    "no array": (lambda m, a, d: _archive(_members(d) | {"array0.npy": b"x"}), "is not a block"),
    "a missing array": (
        lambda m, a, d: packed(m, {k: v for k, v in a.items() if k != "array0"}),
        "is not a block",
    ),
    "another shape": (lambda m, a, d: packed(m, a | {"array0": a["array0"][:, 1:]}), "or shapes"),
    "another type": (
        lambda m, a, d: packed(m, a | {"array0": a["array0"].astype("f4")}),
        "or shapes",
    ),
    "more arrays": (lambda m, a, d: packed(m, a | {"array2": a["array0"]}), "or shapes"),
    "nested words": (lambda m, a, d: packed(m | {"notes": [[["cv"], ["nrmse"]]]}, a), "is not a"),
    "a list": (lambda m, a, d: packed([m], a), "is not a block"),
    "deep words": (
        lambda m, a, d: _archive(_members(d) | {"meta.npy": _text("[" * 9000 + "]" * 9000)}),
        "is not a block",
    ),
    "no seconds": (
        lambda m, a, d: packed({k: v for k, v in m.items() if k != "seconds"}, a),
        "is not a block",
    ),
    "no place": (
        lambda m, a, d: packed({k: v for k, v in m.items() if k != "belongs"}, a),
        "is not a block",
    ),
    "other contents": (
        lambda m, a, d: packed(m | {"belongs": m["belongs"] | {"content": "0"}}, a),
        "holds other candidates, draws, data or splits",
    ),
}


def _text(text):
    buffer = io.BytesIO()
    np.save(buffer, np.array(text))
    return buffer.getvalue()


@pytest.mark.parametrize("how", HOSTILE)
def test_blocks_made_to_do_harm_are_not_used(how, tmp_path, goes_on):
    plain = searched("regression", n_draws=2, checkpoint=tmp_path)
    file = tmp_path / blocks(tmp_path)[1]
    make, why = HOSTILE[how]
    file.write_bytes(make(*unpacked(file), file.read_bytes()))
    goes_on(plain, [file.name], why, n_draws=2)


def test_a_directory_in_the_place_of_a_block(tmp_path, computed):
    searched("regression", n_draws=2, checkpoint=tmp_path)
    file = tmp_path / blocks(tmp_path)[1]
    file.unlink()
    file.mkdir()
    computed.clear()
    with pytest.raises(
        OSError, match=rf"block 1 cannot be read \(a directory.*Remove {file}, or give"
    ):
        searched("regression", n_draws=2, checkpoint=tmp_path)
    assert computed == []
    file.rmdir()
    searched("regression", n_draws=2, checkpoint=tmp_path)
    assert len(computed) == 1


def test_a_ridge_for_each_output_goes_on_from_the_same_blocks(tmp_path, computed):
    searched("regression", checkpoint=tmp_path)
    computed.clear()
    searched("regression", checkpoint=tmp_path, ridge_per="output")
    assert computed == []


def test_the_season_of_a_metric_is_noticed(tmp_path, computed):
    searched("regression", metric="mase", checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"different are: functions\['mase'\]"):
        searched("regression", metric=mase(12), checkpoint=tmp_path)


def test_another_version_goes_on(tmp_path, computed, monkeypatch):
    plain = searched("regression", checkpoint=tmp_path)
    computed.clear()
    monkeypatch.setattr("echofold.__version__", "99.0")
    identical(searched("regression", checkpoint=tmp_path), plain)
    assert computed == []


# --- a disk that is full or not there -------------------------------------------------------------


def test_a_disk_that_fills_up(tmp_path, monkeypatch, computed):
    plain = searched("regression", n_draws=5)
    path = tmp_path / "kept"
    opened = []

    class Full:
        """A file that takes half of the data."""

        def __init__(self, file, mode):
            self.file = open(file, mode)  # noqa: SIM115

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

    def filling(file, mode):
        opened.append(file)
        return open(file, mode) if len(opened) <= 3 else Full(file, mode)

    computed.clear()
    with monkeypatch.context() as patch:
        patch.setattr(_atomic, "open", filling, raising=False)
        with pytest.raises(OSError, match="block 2 .*No space left.*stay; make room and run the"):
            searched("regression", n_draws=5, checkpoint=path)
    assert blocks(path) == ["block-000000.npz", "block-000001.npz"]
    assert len(list(path.iterdir())) == 3  # and the description; no half-written file
    computed.clear()
    identical(searched("regression", n_draws=5, checkpoint=path), plain)
    assert [draws for (draws,) in computed] == [2, 3, 4]


def test_a_disk_that_is_full_from_the_start(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Checkpoint, "_write", full)
    with pytest.raises(OSError, match=r"checkpoint=.* cannot be written \(No space left"):
        searched("regression", checkpoint=tmp_path / "kept")


def test_directories_that_cannot_be_written(tmp_path, monkeypatch, computed):
    file = tmp_path / "file"
    file.write_text("mine")
    for path in (file, file / "inside"):
        with pytest.raises(OSError, match=r"checkpoint=.*file.* cannot be written.*may write to"):
            searched("regression", checkpoint=path)
    assert file.read_text() == "mine"

    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(_atomic, "open", refused, raising=False)
        with pytest.raises(OSError, match=r"cannot be written \(Permission denied\)"):
            searched("regression", checkpoint=tmp_path / "closed")
    assert computed == []  # refused before any work


# --- another search -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    path = tmp_path_factory.mktemp("old")
    ESNSearchCV(**arguments(), checkpoint=path).fit(INPUTS, OUTPUTS)
    return path


def arguments(**options):
    plain = {"estimator": TASKS["regression"][0], "space": SPACE, "cv": CV, "metric": "rmse"}
    return plain | options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {**SPACE, "leak_rate": [0.3, 0.9]}}, r"space\[0\]\['leak_rate'\] \(was \["),
        ({"space": {**SPACE, "units": [5]}}, r"space\[0\]\['units'\] \(was None"),
        ({"space": {**SPACE, "ridge": [1.0]}}, r"ridge \(was \[1e-06, .*is \[1.0\]"),
        ({"cv": KFold(3)}, r"cv\['cv'\] \(was \['KFold\(k=4\)'.*is \['KFold\(k=3\)'"),
        ({"cv": {"cv": CV, "AV": Accumulative(2)}}, r"cv\['AV'\] \(was None"),
        ({"metric": "mae"}, r"metric \(was \['rmse'\], is \['mae'\]"),
        ({"algorithm": "naive"}, r"algorithm \(was 'auto', is 'naive'"),
        ({"n_draws": 2}, r"n_draws \(was 1, is 2"),
        ({"strategy": "halving"}, r"strategy \(was 'grid', is 'halving'"),
        ({"ridge_per": "split"}, r"ridge_per \(was 'all', is 'split'"),
        ({"random_state": 8}, r"seed \(was 3, is 8"),
        ({"estimator": ESNRegressor(13, random_state=SEED)}, r"\['units'\] \(was '12', is '13'"),
        (
            {"estimator": ESNRegressor(12, random_state=SEED, output_range=(0, 1))},
            r"parameters\['output_range'\] \(was 'None'",
        ),
        ({"estimator": ESNRegressor(12, random_state=4)}, r"seed \(was 3, is 4"),
    ],
)  # fmt: skip
def test_other_arguments_are_named(old, computed, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        ESNSearchCV(**arguments(**options), checkpoint=old).fit(INPUTS, OUTPUTS)
    text = str(caught.value)
    assert text.startswith(f"checkpoint={str(old)!r} belongs to another search; different are: ")
    assert text.endswith("Use the same arguments, or another directory.")
    assert text.count("(was ") == 1  # that difference and no other
    assert computed == []


def test_several_differences_are_all_named(old):
    options = arguments(n_draws=2, metric="mae")
    with pytest.raises(ValueError, match=r"metric \(was .*\); n_draws \(was 1, is 2\)"):
        ESNSearchCV(**options, checkpoint=old).fit(INPUTS, OUTPUTS)


@pytest.mark.parametrize("change", ["a value", "its unit", "its origin", "weights", "inputs"])
def test_other_data_are_noticed(old, change):
    X, y, more = INPUTS.copy(), OUTPUTS.copy(), {}
    if change == "a value":
        y[100, 1] += 1e-9
    elif change == "its unit":  # the same once scaled, but an RMSE is in original units
        y *= 2
    elif change == "its origin":
        y += 4
    elif change == "weights":
        more = {"sample_weight": np.linspace(1, 2, 160)}
    else:
        X[3, 0] = 0
    with pytest.raises(ValueError, match=r"different are: data \(was '.*', is '.*'\)\. Use"):
        ESNSearchCV(**arguments(), checkpoint=old).fit(X, y, **more)


def test_another_task_is_noticed(old):
    options = arguments(estimator=TASKS["forecast"][0])
    with pytest.raises(ValueError, match=r"estimator \(was 'ESNRegressor', is 'ESNForecaster'"):
        ESNSearchCV(**options, checkpoint=old).fit(SERIES)


def test_a_metric_of_the_same_name_and_another_body_is_noticed(tmp_path, computed):
    def run(scale, power=1):
        def mine(y_true, y_pred):
            return float((np.abs(y_true - y_pred) ** power).mean() * scale)

        return searched("regression", metric=["rmse", mine], checkpoint=tmp_path)

    first = run(1.0)
    computed.clear()
    identical(run(1.0), first)
    assert computed == []
    for other in ({"scale": 2.0}, {"scale": 1.0, "power": 2}):
        with pytest.raises(ValueError, match=r"different are: functions\['mine'\]\['code'\] \(was"):
            run(**other)
    assert computed == []


def test_a_metric_that_cannot_be_described_is_refused(tmp_path, computed):
    generator = np.random.default_rng(0)

    def noisy(y_true, y_pred):
        return float(np.abs(y_true - y_pred).mean() + generator.normal())

    with pytest.raises(TypeError, match=r"metric=<function .*a Generator.* or search without chec"):
        searched("regression", metric=noisy, checkpoint=tmp_path / "kept")
    assert computed == [] and not (tmp_path / "kept").exists()


def test_splits_of_the_same_sizes_are_told_apart(tmp_path):
    one = [(np.arange(0, 40), np.arange(100, 144))]
    two = [(np.arange(50, 90), np.arange(100, 144))]
    ESNSearchCV(**arguments(cv=one), checkpoint=tmp_path).fit(INPUTS, OUTPUTS)
    with pytest.raises(ValueError, match=r"different are: cv\['cv'\]"):
        ESNSearchCV(**arguments(cv=two), checkpoint=tmp_path).fit(INPUTS, OUTPUTS)


def test_a_seed_that_was_drawn_is_kept(tmp_path):
    first, again, other = (
        ESNSearchCV(ESNForecaster(12), SPACE, cv=CV, checkpoint=tmp_path / name).fit(SERIES)
        for name in ("kept", "kept", "other")
    )
    assert first.seed_ == again.seed_ != other.seed_
    identical(first, again)
    assert json.loads((tmp_path / "kept" / "search.json").read_text())["seed"] == first.seed_


def test_the_seed_of_the_process_that_was_quicker_is_taken(tmp_path, monkeypatch):
    write, quicker = Checkpoint._write, {}

    def overtaken(self, file, data, *options, **more):
        if file.name == "search.json" and not quicker:
            quicker.update(json.loads(data) | {"seed": 77})
            write(self, file, json.dumps(quicker).encode(), *options, **more)
        write(self, file, data, *options, **more)

    monkeypatch.setattr(Checkpoint, "_write", overtaken)
    search = ESNSearchCV(ESNForecaster(12), SPACE, cv=CV, checkpoint=tmp_path).fit(SERIES)
    assert search.seed_ == 77
    assert json.loads((tmp_path / "search.json").read_text())["seed"] == 77
    assert not list(tmp_path.glob("*.part"))


def test_a_disk_without_links(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    first = searched("regression", checkpoint=tmp_path)
    identical(searched("regression", checkpoint=tmp_path), first)


@pytest.mark.parametrize("text", ["not json", "[]", "{}", '{"seed": "a"}', "[" * 99_999])
def test_a_description_that_is_none(tmp_path, text):
    (tmp_path / "search.json").write_text(text)
    with pytest.raises(ValueError, match="search.json is not the description of a search"):
        searched("regression", checkpoint=tmp_path)


def test_distributions_and_matrices_are_recognised(tmp_path, computed):
    W = np.random.default_rng(0).normal(size=(12, 12))

    def run(high=0.8, W=W):
        space = {"leak_rate": stats.uniform(0.1, high), "W": [csr_array(W), W], "ridge": [1e-2]}
        search = ESNSearchCV(
            TASKS["regression"][0], space, cv=CV, strategy="random", n_iter=3, checkpoint=tmp_path
        )
        return search.fit(INPUTS, OUTPUTS)

    first = run()
    computed.clear()
    assert run().best_score_ == first.best_score_
    assert computed == []
    with pytest.raises(ValueError, match=r"different are: space\[0\]\['leak_rate'\] \(was \['unif"):
        run(high=0.7)
    with pytest.raises(ValueError, match=r"different are: space\[0\]\['W'\]"):
        run(W=W + 1e-12)
