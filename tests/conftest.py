"""What all tests share: one thread for small products, programs compiled once, fitted searches."""

import os
import shutil
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

os.environ["ECHOFOLD_CACHE"] = "off"  # commands leave the user's folder alone
# Tests compile the same programs in many processes. Workers and subprocesses inherit the folder.
_FOLDER = None
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    _FOLDER = tempfile.mkdtemp(prefix="echofold-programs-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _FOLDER
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "0"


def pytest_unconfigure(config):
    if _FOLDER is not None:
        shutil.rmtree(_FOLDER, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    """Products here are small: several threads would only wait for each other."""
    with threadpool_limits(1, "blas"):
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
def run(capfd):
    """Call the command line: exit code, what it printed, and what it said beside that."""
    from echofold.cli.app import app

    def call(*args):
        capfd.readouterr()
        code = app.main([str(arg) for arg in args], standalone_mode=False)
        shown = capfd.readouterr()
        return code, shown.out, shown.err

    return call
