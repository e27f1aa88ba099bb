"""Every kind of reservoir equals its equations, and goes wherever the paper's goes."""

from copy import deepcopy

import numpy as np
import pytest
import reference
from kinds import KINDS, PLAIN, SEARCHED, UNITS, Bucket, Counter, dense, init, phases
from model_files import archive, array, members_of
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
from echofold._engine.weights import Sparse
from echofold._search import runner
from echofold.reservoirs import (
    NVAR,
    Custom,
    Deep,
    EdgeOfStability,
    Foreign,
    Leaky,
    Plastic,
    Reservoir,
)

SEED = 4
WASHOUT = 20
RIDGE = [1e-4, 1e-1]
FIXED = {"scale": None, "random_state": SEED, "ridge": 1e-2}
TASKS = {
    "forecast": (ESNForecaster, (SERIES,)),
    "regression": (ESNRegressor, (INPUTS, OUTPUTS)),
    "classification": (ESNClassifier, (SEQUENCES, LABELS)),
}
USES = {
    "forecast": lambda model: model.forecast(30),
    "regression": lambda model: model.predict(INPUTS),
    "classification": lambda model: model.decision_function(SEQUENCES),
}


def fitted(task, kind, **options):
    """An estimator with a kind, and the rows of its training, from the engine."""
    cls, data = TASKS[task]
    model = cls(reservoir=kind, **{**FIXED, **options}).fit(*data)
    (rows,) = model._states(clone(model)._read(*data), SEED).kept()
    return model, rows


def plain_rows(plain, inputs, training):
    """What is seen of states, row by row, and the last state."""
    x, rows = plain.rest, []
    for n, u in enumerate(inputs):
        x = plain.step(x, u, n if training else None)
        rows.append(plain.look(x, u))
    return np.array(rows), x


def test_columns_are_the_values_of_parameters_by_default():
    kinds = [Leaky(5, leak_rate=rate, input_scaling=np.full(2, rate)) for rate in (0.1, 0.5)]
    columns = Reservoir.columns(kinds[0], None, kinds, 2)
    assert list(columns) == list(Leaky.parameters)
    assert columns["leak_rate"].tolist() == [0.1, 0.5]
    assert columns["input_scaling"].tolist() == [[0.1, 0.5], [0.1, 0.5]]
    assert Reservoir.columns(NVAR(), None, [NVAR(), NVAR()], 2)["candidate"].shape == (2,)


@pytest.mark.parametrize("name", KINDS)
def test_a_forecaster_equals_the_equations(name):
    model, rows = fitted("forecast", KINDS[name], washout=WASHOUT)
    plain, inputs = PLAIN[type(model.reservoir_)](model), SERIES[:-1, None]
    seen, _ = plain_rows(plain, inputs, training=True)
    _, x = plain_rows(plain, inputs, training=False)  # what a trained network goes on from
    X = reference.extended(inputs, seen)[WASHOUT:]
    np.testing.assert_allclose(rows, X[:, 1:], rtol=1e-10, atol=1e-10)
    W = reference.ridge(X, SERIES[1 + WASHOUT :, None], 1e-2, False)
    np.testing.assert_allclose(X @ model.readout_, X @ W, rtol=0, atol=1e-9)
    model.readout_, u, expected = W, SERIES[-1:], []
    for _ in range(30):
        x = plain.step(x, u)
        u = np.concatenate([[1.0], u, plain.look(x, u)]) @ W
        expected.append(u[0])
    np.testing.assert_allclose(model.forecast(30), expected, rtol=0, atol=1e-10)
    later = model.update(expected[:5]).forecast(30)[:25]
    np.testing.assert_allclose(later, expected[5:], rtol=0, atol=1e-10)


OWN_PROGRAMS = [  # the others differ in how their matrices are drawn
    "swish", "noise", "ring", "deeper", "edge", "nvar, spaced", "custom, looked at",
    "foreign, held", "bank, longer", "plastic",
]  # fmt: skip


