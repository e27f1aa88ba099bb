"""Is this version as quick as another? The same work by both, in turns.

    git worktree add ../before OLDER_COMMIT
    python benchmarks/compare.py ../before/src [rounds]

Each round starts one process for each version, in turns, on one thread; each job is run until it is
warm and then timed in processor time. Printed and stored are the shortest times of all rounds and
their ratio: machines that others use too are only ever slowed down. Jobs use public names alone, so
any version can be compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import _common  # first: it sets the number of threads, for the processes started here too

HERE = Path(__file__).resolve().parent


def jobs() -> dict:
    """What is timed, by name."""
    import numpy as np

    from echofold import (
        Accumulative,
        ESNClassifier,
        ESNForecaster,
        ESNRegressor,
        ESNSearchCV,
        KFold,
        LeaveOneOut,
        SingleSplit,
        WalkForward,
        cross_validate,
        cross_validate_readout,
        datasets,
    )

    rng = np.random.RandomState(0)
    y = datasets.load_electricity().data.to_numpy(dtype=float)
    y = ((y - y.min()) / (y.max() - y.min()))[: 213 + 3617 + 1]
    ridge = [0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2, 1, 10, 100, 1000]
    path = [10.0**-i for i in range(12)]
    space = {"leak_rate": [0.1, 0.4, 0.7], "spectral_radius": [0, 0.5, 0.9], "ridge": ridge}
    small = ESNForecaster(50, penalize_bias=True, washout=213, scale=None, random_state=1)
    large = ESNForecaster(500, washout=213, random_state=1)
    folds = KFold(18, valid=201)
    four = {
        "SV": SingleSplit(201),
        "CV": folds,
        "AV": Accumulative(18, valid=201, min_train=1915),
        "FV": WalkForward(18, valid=201, min_train=1915),
    }

    def search(cv, prune=False):
        return ESNSearchCV(small, space, cv=cv, prune=prune, progress=False).fit(y)

    def states(columns):
        X = rng.normal(size=(1260, columns)) * np.logspace(0, -3, columns)
        return X @ np.linalg.qr(rng.normal(size=(columns, columns)))[0], rng.normal(size=1260)

    sequences = [rng.normal(size=(rng.randint(10, 30), 12)) for _ in range(200)]
    labels = rng.randint(9, size=200)
    inputs, output = rng.rand(20_000, 1), rng.rand(20_000)
    regressors = {
        units: ESNRegressor(units, random_state=1).fit(inputs[:2000], output[:2000])
        for units in (50, 500)
    }
    forecasters = {
        units: ESNForecaster(units, random_state=1, ridge=1e-2).fit(y) for units in (50, 500)
    }
    found = {
        "reservoir, 50 units, 20,000 steps": lambda: regressors[50].predict(inputs),
        "reservoir, 500 units, 2,000 steps": lambda: regressors[500].predict(inputs[:2000]),
        "closed loop, 50 units, 4,000 steps": lambda: forecasters[50].forecast(4000),
        "closed loop, 500 units, 1,000 steps": lambda: forecasters[500].forecast(1000),
        "search, 9 networks of 50 units × 12 ridge, 18 splits": lambda: search(folds),
        "the same, pruned": lambda: search(folds, True),
        "the same, four schemes at once": lambda: search(four),
        "one fit, 500 units": lambda: large.fit(y),
        "cross-validation, 500 units, 10 folds × 12 ridge": lambda: cross_validate(
            large, y, cv=KFold(10), ridge=path
        ),
        "classifier, 200 sequences, 10 folds × 12 ridge": lambda: cross_validate(
            ESNClassifier(50, states="last", random_state=1),
            sequences,
            labels,
            cv=KFold(10),
            ridge=path,
        ),
    }
    schemes = {
        "leave one out": LeaveOneOut(),
        "10 folds": KFold(10),
        "100 folds": KFold(100),
        "walk forward": WalkForward(10),
    }
    for columns in (51, 501):
        X, target = states(columns)
        for name, cv in schemes.items():
            for values in ([1e-6], path):
                found[f"states, {columns} columns, {name} × {len(values)} ridge"] = (
                    lambda X=X, target=target, cv=cv, values=values: cross_validate_readout(
                        X, target, cv=cv, ridge=values
                    )
                )
    return found


def measure() -> dict[str, float]:
    """Processor seconds of every job, once warm."""
    warnings.simplefilter("ignore")
    found = {}
    for name, job in jobs().items():
        job()
        times: list[float] = []
        while len(times) < 2 or (sum(times) < 0.3 and len(times) < 20):
            began = time.process_time()
            job()
            times.append(time.process_time() - began)
        found[name] = min(times)
    return found


def main() -> None:
    """Take turns, print and store."""
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
        return
    if len(sys.argv) < 2:
        sys.exit("usage: python benchmarks/compare.py SRC_OF_OTHER_VERSION [rounds]")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    sources = {"before": Path(sys.argv[1]).resolve(), "now": HERE.parent / "src"}
    times: dict[str, list] = {name: [] for name in sources}
    for turn in range(rounds):
        for name in list(sources)[:: 1 if turn % 2 == 0 else -1]:
            environment = os.environ | {"PYTHONPATH": str(sources[name])}
            command = [sys.executable, __file__, "--measure"]
            shown = subprocess.run(command, env=environment, check=True, capture_output=True)
            times[name].append(json.loads(shown.stdout))
            print(f"round {turn + 1} of {rounds}, {name}: done", file=sys.stderr)
    results = {}
    for job in times["now"][0]:
        before, now = (min(one[job] for one in times[name]) for name in ("before", "now"))
        results[job] = {"before_ms": before * 1e3, "now_ms": now * 1e3, "ratio": now / before}
        print(f"{now / before:5.2f}  {before * 1e3:8.1f} → {now * 1e3:8.1f} ms  {job}")
    _common.store("compare", {"jobs": results})


if __name__ == "__main__":
    main()
