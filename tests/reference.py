"""The paper's equations 1 to 5, one line of the paper to one line of NumPy."""

from __future__ import annotations

import numpy as np


def scaled_weights(W_in, W, spectral_radius, input_scaling, bias_scaling):
    """Raw weights as the network uses them; ``spectral_radius=None`` leaves ``W`` alone."""
    W_in, W = np.array(W_in, dtype=float), np.array(W, dtype=float)
    W_in[:, 0] *= bias_scaling
    W_in[:, 1:] *= input_scaling
    if spectral_radius is not None:
        W *= spectral_radius / np.abs(np.linalg.eigvals(W)).max()
    return W_in, W


def update(W_in, W, leak, u, x):
    """Equation 1."""
    return (1 - leak) * x + leak * np.tanh(W_in @ np.concatenate([[1.0], u]) + W @ x)


def run(W_in, W, leak, inputs, x=None):
    """States ``(T, units)`` of a reservoir driven by ``inputs (T, inputs)``."""
    x = np.zeros(len(W)) if x is None else x
    states = []
    for u in inputs:
        x = update(W_in, W, leak, u, x)
        states.append(x)
    return np.array(states).reshape(len(inputs), len(W))


def extended(inputs, states):
    """Rows ``[1, u(n), x(n)]``."""
    return np.hstack([np.ones((len(inputs), 1)), inputs, states])


def ridge(X, Y, beta, penalize_bias, weights=None):
    """Equation 5, as least squares on rows augmented by the penalty."""
    root = np.ones(len(X)) if weights is None else np.sqrt(weights)
    penalty = np.sqrt(beta) * np.eye(X.shape[1])
    if not penalize_bias:
        penalty[0, 0] = 0.0
    rows = np.vstack([root[:, None] * X, penalty])
    targets = np.vstack([root[:, None] * Y, np.zeros((X.shape[1], Y.shape[1]))])
    return np.linalg.lstsq(rows, targets, rcond=None)[0]


def outputs(readout, inputs, states):
    """Equations 2 and 3."""
    return extended(inputs, states) @ readout


def generate(W_in, W, leak, readout, y, x, known, steps):
    """Feed ``y`` and the first row of ``known``, then outputs and the other rows of ``known``."""
    found = []
    for n in range(steps):
        u = np.concatenate([y, known[n]])
        x = update(W_in, W, leak, u, x)
        y = np.concatenate([[1.0], u, x]) @ readout
        found.append(y)
    return np.array(found)


def drawn(units, inputs, seed):
    """Dense draw of the definition: one stream, ``W_in`` then ``W``."""
    rng = np.random.RandomState(seed)
    return rng.rand(units, 1 + inputs) - 0.5, rng.rand(units, units) - 0.5


def standard(values):
    """Columns to zero mean and unit variance, and how to undo it."""
    center, unit = values.mean(axis=0), values.std(axis=0)
    return (values - center) / unit, center, unit
