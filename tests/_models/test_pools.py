"""Readouts of series of their own, and corrections of a common one, against plain loops."""

import numpy as np
import pytest
from model_files import archive, members_of, with_json
from panels import (
    BY_SERIES,
    CASES,
    DATED,
    KNOWN,
    PANEL,
    RIDGE,
    RNG,
    SCHEMES,
    SETTINGS,
    Series,
    read,
    solved,
    splits_of,
)

from echofold import (
    Accumulative,
    EchofoldWarning,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    LeaveSeriesOut,
    WalkForward,
    backtest,
    cross_validate,
    evaluate,
    load,
    save,
)
from echofold._data.rows import rows as rows_of
from echofold._folds.splits import split_series
from echofold._search import spaces
from echofold._validation.settings import Settings, resolve_schemes
from echofold._validation.validate import validate
from echofold.metrics import horizon
from echofold.metrics._metric import resolve

SHRINK = 3.0
OWN = ("none", "shrunk")
HOW = [{"algorithm": one} for one in ("naive", "small_k", "large_k")] + [{"memory": "pieces"}, {}]


def own(model, each, train, ridge):
    """A readout for each series, from the rows that it trains on; ``model`` says how."""
    steps = getattr(model.series_[0], "plan_", 1)
    common = solved(model, each, train, ridge) if model.pool == "shrunk" else None
    found = []
    for one, rows in zip(each, train, strict=True):
        A, B, w = one.trained(rows, steps)
        before, beta = 0.0 if common is None else common, ridge
        if common is not None:
            B, beta = B - A @ common, model.shrink
        penalty = beta * np.eye(A.shape[1])
        penalty[0, 0] *= model.penalize_bias or model.pool == "shrunk"
        if len(A):
            before = before + np.linalg.solve(
                A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * B)
            )
        found.append(before)
    return found


def pooled(params, pool):
    return {**params, "pool": pool, "shrink": SHRINK}


@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pool", OWN)
def test_fits_and_forecasts_equal_own_rows(pool, case):
    params, data = CASES[case]
    model, each = read(pooled(params, pool), **data)
    W = own(model, each, [range(one.n) for one in each], RIDGE[0])
    ahead = [X[:7] for X in data["X"]] if "X" in data else None
    forecasts = model.forecast(7, X=ahead)
    for i, y in enumerate(data.get("y", PANEL)):
        np.testing.assert_allclose(model.series_[i].readout_, W[i], rtol=1e-8, atol=1e-10)
        known = None if ahead is None else np.concatenate([KNOWN[i], ahead[i]])
        longer = Series(model, np.append(y, np.full(7, y[-1])), known, learned=len(y))
        found = longer.forecast(W[i], len(y) - longer.first, 7)
        np.testing.assert_allclose(forecasts[i], found, rtol=1e-8)
    common = (
        0 * W[0] if pool == "none" else solved(model, each, [range(o.n) for o in each], RIDGE[0])
    )
    np.testing.assert_allclose(model.readout_, common, rtol=1e-8, atol=1e-10)


@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")
@pytest.mark.parametrize(
    ("pool", "scheme"),
    [("none", one) for one in SCHEMES] + [("shrunk", one) for one in (*SCHEMES, *BY_SERIES)],
)
@pytest.mark.parametrize("case", CASES)
def test_every_split_equals_own_rows(pool, case, scheme):
    params, data = CASES[case]
    cv = (SCHEMES | BY_SERIES)[scheme]
    model, each = read(pooled(params, pool), **data)
    expected = []
    for train, valid in splits_of(cv, each):
        readouts = [own(model, each, train, ridge) for ridge in RIDGE]
        expected.append([
            np.mean([
                one.score(W, *interval)
                for one, W, interval in zip(each, of_ridge, valid, strict=True)
                if interval is not None
            ])
            for of_ridge in readouts
        ])  # fmt: skip
    given = (data.get("y", PANEL),)
    more = {name: data[name] for name in ("X", "sample_weight") if name in data}
    for how in HOW:
        found = cross_validate(model, *given, cv=cv, ridge=RIDGE, **more, **how)
        np.testing.assert_allclose(found.nrmse, expected, rtol=1e-8, err_msg=str(how))


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("pool", OWN)
def test_compiled_and_eager_give_the_same(pool):
    model, each = read(pooled({}, pool))
    train, valid = list(splits_of(Accumulative(2, valid=6), each))[1]
    W = own(model, each, train, RIDGE[0])
    score = np.mean([one.score(w, *at) for one, w, at in zip(each, W, valid, strict=True)])
    found = cross_validate(model, PANEL, cv=Accumulative(2, valid=6))
    assert np.isclose(found.nrmse[1, 0], score, rtol=1e-8)


