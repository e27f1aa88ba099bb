"""Single precision beside double: every kind and task, and what is said where a choice hangs on it.

How far the two may lie apart is measured: the same work is done in double with every new state off
by one rounding of 32 bits. Products and sums inside of a step round too, some dozens of numbers.
"""

import pickle
import warnings

import jax
import numpy as np
import pytest
from cases import SCHEMES, pairwise
from kinds import KINDS
from sklearn.base import clone

from echofold import (
    Accumulative,
    AutoForecaster,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    backtest,
    cross_validate,
    datasets,
    dynamics,
    load,
    save,
    systems,
)
from echofold._engine.kind import Reservoirs
from echofold._engine.states import rows_of, stacked
from echofold._folds.choose import VARIANTS
from echofold._machine import device, programs
from echofold._machine.arrays import namespace
from echofold._machine.notices import EchofoldWarning
from echofold._search import final_models as compared
from echofold._search import search as search_module
from echofold.reservoirs import Leaky

EPS = float(np.finfo(np.float32).eps)
INSIDE = 30.0  # times as far as one rounding of every state, for all that are made inside of a step
RNG = np.random.default_rng(0)
SERIES = 5 + np.sin(np.arange(90) / 4) + 0.1 * RNG.normal(size=90)
BOTH = np.column_stack([SERIES, 20 + 3 * np.cos(np.arange(90) / 5) + RNG.normal(size=90)])
KNOWN = RNG.normal(size=(96, 2))
WORDS = [RNG.normal(size=(int(n), 2)) + label for n in (4, 7, 9) for label in (0, 1) for _ in "ab"]
LABELS = [label for _ in range(3) for label in (0, 1) for _ in "ab"]
QUIET = sorted(set(KINDS) - {"noise"})


@pytest.fixture
def three(monkeypatch):
    """What work gives in double, in single, and in double with every state off by one rounding.

    The dtypes of all states that it steps to are in ``seen``.
    """
    step = Reservoirs.step

    def run(work):
        found = []
        for name, moved in (("double", 0.0), ("single", 0.0), ("double", EPS)):
            seen = set()

            def watched(self, x, u, seen=seen, moved=moved):
                x = step(self, x, u)
                seen.add(str(x.dtype))
                if moved:
                    # Of another sign each time, or else readouts would make up for it.
                    x = x * (1 + moved * namespace(x).sign(namespace(x).sin(1e6 * x)))
                return x

            with monkeypatch.context() as patch:
                patch.setattr(Reservoirs, "step", watched)
                patch.setattr(programs, "_kept", type(programs._kept)())
                found.append(np.asarray(work(name), dtype=float))
            assert seen == {"float32" if name == "single" else "float64"}
        return found

    return run


def close(found, times=INSIDE):
    double, single, moved = found
    assert double.shape == single.shape
    finite = np.isfinite(double) & np.isfinite(moved)
    assert finite.any()
    assert np.isfinite(single[finite]).all()
    off, by_one = (np.abs(one - double)[finite].max() for one in (single, moved))
    assert 0 < off <= times * by_one


@pytest.mark.parametrize("limit", [np.inf, -1.0], ids=["numpy", "compiled"])
@pytest.mark.parametrize("name", QUIET)
def test_every_kind(three, monkeypatch, name, limit):
    if limit > 0 and not KINDS[name].eager:
        pytest.skip("is always compiled")
    monkeypatch.setattr(device, "COMPILING", limit)

    def states(precision):
        model = ESNForecaster(reservoir=KINDS[name], random_state=0, precision=precision)
        model.fit(SERIES)
        assert model.state_.dtype == model.readout_.dtype == np.float64
        stored = (getattr(model, name) for name in model.reservoir_.stored)
        assert not {"float32"} & {str(getattr(one, "dtype", "")) for one in stored}
        return model.state_

    close(three(states))

    def ahead(precision):
        model = ESNForecaster(reservoir=KINDS[name], ridge=1e-2, random_state=0)
        return model.set_params(precision=precision).fit(SERIES).forecast(6)

    close(three(ahead))


