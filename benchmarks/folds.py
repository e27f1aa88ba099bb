"""The paper's speed experiment: time of k-fold cross-validation against k.

    python benchmarks/folds.py            # all of it, some minutes
    python benchmarks/folds.py --quick    # fewer k, and naive only where it is short

T = 1,260, 50 and 500 units, generative, every k that divides 1,260. Compared on one thread, series
in and errors out, weights drawn and code compiled beforehand: the paper's three algorithms coded
plainly in NumPy (naive reuses the states), and `echofold.cross_validate` as it is. Then ten
outputs, accumulative and walk-forward validation, a path of 12 ridge values, and how well
``algorithm="auto"`` chooses.
"""

from __future__ import annotations

import argparse
import itertools

import _common  # first: it sets the number of threads
import _paper
import numpy as np

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNRegressor,
    KFold,
    LeaveOneOut,
    WalkForward,
    cross_validate,
)
from echofold._engine.weights import draw, prepare

T, LEAK, RIDGE = 1260, 0.5, 1e-4
PATH = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100]
DIVISORS = [k for k in range(2, T + 1) if T % k == 0]


class Case:
    """One network and series."""

    def __init__(self, units: int, outputs: int = 1):
        self.units = units
        rng = np.random.RandomState(0)
        self.y = rng.rand(T + 1, outputs) - 0.5
        self.W_in, W = draw(units, outputs, 1.0, 1)
        self.W = W * (0.9 / prepare(self.W_in, W, rescale=True).radius)
        self.estimator = ESNForecaster(
            units, leak_rate=LEAK, spectral_radius=None, W=self.W, W_in=self.W_in, ridge=RIDGE,
            penalize_bias=True, washout=0, scale=None, random_state=0,
        )  # fmt: skip

    def ours(self, cv, algorithm: str = "auto", ridge=RIDGE):
        """Cross-validate with echofold."""
        return cross_validate(self.estimator, self.y, cv=cv, algorithm=algorithm, ridge=ridge)

    def paper(self, splits, algorithm: str):
        """Cross-validate with the paper's algorithm in NumPy."""
        return _paper.cross_validate(self.W_in, self.W, LEAK, self.y, RIDGE, splits, algorithm)


