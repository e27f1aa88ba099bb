"""Which states should a classifier read, and how should its outputs become probabilities?

    python benchmarks/states.py

Japanese vowels, and six sets that come inside the package ``aeon`` (``pip install aeon``). The
leaky network of 100 units with ``states``, beside all summaries of the same states and the default,
a bank with all summaries; means over five seeds. Beside them, on the same test sequences:
scikit-learn's RidgeClassifier and 1-nearest-neighbour on the raw values, sequences of other lengths
stretched to the longest.

Probabilities are judged by log-loss, Brier score and calibration error (ten bins of the largest
probability), of the default: the classifier's own; a softmax of its outputs, plain or with
a temperature fitted on outputs of five folds; and the nearest distribution without more.
"""

from __future__ import annotations

import warnings

import _common  # first: it sets the number of threads
import numpy as np
from classify import PACKAGED, packaged
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from echofold import ESNClassifier
from echofold._models.classifier import nearest
from echofold.datasets import load_japanese_vowels

SEEDS = range(5)
NETWORKS = {
    **{str(one): {"reservoir": None, "states": one} for one in ("last", "mean", 2, 4, 8)},
    "all summaries": {"reservoir": None},
    "bank, all summaries": {},
}


def data_sets() -> dict[str, tuple]:
    """Training sequences and labels, test sequences and labels, of every set."""
    vowels = load_japanese_vowels()
    found = {"JapaneseVowels": (vowels.train, vowels.train_labels, vowels.test, vowels.test_labels)}
    return found | {name: packaged(name) for name in PACKAGED}


def temperature(train, labels, seed: int) -> float:
    """What to multiply outputs by, so that their softmax fits outputs of folds best."""
    codes, held = np.unique(labels, return_inverse=True)[1], None
    for inside, outside in StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels):
        model = ESNClassifier(random_state=seed).fit([train[i] for i in inside], labels[inside])
        outputs = model._outputs([train[i] for i in outside])
        held = np.empty((len(labels), outputs.shape[1])) if held is None else held
        held[outside] = np.clip(outputs, -1, 2)
    found = minimize_scalar(
        lambda log: log_loss(codes, softmax(np.exp(log) * held, axis=1)), bounds=(-2, 5)
    )
    return float(np.exp(found.x))


def judged(probabilities: np.ndarray, codes: np.ndarray) -> list[float]:
    """Log-loss, Brier score and calibration error."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == codes
    bins = np.minimum((10 * sure).astype(int), 9)
    gaps = [abs((sure - right)[bins == one].sum()) for one in range(10)]
    everyone = np.eye(probabilities.shape[1])
    return [
        float(log_loss(codes, np.clip(probabilities, 1e-15, 1), labels=range(len(everyone)))),
        float(((probabilities - everyone[codes]) ** 2).sum(axis=1).mean()),
        float(sum(gaps) / len(codes)),
    ]


def of_set(train, labels, test, truth) -> dict:
    """Accuracies, and how good probabilities are, on one data set."""
    accuracy = dict.fromkeys(NETWORKS, 0.0)
    ways: dict[str, list] = {}
    for seed in SEEDS:
        for network, params in NETWORKS.items():
            model = ESNClassifier(**params, random_state=seed).fit(train, labels)
            accuracy[network] += float((model.predict(test) == truth).mean()) / len(SEEDS)
            if params:
                continue
            outputs, codes = model._outputs(test), np.searchsorted(model.classes_, truth)
            sharp = temperature(train, labels, seed)
            for name, given in (
                ("predict_proba", model.predict_proba(test)),
                ("softmax", softmax(outputs, axis=1)),
                ("softmax, fitted", softmax(sharp * outputs, axis=1)),
                ("nearest", nearest(outputs)),
            ):
                ways.setdefault(name, []).append(judged(given, codes))
    steps = max(map(len, train))
    raw = _common.stretched(train, steps), _common.stretched(test, steps)
    for name, other in (
        ("RidgeClassifier", RidgeClassifier()), ("1-NN", KNeighborsClassifier(1)),
    ):  # fmt: skip
        accuracy[name] = float((other.fit(raw[0], labels).predict(raw[1]) == truth).mean())
    return {
        "accuracy": accuracy,
        "probabilities": {name: np.mean(each, axis=0).tolist() for name, each in ways.items()},
    }


def main() -> None:
    warnings.simplefilter("ignore")  # states are often collinear here
    results = {}
    for name, data in data_sets().items():
        results[name] = of_set(*data)
        print(name, *(f"{k} {v:.3f}" for k, v in results[name]["accuracy"].items()), sep="  ")
        for way, scores in results[name]["probabilities"].items():
            print(f"    {way:16s}", *(f"{score:.3f}" for score in scores), flush=True)
    mean = {
        kind: {
            key: np.mean([one[kind][key] for one in results.values()], axis=0).tolist()
            for key in next(iter(results.values()))[kind]
        }
        for kind in ("accuracy", "probabilities")
    }
    print(mean)
    _common.store("states", {"sets": results, "mean": mean})


if __name__ == "__main__":
    main()
