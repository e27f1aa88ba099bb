"""Model files that `save` did not write: made to do harm, with checksums that fit, or by hand."""

import json
import re
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest
from model_files import archive, array, members_of, npy, with_fitted, with_params
from scipy.sparse import csr_array

from echofold import ESNClassifier, ESNForecaster, ESNRegressor, ESNSearchCV, load, save
from echofold._persistence import expected as _expected

ROWS = 80
RNG = np.random.default_rng(0)
Y = np.sin(np.arange(ROWS) / 4) + 0.1 * RNG.normal(size=ROWS)
X = RNG.normal(size=(ROWS, 2))
REFUSED = "not a file saved by echofold, or it is damaged"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.echofold"


@pytest.fixture
def saved(path):
    model = ESNForecaster(10, random_state=1).fit(pd.Series(Y))
    save(model, path)
    return model


@pytest.fixture
def sparse(path):
    """Members of a forecaster whose W_ is sparse, with two connections for each unit."""
    save(ESNForecaster(20, connectivity=0.1, random_state=1).fit(Y), path)
    return members_of(path)


def assert_refused(path, members, message):
    path.write_bytes(archive(members))
    with pytest.raises(ValueError, match=REFUSED) as caught:
        load(path)
    assert re.search(message, str(caught.value)), caught.value


def test_an_archive_that_was_only_packed_again_loads(sparse, path):
    path.write_bytes(archive(sparse))
    assert load(path).forecast(3).shape == (3,)


@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        ("indices", [10**9] * 40, "points outside of 20 columns"),
        ("indices", [20] + [0] * 39, "points outside"),
        ("indices", [-1] + [0] * 39, "points outside"),
        ("indices", [0] * 39, "40 values, 39 indices"),
        ("indptr", [0] * 20 + [10**9], "does not rise from 0 to 40"),
        ("indptr", [*range(0, 38, 2), 10**9, 40], "does not rise"),
        ("indptr", [40] + [0] * 19 + [40], "does not rise"),
        ("indptr", [*range(0, 42, 2), 40], "22 pointers"),
        ("indptr", [0] * 20 + [40], "40 connections in one row"),
        ("data", [np.nan] * 40, "finite"),
    ],
)
def test_sparse_weights_stay_inside_their_matrix(sparse, path, part, values, message):
    kind = "<f8" if part == "data" else "<i8"
    assert_refused(path, sparse | {f"W_.{part}.npy": array(values, kind)}, message)


def test_given_sparse_weights_stay_inside_their_matrix(path):
    W = csr_array(np.eye(20))
    save(ESNForecaster(20, W=W, random_state=1).fit(Y), path)
    assert_refused(
        path, members_of(path) | {"W.indices.npy": array([10**9] * 20, "<i4")}, "points outside"
    )


