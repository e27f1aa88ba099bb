"""How right the numbers are: random problems, most of them rank deficient, by every way.

    python benchmarks/trust.py [problems [processes]]

Every algorithm and every memory way gives the readouts of every split over a ridge path from 0 to
1e3. The reference is a refit of each split in extended precision. Deviations of outputs on
validation rows are given in units of what one rounding of the data does to the reference itself:
every number moved to the next double, in any of a few random ways.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import _common  # first: it sets the number of threads
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import families
from deviations import FEW, MANY, WAYS, deviations

from echofold import Accumulative, KFold, LeaveOneOut, WalkForward
from echofold._folds.splits import resolve_cv

RIDGE = np.array([0, 1e-9, 1e-6, 1e-3, 1.0, 1e3])
SHAPES = [(16, 4), (24, 7), (32, 5), (32, 10), (10, 8), (8, 10), (9, 9)]
ALGORITHMS = ("naive", "small_k", "large_k by leaving out", "large_k by walking")


def scheme(rng: np.random.Generator):
    """A scheme of few or many splits, perhaps with gaps."""
    gap = (0, 0, (1, 0), (1, 2))[rng.integers(4)]
    k = int(rng.integers(2, 6))
    return [
        KFold(k, gap=gap),
        KFold(k, valid=int(rng.integers(1, 4)), gap=gap),
        LeaveOneOut(gap=gap),
        Accumulative(min(k, 3), min_train=0.5, gap=gap),
        WalkForward(min(k, 3), min_train=0.5, gap=gap),
        KFold(k, shuffle=True, random_state=0),
    ][rng.integers(6)]


def problem(seed: int):
    """States, targets, weights, splits, bias and ways of one problem."""
    rng = np.random.default_rng(seed)
    family = list(families.FAMILIES)[seed % len(families.FAMILIES)]
    n, m = SHAPES[rng.integers(len(SHAPES))]
    X = families.states(rng, family, n, m)
    Y = families.targets(rng, X, 1 + seed % 2)
    weights, penalised = families.weights(rng, X), bool(rng.integers(2))
    while True:
        try:
            splits = resolve_cv(scheme(rng), n)
            break
        except ValueError:  # gaps that leave nothing
            continue
    # Walking compiles for every shape and number of splits; a fifth of the problems is enough.
    ways = [*(ALGORITHMS if seed % 5 == 0 else ALGORITHMS[:3]), *WAYS]
    return family, (X, Y, weights, splits, RIDGE, penalised, ways)


def measured(seed: int) -> tuple[int, str, int, dict]:
    """One problem: its seed, family, number of splits, and how far every way is off."""
    warnings.simplefilter("ignore")
    family, data = problem(seed)
    return seed, family, len(data[3]), deviations(*data)


def on_all_cores() -> None:
    """Undo what `_common` did for timing."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def main() -> None:
    """Measure, print and store."""
    count, processes = (*map(int, sys.argv[1:]), *(5000, 1)[len(sys.argv) - 1 :])
    each: dict[str, list] = {way: [] for way in (*ALGORITHMS, *WAYS)}
    splits = dict.fromkeys(each, 0)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, on_all_cores) as pool:
        for seed, family, size, ways in pool.map(measured, range(count), chunksize=10):
            for way, found in ways.items():
                each[way].append((found.roundings, found.relative, found.refitted, seed, family))
                splits[way] += size
            if seed % 500 == 499:
                print(f"{seed + 1} problems", file=sys.stderr, flush=True)
    results = {}
    for way, values in each.items():
        worst = max(values)
        roundings = np.array([value[0] for value in values])
        results[way] = {
            "problems": len(values),
            "median_roundings": float(np.median(roundings)),
            "largest_roundings": float(roundings.max()),
            "share_above_10": float((roundings > FEW).mean()),
            "largest_relative_above_100": max(value[1] for value in values),
            "share_refitted": sum(value[2] for value in values) / splits[way],
            "worst": {"seed": worst[3], "family": worst[4]},
        }
        one = results[way]
        print(
            f"{way:24} {one['problems']:5} problems: median {one['median_roundings']:.1f}, "
            f"largest {one['largest_roundings']:.3g} roundings ({worst[4]}), above {FEW}: "
            f"{one['share_above_10']:.2%}, beyond {MANY} at most "
            f"{one['largest_relative_above_100']:.1e} of the values, "
            f"{one['share_refitted']:.0%} of splits refitted",
            flush=True,
        )
    _common.store("trust", {"trust": {"count": count, "ways": results}})


if __name__ == "__main__":
    main()
