"""Memory that does not grow with the length of the series; measured in processes of their own."""

import subprocess
import sys

import pytest

MEASURE = """
import resource, sys
import numpy as np
from echofold._device import engine
from echofold._reservoir import advance, drive_blocks, reservoirs
from echofold._weights import draw, prepare

def peak():
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 2**20 if sys.platform == "darwin" else size / 2**10  # megabytes

STEPS, UNITS = 2_000_000, 100
"""

DRIVING = """
with engine():
    r = reservoirs(prepare(*draw(UNITS, 1, 1.0, 0), rescale=True), [0.5], [0.9], np.ones((2, 1)))
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
