"""A whole search against the plain way: the electricity series, 135 candidates, 12 ridge values.

    python benchmarks/search.py

50 units, leak 0.1 … 0.9 × radius 0 … 1.4, 18-step cross-validation of 201 steps, and the three
final models of the winner, on one thread. The plain way is NumPy: for each candidate the reservoir
is run step by step, for each ridge and each split the readout is solved and the validation interval
generated step by step; it is timed on a sample of candidates and scaled up. Compilation is counted
once and shown apart.
"""

from __future__ import annotations

import time
import warnings

import _common  # first: it sets the number of threads
import _paper
import numpy as np

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    SingleSplit,
    WalkForward,
    datasets,
)
from echofold._engine.weights import draw, prepare

RIDGE = [0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2, 1, 10, 100, 1000]
SPACE = {
    "leak_rate": [round(0.1 * i, 1) for i in range(1, 10)],
    "spectral_radius": [round(0.1 * i, 1) for i in range(15)],
    "ridge": RIDGE,
}
# name: washout, pairs, validation length, k, least training length
SERIES = {
    "labor": (9, 340, 10, 34, 170),
    "gasoline": (81, 1206, 67, 18, 575),
    "sunspots": (200, 1800, 200, 10, 1000),
    "electricity": (213, 3617, 201, 18, 1915),
}


def series(name: str) -> np.ndarray:
    """The values searched on, scaled to [0, 1] over the whole series."""
    y = getattr(datasets, f"load_{name}")().data.to_numpy(dtype=float)
    washout, pairs, *_ = SERIES[name]
    return ((y - y.min()) / (y.max() - y.min()))[: washout + pairs + 1]


def search(name: str, cv, prune: bool) -> ESNSearchCV:
    """Our search, with the three final models."""
    estimator = ESNForecaster(
        50, penalize_bias=True, washout=SERIES[name][0], scale=None, random_state=1
    )
    found = ESNSearchCV(estimator, SPACE, cv=cv, prune=prune, progress=False).fit(series(name))
    for final in ("average", "best"):  # "retrain" is there already
        found.finalize(final)
    return found


def plain(name: str, sample: int) -> float:
    """Seconds of the plain way for all candidates, from a sample of them."""
    washout, pairs, length, k, _ = SERIES[name]
    y = series(name)[:, None]
    W_in, W = draw(50, 1, 1.0, 1)
    radius = prepare(W_in, W, rescale=True).radius
    starts = np.linspace(0, pairs - length, k).astype(int)
    rng = np.random.RandomState(0)
    began = time.perf_counter()
    for _ in range(sample):
        leak, rho = rng.choice(SPACE["leak_rate"]), rng.choice(SPACE["spectral_radius"][1:])
        scaled = W * (rho / radius)
        states = _paper.run(W_in, scaled, leak, y[:-1])[washout:]
        inputs, targets = y[washout:-1], y[washout + 1 :]
        X = np.hstack([np.ones((pairs, 1)), inputs, states])
        A, B = X.T @ X, X.T @ targets
        for ridge in RIDGE[1:]:  # 11 of 12: normal equations fail at 0
            for a in starts:
                Xi = X[a : a + length]
                left = A - Xi.T @ Xi + ridge * np.eye(52)
                readout = np.linalg.solve(left, B - Xi.T @ targets[a : a + length])
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _paper.generate(W_in, scaled, leak, readout, inputs[a], states[a], length)
    count = len(SPACE["leak_rate"]) * len(SPACE["spectral_radius"])
    return (time.perf_counter() - began) / sample * count * 12 / 11


def main() -> None:
    """Measure, print and store."""
    warnings.simplefilter("ignore")
    results: dict = {}
    _, _, length, k, least = SERIES["electricity"]
    cv = KFold(k, valid=length)
    first = _common.once(lambda: search("electricity", cv, False))
    took = min(_common.once(lambda: search("electricity", cv, False)) for _ in range(3))
    pruned_first = _common.once(lambda: search("electricity", cv, True))
    pruned = min(_common.once(lambda: search("electricity", cv, True)) for _ in range(3))
    slow = plain("electricity", 3)
    results["search"] = {
        "plain_seconds": slow, "echofold_seconds": took, "pruned_seconds": pruned,
        "compilation_seconds": first - took, "pruned_compilation_seconds": pruned_first - pruned,
        "ratio": slow / took, "ratio_pruned": slow / pruned,
        "ratio_with_compilation": slow / first,
    }  # fmt: skip
    print(f"plain {slow:.1f} s, echofold {took:.2f} s ({slow / took:.0f}×), pruned {pruned:.2f} s "
          f"({slow / pruned:.0f}×); compilation {first - took:.1f} s apart")  # fmt: skip

    schemes = {
        "SV": SingleSplit(length),
        "CV": cv,
        "AV": Accumulative(k, valid=length, min_train=least),
        "FV": WalkForward(k, valid=length, min_train=least),
    }
    for one in schemes.values():
        search("electricity", one, False)
    apart = sum(
        _common.once(lambda s=one: search("electricity", s, False)) for one in schemes.values()
    )
    search("electricity", schemes, False)
    together = _common.once(lambda: search("electricity", schemes, False))
    results["four_schemes"] = {"together_over_apart": together / apart}
    print(f"four schemes at once over one by one: {together / apart:.2f}")

    results["pruning"] = {}
    for name, (_, _, length, k, _) in SERIES.items():
        cv = KFold(k, valid=length)
        full, cut = search(name, cv, False), search(name, cv, True)
        share = cut.results_.attrs["column_steps"] / full.results_.attrs["column_steps"]
        same = cut.best_params_ == full.best_params_
        close = abs(cut.best_score_ / full.best_score_ - 1)
        assert same and close < 1e-10, (name, cut.best_params_, full.best_params_)
        results["pruning"][name] = {"column_steps_left": share, "same_winner": same}
        print(f"{name}: pruning leaves {share:.0%} of the column steps, same winner")
    _common.store("search", results)


if __name__ == "__main__":
    main()
