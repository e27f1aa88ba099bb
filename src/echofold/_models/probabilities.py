"""Outputs of a classifier as probabilities, without anything to fit.

Targets are 1 for the true class and 0 otherwise, so outputs of least squares estimate
probabilities; but they may be negative, and are timid, for a ridge and few sequences pull them
together. The choices here are measured in ``benchmarks/states.py``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

POWER = 2  # against timidity
DOUBT = 0.02  # share of what is never zero, and tells outputs apart that are all negative
FAR = (-1.0, 2.0)  # beyond these, doubt does not follow outputs


def probabilities(outputs: np.ndarray) -> np.ndarray:
    """Rows that sum to one, for outputs ``(n, classes)``; their order stays.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities(np.array([[1.2, -0.3, 0.1], [0.5, 0.5, 0.0]])).round(3)
    array([[0.993, 0.003, 0.004],
           [0.498, 0.498, 0.005]])
    """
    sharp = nearest(outputs) ** POWER
    sharp /= sharp.sum(axis=1, keepdims=True)
    return (1 - DOUBT) * sharp + DOUBT * softmax(np.clip(outputs, *FAR), axis=1)


def nearest(outputs: np.ndarray) -> np.ndarray:
    """The nearest point of each row that has no negative entry and sums to one.

    It is ``max(outputs - theta, 0)`` with the ``theta`` that makes the sum one: of the ``k``
    largest entries the mean excess ``(sum - 1) / k``, for the largest ``k`` whose entries all
    exceed it.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([[0.8, 0.4, -0.2]]))
    array([[0.7, 0.3, 0. ]])
    """
    outputs = outputs - outputs.max(axis=1, keepdims=True)  # theta moves along
    largest = -np.sort(-outputs, axis=1)
    counts = np.arange(1, outputs.shape[1] + 1)
    excess = (np.cumsum(largest, axis=1) - 1) / counts
    last = (largest > excess).sum(axis=1) - 1
    return np.maximum(outputs - excess[np.arange(len(outputs)), last][:, None], 0.0)
