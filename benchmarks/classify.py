"""How well sequences are classified by default, beside MiniRocket and a ridge on raw values.

    python benchmarks/classify.py [--seeds 3] [--sizes 200 2000 5000]

Sets that come inside the package ``aeon`` (``pip install aeon``, as is needed for its MiniRocket
too), Japanese vowels, and the families of sequences that are made below. Of each set: accuracy on
test sequences of ``ESNClassifier()`` and of ``ESNSearchCV(ESNClassifier())``, as they are, of
aeon's ``MiniRocketClassifier`` and of a ridge classifier (its ridge by leave-one-out) on raw values
that are stretched to the longest sequence; seconds of CPU to train and to predict, one thread; and
the accuracy that leave-one-out, by which ``ESNClassifier()`` takes its ridge, expected of it.

MiniRocket takes sequences of equal lengths: those of unequal lengths are stretched, or filled up
with zeros at the end, and the better of the two counts. Every method has run once on the same
shapes before it is timed, because both compile.

With ``--sizes``: accuracy and seconds alone, of ``ESNClassifier()`` and MiniRocket, by the number
of sequences that are trained on and again told apart, of 100 steps and one or three channels.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import _common  # first: it sets the number of threads
import numpy as np
from sklearn.linear_model import RidgeClassifierCV

from echofold import ESNClassifier, ESNSearchCV
from echofold.datasets import load_japanese_vowels

# What numba looks for by the name of coverage is not the script beside this one.
sys.path = [one for one in sys.path if Path(one).resolve() != Path(__file__).resolve().parent]
TEST = 200
PACKAGED = (
    "BasicMotions", "Covid3Month_disc", "GunPoint", "ItalyPowerDemand", "PickupGestureWiimoteZ",
    "UnitTest",
)  # fmt: skip
PATH = np.logspace(-3, 3, 10)


# --- families of sequences ------------------------------------------------------------------------


def bump(kind: int, width: int) -> np.ndarray:
    """One of five shapes."""
    t = np.linspace(-1, 1, width)
    return [
        1 - np.abs(t),
        np.sqrt(np.maximum(1 - t * t, 0)),
        (t + 1) / 2,
        np.cos(np.pi * t / 2) ** 2,
        (1 - t) / 2,
    ][kind]


def shapes(rng, label):
    """One shape of four, anywhere, in noise."""
    n, width = 120, int(rng.integers(25, 45))
    x = 0.25 * rng.normal(size=n)
    at = rng.integers(0, n - width)
    x[at : at + width] += 1.5 * bump(label, width)
    return x


def speeds(rng, label):
    """Swings of one of four speeds, in strong noise."""
    speed = [0.10, 0.13, 0.17, 0.22][label] * rng.uniform(0.95, 1.05)
    swing = np.sin(2 * np.pi * (speed * np.arange(150) + rng.uniform()))
    return swing + rng.normal(size=150)


def orders(rng, label):
    """Two events, up or down, in one of four orders."""
    x, n = 0.2 * rng.normal(size=100), 100
    places = np.sort(rng.choice(np.arange(5, n - 12, 12), 2, replace=False))
    for at, sign in zip(places, [(1, 1), (1, -1), (-1, 1), (-1, -1)][label], strict=True):
        x[at : at + 8] += sign * bump(3, 8)
    return x


def noises(rng, label):
    """A slow swing with noise of one of three sizes."""
    swing = np.sin(2 * np.pi * (rng.uniform(0.01, 0.03) * np.arange(100) + rng.uniform()))
    return swing + [0.2, 0.3, 0.45][label] * rng.normal(size=100)


def colours(rng, label):
    """Noise of one of four autocorrelations, of any level and size."""
    share, x, e = [-0.3, 0.0, 0.3, 0.6][label], np.zeros(140), rng.normal(size=140)
    for t in range(1, 140):
        x[t] = share * x[t - 1] + e[t]
    return rng.normal() + np.exp(rng.normal() / 2) * x[20:]


def glides(rng, label):
    """A tone that rises, falls or stays; of 40 to 120 steps."""
    n = int(rng.integers(40, 121))
    speed = np.linspace(*[(0.05, 0.2), (0.2, 0.05), (0.125, 0.125)][label], n)
    phase = np.cumsum(speed * rng.uniform(0.85, 1.15)) + rng.uniform()
    return np.sin(2 * np.pi * phase) + 0.5 * rng.normal(size=n)


def leaders(rng, label):
    """Which of three channels is four steps ahead of the others."""
    common = np.convolve(rng.normal(size=110), np.ones(4) / 2, "same")
    x = np.stack(3 * [common[4:104]], axis=1)
    x[:, label] = common[8:108]
    return x + 0.6 * rng.normal(size=(100, 3))


def shifts(rng, label):
    """A level that changes in the first, second or last third, up or down."""
    at = int(rng.uniform(label * 30 + 4, label * 30 + 26))
    return rng.choice([-1, 1]) * (np.arange(90) >= at) + 0.6 * rng.normal(size=90)


def maps(rng, label):
    """The logistic map with one of four parameters, seen through noise."""
    r, x = [3.6, 3.7, 3.8, 3.9][label], np.zeros(150)
    x[0] = rng.uniform(0.2, 0.8)
    for t in range(1, 150):
        x[t] = r * x[t - 1] * (1 - x[t - 1])
    return x[50:] + 0.08 * rng.normal(size=100)


def counts(rng, label):
    """Two to five bumps of any sizes."""
    x = 0.15 * rng.normal(size=140)
    for at in rng.choice(np.arange(2, 126, 14), 2 + label, replace=False):
        x[at : at + 12] += rng.uniform(0.6, 1.4) * bump(3, 12)
    return x


def templates(rng, label):
    """Ten smooth curves, warped in time, few of each to learn from."""
    own = np.random.default_rng(100 + label)
    sines, cosines = (own.normal(size=4) / np.arange(1, 5) for _ in range(2))
    t = np.linspace(0, 1, 100)
    warped = t + rng.uniform(-0.08, 0.08) * np.sin(np.pi * t)
    warped = warped + rng.uniform(-0.04, 0.04) * np.sin(2 * np.pi * t)
    turns = np.arange(1, 5)[:, None] * 2 * np.pi * warped
    return sines @ np.sin(turns) + cosines @ np.cos(turns) + 0.15 * rng.normal(size=100)


def outlines(rng, label):
    """How far a closed line is from its middle, begun anywhere: six classes of lobes."""
    own = np.random.default_rng(200 + label)
    sizes, phases = own.uniform(0, 1, 8) / np.arange(1, 9) ** 0.7, own.uniform(0, 2 * np.pi, 8)
    sizes, phases = sizes * (1 + 0.25 * rng.normal(size=8)), phases + 0.25 * rng.normal(size=8)
    turn = 2 * np.pi * np.arange(200) / 200 + rng.uniform(0, 2 * np.pi)
    x = sizes @ np.cos(np.arange(1, 9)[:, None] * turn + phases[:, None])
    x = x + 0.03 * rng.normal(size=200)
    return (x - x.mean()) / x.std()


def spectra(rng, label):
    """A large hump that all share, and a small peak at one of five places."""
    t = np.arange(150)
    hump = rng.uniform(3, 4) * np.exp(-(((t - 70 - 2 * rng.normal()) / 35) ** 2))
    place = [30, 45, 60, 80, 100][label] + rng.normal()
    peak = rng.uniform(0.2, 0.4) * np.exp(-(((t - place) / 4) ** 2))
    return hump + peak + 0.04 * rng.normal(size=150)


def motifs(rng, label):
    """Noise with or without a short motif in it; of 150 to 250 steps."""
    x = rng.normal(size=int(rng.integers(150, 251)))
    if label:
        at = rng.integers(0, len(x) - 12)
        x[at : at + 12] = 1.6 * np.sin(np.arange(12) * np.pi / 3) + 0.3 * rng.normal(size=12)
    return x


def gestures(rng, label):
    """Six channels, two of which turn about each other one way or the other; 60 to 100 steps."""
    n = int(rng.integers(60, 101))
    x = rng.normal(size=(n, 6)).cumsum(axis=0) / 12 + 0.3 * rng.normal(size=(n, 6))
    turn = 2 * np.pi * (rng.uniform(1, 3) * np.arange(n) / n + rng.uniform())
    first = 2 * (label // 2)
    x[:, first] += np.sin(turn)
    x[:, first + 1] += np.cos(turn) * (1 if label % 2 else -1)
    return x


def devices(rng, label):
    """What a device takes: on and off, with levels and durations of its own; 150 to 400 steps."""
    n, x, on = int(rng.integers(150, 401)), [], rng.random() < 0.5
    durations, level, ripple = [
        ((16, 8), 1.0, 0.05), ((20, 20), 1.0, 0.05), ((16, 8), 1.3, 0.05), ((16, 8), 1.0, 0.2),
        ((60, 30), 1.1, 0.1),
    ][label]  # fmt: skip
    while len(x) < n:
        steps = int(rng.gamma(6, durations[on] / 6)) + 1
        start = 1 + 0.3 * np.exp(-np.arange(steps) / 3)
        noise = (on * ripple + 0.02) * rng.normal(size=steps)
        x += list(on * level * rng.uniform(0.92, 1.08) * start + noise)
        on = not on
    return np.array(x[:n])


FAMILIES = {  # classes, and sequences to train on
    shapes: (4, 80), speeds: (4, 80), orders: (4, 80), noises: (3, 60), colours: (4, 120),
    glides: (3, 60), leaders: (3, 60), shifts: (3, 60), maps: (4, 80), counts: (4, 100),
    templates: (10, 60), outlines: (6, 120), spectra: (5, 60), motifs: (2, 100),
    gestures: (6, 90), devices: (5, 75),
}  # fmt: skip


def family(make, seed: int, train: int = 0, test: int = TEST) -> tuple:
    """Training sequences and labels, test sequences and labels; so many, or what is usual."""
    rng, (classes, count) = np.random.default_rng(seed), FAMILIES[make]
    found = []
    for many in (train or count, test):
        labels = np.arange(many) % classes
        sequences = [make(rng, int(label)) for label in labels]
        found += [[one.reshape(len(one), -1) for one in sequences], labels]
    return tuple(found)


def packaged(name: str) -> tuple:
    """The same of a set that comes inside aeon."""
    import aeon
    from aeon.datasets import load_classification

    folder, found = Path(aeon.__file__).parent / "datasets" / "data", []
    for split in ("train", "test"):
        X, y = load_classification(name, split=split, extract_path=str(folder))
        found += [[np.asarray(one, dtype=float).T for one in X], np.asarray(y)]
    return tuple(found)


def data_sets(seed: int) -> dict[str, tuple]:
    """All sets; those that are drawn, by a seed."""
    vowels = load_japanese_vowels()
    found = {name: packaged(name) for name in PACKAGED}
    found["JapaneseVowels"] = vowels.train, vowels.train_labels, vowels.test, vowels.test_labels
    return found | {make.__name__: family(make, seed) for make in FAMILIES}


# --- methods --------------------------------------------------------------------------------------


def as_cube(sequences, steps: int, how: str) -> np.ndarray:
    """Sequences as aeon takes them, ``(n, channels, steps)``: stretched, or zeros at the end."""
    if how == "stretched":
        return _common.stretched(sequences, steps).reshape(len(sequences), -1, steps)
    cube = np.zeros((len(sequences), sequences[0].shape[1], steps))
    for row, one in zip(cube, sequences, strict=True):
        row[:, : len(one)] = one.T
    return cube


def timed(model, train, labels, test, truth) -> tuple[dict[str, float], object]:
    """Accuracy and seconds of CPU, compiled before; and the model."""
    model.fit(train, labels)
    model.predict(test)
    began = time.process_time()
    right = float(np.mean(model.fit(train, labels).predict(test) == truth))
    return {"accuracy": right, "seconds": time.process_time() - began}, model


def rocket(train, labels, test, truth, steps: int, seed: int) -> dict[str, float]:
    """The better accuracy of two ways to equal lengths, and the seconds of one."""
    from aeon.classification.convolution_based import MiniRocketClassifier

    unequal = len({len(one) for one in [*train, *test]}) > 1
    found = []
    for how in ("stretched", "padded") if unequal else ("stretched",):
        cubes = as_cube(train, steps, how), as_cube(test, steps, how)
        model = MiniRocketClassifier(random_state=seed, n_jobs=1)
        found.append(timed(model, cubes[0], labels, cubes[1], truth)[0])
    both = [max(one["accuracy"] for one in found), min(one["seconds"] for one in found)]
    return dict(zip(("accuracy", "seconds"), both, strict=True))


def of_set(train, labels, test, truth, seed: int) -> dict[str, dict[str, float]]:
    """Accuracy and seconds of every method, and what leave-one-out expected."""
    steps = max(9, *map(len, train), *map(len, test))  # MiniRocket takes no fewer
    data = train, labels, test, truth
    own, model = timed(ESNClassifier(random_state=seed), *data)
    search = ESNSearchCV(ESNClassifier(random_state=seed), progress=False)
    stretch = partial(_common.stretched, steps=steps)
    raw = stretch(train), labels, stretch(test), truth
    return {
        "ESNClassifier()": own,
        "its leave-one-out": {"accuracy": model.validated_},
        "ESNSearchCV(ESNClassifier())": timed(search, *data)[0],
        "MiniRocket": rocket(*data, steps, seed),
        "ridge on raw values": timed(RidgeClassifierCV(PATH), *raw)[0],
    }


def by_size(sizes: list[int]) -> None:
    """Both methods by the number of sequences."""
    rows = []
    for make, channels in ((orders, 1), (leaders, 3)):
        for size in sizes:
            data = family(make, 0, size, size)
            model = ESNClassifier(random_state=0)
            each = {"ESNClassifier()": timed(model, *data)[0], "MiniRocket": rocket(*data, 100, 0)}
            times = each["ESNClassifier()"]["seconds"] / each["MiniRocket"]["seconds"]
            rows.append({"sequences": size, "channels": channels, "times": times, **each})
            print(rows[-1], flush=True)
    _common.store("classify_sizes", {"rows": rows})


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+")
    given = parser.parse_args()
    if given.sizes:
        by_size(given.sizes)
        return
    found: dict[str, list] = {}
    for seed in range(given.seeds):
        for name, data in data_sets(seed).items():
            found.setdefault(name, []).append(of_set(*data, seed))
            each = (f"{k} {v['accuracy']:.3f}" for k, v in found[name][-1].items())
            print(f"{name:22s}", *each, sep="  ", flush=True)
    methods = next(iter(found.values()))[0].keys()
    sets = {
        name: {one: mean_of([each[one] for each in runs]) for one in methods}
        for name, runs in found.items()
    }
    mean = {one: mean_of([each[one] for each in sets.values()]) for one in methods}
    print(mean)
    _common.store("classify", {"sets": sets, "mean": mean})


def mean_of(each: list[dict[str, float]]) -> dict[str, float]:
    """Means of accuracies and seconds."""
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


if __name__ == "__main__":
    main()
