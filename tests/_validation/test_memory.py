"""Memory that does not grow with the length of the series; measured in processes of their own."""

import subprocess
import sys

import pytest

MEASURE = """
import resource, sys
import numpy as np
from echofold._machine.device import engine
from echofold._engine.drive import advance, drive_blocks
from echofold._engine.kind import drawn
from echofold.reservoirs import Leaky

def peak():
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 2**20 if sys.platform == "darwin" else size / 2**10  # megabytes

STEPS, UNITS = 2_000_000, 100
"""

DRIVING = """
with engine():
    r = drawn([Leaky(UNITS, leak_rate=0.5)], 1, 0)
    for _ in drive_blocks(r, np.zeros((50_000, 1))):  # compiles
        pass
    before = peak()
    inputs = np.random.default_rng(0).normal(size=(STEPS, 1))
    rows = total = 0
    for start, states, last in drive_blocks(r, inputs):
        assert start == rows
        rows += len(states)
        total += float(np.square(np.asarray(states)).sum())
    assert rows == STEPS
    assert 0 < total < STEPS * UNITS
    assert np.allclose(advance(r, inputs[-500:]), last, atol=1e-9)  # the start is forgotten
print(peak() - before)
"""

PREDICTING = """
from echofold import ESNRegressor
X = np.random.default_rng(0).normal(size=(STEPS, 1))
model = ESNRegressor(UNITS, random_state=0).fit(X[:2000], np.roll(X[:2000, 0], 1))
model.predict(X[:50_000])
before = peak()
assert model.predict(X).shape == (STEPS,)
print(peak() - before)
"""


@pytest.mark.large
@pytest.mark.parametrize("code", [DRIVING, PREDICTING], ids=["driving", "predicting"])
def test_two_million_steps_grow_the_process_by_less_than_300_megabytes(code):
    shown = subprocess.run([sys.executable, "-c", MEASURE + code], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert float(shown.stdout) < 300  # all the states would be 1,600


SHAPES = """
import ctypes, gc, sys
import numpy as np
from echofold import ESNForecaster, ESNSearchCV, KFold

def resident():
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # free memory that the C library keeps is no growth
    except (OSError, AttributeError):
        pass
    with open("/proc/self/statm") as line:
        return int(line.read().split()[1]) * 4096 / 2**20  # megabytes

y = np.random.default_rng(0).normal(size=400).cumsum()
known = np.random.default_rng(1).normal(size=(400, 40))
warm, times = int(sys.argv[1]), int(sys.argv[2])
for i in range(times):
    if i == warm:
        before = resident()
    # Few units: the draws, kept up to 64 MB, should not be what is measured.
    model, X = ESNForecaster(5 + i // 40, random_state=0), known[:, : 1 + i % 40]
"""

FITS = """
    model.fit(y, X)
print(resident() - before)
"""

SEARCHES = """
    space = {"leak_rate": [0.3, 1.0], "ridge": [1e-6, 1.0]}
    ESNSearchCV(model, space, cv=KFold(4), progress=False).fit(y, X)
print(resident() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("code", "warm", "times"),
    [(FITS, 50, 150), (SEARCHES, 30, 50)],  # once as many programs are kept as may be
    ids=["fits", "searches"],
)
def test_ever_new_shapes_do_not_grow_the_process(code, warm, times):
    assert growth(code, warm, times) < 50  # 10 MB a fit and 24 a search if all programs were kept


@pytest.mark.large
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("code", "warm", "times"),
    [(FITS, 100, 1000), (SEARCHES, 20, 100)],
    ids=["fits", "searches"],
)
def test_a_thousand_shapes_do_not_grow_the_process(code, warm, times):
    assert growth(code, warm, times) < 50


def growth(code, warm, times):
    """Megabytes by which a process grows from the ``warm``-th shape on."""
    shown = subprocess.run(
        [sys.executable, "-c", SHAPES + code, str(warm), str(times)], capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    return float(shown.stdout)