def scheme(kind: str, k: int):
    """A scheme of echofold and the same splits for the yardstick."""
    if kind == "cv":
        return (LeaveOneOut() if k == T else KFold(k)), _paper.folds(T, k)
    ours = Accumulative if kind == "av" else WalkForward
    return ours(k, min_train=T // 2), _paper.windows(T, k, sliding=kind == "fv")


def curve(case: Case, kind: str, ks: list[int], naive_seconds: float) -> list[dict]:
    """Seconds of every algorithm for every k; naive only while it is expected to be short."""
    rows = []
    per_split = None
    for k in ks:
        cv, splits = scheme(kind, k)
        found = case.ours(cv)
        row = {"k": k, "auto": _common.seconds(lambda: case.ours(cv)),
               "algorithm": found.attrs["algorithm"]}  # fmt: skip
        others = ("naive", "small_k", "large_k") if kind == "cv" else ("naive",)
        for algorithm in others:
            # Naive takes k times as long as one split: what was measured tells when to stop.
            long = algorithm == "naive" and per_split and per_split * k > naive_seconds
            if long or (algorithm == "small_k" and k * case.units**3 > 4e10):
                continue
            errors: list = []
            row[f"paper_{algorithm}"] = _common.once(
                lambda: errors.append(case.paper(splits, algorithm))
            )
            if algorithm == "naive":
                per_split = row["paper_naive"] / k
                ours = found.nrmse.values[:, 0]
                finite = np.isfinite(ours) & (ours < 1e3)
                # Normal equations and closed loops amplify rounding: most must agree closely.
                apart = np.abs(ours[finite] / errors[0][finite] - 1)
                assert case.units > 50 or np.median(apart) < 1e-4, (kind, k)
        rows.append(row)
        print("  " + "  ".join(
            f"{name} {value * 1e3:.1f} ms" if isinstance(value, float) else f"{name} {value}"
            for name, value in row.items()
        ), flush=True)  # fmt: skip
    return rows


def flatness(rows: list[dict]) -> float:
    """The longest time of ``auto`` from k = 5 up over its time at k = 10."""
    at_ten = next(row["auto"] for row in rows if row["k"] == 10)
    return max(row["auto"] for row in rows if row["k"] >= 5) / at_ten


def generation_share(case: Case, k: int) -> float:
    """Seconds of generating alone: cross-validation with and without the closed loop."""
    cv = KFold(k)
    y = case.y
    open_loop = ESNRegressor(
        case.units, leak_rate=LEAK, spectral_radius=None, W=case.W, W_in=case.W_in, ridge=RIDGE,
        penalize_bias=True, washout=0, scale=None, random_state=0,
    )  # fmt: skip
    closed = _common.seconds(lambda: case.ours(cv))
    return closed - _common.seconds(
        lambda: cross_validate(open_loop, y[:-1], y[1:], cv=cv, ridge=RIDGE)
    )


def ridge_path(case: Case) -> dict[str, float]:
    """What 12 ridge values cost over one, for leave-one-out and for an open-loop task."""
    y = case.y
    regressor = ESNRegressor(
        case.units, leak_rate=LEAK, spectral_radius=None, W=case.W, W_in=case.W_in,
        penalize_bias=True, washout=0, scale=None, random_state=0,
    )  # fmt: skip

    def task(cv, ridge):
        return _common.seconds(lambda: cross_validate(regressor, y[:-1], y[1:], cv=cv, ridge=ridge))

    loo = LeaveOneOut()
    return {
        "leave_one_out": _common.seconds(lambda: case.ours(loo, ridge=PATH))
        / _common.seconds(lambda: case.ours(loo)),
        "open_loop_10_fold": task(KFold(10), PATH) / task(KFold(10), [RIDGE]),
    }


def choices(quick: bool) -> list[dict]:
    """Time of ``auto`` over the better of small_k and large_k, over a grid of problems."""
    found = []
    grid = itertools.product((500, 1260, 5000), (20, 50, 200), (1, 5), (1, 12), (5, 20, 100, "n"))
    for n, units, outputs, ridges, k in grid:
        if quick and (units == 200 or n == 5000):
            continue
        if k != "n" and 2 * k > n:
            continue
        if (n if k == "n" else k) * units**3 * ridges > 3e11:
            continue  # small_k would take minutes, and the choice is not in doubt
        rng = np.random.RandomState(0)
        X, Y = rng.rand(n, 1), rng.rand(n, outputs)
        estimator = ESNRegressor(
            units, leak_rate=LEAK, ridge=RIDGE, washout=0, scale=None, random_state=1
        )
        cv = LeaveOneOut() if k == "n" else KFold(k)
        took = {
            algorithm: _common.seconds(
                lambda: cross_validate(
                    estimator, X, Y, cv=cv, ridge=PATH[:ridges], algorithm=algorithm
                ),
                least=0.05,
            )
            for algorithm in ("small_k", "large_k", "auto")
        }
        best = min(took["small_k"], took["large_k"])
        found.append(
            {"T": n, "units": units, "outputs": outputs, "ridges": ridges, "k": k,
             "over_best": took["auto"] / best, **took}
        )  # fmt: skip
    return found


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    results: dict = {"curves": {}, "summary": {}}
    few = [2, 3, 5, 10, 30, 126, 630, 1260]
    ks = few if quick else DIVISORS
    for units in (50, 500):
        case = Case(units)
        print(f"{units} units, k-fold CV")
        rows = curve(case, "cv", ks, 5 if quick else 120)
        results["curves"][f"cv_{units}"] = rows
        last = rows[-1]
        summary = {
            "flatness_from_5": flatness(rows),
            "generation_seconds": {k: generation_share(case, k) for k in (2, 3, 4) if T % k == 0},
            "large_k_paper_over_ours_at_n": last["paper_large_k"] / last["auto"],
        }
        if "paper_naive" in last:
            summary["naive_over_ours_at_n"] = last["paper_naive"] / last["auto"]
        summary["twelve_ridges_over_one"] = ridge_path(case)
        for kind in ("av", "fv"):
            print(f"{units} units, {kind}")
            windows = [k for k in few if k <= T // 2]
            rows = curve(case, kind, windows, 2 if quick else 30)
            results["curves"][f"{kind}_{units}"] = rows
            summary[f"{kind}_flatness_from_5"] = flatness(rows)
        print(f"{units} units, ten outputs")
        rows = curve(Case(units, 10), "cv", few, 2 if quick else 30)
        results["curves"][f"cv10_{units}"] = rows
        summary["ten_outputs_flatness_from_5"] = flatness(rows)
        results["summary"][str(units)] = summary
        print(summary)
    print("auto against the better of the two fixed algorithms")
    results["choices"] = choices(quick)
    ratios = [row["over_best"] for row in results["choices"]]
    results["summary"]["auto_over_best"] = {
        "median": float(np.median(ratios)), "largest": max(ratios), "problems": len(ratios),
    }  # fmt: skip
    print(results["summary"]["auto_over_best"])
    for row in sorted(results["choices"], key=lambda r: -r["over_best"])[:5]:
        print("  ", row)
    _common.store("folds", results)


if __name__ == "__main__":
    main()
