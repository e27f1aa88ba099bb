"""Summaries of sequences, and the bank that they are made of by default, against plain loops."""

import warnings

import numpy as np
import pytest

from echofold import (
    EchofoldWarning,
    ESNClassifier,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    cross_validate,
    load,
    save,
)
from echofold._engine.summaries import Features
from echofold._folds.algorithms import fit_rows
from echofold._folds.leave_out import Decomposed
from echofold.reservoirs import Bank, Leaky

RNG = np.random.default_rng(5)
LENGTHS = [9, 1, 14, 5, 2, 30, 7, 12, 3, 21, 8, 16]
SEQUENCES = [RNG.normal(size=(n, 2)) * RNG.uniform(0.5, 2) + RNG.normal() for n in LENGTHS]
LABELS = np.arange(12) % 3
SMALL = {"units": 5, "members": 3, "longest": 9}
CUBE = lambda x: x**3  # noqa: E731
SUMMARIES = {
    "all": None,
    "some": ("max", "spread", 3),
    "one": "change",
    "positions": 4,
    "a function": (CUBE, "mean", abs),
}


def summed_up(values, items):
    """Features of ``values (time, columns)``, those of each column for every summary."""
    found = []
    for one in items:
        if one == "mean":
            found.append(values.mean(axis=0))
        elif one == "spread":
            found.append(np.sqrt(((values - values.mean(axis=0)) ** 2).mean(axis=0)))
        elif one == "share":
            found.append((values > 0).sum(axis=0) / len(values))
        elif one == "max":
            found.append(values.max(axis=0))
        elif one == "change":
            steps = [np.abs(values[t] - values[t - 1]) for t in range(1, len(values))]
            found.append(np.mean(steps, axis=0) if steps else 0 * values[0])
        elif one == "last":
            found.append(values[-1])
        elif callable(one):
            found.append(np.mean([np.asarray(one(row)) for row in values], axis=0))
        else:
            found += [values[-(-i * len(values) // one) - 1] for i in range(1, one + 1)]
    return np.array(found)


def inputs_of(model, sequence):
    """What the network is given: scaled, in its own units, or both beside each other."""
    u = (sequence - model.X_scaler_.center) / model.X_scaler_.unit
    if not model.normalize_:
        return u
    own = u - u.mean(axis=0)
    own = np.where(own.std(axis=0) > 1e-9, own / np.maximum(own.std(axis=0), 1e-12), 0.0)
    return np.hstack([u, own]) if model.normalize_ == "both" else own


def states_of(model, u):
    """States of a bank, unit by unit and member by member."""
    bank, x, found = model.reservoir_, np.zeros(len(model.W_in_)), []
    for t in range(len(u)):
        seen = [u[t]]
        for delay in bank._delays:
            seen.append(u[t - delay] if t >= delay else np.zeros(u.shape[1]))
        driven = model.W_in_ @ np.concatenate([[1.0], *seen])
        for member, W in enumerate(model.W_):
            at = slice(member * bank.units, (member + 1) * bank.units)
            driven[at] += W @ x[at]
        x = (1 - model.leak_rates_) * x + model.leak_rates_ * np.tanh(driven)
        found.append(x)
    return np.array(found)


def features_of(model, sequences):
    rows = []
    for one in sequences:
        u = inputs_of(model, one)
        parts = [summed_up(values, model.summaries_) for values in (u, states_of(model, u))]
        rows.append(np.concatenate([one.ravel() for one in parts]))
    return np.array(rows)


def units_of(model, F):
    """Standard deviations of features, or a hundredth of what is usual beside their sizes."""
    u = np.concatenate([inputs_of(model, one) for one in SEQUENCES])
    places = F.shape[1] // (u.shape[1] + len(model.W_in_))
    units = np.abs(F[:, places * u.shape[1] :]).reshape(len(F), places, -1).max(axis=(0, 1))
    sizes = [np.tile(np.abs(u).max(axis=0), places), np.tile(units, places)]
    sizes, spread = np.maximum(np.concatenate(sizes), np.abs(F).max(axis=0)), F.std(axis=0)
    seen = spread > 1e-9 * sizes
    least = 0.01 * np.median(spread[seen] / sizes[seen]) * sizes
    return np.where(seen, np.maximum(spread, least), np.inf) * np.sqrt(seen.sum())


def fitted(Z, Y, ridge, rows):
    """A readout ``(bias, weights)`` of some rows, by the dual form."""
    A, B = Z[rows] - Z[rows].mean(axis=0), Y[rows] - Y[rows].mean(axis=0)
    w = A.T @ np.linalg.solve(A @ A.T + ridge * np.eye(len(rows)), B)
    return Y[rows].mean(axis=0) - Z[rows].mean(axis=0) @ w, w


@pytest.mark.parametrize("normalize", [False, True, "both"])
@pytest.mark.parametrize("case", SUMMARIES)
def test_a_classifier_equals_a_plain_loop(case, normalize):
    model = ESNClassifier(
        reservoir=Bank(**SMALL), summaries=SUMMARIES[case], normalize=normalize, ridge=0.1,
        random_state=3,
    ).fit(SEQUENCES, LABELS)  # fmt: skip
    F, Y = features_of(model, SEQUENCES), np.eye(3)[LABELS]
    assert model.readout_.shape == (1 + F.shape[1], 3)
    unit = units_of(model, F)
    Z = F / unit
    bias, w = fitted(Z, Y, 0.1, np.arange(12))
    np.testing.assert_allclose(model.decision_function(SEQUENCES), bias + Z @ w, atol=1e-9)
    new = [one[::-1] for one in SEQUENCES[:6]]
    Z = features_of(model, new) / unit
    np.testing.assert_allclose(model.decision_function(new), bias + Z @ w, atol=1e-9)


@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k"])
@pytest.mark.parametrize("scheme", [KFold(4), LeaveOneOut()], ids=str)
def test_a_validation_equals_a_loop_that_refits(scheme, algorithm):
    model = ESNClassifier(reservoir=Bank(**SMALL), normalize="both", random_state=3, ridge=0.1)
    model.fit(SEQUENCES, LABELS)
    F, Y = features_of(model, SEQUENCES), np.eye(3)[LABELS]
    Z = F / units_of(model, F)
    path, expected = [1e-6, 1e-2, 3.0], []
    for train, valid in scheme.split(Z):
        each = [fitted(Z, Y, ridge, train) for ridge in path]
        expected.append([np.abs(Y[valid] - bias - Z[valid] @ w).mean() for bias, w in each])
    found = cross_validate(
        model, SEQUENCES, LABELS, cv=scheme, ridge=path, metric="mae", algorithm=algorithm,
        verify=True, readouts=True,
    )  # fmt: skip
    np.testing.assert_allclose(found.mae, expected, rtol=1e-7)
    # Readouts of splits are those of features, whatever rows they were solved on.
    train, valid = next(iter(scheme.split(Z)))
    W = found.readout.values[0, 1]
    bias, w = fitted(Z, Y, path[1], train)
    np.testing.assert_allclose(W[0] + F[valid] @ W[1:], bias + Z[valid] @ w, atol=1e-8)


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 13.0)])
@pytest.mark.parametrize("penalised", [False, True])
def test_errors_left_out_alone_are_those_of_fits(penalised, weights):
    model = ESNRegressor(reservoir=Bank(**SMALL), random_state=3, penalize_bias=penalised)
    data, numbers = {"sample_weight": weights}, [one.std() for one in SEQUENCES]
    fast, plain = (
        cross_validate(
            model, SEQUENCES, numbers, cv=LeaveOneOut(), ridge=[1e-6, 1e-2, 1.0], metric="mae",
            algorithm=algorithm, **data,
        ).mae
        for algorithm in ("large_k", "naive")
    )  # fmt: skip
    np.testing.assert_allclose(fast, plain, rtol=1e-8)


