"""What a readout sees equals plain NumPy in every form: driven, in closed loops, on devices."""

from itertools import combinations_with_replacement

import jax.numpy as jnp
import numpy as np
import pytest
import reference
from model_files import archive, members_of
from searches import INPUTS, LABELS, OUTPUTS, SEQUENCES, SERIES, identical, one_by_one
from sklearn.base import clone

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    cross_validate,
    load,
    save,
)
from echofold.reservoirs import NVAR

UNITS, SEED, WASHOUT = 8, 4, 20
RIDGE = [1e-4, 1e-1]


def mixed(u, x):
    """A view that hides the state."""
    return jnp.concatenate([x[:5] ** 2, u[:1] * x[3:5], jnp.ones_like(u[:1]) + u[:1] ** 2])


def polynomial(degree):
    """All products of up to ``degree`` inputs and states, without the inputs themselves."""

    def view(u, x):
        values = np.concatenate([u, x])
        products = [
            np.prod(chosen)
            for one in range(2, degree + 1)
            for chosen in combinations_with_replacement(values, one)
        ]
        return np.concatenate([x, products])

    return view


VIEWS = {  # whether inputs stand beside, and what is seen of a state
    "inputs+states": (True, lambda u, x: x),
    "states": (False, lambda u, x: x),
    "inputs+states+squares": (True, lambda u, x: np.concatenate([x, x**2])),
    "states+squares": (False, lambda u, x: np.concatenate([x, x**2])),
    "polynomial 2": (True, polynomial(2)),
    "polynomial 3": (True, polynomial(3)),
    mixed: (False, lambda u, x: np.concatenate([x[:5] ** 2, u[0] * x[3:5], [1 + u[0] ** 2]])),
}
TASKS = {
    "forecast": (ESNForecaster, (SERIES,)),
    "regression": (ESNRegressor, (INPUTS, OUTPUTS)),
    "classification": (ESNClassifier, (SEQUENCES, LABELS)),
}
NAMES = [name if isinstance(name, str) else "function" for name in VIEWS]


def fitted(task, readout, **options):
    """An estimator, and the rows of its training, from the engine."""
    cls, data = TASKS[task]
    options = {"scale": None, "random_state": SEED, "ridge": 1e-2, **options}
    model = cls(UNITS, readout=readout, **options).fit(*data)
    (rows,) = model._states(clone(model)._read(*data), SEED).kept()
    return model, rows


def seen(readout, u, x):
    """One row of what the readout sees, with its one."""
    beside, view = VIEWS[readout]
    return np.concatenate([[1.0], u if beside else [], view(u, x)])


def driven(model, readout, inputs):
    """All such rows, and the last state."""
    states = reference.run(model.W_in_, model.W_, model.leak_rate_, inputs)
    return np.array([seen(readout, u, x) for u, x in zip(inputs, states, strict=True)]), states[-1]


