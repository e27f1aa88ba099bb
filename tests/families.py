"""Data that are rank deficient, or nearly so, for every reason that users have met.

Each family makes states ``(rows, columns)`` from a generator; targets and weights come on top.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Generator = np.random.Generator


def plain(rng: Generator, n: int, m: int) -> np.ndarray:
    return rng.normal(size=(n, m)) + rng.normal(size=m)


def graded(rng: Generator, n: int, m: int) -> np.ndarray:
    """Singular values fall by up to twelve powers of ten, as those of reservoir states do."""
    sizes = 10.0 ** -np.linspace(0, rng.uniform(2, 12), m)
    return (rng.normal(size=(n, m)) * sizes) @ np.linalg.qr(rng.normal(size=(m, m)))[0]


def low_rank(rng: Generator, n: int, m: int) -> np.ndarray:
    rank = int(rng.integers(1, max(2, min(n, m))))
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))


def collinear(rng: Generator, n: int, m: int) -> np.ndarray:
    """Columns that are exact multiples, inexact multiples or sums of others."""
    X = rng.normal(size=(n, m))
    kind = rng.integers(3)
    for j in range(1, m, 2):
        X[:, j] = (2 * X[:, j - 1], X[:, j - 1] / 3, X[:, j - 1] + X[:, 0])[kind]
    return X


def constant(rng: Generator, n: int, m: int) -> np.ndarray:
    X = rng.normal(size=(n, m))
    X[:, :: int(rng.integers(1, 4))] = rng.choice([0.0, 1.0, 3.7, 1e6 / 3])
    return X


def one_hot(rng: Generator, n: int, m: int) -> np.ndarray:
    """Weekdays beside the bias, and a few other columns."""
    days = int(rng.integers(1, m + 1))
    hot = np.eye(days)[(np.arange(n) + rng.integers(days)) % days]
    return np.hstack([hot, rng.normal(size=(n, m - days))])


def dead(rng: Generator, n: int, m: int) -> np.ndarray:
    X = rng.normal(size=(n, m))
    X[:, rng.random(m) < 0.5] = 0.0
    return X


def memoryless(rng: Generator, n: int, m: int) -> np.ndarray:
    """A network of radius 0: states are a function of one input, here with few values."""
    u = rng.choice(rng.normal(size=int(rng.integers(2, 12))), size=n)
    X = np.tanh(u[:, None] * rng.uniform(-0.5, 0.5, size=m) + rng.uniform(-0.5, 0.5, size=m))
    X[:, 0] = u
    return X


def linear(rng: Generator, n: int, m: int) -> np.ndarray:
    """Tiny input scaling: states are linear in few inputs but for a small curvature."""
    u = rng.normal(size=(n, int(rng.integers(1, 3))))
    W = rng.uniform(-0.5, 0.5, size=(u.shape[1], m)) * 10.0 ** -rng.uniform(1, 8)
    X = np.tanh(u @ W + rng.uniform(-0.5, 0.5, size=m))
    X[:, : u.shape[1]] = u[:, :m]
    return X


def repeated(rng: Generator, n: int, m: int) -> np.ndarray:
    """Few different rows, as of duplicated sequences."""
    different = int(rng.integers(2, max(3, n // 2)))
    return rng.normal(size=(different, m))[rng.integers(different, size=n)]


def event(rng: Generator, n: int, m: int) -> np.ndarray:
    """Columns that are zero but for one short stretch, of any size."""
    X = rng.normal(size=(n, m))
    for j in range(int(rng.integers(1, 3))):
        start, size = int(rng.integers(n)), 10.0 ** rng.integers(-2, 7)
        stretch = slice(start, start + int(rng.integers(1, 6)))
        column = min(j, m - 1)
        X[:, column] = 0.0
        X[stretch, column] = size * rng.choice([1.0, rng.normal()])
    return X


def unequal(rng: Generator, n: int, m: int) -> np.ndarray:
    """Columns in very different units, some far from zero."""
    X = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-6, 6, size=m)
    return X + rng.choice([0.0, 1.0, 1e4], size=m) * np.abs(X).max(axis=0)


FAMILIES: dict[str, Callable[[Generator, int, int], np.ndarray]] = {
    family.__name__: family
    for family in (
        plain,
        graded,
        low_rank,
        collinear,
        constant,
        one_hot,
        dead,
        memoryless,
        linear,
        repeated,
        event,
        unequal,
    )  # fmt: skip
}


def states(rng: Generator, family: str, n: int, m: int) -> np.ndarray:
    """States of a family."""
    return np.ascontiguousarray(FAMILIES[family](rng, n, m))


def targets(rng: Generator, X: np.ndarray, outputs: int) -> np.ndarray:
    """Targets: noise, a function of the states with noise, or without any."""
    n, m = X.shape
    noise = rng.normal(size=(n, outputs))
    scale = np.abs(X).max() or 1.0
    signal = (X / scale) @ rng.normal(size=(m, outputs))
    return (noise, signal + 0.1 * noise, signal, signal + 100.0)[rng.integers(4)]


def weights(rng: Generator, X: np.ndarray) -> np.ndarray | None:
    """None, uneven weights, some of them zero, or zero wherever the first column is not."""
    n = len(X)
    kind = rng.integers(5)
    w = rng.uniform(0.2, 3, size=n)
    if kind < 2:
        return None
    if kind == 2:
        return w
    w = np.where(rng.random(n) < 0.3, 0.0, w) if kind == 3 else np.where(X[:, 0] != 0, 0.0, w)
    return w if (w > 0).sum() > n // 2 else None
