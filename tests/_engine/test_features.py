import numpy as np
import pytest
import reference
from leaky import reservoirs

from echofold._data.problem import Segments
from echofold._engine.states import sequence_features
from echofold._engine.summaries import Summaries
from echofold._engine.weights import draw, prepare
from echofold._machine.arrays import few_lengths
from echofold._machine.device import engine

UNITS, LEAK = 20, [1.0, 0.4]


@pytest.mark.parametrize("columns", [1, 10, None])
@pytest.mark.parametrize("states", ["mean", 3])
def test_every_width_gives_the_features_of_every_candidate(columns, states):
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(n, 2)) for n in (12, 3, 1, 9, 30, 2, 17)]
    segments = Segments.sequences(sequences, Summaries((states,), alike=False))
    W_in, W = draw(UNITS, 2, 1.0, 0)
    batch = reservoirs(prepare(W_in, W, rescale=False), LEAK, [1.0, 1.0], np.ones((3, 2)))
    with engine():
        found = sequence_features(batch, segments, columns)
    positions = 1 if states == "mean" else 3
    assert found.shape == (2, 7, positions * (2 + UNITS))
    for c, leak in enumerate(LEAK):
        for s, u in enumerate(sequences):
            x = reference.run(W_in, W, leak, u)
            if states == "mean":
                expected = np.concatenate([u.mean(axis=0), x.mean(axis=0)])
            else:
                at = [int(np.ceil(i * len(u) / 3)) - 1 for i in (1, 2, 3)]
                expected = np.concatenate([*u[at], *x[at]])
            assert np.allclose(found[c, s], expected, rtol=0, atol=1e-10)


def test_lengths_are_few_and_never_too_short():
    lengths = [few_lengths(n) for n in range(1, 2000)]
    assert all(length >= n for n, length in enumerate(lengths, 1))
    assert all(length <= 1.25 * n for n, length in enumerate(lengths, 1) if n > 32)
    assert len(set(lengths)) < 32
