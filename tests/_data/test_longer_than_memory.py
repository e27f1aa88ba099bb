"""Series longer than memory: what is read in blocks gives what arrays give, and is never all there.

Sizes are small, and so are the limits: what is longer than a few rows counts as long here.
"""

import io
import pickle
import re
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pandas as pd
import pytest

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    ParquetColumns,
    WalkForward,
    cross_validate,
    cross_validate_readout,
    evaluate,
    load,
    save,
)
from echofold._data import lazy
from echofold._data.lazy import Lazy
from echofold._data.scaling import Scaler, summary_of
from echofold._engine import drive, lockstep
from echofold._machine import progress
from echofold._search import final_models
from echofold._validation import settings

ROWS, BLOCK, MOST = 3000, 500, 700  # of the series; read at a time; that may become an array
CLOSE = {"rtol": 1e-10, "atol": 1e-10}
RIDGE = [1e-4, 1.0]

_rng = np.random.default_rng(2)
_t = np.arange(ROWS)
INPUTS = _rng.normal(size=(ROWS, 2))
OUTPUTS = np.stack([np.roll(INPUTS[:, 0], 1), INPUTS[:, 1] * np.roll(INPUTS[:, 0], 2)], axis=1)
OUTPUTS += 0.2 * _rng.normal(size=OUTPUTS.shape)
SERIES = 5 + np.sin(_t / 5) + 0.5 * np.sin(_t / 13) + 0.2 * _rng.normal(size=ROWS)
KNOWN = np.stack([np.cos(_t / 5), _rng.normal(size=ROWS)], axis=1)
WEIGHTS = _rng.uniform(size=ROWS)

REGRESSOR = ESNRegressor(20, random_state=0, ridge=1e-3)
FORECASTER = ESNForecaster(20, random_state=0, ridge=1.0)