def test_noise_of_single_precision_is_as_large():
    found = {}
    for name in ("double", "single"):
        kind = Leaky(40, noise=0.05, leak_rate=0.5)
        model = ESNForecaster(reservoir=kind, random_state=0, washout=0, precision=name)
        quiet = ESNForecaster(40, leak_rate=0.5, random_state=0, washout=0)
        states = (one._states(one._read(SERIES), 0).kept()[0] for one in (model, quiet))
        found[name] = np.subtract(*states)[:, 1:]
    assert found["single"].std() == pytest.approx(found["double"].std(), rel=0.05)
    assert found["single"].std() > 0.04


FORMS = {
    "none": {},
    "both": {"log": True, "difference": (1,), "season": 7, "harmonics": 2},
    "limits": {"output_range": (3.5, 6.5)},
    "direct": {"steps": 3},
    "squares": {"readout": "inputs+states+squares"},
    "polynomial": {"readout": "polynomial 2"},
    "states": {"readout": "states", "penalize_bias": True},
}


@pytest.mark.parametrize("form", FORMS)
def test_forecasts(three, form):
    cv = Accumulative(3, valid=6) if "steps" in FORMS[form] else KFold(4, valid=9)

    def work(precision):
        model = ESNForecaster(8, random_state=1, precision=precision, **FORMS[form])
        found = cross_validate(model, SERIES, cv=cv, ridge=[1e-4, 1.0])
        return found["nrmse"].values

    close(three(work))


@pytest.mark.parametrize(
    ("scheme", "algorithm", "outputs"),
    pairwise(sorted(set(SCHEMES) - {"groups"}), ["naive", "small_k", "large_k"], [1, 2]),
)
def test_schemes(three, scheme, algorithm, outputs):
    def work(precision):
        model = ESNRegressor(8, random_state=0, precision=precision, washout=0)
        found = cross_validate(
            model, KNOWN[:60], BOTH[:60, :outputs], cv=SCHEMES[scheme], algorithm=algorithm,
            ridge=[1e-3, 1.0],
        )  # fmt: skip
        return found["nrmse"].values

    close(three(work))


@pytest.mark.parametrize("accelerator", [False, True])
@pytest.mark.parametrize("task", ["loops", "pruned", "open", "panel", "classes", "states alone"])
def test_searches_on_either_side(three, accelerated, monkeypatch, task, accelerator):
    accelerated(accelerator)
    monkeypatch.setattr(search_module, "describe_single", lambda *_: [])  # which drives in double

    def work(precision):
        space = {"leak_rate": [0.4, 0.9], "ridge": [1e-3, 1e-1]}
        own, cv, data = {}, KFold(4, valid=9), (SERIES,)
        if task == "open":
            estimator, data, cv = ESNRegressor, (KNOWN[:90], SERIES), KFold(4)
        elif task == "classes":
            estimator, data, cv = ESNClassifier, (WORDS, LABELS), 3
        else:
            estimator = ESNForecaster
            data = ({"a": SERIES, "b": BOTH[:70, 1]},) if task == "panel" else data
            own = {"readout": "states"} if task == "states alone" else {}
        model = estimator(8, random_state=0, precision=precision, **own)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EchofoldWarning)
            search = ESNSearchCV(model, space, cv=cv, n_draws=2, prune=task == "pruned")
            return search.fit(*data).results_["nrmse"].values

    close(three(work))


def test_moving_on_predicting_backtesting(three):
    def work(precision):
        model = ESNForecaster(8, random_state=0, precision=precision).fit(SERIES[:60], KNOWN[:60])
        found = backtest(model, SERIES, [50, 60], 5, X=KNOWN[:90], refit=True, washout=None)
        model.update(SERIES[60:], KNOWN[60:90])
        assert model.state_.dtype == np.float64
        other = ESNRegressor(8, random_state=0, precision=precision).fit(KNOWN, KNOWN[:, 0] ** 2)
        return np.concatenate([
            model.forecast(6, KNOWN[90:]), np.ravel(found.forecast), other.predict(KNOWN),
        ])  # fmt: skip

    close(three(work))