@pytest.mark.parametrize("name", OWN_PROGRAMS)
def test_a_regressor_equals_the_equations(name):
    model, rows = fitted("regression", KINDS[name], washout=WASHOUT)
    plain = PLAIN[type(model.reservoir_)](model)
    X = reference.extended(INPUTS, plain_rows(plain, INPUTS, training=True)[0])
    np.testing.assert_allclose(rows, X[WASHOUT:, 1:], rtol=1e-10, atol=1e-10)
    W = reference.ridge(X[WASHOUT:], OUTPUTS[WASHOUT:], 1e-2, False)
    free = reference.extended(INPUTS, plain_rows(plain, INPUTS, training=False)[0])
    np.testing.assert_allclose(model.predict(INPUTS), free @ W, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", OWN_PROGRAMS)
def test_a_classifier_equals_the_equations(name):
    model, rows = fitted("classification", KINDS[name], states=2, normalize=False)
    plain = PLAIN[type(model.reservoir_)](model)

    def features(training):
        found = []
        for u in SEQUENCES:
            seen = plain_rows(plain, u, training)[0]
            at = [int(np.ceil((i + 1) * len(u) / 2)) - 1 for i in range(2)]
            found.append(np.concatenate([[1.0], u[at].ravel(), seen[at].ravel()]))
        return np.array(found)

    X = features(training=True)
    np.testing.assert_allclose(rows, X[:, 1:], rtol=1e-10, atol=1e-10)
    W = reference.ridge(X, np.eye(3)[np.unique(LABELS, return_inverse=True)[1]], 1e-2, False)
    expected = features(training=False) @ W
    np.testing.assert_allclose(model.decision_function(SEQUENCES), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["noise", "deeper", "nvar, spaced", "foreign, held"])
def test_closed_loops_of_a_validation_equal_the_equations(name):
    """From true states that noise has moved, if there is any, and without it from there on."""
    model, _ = fitted("forecast", KINDS[name], washout=WASHOUT)
    found = cross_validate(clone(model), SERIES, cv=KFold(4), metric="mse").mse.values[:, 0]
    plain, states, x = PLAIN[type(model.reservoir_)](model), [], None
    for n, u in enumerate(SERIES[:-1, None]):
        x = plain.step(plain.rest if x is None else x, u, n)
        states.append(x)
    inputs, Y = SERIES[WASHOUT:-1, None], SERIES[1 + WASHOUT :, None]
    states = states[WASHOUT:]
    X = np.array(
        [[1.0, *u, *plain.look(x, u)] for u, x in zip(inputs, states, strict=True)]
    )  # fmt: skip
    for split, valid in enumerate(np.array_split(np.arange(len(Y)), 4)):
        train = np.setdiff1d(np.arange(len(Y)), valid)
        W = reference.ridge(X[train], Y[train], 1e-2, False)
        u, x, errors = inputs[valid[0]], states[valid[0]], []
        for row in valid:
            u = np.concatenate([[1.0], u, plain.look(x, u)]) @ W
            x = plain.step(x, u)
            errors.append((u - Y[row]) ** 2)
        np.testing.assert_allclose(found[split], np.mean(errors), rtol=1e-8)


# --- draws --------------------------------------------------------------------------------------


def raw(topology, units, rng):
    """A matrix by its definition, entry by entry."""
    W = np.zeros((units, units))
    if topology == "uniform":
        return rng.rand(units, units) - 0.5
    if topology == "normal":
        return rng.normal(size=(units, units))
    if topology == "orthogonal":
        Q, R = np.linalg.qr(rng.normal(size=(units, units)))
        return Q @ np.diag(np.sign(np.diag(R)))
    for unit in range(units if "ring" in topology else units - 1):
        W[(unit + 1) % units, unit] = 1
    if topology == "ring with jumps":
        for unit in range(0, units - 4, 5):
            W[unit, (unit + 5) % units] = W[(unit + 5) % units, unit] = 1
    return W


@pytest.mark.parametrize("units", [10, 33])
@pytest.mark.parametrize(
    "topology", ["uniform", "normal", "ring", "ring with jumps", "delay line", "orthogonal"]
)
def test_topologies_are_drawn_by_their_definition(topology, units):
    kind = Leaky(units, topology=topology, spectral_radius=0.7, input_scaling=2.0)
    model = ESNForecaster(reservoir=kind, random_state=SEED).fit(SERIES)
    rng = np.random.RandomState(SEED)
    W_in = rng.rand(units, 2) - 0.5
    W = raw(topology, units, rng)
    radius = 1.0 if topology == "delay line" else np.abs(np.linalg.eigvals(W)).max()
    np.testing.assert_array_equal(model.W_in_, W_in * [1.0, 2.0])
    np.testing.assert_allclose(dense(model.W_), W * 0.7 / radius, rtol=0, atol=1e-14)
    left = ESNForecaster(reservoir=clone(kind).set_params(spectral_radius=None), random_state=SEED)
    np.testing.assert_allclose(dense(left.fit(SERIES).W_), W, rtol=0, atol=1e-14)


def test_a_small_world():
    weights = Leaky(60, topology="small world", connectivity=0.1).draw(1, SEED)
    assert isinstance(weights.W, Sparse)
    W = np.zeros((60, 60))
    np.put_along_axis(W, weights.W.columns, weights.W.values, axis=1)
    heard = W != 0
    assert (heard.sum(axis=1) == 6).all()
    assert not heard.diagonal().any()
    away = np.abs(np.arange(60)[:, None] - np.arange(60))
    near = np.minimum(away, 60 - away) <= 3
    assert 0.8 < heard[near].sum() / heard.sum() < 0.97  # one in ten is moved
    assert np.abs(W).max() < 0.5
    assert np.abs(np.linalg.eigvals(W)).max() == pytest.approx(weights.radius, rel=1e-12)


@pytest.mark.parametrize("topology", ["ring", "delay line"])
def test_rings_of_many_units_are_quick_to_draw_and_to_step(topology):
    weights = Leaky(200_000, topology=topology).draw(1, SEED)  # eigenvalues would take for ever
    assert weights.W.values.shape == (200_000, 1)
    assert weights.radius == 1.0


def test_one_layer_is_a_leaky_network_to_the_last_bit():
    options = {"leak_rate": 0.4, "input_scaling": 0.3, "bias_scaling": 0.2, "connectivity": 0.05}
    one, other = (
        ESNForecaster(reservoir=kind, random_state=SEED).fit(SERIES).forecast(20)
        for kind in (Leaky(40, **options), Deep(40, layers=1, **options))
    )
    assert (one == other).all()


def test_no_two_layers_or_draws_have_the_same_weights():
    one, other = (Deep(10, layers=3).draw(10, seed) for seed in (0, 1))
    matrices = [draw.W.tobytes() for draw in (*one, *other)]
    assert len(set(matrices)) == 6
    turns = [EdgeOfStability(10).draw(1, seed).rotation for seed in (0, 1)]
    for turn in turns:
        np.testing.assert_allclose(turn @ turn.T, np.eye(10), atol=1e-14)
    assert np.abs(turns[0] - turns[1]).max() > 0.1


def test_noise_is_of_its_size_and_only_where_states_are_collected():
    quiet, loud = (
        fitted("regression", Leaky(UNITS, noise=noise, leak_rate=1e-9), washout=0)
        for noise in (0.0, 0.1)
    )
    steps = np.diff(loud[1][:, 2:], axis=0)  # leak and weights do next to nothing here
    assert 0.09 < steps.std() < 0.11
    assert np.abs(np.corrcoef(steps[:-1].ravel(), steps[1:].ravel())[0, 1]) < 0.1
    assert np.abs(np.diff(quiet[1][:, 2:], axis=0)).max() < 1e-8
    assert loud[0].state_.shape == (UNITS,)
    np.testing.assert_allclose(loud[0].state_, quiet[0].state_, atol=1e-12)
    rest = loud[0].predict(INPUTS) - loud[0].readout_[0] - INPUTS @ loud[0].readout_[1:3]
    assert np.abs(rest).max() < 1e-6


def test_sequences_have_noise_of_their_own():
    _, rows = fitted("classification", Leaky(UNITS, noise=0.1, leak_rate=1e-9), states="last")
    of_sequences = rows[:, 2:]
    assert np.abs(np.corrcoef(of_sequences)[np.triu_indices(30, 1)]).max() < 0.9
    again = fitted("classification", Leaky(UNITS, noise=0.1, leak_rate=1e-9), states="last")[1]
    assert (again == rows).all()


# --- the machinery ------------------------------------------------------------------------------


def search_of(name, task="forecast", **options):
    kind, values = SEARCHED[name]
    space = {f"reservoir__{parameter}": of for parameter, of in values.items()}
    estimator = TASKS[task][0](reservoir=kind, random_state=SEED, device="cpu")
    return ESNSearchCV(estimator, {**space, "ridge": RIDGE}, cv=KFold(4), **options)


@pytest.mark.parametrize(
    ("name", "task"),
    [
        *((name, "forecast") for name in SEARCHED),
        *((name, "regression") for name in ("deep", "foreign")),
        *((name, "classification") for name in ("noise", "nvar")),
        *(
            pytest.param(name, task, marks=pytest.mark.slow)
            for name, task in (
                ("noise", "regression"),
                ("nvar", "regression"),
                ("custom", "classification"),
            )
        ),
    ],
)
def test_a_search_equals_its_candidates_one_by_one(name, task):
    data = TASKS[task][1]
    search = search_of(name, task, verify=True).fit(*data)
    expected = one_by_one(search, data)["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse.values, expected, rtol=1e-7)
    if task != "forecast":
        return
    if name not in ("topologies", "edge"):  # to which loops are what they are to a leaky network
        pruned = search_of(name, prune=True).fit(*data)
        assert pruned.best_params_ == search.best_params_
        assert pruned.best_score_ == pytest.approx(search.best_score_, rel=1e-9)
    if name in ("noise", "nvar"):
        assert search.forecast(5, level=0.8).lower[0.8].shape == (5,)
        assert np.isfinite(search.finalize("average").forecast(5)).all()


@pytest.mark.parametrize("name", SEARCHED)
def test_states_that_are_not_kept_give_the_same(name):
    kept, *others = (
        search_of(name, "regression", memory=way).fit(INPUTS, OUTPUTS).results_.nrmse.values
        for way in ("states", "pieces", "frugal")
    )
    for other in others:
        np.testing.assert_allclose(other, kept, rtol=1e-7)


# All of them are seen as 12 values, for which the algebra of a device is compiled once.
ON_A_DEVICE = [Leaky(12, noise=0.1), Deep(6), NVAR(3, degree=3), Foreign(Counter(0.7))]
ON_A_DEVICE += [Plastic(12, sigma=sigma, rate=1e-3) for sigma in (0.2, 0.4)]


@pytest.fixture
def on_both(accelerated):
    """Scores by the host, and by a device for which the processor stands in."""

    def run(task, kinds, **options):
        cls, data = TASKS[task]
        for on in (False, True):
            accelerated(on)
            estimator = cls(random_state=SEED, device="cpu")
            space = {"reservoir": kinds, "ridge": RIDGE}
            yield ESNSearchCV(estimator, space, cv=KFold(4), n_draws=2, **options).fit(*data)

    return run


def test_a_device_gives_the_same(on_both):
    host, device = on_both("forecast", ON_A_DEVICE)
    np.testing.assert_allclose(device.results_.nrmse, host.results_.nrmse, rtol=1e-7)


def test_a_device_prunes_the_same(on_both):
    host, device = on_both("forecast", [ON_A_DEVICE[0], ON_A_DEVICE[2]], prune=True)
    assert device.best_params_ == host.best_params_
    assert device.best_score_ == pytest.approx(host.best_score_, rel=1e-9)


def test_a_device_drives_sequences_the_same(on_both):
    host, device = on_both("classification", [ON_A_DEVICE[0], ON_A_DEVICE[3]])
    np.testing.assert_allclose(device.results_.nrmse, host.results_.nrmse, rtol=1e-7)


@pytest.mark.parametrize("name", SEARCHED)
def test_a_checkpoint_is_resumed_and_belongs_to_its_kinds(name, tmp_path, monkeypatch):
    first = search_of(name, "regression", checkpoint=tmp_path).fit(INPUTS, OUTPUTS)
    ran = []
    run_block = runner.carry_out
    monkeypatch.setattr(
        runner, "carry_out", lambda blocks, *rest: run_block(ran.extend(blocks) or blocks, *rest)
    )
    identical(search_of(name, "regression", checkpoint=tmp_path).fit(INPUTS, OUTPUTS), first)
    assert ran == []
    parameter = next(iter(SEARCHED[name][1]))
    other = search_of(name, "regression", checkpoint=tmp_path)
    changed = {
        "nodes": [Bucket(0.2), Counter(0.8)], "parameters": [{"strength": 0.1}],
        "node": [Bucket(0.3), Counter(0.7)], "topology": ["normal"], "delays": [2],
    }.get(parameter, [0.33])  # fmt: skip
    other.space = {**other.space, f"reservoir__{parameter}": changed}
    with pytest.raises(ValueError, match="another search"):
        other.fit(INPUTS, OUTPUTS)


SAVED = [  # each stored in its own way
    "noise", "ring", "ring with jumps", "delay line", "deeper", "deep rings", "edge",
    "nvar, spaced", "plastic", "plastic ring",
]  # fmt: skip


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_predicts_the_same_bits(name, tmp_path):
    for task in TASKS if name in ("noise", "deeper", "nvar, spaced") else ["forecast"]:
        model, _ = fitted(task, KINDS[name])
        save(model, tmp_path / "kept.echofold")
        loaded = load(tmp_path / "kept.echofold")
        assert loaded.reservoir.get_params() == model.reservoir.get_params()
        assert (USES[task](loaded) == USES[task](model)).all()


@pytest.mark.parametrize("name", ["custom", "foreign", "swish"])
def test_functions_and_objects_cannot_be_saved(name, tmp_path):
    model, _ = fitted("forecast", KINDS[name])
    message = "activation holds a function" if name == "swish" else "subclass of echofold.reserv"
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "kept.echofold")
    assert not list(tmp_path.iterdir())


def test_files_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "kept.echofold"

    def refused(message, members, **changes):
        path.write_bytes(archive(members | changes))
        with pytest.raises(ValueError, match=message):
            load(path)

    def written(kind):
        save(ESNForecaster(reservoir=kind, random_state=SEED).fit(SERIES), path)
        members = members_of(path)
        return members, members["echofold.json"]

    members, about = written(Deep(6, layers=2, leak_rate=0.5))
    refused("leak_rates_ are", members, **{"leak_rates_.npy": array([0.5, 1.5])})
    refused("leak_rates_ .*shape", members, **{"leak_rates_.npy": array([0.5])})
    refused("W_in_2_ .*shape", members, **{"W_in_2_.npy": array(np.ones((6, 6)))})
    many = about.replace(b'"layers": 2', b'"layers": 2000000000')
    refused("layers=2000000000 .* at most 100", members, **{"echofold.json": many})
    members, about = written(EdgeOfStability(6))
    refused("finite", members, **{"orthogonal_.npy": array(np.full((6, 6), np.inf))})
    wild = about.replace(b'"proximity_": 0.5', b'"proximity_": 0')
    refused("proximity_ is 0", members, **{"echofold.json": wild})
    members, about = written(NVAR())
    for old, new, message in [
        (b'"delays": 2', b'"delays": 900000', "columns, more than"),
        (b'"delays": 2', b'"delays": 90000000000', "buffer of"),
        (b'"degree": 2', b'"degree": 6', "degree=6 is not allowed"),
        (b'"delays": 2', b'"delays": 3', "shape"),
        (b"reservoirs.NVAR", b"reservoirs.Custom", "without functions"),
        (b"reservoirs.NVAR", b"reservoirs.Foreign", "without functions"),
        (b"reservoirs.NVAR", b"reservoirs._nvar.NVAR", "known here"),
    ]:
        assert old in about
        refused(message, members, **{"echofold.json": about.replace(old, new)})
    members, about = written(Leaky(6, noise=0.1, topology="ring"))
    refused("state_ .*shape", members, **{"state_.npy": array(np.ones(7))})
    for old, new, message in [
        (b'"topology": "ring"', b'"topology": "rung"', "topology='rung'"),
        (b'"noise": 0.1', b'"noise": -1', "noise=-1"),
        (b'"activation": "tanh"', b'"activation": "tonh"', "activation='tonh'"),
        (b'"noise": 0.1', b'"volume": 0.1', "a Reservoir of class"),
    ]:
        assert old in about
        refused(message, members, **{"echofold.json": about.replace(old, new)})


# --- what is wrong ------------------------------------------------------------------------------


class Fixed:
    def step(self, x, u):
        return x + np.ones(5)


WRONG = [
    (Leaky(activation="tonh"), "activation='tonh' is not allowed: it must be 'tanh', 'relu'"),
    (Leaky(activation=lambda x: x[0]), r"gave .* for an array of shape \(2, 3\)"),
    (Leaky(activation=lambda x: x + "a"), "failed for an array"),
    (Leaky(noise=-0.1), "noise=-0.1 is not allowed: it must be a number of at least 0"),
    (Leaky(topology="star"), "topology='star' is not allowed: it must be one of 'uniform'"),
    (Leaky(topology="ring", connectivity=0.1), "connectivity=0.1 has no meaning for .*'ring'"),
    (Leaky(topology="small world"), "connectivity below 1, such as 0.1"),
    (Leaky(topology="ring with jumps", jump=1), "jump=1 is not allowed"),
    (Leaky(20, topology="ring with jumps", jump=11), "Give a jump from 2 to 10"),
    (Leaky(4, topology="ring", W=np.eye(4)), "topology='ring' is of a W that is drawn"),
    (Deep(layers=0), "layers=0 is not allowed"),
    (Deep(leak_rate=(0.5, 0.5, 0.5)), "has 3 values, but layers=2.*or a tuple of 2"),
    (Deep(leak_rate=(0.5, 1.5)), "leak_rate=1.5 is not allowed"),
    (Deep(inter_scaling=(1.0, 1.0)), "has 2 values, but layers=2.*or a tuple of 1"),
    (Deep(spectral_radius=(0.5, None)), "give None for all of them"),
    (Deep(input_scaling=[1.0, 2.0]), "input_scaling has 2 values, but the network has 1 inputs"),
    (EdgeOfStability(proximity=0), r"proximity=0 is not allowed: .*\(0, 1\]"),
    (EdgeOfStability(connectivity=2), "connectivity=2 is not allowed"),
    (NVAR(0), "delays=0 is not allowed"),
    (NVAR(spacing=0.5), "spacing=0.5 is not allowed"),
    (NVAR(degree=()), "degree=.* is not allowed"),
    (NVAR(degree=(2, 2)), "tuple of different ones"),
    (NVAR(1, degree=1), "leaves nothing to see"),
    (NVAR(30, degree=5), "columns, more than 20000. Use fewer delays"),
    (Custom(5), "init=None is not allowed: it must be a function"),
    (Custom(5, init=init, step=phases, parameters=[1]), "a dict of numbers by name"),
    (Custom(5, init=init, step=phases, parameters={"a": "b"}), r"parameters\['a'\]='b'"),
    (Custom(5, init=init, step=phases), "step=.* failed for arrays of shapes"),
    (Custom(5, init=init, step=lambda w, p, x, u: x[1:]), r"gave \(4, 1\) .* expected \(5, 1\)"),
    (Custom(5, init=lambda i, s: "a", step=phases), "expected arrays of numbers"),
    (Custom(5, init=init, step=lambda w, p, x, u: x, look=lambda x, u: x[0]), "expected .features"),
    (Foreign(3), "node=3 is not allowed: it must be an object with step"),
    (Foreign(Bucket(0.5, units=0)), "units=0 is not allowed"),
    (Foreign(Fixed(), units=7), "failed to step from a state of 7 zeros"),
    (Foreign(Fixed(), units=1), "gave a state of .5. values from one of 1"),
    (Foreign(Counter(0.5), units=7), "units=7 is not needed"),
]


@pytest.mark.parametrize(
    ("kind", "message"),
    WRONG,
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_wrong_is_named(kind, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(reservoir=kind).fit(SERIES)


def test_a_node_that_computes_with_jax_is_refused():
    import jax.numpy as jnp

    class Compiled:
        units = 3

        def step(self, x, u):
            return jnp.tanh(jnp.asarray(x))

    with pytest.raises(ValueError, match="computes with JAX.*reservoirs.Custom"):
        ESNForecaster(reservoir=Foreign(Compiled())).fit(SERIES)


def test_kinds_are_exported_and_found_by_their_names():
    import echofold.reservoirs as package
    from echofold._engine.kind import KINDS as known

    for name in package.__all__:
        kind = getattr(package, name)
        if kind is not Reservoir:
            assert known[f"echofold.reservoirs.{name}"] is kind
            assert kind.called() == f"echofold.reservoirs.{name}"
            clone(kind())


# --- other libraries ----------------------------------------------------------------------------


def test_the_object_itself_is_left_alone_and_may_change():
    node = Counter(0.7)
    model = ESNForecaster(reservoir=Foreign(node), ridge=1e-2).fit(SERIES)
    assert node.state == {}
    before = clone(model).fit(SERIES).forecast(5)
    node.initialize(np.zeros(3))
    assert (model.forecast(5) == before).all()
    node.initialize(np.zeros(1))
    node.gain = 0.1
    assert (model.forecast(5) == before).all()
    assert (model.fit(SERIES).forecast(5) != before).all()
    node.gain = 0.7
    assert (model.fit(SERIES).forecast(5) == before).all()
    copied = deepcopy(model)
    assert (copied.forecast(5) == before).all()


def test_threads_share_an_object_and_lose_no_digit():
    """Threads of JAX know nothing of 64-bit floats, and must not wait for each other."""
    nodes = [Foreign(Bucket(gain, units=300)) for gain in (0.3, 0.9)]
    space = {"reservoir": nodes, "ridge": [1e-8, 1e-4]}
    one, two = (
        ESNSearchCV(ESNForecaster(random_state=SEED), space, cv=KFold(10), n_jobs=jobs)
        .fit(SERIES).results_.nrmse.values
        for jobs in (None, 4)
    )  # fmt: skip
    assert (one == two).all()


def of_reservoirpy():
    nodes = pytest.importorskip("reservoirpy").nodes
    return [
        nodes.Reservoir(20, lr=0.5, sr=0.9, rc_connectivity=0.5, seed=3),
        nodes.ES2N(20, proximity=0.3, sr=0.9, seed=3),
        nodes.NVAR(2, 2),
    ]


@pytest.mark.parametrize("which", range(3), ids=["Reservoir", "ES2N", "NVAR"])
def test_reservoirpy_runs_as_it_does_by_itself(which):
    node = of_reservoirpy()[which]
    model, rows = fitted("forecast", Foreign(node), washout=WASHOUT)
    assert not node.initialized
    inputs = SERIES[:-1, None]
    X = reference.extended(inputs, node.run(inputs))[WASHOUT:]
    np.testing.assert_allclose(rows, X[:, 1:], rtol=0, atol=1e-12)
    W = reference.ridge(X, SERIES[1 + WASHOUT :, None], 1e-2, False)
    model.readout_, u, expected = W, SERIES[-1:], []
    for _ in range(30):
        u = np.concatenate([[1.0], u, node.step(u)]) @ W
        expected.append(u[0])
    np.testing.assert_allclose(model.forecast(30), expected, rtol=0, atol=1e-10)


def test_reservoirpy_in_a_search():
    kinds = [Foreign(node) for node in of_reservoirpy()[:2]]
    search = ESNSearchCV(
        ESNForecaster(random_state=SEED), {"reservoir": kinds, "ridge": RIDGE}, cv=KFold(4),
        verify=True,
    ).fit(SERIES)  # fmt: skip
    expected = one_by_one(search, (SERIES,))["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse.values, expected, rtol=1e-8)


def test_a_checkpoint_knows_the_seeds_of_nodes(tmp_path):
    nodes = pytest.importorskip("reservoirpy").nodes

    def run(seed):
        space = {"reservoir__node": [nodes.Reservoir(20, seed=seed)], "ridge": RIDGE}
        estimator = ESNRegressor(reservoir=Foreign(Bucket(0.5)), random_state=SEED)
        search = ESNSearchCV(estimator, space, cv=KFold(4), checkpoint=tmp_path)
        return search.fit(INPUTS, OUTPUTS).results_.nrmse.values

    assert (run(1) == run(1)).all()
    with pytest.raises(ValueError, match="another search"):
        run(2)


def test_weights_of_reservoirpy_give_the_same_as_its_node():
    """Its equation is that of the leaky kind, whose bias is zero."""
    node = of_reservoirpy()[0]
    foreign, _ = fitted("forecast", Foreign(node), washout=WASHOUT)
    run = deepcopy(node)
    run.run(SERIES[:2, None])
    own = Leaky(
        20, leak_rate=0.5, spectral_radius=None, W=dense(run.W),
        W_in=np.hstack([np.zeros((20, 1)), dense(run.Win)]),
    )  # fmt: skip
    ours, _ = fitted("forecast", own, washout=WASHOUT)
    np.testing.assert_allclose(ours.forecast(20), foreign.forecast(20), rtol=0, atol=1e-9)
