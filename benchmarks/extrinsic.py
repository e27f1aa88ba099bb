"""One number for each of many sequences of unequal lengths: made-up families, and plain rivals.

    python benchmarks/extrinsic.py

Of each sequence of 40 to 89 steps the speed of a swing is asked for, how noisy a swing is, the mean
of rare events, when a level shifted (as a share of the length), and how strongly one input follows
the other with a delay of three steps. 150 sequences are trained on and 200 tested, five seeds, R².
Beside ``ESNRegressor()`` and ``ESNSearchCV(ESNRegressor())``, with all at its default: ridge
regression (its ridge by leave-one-out) on raw values stretched to the longest sequence, and on the
mean and the spread of each input; the mean of the targets has an R² of zero.
"""

from __future__ import annotations

import warnings

import _common  # first: it sets the number of threads
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from echofold import ESNRegressor, ESNSearchCV

SEEDS = range(5)
TRAIN, TEST = 150, 200
PATH = np.logspace(-6, 4, 11)


def swings(rng, n, told):
    """A swing of this speed from anywhere in it."""
    return np.sin((0.1 + 0.9 * told) * (np.arange(n) + rng.uniform(0, 60)))[:, None]


def noise(rng, n, told):
    """A swing with noise of this size."""
    return np.sin(0.3 * (np.arange(n) + rng.uniform(0, 60)))[:, None] + told * rng.normal(
        size=(n, 1)
    )


def events(rng, n, told):
    """Events of any size, this share of the time; the mean is told instead."""
    return (rng.uniform(size=(n, 1)) < 0.2 * told) * rng.uniform(0, 1, (n, 1))


def shift(rng, n, told):
    """A level that rises after this share of the length, in noise."""
    return (np.arange(n) > told * n)[:, None] + 0.3 * rng.normal(size=(n, 1))


def follows(rng, n, told):
    """Noise, and what follows it three steps later this strongly."""
    first = rng.normal(size=n + 3)
    return np.column_stack([first[3:], told * first[:n] + 0.5 * rng.normal(size=n)])


FAMILIES = {"speed": swings, "noise": noise, "events": events, "shift": shift, "delay": follows}


def sequences_of(make, rng, count):
    """Sequences and what is to be told of them."""
    told = rng.uniform(0, 1, count)
    found = [make(rng, int(rng.integers(40, 90)), one) for one in told]
    return found, np.array([one.mean() for one in found]) if make is events else told


def summaries(sequences):
    """Mean and spread of each input."""
    return np.array([np.concatenate([one.mean(axis=0), one.std(axis=0)]) for one in sequences])


def main() -> None:
    warnings.simplefilter("ignore")  # states are often collinear here
    results = {}
    for name, make in FAMILIES.items():
        scores: dict[str, list[float]] = {}
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            train, y = sequences_of(make, rng, TRAIN)
            test, truth = sequences_of(make, rng, TEST)
            model = ESNRegressor(random_state=seed).fit(train, y)
            search = ESNSearchCV(ESNRegressor(random_state=seed), progress=False).fit(train, y)
            said = {"ESNRegressor": model.predict(test), "ESNSearchCV": search.predict(test)}
            steps = max(map(len, [*train, *test]))
            rivals = {
                "ridge on raw values": [_common.stretched(some, steps) for some in (train, test)],
                "ridge on mean and spread": [summaries(some) for some in (train, test)],
            }
            for rival, (seen, new) in rivals.items():
                plain = make_pipeline(StandardScaler(), RidgeCV(PATH)).fit(seen, y)
                said[rival] = plain.predict(new)
            said["mean of the target"] = np.full(TEST, y.mean())
            for one, outputs in said.items():
                scores.setdefault(one, []).append(float(r2_score(truth, outputs)))
            scores.setdefault("expected by leave-one-out", []).append(model.validated_)
        results[name] = {one: float(np.mean(each)) for one, each in scores.items()}
        print(name, *(f"{one} {r2:.3f}" for one, r2 in results[name].items()), sep="  ", flush=True)
    _common.store("extrinsic", {"families": results})


if __name__ == "__main__":
    main()
