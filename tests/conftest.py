"""What all tests share: one thread for small products, programs compiled once, fitted searches."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    WalkForward,
    evaluate,
)
from echofold._machine import device, programs
from echofold._search import final_models, runner
from echofold._validation import plan

# A card is shared with the processes that tests start.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["ECHOFOLD_CACHE"] = "off"  # nothing is kept in the home of who runs the tests
# Tests compile the same programs in many processes. Workers and subprocesses inherit the folder.
_FOLDER = None
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    _FOLDER = tempfile.mkdtemp(prefix="echofold-programs-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _FOLDER
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "0"
# Most of the time is compiling, and most of that is making code fast that runs for a millisecond.
# ECHOFOLD_AS_SHIPPED=1 compiles as for users; nox does so, and the slow tests should.
QUICKLY = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
if "ECHOFOLD_AS_SHIPPED" not in os.environ and QUICKLY not in os.environ.get("XLA_FLAGS", ""):
    flags = f"{os.environ.get('XLA_FLAGS', '')} {QUICKLY}".strip()
    known = subprocess.run(  # XLA ends a process that has flags of another version
        [sys.executable, "-c", "import jax; jax.devices()"],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
    )
    if known.returncode == 0:
        os.environ["XLA_FLAGS"] = flags
# Small problems are not compiled. ECHOFOLD_COMPILED=1 compiles them too, as large ones are.
if "ECHOFOLD_COMPILED" in os.environ:
    device.COMPILING = -1.0
COMPILING = device.COMPILING


def pytest_collection_finish(session):
    """What is loaded by now stays: looking for garbage in it takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure(config):
    if _FOLDER is not None:
        shutil.rmtree(_FOLDER, ignore_errors=True)


def pytest_terminal_summary(terminalreporter):
    """Tell the largest deviation of `test_independent`, in what one rounding of the data does."""
    reports = (one for kind in ("passed", "failed") for one in terminalreporter.getreports(kind))
    found = [dict(one.user_properties).get("independent") for one in reports]
    if found := [one for one in found if one]:
        total = {
            name: sum(one[name] for one in found) for name in ("problems", "compared", "chaotic")
        }
        worst = max(found, key=lambda one: (one["beyond"], one["roundings"]))
        most = {name: max(one[name] for one in found) for name in ("roundings", "relative")}
        terminalreporter.write_line(
            f"{total['problems']} problems, {total['compared']} numbers, of which "
            f"{total['chaotic']} are chaotic. At most {most['roundings']:.3g} roundings, "
            f"{most['relative']:.2g} of a number; {worst['beyond']:.3g} roundings where that is "
            f"not minute. Largest: {worst['at']}"
        )


@pytest.fixture
def compiled(monkeypatch):
    """Compile small problems too, as large ones are."""
    monkeypatch.setattr(device, "COMPILING", -1.0)


@pytest.fixture
def accelerated(monkeypatch):
    """Let the processor be taken for an accelerator, or not."""

    def switch(on: bool) -> None:
        for module in (plan, runner, final_models):
            monkeypatch.setattr(module, "is_accelerator", lambda device: on)
        monkeypatch.setattr(programs, "accelerated", lambda: on)
        monkeypatch.setattr(device, "COMPILING", -1.0 if on else COMPILING)

    return switch


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    """Products here are small: several threads would only wait for each other."""
    with threadpool_limits(1, "blas"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _more_programs():
    """Tests meet more shapes than a process of users, and come back to them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("echofold._machine.programs.KEPT", 512)
        yield


@pytest.fixture(scope="session", autouse=True)
def _short_turns():
    """Where the processor stands in for a device, loops are written out two steps at a time.

    Eight take seconds to compile; `test_candidates_are_shared_out_among_devices` runs these.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in ("drive", "lockstep"):
            patch.setattr(f"echofold._engine.{module}.UNROLLED", 2)
        yield


SPACE = {"leak_rate": [0.3, 0.6, 1.0], "spectral_radius": [0.5, 0.9], "ridge": [0.0, 1e-6, 1e-2]}


@pytest.fixture(scope="session")
def forecaster():
    """A search of a forecaster by two schemes, and its honest error, for pictures and reports."""
    y = np.sin(np.arange(230) / 5) + 0.1 * np.random.default_rng(0).normal(size=230)
    y = pd.Series(y, index=pd.date_range("2024-01-01", periods=230), name="tide")
    search = ESNSearchCV(
        ESNForecaster(15, random_state=0),
        SPACE,
        cv={"CV": KFold(7), "FV": WalkForward(4, valid=12)},
        metric="rmse",
    ).fit(y)
    evaluate(search, y, origins=2, horizon=10)
    return search


@pytest.fixture(scope="session")
def classifier():
    """A search of a classifier, whose labels are not fit for a page as they are."""
    noise = np.random.default_rng(0)
    sequences = [
        np.sin(np.arange(n) / (3 if n % 2 else 4)) + noise.normal(size=n) for n in range(9, 60)
    ]
    labels = ['o<d & "d"' if n % 2 else "even" for n in range(9, 60)]
    search = ESNSearchCV(ESNClassifier(10), {"ridge": [1e-3, 1]}, cv=3, metric="error_rate")
    return search.fit(sequences, labels)


@pytest.fixture
def undrawn(monkeypatch):
    """Reports without pictures, for tests that read their words: pictures take a second.

    What draws them runs all the same.
    """

    def svg(plot, size, name, label):
        from matplotlib.figure import Figure

        plot(ax=Figure(figsize=size).subplots())
        return f'<svg viewBox="0 0 1 1" role="img" id="{name}"></svg>'

    monkeypatch.setattr("echofold.report._figures.svg", svg)


@pytest.fixture
def run(capfd, undrawn):
    """Call the command line: exit code, what it printed, and what it said beside that."""
    from echofold.cli.app import app

    def call(*args):
        capfd.readouterr()
        code = app.main([str(arg) for arg in args], standalone_mode=False)
        shown = capfd.readouterr()
        return code, shown.out, shown.err

    return call
