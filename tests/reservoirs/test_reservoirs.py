"""A second kind of reservoir, all of it in one class, goes wherever the paper's goes."""

import numpy as np
import pytest
import reference
from kinds import Ring
from model_files import archive, array, members_of
from scipy.sparse import csr_array
from searches import INPUTS, LABELS, OUTPUTS, SEQUENCES, SERIES, identical, one_by_one
from sklearn.base import clone

from echofold import ESNClassifier, ESNForecaster, ESNRegressor, ESNSearchCV, KFold, load, save
from echofold.reservoirs import Leaky

RIDGE = [1e-6, 1e-2]


TASKS = {
    "forecast": (ESNForecaster, (SERIES,)),
    "regression": (ESNRegressor, (INPUTS, OUTPUTS)),
    "classification": (ESNClassifier, (SEQUENCES, LABELS)),
}


def plain_states(model, inputs, x=None):
    """What the readout sees beside ones and inputs, by a loop in NumPy; and the last state."""
    activation = {"tanh": np.tanh, "sine": np.sin}[model.reservoir.activation]
    x = np.zeros(model.reservoir.units) if x is None else x
    rows = []
    for u in inputs:
        x = activation(model.V_ @ (model.gains_ * u) + model.ring_ * np.roll(x, 1))
        rows.append(np.concatenate([x, x[::2] ** 2]) if model.reservoir.squares else x)
    return np.array(rows), x


def ring_of(**options):
    return Ring(**{"units": 11, "strength": 0.7, **options})


@pytest.mark.parametrize("options", [{}, {"squares": False}, {"activation": "sine"}])
def test_a_forecaster_equals_a_plain_loop(options):
    y = SERIES - SERIES.mean()
    fixed = {"scale": None, "washout": 20, "ridge": 1e-6}
    model = ESNForecaster(reservoir=ring_of(**options), random_state=4, **fixed)
    model.fit(y)
    inputs = y[:-1, None]
    rows, x = plain_states(model, inputs)
    W = reference.ridge(reference.extended(inputs, rows)[20:], y[21:, None], 1e-6, False)
    assert np.allclose(model.state_, x, rtol=0, atol=1e-12)
    assert np.allclose(model.readout_, W, rtol=1e-6, atol=1e-8)
    value, expected = y[-1:], []
    for _ in range(30):
        (row,), x = plain_states(model, value[None], x)
        value = np.concatenate([[1.0], value, row]) @ model.readout_
        expected.append(value[0])
    assert np.allclose(model.forecast(30), expected, rtol=0, atol=1e-9)
    assert np.allclose(model.update(expected[:5]).forecast(25), expected[5:], rtol=0, atol=1e-9)


def test_a_regressor_equals_a_plain_loop():
    model = ESNRegressor(reservoir=ring_of(), random_state=4, scale=None, washout=20)
    model.fit(INPUTS, OUTPUTS)
    rows, _ = plain_states(model, INPUTS)
    X = reference.extended(INPUTS, rows)
    W = reference.ridge(X[20:], OUTPUTS[20:], 1e-6, False)
    assert np.allclose(model.predict(INPUTS), X @ W, rtol=0, atol=1e-8)


