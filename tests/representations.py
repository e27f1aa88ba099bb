"""Representations of a series there and back, and a forecaster that learns them, plainly."""

from __future__ import annotations

import numpy as np
import reference


def there(y, form):
    """Levels, and their differences one lag after the other."""
    z = np.log(y) if form.get("log") else y
    w = z
    for lag in form.get("difference", ()):
        w = w[lag:] - w[:-lag]
    return z, w


def back(w, z, form):
    """Values of differences ``w`` that follow the levels ``z``, undone one lag after the other."""
    lags = form.get("difference", ())
    stages = [z]
    for lag in lags:
        stages.append(stages[-1][lag:] - stages[-1][:-lag])
    for lag, stage in zip(lags[::-1], stages[-2::-1], strict=True):
        whole = list(stage)
        for step in w:
            whole.append(whole[-lag] + step)
        w = np.array(whole[len(stage) :])
    return np.exp(w) if form.get("log") else w


def waves(form, rows):
    """Sines and cosines of the seasons of a form."""
    season = form.get("season", ())
    columns = [np.zeros((rows, 0))]
    for length in season if isinstance(season, tuple) else (season,):
        k = np.arange(1, min(form["harmonics"], int(length // 2)) + 1)
        angle = 2 * np.pi * np.arange(rows)[:, None] * k / length
        columns += [np.sin(angle[:, 2 * k != length]), np.cos(angle)]
    return np.hstack(columns)


class Plain:
    """A forecaster in NumPy: weights and scaling of a fitted one, everything else by itself."""

    def __init__(self, model, y, known, form, weights=None, limits=None):
        self.model, self.form, self.y, self.limits = model, form, y, limits
        self.z, w = there(y, form)
        self.lost = len(y) - len(w)
        self.center, self.unit = w.mean(axis=0), w.std(axis=0)
        known = np.hstack([(known - known.mean(axis=0)) / known.std(axis=0), waves(form, len(y))])
        scaled = (w - self.center) / self.unit
        self.inputs = np.hstack([scaled[:-1], known[self.lost + 1 :]])  # of pairs from `lost` on
        self.known, self.targets = known, scaled[1:]
        self.states = reference.run(model.W_in_, model.W_, model.leak_rate_, self.inputs)
        self.weights = None if weights is None else weights[self.lost + 1 :]

    def fit(self, pairs, ridge):
        """A readout from the pairs at these times."""
        at = np.asarray(pairs) - self.lost
        rows = reference.extended(self.inputs[at], self.states[at])
        weights = None if self.weights is None else self.weights[at]
        return reference.ridge(rows, self.targets[at], ridge, False, weights)

    def run(self, readout, pair, steps):
        """Values of a closed loop whose first target is that of ``pair``."""
        at = pair - self.lost
        u, x, found = self.inputs[at], self.states[at], []
        for step in range(steps):
            out = np.concatenate([[1.0], u, x]) @ readout
            found.append(self.center + self.unit * out)
            if self.limits is not None:
                value = back(np.array(found), self.z[: pair + 1], self.form)[-1]
                kept = np.clip(value, *self.limits)
                found[-1] = found[-1] + (
                    np.log(kept / value) if self.form.get("log") else kept - value
                )
                out = (found[-1] - self.center) / self.unit
            if step + 1 < steps:
                u = np.concatenate([out, self.known[pair + 2 + step]])
                x = reference.update(self.model.W_in_, self.model.W_, self.model.leak_rate_, u, x)
        return back(np.array(found), self.z[: pair + 1], self.form)