@pytest.mark.parametrize("readout", VIEWS, ids=NAMES)
def test_a_forecaster_equals_plain_numpy(readout):
    model, rows = fitted("forecast", readout, washout=WASHOUT)
    X, x = driven(model, readout, SERIES[:-1, None])
    np.testing.assert_allclose(rows, X[WASHOUT:, 1:], rtol=1e-10, atol=1e-12)
    W = reference.ridge(X[WASHOUT:], SERIES[1 + WASHOUT :, None], 1e-2, False)
    model.readout_, u, expected = W, SERIES[-1:], []
    for _ in range(20):
        x = reference.update(model.W_in_, model.W_, model.leak_rate_, u, x)
        u = seen(readout, u, x) @ W
        expected.append(u[0])
    np.testing.assert_allclose(model.forecast(20), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("readout", VIEWS, ids=NAMES)
def test_a_regressor_equals_plain_numpy(readout):
    model, rows = fitted("regression", readout, washout=WASHOUT)
    X, _ = driven(model, readout, INPUTS)
    np.testing.assert_allclose(rows, X[WASHOUT:, 1:], rtol=1e-10, atol=1e-12)
    W = reference.ridge(X[WASHOUT:], OUTPUTS[WASHOUT:], 1e-2, False)
    np.testing.assert_allclose(model.predict(INPUTS), X @ W, rtol=0, atol=1e-7)


@pytest.mark.parametrize("readout", VIEWS, ids=NAMES)
def test_a_classifier_equals_plain_numpy(readout):
    model, rows = fitted("classification", readout, states="mean")
    each = [driven(model, readout, u)[0] for u in SEQUENCES]
    X = np.array([one.mean(axis=0) for one in each])
    np.testing.assert_allclose(rows, X[:, 1:], rtol=1e-10, atol=1e-12)
    W = reference.ridge(X, np.eye(3)[np.unique(LABELS, return_inverse=True)[1]], 1e-2, False)
    np.testing.assert_allclose(model.decision_function(SEQUENCES), X @ W, rtol=0, atol=1e-7)


@pytest.mark.parametrize("readout", ["states", "polynomial 2", mixed])
def test_closed_loops_of_a_validation_equal_plain_numpy(readout):
    """They begin with states, which a row need not show."""
    model, _ = fitted("forecast", readout, washout=WASHOUT)
    found = cross_validate(clone(model), SERIES, cv=KFold(4), metric="mse").mse.values[:, 0]
    weights = model.W_in_, model.W_, model.leak_rate_
    X, _ = driven(model, readout, SERIES[:-1, None])
    states = reference.run(*weights, SERIES[:-1, None])[WASHOUT:]
    X, inputs, Y = X[WASHOUT:], SERIES[WASHOUT:-1, None], SERIES[1 + WASHOUT :, None]
    for split, valid in enumerate(np.array_split(np.arange(len(Y)), 4)):
        train = np.setdiff1d(np.arange(len(Y)), valid)
        W = reference.ridge(X[train], Y[train], 1e-2, False)
        u, x, errors = inputs[valid[0]], states[valid[0]], []
        for row in valid:
            u = seen(readout, u, x) @ W
            x = reference.update(*weights, u, x)
            errors.append((u - Y[row]) ** 2)
        np.testing.assert_allclose(found[split], np.mean(errors), rtol=1e-7)


SPACE = {"readout": ["states", "inputs+states+squares", "polynomial 2", mixed], "ridge": RIDGE}


def search_of(task="forecast", space=SPACE, **options):
    estimator = TASKS[task][0](UNITS, random_state=SEED, device="cpu")
    return ESNSearchCV(estimator, space, cv=KFold(4), **options)


@pytest.mark.parametrize("task", TASKS)
def test_a_search_over_views_equals_its_candidates_one_by_one(task):
    data = TASKS[task][1]
    search = search_of(task, verify=True).fit(*data)
    expected = one_by_one(search, data)["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse.values, expected, rtol=1e-7)
    assert len(set(search.results_.nrmse.values.mean(axis=(0, 2, 3)))) == 4
    if task == "forecast":
        pruned = search_of(prune=True).fit(*data)
        assert pruned.best_params_ == search.best_params_
        assert pruned.best_score_ == pytest.approx(search.best_score_, rel=1e-9)


@pytest.mark.parametrize("task", ["forecast", "regression"])
@pytest.mark.parametrize("memory", ["pieces", "fold", "frugal"])
def test_states_that_are_not_kept_give_the_same(memory, task):
    kept, other = (
        search_of(task, memory=way).fit(*TASKS[task][1]).results_.nrmse.values
        for way in ("states", memory)
    )
    np.testing.assert_allclose(other, kept, rtol=1e-6)


@pytest.mark.parametrize(  # a regression is driven as a forecast is, and has no loop to close
    "task",
    [pytest.param(one, marks=pytest.mark.slow if one == "regression" else []) for one in TASKS],
)
def test_a_device_gives_the_same(task, accelerated):
    """The processor stands in for it."""
    space = {"readout": [mixed], "leak_rate": [0.3, 1.0], "ridge": RIDGE}
    found = []
    for on in (False, True):
        accelerated(on)
        found.append(search_of(task, space).fit(*TASKS[task][1]))
    np.testing.assert_allclose(found[1].results_.nrmse, found[0].results_.nrmse, rtol=1e-7)


@pytest.mark.parametrize("readout", ["states+squares", "polynomial 2"])
def test_a_saved_view_is_the_same(readout, tmp_path):
    model, _ = fitted("forecast", readout)
    save(model, tmp_path / "kept.echofold")
    loaded = load(tmp_path / "kept.echofold")
    assert loaded.readout == readout
    assert (loaded.forecast(20) == model.forecast(20)).all()
    members = members_of(tmp_path / "kept.echofold")
    about = members["echofold.json"].replace(readout.encode(), b"states")
    (tmp_path / "kept.echofold").write_bytes(archive(members | {"echofold.json": about}))
    with pytest.raises(ValueError, match="readout_ .*shape"):
        load(tmp_path / "kept.echofold")


def test_a_function_cannot_be_saved(tmp_path):
    model, _ = fitted("forecast", mixed)
    with pytest.raises(TypeError, match="readout holds a function"):
        save(model, tmp_path / "kept.echofold")


def test_a_checkpoint_belongs_to_its_views(tmp_path):
    def run(view):
        space = {"readout": ["states", view], "ridge": RIDGE}
        return search_of("regression", space, checkpoint=tmp_path).fit(INPUTS, OUTPUTS)

    identical(run(mixed), run(mixed))
    with pytest.raises(ValueError, match="another search"):
        run(lambda u, x: x[:2])


def test_views_of_another_kind():
    """A function is given what a kind shows, not what it hides in its state."""
    model = ESNForecaster(reservoir=NVAR(2), readout=lambda u, x: x[:1], random_state=0)
    assert model.fit(SERIES).readout_.shape == (2, 1)
    squares = ESNForecaster(reservoir=NVAR(2), readout="states+squares").fit(SERIES)
    assert squares.readout_.shape == (1 + 2 * 4, 1)


WRONG = [
    ("state", "readout='state' is not allowed: it must be 'states', 'inputs\\+states'"),
    ("polynomial 6", "readout='polynomial 6' is not allowed"),
    ("squares", "readout='squares' is not allowed"),
    (3, "readout=3 is not allowed"),
    (lambda u: u, "failed for inputs of shape"),
    (lambda u, x: x[0], "expected .features, 3.: networks are side by side"),
    (lambda u, x: x[:0], "expected .features, 3."),
]


@pytest.mark.parametrize(
    ("readout", "message"), WRONG, ids=lambda value: value if isinstance(value, str) else "given"
)
def test_what_is_wrong_is_named(readout, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(UNITS, readout=readout).fit(SERIES)


def test_a_polynomial_of_too_many_columns_is_refused():
    with pytest.raises(ValueError, match="columns, more than 20000. Use fewer units"):
        ESNForecaster(300, readout="polynomial 3").fit(SERIES)