def test_the_ridge_is_that_of_leave_one_out():
    from echofold._models.sequences import PATH

    model = ESNClassifier(reservoir=Bank(**SMALL), random_state=3).fit(SEQUENCES, LABELS)
    found = cross_validate(
        model, SEQUENCES, LABELS, cv=LeaveOneOut(), ridge=PATH, metric=["mse", "accuracy"],
        algorithm="naive",
    )  # fmt: skip
    best = int(found.mse.mean("split").values.argmin())
    assert model.ridge_ == PATH[best]
    assert model.validated_ == pytest.approx(float(found.accuracy.mean("split")[best]))
    fixed = ESNClassifier(reservoir=Bank(**SMALL), random_state=3, ridge=PATH[best])
    fixed.fit(SEQUENCES, LABELS)
    np.testing.assert_array_equal(fixed.readout_, model.readout_)
    assert not hasattr(model.set_params(ridge=1.0).fit(SEQUENCES, LABELS), "ridge_")


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("shape", [(12, 40), (40, 12), (14, 13), (13, 13), (13, 14), (60, 3)])
def test_what_is_known_of_all_rows_is_known_of_each_left_out(shape, penalised):
    rng = np.random.default_rng(4)
    X = rng.normal(size=shape) * np.logspace(0, -4, shape[1]) @ rng.normal(size=shape[1:] * 2)
    X[1], X[3] = X[0], X[2]  # sequences that are the same
    Y, path = rng.normal(size=(len(X), 2)) + 3, np.array([1e-6, 1e-3, 10.0])
    features = Features(X, np.ones(shape[1]))
    rows = features.rows
    found = Decomposed(*features.factors, Y, penalised)
    expected = [fit_rows(np.delete(rows, i, 0), np.delete(Y, i, 0), None, path, penalised)
                for i in range(len(X))]  # fmt: skip
    expected = [Y[i] - W[:, 0] - rows[i] @ W[:, 1:] for i, W in enumerate(expected)]
    np.testing.assert_allclose(found.residuals(path), expected, rtol=1e-7, atol=1e-9)
    W = fit_rows(rows, Y, None, path, penalised)
    np.testing.assert_allclose(found.readouts(path), W, rtol=1e-6, atol=1e-8)


