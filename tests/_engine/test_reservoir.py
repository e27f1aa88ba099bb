import jax.numpy as jnp
import numpy as np
import pytest
import reference
from leaky import reservoirs
from scipy.sparse import csr_array

from echofold._engine.drive import (
    advance,
    block_length,
    drive,
    drive_blocks,
    drive_sequences,
)
from echofold._engine.generate import Course, begin, generate, proceed
from echofold._engine.summaries import Summaries
from echofold._engine.weights import Sparse, draw, prepare
from echofold._machine.device import engine

UNITS, STEPS = 40, 30
LEAK, RADIUS = [1.0, 0.3, 0.7], [0.9, 0.2, 1.4]
SCALING = np.array([1.0, 0.5, 2.0])  # of the input, for each candidate
BIAS = np.array([0.3, 1.0, 0.0])


@pytest.fixture(autouse=True)
def _engine():
    with engine():
        yield


def candidates(connectivity, inputs, seed=0):
    """Three candidates, and the (W_in, W, leak) of each for the reference."""
    W_in, W = draw(UNITS, inputs, connectivity, seed)
    scaling = np.vstack([BIAS, np.tile(SCALING, (inputs, 1))])
    batch = reservoirs(prepare(W_in, W, rescale=True), LEAK, RADIUS, scaling)
    dense = W.toarray() if hasattr(W, "toarray") else W
    plain = []
    for c in range(3):
        scaled = reference.scaled_weights(W_in, dense, RADIUS[c], SCALING[c], BIAS[c])
        plain.append((*scaled, LEAK[c]))
    return batch, plain


def series(inputs, steps=STEPS, seed=1):
    return np.random.default_rng(seed).normal(size=(steps, inputs))


@pytest.mark.parametrize("connectivity", [1.0, 0.05])
@pytest.mark.parametrize("inputs", [1, 5])
def test_drive_equals_the_reference(connectivity, inputs):
    batch, plain = candidates(connectivity, inputs)
    assert isinstance(batch.weights.W, Sparse) == (connectivity < 1)
    u = series(inputs)
    states, last = drive(batch, u)
    assert states.shape == (STEPS, UNITS, 3)
    for c, network in enumerate(plain):
        assert np.allclose(states[:, :, c], reference.run(*network, u), rtol=0, atol=1e-10)
    assert np.array_equal(last, states[-1])


def test_many_connections_are_summed_as_few_are():
    W_in, W = draw(700, 1, 0.1, 0)  # 70 connections: scanned, not unrolled
    assert prepare(W_in, W, rescale=False).W.columns.shape == (700, 70)
    batch = reservoirs(prepare(W_in, W, rescale=False), [0.5], [1.0], np.ones((2, 1)))
    u = series(1, 5)
    expected = reference.run(W_in, W.toarray(), 0.5, u)
    assert np.allclose(drive(batch, u)[0][:, :, 0], expected, rtol=0, atol=1e-10)


def test_drive_starts_from_a_given_state():
    batch, plain = candidates(1.0, 1)
    u, x = series(1), np.random.default_rng(2).normal(size=(UNITS, 3))
    states, _ = drive(batch, u, x)
    for c, network in enumerate(plain):
        assert np.allclose(states[:, :, c], reference.run(*network, u, x[:, c]), atol=1e-10)


@pytest.mark.parametrize("size", [None, 7, 30, 64])
def test_blocks_join_to_the_whole(size):
    batch, _ = candidates(0.05, 1)
    u, x = series(1), np.random.default_rng(2).normal(size=(UNITS, 3))
    whole, end = drive(batch, u, x)
    starts, parts = [], []
    for start, states, last in drive_blocks(batch, u, x, size=size):
        starts.append(start)
        parts.append(np.asarray(states))
        assert np.allclose(last, whole[start + len(states) - 1], atol=1e-13)
    assert starts == list(range(0, STEPS, size or STEPS))
    assert np.allclose(np.concatenate(parts), whole, atol=1e-13)
    assert np.allclose(advance(batch, u, x), end, atol=1e-13)


def test_advance_over_several_padded_blocks(monkeypatch):
    batch, plain = candidates(1.0, 1)
    monkeypatch.setattr("echofold._engine.drive.BLOCK_BYTES", 8 * UNITS * 3 * 64)
    u = series(1, 150)
    assert block_length(batch.shape, 150) == 64
    x = advance(batch, u)
    for c, network in enumerate(plain):
        assert np.allclose(x[:, c], reference.run(*network, u)[-1], atol=1e-10)


