"""A trial that was dropped: a readout learned from made-up series, as one more member.

    pip install -e ".[cli,accuracy]"
    python benchmarks/pretrained.py

Series of a damped local trend, mean reversion, drifts and level shifts are simulated; a reservoir
and a few plain features run over each; one ridge readout for each step ahead is learned from all of
them. It forecasts the series of ``competitions.py`` that have fewer than 45 values, none of which
it was learned from, alone and mixed with the forecast of `AutoForecaster`. Errors are mean MASE, as
shares of those of `AutoForecaster`.
"""

from __future__ import annotations

import warnings

import accuracy  # noqa: F401 (first: it sets the number of threads)
import competitions
import numpy as np

from echofold import AutoForecaster
from echofold._models.smoothing import adjusted

LONGEST, AHEAD, UNITS, EACH = 45, 18, 60, 3000
SHARES = np.array([0.1, 0.2, 0.35, 0.5, 0.7])
RIDGE = 300.0


def simulated(rng, count: int, length: int) -> np.ndarray:
    """Made-up series ``(count, length)``, in units of their noise."""
    level_share = rng.beta(1, 1.2, count)
    trend_share = level_share * rng.beta(1, 4, count)
    damping = np.where(rng.random(count) < 0.4, 1.0, rng.uniform(0.7, 1, count))
    kept = np.where(rng.random(count) < 0.3, rng.uniform(0, 0.95, count), 1.0)
    drift = rng.normal(size=count) * np.where(rng.random(count) < 0.7, 0.7, 0.0)
    level, trend, line = np.zeros(count), 0.5 * rng.normal(size=count), np.zeros(count)
    found = np.empty((count, length))
    for t in range(length):
        error = rng.standard_t(4, size=count)
        trend, line = damping * trend, line + drift
        level = kept * level + trend
        found[:, t] = line + level + error
        level, trend = level + level_share * error, trend + trend_share * error
    shifted = (rng.random(count) < 0.1)[:, None]
    after = np.arange(length) >= rng.integers(5, length, count)[:, None]
    return found + np.where(shifted & after, 5 * rng.normal(size=(count, 1)), 0.0)


class Network:
    """One reservoir for all series, and its readout."""

    def __init__(self, rng):
        self.into = rng.uniform(-1, 1, (UNITS, 3))
        inside = rng.normal(size=(UNITS, UNITS))
        self.inside = 0.8 * inside / np.abs(np.linalg.eigvals(inside)).max()
        self.leak = np.exp(rng.uniform(np.log(0.05), 0, UNITS))
        squares = products = 0.0
        for length in range(8, LONGEST + 1):
            z = simulated(rng, EACH, length + AHEAD)
            rows, unit = self.features(z[:, :length])
            most = 4 * np.arange(1, AHEAD + 1) ** 0.9
            changes = np.clip((z[:, length:] - z[:, [length - 1]]) / unit, -most, most)
            squares, products = squares + rows.T @ rows, products + rows.T @ changes
        self.readout = np.linalg.solve(squares + RIDGE * np.eye(len(squares)), products)

    def features(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the readout sees at the end of series ``(count, length)``, and their units."""
        change = np.diff(z, axis=1)
        unit = np.abs(change).mean(axis=1, keepdims=True)
        unit = np.where(unit > 0, unit, 1.0)
        change, state = np.clip(change / unit, -4, 4), np.zeros((len(z), UNITS))
        level, ones = np.repeat(z[:, :1], len(SHARES), axis=1), np.ones((len(z), 1))
        for t in range(1, z.shape[1]):
            level = level + np.maximum(SHARES, 1 / (t + 1)) * (z[:, [t]] - level)
            gap = np.clip((level[:, [2]] - z[:, [t]]) / unit, -4, 4)
            driven = 0.4 * np.hstack([ones, change[:, [t - 1]], gap]) @ self.into.T
            state += self.leak * (np.tanh(driven + state @ self.inside.T) - state)
        line = np.arange(z.shape[1]) - (z.shape[1] - 1) / 2
        slope = np.clip((z @ line / (line @ line))[:, None] / unit, -4, 4)
        alike = (change[:, 1:] * change[:, :-1]).mean(axis=1) / (change**2).mean(axis=1).clip(1e-9)
        mean = change.mean(axis=1, keepdims=True)
        gaps = np.clip((level - z[:, [-1]]) / unit, -6, 6)
        core = np.hstack([gaps, mean, change[:, -5:].mean(axis=1, keepdims=True), slope])
        core = np.hstack([core, alike[:, None], change[:, [-1]]])
        more = np.abs(alike)[:, None], z.shape[1] ** -0.5, np.abs(mean)
        return np.hstack([ones, core, *(core * factor for factor in more), state]), unit

    def forecast(self, y: np.ndarray, season: int, horizon: int) -> np.ndarray:
        """What follows a series ``(T,)``, whose season is taken off by its indices."""
        rest = adjusted(y, (season,) if 1 < season <= len(y) // 2 else ())
        z = np.log(rest.values)[-LONGEST:]
        rows, unit = self.features(z[None])
        change = (rows @ self.readout * unit)[0]
        change = np.append(change, np.full(max(0, horizon - AHEAD), change[-1]))[:horizon]
        return rest.restored(np.exp(np.minimum(z[-1] + change, z.max() + 3)))


def main() -> None:
    """Learn, forecast, print and store."""
    import _common

    warnings.simplefilter("ignore")
    network, rows = Network(np.random.default_rng(0)), []
    for job in competitions.series():
        y, season, horizon = job["values"], job["season"], job["horizon"]
        if len(y) >= LONGEST or y.min() <= 0:
            continue
        model = AutoForecaster(horizon, season=season, effort="fast", progress=False).fit(y)
        own, other = np.asarray(model.forecast().mean), network.forecast(y, season, horizon)
        scale = competitions.scale(y, season)
        mixed = [(1 - share) * own + share * other for share in (0, 0.1, 0.2, 0.3, 0.5, 1)]
        rows.append([np.abs(one - job["truth"]).mean() / scale for one in mixed])
    errors = np.mean(rows, axis=0)
    shares = dict(zip(("0.1", "0.2", "0.3", "0.5", "alone"), errors[1:] / errors[0], strict=True))
    print(len(rows), {name: round(float(one), 4) for name, one in shares.items()})
    stored = {name: float(one) for name, one in shares.items()}
    _common.store("pretrained", {"series": len(rows), "mean MASE as a share, by weight": stored})


if __name__ == "__main__":
    main()