def test_a_regressor_of_sequences_is_the_same():
    numbers = np.array([[one.mean(), one.std()] for one in SEQUENCES])
    model = ESNRegressor(reservoir=Bank(**SMALL), ridge=0.1, random_state=3, scale=None)
    model.fit(SEQUENCES, numbers)
    F = features_of(model, SEQUENCES)
    Z = F / units_of(model, F)
    bias, w = fitted(Z, numbers, 0.1, np.arange(12))
    np.testing.assert_allclose(model.predict(SEQUENCES), bias + Z @ w, atol=1e-9)
    auto = ESNRegressor(random_state=3).fit(SEQUENCES, numbers)
    assert isinstance(auto.reservoir_, Bank) and auto.normalize_ == "both" and auto.ridge_ > 0
    found = cross_validate(
        auto, SEQUENCES, numbers, cv=LeaveOneOut(), ridge=auto.ridge_, metric=lambda a, b: 0.0
    )
    assert found.sizes["split"] == 12 and auto.validated_ < 1


def test_what_auto_stands_for():
    by_default = ESNClassifier(random_state=0).fit(SEQUENCES, LABELS)
    assert isinstance(by_default.reservoir_, Bank) and by_default.normalize_ == "both"
    for given in ({"units": 7}, {"leak_rate": 0.5}, {"W_in": np.ones((100, 3))}):
        model = ESNClassifier(**given, random_state=0).fit(SEQUENCES, LABELS)
        assert isinstance(model.reservoir_, Leaky) and model.normalize_ is False
    series = ESNRegressor(random_state=0).fit(SEQUENCES[5], SEQUENCES[5][:, 0])
    assert isinstance(series.reservoir_, Leaky) and not hasattr(series, "ridge_")
    plain = ESNRegressor(random_state=0, ridge=1e-6, reservoir=None)
    plain.fit(SEQUENCES[5], SEQUENCES[5][:, 0])
    np.testing.assert_array_equal(series.readout_, plain.readout_)


def test_a_search_finds_what_auto_stands_for():
    data = 2 * SEQUENCES, np.tile(LABELS, 2)
    search = ESNSearchCV(ESNClassifier(random_state=0), cv=3, progress=False).fit(*data)
    assert {"reservoir", "normalize", "ridge"} == set(search.best_params_)
    assert search.results_.sizes["candidate"] == 4
    again = ESNClassifier(random_state=0).set_params(**search.best_params_).fit(*data)
    found, expected = (one.decision_function(SEQUENCES) for one in (search, again))
    np.testing.assert_allclose(found, expected, atol=1e-8)
    space = {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9]}
    search = ESNSearchCV(ESNClassifier(random_state=0), space, cv=3, progress=False).fit(*data)
    assert isinstance(search.best_estimator_.reservoir_, Leaky)  # with its defaults among them, too
    for final in ("average", "best", "weighted"):
        model = search.finalize(final)
        assert model.decision_function(SEQUENCES).shape == (12, 3)


