"""Segments: one series, sequences, and several series, each with a washout and kept whole."""

import numpy as np
import pytest

from echofold._data.problem import REGRESSION, Problem, Segments
from echofold._engine.summaries import Summaries

RNG = np.random.default_rng(0)


def test_a_series_is_one_segment():
    inputs = RNG.normal(size=(20, 3))
    segments = Segments.series(inputs, 4)
    assert (segments.count, segments.n_inputs) == (1, 3)
    assert (segments.row_length(5, True), segments.longest) == (8, 20)
    np.testing.assert_array_equal(segments.beside, inputs[4:])
    np.testing.assert_array_equal(segments.washout(), inputs[:4])
    assert segments.rows.tolist() == [16]
    assert segments.apart == (None, None)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("items", "places"), [(("mean",), 1), (("last", 3), 4)])
def test_a_sequence_is_a_segment_of_one_row(items, places, alike):
    sequences = [RNG.normal(size=(n, 2)) for n in (4, 1, 7)]
    segments = Segments.sequences(sequences, Summaries(items, alike))
    assert (segments.count, segments.n_inputs) == (3, 2)
    assert segments.row_length(5, True) == 7 * places
    assert segments.columns(5, True) == (2 if alike else 7 * places)
    assert segments.rows.tolist() == [1, 1, 1]
    assert len(segments.washout(2)) == 0
    steps, lengths = segments.batch(np.array([2, 0]), 3, 9)
    assert lengths.tolist() == [7, 4, 1]
    for i, one in enumerate((sequences[2], sequences[0], np.zeros((0, 2)))):
        np.testing.assert_array_equal(steps[i, : len(one)], one)
        assert not steps[i, len(one) :].any()


def test_several_series_are_segments_that_are_kept_whole():
    lengths, washouts = np.array([9, 5, 12]), np.array([2, 0, 7])
    each = [RNG.normal(size=(n, 2)) for n in lengths]
    segments = Segments(np.concatenate(each), lengths, washouts)
    assert (segments.count, segments.n_inputs) == (3, 2)
    assert (segments.row_length(5, False), segments.longest) == (5, 12)
    assert segments.rows.tolist() == [7, 5, 5]
    for i, (one, washout) in enumerate(zip(each, washouts, strict=True)):
        np.testing.assert_array_equal(segments.washout(i), one[:washout])
        np.testing.assert_array_equal(segments.padded[i, : len(one)], one)
    expected = [one[washout:] for one, washout in zip(each, washouts, strict=True)]
    np.testing.assert_array_equal(segments.beside, np.concatenate(expected))
    targets = np.concatenate([one[:, :1] for one in expected])  # made of each row's own input
    problem = Problem(REGRESSION, targets, segments, np.ones(1), np.zeros(1))
    assert problem.rows == segments.rows.sum() == 17
    np.testing.assert_array_equal(problem.inputs[:, :1], problem.targets)
    np.testing.assert_array_equal(problem.washout, each[0][:2])  # what stands before row 0