@pytest.mark.parametrize("steps", [1, 5, 64, 65, 1000, 10**6])
def test_blocks_are_as_even_as_their_grain_allows(steps):
    length = block_length((100, 4), steps)
    assert length >= 1
    assert 8 * 100 * 4 * length <= 2**24 + 8 * 100 * 4 * 64
    blocks = -(-steps // length)
    assert length == 256 if steps < 256 else blocks * length - steps < 64 * blocks + 1


def test_sequences_of_unequal_length():
    batch, plain = candidates(1.0, 2)
    lengths = [4, 9, 1]
    sequences = [series(2, n, seed=n) for n in lengths]
    padded = np.zeros((3, 9, 2))
    for s, sequence in enumerate(sequences):
        padded[s, : len(sequence)] = sequence
    seen = Summaries(("last", "mean"))
    found = drive_sequences(batch, padded, np.array(lengths), seen=seen)
    assert found.shape == (2, 2 + UNITS, 3, 3)
    for c, network in enumerate(plain):
        for s, sequence in enumerate(sequences):
            states = reference.run(*network, sequence)
            assert np.allclose(found[0, 2:, c, s], states[-1], atol=1e-10)
            assert np.allclose(found[1, 2:, c, s], states.mean(axis=0), atol=1e-10)
            assert np.allclose(found[1, :2, c, s], sequence.mean(axis=0), atol=1e-10)


@pytest.mark.parametrize("connectivity", [1.0, 0.05])
@pytest.mark.parametrize(("targets", "known"), [(1, 0), (2, 3)])
def test_generate_equals_the_reference(connectivity, targets, known):
    batch, plain = candidates(connectivity, targets + known)
    rng = np.random.default_rng(3)
    readout = rng.normal(size=(1 + targets + known + UNITS, targets, 3)) / 30
    start = rng.normal(size=(UNITS, 3))
    y, ahead = rng.normal(size=targets), rng.normal(size=(12, known))
    first = np.concatenate([y, ahead[0] if known else []])
    x = advance(batch, first[None], start)
    found = generate(batch, readout, np.tile(first[:, None], 3), x, ahead, 12)
    assert found.shape == (12, targets, 3)
    for c, network in enumerate(plain):
        expected = reference.generate(*network, readout[:, :, c], y, start[:, c], ahead, 12)
        assert np.allclose(found[:, :, c], expected, rtol=0, atol=1e-10)
    one = generate(batch, readout, np.tile(first[:, None], 3), x, ahead[:1], 1)
    assert np.allclose(one, found[:1], atol=1e-13)


def test_a_diverging_column_turns_infinite_and_disturbs_no_other():
    batch, plain = candidates(1.0, 1)
    readout = np.random.default_rng(3).normal(size=(2 + UNITS, 1, 3)) / 30
    readout[1, 0, 1] = -1e200  # the second column multiplies its own output
    x, first = np.zeros((UNITS, 3)), np.ones((1, 3))
    found = np.asarray(generate(batch, readout, first, x, np.zeros((12, 0)), 12))
    assert np.isposinf(found[2:, 0, 1]).all()  # one sign, so that infinities never cancel
    assert np.isfinite(found[:, :, [0, 2]]).all()
    kept = [0, 2]
    alone = generate(
        batch.take(jnp.array(kept)), readout[:, :, kept], first[:, kept], x[:, kept],
        np.zeros((12, 0)), 12,
    )  # fmt: skip
    assert np.allclose(found[:, :, kept], alone, rtol=0, atol=1e-13)


def test_given_sparse_weights_run_as_their_dense_form():
    _, W = draw(UNITS, 1, 0.05, 0)
    W_in = np.ones((UNITS, 2))
    u = series(1)
    sparse = reservoirs(prepare(W_in, csr_array(W), rescale=False), [0.5], [1.0], np.ones((2, 1)))
    expected = reference.run(W_in, W.toarray(), 0.5, u)
    assert np.allclose(drive(sparse, u)[0][:, :, 0], expected, rtol=0, atol=1e-10)


def test_loops_of_a_known_length_as_on_an_accelerator_give_the_same(monkeypatch):
    batch, _ = candidates(1.0, 1)
    rng = np.random.default_rng(3)
    readout, u = rng.normal(size=(2 + UNITS, 1, 3)) / 30, series(1)
    course = Course(
        np.zeros((9, 0)), rng.normal(size=(9, 1)), np.arange(3), np.full(3, 5), np.ones(1)
    )
    found = []
    for known in (False, True):
        for module in ("drive", "generate"):
            name = f"echofold._engine.{module}.accelerated"
            monkeypatch.setattr(name, lambda known=known: known)
        x = advance(batch, u)
        going = begin(batch, readout, np.ones((1, 3)), x, course)
        going, _ = proceed(batch, readout, going, course, 1, 2)
        going, _ = proceed(batch, readout, going, course, 3, 2)
        found.append([np.asarray(x), *map(np.asarray, going)])
    kept, _ = proceed(
        batch, readout, begin(batch, readout, np.ones((1, 3)), x, course), course, 1, 4, keep=True
    )
    for one, other, whole in zip(*found, [x, *kept], strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, whole)