def overlapping(size, times):
    """An archive of ``times`` members; each contains all that follow, and zeros."""
    body, directory = b"\0" * size, b""
    for i in range(times):
        name, sizes = b"%05d" % i, (zlib.crc32(body), len(body), len(body), 5)
        header = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, *sizes, 0) + name
        body = header + body
        entry = struct.pack("<4s6H3L5H", b"PK\1\2", 20, 20, 0, 0, 0, 33, *sizes, 0, 0, 0, 0)
        place = (times - 1 - i) * len(header)
        directory = entry + struct.pack("<2L", 0, place) + name + directory
    end = struct.pack("<4H2LH", 0, 0, times, times, len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + end


def test_overlapping_members_take_no_memory(path):
    path.write_bytes(overlapping(1_000_000, 200))
    with zipfile.ZipFile(path) as file:
        assert sum(member.file_size for member in file.infolist()) > 200_000_000
    assert_little_memory(path, "overlaps another")


def assert_little_memory(path, message=""):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 2 * path.stat().st_size + 50_000_000


MANY = b",".join([b'"ab"'] * 149_000)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 1_000_000,
        b"[" + b"[]," * 1_300_000 + b"0]",
        b'["' + b"x" * 3_900_000 + b"\\ud83d\\ude00" + b'"]',
        b"[" + MANY + b"]",
        b'"' * 3_999_999,
        b'{"format": 1, "class": "ESNRegressor", "params": {"W": {"strings": [' + MANY + b"]}}}",
    ],
    ids=["deep", "wide", "characters", "strings", "quotes", "names"],
)
def test_hostile_json_takes_little_memory(sparse, path, text):
    path.write_bytes(archive(sparse | {"echofold.json": text}))
    assert_little_memory(path, REFUSED)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("state_.npy", npy("<f8", (10**14,), b"\0" * 160)),  # was a MemoryError
        (
            "echofold.json",
            b'{"format": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        ),  # RecursionError
        ("state_.npy", npy("", (), b"", header="{'descr': '<f8', ")),  # was a TokenError
        ("state_.npy", b""),  # was an EOFError
        ("state_.npy", npy("<f8", (20,), b"\0" * 100)),
        ("state_.npy", npy("<f8", (20,), b"\0" * 161)),
        ("state_.npy", npy("|O", (20,), b"\0" * 160)),
        ("state_.npy", npy("<U0", (20,), b"")),
        ("state_.npy", npy("<f8", (-20,), b"\0" * 160)),
        ("state_.npy", npy("", (), b"", header="(" * 900)),
        ("state_.npy", npy("", (), b"\0" * 160, header="[('x', '<f8')]")),
    ],
)
def test_only_value_errors_come_from_members(sparse, path, name, content):
    assert_refused(path, sparse | {name: content}, "cannot be read|do not fit together")


@pytest.mark.parametrize(
    "params",
    [
        {"ridge": 10**400},  # was an OverflowError
        {"leak_rate": {"float": "nan"}},
        {"input_scaling": {"list": [10**400]}},
        {"input_scaling": {"strings": ["a"]}},
        {"washout": {"tuple": []}},
        {"device": "../../x"},
        {"device": {"list": []}},
        {"W": {"list": [1]}},
        {"units": 21},
        {"extra": 1},
    ],
)
def test_only_value_errors_come_from_parameters(sparse, path, params):
    assert_refused(path, with_params(sparse, **params), "cannot be read|do not fit together")


TIME = {"kind": "dates", "last": "2024-01-01T00:00:00", "step": "D", "rows": 80, "name": None}
TIME |= {"unit": "ns", "tz": None}
AWARE = TIME | {"last": "2024-01-01T00:00:00+00:00"}
PERIOD = {"kind": "periods", "last": 600, "step": "M", "rows": 80, "name": None}


@pytest.mark.parametrize(
    "time",
    [
        TIME | {"step": "99999999999999999999D"},  # was an OverflowError
        TIME | {"step": "0D"},
        TIME | {"step": "-1D"},
        TIME | {"step": "1D" * 10_000},
        TIME | {"step": 7},
        TIME | {"last": "today"},
        TIME | {"last": "0000-01-01T00:00:00"},
        TIME | {"last": "9999-12-31T00:00:00"},
        AWARE | {"tz": "dateutil//etc/hostname"},
        AWARE | {"tz": "Europe"},  # was an IsADirectoryError
        AWARE | {"tz": "../Europe/Vilnius"},
        TIME | {"unit": "D"},
        TIME | {"rows": 2**63},
        TIME | {"rows": 0},
        TIME | {"rows": True},
        TIME | {"name": {"list": []}},
        TIME | {"kind": "integers"},
        PERIOD | {"last": 10**30},
        PERIOD | {"last": 2**62},
        PERIOD | {"last": None},
        PERIOD | {"step": "5000000000M"},
        PERIOD | {"kind": "integers", "step": 0},
        PERIOD | {"kind": "rows"},
    ],
)
def test_only_value_errors_come_from_timelines(saved, path, time):
    members = members_of(path)
    for fine in (TIME, AWARE | {"tz": "Europe/Vilnius"}, PERIOD):
        path.write_bytes(archive(with_fitted(members, timeline_={"Timeline": fine})))
        assert len(load(path).forecast(3)) == 3
    assert_refused(path, with_fitted(members, timeline_={"Timeline": time}), "do not fit together")


