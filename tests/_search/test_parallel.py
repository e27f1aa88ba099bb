"""Who carries out the blocks, and in what order they end, changes nothing in the results."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import jax
import numpy as np
import pytest
from searches import TASKS, identical, searched
from sklearn.base import clone
from threadpoolctl import threadpool_info

from echofold import ESNForecaster, ESNSearchCV, KFold, cross_validate
from echofold._search import blocks as _work
from echofold._search.blocks import run_block

OPTIONS = {"n_draws": 3, "metric": ["nrmse", "mae"]}


@pytest.fixture(scope="module")
def serial():
    return searched(**OPTIONS)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("echofold._search.runner.WIDEST", 2)


class Backwards(Executor):
    """Begins when the last of ``expected`` tasks has come, with that one."""

    def __init__(self, expected):
        self.expected, self.tasks = expected, []

    def submit(self, function, /, *arguments):
        future = Future()
        self.tasks.append((future, function, arguments))
        if len(self.tasks) == self.expected:
            threading.Thread(target=self.work).start()
        return future

    def work(self):
        while self.tasks:
            future, function, arguments = self.tasks.pop()
            future.set_result(function(*arguments))


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_threads(serial, n_jobs):
    identical(searched(**OPTIONS, n_jobs=n_jobs), serial)


def test_blocks_that_end_in_another_order(serial):
    identical(searched(**OPTIONS, executor=Backwards(3)), serial)


def test_an_executor_of_threads_stays_open(serial):
    with ThreadPoolExecutor(2) as executor:
        identical(searched(**OPTIONS, executor=executor), serial)
        assert executor.submit(int, "3").result() == 3


def test_processes_that_start_from_nothing(serial):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        identical(searched(**OPTIONS, executor=executor), serial)
        plain = searched("classification", n_draws=2, cv=3)
        identical(searched("classification", n_draws=2, cv=3, executor=executor), plain)


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def jax_runs():
    jax.local_devices()


@FORKS
def test_a_pool_that_forks_is_refused_once_jax_runs(serial, jax_runs):
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        with pytest.raises(ValueError, match=r"executor=.* forks its workers.*\('spawn'\)"):
            searched(**OPTIONS, executor=executor)
        assert not executor._processes


@FORKS
@pytest.mark.parametrize("what", ["forecast", "fit", "search", "cross_validate", "submitted"])
def test_a_forked_process_says_that_it_cannot_compute(serial, jax_runs, what):
    model, y = serial.best_estimator_, TASKS["forecast"][1][0]
    act = {
        "forecast": lambda: model.forecast(3),
        "fit": lambda: clone(model).fit(y),
        "search": lambda: searched(**OPTIONS),
        "cross_validate": lambda: cross_validate(clone(model), y, cv=4),
        "submitted": lambda: run_block(None),
    }[what]
    assert forked(act) == "RuntimeError"
    assert len(model.forecast(3)) == 3  # here all is well


def forked(act):
    """The name of the exception that ``act`` raises in a forked process."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # by JAX and by Python, that a fork is not safe
        process = os.fork()
    if process == 0:
        try:
            signal.alarm(60)  # ends this process where the old version waited for ever
            act()
        except BaseException as error:
            os.write(write, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(process, 0)
    with open(read) as pipe:
        return pipe.read()


@FORKS
def test_a_pool_forked_before_jax_runs_works():
    code = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from searches import identical, searched

with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as executor:
    one = searched("regression", executor=executor)
    two = searched("regression", executor=executor)  # JAX runs here by now, and did not when forked
identical(one, two)
identical(one, searched("regression"))
"""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_dask(serial):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        identical(searched(**OPTIONS, executor=client.get_executor()), serial)


@pytest.mark.parametrize(
    "options",
    [
        {"task": "regression", "ridge_per": "split"},
        {"task": "classification", "metric": "error_rate"},
        {"task": "regression", "strategy": "halving"},
        {"task": "regression", "strategy": "optuna", "n_iter": 5},
        {"prune": True, "select": "draw"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_every_kind_of_search(options, small_blocks, monkeypatch):
    monkeypatch.setattr("echofold._search.prune.SEGMENTS", 2)
    identical(searched(**options, n_draws=2, n_jobs=2), searched(**options, n_draws=2))


def test_a_worker_that_fails_is_heard():
    def fails(y_true, y_pred):
        raise ZeroDivisionError("no score here")

    before = threading.active_count()
    for n_jobs in (None, 2):
        with pytest.raises(ZeroDivisionError, match="no score here"):
            searched("regression", metric=fails, n_jobs=n_jobs, n_draws=3)
    assert threading.active_count() <= before  # no thread is left over


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blas_threads_are_kept_in_check(n_jobs):
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    seen, before = [], threads()

    def watching(y_true, y_pred):
        seen.append(max(threads()))
        return float(np.abs(y_true - y_pred).mean())

    searched("regression", metric=watching, n_jobs=n_jobs, n_draws=2)
    assert len(seen) == 2 * 4 * 4 * 3
    assert set(seen) == {1}
    assert threads() == before


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, 1), ({"n_jobs": 2}, 2), ({"n_jobs": 7}, 3), ({"executor": ThreadPoolExecutor(2)}, 2)],
    ids=["alone", "two", "more than blocks", "executor"],
)
def test_workers_share_the_free_memory(monkeypatch, options, expected):
    seen, run = [], _work.run_block
    monkeypatch.setattr(
        _work, "run_block", lambda block: seen.append(block.settings.workers) or run(block)
    )
    searched(**OPTIONS, **options)
    assert seen == [expected] * 3


def test_an_executor_that_does_not_tell_has_a_worker_for_each_processor():
    assert _work.workers(Backwards(1)) == os.cpu_count()


@pytest.mark.parametrize(("units", "widest"), [(10, 20), (600, 14), (1500, 4)])
def test_large_networks_are_cut_into_more_blocks_for_more_cores(monkeypatch, units, widest):
    """As many as the work asks for, whatever ``n_jobs``; all of one width, but perhaps the last."""
    cut = {}

    def look(waiting, n_jobs, executor):
        cut[n_jobs] = [len(block.kinds) for _, block in waiting]
        raise InterruptedError

    monkeypatch.setattr("echofold._search.runner.carry_out", look)
    y = np.sin(np.arange(2000) / 7)
    for n_jobs in (None, 16):
        search = ESNSearchCV(
            ESNForecaster(units, device="cpu"), {"leak_rate": np.linspace(0.1, 1, 40).tolist()},
            cv=KFold(10), n_jobs=n_jobs, progress=False,
        )  # fmt: skip
        with pytest.raises(InterruptedError):
            search.fit(y)
    assert cut[None] == cut[16]
    widths = cut[16]
    assert sum(widths) == 40 and 4 <= max(widths) <= widest and len(set(widths[:-1])) == 1


def test_networks_that_are_driven_apart_from_others(monkeypatch, serial):
    """Few at a time by their work, and by threads: still the same bits."""
    monkeypatch.setattr("echofold._search.runner.BUSY", 0.0)
    monkeypatch.setattr("echofold._search.runner.NARROWEST", 1)
    one, several = searched(**OPTIONS), searched(**OPTIONS, n_jobs=3)
    identical(one, several)
    np.testing.assert_allclose(one.results_.nrmse, serial.results_.nrmse, rtol=1e-8)