def test_carried_by_copies_and_files(tmp_path):
    model = ESNForecaster(8, random_state=0, precision="single").fit(SERIES)
    twin = ESNForecaster(8, random_state=0).fit(SERIES)
    save(model, tmp_path / "model.echofold")
    for one in (load(tmp_path / "model.echofold"), pickle.loads(pickle.dumps(model))):
        assert one.get_params()["precision"] == "single"
        assert one._reservoirs().dtype == np.float32
        assert np.array_equal(one.forecast(9), model.forecast(9))
        one.update(SERIES[:5])
        assert one.state_.dtype == np.float64
    assert clone(model).set_params(precision="double").fit(SERIES).forecast(9) == pytest.approx(
        twin.forecast(9), rel=0, abs=0
    )
    assert not np.array_equal(twin.forecast(9), model.forecast(9))
    found = ESNSearchCV(ESNForecaster(8, random_state=0), {"precision": ["single", "double"]}, cv=3)
    nrmse = found.fit(SERIES).results_["nrmse"].values[0]
    assert 0 < np.abs(nrmse[0] - nrmse[1]).max() < 1e-4
    automatic = AutoForecaster(6, precision="single", progress=False).fit(SERIES)
    assert (
        automatic.networks_._reservoirs().dtype == np.float32
        if not hasattr(automatic.networks_, "members")
        else all(one._reservoirs().dtype == np.float32 for one in automatic.networks_.members)
    )


@pytest.mark.parametrize("make", [ESNForecaster, ESNRegressor, ESNClassifier])
def test_unknown_precisions_are_errors(make):
    data = {ESNForecaster: (SERIES,), ESNRegressor: (KNOWN, KNOWN), ESNClassifier: (WORDS, LABELS)}
    with pytest.raises(ValueError, match="precision='half' is unknown: it must be 'double', 'sing"):
        make(8, precision="half").fit(*data[make])
    with pytest.raises(ValueError, match="precision='half'"):
        AutoForecaster(3, precision="half").fit(SERIES)


def test_exponents_of_a_loop_in_single_precision():
    y = systems.henon(1500)
    found = [
        dynamics.lyapunov_exponents(
            ESNForecaster(
                50, spectral_radius=0.3, input_scaling=0.6, ridge=1e-6, random_state=0,
                precision=name,
            ).fit(y),
            4000, count=1,
        ).exponents[0]
        for name in ("double", "single")
    ]  # fmt: skip
    assert found[0] != found[1]
    assert found[1] == pytest.approx(found[0], abs=0.03)


# --- what is said ---------------------------------------------------------------------------------


SPACE = {"leak_rate": [0.2, 0.5, 0.8, 1.0], "spectral_radius": [0.3, 0.6, 0.9, 1.1]}


