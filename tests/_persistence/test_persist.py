import json
import os
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from model_files import checksums
from scipy.sparse import csr_array

from echofold import ESNClassifier, ESNForecaster, ESNRegressor, load, save
from echofold.reservoirs import Bank

UNITS, ROWS = 40, 80
RNG = np.random.default_rng(0)
Y = np.sin(np.arange(ROWS) / 4) + 0.1 * RNG.normal(size=ROWS)
X = RNG.normal(size=(ROWS + 5, 2))
SEQUENCES = [RNG.normal(size=(n, 2)) for n in range(3, 15)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.echofold"


def through(model, path):
    save(model, path)
    return load(path)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(3, 3 + 2 * ROWS, 2, name="step"),
        pd.date_range("2024-01-31", periods=ROWS, freq="ME", name="month"),
        pd.date_range("2024-03-01", periods=ROWS, freq="h", tz="Europe/Vilnius").as_unit("s"),
        pd.date_range("2024-03-01", periods=ROWS, freq="7D", tz="UTC"),
        pd.period_range("2000-01", periods=ROWS, freq="M"),
        pd.Index([f"row {i}" for i in range(ROWS)]),
    ],
)
def test_forecaster_goes_on_after_loading(index, path):
    y = pd.Series(Y, index=index, name="load")
    model = ESNForecaster(UNITS, connectivity=0.05, random_state=1).fit(y)
    loaded = through(model, path)
    pd.testing.assert_series_equal(loaded.forecast(5), model.forecast(5), check_exact=True)
    new = [0.1, -0.3]
    pd.testing.assert_series_equal(
        loaded.update(new).forecast(5), model.update(new).forecast(5), check_exact=True
    )
    assert loaded.get_params() == model.get_params()
    assert type(loaded.W_) is csr_array


def test_everything_fitted_comes_back(path):
    y = pd.DataFrame({("a", 1): Y, ("b", 2): Y**2})
    known = pl.DataFrame(X[:ROWS], schema=["wind", "sun"])
    model = ESNForecaster(
        UNITS, W=csr_array(RNG.normal(size=(UNITS, UNITS))), input_scaling=[1, 0.5, 2, 1],
        random_state=np.random.default_rng(0), ridge=np.float64(0.1), scale="minmax",
    ).fit(y, known)  # fmt: skip
    model.residuals_ = RNG.normal(size=(4, 3, 2))
    loaded = through(model, path)
    assert np.array_equal(loaded.residuals_, model.residuals_)
    assert loaded.random_state == model.seed_
    assert loaded.input_scaling == [1, 0.5, 2, 1]
    assert np.array_equal(loaded.W.toarray(), model.W.toarray())
    pd.testing.assert_frame_equal(
        loaded.forecast(5, X[ROWS:]), model.forecast(5, X[ROWS:]), check_exact=True
    )
    with pytest.raises(ValueError, match="lacks"):
        loaded.forecast(5, pd.DataFrame(X[ROWS:], columns=["wind", "rain"]))


def test_regressor_predicts_bit_for_bit(path):
    frame = pd.DataFrame(X[:ROWS], columns=["wind", "sun"])
    targets = np.column_stack([Y, -Y])
    model = ESNRegressor(UNITS, random_state=1, output_range=(-0.5, np.inf)).fit(frame, targets)
    loaded = through(model, path)
    assert loaded.output_range == (-0.5, np.inf)
    for start in ("zero", "last"):
        assert np.array_equal(loaded.predict(frame, start), model.predict(frame, start))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[["sun", "wind"]])


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["yes", "no"] * 6),
        np.array(["yes", "no"] * 6, dtype=object),
        pd.Series(["yes", "no", "maybe"] * 4),
        [True, False] * 6,
        [3, 1, 2] * 4,
    ],
)
@pytest.mark.parametrize(
    "how",
    [
        {"units": UNITS, "states": "mean"},
        {"units": UNITS, "states": 3},
        {"reservoir": Bank(5, members=3)},
        {"reservoir": Bank(5, members=3, longest=0), "summaries": ("max", 2), "normalize": True},
    ],
)
def test_classifier_predicts_bit_for_bit(labels, how, path):
    model = ESNClassifier(**how, random_state=1).fit(SEQUENCES, labels)
    loaded = through(model, path)
    outputs = model.decision_function(SEQUENCES)
    assert np.array_equal(loaded.decision_function(SEQUENCES), outputs)
    assert np.array_equal(loaded.predict(SEQUENCES), model.predict(SEQUENCES))
    assert loaded.classes_.dtype == model.classes_.dtype


def test_the_kind_of_an_estimator_can_be_asked_for(path):
    save(ESNForecaster(UNITS, random_state=1).fit(pd.Series(Y)), path)
    assert type(load(path, ESNForecaster)) is ESNForecaster
    assert type(load(path, ESNForecaster[pd.Series])) is ESNForecaster  # what checkers are told
    with pytest.raises(TypeError, match="holds an ESNForecaster, expected an ESNRegressor"):
        load(path, ESNRegressor)