def test_the_end_of_the_calendar_is_a_value_error(saved, path):
    ends = TIME | {"last": "2262-04-11T00:00:00"}
    path.write_bytes(archive(with_fitted(members_of(path), timeline_={"Timeline": ends})))
    with pytest.raises(ValueError, match="cannot be continued by 3 rows of D after 2262-04-11"):
        load(path).forecast(3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("last_", array([1.0, 2.0]), r"last_ .* shape \(2,\), expected float64 of shape \(1\)"),
        ("last_", array([np.nan]), "last_ .* finite"),
        ("readout_", array(np.ones((21, 1))), r"readout_ .* shape \(21, 1\), expected .*\(22, 1\)"),
        ("readout_", array(np.ones(22)), "readout_"),
        ("readout_", array(np.ones((22, 2))), r"readout_ .* shape \(22, 2\), expected .*\(22, 1\)"),
        ("readout_", array(np.full((22, 1), np.inf)), "finite"),
        ("readout_", array(np.ones((22, 1)), "<f4"), "readout_ .* float32"),
        ("y_scaler_.center", array([0.0, 0.0]), "y_scaler_.center"),
        ("y_scaler_.unit", array([[1.0]]), "y_scaler_.unit"),
        ("y_scaler_.unit", array([0.0]), "positive"),
        ("state_", array(np.zeros(19)), "state_"),
        ("W_in_", array(np.zeros((19, 2))), "W_in_"),
        ("W_in_", array(np.zeros((20, 1))), "W_in_"),
    ],
)
def test_arrays_fit_each_other(sparse, path, name, content, message):
    assert_refused(path, sparse | {f"{name}.npy": content}, message)


@pytest.mark.parametrize(
    "values",
    [
        {"leak_rate_": 0.0},
        {"leak_rate_": 1.5},
        {"seed_": 1.5},
        {"condition_": None},
        {"y_schema_": None},
        {"y_schema_": {"Schema": {"kind": "numpy", "names": None, "flat": True}}},
        {"X_schema_": {"Schema": {"kind": "numpy", "names": None, "flat": True,
                                  "holds": {"tuple": ["numbers"]}}}},
        {"timeline_": {"Timeline": TIME}},
        {"n_features_in_": 1},
        {"residuals_": {"array": "state_.npy"}},
    ],
)  # fmt: skip
def test_fitted_values_are_what_fit_leaves(sparse, path, values):
    assert_refused(path, with_fitted(sparse, **values), "do not fit together")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"classes_.npy": array([1, 0], "<i8")}, "sorted labels"),
        ({"classes_.npy": array([1, 1], "<i8")}, "sorted labels"),
        ({"classes_.npy": array([0, 1, 2], "<i8")}, "one for each of 2 outputs"),
        ({"classes_.npy": array([[0, 1]], "<i8")}, "classes_"),
        ({"classes_.npy": array([0, np.nan])}, "finite labels"),
        ({"classes_.npy": npy("|b1", (2,), b"\0\2")}, "neither a boolean"),
        ({"classes_.npy": npy("<U1", (2,), b"\0" * 4 + b"\xff" * 4)}, "nor a character"),
        ({"summaries_": {"tuple": [2]}}, "readout_"),
        ({"summaries_": {"tuple": [-1]}}, "summaries_"),
        ({"summaries_": {"tuple": ["first"]}}, "summaries_"),
        ({"leak_rate_": 2.0}, "leak_rate_"),
        ({"n_features_in_": 0}, "n_features_in_"),
        ({"feature_names_in_": {"strings": ["a"]}}, "feature_names_in_"),
    ],
)
def test_classifiers_fit_together(path, members, message):
    save(ESNClassifier(20, random_state=1).fit(RNG.normal(size=(6, 4)), [0, 1] * 3), path)
    arrays = {k: v for k, v in members.items() if k.endswith(".npy")}
    others = {k: v for k, v in members.items() if k not in arrays}
    assert_refused(path, with_fitted(members_of(path), **others) | arrays, message)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"output_range_.npy": array([[1.0], [0.0]])}, "low ends below high ends"),
        ({"output_range_.npy": array([[0.0, 0.0], [1.0, 1.0]])}, "output_range_"),
        ({"output_range_.npy": array([[np.nan], [1.0]])}, "low ends below"),
        ({"n_features_in_": 3}, "n_features_in_"),
        ({"feature_names_in_": {"strings": ["a"]}}, "feature_names_in_"),
        ({"feature_names_in_": {"strings": ["a", 1]}}, "feature_names_in_"),
        ({"last_.npy": array([0.0]), "last_": {"array": "last_.npy"}}, "W_in_"),
    ],
)
def test_regressors_fit_together(path, members, message):
    frame = pd.DataFrame(X[:ROWS], columns=["wind", "sun"])
    save(ESNRegressor(20, random_state=1, output_range=(0, 1)).fit(frame, Y), path)
    arrays = {k: v for k, v in members.items() if k.endswith(".npy")}
    others = {k: v for k, v in members.items() if k not in arrays}
    assert_refused(path, with_fitted(members_of(path), **others) | arrays, message)