PAIRS = [np.column_stack([y, np.roll(y, 3) ** 2]) for y in PANEL]
ALIKE = {"several outputs": {}, "penalised": {"penalize_bias": True}, "direct": {"steps": 3}}


@pytest.mark.parametrize("case", ALIKE)
@pytest.mark.parametrize("how", [{"algorithm": "naive"}, {"algorithm": "small_k"}, {}])
def test_without_pooling_each_is_as_if_it_were_alone(case, how):
    settings = SETTINGS | ALIKE[case]
    model = ESNForecaster(**settings, pool="none").fit(PAIRS)
    alone = [ESNForecaster(**settings).fit(y) for y in PAIRS]
    for view, one, ahead in zip(model.series_.values(), alone, model.forecast(5), strict=True):
        np.testing.assert_allclose(view.readout_, one.readout_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ahead, one.forecast(5), rtol=1e-8)
    for cv in (KFold(3), Accumulative(3, valid=1)):  # the latter without a loop, where it may be
        found = cross_validate(model, PAIRS, cv=cv, ridge=RIDGE, metric="rmse", **how)
        each = [
            cross_validate(one, y, cv=cv, ridge=RIDGE, metric="rmse", **how).rmse
            for one, y in zip(alone, PAIRS, strict=True)
        ]
        np.testing.assert_allclose(found.rmse, np.mean(each, axis=0), rtol=1e-8)


@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k", "auto"])
@pytest.mark.parametrize("case", ALIKE)
@pytest.mark.parametrize("pool", OWN)
def test_readouts_of_splits_of_several_outputs(pool, case, algorithm):
    """And weights, of which some are zero: a series is left with none in one of the splits."""
    weights = [RNG.uniform(0.5, 2.0, len(y)) for y in PAIRS]
    if pool == "shrunk":
        weights[1][:30] = 0.0  # all that the first split trains on
    model = ESNForecaster(**SETTINGS, **ALIKE[case], pool=pool, shrink=SHRINK)
    problem = model._read(PAIRS, sample_weight=weights)
    source = model._states(problem, 0)
    splits = resolve_schemes(WalkForward(3, valid=5, min_train=20), problem, None, [])["cv"]
    settings = Settings(
        np.array(RIDGE), metrics=[resolve("rmse")], algorithm=algorithm, readouts=True,
        **model._fitting(vars(model), problem),
    )  # fmt: skip
    found = validate(source, {"one": splits}, settings, loops=False)["one"].W[0]
    (X,) = source.kept()
    A = np.column_stack([np.ones(len(X)), X])

    def fit(rows, Y, beta, penalised):
        w = problem.weights[rows, None]
        penalty = beta * np.eye(A.shape[1])
        penalty[0, 0] *= penalised
        return np.linalg.solve(A[rows].T @ (w * A[rows]) + penalty, A[rows].T @ (w * Y))

    run, without = 0, 0
    for train, valid in zip(splits.train, splits.valid, strict=True):
        rows = np.concatenate([np.arange(a, b) for a, b in train])
        for first, _ in valid:
            i = int(problem.series_of(np.array(first)))
            begin, end = problem.bounds[i : i + 2]
            mine = rows[(rows >= begin) & (rows < end)]
            for place, ridge in enumerate(RIDGE):
                if pool == "none":
                    W = fit(mine, problem.targets[mine], ridge, model.penalize_bias)
                else:
                    W = fit(rows, problem.targets[rows], ridge, model.penalize_bias)
                    if problem.weights[mine].any():
                        W = W + fit(mine, problem.targets[mine] - A[mine] @ W, SHRINK, True)
                    else:
                        without += 1
                np.testing.assert_allclose(found[run, place], W, rtol=1e-7, atol=1e-9)
            run += 1
    assert run == len(found) == 12
    assert without == (len(RIDGE) if pool == "shrunk" else 0)