@pytest.mark.parametrize("states", ["last", "mean", 3])
def test_a_classifier_equals_a_plain_loop(states):
    model = ESNClassifier(reservoir=ring_of(), random_state=4, scale=None, states=states)
    model.set_params(ridge=1e-6).fit(SEQUENCES, LABELS)
    features = []
    for u in SEQUENCES:
        rows, _ = plain_states(model, u)
        if states == "mean":
            features.append(np.concatenate([[1.0], u.mean(axis=0), rows.mean(axis=0)]))
            continue
        count = 1 if states == "last" else states
        at = [int(np.ceil((i + 1) * len(u) / count)) - 1 for i in range(count)]
        features.append(np.concatenate([[1.0], u[at].ravel(), rows[at].ravel()]))
    targets = np.eye(3)[np.unique(LABELS, return_inverse=True)[1]]
    W = reference.ridge(np.array(features), targets, 1e-6, False)
    assert np.allclose(model.decision_function(SEQUENCES), features @ W, rtol=0, atol=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_a_search_equals_its_candidates_one_by_one(task):
    cls, data = TASKS[task]
    space = {"reservoir__strength": [0.2, 0.9], "reservoir__activation": ["tanh", "sine"],
             "ridge": RIDGE}  # fmt: skip
    estimator = cls(reservoir=ring_of(), random_state=4)
    search = ESNSearchCV(estimator, space, cv=KFold(4), n_draws=2, verify=True).fit(*data)
    expected = one_by_one(search, data)["nrmse"]
    assert np.allclose(search.results_.nrmse.values, expected, rtol=1e-8)
    assert sorted(set(search.results_.reservoir__strength.values)) == [0.2, 0.9]
    for final in ("retrain", "average"):
        assert isinstance(search.finalize(final).reservoir_, Ring)
    if task == "forecast":
        pruned = clone(search).set_params(prune=True).fit(*data)
        assert pruned.best_params_ == search.best_params_
        assert pruned.best_score_ == pytest.approx(search.best_score_, rel=1e-10)
        assert search.forecast(5, level=0.8).lower[0.8].shape == (5,)


def test_kinds_compete_in_one_search():
    kinds = [Leaky(12, leak_rate=0.3), Leaky(12), Ring(12), Ring(20, squares=False)]
    estimator = ESNForecaster(random_state=4)
    search = ESNSearchCV(estimator, {"reservoir": kinds, "ridge": RIDGE}, cv=KFold(4)).fit(SERIES)
    assert np.allclose(
        search.results_.nrmse.values, one_by_one(search, (SERIES,))["nrmse"], rtol=1e-8
    )
    alone = ESNSearchCV(
        ESNForecaster(12, random_state=4), {"leak_rate": [0.3, 1.0], "ridge": RIDGE}, cv=KFold(4)
    ).fit(SERIES)
    assert (alone.results_.nrmse.values == search.results_.nrmse.values[:, :2]).all()
    assert type(search.best_estimator_.reservoir_) in (Leaky, Ring)


@pytest.mark.parametrize("memory", ["pieces", "fold", "frugal"])
def test_states_that_are_not_kept_give_the_same(memory):
    space = {"reservoir__strength": [0.2, 0.9], "ridge": RIDGE}
    estimator = ESNRegressor(reservoir=ring_of(), random_state=4)
    kept, other = (
        ESNSearchCV(estimator, space, cv=KFold(4), memory=way).fit(INPUTS, OUTPUTS)
        for way in ("states", memory)
    )
    found, expected = other.results_.nrmse.values, kept.results_.nrmse.values
    assert np.allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("task", TASKS)
def test_a_saved_model_predicts_the_same_bits(task, tmp_path):
    cls, data = TASKS[task]
    model = cls(reservoir=ring_of(activation="sine"), random_state=4).fit(*data)
    save(model, tmp_path / "ring.echofold")
    loaded = load(tmp_path / "ring.echofold")
    assert loaded.reservoir.get_params() == model.reservoir.get_params()
    use = {"forecast": lambda m: m.forecast(9), "regression": lambda m: m.predict(INPUTS),
           "classification": lambda m: m.decision_function(SEQUENCES)}[task]  # fmt: skip
    assert (use(loaded) == use(model)).all()


def test_files_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "ring.echofold"
    save(ESNForecaster(reservoir=ring_of(), random_state=4).fit(SERIES), path)
    members = members_of(path)

    def refused(message, **changes):
        path.write_bytes(archive(members | changes))
        with pytest.raises(ValueError, match=message):
            load(path)

    about = members["echofold.json"]
    refused("V_ .*shape", **{"V_.npy": array(np.ones((3, 1)))})
    refused("finite", **{"gains_.npy": array([np.nan])})
    unknown = about.replace(b"kinds.Ring", b"kinds.Rong")
    refused("Rong.*import what defines it first", **{"echofold.json": unknown})
    missing = about.replace(b'"strength": 0.7', b'"strangth": 0.7')
    refused("a Reservoir of class", **{"echofold.json": missing})
    wild = about.replace(b'"strength": 0.7', b'"strength": 7.5')
    refused("strength=7.5 is not allowed", **{"echofold.json": wild})


def test_a_checkpoint_belongs_to_its_kinds(tmp_path):
    def run(*kinds):
        return ESNSearchCV(
            ESNForecaster(random_state=4), {"reservoir": list(kinds), "ridge": RIDGE},
            cv=KFold(4), checkpoint=tmp_path / "kept",
        ).fit(SERIES)  # fmt: skip

    ring, given = Ring(9), Leaky(9, W=csr_array(np.diag(np.full(9, 0.5))))
    identical(run(ring, given), run(ring, given))
    with pytest.raises(ValueError, match="another search"):
        run(Ring(9, strength=0.81), given)
    with pytest.raises(ValueError, match="another search"):
        run(ring, Leaky(9, W=csr_array(np.diag(np.full(9, 0.4)))))


def test_a_model_keeps_the_kind_it_was_fitted_with():
    model = ESNForecaster(reservoir=ring_of(), random_state=4).fit(SERIES)
    before = model.forecast(5)
    model.set_params(reservoir__strength=0.1)
    assert (model.forecast(5) == before).all()
    model.set_params(reservoir=Leaky(5))
    assert (model.forecast(5) == before).all()
    model.fit(SERIES)
    assert model.W_.shape == (5, 5)
    assert not hasattr(model, "V_")


def test_bad_reservoirs_are_named():
    with pytest.raises(TypeError, match="reservoir='ring' is no reservoir"):
        ESNForecaster(reservoir="ring").fit(SERIES)
    with pytest.raises(ValueError, match="units=50 belongs to .* but reservoir is a Ring"):
        ESNForecaster(50, reservoir=Ring()).fit(SERIES)
    with pytest.raises(ValueError, match=r"strength=3 is not allowed"):
        ESNForecaster(reservoir=Ring(strength=3)).fit(SERIES)
    with pytest.raises(ValueError, match=r"strength=3 is not allowed"):
        search = ESNSearchCV(ESNForecaster(reservoir=Ring()), {"reservoir__strength": [0.1, 3]})
        search.fit(SERIES)
