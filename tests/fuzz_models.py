"""Load wrong model files, use what loads, and say what happened.

``python tests/fuzz_models.py FIRST COUNT [FILE]`` does so for the files of these seeds and prints
the outcome as JSON; FILE always holds the seed under way. This is a program because a file that
gets past the checks may end the process. A seed always makes the same file.
"""

import io
import json
import sys
import tempfile
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from model_files import archive, members_of
from wrong_files import made

from echofold import (
    AutoForecaster,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    load,
    save,
)
from echofold._models.ensemble import ForecastEnsemble
from echofold.reservoirs import NVAR, Bank, Deep, EdgeOfStability, Leaky, Plastic

ALLOWANCE = 50_000_000  # bytes of memory beyond twice the size of the file
ROWS, UNITS = 60, 20


def models():
    """One of each kind of value that a file can hold."""
    rng = np.random.default_rng(0)
    y, X = rng.normal(size=(ROWS, 2)), rng.normal(size=(ROWS, 2))
    sequences = [rng.normal(size=(n, 2)) for n in range(3, 15)]
    frame = pd.DataFrame(X, columns=["wind", "sun"])
    hours = pd.date_range("2024-03-01", periods=ROWS, freq="h", tz="Europe/Vilnius")
    sparse = ESNForecaster(UNITS, connectivity=0.1, random_state=1)
    yield sparse.fit(pd.Series(y[:, 0], index=hours, name="load"))
    months = pd.period_range("2000-01", periods=ROWS, freq="M", name="month")
    intervals = ESNForecaster(UNITS, random_state=1)
    intervals.fit(pd.DataFrame(y, index=months, columns=["a", ("b", 1)]))
    intervals.residuals_ = rng.normal(size=(4, 3, 2))
    yield intervals
    given = {"W": sparse.W_, "input_scaling": [1, 0.5, 2, 1], "random_state": 1}
    yield ESNForecaster(UNITS, **given).fit(pd.DataFrame(y), frame)
    yield ESNForecaster(UNITS, W_in=rng.normal(size=(UNITS, 2)), random_state=1).fit(y[:, 0])
    forms = {"log": True, "difference": (3, 1), "season": (6, 9.5), "harmonics": 2}
    limits = {"output_range": (0.0, np.exp(y).max() + 1)}
    represented = ESNForecaster(UNITS, random_state=1, **forms, **limits).fit(np.exp(y), X)
    represented.residuals_ = rng.normal(size=(4, 3, 2))
    represented.log_residuals_, represented.runs_ = rng.normal(size=(4, 3, 2)), 2
    yield represented
    members = [represented, ESNForecaster(9, difference=(2,), random_state=2).fit(np.exp(y), X)]
    ensemble = ForecastEnsemble(members)
    ensemble.residuals_ = rng.normal(size=(4, 3, 2))
    ensemble.log_residuals_, ensemble.runs_ = rng.normal(size=(4, 3, 2)), 3
    yield ensemble
    few = {"units": 5, "grid": "small", "draws": 1, "k": 3, "log": False, "difference": [(1,)]}
    dated = pd.Series(np.exp(y[:, 0]), index=months, name="load")
    yield AutoForecaster(3, search=few, progress=False).fit(dated, X)
    yield AutoForecaster(3).fit(np.exp(y[:30, 0]))
    kind = Leaky(UNITS, W=sparse.W_, input_scaling=[0.5])
    yield ESNForecaster(reservoir=kind, random_state=1).fit(y[:, 0])
    for kind in (
        Leaky(UNITS, noise=0.1, topology="ring with jumps", activation="relu"),
        Deep(UNITS, layers=2, leak_rate=(1.0, 0.5), topology="delay line"),
        EdgeOfStability(9),
        Plastic(9),
        NVAR(3, spacing=2, degree=(2, 3)),
    ):
        yield ESNForecaster(reservoir=kind, random_state=1).fit(y)
    several = ESNForecaster(UNITS, difference=(1,), log=True, random_state=1)
    yield several.fit({"a": dated, "é": dated[7:]}, {"a": X, "é": X[7:]})
    yield ESNForecaster(UNITS, random_state=1).fit([y, y[:20]])
    yield ESNRegressor(UNITS, random_state=1, output_range=(-0.5, np.inf)).fit(frame, y)
    yield ESNRegressor(UNITS, connectivity=0.1, random_state=1).fit(X, y[:, 0])
    yield ESNRegressor(UNITS, feedback=True, output_range=(-9, 9), random_state=1).fit(X, y)
    for states in (2, "mean"):
        yield ESNRegressor(UNITS, states=states, random_state=1).fit(sequences, np.arange(12.0))
    for labels, states in ((["yes", "no", "é"] * 4, 2), ([True, False] * 6, "mean")):
        yield ESNClassifier(UNITS, states=states, random_state=1).fit(sequences, labels)
    bank = Bank(3, members=2, longest=3)
    yield ESNClassifier(reservoir=bank, random_state=1).fit(sequences, [0, 1] * 6)
    table = pd.DataFrame(rng.normal(size=(12, 5)), columns=list("abcde"))
    yield ESNClassifier(UNITS, random_state=1).fit(table, np.array(["x", "y"] * 6, dtype=object))


