"""Several series in one model, against a loop that stacks the states of each and refits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from model_files import archive, array, members_of, with_json, with_series
from panels import (
    BY_SERIES,
    CASES,
    DATED,
    KNOWN,
    LENGTHS,
    MONTHS,
    PANEL,
    RIDGE,
    RNG,
    SCHEMES,
    SETTINGS,
    WEIGHTS,
    Series,
    read,
    solved,
    splits_of,
)

from echofold import (
    Accumulative,
    EchofoldWarning,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveSeriesOut,
    backtest,
    cross_validate,
    evaluate,
    load,
    save,
)
from echofold._data.scaling import UNHEARD
from echofold._engine import drive, states
from echofold._folds.splits import split_series
from echofold._models.forecast import interval
from echofold.dynamics import lyapunov_exponents
from echofold.long_format import LongFrame
from echofold.metrics import horizon
from echofold.reservoirs import Leaky


@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")
@pytest.mark.parametrize("case", CASES)
def test_fits_and_forecasts_equal_stacked_states(case):
    params, data = CASES[case]
    model, each = read(params, **data)
    W = solved(model, each, [range(one.n) for one in each], RIDGE[0])
    np.testing.assert_allclose(model.readout_, W, rtol=1e-8, atol=1e-10)
    ahead = [X[:7] for X in data["X"]] if "X" in data else None
    forecasts = model.forecast(7, X=ahead)
    for i, y in enumerate(data.get("y", PANEL)):
        known = None if ahead is None else np.concatenate([KNOWN[i], ahead[i]])
        longer = Series(model, np.append(y, np.full(7, y[-1])), known, learned=len(y))
        found = longer.forecast(W, len(y) - longer.first, 7)
        np.testing.assert_allclose(forecasts[i], found, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")
@pytest.mark.parametrize("scheme", [*SCHEMES, *BY_SERIES])
@pytest.mark.parametrize("case", CASES)
def test_every_split_equals_a_loop(case, scheme):
    params, data = CASES[case]
    cv = (SCHEMES | BY_SERIES)[scheme]
    model, each = read(params, **data)
    expected = [
        [
            np.mean(
                [
                    one.score(solved(model, each, train, ridge), *interval)
                    for one, interval in zip(each, valid, strict=True)
                    if interval is not None
                ]
            )
            for ridge in RIDGE
        ]
        for train, valid in splits_of(cv, each)
    ]
    given = (data.get("y", PANEL),)
    more = {name: data[name] for name in ("X", "sample_weight") if name in data}
    for how in ({"algorithm": "naive"}, {"algorithm": "large_k"}, {"memory": "pieces"}, {}):
        found = cross_validate(model, *given, cv=cv, ridge=RIDGE, **more, **how)
        np.testing.assert_allclose(found.nrmse, expected, rtol=1e-8, err_msg=str(how))


# --- the kinds that series are given in -----------------------------------------------------------

FRAMES = {
    "list": (list(PANEL), list(KNOWN)),
    "tuple": (tuple(PANEL), tuple(KNOWN)),
    "dict": (DATED, {n: pd.DataFrame(x) for n, x in zip("abcd", KNOWN, strict=True)}),
    "series": (
        pd.concat(DATED, names=["shop"]),
        pd.concat({n: pd.DataFrame(x, DATED[n].index) for n, x in zip("abcd", KNOWN, strict=True)}),
    ),
    "frame": (pd.concat(DATED, names=["shop"]).to_frame(), None),
    "polars": ([pl.Series("v", y) for y in PANEL], [pl.DataFrame(x) for x in KNOWN]),
}


def parts(result):
    """What there is of each series in any kind of result."""
    if isinstance(result, pd.Series | pd.DataFrame):
        return [one.droplevel(0) for _, one in result.groupby(level=0, sort=False)]
    return list(result.values() if isinstance(result, dict) else result)


@pytest.mark.parametrize("kind", FRAMES)
def test_forecasts_come_in_the_kind_given_and_go_on(kind, tmp_path):
    y, _ = FRAMES[kind]
    plain = ESNForecaster(**SETTINGS, difference=(1,)).fit(PANEL)
    model = ESNForecaster(**SETTINGS, difference=(1,)).fit(y)
    np.testing.assert_array_equal(model.readout_, plain.readout_)
    found = model.forecast(4)
    assert type(found) is type(y)
    for i, (one, expected) in enumerate(zip(parts(found), plain.forecast(4), strict=True)):
        np.testing.assert_array_equal(np.ravel(one), expected)
        if kind in ("dict", "series", "frame"):
            assert list(one.index) == list(MONTHS[i + LENGTHS[i] :][:4])
    if kind in ("series", "frame"):
        assert found.index.names == ["shop", "month"]
        assert list(found.index.get_level_values(0)) == list(np.repeat(list("abcd"), 4))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.panel_ == model.panel_
    for one, other in zip(parts(again.forecast(4)), parts(found), strict=True):
        assert type(one) is type(other)
        assert (one == other).all(axis=None) if kind == "frame" else (one == other).all()


@pytest.mark.parametrize("kind", ["list", "dict", "series", "polars"])
def test_known_inputs_are_given_in_the_same_kind(kind):
    y, X = FRAMES[kind]
    model, plain = ESNForecaster(**SETTINGS).fit(y, X), ESNForecaster(**SETTINGS).fit(PANEL, KNOWN)
    np.testing.assert_array_equal(model.readout_, plain.readout_)
    ahead = RNG.normal(size=(4, 3, 2))
    expected = plain.forecast(3, X=list(ahead))
    given = list(ahead)
    if kind == "dict":
        given = {name: pd.DataFrame(x) for name, x in zip("abcd", ahead, strict=True)}
        given = {name: x.set_index(MONTHS[i + len(PANEL[i]) :][:3]) for i, (name, x) in
                 enumerate(given.items())}  # fmt: skip
    if kind == "series":
        given = pd.concat(
            {n: pd.DataFrame(x, MONTHS[i + len(PANEL[i]) :][:3]) for i, (n, x) in
             enumerate(zip("abcd", ahead, strict=True))}
        )  # fmt: skip
    for one, other in zip(parts(model.forecast(3, X=given)), expected, strict=True):
        np.testing.assert_array_equal(np.ravel(one), other)


def test_several_outputs_and_a_list_of_lists_that_is_one_table():
    pairs = [np.column_stack([y, y[::-1]]) for y in PANEL]
    model = ESNForecaster(**SETTINGS).fit(pairs)
    assert [one.shape for one in model.forecast(3)] == [(3, 2)] * 4
    table = [[1.0, 2.0], [2.0, 1.5], [3.0, 1.0], [2.5, 2.0], [1.0, 1.0]]
    assert ESNForecaster(**SETTINGS, washout=0).fit(table).forecast(2).shape == (2, 2)


# --- one series, others, later rows ---------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"log": True, "difference": (1,)}, {"steps": 3}])
def test_a_panel_of_one_gives_the_bits_of_the_series(params, tmp_path):
    settings = SETTINGS | params
    alone, panel = ESNForecaster(**settings).fit(PANEL[0]), ESNForecaster(**settings).fit(PANEL[:1])
    np.testing.assert_array_equal(panel.readout_, alone.readout_)
    np.testing.assert_array_equal(panel.forecast(9)[0], alone.forecast(9))
    for cv in (KFold(3), Accumulative(2, valid=5)):
        one, other = (
            cross_validate(ESNForecaster(**settings), y, cv=cv, ridge=RIDGE)
            for y in (PANEL[0], PANEL[:1])
        )
        np.testing.assert_array_equal(one.nrmse, other.nrmse)
    searches = [
        ESNSearchCV(ESNForecaster(**settings), {"ridge": RIDGE}, cv=KFold(3)).fit(y)
        for y in (PANEL[0], PANEL[:1])
    ]
    one, other = (search.forecast(4, level=0.8) for search in searches)
    np.testing.assert_array_equal(one.lower[0.8], other.lower[0.8][0])
    save(panel, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").forecast(9)[0], alone.forecast(9))


@pytest.mark.parametrize("params", [{}, {"log": True, "difference": (1,)}, {"steps": 3}])
def test_a_series_that_was_not_seen_is_forecast_from_its_history(params):
    model = ESNForecaster(**SETTINGS, **params).fit(PANEL[1:])
    y = PANEL[0]
    one = Series(model, np.append(y, np.full(5, y[-1])), learned=len(y))
    expected = one.forecast(model.readout_, len(y) - one.first, 5)
    np.testing.assert_allclose(model.forecast(5, y=y), expected, rtol=1e-8)
    several = model.forecast(5, y={"new": y, "known": PANEL[1]})
    np.testing.assert_array_equal(several["new"], model.forecast(5, y=y))
    np.testing.assert_allclose(several["known"], model.forecast(5)[0], rtol=1e-12)
    # A model of one series does so too.
    alone = ESNForecaster(**SETTINGS, **params).fit(PANEL[2])
    np.testing.assert_allclose(alone.forecast(5, y=PANEL[2]), alone.forecast(5), rtol=1e-12)


def test_known_inputs_of_a_series_not_seen_reach_past_its_end():
    model = ESNForecaster(**SETTINGS).fit(PANEL[1:], KNOWN[1:])
    found = model.forecast(4, y=PANEL[1][:-4], X=KNOWN[1])
    assert found.shape == (4,)
    with pytest.raises(ValueError, match=r"X has 41 rows, expected 45"):
        model.forecast(4, y=PANEL[1][:-4], X=KNOWN[1][:-4])
    with pytest.raises(ValueError, match="X was given to fit but not to forecast"):
        model.forecast(4, y=PANEL[1])
    with pytest.raises(ValueError, match="intervals are made of validation errors"):
        model.forecast(4, y=PANEL[1], X=KNOWN[1], level=0.5)


def test_update_moves_every_series_on_or_none():
    longer, start = ESNForecaster(**SETTINGS).fit(DATED), {n: y[:-6] for n, y in DATED.items()}
    model = ESNForecaster(**SETTINGS, scale=None).fit(start)
    whole = ESNForecaster(**SETTINGS, scale=None).fit(DATED)
    before = model.forecast(3)
    with pytest.raises(ValueError, match=r"series 'c': the index of y does not follow"):
        model.update({n: y[-5:] if n == "c" else y[-6:] for n, y in DATED.items()})
    pd.testing.assert_series_equal(model.forecast(3)["a"], before["a"])
    model.update({n: y[-6:] for n, y in DATED.items() if n != "d"})
    for name in "abc":
        np.testing.assert_allclose(
            model.series_[name].state_, whole.series_[name].state_, rtol=1e-12
        )
        assert model.forecast(2)[name].index[0] == longer.forecast(2)[name].index[0]
    pd.testing.assert_series_equal(model.forecast(3)["d"], before["d"])


def test_attributes_of_series_are_scaled_over_all_of_them():
    size = [1.0, 5.0, 2.0, 8.0]
    X = [
        np.column_stack([np.full(len(y), a), x]) for y, x, a in zip(PANEL, KNOWN, size, strict=True)
    ]
    model = ESNForecaster(**SETTINGS).fit(PANEL, X)
    centers = np.array([view.X_scaler_.center for view in model.series_.values()])
    units = np.array([view.X_scaler_.unit for view in model.series_.values()])
    np.testing.assert_allclose(centers[:, 0], np.mean(size))
    np.testing.assert_allclose(units[:, 0], np.std(size))
    np.testing.assert_allclose(centers[:, 1:], [x.mean(0) for x in KNOWN])
    # A series that was not seen has its attribute in the same units.
    ahead = np.column_stack([np.full(66, 5.0), RNG.normal(size=(66, 2))])
    other = model._other(PANEL[0], ahead[:62])[0]
    assert other.X_scaler_.center[0] == np.mean(size)
    np.testing.assert_allclose(other.X_scaler_.center[1:], ahead[:62, 1:].mean(0))
    one, two = (model.forecast(4, y=PANEL[0], X=np.column_stack([np.full(66, a), ahead[:, 1:]]))
                for a in (1.0, 8.0))  # fmt: skip
    assert np.abs(one - two).max() > 1e-3
    # Without the attribute of others, it would be nothing but a constant.
    alone = ESNForecaster(**SETTINGS).fit(PANEL[:1], X[:1])
    assert alone.series_[0].X_scaler_.center[0] == 1.0
    assert alone.series_[0].X_scaler_.unit[0] == UNHEARD


# --- searches -------------------------------------------------------------------------------------


def test_leaving_series_out_equals_training_on_the_rest():
    model = ESNForecaster(**SETTINGS, ridge=1e-2)
    found = cross_validate(model, PANEL, cv=LeaveSeriesOut(2), readouts=True, metric="rmse")
    for split, rest in enumerate((PANEL[2:], PANEL[:2])):
        readout = found.readout[split, 0]
        np.testing.assert_allclose(readout, model.fit(rest).readout_, rtol=1e-7, atol=1e-9)


def test_a_search_gives_each_series_its_own_intervals():
    space = {"ridge": RIDGE, "leak_rate": [0.4, 1.0], "difference": [(), (1,)]}
    search = ESNSearchCV(ESNForecaster(**SETTINGS), space, cv=Accumulative(4, valid=5)).fit(DATED)
    model = ESNForecaster(**{**SETTINGS, **search.best_params_})
    found = cross_validate(model, DATED, cv=Accumulative(4, valid=5), readouts=True)
    assert np.isclose(found.nrmse.mean(), search.best_score_, rtol=1e-9)
    forecast, model = search.forecast(3, level=[0.5, 0.9]), search.best_estimator_
    for name, y in zip("abcd", PANEL, strict=True):
        one, view = Series(model, y), model.series_[name]
        for split, (a, b) in enumerate(s.valid for s in Accumulative(4, valid=5).splits(one.n)):
            ahead = one.forecast(found.readout.values[split, 0], a, b - a)
            error = y[one.first + a : one.first + b] - ahead
            np.testing.assert_allclose(view.residuals_[split, :, 0], error, rtol=1e-7, atol=1e-9)
        low, high = interval(view.residuals_, 3, 0.9, view.runs_)
        np.testing.assert_allclose(forecast.upper[0.9][name] - forecast.mean[name], high[:, 0])
    for final in ("average", "best", "weighted"):
        assert search.finalize(final).forecast(2)["a"].shape == (2,)
    with pytest.raises(ValueError, match="final='ensemble' combines forecasts of one series"):
        search.finalize("ensemble")


@pytest.mark.parametrize(
    "options", [{"prune": True}, {"verify": True}, {"memory": "pieces"}, {"n_draws": 2}]
)
def test_options_of_a_search_find_the_same_winner(options):
    space = {"leak_rate": [0.2, 0.6, 1.0], "ridge": RIDGE}
    searches = [
        ESNSearchCV(ESNForecaster(**SETTINGS), space, cv=KFold(4), **more).fit(PANEL)
        for more in ({k: v for k, v in options.items() if k == "n_draws"}, options)
    ]
    assert searches[0].best_params_ == searches[1].best_params_
    assert np.isclose(searches[0].best_score_, searches[1].best_score_, rtol=1e-9)


def test_an_automatic_space_suits_all_series():
    search = ESNSearchCV(ESNForecaster(12, random_state=0), cv=Accumulative(2, valid=6))
    assert search.fit(DATED).best_score_ < 1.5


@pytest.mark.parametrize("metric", ["mae", "mase", "nrmse", "mape"])
def test_metrics_are_means_over_series(metric):
    """A split of two series in the same time is the mean of what each scores by that readout."""
    model, cv = ESNForecaster(**SETTINGS, ridge=1e-2), Accumulative(2, valid=6)
    both = cross_validate(model, PANEL, cv=cv, metric=[metric, "rmse"])
    alone = cross_validate(model, PANEL, cv=cv, metric=metric, memory="pieces")
    np.testing.assert_allclose(both[metric], alone[metric], rtol=1e-9)
    if metric == "mase":
        scaled = [y / np.abs(np.diff(y[len(y) // 10 :])).mean() for y in PANEL]
        mae = cross_validate(model, scaled, cv=cv, metric="mae")
        # A pair of the washout is not among the values that the scale is made of
        np.testing.assert_allclose(both.mase, mae.mae, rtol=0.05)


def test_short_series_are_trained_on_and_the_note_names_them():
    short = [*PANEL, PANEL[0][:9]]
    with pytest.warns(EchofoldWarning, match=r"1 of 5 series \(4\) are too short for cv=Accumul"):
        found = cross_validate(
            ESNForecaster(**SETTINGS), short, cv=Accumulative(2, valid=12), readouts=True
        )
    search = ESNSearchCV(ESNForecaster(**SETTINGS), {"ridge": RIDGE}, cv=Accumulative(2, valid=12))
    with pytest.warns(EchofoldWarning, match="too short"):
        search.fit(short)
    with pytest.warns(EchofoldWarning, match="series 4: it was too short to be validated"):
        forecast = search.forecast(3, level=0.5)
    assert [bool(np.isnan(one).any()) for one in forecast.upper[0.5]] == [False] * 4 + [True]
    without = cross_validate(
        ESNForecaster(**SETTINGS), PANEL, cv=Accumulative(2, valid=12), readouts=True
    )
    assert np.isfinite(found.nrmse).all()
    assert not np.allclose(found.readout, without.readout, rtol=1e-3)


def test_splitters_with_groups_see_the_rows_of_all():
    from sklearn.model_selection import GroupKFold

    groups = [np.arange(len(y)) // (len(y) // 2 + 1) for y in PANEL]
    found = cross_validate(ESNForecaster(**SETTINGS), PANEL, cv=GroupKFold(2), groups=groups)
    assert found.sizes["split"] == 2
    flat = cross_validate(
        ESNForecaster(**SETTINGS), PANEL, cv=GroupKFold(2), groups=np.concatenate(groups)
    )
    np.testing.assert_array_equal(found.nrmse, flat.nrmse)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("params", [{}, {"difference": (1,), "log": True}])
def test_compiled_and_eager_give_the_same(params):
    model = ESNForecaster(**SETTINGS, **params)
    fitted, cv = model.fit(PANEL), Accumulative(2, valid=6)
    each = [Series(model, y) for y in PANEL]
    W = solved(model, each, [range(one.n) for one in each], model.ridge)
    np.testing.assert_allclose(fitted.readout_, W, rtol=1e-8, atol=1e-10)
    scores = [
        np.mean([
            one.score(solved(model, each, train, model.ridge), *interval)
            for one, interval in zip(each, valid, strict=True)
        ])
        for train, valid in splits_of(cv, each)
    ]  # fmt: skip
    found = cross_validate(model, PANEL, cv=cv)
    np.testing.assert_allclose(found.nrmse[:, 0], scores, rtol=1e-8)


def test_states_of_many_series_are_driven_in_blocks(monkeypatch):
    """Blocks of few rows, and of few steps, give the states of one block."""
    problem = ESNForecaster(**SETTINGS)._read(PANEL)
    kinds = [Leaky(12, leak_rate=a) for a in (0.3, 1.0)]
    from echofold._engine.kind import drawn
    from echofold._engine.states import states_of

    def rows():
        source = states_of(problem, drawn(kinds, 1, 0), "cpu:eager")
        source.watch([3, 100])
        blocks = list(source.blocks())
        return blocks, source.begins([3, 100]), source.pilot(20), source.steps

    (one,), begins, pilot, steps = rows()
    monkeypatch.setattr(states, "ROWS_BYTES", 2**13)
    monkeypatch.setattr(drive, "SIDE_BY_SIDE", 2**12)
    blocks, others, _, again = rows()
    assert len(blocks) == 4
    for candidate in range(2):
        whole = np.concatenate([block[candidate] for _, block in blocks])
        np.testing.assert_allclose(whole, one[1][candidate], rtol=1e-12)
    np.testing.assert_allclose(begins, others, rtol=1e-12)
    assert steps == again == sum(len(y) - 1 for y in PANEL)
    assert all(20 <= len(X) <= 80 for X in pilot)


def test_a_stretch_without_a_value_is_not_scored():
    """And the mean is that of the other series; without any, the split is left out."""
    valid = Accumulative(3, valid=6).splits(len(PANEL[0]) - 1 - 6)[1].valid
    y = [one.copy() for one in PANEL]
    y[0][7 + valid[0] : 7 + valid[1]] = np.nan
    cv = Accumulative(3, valid=6)
    with pytest.warns(EchofoldWarning, match="series 0: y: 6 values of 62 are missing"):
        found = cross_validate(ESNForecaster(**SETTINGS), y, cv=cv, readouts=True)
    each = [Series(ESNForecaster(**SETTINGS).fit(PANEL), one) for one in y]
    intervals = [cv.splits(one.n)[1].valid for one in each]
    W = found.readout.values[1, 0]
    expected = [o.score(W, *at) for o, at in zip(each[1:], intervals[1:], strict=True)]
    assert np.isclose(found.nrmse[1, 0], np.mean(expected), rtol=1e-9)


def test_sets_of_any_splitter_are_cut_where_a_series_ends():
    pairs = [(np.arange(100), np.arange(100, 120)), (np.arange(30, 120), np.arange(30))]
    splits = split_series(pairs, [50, 60, 10])
    assert splits.train == [((0, 50), (50, 100)), ((30, 50), (50, 110), (110, 120))]
    assert splits.valid == [((100, 110), (110, 120)), ((0, 30),)]
    parts = [(one.series, one.places.tolist(), one.splits.valid) for one in splits.of_series]
    assert parts == [(0, [1], [((0, 30),)]), (1, [0], [((50, 60),)]), (2, [0], [((0, 10),)])]


def test_horizons_have_a_tolerance_for_each_series():
    """Series of the same shape hold equally long, whatever their units."""
    y = [PANEL[0], 1000 * PANEL[0], PANEL[2]]
    model, cv = ESNForecaster(**SETTINGS), KFold(3, valid=12)
    alone = cross_validate(model, [y[0], y[0], y[2]], cv=cv, metric=horizon(0.4))
    found = cross_validate(model, y, cv=cv, metric=horizon(0.4))
    np.testing.assert_allclose(found.horizon, alone.horizon)
    assert 0 < found.horizon.mean() < 12


def test_candidates_that_lose_rows_are_scored_on_the_same_rows_of_each_series():
    space = {"ridge": RIDGE, "difference": [(), (9,)]}
    search = ESNSearchCV(ESNForecaster(**SETTINGS), space, cv=KFold(3)).fit(PANEL)
    rows = [len(y) - 1 - max((len(y) - 1) // 10, 9) for y in PANEL]
    assert search.results_.attrs["rows"] == sum(rows)
    problem, _ = search._reader.problem({"difference": ()})
    assert problem.segments.rows.tolist() == rows


def test_a_checkpoint_knows_the_units_of_each_series(tmp_path):
    model, space = ESNRegressor(**SETTINGS), {"ridge": RIDGE}
    for Y in (OUTPUTS, OUTPUTS):
        ESNSearchCV(model, space, cv=KFold(2), checkpoint=tmp_path).fit(INPUTS, Y)
    with pytest.raises(ValueError, match="data"):
        twice = [2 * y for y in OUTPUTS]
        ESNSearchCV(model, space, cv=KFold(2), checkpoint=tmp_path).fit(INPUTS, twice)


def test_a_short_history_is_enough_for_a_series_that_was_not_seen():
    model = ESNForecaster(**SETTINGS, washout=20).fit(PANEL)
    assert np.isfinite(model.forecast(3, y=PANEL[0][:4])).all()
    assert not hasattr(model.fit(PANEL[0]), "series_")
    assert model.forecast(2).shape == (2,)


@pytest.mark.parametrize("known", [False, True])
def test_a_whole_search_is_evaluated_on_what_followed_in_each_series(known):
    search = ESNSearchCV(
        ESNForecaster(**SETTINGS), {"ridge": RIDGE}, cv=Accumulative(3, valid=4), metric="mae"
    )
    more = {"X": KNOWN} if known else {}
    found = evaluate(search, PANEL, origins=2, horizon=4, level=0.8, **more)
    assert found.mae.dims == ("origin", "series")
    assert found.start.values.tolist() == [[n - 8 for n in LENGTHS], [n - 4 for n in LENGTHS]]
    past = {name: [x[:-4] for x in each] for name, each in more.items()}
    ahead = {name: [x[-4:] for x in each] for name, each in more.items()}
    again = search.fit([y[:-4] for y in PANEL], **past).forecast(4, level=0.8, **ahead)
    errors = [np.abs(mean - y[-4:]).mean() for mean, y in zip(again.mean, PANEL, strict=True)]
    np.testing.assert_allclose(found.mae[1], errors, rtol=1e-9)
    ends = zip(again.lower[0.8], again.upper[0.8], PANEL, strict=True)
    inside = [np.mean((y[-4:] >= low) & (y[-4:] <= high)) for low, high, y in ends]
    np.testing.assert_allclose(found.coverage[1], inside)
    assert np.isclose(found.validation[1], search.best_score_)


def test_a_series_too_short_to_be_validated_is_evaluated_without_intervals():
    search = ESNSearchCV(
        ESNForecaster(**SETTINGS), {"ridge": RIDGE}, cv=Accumulative(3, valid=12), metric="mae"
    )
    with pytest.warns(EchofoldWarning, match="too short"):
        found = evaluate(search, [*PANEL, PANEL[0][:25]], origins=1, horizon=4)
    assert np.isfinite(found.mae).all()
    assert np.isnan(found.coverage.values[0]).tolist() == [False] * 4 + [True]


# --- regression -----------------------------------------------------------------------------------

INPUTS = [RNG.normal(size=(n, 2)) for n in LENGTHS]
OUTPUTS = [np.column_stack([np.roll(u[:, 0], 2), u[:, 1] * u[:, 0]]) for u in INPUTS]
LACKING = [y.copy() for y in OUTPUTS]
LACKING[1][[9, 20]] = np.nan
REGRESSIONS = {
    "one output": ({}, [y[:, 0] for y in OUTPUTS], None),
    "two outputs, a range": ({"output_range": (-1.0, 0.8), "washout": 4}, OUTPUTS, None),
    "missing, weights": ({}, LACKING, WEIGHTS),
    "penalised bias, minmax": ({"penalize_bias": True, "scale": "minmax"}, OUTPUTS, None),
}


def stacked(model, each, train, valid, ridge):
    """The score of each series by a readout of all rows that are trained on: a loop over time."""
    A, B, w = (np.concatenate([part[i][rows] for part, rows in zip(each, train, strict=True)])
               for i in range(3))  # fmt: skip
    there = w > 0
    A, B, w = A[there], B[there], w[there]
    penalty = ridge * np.eye(A.shape[1])
    penalty[0, 0] *= model.penalize_bias
    W = np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * B))
    limits = model.output_range or (-np.inf, np.inf)
    scores = []
    for (A, B, _, present), rows in zip(each, valid, strict=True):
        rows = [row for row in rows if present[row]]
        if rows:
            truth, found = (model.y_scaler_.original(Y[rows]) for Y in (B, A @ W))
            error = np.clip(found, *limits) - truth
            scores.append(np.sqrt((error**2).sum() / ((truth - truth.mean(0)) ** 2).sum()))
    return np.mean(scores), W


@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")
@pytest.mark.parametrize("scheme", ["KFold", "shuffled", "Accumulative", "LeaveSeriesOut"])
@pytest.mark.parametrize("case", REGRESSIONS)
def test_regressions_of_several_series_equal_a_loop(case, scheme):
    params, Y, weights = REGRESSIONS[case]
    model = ESNRegressor(**SETTINGS, ridge=1e-2, **params).fit(INPUTS, Y, weights)
    each = []
    for i, u in enumerate(INPUTS):
        first = min(200, len(u) // 10) if model.washout == "auto" else model.washout
        x, rows, y = np.zeros(12), [], Y[i].reshape(len(u), -1)
        for row in (u - model.X_scaler_.center) / model.X_scaler_.unit:
            x = np.tanh(model.W_in_ @ np.concatenate([[1.0], row]) + model.W_ @ x)
            rows.append(np.concatenate([[1.0], row, x]))
        present = ~np.isnan(y).any(axis=1)
        w = present * (1.0 if weights is None else weights[i])
        parts = np.array(rows), model.y_scaler_.scaled(np.nan_to_num(y)), w, present
        each.append([part[first:] for part in parts])
    cv = {"shuffled": KFold(3, shuffle=True, random_state=1)} | SCHEMES | BY_SERIES
    cv = cv[scheme]
    if scheme == "LeaveSeriesOut":
        every = [list(range(len(one[0]))) for one in each]
        sets = [
            ([every[i] if i in a else [] for i in range(4)],
             [every[i] if i in b else [] for i in range(4)])
            for a, b in cv._sets_of_series(4)
        ]  # fmt: skip
    else:
        splits = [list(cv.split(one[0])) for one in each]
        sets = [tuple(zip(*one, strict=True)) for one in zip(*splits, strict=True)]
    expected = [[stacked(model, each, *one, ridge)[0] for ridge in RIDGE] for one in sets]
    for how in ({"algorithm": "naive"}, {"algorithm": "large_k"}, {"memory": "pieces"}, {}):
        found = cross_validate(
            model, INPUTS, Y, sample_weight=weights, cv=cv, ridge=RIDGE, **how
        )  # fmt: skip
        np.testing.assert_allclose(found.nrmse, expected, rtol=1e-8, err_msg=str(how))
    np.testing.assert_allclose(
        model.X_scaler_.center,
        np.concatenate(INPUTS).mean(0) if model.scale == "standard" else np.vstack(INPUTS).min(0),
    )
    every = [range(len(one[0])) for one in each]
    W = stacked(model, each, every, every, model.ridge)[1]
    np.testing.assert_allclose(model.readout_, W, rtol=1e-8, atol=1e-10)


def test_predictions_of_several_series_come_as_they_are_given():
    Y = [y[:, 0] for y in OUTPUTS]
    model = ESNRegressor(**SETTINGS).fit(INPUTS, Y)
    named = ESNRegressor(**SETTINGS).fit(dict(enumerate(INPUTS)), dict(enumerate(Y)))
    found = model.predict(INPUTS)
    assert type(found) is list
    for i, one in named.predict(dict(enumerate(INPUTS))).items():
        np.testing.assert_array_equal(one, found[i])
        np.testing.assert_array_equal(one, model.predict(INPUTS[i]))
    truth, all_ = np.concatenate(Y), np.concatenate(found)
    r2 = 1 - ((truth - all_) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert np.isclose(model.score(INPUTS, Y), r2, rtol=1e-12)
    alone, panel = (ESNRegressor(**SETTINGS).fit(*d) for d in
                    ((INPUTS[0], Y[0]), (INPUTS[:1], Y[:1])))  # fmt: skip
    np.testing.assert_array_equal(panel.predict(INPUTS[0]), alone.predict(INPUTS[0]))
    search = ESNSearchCV(
        ESNRegressor(**SETTINGS), {"leak_rate": [0.3, 1.0], "ridge": RIDGE}, cv=LeaveSeriesOut()
    )
    assert search.fit(INPUTS, Y).predict(INPUTS)[2].shape == (70,)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ((INPUTS, OUTPUTS[0]), ValueError, "y has 62 rows for 4 sequences .* in a list of arrays"),
        ((INPUTS, OUTPUTS[:3]), ValueError, "y lacks series 3: X has 4 series"),
        (([INPUTS[0], INPUTS[1][:, :1]], OUTPUTS[:2]), ValueError,
         "series 1: X has 1 inputs , expected the 2 of series 0"),
        ((INPUTS, [*OUTPUTS[:3], OUTPUTS[3][:, :1]]), ValueError, "series 3: y has 1 column"),
        ((INPUTS, [y[:-1] for y in OUTPUTS]), ValueError, "series 0: .*inconsistent numbers"),
        (({}, {}), ValueError, "X is empty: it holds no series"),
    ],
)  # fmt: skip
def test_bad_series_of_a_regressor_are_refused_in_words(data, error, message):
    with pytest.raises(error, match=message):
        ESNRegressor(**SETTINGS).fit(*data)


def test_a_regressor_of_several_series_goes_on_from_none():
    model = ESNRegressor(**SETTINGS).fit(INPUTS, OUTPUTS)
    with pytest.raises(ValueError, match="start='last' goes on with one series"):
        model.predict(INPUTS, start="last")
    np.testing.assert_array_equal(model.predict(INPUTS[0], start="last"), model.predict(INPUTS[0]))


@pytest.mark.parametrize("task", ["forecast", "one step", "regression", "by output"])
def test_scores_by_series_have_the_mean_that_won(task):
    model, data, cv = ESNForecaster(**SETTINGS), (DATED,), Accumulative(3, valid=6)
    if task == "one step":
        cv = KFold(4, valid=1)
    if task in ("regression", "by output"):
        model = ESNRegressor(**SETTINGS)
        data = dict(zip("abcd", INPUTS, strict=True)), dict(zip("abcd", OUTPUTS, strict=True))
    space = {"leak_rate": [0.4, 1.0], "ridge": RIDGE}
    per = "output" if task == "by output" else "all"
    search = ESNSearchCV(model, space, cv=cv, metric=["nrmse", "mae"], ridge_per=per).fit(*data)
    found = search.series_scores_
    assert found.nrmse.dims == ("split", "series")
    assert list(found.series.values) == list("abcd")
    assert np.isclose(found.nrmse.mean(), search.best_score_, rtol=1e-9)
    place = {"leak_rate": search.best_params_["leak_rate"], "ridge": search.best_params_["ridge"]}
    if task != "by output":
        of_splits = search.results_.set_index(candidate="leak_rate").sel(
            candidate=place["leak_rate"], ridge=place["ridge"], draw=0
        )
        for metric in ("nrmse", "mae"):
            np.testing.assert_allclose(found[metric].mean("series"), of_splits[metric], rtol=1e-9)


def test_series_that_are_not_validated_have_no_scores():
    search = ESNSearchCV(ESNForecaster(**SETTINGS), {"ridge": RIDGE}, cv=Accumulative(2, valid=12))
    with pytest.warns(EchofoldWarning, match="too short"):
        search.fit([*PANEL, PANEL[0][:9]])
    missing = np.isnan(search.series_scores_.nrmse.values)
    assert missing[:, 4].all()
    assert not missing[:, :4].any()
    with pytest.raises(AttributeError, match="series_scores_ are those of several series"):
        search.fit(PANEL[0]).series_scores_  # noqa: B018


# --- what is refused ------------------------------------------------------------------------------

BAD = {
    "an empty list": (([],), ValueError, r"y is empty: its shape is \(0,\). Give at least"),
    "an empty dict": (({},), ValueError, "y is empty: it holds no series. Give at least one"),
    "one value": (
        ([PANEL[0], PANEL[1][:1]],), ValueError, "series 1: y gives 0 pairs .* at least 2 .* longer"
    ),
    "columns": (
        ({"a": PANEL[0], "b": np.ones((30, 2))},), ValueError,
        "series 'b': y has 2 columns, expected the 1 of series 'a'",
    ),
    "a name twice": (
        (pd.concat([DATED["a"], DATED["a"]], keys=["a", "a"]),), ValueError,
        r"y has two rows of series 'a' for 2020-01-01 .* a name of its own, or drop",
    ),
    "three levels": (
        (pd.concat({"x": pd.concat(DATED)}),), ValueError, "an index of 3 levels, expected two"
    ),
    "no name": (
        (pd.concat(DATED.values(), keys=["a", None, "c", "d"]),), ValueError, "no name of a series"
    ),
    "text": (({"a": ["x", "y"]},), TypeError, "series 'a': y must hold real numbers"),
    "infinity": (([PANEL[0], PANEL[1] * np.inf],), ValueError, "series 1: y contains an infinite"),
    "X of one missing": (
        (DATED, dict(zip("abc", KNOWN, strict=False))), ValueError,
        r"X lacks series 'd': y has 4 series, \['a', 'b', 'c', 'd'\]. Give X for each of them",
    ),
    "X of another": (
        (DATED, dict(zip("abcde", [*KNOWN, KNOWN[0]], strict=True))), ValueError,
        "X has the unexpected series 'e'",
    ),
    "X is None for one": (
        (PANEL, [*KNOWN[:3], None]), ValueError, "series 3: X=None, but other series have X"
    ),
    "X of another kind": (
        (PANEL, dict(enumerate(KNOWN))), TypeError,
        "X is a dict of series by name, but y is a list of series. Give X in the same kind",
    ),
    "X of one series": (
        (PANEL, KNOWN[0]), TypeError, "X is a ndarray, but y is a list of series. Give X in the"
    ),
    "X too short": (
        (PANEL, [x[:-1] for x in KNOWN]), ValueError, "series 0: X has 61 rows and y has 62"
    ),
    "weights": (
        (PANEL, None, [WEIGHTS[0]] * 4), ValueError, r"series 1: sample_weight has shape \(62,\)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_panels_are_refused_in_words(case):
    data, error, message = BAD[case]
    model = ESNForecaster(**SETTINGS)
    with pytest.raises(error, match=message):
        model.fit(*data)
    assert not hasattr(model, "series_")


def test_what_several_series_cannot_do_is_said():
    model = ESNForecaster(**SETTINGS).fit(DATED)
    with pytest.raises(ValueError, match=r"this is done with one. Take one: model.series_\['a'\]"):
        lyapunov_exponents(model)
    search = ESNSearchCV(model, {"ridge": RIDGE}, cv=KFold(2))
    with pytest.raises(ValueError, match="a report is about one series"):
        search.fit(DATED).report("nowhere.html")
    with pytest.raises(ValueError, match="leave 0 of 45 rows of series 'b' .* at least 20"):
        evaluate(search, DATED, horizon=10)
    with pytest.raises(ValueError, match="evaluate of several series is for forecasts"):
        evaluate(ESNSearchCV(ESNRegressor(12), {"ridge": RIDGE}), INPUTS, OUTPUTS)
    with pytest.raises(ValueError, match=r"model has 4 series"):
        backtest(model, PANEL[0], 3, 4)
    with pytest.raises(ValueError, match="memory='fold' is for one series, and these are 4"):
        cross_validate(model, DATED, cv=KFold(3), memory="fold")
    with pytest.raises(ValueError, match="none of 4 series can be split"):
        cross_validate(model, DATED, cv=KFold(99))
    with pytest.raises(ValueError, match="LeaveSeriesOut.* at least 5 series, got 4"):
        cross_validate(model, DATED, cv=LeaveSeriesOut(5))
    with pytest.raises(ValueError, match="LeaveSeriesOut.* splits several series in one model"):
        cross_validate(model, PANEL[0], cv=LeaveSeriesOut())
    with pytest.raises(ValueError, match="constant .* use metric='rmse'"):
        cross_validate(model, {"a": PANEL[0], "flat": np.ones(40)}, cv=KFold(2))
    with pytest.raises(TypeError, match="but fit was given a dict of series by name"):
        model.update(PANEL[0])
    with pytest.raises(ValueError, match="y has the unexpected series 'e'"):
        model.update({"e": PANEL[0]})
    with pytest.raises(ValueError, match="series 'a': level needs validation errors"):
        model.forecast(3, level=0.5)


SPOILED = {
    "names": (lambda a: a["panel"].update(names={"tuple": ["a", "a", "c", "d"]}), "each once"),
    "too few": (lambda a: a["panel"].update(names={"tuple": ["a", "b"]}), "4 series have 2 names"),
    "kind": (lambda a: a["panel"].update(kind="heap"), "a kind of several series"),
    "long": (lambda a: a["panel"].update(kind="long"), "columns of a long frame"),
    "network": (lambda a: a["fitted"].pop("seed_"), "missing .*seed_"),
    "blocks": (lambda a: a.update(blocks=2), "block 1 of series is missing"),
    "no blocks": (lambda a: a.update(blocks=0), "blocks is 0, expected how many"),
}  # fmt: skip
SPOILED_SERIES = {
    "count": (lambda a, m: a["series"].update(count=5), "expected 5 values"),
    "no arrays": (lambda a, m: a["series"].update(arrays={}), "belong to no value|not there"),
    "a value more": (lambda a, m: a["series"]["same"].update(evil_=1), "unexpected"),
    "table": (lambda a, m: a.update(series=[1]), "a count, what is the same"),
    "networks": (lambda a, m: a["networks"].update({"0": {}}), "for all series share one"),
    "no series": (lambda a, m: a["networks"].update({"9": {}}), "belong to no series"),
    "members": (lambda a, m: m.update({"evil.npy": array([1.0])}), "belong to no series"),
    **{
        f"shapes {shapes[0]}": (
            lambda a, m, shapes=shapes: m.update(
                {"series.state_.shapes.npy": array(shapes, "<i8")}
            ),
            "state_.*expected shapes",
        )
        for shapes in ([[13]] * 4, [[-2]] * 4, [[12]] * 3, [[2**62]] * 4)
    },
}


@pytest.mark.parametrize("case", [*SPOILED, *SPOILED_SERIES])
def test_damaged_files_of_panels_are_refused(case, tmp_path):
    path = tmp_path / "model"
    save(ESNForecaster(**SETTINGS, difference=(1,)).fit(DATED), path)
    spoil, message = {**SPOILED, **SPOILED_SERIES}[case]
    change = with_json if case in SPOILED else with_series
    path.write_bytes(archive(change(members_of(path), spoil)))
    with pytest.raises(ValueError, match=message):
        load(path)


def test_a_file_of_very_many_series(tmp_path):
    """Some hundred of them are a member together."""
    rows = list(np.random.default_rng(0).normal(size=(450, 12)))
    model = ESNForecaster(5, washout=2, random_state=0).fit(rows)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.forecast(3), model.forecast(3))


def test_a_regressor_reads_frames_of_several_series_as_dicts_of_them():
    rows = [
        (name, month, np.sin(t + place) + place)
        for place, name in enumerate("abc")
        for t, month in enumerate(pd.date_range("2018-01-01", periods=40 + 5 * place, freq="MS"))
    ]
    frame = pd.DataFrame(rows, columns=["shop", "month", "sales"])
    two = frame.set_index(["shop", "month"])
    each = {name: one.droplevel(0) for name, one in two.groupby(level=0)}
    y = {name: one["sales"].shift(1, fill_value=0.0) for name, one in each.items()}
    long = frame.assign(sales=np.concatenate(list(y.values())))
    settings = {"units": 10, "random_state": 0}
    apart = ESNRegressor(**settings).fit(each, y)
    levels = ESNRegressor(**settings).fit(two, pd.concat(y))
    below = ESNRegressor(**settings).fit(
        LongFrame(frame, "shop", "month", ["sales"]), LongFrame(long, "shop", "month", "sales")
    )
    expected = apart.predict(each)
    for model, X in ((levels, two), (below, LongFrame(frame, "shop", "month", ["sales"]))):
        np.testing.assert_array_equal(model.readout_, apart.readout_)
        for found in (model.predict(X), model.states(X)):
            assert list(found) == list(expected)
            assert [len(one) for one in found.values()] == [40, 45, 50]
        for name, one in model.predict(X).items():
            np.testing.assert_array_equal(one, expected[name])
    assert levels.score(two, pd.concat(y)) == apart.score(each, y)
