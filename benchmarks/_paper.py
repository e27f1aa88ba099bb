"""The paper's algorithms coded plainly in NumPy, as a yardstick.

Generative k-fold cross-validation of one network on one series: the reservoir is run once (its
states are reused by all three), readouts of the folds come from normal equations, and every fold is
generated step by step. Equation numbers are those of the paper.
"""

from __future__ import annotations

import numpy as np


def run(W_in, W, leak, inputs, x=None):
    """Equation 1: states ``(T, units)``."""
    x = np.zeros(len(W)) if x is None else x
    U = np.hstack([np.ones((len(inputs), 1)), inputs])
    states = np.empty((len(inputs), len(x)))
    for n in range(len(inputs)):
        x = (1 - leak) * x + leak * np.tanh(W_in @ U[n] + W @ x)
        states[n] = x
    return states


def generate(W_in, W, leak, readout, u, x, steps):
    """Equations 1 and 2 in a closed loop: outputs ``(steps, outputs)``."""
    outputs = np.empty((steps, readout.shape[1]))
    for n in range(steps):
        if n:
            u = outputs[n - 1]
            x = (1 - leak) * x + leak * np.tanh(W_in @ np.concatenate(([1.0], u)) + W @ x)
        outputs[n] = np.concatenate(([1.0], u, x)) @ readout
    return outputs


def cross_validate(W_in, W, leak, y, ridge, splits, algorithm, states=None):
    """NRMSE of every split ``(train rows, a, b)``, by "naive", "small_k" or "large_k"."""
    inputs, targets = y[:-1], y[1:]
    x = run(W_in, W, leak, inputs) if states is None else states
    X = np.hstack([np.ones((len(x), 1)), inputs, x])
    penalty = ridge * np.eye(X.shape[1])
    if algorithm != "naive":
        A, B = X.T @ X, X.T @ targets  # collected once
    if algorithm == "large_k":
        inverse = np.linalg.inv(A + penalty)
    errors = []
    for train, a, b in splits:
        if algorithm == "naive":  # equation 5 on the rows of the split
            Xt, Yt = X[train], targets[train]
            readout = np.linalg.solve(Xt.T @ Xt + penalty, Xt.T @ Yt)
        else:
            Xi, Yi = X[a:b], targets[a:b]
            if algorithm == "small_k":  # equation 8
                readout = np.linalg.solve(A - Xi.T @ Xi + penalty, B - Xi.T @ Yi)
            else:  # equation 11
                left = inverse @ Xi.T
                middle = np.linalg.inv(np.eye(b - a) - Xi @ left)
                readout = (inverse + left @ (middle @ left.T)) @ (B - Xi.T @ Yi)
        outputs = generate(W_in, W, leak, readout, inputs[a], x[a], b - a)
        t = targets[a:b]
        below = ((t - t.mean(axis=0)) ** 2).sum() if b - a > 1 else targets.var(axis=0).sum()
        errors.append(np.sqrt(((outputs - t) ** 2).sum() / below))
    return np.array(errors)


def folds(n: int, k: int) -> list:
    """Training rows (as a mask) and validation interval of every fold."""
    edges = np.linspace(0, n, k + 1).astype(int)
    found = []
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        train = np.ones(n, dtype=bool)
        train[a:b] = False
        found.append((train, int(a), int(b)))
    return found


def windows(n: int, k: int, sliding: bool) -> list:
    """The same for accumulative (growing) and walk-forward (sliding) validation."""
    least = n // 2
    sizes = (n - least) // k + (np.arange(k) < (n - least) % k)  # the first ones one longer
    edges = least + np.concatenate([[0], np.cumsum(sizes)])
    found = []
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        train = np.zeros(n, dtype=bool)
        train[a - least if sliding else 0 : a] = True
        found.append((train, int(a), int(b)))
    return found