@pytest.mark.parametrize("final", ["average", "best", "weighted", "retrain"])
def test_final_models_are_made_of_readouts_of_splits(final):
    data = 2 * SEQUENCES, np.tile(LABELS, 2)
    model, cv = ESNClassifier(reservoir=Bank(**SMALL), random_state=3, normalize=False), KFold(3)
    search = ESNSearchCV(model, {"ridge": [0.1]}, cv=cv, progress=False, final=final).fit(*data)
    found = cross_validate(model, *data, cv=cv, ridge=0.1, metric="rmse", readouts=True)
    each, errors = found.readout.values[:, 0], found.rmse.values[:, 0]
    retrained = model.set_params(ridge=0.1).fit(*data).readout_
    weights = errors**-2 / (errors**-2).sum()
    expected = {
        "average": each.mean(axis=0), "best": each[errors.argmin()],
        "weighted": np.tensordot(weights, each, 1), "retrain": retrained,
    }[final]  # fmt: skip
    np.testing.assert_allclose(search.best_estimator_.readout_, expected, atol=1e-9)


# --- missing values, unequal lengths, and little to learn from ----------------------------------


def test_missing_values_are_the_last_known_ones():
    holes = [one.copy() for one in SEQUENCES]
    holes[2][[0, 5, 6], 0] = np.nan
    holes[5][29, 1] = np.nan
    full = [one.copy() for one in holes]
    full[2][0, 0], full[2][5:7, 0], full[5][29, 1] = full[2][1, 0], full[2][4, 0], full[5][28, 1]
    model = ESNClassifier(random_state=0, scale=None)
    with pytest.warns(EchofoldWarning, match="4 of 256 values are missing .* in 2 of 12 sequences"):
        model.fit(holes, LABELS)
    plain = ESNClassifier(random_state=0, scale=None).fit(full, LABELS)
    np.testing.assert_array_equal(model.readout_, plain.readout_)
    with pytest.warns(EchofoldWarning, match="values are missing"):
        found = model.decision_function(holes)
    np.testing.assert_array_equal(found, plain.decision_function(full))


def test_an_input_without_a_value_in_a_sequence_is_its_mean():
    holes = [one.copy() for one in SEQUENCES]
    holes[3][:, 1] = np.nan
    known = np.concatenate([one[:, 1] for i, one in enumerate(SEQUENCES) if i != 3])
    with pytest.warns(EchofoldWarning, match="or the mean of all where there is none"):
        model = ESNClassifier(random_state=0).fit(holes, LABELS)
    assert model.X_scaler_.center[1] == pytest.approx(known.mean())
    holes[3][:, 1] = model.X_scaler_.center[1]
    with pytest.warns(EchofoldWarning):
        found = model.decision_function([*SEQUENCES[:3], SEQUENCES[3] * [1, np.nan]])[3]
    np.testing.assert_allclose(found, model.decision_function(holes)[3], atol=1e-9)


def test_steps_without_a_value_at_the_end_of_an_array_are_none():
    padded = np.full((12, 30, 2), np.nan)
    for i, one in enumerate(SEQUENCES):
        padded[i, : len(one)] = one
    models = [ESNClassifier(random_state=0).fit(X, LABELS) for X in (padded, SEQUENCES)]
    assert np.array_equal(models[0].readout_, models[1].readout_)
    assert np.array_equal(models[0].predict(padded), models[1].predict(SEQUENCES))
    table = padded[:, :, 0]
    models = [ESNClassifier(random_state=0).fit(X, LABELS)
              for X in (table, [one[:, 0] for one in SEQUENCES])]  # fmt: skip
    assert np.array_equal(models[0].readout_, models[1].readout_)


@pytest.mark.parametrize(
    ("labels", "of"),
    [
        ([0, 0, 0, 0, 1], 4),  # the only one of its class cannot be left out
        ([0, 1, 2, 3, 4], 0),
        ([0, 0, 1, 1, 1], 5),
        ([1, 0], 0),
    ],
)
def test_single_sequences_of_a_class_are_never_left_out(labels, of, monkeypatch):
    from echofold._models import sequences

    seen, plain = [], sequences.left_out

    def watched(source, rows, *args):
        seen.append(len(rows))
        return plain(source, rows, *args)

    monkeypatch.setattr(sequences, "left_out", watched)
    model = ESNClassifier(random_state=0).fit(SEQUENCES[: len(labels)], labels)
    assert seen == [of] * bool(of)
    assert np.isnan(model.validated_) == (not of)
    assert model.ridge_ > 0 and np.isfinite(model.decision_function(SEQUENCES)).all()