def said_by(search, *data):
    """Sentences of warnings about single precision, and the attributes of results."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        search.fit(*data)
    words = [note for one in heard for note in one.message.args if "precision" in note]
    return words, search.results_.attrs


def test_a_clear_choice_is_compared_and_nothing_said():
    model = ESNForecaster(20, random_state=0, precision="single")
    words, attrs = said_by(ESNSearchCV(model, {**SPACE, "ridge": [1e-4, 1e-1]}, cv=4), SERIES)
    assert words == []
    assert attrs["compared_in_double"] == compared.FIRST
    assert 0 < attrs["moved_by_single"] < 1e-4
    twin = ESNForecaster(20, random_state=0)
    words, attrs = said_by(ESNSearchCV(twin, {**SPACE, "ridge": [1e-4, 1e-1]}, cv=4), SERIES)
    assert words == []
    assert "compared_in_double" not in attrs


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("options", [{}, {"select": "draw"}, {"ridge_per": "split"}], ids=str)
def test_what_is_said_is_what_double_precision_finds(options, prune):
    """Of all candidates: silent if and only if the same one wins."""
    if prune and "ridge_per" in options:
        pytest.skip("prune=True needs one ridge for all")
    agreed = set()
    for ridge, radii in (([1e-4, 1e-1], [0.3, 0.9]), ([1e-3], 0.9 + 1e-8 * np.arange(6))):
        space = {"spectral_radius": list(radii), "ridge": ridge}
        found = [
            ESNSearchCV(
                ESNForecaster(8, random_state=0, precision=name), space, cv=KFold(4, valid=9),
                n_draws=2, verify=True, prune=prune, **options,
            )
            for name in ("single", "double")
        ]  # fmt: skip
        (words, attrs), _ = (said_by(one, SERIES) for one in found)
        assert attrs["compared_in_double"] == len(radii)
        winners = [(one.best_index_, one.best_params_["ridge"]) for one in found]
        assert bool(words) == (winners[0] != winners[1])
        if words:
            assert f"in double precision candidate {found[1].best_index_} " in words[0]
            assert f"not candidate {found[0].best_index_} " in words[0]
        agreed.add(not words)
    assert True in agreed


def test_a_candidate_does_not_lose_to_itself_in_double():
    space = {"precision": ["single", "double"], "ridge": [1e-3]}
    won = set()
    for seed in range(4):
        search = ESNSearchCV(ESNForecaster(8, random_state=seed), space, cv=4)
        words, attrs = said_by(search, SERIES)
        assert attrs["compared_in_double"] == 1 and not words
        won.add(search.best_params_["precision"])
    assert won == {"single", "double"}


def test_inputs_too_large_for_single_precision_are_told():
    with pytest.warns(UserWarning, match="1 of 1 inputs vary so little for their size"):
        ESNForecaster(8, random_state=0, precision="single", scale=None).fit(1e39 * SERIES)


def test_choices_that_hang_on_rounding_are_told(monkeypatch):
    """Radii that differ by less than single precision does."""
    space = {"spectral_radius": list(0.9 + 1e-8 * np.arange(30)), "ridge": [1e-3]}
    words, found = [], []
    for every in (False, True):
        search = ESNSearchCV(
            ESNForecaster(8, random_state=0, precision="single"), space, cv=4, verify=every
        )
        (said,), attrs = said_by(search, SERIES)
        words.append(said)
        found.append(attrs["compared_in_double"])
    assert found == [compared.MOST, 30]
    exact = ESNSearchCV(ESNForecaster(8, random_state=0), space, cv=4).fit(SERIES)
    assert "hang on rounding" in words[0] or "hangs on rounding" in words[0]
    assert f"in double precision candidate {exact.best_index_} at ridge=0.001 wins" in words[1]


def test_many_that_are_near_but_none_better(monkeypatch):
    """Whoever is not compared might win: told, unless all are asked for."""
    monkeypatch.setattr(compared, "FURTHER", 1e9)
    monkeypatch.setattr(compared, "MOST", 6)
    space = {**SPACE, "ridge": [1e-3]}
    model = ESNForecaster(8, random_state=0, precision="single")
    (said,), attrs = said_by(ESNSearchCV(model, space, cv=4), SERIES)
    assert attrs["compared_in_double"] == 6
    assert "10 more candidates are no further behind" in said
    words, attrs = said_by(ESNSearchCV(model, space, cv=4, verify=True), SERIES)
    assert words == []
    assert attrs["compared_in_double"] == 16


def test_collinear_states_of_a_recording_need_double_precision():
    """At a ridge of 0 the readout lives on digits that 32 bits do not have; and this is told."""
    ecg = datasets.load_ecg()
    X, y = ecg.signal[:20_000, :1], datasets.beat_target(ecg, fade=10)[:20_000]
    X = (X - X.min()) / (X.max() - X.min())
    space = {"leak_rate": [0.4, 0.7], "spectral_radius": [0.1, 0.85], "ridge": [0.0]}
    found = {}
    for name in ("double", "single"):
        model = ESNRegressor(
            50, washout=1000, scale=None, output_range=(0, 1), random_state=1, precision=name
        )
        found[name] = search = ESNSearchCV(model, space, cv=5)
        words, attrs = said_by(search, X, y)
        assert len(words) == (name == "single")
    better, worse = (found[name].best_score_ for name in ("double", "single"))
    assert worse > 1.03 * better
    assert attrs["moved_by_single"] > 0.005


def test_chaos_multiplies_rounding():
    """Some Lyapunov times on, nothing of a forecast is the same in both."""
    y = systems.lorenz63(1500, 0.05, random_state=0)
    ahead = [
        ESNForecaster(100, ridge=1e-6, random_state=0, precision=name).fit(y).forecast(400)
        for name in ("double", "single")
    ]
    apart = np.abs(ahead[0] - ahead[1]).max(axis=1) / y.std()
    assert apart[:5].max() < 1e-3
    assert apart[-100:].max() > 0.5


@pytest.mark.parametrize("scale", [None, "standard"])
def test_inputs_far_from_zero_are_told(scale):
    y = 1e6 + np.sin(np.arange(200) / 4)
    far = pytest.warns(EchofoldWarning, match="1 of 1 inputs vary so little for their size")
    for name in ("double", "single"):
        model = ESNForecaster(
            8, input_scaling=1e-6, scale=scale, random_state=0, precision=name, ridge=1e-3
        )
        search = ESNSearchCV(model, {"leak_rate": [0.5, 1.0]}, cv=4)
        for work in (model.fit, search.fit, lambda y, m=model: cross_validate(m, y, cv=4)):
            with far if scale is None and name == "single" else warnings.catch_warnings():
                if scale is not None or name == "double":
                    warnings.simplefilter("error", EchofoldWarning)
                work(y)


@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k"])
@pytest.mark.parametrize("side", ["host", "compiled", "device"])
def test_right_results_are_verified(monkeypatch, accelerated, algorithm, side):
    accelerated(side == "device")
    monkeypatch.setattr(device, "COMPILING", np.inf if side == "host" else -1.0)
    for data, make in (((SERIES,), ESNForecaster), ((KNOWN[:90], SERIES), ESNRegressor)):
        search = ESNSearchCV(
            make(12, random_state=0, precision="single", washout=5),
            {"leak_rate": [0.2, 0.6, 1.0], "ridge": [1e-9, 1e-4, 1.0]},
            cv=KFold(5), algorithm=algorithm, verify=True,
        )  # fmt: skip
        words, attrs = said_by(search, *data)
        assert attrs["verified_splits"] == 3
        assert attrs["compared_in_double"] == 3


def test_wrong_results_are_an_error(monkeypatch):
    for way in VARIANTS.values():

        def wrong(self, splits, right=way.readouts):
            found = right(self, splits)
            return found._replace(W=found.W * (1 + 1e-2))

        monkeypatch.setattr(way, "readouts", wrong)
    model = ESNForecaster(12, random_state=0, precision="single")
    with pytest.raises(RuntimeError, match="differ from a plain refit"):
        cross_validate(model, SERIES, cv=KFold(5), ridge=[1e-2], verify=True)


def test_products_are_of_all_bits():
    """What an accelerator would round to 10 bits of a mantissa otherwise."""
    a = np.ones((4, 4), np.float32)
    with device.engine("cpu"):
        told = jax.jit(lambda a: a @ a).lower(a).as_text()
    assert "precision = [HIGHEST, HIGHEST]" in told


@pytest.mark.parametrize("readout", ["states", "inputs+states", "polynomial 2"])
def test_rows_have_64_bits(readout):
    model = ESNForecaster(8, readout=readout, random_state=0, precision="single")
    problem = model._read(SERIES)
    source = model._states(problem, 0)
    assert source.dtype == np.float32
    assert source.kept()[0].dtype == source.begins([3])[0].dtype == np.float64
    with device.engine("cpu"):
        rows, starts = rows_of(stacked([source.reservoirs]), problem, np.array([3]))
    assert rows.dtype == starts.dtype == np.float64
    np.testing.assert_allclose(rows[0, : problem.rows], source.kept()[0], atol=1e-5)
