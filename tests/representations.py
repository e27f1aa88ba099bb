"""Representations of a series there and back, plainly."""

from __future__ import annotations

import numpy as np


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