def bases_in(folder):
    """The members of the files to begin with."""
    for model in models():
        save(model, folder / "model")
        yield members_of(folder / "model")
    rng = np.random.default_rng(1)
    y, X = rng.normal(size=(ROWS, 2)), rng.normal(size=(ROWS, 2))
    y[-2:, 0] = np.nan
    for model, data in (
        (ESNForecaster(9, difference=(2,), random_state=1), (y, X)),
        (ESNForecaster(9, steps=3, random_state=1), (y[:-2],)),
        (ESNRegressor(9, random_state=1), (X, y)),
        (ESNRegressor(9, feedback=True, random_state=1), (X, y)),
    ):
        save(model.fit(*data), folder / "model", learning=True)
        yield members_of(folder / "model")


def use(model, folder):
    """All that a loaded model is for; what loads must also save."""
    repr(model)
    if isinstance(model, AutoForecaster):
        given = model.X_schema_
        known = None if given is None else np.zeros((3, len(given.holds)))
        model.forecast(3, known).to_frame()
        model.update(np.ones(3), known).forecast(3, known)
    elif hasattr(model, "series_"):
        for view in model.series_.values():
            use(view, folder)
        first = next(iter(model.series_.values()))
        known = None if first.X_schema_ is None else np.zeros((3, len(first.X_schema_.holds)))
        rows = np.ones((3, len(first.last_)))
        kind = model.panel_.kind
        several = dict.fromkeys if kind == "dict" else lambda names, one: [one for _ in names]
        given = None if known is None else several(model.panel_.names, known)
        model.update(several(model.panel_.names, rows), given).forecast(3, given)
    elif isinstance(model, ESNForecaster | ForecastEnsemble):
        outputs = len(model.y_schema_.holds)
        given = model.X_schema_
        known = None if given is None else np.zeros((3, len(given.holds)))
        model.forecast(3, known)
        if model.residuals_ is not None:
            model.forecast(3, known, level=0.5)
        model.update(np.ones((3, outputs)), known).forecast(3, known)
    elif isinstance(model, ESNRegressor) and hasattr(model, "summaries_"):
        model.predict([np.zeros((5, len(model.X_scaler_.center)))] * 2)
    elif isinstance(model, ESNRegressor):
        for start in ("zero", "last"):
            model.predict(np.zeros((4, model.n_features_in_)), start)
    else:
        table = getattr(model, "n_features_in_", None)
        model.predict(
            np.zeros((2, min(table, 100)))
            if table
            else [np.zeros((5, len(model.X_scaler_.center)))] * 2
        )
    learning = hasattr(model, "learning_")
    if learning:
        rows = np.ones((3, len(model.y_scaler_.unit)))
        known = None if model.X_scaler_ is None else np.ones((3, len(model.X_scaler_.unit)))
        data = (known, rows) if isinstance(model, ESNRegressor) else (rows, known)
        model.partial_fit(*data, forgetting=0.9)
    save(model, folder / "again", learning=learning)
    load(folder / "again")


class Outcome:
    """What happened, how often; what should not have; and the most memory beyond twice a file."""

    def __init__(self):
        self.happened, self.wrong, self.memory = Counter(), [], 0

    def loaded(self, seed, path):
        """The model in a file; None if it is refused."""
        tracemalloc.start()  # for this alone: it slows down what is compiled to use a model
        model = None
        try:
            model = load(path)
        except Exception as error:
            # The cause tells whether a check spoke, or the net below all of them.
            foreseen = isinstance(error.__cause__, ValueError | None)
            if type(error) is not ValueError or not foreseen:
                self.wrong.append(f"{seed}: load {error!r} from {error.__cause__!r}")
        self.happened["refused" if model is None else "loaded"] += 1
        taken = tracemalloc.get_traced_memory()[1] - 2 * path.stat().st_size
        tracemalloc.stop()
        self.memory = max(self.memory, taken)
        if taken > ALLOWANCE:
            self.wrong.append(f"{seed}: {taken} bytes of memory beyond twice the file")
        return model

    def used(self, seed, model, folder):
        """Use a model, which works or says why it does not."""
        try:
            use(model, folder)
            self.happened["used"] += 1
        except Exception as error:
            self.happened[f"use: {error!r:.60}"] += 1
            if not isinstance(error, ValueError | TypeError) or not str(error):
                self.wrong.append(f"{seed}: use {error!r}")


def run(first, count, report=lambda seed: None):
    """Load and use the files of ``count`` seeds."""
    warnings.simplefilter("ignore")
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "file"
        bases = list(bases_in(folder))
        for members in bases:
            path.write_bytes(archive(members))
            outcome.used("none", outcome.loaded("none", path), folder)
        assert outcome.happened == {"loaded": len(bases), "used": len(bases)}
        outcome.happened.clear()
        for seed in range(first, first + count):
            report(seed)
            path.write_bytes(made(seed, bases))
            model = outcome.loaded(seed, path)
            if model is not None:
                outcome.used(seed, model, folder)
    return vars(outcome)


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    with open(sys.argv[3], "w") if len(sys.argv) > 3 else io.StringIO() as file:

        def note(seed):
            file.seek(0)
            file.write(f"{seed}\n")
            file.flush()

        print(json.dumps(run(first, count, note), indent=1))