def forecasters():
    """Forecasters that have every fitted value between them."""
    grown = ESNForecaster(10, random_state=0, log=True, difference=(1,), season=6)
    search = ESNSearchCV(grown, {"ridge": [1.0]}, cv=3).fit(Y + 2, X)
    return search.best_estimator_, ESNForecaster(10, output_range=(-9, 9), steps=3).fit(Y)


FITTED = {
    ESNForecaster: forecasters,
    ESNRegressor: lambda: [
        ESNRegressor(10, feedback=True).fit(pd.DataFrame({"wind": Y}), Y),
        ESNRegressor(10).fit(RNG.normal(size=(6, 4, 2)), np.arange(6.0)),
    ],
    ESNClassifier: lambda: [ESNClassifier(10).fit(pd.DataFrame({"first": Y, "next": -Y}), Y > 0)],
}


@pytest.mark.parametrize("cls", FITTED)
def test_every_parameter_and_fitted_value_has_its_check(cls):
    fitted = set()
    for model in FITTED[cls]():
        own = {name for name in vars(model) if name.endswith("_")}
        fitted |= own - model.reservoir_.stored.keys() - {"reservoir_"}
    assert fitted == _expected.NETWORK.keys() | cls._stored.keys()
    assert set(cls._get_param_names()) <= _expected.PARAMETERS.keys()


def test_a_member_belongs_to_one_value(sparse, path):
    assert_refused(path, sparse | {"more.npy": array([1.0])}, "more.npy.* belong to no value")
    twice = with_fitted(sparse, residuals_={"array": "state_.npy"})
    assert_refused(path, twice, "not there or taken already")


def test_what_would_not_load_is_not_saved(path):
    model = ESNForecaster(20, random_state=1).fit(Y)
    model.set_params(units=30)
    with pytest.raises(ValueError, match="changed since it was fitted.*W_in_.*Fit it again"):
        save(model, path)
    assert not path.exists()


# --- the format ---------------------------------------------------------------------------------