def test_where_one_sequence_alone_is_trained_on_the_ridge_is_one():
    weights = np.zeros(12)
    weights[3] = 1.0
    model = ESNRegressor(random_state=0).fit(SEQUENCES, LENGTHS, weights)
    assert model.ridge_ == 1 and np.isnan(model.validated_)
    np.testing.assert_allclose(model.predict(SEQUENCES), LENGTHS[3])


@pytest.mark.parametrize(
    "sequences",
    [
        [np.full((10, 1), float(i % 2)) for i in range(8)],  # told apart by their level alone
        [np.full((1, 1), float(i % 2)) for i in range(8)],
        [np.full((3 + 4 * (i % 2), 1), 2.0) for i in range(8)],  # by their lengths
    ],
    ids=["constant", "single steps", "lengths"],
)
def test_constant_sequences(sequences):
    model = ESNClassifier(random_state=0).fit(sequences, np.arange(8) % 2)
    assert model.score(sequences, np.arange(8) % 2) == 1 and model.validated_ == 1


def test_equal_sequences_give_shares_of_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ESNClassifier(random_state=0).fit(8 * [np.ones((5, 2))], [0, 0, 0, 0, 0, 0, 1, 1])
    outputs = model._outputs([np.ones((5, 2)), RNG.normal(size=(9, 2))])
    np.testing.assert_allclose(outputs, [[0.75, 0.25]] * 2, atol=1e-12)