def test_equal_estimators_make_equal_files(path, tmp_path):
    model = ESNForecaster(UNITS, random_state=1).fit(Y)
    save(model, path)
    save(ESNForecaster(UNITS, random_state=1).fit(Y), tmp_path / "other")
    assert path.read_bytes() == (tmp_path / "other").read_bytes()
    save(load(path), tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


# --- damage -------------------------------------------------------------------------------------

REFUSED = "not a file saved by echofold, or it is damaged"


@pytest.fixture
def saved(path):
    model = ESNForecaster(10, random_state=1).fit(pd.Series(Y))
    save(model, path)
    return model


def test_every_truncation_is_refused(saved, path):
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 61), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=REFUSED):
            load(path)


def test_a_changed_byte_is_refused_or_changes_nothing(saved, path):
    whole = path.read_bytes()
    expected, refused = saved.forecast(3), 0
    for at in range(0, len(whole), 17):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            loaded = load(path)
        except ValueError as error:
            assert "echofold" in str(error)
            refused += 1
        else:
            pd.testing.assert_series_equal(loaded.forecast(3), expected, check_exact=True)
    assert refused > 0.8 * len(range(0, len(whole), 17))


def rewrite(path, change, sums=True):
    """Rewrite a saved file with changed members, and checksums that fit unless told."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stale = members.pop("sha256.txt")
    change(members)
    members["sha256.txt"] = checksums(members) if sums else stale
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def edit(**changes):
    """A change of top-level entries of the JSON."""

    def change(members):
        about = json.loads(members["echofold.json"])
        members["echofold.json"] = json.dumps(about | changes).encode()

    return change


def edit_fitted(**changes):
    def change(members):
        about = json.loads(members["echofold.json"])
        about["fitted"] |= changes
        members["echofold.json"] = json.dumps(about).encode()

    return change


def pickled(members):
    import io
    import pickle

    content = io.BytesIO()
    np.save(content, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    members["readout_.npy"] = content.getvalue()
    assert pickle.dumps({"a": 1}, 4)[:2] in content.getvalue()


@pytest.mark.parametrize(
    ("change", "sums", "message"),
    [
        (edit(params={}), False, "checksums do not match"),
        (lambda members: members.update(extra=b"1"), False, "checksums do not match"),
        (lambda members: members.pop("echofold.json"), True, "missing"),
        (lambda members: members.pop("W_.npy"), True, "do not fit together"),
        (edit(format=2), True, "format 2, this version of echofold reads format 1.*upgrade"),
        (edit(**{"class": "Popen"}), True, "do not fit together"),
        (edit(params={"units": 10}), True, "do not fit together"),
        (edit(params={"args": "ls"}), True, "do not fit together"),
        (edit(fitted={}), True, "missing"),
        (edit_fitted(forecast=1), True, r"unexpected \['forecast'\]"),
        (edit_fitted(__class__=1), True, "unexpected"),
        (edit_fitted(state_={"array": "W_.npy"}), True, "do not fit together"),
        (edit_fitted(seed_={"eval": "1"}), True, "do not fit together"),
        (pickled, True, "not an array of plain numbers"),
        (lambda members: members.update({"echofold.json": b"{"}), True, "cannot be read"),
    ],
)
def test_changed_contents_are_refused(saved, path, change, sums, message):
    rewrite(path, change, sums)
    with pytest.raises(ValueError, match=message):
        load(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04N.", b"PK\x05\x06" + b"\0" * 18])
def test_foreign_files_are_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=REFUSED):
        load(path)


def test_compressed_members_are_refused(saved, path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="compressed"):
        load(path)


def test_a_missing_file_is_reported_as_such(path):
    with pytest.raises(FileNotFoundError):
        load(path)


# --- writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_an_interrupted_save_leaves_the_old_file_whole(saved, path, monkeypatch, broken):
    before = path.read_bytes()
    other = ESNForecaster(12, random_state=2).fit(Y)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(OSError, match="disk full"):
        save(other, path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_saving_replaces_an_earlier_file(saved, path):
    other = ESNForecaster(12, random_state=2).fit(Y)
    save(other, str(path))
    assert np.array_equal(load(path).forecast(3), other.forecast(3))


def test_what_cannot_be_saved(path):
    with pytest.raises(TypeError, match="estimator must be one of ESNForecaster.*got.*dict"):
        save({}, path)
    with pytest.raises(ValueError, match="not fitted yet"):
        save(ESNForecaster(), path)
    trading = pd.date_range(
        "2024-01-01", periods=ROWS, freq=pd.offsets.CustomBusinessDay(holidays=["2024-12-25"])
    )
    model = ESNForecaster(UNITS, random_state=0).fit(pd.Series(Y, index=trading))
    with pytest.raises(ValueError, match="frequency.*cannot be stored"):
        save(model, path)
    named = pd.DataFrame({pd.Timestamp("2024"): Y})
    with pytest.raises(TypeError, match=r"y_schema_.names.0 holds a Timestamp"):
        save(ESNForecaster(UNITS, random_state=0).fit(named), path)
    assert not path.exists()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_without_a_name(frame, path):
    model = ESNForecaster(UNITS, random_state=0).fit(frame({"": Y}))
    assert list(through(model, path).forecast(2).columns) == [""]
