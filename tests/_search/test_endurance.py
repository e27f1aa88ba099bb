"""Searches that are killed again and again, share a checkpoint, lose workers or run out of disk."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from searches import CV, RIDGE, SEED, SERIES, identical, searched

import echofold._search.blocks as work
from echofold import ESNForecaster, ESNSearchCV

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX"),
]
KILLS = 20
DRAWS = 400  # as many blocks
PATIENCE = 300  # seconds after which a process that does nothing has failed

SEARCH = """
import hashlib, json, sys, time
from pathlib import Path
from echofold import ESNForecaster, ESNSearchCV
from echofold._search.checkpoint import Checkpoint
from searches import CV, RIDGE, SERIES, searched

def summary(search):
    model = search.best_estimator_
    arrays = [model.readout_, model.W_, model.state_, search.forecast(9), search.results_.nrmse]
    digest = hashlib.sha256(b"".join(array.__array__().tobytes() for array in arrays))
    return [search.seed_, search.best_params_, search.best_score_.hex(), digest.hexdigest()]
"""


def start(program, *arguments, prefix=()):
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", SEARCH + program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def blocks(path):
    return sorted(Path(path).glob("block-*.npz"))


def wait_for(process, condition):
    for _ in range(PATIENCE * 200):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.005)
    raise AssertionError("nothing happened")


@pytest.fixture
def computed(monkeypatch):
    found, run = [], work.run_block
    monkeypatch.setattr(work, "run_block", lambda block: found.append(block.draws) or run(block))
    return found


def test_killed_at_twenty_random_moments(tmp_path, computed):
    """SIGKILL while starting, computing, writing; what was finished stays, to the last bit."""
    program = f"""
write = Checkpoint._write
def slowly(self, *arguments, **options):
    time.sleep(0.1)  # so that there is something left to kill
    write(self, *arguments, **options)
Checkpoint._write = slowly
searched("regression", n_draws={DRAWS}, checkpoint=sys.argv[1])
"""
    chance, path, counts = random.Random(1), tmp_path / "kept", []
    for kill in range(KILLS):
        process = start(program, path)
        if kill % 5 == 0:  # anywhere from the start of Python on
            time.sleep(chance.uniform(0, 8))
        else:
            before = len(blocks(path))
            wait_for(process, lambda before=before: len(blocks(path)) > before)
            time.sleep(chance.uniform(0, 0.3))
        assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
        counts.append(len(blocks(path)))
    assert counts == sorted(counts) and counts[-1] >= KILLS - KILLS // 5
    left = DRAWS - counts[-1]
    assert left > 0
    resumed = searched("regression", n_draws=DRAWS, checkpoint=path)
    assert len(computed) == left  # nothing that was finished is computed again
    undisturbed = searched("regression", n_draws=DRAWS)
    identical(resumed, undisturbed)
    np.testing.assert_array_equal(resumed.best_estimator_.W_, undisturbed.best_estimator_.W_)
    print(f"\n{KILLS} kills; blocks after each: {counts}")


def test_two_processes_on_one_checkpoint(tmp_path, computed):
    """Both begin at once, without a seed: they agree on one, and on every bit."""
    program = """
path, go = Path(sys.argv[1]), Path(sys.argv[2])
search = ESNSearchCV(
    ESNForecaster(12), {"leak_rate": [0.3, 1.0], "ridge": RIDGE}, cv=CV, n_draws=20, checkpoint=path
)
go.with_name(sys.argv[3]).touch()
while not go.exists():
    pass
print(json.dumps(summary(search.fit(SERIES))))
"""
    for attempt in range(4):
        path, go = tmp_path / f"kept{attempt}", tmp_path / f"go{attempt}"
        ready = [tmp_path / f"ready{attempt}{i}" for i in "ab"]
        both = [start(program, path, go, one.name) for one in ready]
        for process, one in zip(both, ready, strict=True):
            wait_for(process, one.exists)
        go.touch()
        found = []
        for process in both:
            output, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, errors
            assert "Warning" not in errors
            found.append(json.loads(output))
        assert found[0] == found[1]
        assert sorted(path.iterdir()) == [*blocks(path), path / "search.json"]
        again = ESNSearchCV(
            ESNForecaster(12), {"leak_rate": [0.3, 1.0], "ridge": RIDGE},
            cv=CV, n_draws=20, checkpoint=path,
        ).fit(SERIES)  # fmt: skip
        assert computed == []
        assert [again.seed_, again.best_score_.hex()] == [found[0][0], found[0][2]]


def test_a_dask_worker_that_is_killed(tmp_path):
    """Its blocks are computed by the others, and the results are the same."""
    distributed = pytest.importorskip("distributed")

    def slowly(y_true, y_pred):
        time.sleep(0.005)  # a quarter of a second for a block
        return float(np.abs(y_true - y_pred).mean())

    options = {"task": "regression", "metric": slowly, "n_draws": 16}
    plain = searched(**options)
    killed = []

    def kill(client):
        for _ in range(PATIENCE * 100):
            if len(blocks(tmp_path)) >= 2:
                break
            time.sleep(0.01)
        pids = client.run(os.getpid)
        victim = sorted(pids.values())[0]
        os.kill(victim, signal.SIGKILL)
        killed.append((victim, len(blocks(tmp_path))))

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        thread = threading.Thread(target=kill, args=(client,))
        thread.start()
        found = searched(**options, executor=client.get_executor(), checkpoint=tmp_path)
        thread.join()
    ((_, finished),) = killed
    assert 2 <= finished < 16  # in the middle
    identical(found, plain)
    print(f"\nworker killed after {finished} of 16 blocks")


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_disk_that_is_really_full(tmp_path):
    """A disk of 64 kB: whole blocks stay, no other files do, and with room it goes on."""
    program = f"""
import subprocess
disk = Path(sys.argv[1])
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk])
if mounted.returncode:
    print(json.dumps("no disk"))
    sys.exit()
run = lambda: searched(n_draws=30, random_state={SEED}, checkpoint=disk / "kept")
try:
    run()
except OSError as error:
    message = str(error)
left = sorted(file.name for file in (disk / "kept").iterdir())
subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
print(json.dumps([message, left, summary(run()), summary(searched(n_draws=30))]))
"""
    process = start(program, tmp_path, prefix=["unshare", "--map-root-user", "--mount"])
    output, errors = process.communicate(timeout=PATIENCE)
    if process.returncode and "unshare" in errors or output.strip() == '"no disk"':
        pytest.skip(f"no disk of its own here: {errors}")
    assert process.returncode == 0, errors
    message, left, resumed, plain = json.loads(output)
    assert "No space left on device" in message and "make room and run the same search" in message
    assert left[-1] == "search.json" and 2 <= len(left) < 31
    assert all(name.startswith("block-") and name.endswith(".npz") for name in left[:-1])
    assert resumed == plain
    print(f"\n{len(left) - 1} blocks fitted on the disk")