def by_hand(W, about):
    """Members of a forecaster with ten units, written down from docs/format.md."""
    W_in = np.column_stack([np.linspace(-0.3, 0.2, 10), np.linspace(0.5, -0.4, 10)])
    readout = np.linspace(-0.2, 0.3, 12)[:, None]
    state, last = np.linspace(-0.5, 0.5, 10), np.array([0.7])
    fitted = {
        "W_in_": {"array": "a.npy"}, "W_": about, "leak_rate_": 0.5, "readout_": {"array": "b.npy"},
        "state_": {"array": "c.npy"}, "seed_": 0, "condition_": {"float": "inf"},
        "y_schema_": {"Schema": {"kind": "numpy", "names": None, "flat": True,
                                 "holds": {"tuple": ["numbers"]}}},
        "X_schema_": None, "X_scaler_": None, "timeline_": None, "residuals_": None,
        "y_scaler_": {"Scaler": {"center": {"array": "d.npy"}, "unit": {"array": "e.npy"}}},
        "last_": {"array": "f.npy"},
    }  # fmt: skip
    params = {
        "units": 10, "leak_rate": 0.5, "spectral_radius": None, "input_scaling": 1.0, "W": None,
        "bias_scaling": 1.0, "connectivity": 1.0, "ridge": 1e-6, "penalize_bias": False,
        "W_in": None, "washout": "auto", "scale": "standard", "random_state": None, "device": "cpu",
        "reservoir": None, "readout": "inputs+states", "output_range": None, "log": False,
        "difference": {"tuple": []}, "season": None, "harmonics": 3, "steps": "closed",
        "pool": "all", "shrink": 10.0,
    }  # fmt: skip
    text = {"format": 1, "class": "ESNForecaster", "params": params, "fitted": fitted}
    members = {"echofold.json": json.dumps(text).encode(), "a.npy": array(W_in)}
    members |= {"b.npy": array(readout), "c.npy": array(state), "d.npy": array([10.0])}
    members |= {"e.npy": array([2.0]), "f.npy": array(last)}
    x, u, expected = state, last, []
    for _ in range(3):
        x = 0.5 * x + 0.5 * np.tanh(W_in @ np.r_[1, u] + W @ x)
        u = np.r_[1, u, x] @ readout
        expected.append(10 + 2 * u[0])
    return members, expected


@pytest.mark.parametrize("stored", ["dense", "sparse"])
def test_a_file_made_by_hand_loads(path, stored):
    W = np.zeros((10, 10))
    W[np.arange(10), (3 * np.arange(10) + 1) % 10] = np.linspace(-0.9, 0.8, 10)
    if stored == "dense":
        members, expected = by_hand(W, {"array": "W.npy"})
        members["W.npy"] = array(W)
    else:
        parts = {name: {"array": f"{name}.npy"} for name in ("data", "indices", "indptr")}
        members, expected = by_hand(W, {"csr": parts | {"shape": {"tuple": [10, 10]}}})
        members["data.npy"] = array(np.linspace(-0.9, 0.8, 10))
        members["indices.npy"] = array((3 * np.arange(10) + 1) % 10, "<i4")
        members["indptr.npy"] = array(np.arange(11), "<i4")
    path.write_bytes(archive(members))
    model = load(path)
    np.testing.assert_allclose(model.forecast(3), expected, rtol=1e-12)
    model.W_in_[0, 0] = 0.0  # as after fit, its arrays can be written to
    assert model.condition_ == np.inf


def test_sizes_that_are_said_twice_must_agree(saved, path, monkeypatch):
    """As Python before 3.11.4 writes members that are nearly too large for 32 bits."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 300)
    save(saved, path)
    content = bytearray(path.read_bytes())
    at = content.index(b"W_in_.npy") - 30
    size = content[at + 30 + 9 + 4 :][:4]
    for sizes, right in ((size, True), (b"\xff" * 4, True), (b"\1\1\0\0", False)):
        content[at + 18 : at + 26] = sizes * 2
        path.write_bytes(content)
        if right:
            load(path)
        else:
            with pytest.raises(ValueError, match=r"header of member W_in_\.npy is damaged"):
                load(path)


def test_an_archive_of_large_members_loads(saved, path, monkeypatch):
    """From 2 GiB on, sizes are stored elsewhere; here that limit is low."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 300)
    expected = saved.forecast(3)
    save(saved, path)
    content = path.read_bytes()
    assert b"PK\6\6" in content
    pd.testing.assert_series_equal(load(path).forecast(3), expected, check_exact=True)
    refused = 0
    for at in range(0, len(content), 13):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :])
        try:
            load(path)
        except ValueError as error:
            refused += "echofold" in str(error)
    assert refused > 0.8 * len(range(0, len(content), 13))