class Slices:
    """As a Zarr array is: rows by slicing, and nothing else; remembers what it was asked for."""

    def __init__(self, values, chunks=None):
        self.values, self.chunks = values, chunks
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim
        self.most = self.reads = 0

    def __len__(self):
        return len(self.values)

    def __getitem__(self, at):
        assert isinstance(at, slice) and at.step is None
        rows = self.values[at]
        self.most, self.reads = max(self.most, len(rows)), self.reads + 1
        return rows


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Few rows count as long, and blocks of all kinds are short."""
    monkeypatch.setattr(lazy, "SMALL", 8 * 100)
    monkeypatch.setattr(lazy, "BLOCK", 8 * BLOCK)
    monkeypatch.setattr(lazy, "REMEMBERED", 8 * 4 * BLOCK)
    monkeypatch.setattr(lazy, "AT_ONCE", 8 * MOST)
    monkeypatch.setattr(lazy, "FEW_ROWS", 512)
    monkeypatch.setattr("echofold.metrics._targets._BLOCK", 300)
    monkeypatch.setattr(lazy, "BLOCK_ROWS", 333)
    monkeypatch.setattr(lockstep, "ROWS", 256)
    monkeypatch.setattr(drive, "BLOCK_BYTES", 2**14)


def mapped(values, folder, name="map"):
    path = folder / name
    np.lib.format.open_memmap(path, "w+", values.dtype, values.shape)[:] = values
    return np.lib.format.open_memmap(path, "r")


def columns_of(values, folder, name="file.parquet", size=450):
    """The same values as columns of a Parquet file."""
    table = values.reshape(len(values), -1)
    names = [f"c{i}" for i in range(table.shape[1])]
    pd.DataFrame(table, columns=names).to_parquet(folder / name, row_group_size=size)
    return ParquetColumns(folder / name, names if values.ndim == 2 else "c0")


KINDS = {
    "memmap": mapped,
    "columns of a memmap": lambda values, folder, name="map": mapped(
        np.hstack([values.reshape(len(values), -1)] * 2), folder, name
    )[:, slice(values.shape[1], None) if values.ndim == 2 else 1],
    "Fortran memmap": lambda values, folder, name="map": mapped(
        np.asfortranarray(values), folder, name
    ),
    "slices": lambda values, folder, name="": Slices(values),
    "chunks": lambda values, folder, name="": Slices(values, (130, 2)),
    "Parquet": columns_of,
}


def stored_by(module):
    """The same through a library, where it is installed."""

    def stored(values, folder, name="stored"):
        if module == "zarr":
            return pytest.importorskip("zarr").array(values, chunks=(200, *values.shape[1:]))
        file = pytest.importorskip("h5py").File(folder / name, "w")
        return file.create_dataset("values", data=values)

    return stored


KINDS |= {"Zarr": stored_by("zarr"), "HDF5": stored_by("h5py")}


def same(one, other, **options):
    np.testing.assert_allclose(one, other, **(CLOSE | options))


@pytest.mark.parametrize("kind", KINDS)
def test_fit_and_predict_a_regression(kind, tmp_path):
    X, y = (KINDS[kind](v, tmp_path, n) for v, n in ((INPUTS, "X"), (OUTPUTS, "y")))
    assert lazy.is_long(X, y)
    plain = ESNRegressor(20, random_state=0, ridge=1e-3).fit(INPUTS, OUTPUTS)
    model = ESNRegressor(20, random_state=0, ridge=1e-3).fit(X, y)
    same(model.readout_, plain.readout_)
    same(model.state_, plain.state_)
    assert model.n_features_in_ == 2
    same(model.predict(X), plain.predict(INPUTS))
    same(model.predict(X, start="last"), plain.predict(INPUTS, start="last"))


@pytest.mark.parametrize("kind", KINDS)
def test_fit_forecast_and_update(kind, tmp_path):
    y, X = (KINDS[kind](v, tmp_path, n) for v, n in ((SERIES, "y"), (KNOWN, "X")))
    plain = ESNForecaster(20, random_state=0).fit(SERIES, KNOWN)
    model = ESNForecaster(20, random_state=0).fit(y, X)
    same(model.readout_, plain.readout_)
    same(model.range_, plain.range_)
    same(model.forecast(30, KNOWN[:30]), plain.forecast(30, KNOWN[:30]))
    same(
        model.update(y, X).forecast(9, KNOWN[:9]),
        plain.update(SERIES, KNOWN).forecast(9, KNOWN[:9]),
    )
    same(model.range_, plain.range_)
    assert model.forecast(4, KNOWN[:4]).ndim == 1


FORMS = {  # each of the values below in one of these
    "unscaled log, differences and seasons": {
        "scale": None,
        "log": True,
        "difference": (7, 1),
        "season": (31.4, 12),
        "harmonics": 2,
    },
    "minmax in an output range": {"scale": "minmax", "output_range": (2.0, 9.0)},
}
MORE_FORMS = {
    "unscaled seasons": {"scale": None, "season": 31.4, "harmonics": 2},
    "log": {"log": True},
    "differences": {"difference": (7, 1)},
    "log, a difference and seasons": {"log": True, "difference": 1, "season": (31.4, 12)},
    "seasons": {"season": 31.4, "harmonics": 2},
    "an output range": {"output_range": (2.0, 9.0)},
    "minmax": {"scale": "minmax"},
    "unscaled": {"scale": None},
}


@pytest.mark.parametrize(
    "form",
    [
        *(pytest.param(form, id=name) for name, form in FORMS.items()),
        *(pytest.param(form, id=name, marks=pytest.mark.slow) for name, form in MORE_FORMS.items()),
    ],
)
def test_representations(form):
    y, X = Slices(np.stack([SERIES, SERIES[::-1]], axis=1)), Slices(KNOWN)
    options = {
        "cv": KFold(4, valid=60),
        "ridge": RIDGE,
        "metric": ["nrmse", "mae"],
        "memory": "pieces",
    }
    model = ESNForecaster(20, random_state=0, ridge=1.0, **form)
    for known, given in ((KNOWN, X), (None, None)):
        whole = cross_validate(model, y.values, known, **options)
        read = cross_validate(model, y, given, **options)
        same(read.nrmse, whole.nrmse, rtol=1e-9)
        same(read.mae, whole.mae, rtol=1e-9)
    plain, model = model.fit(y.values).forecast(20), model.fit(y)
    same(model.forecast(20), plain, rtol=1e-9)
    same(model.update(y).forecast(3), model.fit(y.values).update(y.values).forecast(3), rtol=1e-9)


SCHEMES = {
    "k-fold": KFold(4),
    "k-fold with gaps": KFold(4, gap=(20, 10)),
    "accumulative": Accumulative(3),
    "walk forward": WalkForward(4, valid=100),
}


@pytest.mark.parametrize("way", [None, "pieces", "fold", "frugal"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_cross_validation_of_a_regression(way, weights):
    X, y = Slices(INPUTS), Slices(OUTPUTS)
    options = {"ridge": RIDGE, "metric": ["nrmse", "mae", "rmse"], "readouts": True}
    clipped = ESNRegressor(20, random_state=0, output_range=(-1.0, 1.5))
    for model in (REGRESSOR, clipped):
        whole = cross_validate(
            model,
            INPUTS,
            OUTPUTS,
            cv=SCHEMES,
            memory=way or "pieces",
            sample_weight=weights,
            **options,
        )
        read = cross_validate(model, X, y, cv=SCHEMES, memory=way, sample_weight=weights, **options)
        for name in SCHEMES:
            for metric in ("nrmse", "mae", "rmse", "readout"):
                same(read[name][metric], whole[name][metric], rtol=1e-8)
            same(read[name].valid_start, whole[name].valid_start)
    assert max(X.most, y.most) <= BLOCK


@cache
def whole_forecasts(*metric):
    options = {"cv": SCHEMES, "ridge": RIDGE, "metric": list(metric)}
    return cross_validate(FORECASTER, SERIES, KNOWN, WEIGHTS, memory="pieces", **options)


@pytest.mark.parametrize("way", [None, "pieces", "fold", "frugal"])
def test_cross_validation_of_forecasts(way):
    y, X = Slices(SERIES), Slices(KNOWN)
    for metric in (["nrmse"], ["mae"], ["rmse", "mae"]):
        options = {"cv": SCHEMES, "ridge": RIDGE, "metric": metric}
        whole = whole_forecasts(*metric)
        read = cross_validate(FORECASTER, y, X, WEIGHTS, memory=way, **options)
        for name in SCHEMES:
            for one in metric:
                same(read[name][one], whole[name][one], rtol=1e-8)
    assert max(X.most, y.most) <= BLOCK


def test_intervals_of_one_step_and_constant_ones():
    flat = SERIES.copy()
    flat[600:900] = 5.0
    for cv in (KFold(20, valid=1), WalkForward(5, valid=100)):
        whole = ESNSearchCV(FORECASTER, {"ridge": RIDGE}, cv=cv, memory="pieces").fit(flat)
        read = ESNSearchCV(FORECASTER, {"ridge": RIDGE}, cv=cv).fit(Slices(flat))
        same(read.results_.nrmse, whole.results_.nrmse, rtol=1e-8)
        same(read.best_estimator_.residuals_, whole.best_estimator_.residuals_, rtol=1e-8)


@pytest.mark.parametrize("final", ["retrain", "average", "best", "weighted", "ensemble"])
def test_searches_of_forecasts(final, tmp_path):
    space = {"leak_rate": [0.4, 1.0], "ridge": RIDGE}
    options = {"cv": KFold(4, valid=200), "final": final, "n_draws": 2}
    whole = ESNSearchCV(FORECASTER, space, **options).fit(SERIES, KNOWN)
    read = ESNSearchCV(FORECASTER, space, **options).fit(mapped(SERIES, tmp_path), Slices(KNOWN))
    assert read.best_params_ == whole.best_params_
    same(read.results_.nrmse, whole.results_.nrmse, rtol=1e-8)
    found, expected = (one.forecast(10, KNOWN[:10], level=0.8) for one in (read, whole))
    same(found.to_frame(), expected.to_frame(), rtol=1e-8)
    save(read.best_estimator_, tmp_path / "model.npz")
    same(
        load(tmp_path / "model.npz").forecast(5, KNOWN[:5]), whole.forecast(5, KNOWN[:5]), rtol=1e-8
    )


@pytest.mark.parametrize("final", ["retrain", "average", "best", "weighted"])
def test_searches_of_regressions(final):
    space = {"leak_rate": [0.4, 1.0], "ridge": RIDGE}
    options = {"cv": KFold(4), "final": final, "ridge_per": "split"}
    whole = ESNSearchCV(REGRESSOR, space, **options).fit(INPUTS, OUTPUTS)
    read = ESNSearchCV(REGRESSOR, space, **options).fit(Slices(INPUTS), Slices(OUTPUTS))
    same(read.best_estimator_.readout_, whole.best_estimator_.readout_, rtol=1e-8)
    assert read.best_score_ == pytest.approx(whole.best_score_, rel=1e-10)


def test_pruned_searches():
    space = {"leak_rate": [0.1, 0.4, 1.0], "ridge": RIDGE}
    options = {"cv": KFold(4, valid=60), "prune": True}
    whole = ESNSearchCV(FORECASTER, space, **options).fit(SERIES, KNOWN)
    read = ESNSearchCV(FORECASTER, space, **options).fit(Slices(SERIES), Slices(KNOWN))
    assert read.best_params_ == whole.best_params_
    assert read.best_score_ == pytest.approx(whole.best_score_, rel=1e-10)


def test_worker_threads_and_a_checkpoint(tmp_path):
    space = {"leak_rate": [0.4, 1.0], "connectivity": [0.5, 1.0], "ridge": RIDGE}
    y = mapped(SERIES, tmp_path)
    alone = ESNSearchCV(FORECASTER, space, cv=KFold(4, valid=50)).fit(y)
    options = {"cv": KFold(4, valid=50), "checkpoint": tmp_path / "blocks"}
    first = ESNSearchCV(FORECASTER, space, n_jobs=2, **options).fit(y)
    again = ESNSearchCV(FORECASTER, space, **options).fit(y)
    for one in (first, again):
        assert np.array_equal(one.results_.nrmse, alone.results_.nrmse)
    changed = SERIES.copy()
    changed[1234] += 1e-9
    with pytest.raises(ValueError, match="data"):
        ESNSearchCV(FORECASTER, space, **options).fit(mapped(changed, tmp_path, "other"))


def test_outputs_of_long_intervals_are_not_all_kept(monkeypatch):
    monkeypatch.setattr(final_models, "KEPT_OUTPUTS", 4 * 30)
    space = {"ridge": [1.0]}
    for final in ("retrain", "weighted", "ensemble"):
        options = {"cv": KFold(4), "final": final}
        whole = ESNSearchCV(FORECASTER, space, **options).fit(SERIES)
        read = ESNSearchCV(FORECASTER, space, **options).fit(Slices(SERIES))
        kept, every = (search.best_estimator_.residuals_ for search in (read, whole))
        assert kept.shape == (4, 30, 1)
        same(kept, every[:, :30], rtol=1e-8)
        same(read.forecast(9), whole.forecast(9), rtol=1e-8)
        assert read.best_estimator_.runs_ == whole.best_estimator_.runs_ == 4
    assert read._winners.outputs("cv").outputs.shape == (4, 30, 1)


def test_metrics_of_the_user():
    def biggest(y_true, y_pred):
        return np.abs(y_true - y_pred).max()

    for model, data in ((FORECASTER, (SERIES,)), (REGRESSOR, (INPUTS, OUTPUTS))):
        options = {"cv": KFold(4, valid=50), "metric": biggest, "memory": "pieces"}
        whole = cross_validate(model, *data, **options)
        same(cross_validate(model, *map(Slices, data), **options).biggest, whole.biggest, rtol=1e-8)


def test_a_long_series_beside_a_short_one_with_dates():
    days = pd.date_range("2000-01-01", periods=ROWS)
    y = pd.Series(SERIES, days, name="level")
    whole = ESNForecaster(20, random_state=0).fit(y, KNOWN)
    read = ESNForecaster(20, random_state=0).fit(y, Slices(KNOWN))
    ahead = read.forecast(3, KNOWN[:3])
    assert ahead.index.equals(whole.forecast(3, KNOWN[:3]).index)
    same(ahead, whole.forecast(3, KNOWN[:3]))


@pytest.mark.parametrize("kind", ["memmap", "Parquet", "slices"])
def test_small_ones_are_read_as_before(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(lazy, "SMALL", 2**26)
    X, y = (KINDS[kind](v, tmp_path, n) for v, n in ((INPUTS, "X"), (OUTPUTS, "y")))
    model = ESNRegressor(20, random_state=0)
    assert np.array_equal(model.fit(X, y).readout_, model.fit(INPUTS, OUTPUTS).readout_)
    assert np.array_equal(model.predict(X), model.predict(INPUTS))
    series, known = (KINDS[kind](v, tmp_path, n) for v, n in ((SERIES, "s"), (KNOWN, "k")))
    forecaster = ESNForecaster(20, random_state=0)
    found = forecaster.fit(series, known).forecast(5, known[:5])
    assert np.array_equal(found, forecaster.fit(SERIES, KNOWN).forecast(5, KNOWN[:5]))


def test_types_and_copies(tmp_path):
    for kind in ("float32", "int16", "bool", ">f8"):
        y = np.round(10 * SERIES).astype(kind) if kind != "bool" else SERIES > 5
        read = ESNForecaster(20, random_state=0).fit(mapped(y, tmp_path, kind))
        same(read.readout_, ESNForecaster(20, random_state=0).fit(y).readout_, rtol=1e-8)
    private = np.memmap(tmp_path / "private", float, "w+", shape=(ROWS,))
    private[:] = SERIES
    private.flush()
    changed = np.memmap(tmp_path / "private", float, "c", shape=(ROWS,))
    changed[17] = 4.0  # of this process alone: must not be lost by letting pages go
    ESNForecaster(20, random_state=0).fit(changed)
    assert changed[17] == 4.0 and private[17] != 4.0


def test_nothing_is_ever_asked_for_in_whole():
    # Every way in one go; AT_ONCE, lowered by the fixture, refuses any array of more.
    y, X = Slices(SERIES), Slices(KNOWN)
    ESNForecaster(20, random_state=0).fit(y, X).update(y, X)
    ESNSearchCV(FORECASTER, {"ridge": RIDGE}, cv=KFold(3)).fit(y, X)
    assert 0 < y.most <= BLOCK and 0 < X.most <= BLOCK // 2
    with pytest.raises(MemoryError, match="blocks"):
        np.asarray(Lazy.stored(y, "y"))


def test_a_block_is_read_once_in_a_pass():
    y = Slices(SERIES)
    rows = Lazy.stored(y, "y")
    for first, block in rows.blocks():
        same(block, SERIES[first : first + len(block), None], atol=0)
        same(rows[np.arange(first, first + len(block))[::-1]], block[::-1], atol=0)
    assert y.reads == -(-ROWS // BLOCK)


@pytest.mark.parametrize("task", ["regression", "forecast"])
def test_memory_does_not_grow_with_the_series(task):
    """Peak of what Python and NumPy allocate; the values are made as they are asked for."""

    class Made:
        dtype, ndim = np.dtype(float), 1

        def __init__(self, rows, columns=None):
            self.shape = (rows,) if columns is None else (rows, columns)
            self.ndim = len(self.shape)

        def __getitem__(self, at):
            values = np.sin(np.arange(at.start, at.stop) ** 1.01)
            return values if self.ndim == 1 else values[:, None]

    def peak(rows):
        if task == "forecast":
            model, data = ESNForecaster(5, random_state=0), (Made(rows),)
        else:
            model, data = ESNRegressor(5, random_state=0), (Made(rows, 1), Made(rows))
        tracemalloc.start()
        ESNSearchCV(model, {"ridge": RIDGE}, cv=KFold(3, valid=100)).fit(*data)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(60_000)  # compiles
    small, large = peak(60_000), peak(110_000)
    assert large < small + 200_000  # bytes; the series has grown by 400,000


def test_spread_is_measured_stably():
    values = np.stack(
        [1e9 + _rng.normal(size=ROWS), np.full(ROWS, 0.1), _rng.normal(size=ROWS)], axis=1
    )
    low, high, mean, std = summary_of(Lazy.of(values))
    same(mean, values.mean(axis=0), rtol=1e-14)
    same(std[[0, 2]], values.std(axis=0)[[0, 2]], rtol=1e-9)
    assert np.array_equal(low, values.min(axis=0))
    assert np.array_equal(high, values.max(axis=0))
    for scale in ("standard", "minmax", None):
        one, other = (Scaler.learned(v, scale, "y") for v in (Lazy.of(values), values))
        same(one.center, other.center, rtol=1e-14)
        same(one.unit, other.unit, rtol=1e-9)
    same(Lazy.of(values).mean(axis=0), values.mean(axis=0), rtol=1e-14)


def test_lazy_rows_behave_as_arrays(tmp_path):
    values = _rng.normal(size=(ROWS, 2))
    rows = Lazy.stored(mapped(values, tmp_path), "y")
    assert len(rows) == ROWS and rows.shape == values.shape
    for at in (slice(3, 9), slice(-4, None), slice(600, 300), slice(490, 510)):
        assert np.array_equal(np.asarray(rows[at]), values[at])
    assert np.array_equal(np.asarray(rows[100:][50:60]), values[150:160])
    for at in ([2999, 3, 3, 1200], np.array([[0, 700], [1, 2]]), [], [41, 42, 43]):
        assert np.array_equal(rows[at], values[np.array(at, dtype=int)])
    assert np.array_equal(rows[-1], values[-1]) and np.array_equal(rows[5], values[5])
    moved = lazy.mapped(lambda block: block[2:] - block[:-2], rows[1:], lost=2)
    assert np.array_equal(np.asarray(moved[1000:1100]), (values[3:] - values[1:-2])[1000:1100])
    with pytest.raises(IndexError, match="consecutive"):
        rows[::2]


def test_other_processes_open_the_file_themselves(tmp_path):
    values = _rng.normal(size=(ROWS, 3))
    whole = mapped(values, tmp_path)
    for view in (whole, whole[100:2000], whole[:, 1], whole[::-1, :2]):
        read = lazy.BlockReader(view, "y").read
        sent = pickle.dumps(read)
        assert len(sent) < 2000
        got = pickle.loads(sent)(7, 1200)
        assert np.array_equal(got, np.asarray(view)[7:1200].reshape(len(got), -1))
    file = columns_of(values, tmp_path)
    assert np.array_equal(pickle.loads(pickle.dumps(file))[5:900], values[5:900])
    private = np.memmap(tmp_path / "map", float, "c", shape=(ROWS,))
    with pytest.raises(TypeError, match="another process.*n_jobs"):
        pickle.dumps(lazy.BlockReader(private, "y"))
    problem = ESNForecaster(20, log=True, difference=1, season=9)._read(Slices(SERIES), KNOWN)
    again = pickle.loads(pickle.dumps(problem))
    assert np.array_equal(again.targets[[5, 2000]], problem.targets[[5, 2000]])


def test_threads_read_the_same_source():
    rows = Lazy.stored(Slices(SERIES), "y")
    spans = [(a, a + 300) for a in _rng.integers(0, ROWS - 300, size=200)]
    with ThreadPoolExecutor(4) as pool:
        for (a, b), found in zip(
            spans, pool.map(lambda span: rows.read(*span), spans), strict=True
        ):
            assert np.array_equal(found[:, 0], SERIES[a:b])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_refused(bad):
    word = "missing" if np.isnan(bad) else "infinite"
    for at, which in ((1777, "y"), (2999, "X")):
        y, X = SERIES.copy(), KNOWN.copy()
        (y if which == "y" else X)[at] = bad
        with pytest.raises(
            ValueError, match=rf"{which} is {word}.* at row {at}.*np.asarray\({which}\)"
        ):
            ESNForecaster(20).fit(Slices(y), Slices(X))
        with pytest.raises(ValueError, match=rf"{which} is {word}.*column 0 at row {at}"):
            ESNRegressor(20).fit(Slices(X), Slices(y))
    model = ESNForecaster(20, random_state=0).fit(SERIES)
    y = SERIES.copy()
    y[2500] = bad
    before = model.forecast(3)
    with pytest.raises(ValueError, match="row 2500"):
        model.update(Slices(y))
    assert np.array_equal(model.forecast(3), before)


def test_what_is_wrong_is_said(tmp_path):
    y, X = Slices(SERIES), Slices(KNOWN)
    forecaster, regressor = ESNForecaster(20, random_state=0), ESNRegressor(20, random_state=0)
    raised = pytest.raises
    with raised(ValueError, match="X has 2999 rows and y has 3000"):
        forecaster.fit(y, Slices(KNOWN[1:]))
    with raised(ValueError, match="X has 3000 rows and y has 2999"):
        regressor.fit(X, Slices(SERIES[1:]))
    with raised(ValueError, match=r"X has shape \(3000,\), expected 2D"):
        regressor.fit(y, y)
    with raised(ValueError, match=r"y has shape \(3000, 2, 1\)"):
        forecaster.fit(Slices(KNOWN[:, :, None]))
    with raised(TypeError, match="y must hold real numbers, got a Slices of dtype <U"):
        forecaster.fit(Slices(SERIES.astype(str)))
    with raised(ValueError, match="log=True needs positive values, but y holds -95 in row 1500"):
        bent = SERIES.copy()
        bent[1500] = -95
        ESNForecaster(20, log=True).fit(Slices(bent))
    with raised(ValueError, match="y holds -95 in row 1500, outside of output_range"):
        ESNForecaster(20, output_range=(0, 100)).fit(Slices(bent))
    with raised(ValueError, match=r"y has 3000 values, of which difference=\(2998,\) loses 2998"):
        ESNForecaster(20, difference=(2998,)).fit(y)
    with raised(ValueError, match="in chunks of 100000000 rows, 763 MiB"):
        forecaster.fit(Slices(SERIES, chunks=(10**8,)))
    regressor.fit(X, y)
    with raised(ValueError, match="X has 1 inputs, but this network was trained on 2"):
        regressor.predict(Slices(KNOWN[:, :1]))
    for algorithm in ("naive", "large_k"):
        with raised(ValueError, match=r"this algorithm keeps the states.*algorithm='auto'"):
            cross_validate(regressor, X, y, algorithm=algorithm)
    with raised(ValueError, match="memory='states' keeps the states.*np.asarray"):
        cross_validate(forecaster, y, memory="states")
    with raised(ValueError, match="verify=True compares all outputs"):
        cross_validate(forecaster, y, verify=True)
    with raised(ValueError, match="verify=True compares all outputs"):
        ESNSearchCV(forecaster, {"ridge": [1.0]}, verify=True).fit(y)
    with raised(ValueError, match="not one interval each; a series so long"):
        cross_validate(regressor, X, y, cv=KFold(5, shuffle=True))
    with raised(ValueError, match=r"states is a Slices of shape \(3000, 2\).*np.asarray\(states\)"):
        cross_validate_readout(X, y, cv=LeaveOneOut())
    search = ESNSearchCV(forecaster, {"ridge": [1.0]}, cv=KFold(3, valid=10)).fit(y)
    for ask in (lambda: evaluate(search, y), lambda: search.report(tmp_path / "r.html")):
        with raised(ValueError, match=r"y is a Slices of shape \(3000,\).*load it yourself"):
            ask()


def test_memory_maps_are_arrays_to_whatever_looks_at_all(tmp_path):
    y, weights = mapped(SERIES, tmp_path), mapped(WEIGHTS, tmp_path, "weights")
    search = ESNSearchCV(FORECASTER, {"ridge": RIDGE}, cv=KFold(3, valid=10)).fit(y)
    found = evaluate(search, y, origins=2, horizon=10).nrmse
    same(found, evaluate(search.fit(SERIES), SERIES, origins=2, horizon=10).nrmse, rtol=1e-8)
    model = ESNForecaster(20, random_state=0).fit(y, sample_weight=weights)
    same(model.readout_, ESNForecaster(20, random_state=0).fit(SERIES, None, WEIGHTS).readout_)
    states = mapped(KNOWN, tmp_path, "states")
    same(cross_validate_readout(states, y).nrmse, cross_validate_readout(KNOWN, SERIES).nrmse)


def test_what_would_take_too_much_memory_is_refused(monkeypatch):
    monkeypatch.setattr(settings, "AT_ONCE", 8 * 1000)
    y = Slices(SERIES)
    with pytest.raises(ValueError, match=r"metric='<lambda>' needs all predictions.*valid=1000"):
        cross_validate(FORECASTER, y, metric=lambda t, p: 0.0)
    with pytest.raises(ValueError, match="prune=True keeps all 2799 validation rows.*prune=False"):
        ESNSearchCV(FORECASTER, {"ridge": RIDGE}, cv=KFold(4), prune=True).fit(y)


def test_columns_of_a_file(tmp_path, monkeypatch):
    frame = pd.DataFrame(
        {
            "load": SERIES,
            "count": np.arange(ROWS),
            "open": SERIES > 5,
            "when": pd.date_range("2020", periods=ROWS, freq="h"),
            "name": "a",
            "gap": np.where(_t == 2100, np.nan, SERIES),
        }
    )
    path = tmp_path / "file.parquet"
    frame.to_parquet(path, row_group_size=700)
    table = ParquetColumns(path, ["load", "count", "open"])
    assert table.shape == (ROWS, 3) and table.ndim == 2 and len(table) == ROWS
    assert ParquetColumns(path, "load").shape == (ROWS,)
    expected = frame[["load", "count", "open"]].to_numpy(float)
    for a, b in ((0, 3), (690, 1500), (2995, 3000), (5, 5), (0, ROWS)):
        assert np.array_equal(table[a:b], expected[a:b])
    assert np.array_equal(np.asarray(table), expected)
    assert len(table._groups) <= lazy.KEPT
    assert repr(table) == f"ParquetColumns({str(path)!r}, ['load', 'count', 'open'])"
    with pytest.raises(ValueError, match=r"no column named 'lod'; its columns are 'load', 'count'"):
        ParquetColumns(path, ["load", "lod"])
    with pytest.raises(
        TypeError, match="holds timestamp.* in column 'when', but numbers are needed"
    ):
        ParquetColumns(path, "when")
    with pytest.raises(TypeError, match=r"in column 'name'.*Encode the column"):
        ParquetColumns(path, ["load", "name"])
    with pytest.raises(ValueError, match="columns is empty"):
        ParquetColumns(path, [])
    with pytest.raises(TypeError, match="read as a slice"):
        table[3]
    gap = ParquetColumns(path, "gap")
    with pytest.raises(ValueError, match=r"missing \(NaN or null\) in column 'gap' at row 2100"):
        ESNForecaster(20).fit(gap)
    monkeypatch.setattr(lazy, "MOST", 8 * 600)
    with pytest.raises(ValueError, match="row group of 700 rows.*row_group_size"):
        ParquetColumns(path, "load")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"echofold\[parquet\]"):
        ParquetColumns(path, "load")


def test_arrays_of_other_libraries_are_no_sources():
    import jax.numpy as jnp
    import polars as pl

    for data in (SERIES, jnp.asarray(SERIES), pd.Series(SERIES), pl.Series(SERIES), list(SERIES)):
        assert not lazy.is_stored(data)
    assert not lazy.is_stored(SERIES.view(np.memmap))  # by name only


def test_progress_moves_within_a_pass(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    monkeypatch.setattr(progress, "WAIT", 0.0)
    search = ESNSearchCV(FORECASTER, {"ridge": RIDGE}, cv=KFold(3), progress=True)
    search.fit(Slices(SERIES))
    lines = capsys.readouterr().err.splitlines()
    driven = [
        re.fullmatch(r"searching: 0 of 1, (\d+)% of 2,799 rows driven", line) for line in lines
    ]
    shares = [int(found[1]) for found in driven if found]
    assert shares[-1] == 100 and len(shares) > 5 and shares == sorted(shares)
    assert any(
        re.fullmatch(r"searching: 0 of 1, \d+% of 933 steps forecast", line) for line in lines
    )
    assert any(line.startswith("making the final model: ") for line in lines)
    assert not progress._shown


def test_a_long_fit_says_how_far_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    ESNForecaster(20, random_state=0).fit(Slices(SERIES))
    cross_validate(FORECASTER, Slices(SERIES), cv=KFold(3))
    assert sys.stderr.getvalue() == ""  # short work is done before anyone asks
    monkeypatch.setattr(progress, "WAIT", 0.0)
    ESNForecaster(20, random_state=0).fit(Slices(SERIES))
    cross_validate(FORECASTER, Slices(SERIES), cv=KFold(3))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sys.stderr.getvalue())
    assert "fitting" in shown and "rows driven" in shown and "validating" in shown


PEAK = """
import sys
import numpy as np
from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold
from echofold._data import lazy
lazy.SMALL = 2**20
rows, task, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
data = np.memmap(path, float, "r", shape=(rows, 2))
if task == "forecast":
    search = ESNSearchCV(ESNForecaster(100, random_state=0), {"ridge": [1e-2, 1.0]}, cv=KFold(10))
    search.fit(data[:, 0]).forecast(10, level=0.9)