def test_labels_in_order_are_told_as_well_as_mixed():
    rng = np.random.default_rng(0)
    waves = [np.sin(np.arange(40) / (3 + i // 10) + rng.uniform(0, 6)) for i in range(40)]
    labels, mixed = np.arange(40) // 10, rng.permutation(40)
    sorted_, shuffled = (
        ESNSearchCV(ESNClassifier(random_state=0), progress=False).fit(*data)
        for data in ((waves, labels), ([waves[i] for i in mixed], labels[mixed]))
    )
    assert sorted_.best_score_ == pytest.approx(shuffled.best_score_, rel=0.3)
    new = [np.sin(np.arange(40) / (3 + i // 10) + 1) for i in range(40)]
    assert sorted_.score(new, labels) == shuffled.score(new, labels) == 1


# --- the space of the rows, and the kind itself ---------------------------------------------------


@pytest.mark.parametrize("shape", [(8, 30), (30, 8), (8, 8), (2, 5)])
def test_rows_have_the_products_of_features(shape):
    X = np.random.default_rng(1).normal(size=shape) * np.logspace(0, 6, shape[1]) + 3
    X[:, 1] = 7.0  # the same for all
    found = Features(X.copy(), np.ones(shape[1]))
    Z = np.delete((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1), 1, axis=1)
    Z /= np.sqrt(shape[1] - 1)
    np.testing.assert_allclose(found.rows @ found.rows.T, Z @ Z.T, atol=1e-12)
    W = np.random.default_rng(2).normal(size=(2, 3, 1 + found.rows.shape[1], 4))
    back = found.readout(W)
    assert back.shape == (2, 3, 1 + shape[1], 4) and not back[..., 2, :].any()
    expected = W[..., :1, :] + found.rows @ W[..., 1:, :]
    np.testing.assert_allclose(back[..., :1, :] + X @ back[..., 1:, :], expected, atol=1e-9)


def test_a_feature_that_hardly_differs_has_no_unit_of_its_own():
    """A state near one in all sequences is not thousands of units away in the next one."""
    X = np.random.default_rng(1).normal(size=(20, 9))
    X[:, 4] = 1 - 1e-7 * np.abs(X[:, 4])
    found, other = Features(X, np.ones(9)), X[0].copy()
    other[4] = 0.9
    w = found.readout(np.ones((10, 1)))[1:, 0]
    assert np.abs((other - X[0]) @ w) < 100
    # In one of 25 sets of noise the R² of new sequences was -9471.
    rng = np.random.default_rng(13)
    noise = [rng.normal(size=(30, 1)) for _ in range(420)]
    numbers = rng.normal(size=420)
    model = ESNRegressor(random_state=13).fit(noise[:20], numbers[:20])
    assert np.abs(model.predict(noise[20:])).max() < 5
    # Nor does a swing that is much smaller, or over after a step, have outputs without bounds.
    swings = [np.sin(np.arange(80) / (4 + 4 * (i % 2)) + i) for i in range(40)]
    model = ESNClassifier(random_state=0).fit(swings, np.arange(40) % 2)
    for one in (lambda x: 0.1 * x, lambda x: x[:3], lambda x: 0 * x):
        assert np.abs(model.decision_function([one(x) for x in swings])).max() < 20


def test_a_bank_is_drawn_from_its_ranges():
    bank = Bank(8, members=50, leak_rate=(0.1, 0.5), spectral_radius=(0.3, 1.2), longest=6)
    model = ESNClassifier(reservoir=bank, random_state=0, normalize=False)
    model.fit(SEQUENCES, LABELS)
    radii = np.abs(np.linalg.eigvals(model.W_)).max(axis=1)
    quickest = model.leak_rates_ >= 0.5
    assert abs(quickest.mean() - 0.2) < 0.06 and (model.leak_rates_ <= 0.5).all()
    for values, low, high in ((model.leak_rates_[~quickest], 0.1, 0.5), (radii, 0.3, 1.2)):
        assert low <= values.min() < 1.2 * low and 0.8 * high < values.max() <= high * (1 + 1e-9)
        share = (values < np.sqrt(low * high)).mean()  # evenly in logarithms
        assert abs(share - 0.5) < 0.2
    assert bank._delays == [1, 2, 3, 4]
    seen = model.W_in_[:, 1:].reshape(400, 5, 2)
    assert abs((seen[:, 1:] != 0).any(axis=(1, 2)).mean() - bank.delayed) < 0.1
    assert abs((seen[:, 0] != 0).all(axis=1).mean() - 0.25) < 0.15  # of two inputs mostly one
    fixed = Bank(8, members=3, leak_rate=0.3, spectral_radius=0.7, longest=0, delayed=1.0)
    model.set_params(reservoir=fixed).fit(SEQUENCES, LABELS)
    assert model.W_in_.shape == (24, 3) and (model.leak_rates_ == 0.3).all()
    np.testing.assert_allclose(np.abs(np.linalg.eigvals(model.W_)).max(axis=1), 0.7)


def test_candidates_of_a_bank_share_a_draw():
    space = {"reservoir__leak_rate": [(0.1, 1.0), 0.5], "reservoir__input_scaling": [1.0, (1, 2)]}
    estimator = ESNClassifier(reservoir=Bank(**SMALL), random_state=0, normalize=True)
    data = 2 * SEQUENCES, np.tile(LABELS, 2)
    search = ESNSearchCV(estimator, space, cv=KFold(3), progress=False).fit(*data)
    for place, one in enumerate(search.candidates_):
        alone = estimator.set_params(**one)
        path = search.results_.ridge.values
        found = cross_validate(alone, *data, cv=KFold(3), ridge=path).nrmse
        np.testing.assert_allclose(search.results_.nrmse[0, place], found, rtol=1e-7)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"leak_rate": 0}, "leak_rate=0 is not allowed: it must be a number in"),
        ({"leak_rate": (0.1, 2)}, "leak_rate=2 is not allowed"),
        ({"leak_rate": (0.1, 0.2, 0.3)}, "leak_rate=.* or a pair of these"),
        ({"spectral_radius": (1.0, 0.5)}, "the lower one first"),
        ({"input_scaling": -1.0}, "input_scaling=-1.0"),
        ({"members": 0}, "members=0"),
        ({"units": 5000, "members": 50}, "250000 units, more than 100000"),
        ({"longest": -1}, "longest=-1"),
        ({"delayed": 1.5}, "delayed=1.5"),
        ({"bias_scaling": np.nan}, "bias_scaling=nan"),
    ],
)
def test_bad_banks_are_refused_in_words(params, message):
    with pytest.raises(ValueError, match=message):
        ESNClassifier(reservoir=Bank(**params)).fit(SEQUENCES, LABELS)


def test_files_hold_summaries_but_no_functions(tmp_path):
    path = tmp_path / "model"
    model = ESNClassifier(random_state=0).fit(SEQUENCES, LABELS)
    save(model, path)
    loaded = load(path)
    assert (loaded.summaries_, loaded.normalize_) == (model.summaries_, "both")
    assert (loaded.ridge_, loaded.validated_) == (model.ridge_, model.validated_)
    assert np.array_equal(loaded.predict_proba(SEQUENCES), model.predict_proba(SEQUENCES))
    model = ESNClassifier(random_state=0, summaries=("mean", CUBE)).fit(SEQUENCES, LABELS)
    with pytest.raises(TypeError, match="summaries"):
        save(model, path)
