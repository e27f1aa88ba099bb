"""Whole searches on an accelerator, beside all cores of the same machine, scores compared.

    python benchmarks/device.py [case ...]
    python benchmarks/device.py --beside SRC_OF_OTHER_VERSION [case ...]

Each case is one search: on the device once to compile and then twice, of which the shorter
counts; on the processor with a thread for every core and the candidates shared out evenly among
them, where that would take long for a sample of the candidates, scaled up. "search" is the
evaluation of all candidates, "fit" all of `fit`, with the final model of the winner.

The second form compares two versions on the device alone, one of which is in the folder ``src`` of
another checkout: for each case a process of each, one after the other, that compiles, then repeats
the search; the shortest times and their ratio are stored apart. Nothing else may run beside it.

Closed loops multiply rounding, many without limit. Scores are compared where networks are stable:
an NRMSE below 1 and, where every split was also refitted plainly on the processor, no more than
1e-9 between that and the processor's own fast way. Scores of single rows are compared by their mean
over all splits.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None

import _common  # noqa: E402  (sets one thread for each worker, and one core, which is undone)

if cores:
    os.sched_setaffinity(0, cores)

import jax  # noqa: E402
import numpy as np  # noqa: E402

from echofold import (  # noqa: E402
    ESNClassifier,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    cross_validate,
    datasets,
    systems,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

RIDGE = [0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2, 1, 10, 100, 1000]
FORTY = {
    "leak_rate": [0.2, 0.4, 0.6, 0.8, 1.0],
    "spectral_radius": [0.2, 0.4, 0.6, 0.8, 1.0, 1.1, 1.2, 1.3],
}
GRID = {
    "leak_rate": [round(0.1 * i, 1) for i in range(1, 10)],
    "spectral_radius": [round(0.1 * i, 1) for i in range(15)],
}
HUNDRED = {"leak_rate": np.linspace(0.1, 1, 10), "spectral_radius": np.linspace(0.1, 1.4, 10)}
MANY = {"leak_rate": np.linspace(0.01, 1, 100), "spectral_radius": np.linspace(0.01, 1.4, 100)}
STEPS = KFold(18, valid=201)


def electricity(rows: int = 3617):
    """The series, scaled to [0, 1]."""
    y = datasets.load_electricity().data.to_numpy(dtype=float)
    return (((y - y.min()) / (y.max() - y.min()))[: 213 + rows + 1],)


def vowels():
    """Sequences and speakers."""
    given = datasets.load_japanese_vowels()
    return given.train, given.train_labels


def trajectories():
    """Two hundred starts of one system, as several series."""
    return ([systems.lorenz63(301, 0.02, random_state=start) for start in range(200)],)


def forecaster(units: int):
    return ESNForecaster(units, washout=213, scale=None, random_state=1)


# name: estimator, space, cv, data, draws, one in how many candidates the processor runs, and
# whether it also refits plainly
CASES = {
    "electricity grid, 50 units": (forecaster(50), GRID, STEPS, electricity, 1, 1, True),
    "40 candidates of 500 units": (forecaster(500), FORTY, STEPS, electricity, 1, 1, True),
    "40 candidates of 1,000 units": (forecaster(1000), FORTY, STEPS, electricity, 1, 2, False),
    "10,000 candidates of 50 units": (forecaster(50), MANY, STEPS, electricity, 1, 25, True),
    "500 draws of a classifier": (
        ESNClassifier(50, states="last", random_state=1), {"spectral_radius": [0.9]}, 5, vowels,
        500, 1, False,
    ),
    "leave one out, 100 candidates of 500 units": (
        forecaster(500), HUNDRED, LeaveOneOut(), lambda: electricity(1260), 1, 1, False,
    ),
    "40 candidates of 200 units, 200 series of 301 steps": (
        ESNForecaster(200, washout=30, random_state=1), FORTY, KFold(9), trajectories, 1, 5, False,
    ),
}  # fmt: skip


def search(device: str, case, every: int = 1, n_jobs=None, algorithm: str = "auto"):
    """Seconds of the evaluation and of the fit, and scores ``(draw, candidate, split, ridge)``."""
    estimator, space, cv, data, draws, *_ = case
    space = {name: list(values) for name, values in space.items()}
    if every > 1:
        name = "spectral_radius"
        space[name] = space[name][every // 2 :: every]
    estimator = estimator.set_params(device=device)
    options = {"cv": cv, "n_draws": draws, "n_jobs": n_jobs, "progress": False}
    options["algorithm"] = algorithm
    found = ESNSearchCV(estimator, {**space, "ridge": RIDGE}, **options)
    given = data()
    if n_jobs is not None:
        from echofold._search import runner

        # a block for each core, and several where there are more
        candidates = math.prod(map(len, space.values())) * draws
        runner.WIDEST = max(1, min(32, candidates // (os.cpu_count() or 1)))
    began = time.perf_counter()
    found.fit(*given)
    took = time.perf_counter() - began
    evaluated = float(found.results_.seconds.sum()) if n_jobs is None else took
    return evaluated, took, found


def compare(device, host, plain) -> dict[str, float]:
    """How far scores of the same candidates lie apart, where networks are stable."""
    names = [name for name in ("leak_rate", "spectral_radius") if name in host.results_.coords]
    keys = [
        list(zip(*(one.results_[name].values for name in names), strict=True))
        for one in (device, host)
    ]
    at = [keys[0].index(key) for key in keys[1]]
    metric = host.results_.attrs["metric"]
    a, b = device.results_[metric].values[:, at], host.results_[metric].values
    if b.shape[2] > 1000:
        a, b = (scores.mean(axis=2, keepdims=True) for scores in (a, b))

    def apart_from(other):
        with np.errstate(all="ignore"):
            return np.where(other == b, 0.0, np.abs(other - b) / np.abs(b))

    apart = apart_from(a)
    stable = (b < 1) & (b > 0) if metric == "nrmse" else b > 0
    if plain is not None:
        stable &= apart_from(plain.results_[metric].values) < 1e-9
    positive = np.broadcast_to(np.array(RIDGE) > 0, stable.shape)
    means = "NRMSE below 1" if metric == "nrmse" else "all"
    if plain is not None:
        means += ", and a plain refit within 1e-9 of the processor's fast way"
    return {
        "stable_means": means,
        "compared": int(stable.sum()),
        "largest_difference_of_stable": float(apart[stable & positive].max(initial=0)),
        "largest_at_ridge_0": float(apart[stable & ~positive].max(initial=0)),
        "share_within_1e-8": float((apart[stable] < 1e-8).mean()) if stable.any() else 1.0,
    }


def measure(name: str, device: str) -> dict:
    """One case."""
    case = CASES[name]
    first = search(device, case)
    runs = [search(device, case) for _ in range(2)]
    every, plainly = case[-2:]
    host_first, host_took, host = search("cpu", case, every, n_jobs=-1)
    if host_took < 20:
        host_first, host_took, host = search("cpu", case, every, n_jobs=-1)
    plain = search("cpu", case, every, -1, "naive")[2] if plainly else None
    share = host.results_.sizes["candidate"] / runs[0][2].results_.sizes["candidate"]
    result = {
        "device_search_seconds": min(run[0] for run in runs),
        "device_fit_seconds": min(run[1] for run in runs),
        "device_first_seconds": first[1],
        "host_seconds": host_took / share,
        "host_sample": share,
        "refitted_splits": int(runs[0][2].results_.attrs["refitted_splits"]),
        **compare(runs[0][2], host, plain),
    }
    print(
        f"{name}: search {result['device_search_seconds']:.3f} s, fit "
        f"{result['device_fit_seconds']:.3f} s (first {first[1]:.1f}); {os.cpu_count()} cores "
        f"{result['host_seconds']:.2f} s; stable scores differ by at most "
        f"{result['largest_difference_of_stable']:.1e} (ridge 0: "
        f"{result['largest_at_ridge_0']:.1e}), {result['share_within_1e-8']:.2%} within 1e-8",
        flush=True,
    )
    return result


def ecg(device: str) -> dict[str, float]:
    """The ill-conditioned recording at a ridge of 0: validation and test error."""
    import test_ecg as known

    X, y = known.recording()
    network = known.model(known.HARDEST).set_params(device=device)
    began = time.perf_counter()
    found = cross_validate(network, *known.trained_on(), cv=KFold(10), readouts=True)
    took = time.perf_counter() - began
    host = known.model(known.HARDEST).set_params(device="cpu")
    problem = host._read(*known.trained_on())
    rows = np.insert(host._states(problem, 0).kept()[0], 0, 1.0, axis=1)
    validation = known.validation_error(rows, problem.targets, found.readout.values[:, 0])
    network.fit(*known.trained_on())
    last = slice(known.WASHOUT + known.ROWS, known.WASHOUT + known.ROWS + known.TEST)
    test = float(known.nrmse(y[last], network.predict(X[last], start="last")))
    print(f"ECG, ridge 0: validation {validation:.5f}, test {test:.5f} ({took:.1f} s)", flush=True)
    return {"validation": float(validation), "test": test, "seconds": took}


def shortest(name: str) -> dict[str, float]:
    """Seconds of one case on the device, compiled before; JSON for the process that asks."""
    device = jax.default_backend()
    first = search(device, CASES[name])
    runs = [search(device, CASES[name]) for _ in range(5)]
    return {
        "search_seconds": min(run[0] for run in runs),
        "fit_seconds": min(run[1] for run in runs),
        "first_seconds": first[1],
    }


def beside(other: str, chosen: list[str]) -> dict:
    """Two versions in turns, a process of each for every case."""
    sources = {"before": Path(other).resolve(), "now": Path(__file__).resolve().parents[1] / "src"}
    cases = {}
    for turn, name in enumerate(chosen):
        times = {}
        for version in list(sources)[:: 1 if turn % 2 == 0 else -1]:
            command = [sys.executable, __file__, "--shortest", name]
            environment = os.environ | {"PYTHONPATH": str(sources[version])}
            shown = subprocess.run(command, env=environment, check=True, capture_output=True)
            times[version] = json.loads(shown.stdout.splitlines()[-1])
        ratios = {key: times["now"][key] / times["before"][key] for key in times["now"]}
        cases[name] = {**times, "ratio": ratios}
        print(
            f"{name}: search × {ratios['search_seconds']:.3f} "
            f"({times['before']['search_seconds']:.4f} → {times['now']['search_seconds']:.4f} s), "
            f"fit × {ratios['fit_seconds']:.3f}, first run × {ratios['first_seconds']:.3f}",
            flush=True,
        )
    return cases


def main() -> None:
    """Measure, print and store."""
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    if asked[:1] == ["--shortest"]:
        print(json.dumps(shortest(asked[1])))
        return
    other = None
    if asked[:1] == ["--beside"]:  # JAX is not asked for devices: it would hold the memory
        other, asked = asked[1], asked[2:]
    chosen = [name for name in CASES if not asked or any(word in name for word in asked)]
    if other is not None:
        _common.store("device_compare", {"cases": beside(other, chosen)})
        return
    device = jax.default_backend()
    if device == "cpu":
        raise SystemExit("JAX sees no accelerator here.")
    kind = jax.devices()[0].device_kind
    results: dict = {
        "machine": _common.machine() | {"gpu": kind, "threads": str(os.cpu_count())},
        "device": kind,
        "cores": os.cpu_count(),
        "cases": {},
    }
    for name in chosen:
        results["cases"][name] = measure(name, device)
        _common.store("device", results)
    if not asked or "ecg" in asked:
        results["ecg"] = ecg(device)
        _common.store("device", results)


if __name__ == "__main__":
    main()