else:
    search = ESNSearchCV(ESNRegressor(100, random_state=0), {"ridge": [1e-2, 1.0]}, cv=KFold(10))
    search.fit(data[:, :1], data[:, 1])
for line in open("/proc/self/status"):  # other than getrusage, without the parent's
    if line.startswith("VmHWM"):
        print(int(line.split()[1]) / 2**10)
"""


@pytest.mark.large
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_processes_do_not_grow_with_the_series(task, tmp_path):
    peaks = []
    for rows in (2_500_000, 10_000_000):
        path = tmp_path / str(rows)
        data = np.memmap(path, float, "w+", shape=(rows, 2))
        rng = np.random.default_rng(0)
        for a in range(0, rows, 2**18):
            t = np.arange(a, min(a + 2**18, rows))[:, None]
            data[a : a + len(t)] = np.sin(t / [9, 31]) + 0.3 * rng.normal(size=(len(t), 2))
        data.flush()
        shown = subprocess.run(
            [sys.executable, "-c", PEAK, str(rows), task, str(path)], capture_output=True, text=True
        )
        assert shown.returncode == 0, shown.stderr
        peaks.append(float(shown.stdout))
    assert peaks[1] < peaks[0] + 50  # megabytes; the data have grown by 120, the states by 6,000


@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_metrics_relative_to_values_and_changes(task, tmp_path, monkeypatch):
    monkeypatch.setattr("echofold._validation.score.AT_A_TIME", 300)
    model, data = FORECASTER, (SERIES,)
    if task == "regression":
        model, data = REGRESSOR, (INPUTS, OUTPUTS + 9)
    options = {"cv": KFold(4, valid=150), "ridge": RIDGE}
    stored = [mapped(one, tmp_path, f"{i}") for i, one in enumerate(data)]
    for name in ("mase", "mape", "smape", "r2"):
        expected = cross_validate(model, *data, metric=name, **options)
        found = cross_validate(model, *stored, metric=name, **options)
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6)
    zero = data[-1].copy()
    zero[1900] = 0
    with pytest.raises(ValueError, match="y_true is 0 in row 1900"):
        cross_validate(
            model, *stored[:-1], mapped(zero, tmp_path, "zero"), metric="mape", cv=KFold(4)
        )