@pytest.mark.parametrize("case", ALIKE)
def test_a_correction_that_costs_much_is_none(case):
    settings = SETTINGS | ALIKE[case] | {"scale": "minmax"}
    both = [
        cross_validate(ESNForecaster(**settings, **more), PAIRS, cv=KFold(3), ridge=RIDGE).nrmse
        for more in ({}, {"pool": "shrunk", "shrink": 1e14}, {"pool": "shrunk", "shrink": 1.0})
    ]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-8)
    assert np.abs(both[0] - both[2]).max() > 1e-2


@pytest.mark.parametrize("pool", OWN)
def test_a_panel_of_one_gives_the_bits_of_the_series(pool, tmp_path):
    settings = SETTINGS | {"pool": pool}
    alone, panel = ESNForecaster(**SETTINGS).fit(PANEL[0]), ESNForecaster(**settings).fit(PANEL[:1])
    np.testing.assert_array_equal(panel.readout_, alone.readout_)
    np.testing.assert_array_equal(panel.forecast(9, y=PANEL[1]), alone.forecast(9, y=PANEL[1]))
    one, other = (cross_validate(m, y, cv=KFold(3)) for m, y in
                  ((alone, PANEL[0]), (panel, PANEL[:1])))  # fmt: skip
    np.testing.assert_array_equal(one.nrmse, other.nrmse)
    save(panel, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").forecast(9)[0], alone.forecast(9))


def test_states_that_pass_in_blocks_give_the_same(monkeypatch):
    from echofold._engine import states

    def scores():
        return [
            cross_validate(ESNForecaster(**SETTINGS, pool=pool), PANEL, cv=KFold(3), memory=memory)
            for pool in OWN
            for memory in ("states", "pieces")
        ]

    whole = scores()
    monkeypatch.setattr(states, "ROWS_BYTES", 2**13)
    for one, other in zip(whole, scores(), strict=True):
        np.testing.assert_allclose(one.nrmse, other.nrmse, rtol=1e-10)
    assert "small_k" in whole[3].reason
    assert [one.attrs["memory"] for one in whole] == ["states", "pieces"] * 2


@pytest.mark.parametrize("pool", OWN)
def test_schemes_share_runs_of_the_same_splits(pool):
    model, cv = ESNForecaster(**SETTINGS, pool=pool), Accumulative(3, valid=4)
    splits = split_series(cv, model._read(PANEL).segments.rows.tolist())
    pairs = [(rows_of(train), rows_of(valid)) for train, valid in zip(splits.train, splits.valid,
                                                                strict=True)]  # fmt: skip
    found = cross_validate(model, PANEL, cv={"first": pairs[:2], "last": pairs[1:]}, ridge=RIDGE)
    whole = cross_validate(model, PANEL, cv=cv, ridge=RIDGE).nrmse
    np.testing.assert_allclose(found["first"].nrmse, whole[:2], rtol=1e-10)
    np.testing.assert_allclose(found["last"].nrmse, whole[1:], rtol=1e-10)


@pytest.mark.parametrize("shrink", [0.0, 1e-6, 1.0, 100.0])
@pytest.mark.parametrize("length", [60, 400])
def test_corrections_from_moments_are_those_of_rows(shrink, length):
    y = [np.sin(np.arange(length + i) / (2 + i)) + 0.1 * RNG.normal(size=length + i)
         for i in range(3)]  # fmt: skip
    model = ESNForecaster(40, random_state=0, pool="shrunk", shrink=shrink)
    one, other = (
        cross_validate(model, y, cv=KFold(4, valid=5, gap=1), ridge=[1e-4, 1.0], algorithm=how)
        for how in ("naive", "small_k")
    )
    np.testing.assert_allclose(one.nrmse, other.nrmse, rtol=1e-8)


# --- searches and what they leave -----------------------------------------------------------------

SPACE = [
    {"pool": ["all", "none"], "ridge": RIDGE, "leak_rate": [0.4, 1.0]},
    {"pool": ["shrunk"], "shrink": [0.1, 5.0], "ridge": RIDGE, "leak_rate": [0.4, 1.0]},
]


@pytest.mark.parametrize(
    "options",
    [{}, {"prune": True}, {"prune": True, "cv": KFold(3, valid=1)}, {"memory": "pieces"},
     {"n_draws": 2}, {"ridge_per": "split"}, {"n_jobs": 2},
     {"metric": horizon(0.4)}, {"cv": {"one": KFold(3), "two": Accumulative(3, valid=4)}}],
)  # fmt: skip
def test_a_search_finds_the_pool_that_validates_best(options):
    options = {"cv": KFold(3), **options}
    search = ESNSearchCV(ESNForecaster(**SETTINGS), SPACE, **options).fit(PANEL)
    cv = options["cv"]["one"] if isinstance(options["cv"], dict) else options["cv"]
    metric, draws = options.get("metric", "nrmse"), range(options.get("n_draws", 1))
    costs = {}
    for space in SPACE:
        for pool in space["pool"]:
            for leak in space["leak_rate"]:
                for shrink in space.get("shrink", [10.0]):
                    more = {"pool": pool, "shrink": shrink, "leak_rate": leak}
                    each = [
                        cross_validate(
                            ESNForecaster(**{**SETTINGS, **more, "random_state": draw}), PANEL,
                            cv=cv, ridge=RIDGE, metric=metric,
                        )
                        for draw in draws
                    ]  # fmt: skip
                    name = each[0].attrs["metric"]
                    scores = np.mean([one[name].values for one in each], axis=0)
                    if options.get("ridge_per") == "split":
                        scores = scores.min(axis=1, keepdims=True)
                    scores = scores.mean(axis=0)
                    costs[tuple(more.values())] = (-scores if name == "horizon" else scores).min()
    best = min(costs, key=costs.get)
    found = tuple(
        {"shrink": 10.0, **search.best_params_}[k] for k in ("pool", "shrink", "leak_rate")
    )
    assert np.isclose(abs(search.best_score_), abs(costs[best]), rtol=1e-9)
    assert np.isclose(costs[found], costs[best], rtol=1e-9)


def test_a_checkpoint_and_drawn_corrections(tmp_path):
    from scipy.stats import loguniform

    space = {"pool": [*OWN], "shrink": loguniform(0.1, 100.0), "ridge": RIDGE}
    found = []
    for _ in range(2):
        search = ESNSearchCV(
            ESNForecaster(**SETTINGS), space, cv=KFold(3), strategy="random", n_iter=6,
            random_state=0, checkpoint=tmp_path,
        )  # fmt: skip
        found.append(search.fit(PANEL))
    np.testing.assert_array_equal(found[0].results_.nrmse, found[1].results_.nrmse)
    own = found[0].results_.nrmse.values[0, found[0].results_.pool.values == "shrunk"]
    assert len(np.unique(own[:, 0, 0])) == len(own) > 1
    save(found[0].best_estimator_, tmp_path / "model")
    with pytest.raises(ValueError, match=r"parameters\['shrink'\]"):
        ESNSearchCV(
            ESNForecaster(**SETTINGS, shrink=3.0), space, cv=KFold(3), strategy="random", n_iter=6,
            random_state=0, checkpoint=tmp_path,
        ).fit(PANEL)  # fmt: skip


def test_an_automatic_space_tries_pools_where_these_can_be(monkeypatch):
    monkeypatch.setattr(spaces, "GRIDS", {"medium": {"leak_rate": [1.0]}})
    model, cv = ESNForecaster(**SETTINGS), Accumulative(2, valid=6)

    def pools(y=PANEL, model=model, **options):
        search = ESNSearchCV(model, **{"cv": cv, **options}).fit(y)
        return search.space_[0].get("pool"), {one.get("pool") for one in search.candidates_}

    assert pools() == (["all", "none", "shrunk"], {"all", "none", "shrunk"})
    assert pools(cv=LeaveSeriesOut(2)) == (None, {None})
    assert pools(cv={"time": cv, "series": LeaveSeriesOut(2)}) == (None, {None})
    assert pools(final="average") == (None, {None})
    assert pools(verify=True) == (None, {None})
    assert pools(PANEL[0]) == (None, {None})
    assert pools(PANEL[:1]) == (None, {None})
    assert pools(model=ESNForecaster(**SETTINGS, pool="shrunk")) == (None, {None})


@pytest.mark.parametrize("pool", OWN)
def test_intervals_and_scores_are_of_each_series(pool):
    cv = Accumulative(4, valid=5)
    search = ESNSearchCV(
        ESNForecaster(**SETTINGS, pool=pool, shrink=SHRINK), {"ridge": RIDGE}, cv=cv
    ).fit(PANEL)
    model, each = read(pooled({}, pool))
    ridge, fitted = search.best_params_["ridge"], search.best_estimator_
    for split, (train, valid) in enumerate(splits_of(cv, each)):
        W = own(model, each, train, ridge)
        for i, (one, (a, b)) in enumerate(zip(each, valid, strict=True)):
            error = PANEL[i][one.first + a : one.first + b] - one.forecast(W[i], a, b - a)
            found = fitted.series_[i].residuals_[split, :, 0]
            np.testing.assert_allclose(found, error, rtol=1e-7, atol=1e-9)
    W = own(model, each, [range(one.n) for one in each], ridge)
    np.testing.assert_allclose(fitted.series_[2].readout_, W[2], rtol=1e-8, atol=1e-10)
    assert np.isclose(search.series_scores_.nrmse.mean(), search.best_score_, rtol=1e-9)
    forecast = search.forecast(3, level=0.8)
    assert all((low < high).all() for low, high in zip(forecast.lower[0.8], forecast.upper[0.8],
                                                       strict=True))  # fmt: skip


@pytest.mark.parametrize("pool", OWN)
def test_a_file_an_update_and_a_pickle_keep_the_readouts(pool, tmp_path):
    import pickle

    model = ESNForecaster(**SETTINGS, pool=pool, scale=None).fit(DATED)
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        for name, one in model.forecast(6).items():
            np.testing.assert_array_equal(again.forecast(6)[name], one)
        np.testing.assert_array_equal(again.readout_, model.readout_)
    later = {name: model.forecast(6)[name][:3] for name in "ab"}
    expected = {name: model.forecast(6)[name][3:] for name in "ab"}
    model.update(later)
    for name in "ab":
        np.testing.assert_allclose(model.forecast(3)[name], expected[name], rtol=1e-9)
    # Without a readout that is not the common one, or with one too many, a file is refused.
    for change, other in (({"pool": "all"}, "all"), ({"pool": "none"}, "none")):
        path = tmp_path / other
        save(ESNForecaster(**SETTINGS, pool="all" if other == "none" else pool).fit(PANEL), path)
        path.write_bytes(
            archive(with_json(members_of(path), lambda a, c=change: a["params"].update(c)))
        )
        with pytest.raises(ValueError, match="expected as pool says"):
            load(path)
    model.readout_ = model.readout_[:-1]
    with pytest.raises(ValueError, match=r"readout_ is an array .* expected float64 of shape"):
        save(model, tmp_path / "model")


def test_a_series_whose_end_is_missing_goes_on_by_its_own_readout():
    y = [one.copy() for one in PANEL]
    y[1][-3:] = np.nan
    with pytest.warns(EchofoldWarning, match="missing"):
        model = ESNForecaster(**SETTINGS, pool="none").fit(y)
    with pytest.warns(EchofoldWarning, match="missing"):
        alone = ESNForecaster(**SETTINGS).fit(y[1])
    np.testing.assert_allclose(model.forecast(4)[1], alone.forecast(4), rtol=1e-8)


def test_a_series_that_was_not_seen_has_the_common_readout():
    both = [ESNForecaster(**SETTINGS, pool=pool).fit(PANEL[1:]) for pool in ("all", "shrunk")]
    one, other = (model.forecast(5, y=PANEL[0]) for model in both)
    np.testing.assert_array_equal(one, other)
    model = ESNForecaster(**SETTINGS, pool="none").fit(PANEL[1:])
    with pytest.raises(ValueError, match=r"each series has a readout of its own, and y has none"):
        model.forecast(5, y=PANEL[0])
    view = model.series_[0]
    np.testing.assert_allclose(view.forecast(5, y=PANEL[1]), model.forecast(5)[0], rtol=1e-9)


@pytest.mark.parametrize("pool", OWN)
def test_backtests_that_refit_equal_fits_before_each_start(pool):
    settings = SETTINGS | {"pool": pool, "scale": None, "washout": 4}
    found = backtest(ESNForecaster(**settings).fit(PANEL), PANEL, 3, 4, refit=True)
    for start in (1, 2):  # before the first there are but a few rows
        before = [y[: one.start.values[start]] for y, one in zip(PANEL, found, strict=True)]
        ahead = ESNForecaster(**settings).fit(before).forecast(4)
        for one, expected in zip(found, ahead, strict=True):
            np.testing.assert_allclose(one.forecast[start, :, 0], expected, rtol=1e-7)
    (one, *_) = backtest(ESNForecaster(**settings).fit(PANEL), PANEL, 2, 4)
    assert one.forecast.shape == (2, 4, 1)


def test_a_whole_search_is_evaluated():
    search = ESNSearchCV(
        ESNForecaster(**SETTINGS), {"pool": [*OWN], "ridge": RIDGE}, cv=Accumulative(3, valid=4),
        metric="mae",
    )  # fmt: skip
    found = evaluate(search, PANEL, origins=1, horizon=4)
    ahead = search.fit([y[:-4] for y in PANEL]).forecast(4)
    errors = [np.abs(mean - y[-4:]).mean() for mean, y in zip(ahead, PANEL, strict=True)]
    np.testing.assert_allclose(found.mae[0], errors, rtol=1e-9)


def test_short_series_that_are_not_validated_have_readouts():
    short = [*PANEL, PANEL[0][:9]]
    search = ESNSearchCV(
        ESNForecaster(**SETTINGS),
        {"pool": ["shrunk"], "ridge": RIDGE},
        cv=Accumulative(2, valid=12),
    )
    with pytest.warns(EchofoldWarning, match="too short"):
        fitted = search.fit(short).best_estimator_
    assert np.abs(fitted.series_[4].readout_ - fitted.readout_).max() > 1e-3


# --- what is refused ------------------------------------------------------------------------------


def test_what_has_no_meaning_is_said():
    model = ESNForecaster(**SETTINGS, pool="none")
    with pytest.raises(ValueError, match=r"pool='some'.* 'all', 'none' or 'shrunk'"):
        ESNForecaster(pool="some").fit(PANEL)
    with pytest.raises(ValueError, match=r"shrink=-1.* a number of at least 0"):
        ESNForecaster(pool="shrunk", shrink=-1).fit(PANEL)
    message = r"pool='none': series 0 has no row .* in split 1 of cv=LeaveSeriesOut\(\).*'shrunk'"
    with pytest.raises(ValueError, match=message):
        cross_validate(model, PANEL, cv=LeaveSeriesOut())
    for space in ({"pool": ["all", "none"]}, {"ridge": RIDGE}):
        with pytest.raises(ValueError, match=message):
            ESNSearchCV(model, space, cv=LeaveSeriesOut()).fit(PANEL)
    with pytest.raises(ValueError, match="series 'b' has no row to be trained on, and"):
        ESNForecaster(**SETTINGS, pool="none", steps=10, washout=0).fit(
            {"a": PANEL[0], "b": PANEL[1][:9]}
        )
    for more in ({"verify": True}, {"readouts": True}):
        with pytest.raises(ValueError, match=f"{next(iter(more))}=True .* pool='none'"):
            cross_validate(model, PANEL, cv=KFold(3), **more)
    with pytest.raises(ValueError, match=r"final='average' is made of the readouts of splits"):
        ESNSearchCV(model, {"pool": ["all", "none"]}, cv=KFold(3), final="average").fit(PANEL)
    search = ESNSearchCV(model, {"ridge": RIDGE}, cv=KFold(3)).fit(PANEL)
    with pytest.raises(ValueError, match=r"pool='none' each series has one of its own"):
        search.finalize("best")
