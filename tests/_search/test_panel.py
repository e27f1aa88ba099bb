"""Many series at once: each as if alone, and with networks that all share."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from model_files import archive, members_of, with_json

from echofold import AutoForecaster, baselines, evaluate, load, save
from echofold._models.combination import POOLED
from echofold._persistence import save_and_load
from echofold._search import panel
from echofold._search.panel import _Block, _learned, _pooled_of, _seen, _trains, past_stretches
from echofold.metrics import crps, interval_score

H = 4


def series_of(count=14, least=20, seed=0):
    rng = np.random.default_rng(seed)
    found = {}
    for i in range(count):
        n = least + 3 * i
        t = np.arange(n)
        wave = 0.3 * np.sin(2 * np.pi * (t + i) / 4)
        dates = pd.date_range(f"20{i:02}-01-01", periods=n, freq="QS")
        values = np.exp(3 + 0.01 * t + wave + 0.05 * rng.normal(size=n))
        found[f"s{i}"] = pd.Series(values, dates, name="sold")
    return found


SERIES = series_of()


def fitted(data, **options):
    return AutoForecaster(H, progress=False, **options).fit(data)


@pytest.fixture(scope="module")
def pooled():
    return fitted(SERIES)


def test_networks_are_shared_and_said(pooled):
    assert pooled.members_["weight"].sum() == pytest.approx(1)
    assert 0 < pooled.members_.loc[POOLED, "weight"] < 1
    assert pooled.notes_[0].startswith("networks that were trained on all series together make up")
    assert "the best plain forecast for all, in the mean over 14 series" in pooled.verdict_.words
    errors = pooled.errors_
    assert list(errors.index) == list(SERIES) and errors["forecast"].notna().all()
    assert pooled.verdict_.error == pytest.approx(errors["forecast"].mean())
    assert pooled.verdict_.best_error == pytest.approx(min(pooled.baselines_.values()))


def test_forecasts_come_in_the_kind_that_was_given(pooled):
    found = pooled.forecast()
    assert list(found.mean) == list(SERIES) and set(found.lower) == {0.5, 0.9}
    for name, y in SERIES.items():
        mean = found.mean[name]
        assert mean.index[0] == y.index[-1] + pd.offsets.QuarterBegin(startingMonth=1)
        assert mean.name == "sold" and len(mean) == H
        assert (found.lower[0.9][name] <= mean).all() and (mean <= found.upper[0.9][name]).all()
    each = [y.to_numpy() for y in SERIES.values()]
    listed = fitted(each, season=4).forecast()
    assert isinstance(listed.mean, list)
    frame = fitted(pd.concat(SERIES, names=["id", "quarter"])).forecast()
    assert frame.mean.index.names == ["id", "quarter"]
    for place, name in enumerate(SERIES):
        np.testing.assert_array_equal(frame.mean[name], found.mean[name])
        np.testing.assert_allclose(listed.mean[place], found.mean[name], rtol=1e-9)
        np.testing.assert_array_equal(frame.upper[0.5][name], found.upper[0.5][name])


def test_a_frame_of_all_forecasts(pooled):
    frame = pooled.forecast().to_frame()
    assert frame.index.nlevels == 2 and len(frame) == H * len(SERIES)
    assert list(frame.columns) == ["forecast", "lower_50", "upper_50", "lower_90", "upper_90"]
    np.testing.assert_array_equal(frame.loc["s3", "forecast"], pooled.forecast().mean["s3"])


@pytest.mark.parametrize("options", [{"pool": "none"}, {"search": {"units": 12, "k": 4}}])
def test_without_pooling_each_is_as_if_alone(options):
    some = dict(list(SERIES.items())[:3])
    found = fitted(some, **options).forecast()
    for name, y in some.items():
        alone = fitted(y, **options).forecast()
        for part, own in ((found.mean, alone.mean), (found.lower[0.9], alone.lower[0.9])):
            np.testing.assert_array_equal(part[name], own)


def test_a_few_series_do_without(pooled):
    few = fitted(dict(list(SERIES.items())[: panel.SEVERAL - 1]))
    assert POOLED not in few.members_.index and POOLED in pooled.members_.index
    assert POOLED in fitted(dict(list(SERIES.items())[:4]), pool="all").members_.index


def test_long_series_have_networks_of_their_own():
    t = np.arange(panel.OWN)
    long = pd.Series(np.sin(t / 5) + 5 + 0.1 * np.sin(t), name="sold")
    model = fitted({**SERIES, "long": long}, effort="fast")
    assert POOLED not in model.series_["long"].names_ and POOLED in model.series_["s0"].names_
    alone = fitted(long, effort="fast").forecast()
    np.testing.assert_array_equal(model.forecast().mean["long"], alone.mean)
    assert f"of 14 of {len(SERIES) + 1} series" in model.notes_[0]


def test_inputs_are_for_networks_of_their_own():
    some = {name: y.to_numpy() for name, y in list(SERIES.items())[:3]}
    known = {name: np.arange(len(y) + H) % 3.0 for name, y in some.items()}
    past = {name: one[:-H] for name, one in known.items()}
    model = AutoForecaster(H, pool="all", season=4, progress=False).fit(some, past)
    assert model.notes_[-1].startswith("inputs known in advance are not used")
    assert set(model.forecast().mean) == set(some)


def test_what_follows_is_not_known():
    """Pooled forecasts of a stretch hang on no value from its start on, of any series."""
    each = [AutoForecaster(H, pool="none", progress=False) for _ in SERIES]
    values = [y.to_numpy() for y in SERIES.values()]
    for one, y in zip(each, SERIES.values(), strict=True):
        one._begin(y, None)
    rows = [past_stretches(len(y), H) for y in values]
    changed = [np.append(y[:-H], 1000 * y[-H:]) for y in values]
    trains = [_trains(each, own, rows, H, 0) for own in (values, changed)]
    pools = [[_learned(H, 0, "cpu", one) for one in own] for own in trains]
    assert not np.allclose(pools[0][0].readouts, pools[1][0].readouts)
    found, other = (
        [past for past, _ in _pooled_of(own, H, _seen(_Block(each, past, rows)))]
        for own, past in zip(pools, (values, changed), strict=True)
    )
    for one, again, at in zip(found, other, rows, strict=True):
        assert one.shape == (3, *at.shape) and np.isfinite(one).all()
        np.testing.assert_allclose(again, one, rtol=1e-9)
    seen = _seen(_Block(each, values, rows))[0]
    assert seen.before(9)[0].tolist() == values[0][:9].tolist()


@pytest.mark.parametrize("length", [1, 2, 3, 5, 9, 30, 200])
@pytest.mark.parametrize("horizon", [1, 4, 12])
def test_stretches(length, horizon):
    rows = past_stretches(length, horizon)
    assert len(rows) == (0 if length < 2 else len(rows)) and len(rows) <= panel.STRETCHES
    if len(rows):
        assert rows.min() >= 1 and rows.max() == length - 1
        assert (np.diff(rows.ravel()) == 1).all()


def test_odd_series_stop_no_other():
    days = pd.date_range("2020-01-01", periods=30, freq="QS")
    odd = {
        "none": pd.Series([np.nan] * 5, days[:5]), "one": pd.Series([3.0], days[:1]),
        "constant": pd.Series(7.0, days), "zeros": pd.Series(0.0, days),
        "demand": pd.Series(np.where(np.arange(30) % 5, 0.0, 4.0), days),
        "huge": pd.Series(1e200, days), "two": pd.Series([1.0, 2.0], days[:2]),
        "gaps": pd.Series(np.where(np.arange(30) % 7, 5.0 + np.arange(30), np.nan), days),
        "spike": pd.Series(np.where(np.arange(30) == 20, 1e4, 1.0), days),
        "infinite": pd.Series([1.0, 2.0, np.inf] + [3.0] * 9, days[:12]),
        "words": pd.Series([4.0, "?", 4.0, 4.0], days[:4]),
    }  # fmt: skip
    model = fitted({**SERIES, **odd})
    found = model.forecast()
    assert set(model.failed_) == {"none", "huge", "infinite", "words"}
    assert any("'none', no forecast: y has no value" in note for note in model.notes_)
    assert any("'infinite', what is left is forecast" in note for note in model.notes_)
    assert np.isnan(found.mean["none"]).all() and np.isnan(found.upper[0.9]["huge"]).all()
    for name in set(odd) - {"none", "huge"}:
        mean, known = np.asarray(found.mean[name]), pd.to_numeric(odd[name], errors="coerce")
        assert np.isfinite(mean).all() and (mean >= 0).all()
        assert mean.max() <= 2 * known[np.isfinite(known)].max()
    np.testing.assert_allclose(found.mean["words"], 4)
    np.testing.assert_allclose(found.mean["constant"], 7, rtol=1e-9)
    with pytest.raises(ValueError, match="none of 2 series can be forecast: 'none': y has no"):
        fitted({name: odd[name] for name in ("none", "huge")})


def test_it_moves_on(pooled):
    model = fitted({name: y[:-2] for name, y in SERIES.items()})
    before = model.forecast()
    model.update({name: y[-2:] for name, y in SERIES.items()})
    after = model.forecast()
    for name, y in SERIES.items():
        assert after.mean[name].index[0] > y.index[-1] > before.mean[name].index[0]
    assert not np.allclose(after.mean["s5"], before.mean["s5"])
    longer = pooled.forecast(2 * H + 1)
    for name in SERIES:
        np.testing.assert_allclose(longer.mean[name][:H], pooled.forecast().mean[name], rtol=1e-9)


def test_one_of_them_is_kept_in_a_file(pooled, tmp_path):
    one = pooled.series_["s3"]
    save(one, tmp_path / "one.echofold")
    again = load(tmp_path / "one.echofold")
    for horizon in (H, 3 * H):
        for ours, theirs in zip(one.forecast(horizon), again.forecast(horizon), strict=True):
            if isinstance(ours, dict):
                ours, theirs = ours[0.9], theirs[0.9]
            np.testing.assert_array_equal(ours, theirs)
    next_ = SERIES["s3"][-1:].set_axis(one.forecast().mean.index[:1])
    assert len(again.update(next_).forecast().mean) == H


@pytest.fixture(scope="module")
def mixed():
    """Series that share networks, one with its own, and two that fail."""
    long = pd.Series(
        np.sin(np.arange(260) / 3), pd.date_range("1990-01-01", periods=260, freq="MS")
    )
    odd = {"long": long, "infinite": [1.0, np.inf, 3.0], "none": [np.nan] * 3}
    return fitted({**SERIES, **odd}, effort="fast")


@pytest.mark.parametrize("steps", [H, 3 * H])
def test_all_of_them_are_kept_in_a_file(mixed, tmp_path, steps, monkeypatch):
    monkeypatch.setattr(save_and_load, "BLOCK", 5)
    save(mixed, tmp_path / "all.echofold")
    again = load(tmp_path / "all.echofold", AutoForecaster)
    save(again, tmp_path / "again.echofold")
    ours, theirs = (one.forecast(steps) for one in (mixed, again))
    for name in mixed.panel_.names:
        np.testing.assert_array_equal(ours.mean[name], theirs.mean[name])
        np.testing.assert_array_equal(ours.upper[0.9][name], theirs.upper[0.9][name])
    for said in ("verdict_", "notes_", "failed_", "baselines_", "gain_"):
        assert getattr(again, said) == getattr(mixed, said)
    pd.testing.assert_frame_equal(again.errors_, mixed.errors_)
    pd.testing.assert_frame_equal(again.members_, mixed.members_)
    both = [(tmp_path / f"{one}.echofold").read_bytes() for one in ("all", "again")]
    assert both[0] == both[1]
    next_ = SERIES["s3"][-1:].set_axis(ours.mean["s3"].index[:1])
    moved = again.update({"s3": next_}).forecast()
    assert moved.mean["s3"].index[0] == ours.mean["s3"].index[1]
    with pytest.raises(ValueError, match="has no data to report on"):
        again.report(tmp_path / "page.html")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda a: a["fitted"].update(missing={"tuple": []}), "do not belong together"),
        (lambda a: a["fitted"].update(pool_=None), "do not belong together|do not fit"),
        (lambda a: a["fitted"].update(pooled_={"tuple": []}), "do not belong together"),
        (lambda a: a["fitted"].update(plain={"tuple": ["forecast"]}), "do not belong together"),
        (lambda a: a["fitted"].pop("said"), "missing .*said"),
        (lambda a: a["fitted"].update(failed={"tuple": [{"tuple": [99, "x"]}]}), "not fit"),
        (lambda a: a["panel"].update(kind="list"), "each once"),
        (lambda a: a.update(evil=1), "must hold class"),
    ],
)
def test_damaged_files_of_all_are_refused(mixed, tmp_path, spoil, words):
    save(mixed, path := tmp_path / "all.echofold")
    path.write_bytes(archive(with_json(members_of(path), spoil)))
    with pytest.raises(ValueError, match=words):
        load(path)


def test_workers_give_the_same_bits(pooled, monkeypatch):
    monkeypatch.setattr(panel, "BLOCK", 5)
    alone = fitted(SERIES).forecast()
    with ThreadPoolExecutor(2) as pool:
        found = fitted(SERIES, executor=pool).forecast()
    for name in SERIES:
        np.testing.assert_array_equal(found.mean[name], alone.mean[name])
        np.testing.assert_allclose(found.mean[name], pooled.forecast().mean[name], rtol=1e-12)


def test_processes_give_the_same_bits(pooled):
    found = fitted(SERIES, n_jobs=2)
    pd.testing.assert_frame_equal(
        found.forecast().to_frame(), pooled.forecast().to_frame(), check_exact=True
    )
    assert found.notes_ == pooled.notes_ and found.verdict_ == pooled.verdict_
    assert found.series_["s3"].pool_ is found.pool_
    with pytest.raises(ValueError, match="n_jobs"):
        fitted(SERIES, n_jobs=0)


def test_a_killed_fit_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(panel, "BLOCK", 5)
    finished, alone = [], fitted(SERIES).forecast()
    right = panel._past_of

    def killed(horizon, asked):
        if len(finished) == 2:
            raise KeyboardInterrupt
        finished.append(len(asked))
        return right(horizon, asked)

    monkeypatch.setattr(panel, "_past_of", killed)
    with pytest.raises(KeyboardInterrupt):
        fitted(SERIES, checkpoint=tmp_path / "kept")
    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == 2
    files[0].write_bytes(files[0].read_bytes()[:-9])  # damaged: made anew
    finished.clear()
    monkeypatch.setattr(panel, "_past_of", lambda *given: finished.append(1) or right(*given))
    found = fitted(SERIES, checkpoint=tmp_path / "kept").forecast()
    assert len(finished) == 2
    for name in SERIES:
        np.testing.assert_array_equal(found.mean[name], alone.mean[name])
    finished.clear()
    fitted(SERIES, checkpoint=tmp_path / "kept")
    assert not finished
    fitted({**SERIES, "s0": SERIES["s0"] + 1}, checkpoint=tmp_path / "kept")
    assert len(finished) == 1  # only the block with another value


def test_series_hold_little():
    one = fitted(SERIES).series_["s3"]
    held = {name: len(pickle.dumps(each)) for name, each in vars(one).items() if name != "pool_"}
    del held["table_"], held["timeline_"]  # the series, and what many hold together
    assert sum(held.values()) < 8000, held
    assert not any(
        array.base is not None and array.base.nbytes > 2 * array.nbytes
        for array in vars(one).values() if isinstance(array, np.ndarray)
    )  # fmt: skip


def test_equal_dates_are_held_once():
    days = [pd.date_range("2020-01-01", periods=20, freq=freq, name="day") for freq in "DDW"]
    data = {f"s{i}": pd.Series(np.arange(20.0) + i, at) for i, at in enumerate(days)}
    assert data["s0"].index is not data["s1"].index
    first, second, third = fitted(data, pool="all").series_.values()
    assert first.table_.index is second.table_.index and first.timeline_ is second.timeline_
    assert third.timeline_ != first.timeline_ and first.past_.rows is second.past_.rows


class Pickling:
    """An executor whose workers share nothing, and what they are sent and send back."""

    def __init__(self):
        self.sent = {}

    def map(self, function, tasks):
        for task in tasks:
            there = pickle.dumps((function, task))
            run, given = pickle.loads(there)
            back = pickle.dumps(run(given))
            sizes = self.sent.setdefault(function.func.__name__, [])
            sizes.append((len(pickle.dumps(task)), len(back)))
            yield pickle.loads(back)


def test_workers_are_sent_little(pooled):
    executor = Pickling()
    found = fitted(SERIES, executor=executor)
    pd.testing.assert_frame_equal(
        found.forecast().to_frame(), pooled.forecast().to_frame(), check_exact=True
    )
    assert found.notes_ == pooled.notes_ and found.verdict_ == pooled.verdict_
    pd.testing.assert_frame_equal(found.errors_, pooled.errors_, check_exact=True)
    sizes = {name: np.sum(each, axis=0) / len(SERIES) for name, each in executor.sent.items()}
    assert sizes.keys() == {"_past_of", "_learned", "_pooled_of", "_weighed"}
    assert (sizes.pop("_learned")[0] < 10_000) and (np.array(list(sizes.values())) < 6_000).all()
    one = found.series_["s3"]
    assert one.past_.rows is past_stretches(one.rows_, H)


def test_an_executor_has_two_waves_at_most(monkeypatch):
    monkeypatch.setattr(panel, "WAVE", 3)
    asked, out = [], []
    tasks = (asked.append(i) or i for i in range(10))
    for one in panel._in_waves(map, lambda i: 2 * i, tasks):
        out.append(one)
        assert len(asked) <= len(out) + 5
    assert out == [2 * i for i in range(10)] and list(panel._in_waves(map, abs, [])) == []


def test_another_fit_forgets_the_panel(pooled):
    model = fitted(dict(list(SERIES.items())[:2]))
    assert len(model.fit(SERIES["s9"]).forecast().mean) == H
    assert not hasattr(model, "series_")
    assert list(model.fit(dict(list(SERIES.items())[:2])).forecast().mean) == ["s0", "s1"]


def test_its_page(pooled, tmp_path):
    pytest.importorskip("jinja2")
    text = pooled.report(tmp_path / "index.html").read_text()
    assert text.count("<svg") == len(SERIES) + 8
    assert all(f'<th scope="row">{name}</th>' in text for name in SERIES)
    assert "nan" not in text.partition("<main>")[2].partition("<script>")[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "y is empty"),
        ({}, "y is empty"),
        ({"a": pd.DataFrame(np.ones((9, 2)))}, "'a': y has 2 columns, expected one series"),
        (pd.concat([pd.concat({"a": SERIES["s0"]})] * 2), "two rows of series 'a'"),
    ],
)  # fmt: skip
def test_bad_panels(data, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fitted(data)


def test_a_column_is_a_series():
    frame = pd.concat(SERIES, names=["id", "quarter"])
    assert POOLED in fitted(frame.to_frame()).members_.index
    assert POOLED in fitted({name: y.to_frame() for name, y in SERIES.items()}).members_.index


def test_names_of_any_kind(tmp_path):
    values = list(SERIES.values())
    for names in ([("shop", i) for i in range(14)], [None, ("a", 1), 3, *map(str, range(11))]):
        data = dict(zip(names, values, strict=True))
        model = fitted(data)
        assert list(model.errors_.index) == names
        assert len(model.forecast().to_frame()) == H * len(names)
        assert model.report(tmp_path / "index.html").exists()


def test_one_that_fails_leaves_forecasts_of_the_others():
    none = SERIES["s0"] * np.nan
    framed = fitted(pd.concat({**SERIES, "bad": none}, names=["id", "quarter"])).forecast()
    assert set(framed.mean.index.get_level_values(0)) == set(SERIES)
    mapped = fitted({**SERIES, "bad": none}).forecast()
    assert np.isnan(mapped.mean["bad"]).all()
    assert set(mapped.to_frame().index.get_level_values(0)) == set(SERIES)


def test_an_update_is_whole_or_not_at_all(pooled):
    model = fitted({name: y[:-2] for name, y in SERIES.items()})
    before = model.forecast()
    new = {name: y[-2:] for name, y in SERIES.items()}
    with pytest.raises(ValueError, match="does not follow"):
        model.update({**new, "s9": SERIES["s9"][:2]})
    np.testing.assert_array_equal(model.forecast().mean["s2"], before.mean["s2"])
    model.update({"s2": new["s2"]})
    after = model.forecast()
    assert after.mean["s2"].index[0] > before.mean["s2"].index[0]
    np.testing.assert_array_equal(after.mean["s3"], before.mean["s3"])
    with pytest.raises(ValueError, match="unexpected series 's99'"):
        model.update({"s99": new["s2"]})


def test_some_move_on_with_their_inputs():
    some = {name: y.to_numpy() for name, y in list(SERIES.items())[:2]}
    known = {name: np.arange(len(y) + 1) % 3.0 for name, y in some.items()}
    past = {name: one[:-1] for name, one in known.items()}
    model = AutoForecaster(1, season=4, progress=False).fit(some, past)
    model.update({"s1": some["s1"][:1]}, {"s1": known["s1"][-1:]})
    assert [one.rows_ for one in model.series_.values()] == [20, 24]


def test_workers_search_networks_that_are_not_shared():
    some = {name: np.sin(np.arange(60) / 3 + n) + 5 for n, name in enumerate("ab")}
    with ThreadPoolExecutor(2) as pool:
        found = fitted(some, executor=pool, effort="fast").forecast()
    for name, ahead in fitted(some, effort="fast").forecast().mean.items():
        np.testing.assert_array_equal(found.mean[name], ahead)


def test_rounding_is_no_gain():
    model = fitted({f"c{i}": np.full(20, i + 1.0) for i in range(12)})
    assert POOLED not in model.members_.index and "left out" in model.notes_[0]


def test_steps_that_no_series_knows_stay(recwarn):
    found = fitted({f"a{i}": np.exp(np.arange(7) / 5 + i) for i in range(12)}).forecast(6)
    assert all(np.isfinite(one).all() for one in found.mean.values())
    assert not [one for one in recwarn if issubclass(one.category, RuntimeWarning)]


def test_what_is_strange_about_a_series_is_said():
    holes = SERIES["s3"].copy()
    holes.iloc[5] = np.nan
    model = fitted({**SERIES, "s3": holes})
    assert any("missing" in note for note in model.series_["s3"].notes_)
    assert any(note.startswith("series 's3':") for note in model.notes_)


def test_a_wrong_executor():
    with pytest.raises(ValueError, match="executor='x'"):
        fitted(SERIES, executor="x")


def test_what_is_for_one_series_says_so(pooled):
    with pytest.raises(TypeError, match="plot draws the forecast of one series"):
        pooled.forecast().plot()


def test_a_wrong_pool():
    with pytest.raises(ValueError, match="pool='some'"):
        fitted(SERIES["s0"], pool="some")


# --- evaluate -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dict", "list", "frame"])
def test_evaluate_repeats_the_recipe_on_all_series_cut_alike(kind):
    data, names, steps = SERIES, list(SERIES), 3
    if kind == "list":
        data, names = [y.to_numpy() for y in SERIES.values()], list(range(14))
    if kind == "frame":
        data = pd.concat(SERIES, names=["series", "date"])
    found = evaluate(AutoForecaster(H, progress=False), data, origins=2, horizon=steps)
    assert found.series.values.tolist() == names
    for origin, back in enumerate((6, 3)):
        cut = {name: y[: len(y) - back] for name, y in SERIES.items()}
        model = fitted(cut if kind != "list" else [y.to_numpy() for y in cut.values()])
        forecast = model.forecast(steps, level=0.9)
        assert found.validation[origin] == model.verdict_.error
        for name, (key, y) in zip(names, SERIES.items(), strict=True):
            at = {"origin": origin, "series": name}
            start, known = len(y) - back, cut[key].to_numpy()
            truth = y.to_numpy()[start : start + steps]
            mean, low, high = (
                np.asarray(one[name])
                for one in (forecast.mean, forecast.lower[0.9], forecast.upper[0.9])
            )
            lag = min(model.series_[name].seasons_, default=1)
            assert lag == 4 or kind == "list"  # which has no dates
            unit = np.abs(known[lag:] - known[:-lag]).mean()
            assert found.start.sel(at) == start
            assert found.mase.sel(at) == np.abs(mean - truth).mean() / unit
            assert found.coverage.sel(at) == ((truth >= low) & (truth <= high)).mean()
            assert found.interval_score.sel(at) == interval_score(truth, low, high, 0.9)
            plain = np.abs(baselines.last_value(known, steps) - truth).mean() / unit
            last = found.plain.sel(at | {"baseline": "last value"})
            assert last == pytest.approx(plain, rel=1e-12)


def test_longer_stretches_than_were_validated_are_evaluated(pooled):
    found = evaluate(pooled, SERIES, origins=1, horizon=H + 3)
    assert pooled.evaluation_ is found
    model = fitted({name: y[: -H - 3] for name, y in SERIES.items()})
    with pytest.warns(UserWarning, match="beyond step 4"):
        forecast = model.forecast(H + 3, level=[k / 10 for k in range(1, 10)])
    for name, y in SERIES.items():
        truth = y.to_numpy()[-H - 3 :]
        ends = [{k: np.asarray(v[name]) for k, v in one.items()} for one in forecast[1:]]
        score = crps(truth, type(forecast)(np.asarray(forecast.mean[name]), *ends))
        assert found.crps.sel(series=name, origin=0) == score


def test_series_that_had_not_begun_or_cannot_be_forecast_have_no_error():
    empty = pd.Series([np.nan] * 20 + [3.0, 4.0, 5.0, 6.0])
    data = {"a": SERIES["s9"], "short": SERIES["s8"][:6], "b": SERIES["s2"], "empty": empty}
    found = evaluate(AutoForecaster(H, progress=False), data, origins=2)
    assert np.isnan(found.mase.sel(series="short").values).tolist() == [True, False]
    assert np.isnan(found.mase.sel(series="empty")).all()
    assert np.isfinite(found.mase.sel(series=["a", "b"])).all()
    holes = SERIES["s2"].copy()
    holes[-H:] = np.nan
    found = evaluate(AutoForecaster(H, progress=False), {"a": SERIES["s9"], "b": holes}, origins=1)
    assert np.isnan(found.mase[0]).values.tolist() == [False, True]
    assert np.isnan(found.coverage[0]).values.tolist() == [False, True]


def test_inputs_known_in_advance_are_cut_with_their_series():
    rng = np.random.default_rng(2)
    X = {name: rng.normal(size=(60, 1)) for name in "ab"}
    y = {name: 5 + X[name][:, 0] + 0.1 * rng.normal(size=60) for name in "ab"}
    few = {"units": 5, "grid": "small", "draws": 1, "k": 3, "log": False, "difference": [()]}
    model = AutoForecaster(H, search=few, season=None, progress=False)
    found = evaluate(model, y, X, origins=1)
    cut = AutoForecaster(H, search=few, season=None, progress=False)
    cut.fit({name: one[:-H] for name, one in y.items()}, {n: one[:-H] for n, one in X.items()})
    mean = cut.forecast(X={name: one[-H:] for name, one in X.items()}).mean
    for name in "ab":
        unit = np.abs(np.diff(y[name][:-H])).mean()
        assert (
            found.mase.sel(series=name, origin=0) == np.abs(mean[name] - y[name][-H:]).mean() / unit
        )
    assert evaluate(model, y, X=X, origins=1).identical(found)


def test_a_long_frame_is_evaluated_by_the_names_of_its_columns():
    rng = np.random.default_rng(2)
    days = pd.date_range("2024-01-01", periods=60)
    frame = pd.concat(
        [pd.DataFrame({"id": name, "day": days, "known": rng.normal(size=60)}) for name in "ab"]
    )
    frame["value"] = 5 + frame["known"] + 0.1 * rng.normal(size=120)
    few = {"units": 5, "grid": "small", "draws": 1, "k": 3, "log": False, "difference": [()]}
    model = AutoForecaster(H, search=few, season=None, progress=False)
    names = {"id": "id", "time": "day", "target": "value"}
    each = {name: one.set_index("day") for name, one in frame.groupby("id")}
    y = {name: one["value"] for name, one in each.items()}
    X = {name: one[["known"]] for name, one in each.items()}
    found = evaluate(model, frame, X=["known"], origins=1, **names)
    np.testing.assert_array_equal(found.mase, evaluate(model, y, X, origins=1).mase)
    assert evaluate(model, frame, ["known"], origins=1, **names).identical(found)
    with pytest.raises(ValueError, match="time=None: of a long frame give id=, time= and target="):
        evaluate(model, frame, origins=1, id="id")


def test_too_many_origins_for_a_panel_are_refused():
    with pytest.raises(
        ValueError, match="origins=20 .* leave 0 of 59 rows of series .* at least 1 are"
    ):
        evaluate(AutoForecaster(H, progress=False), SERIES, origins=20)
    with pytest.raises(ValueError, match="horizon=0"):
        evaluate(AutoForecaster(H, progress=False), SERIES, origins=2, horizon=0)


def test_evaluate_goes_on_without_a_bad_series():
    good = {name: SERIES[name] for name in list(SERIES)[:2]}
    bad = np.array(SERIES["s9"], dtype=float)
    bad[3] = np.inf
    model = AutoForecaster(H, progress=False)
    found = evaluate(model, {**good, "bad": bad}, origins=1)
    alone = evaluate(model, good, origins=1)
    np.testing.assert_array_equal(found.mase.values[:, :2], alone.mase.values)


def test_networks_that_failed_for_their_inputs_do_not_ask_for_them():
    y = {name: 10 + np.sin(np.arange(60) / 2) + n for n, name in enumerate("ab")}
    X = {"a": np.arange(60.0)[:, None] % 7, "b": np.arange(59.0)[:, None]}
    model = AutoForecaster(H, search={"units": 5, "k": 4, "draws": 1}, progress=False).fit(y, X)
    assert list(model.failed_) == ["b"]
    ahead = model.forecast(X={name: np.arange(60.0, 60.0 + H)[:, None] % 7 for name in y})
    assert all(np.isfinite(one).all() for one in ahead.mean.values())


def test_a_folder_of_another_search_is_no_failure_of_a_series(tmp_path):
    y = {name: 10 + np.sin(np.arange(60) / 2) + n for n, name in enumerate("ab")}
    how = {"search": {"units": 5, "k": 4, "draws": 1}, "progress": False, "checkpoint": tmp_path}
    AutoForecaster(H, **how).fit(y)
    with pytest.raises(ValueError, match="belongs to another search"):
        AutoForecaster(H, **how).fit({**y, "a": y["a"] + np.arange(60) % 2})
