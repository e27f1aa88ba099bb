"""Networks that many series share: plain definitions, and what they may not know."""

import numpy as np
import pytest

from echofold._models import pooled
from echofold._models.pooled import Common, Pool, _states, _weighted

RNG = np.random.default_rng(0)
LENGTHS = (60, 25, 41, 8, 33, 2)


def series_of(seed=0, season=4):
    rng = np.random.default_rng(seed)
    t = np.arange(max(LENGTHS))
    return [
        (np.exp(2 + 0.01 * t[:n] + 0.2 * np.sin(2 * np.pi * t[:n] / season)
                + 0.05 * rng.normal(size=n)), (season,))
        for n in LENGTHS
    ]  # fmt: skip


def test_a_step_is_learned_from_the_rows_that_know_it(monkeypatch):
    monkeypatch.setattr(pooled, "CHUNK", 7)
    X = RNG.normal(size=(50, 6))
    Z = np.column_stack([np.ones(50), X])
    Y, weights = RNG.normal(size=(50, 3)), RNG.uniform(0.5, 2, 50)
    Y[40:45, 2], Y[45:48, 1:], Y[48:, :] = np.nan, np.nan, np.nan
    found = _weighted(X, Y, weights, (1e-3, 1.0))
    for step in range(3):
        rows = np.isfinite(Y[:, step])
        A, w = Z[rows], weights[rows]
        for place, ridge in enumerate((1e-3, 1.0)):
            penalty = ridge * w.sum() * np.diag([0.0, *np.ones(6)])
            plain = np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w * Y[rows, step]))
            np.testing.assert_allclose(found[place, :, step], plain, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("taken_off", [True, False])
def test_states_of_a_series_do_not_hang_on_the_others(taken_off, monkeypatch):
    each = [Common.of(*one, taken_off) for one in series_of()]
    together = dict(_states(each, 3, "cpu"))
    assert sorted(together) == list(range(len(each)))
    monkeypatch.setattr(pooled, "BLOCK_BYTES", 1)
    for place, states in _states(each, 3, "cpu"):
        assert states.shape == (LENGTHS[place], pooled.KIND.units)
        np.testing.assert_allclose(states, together[place], rtol=1e-9, atol=1e-12)


def test_the_states_are_those_of_the_equations():
    from echofold._engine.kind import drawn

    (one,) = [Common.of(*series_of()[2], False)]
    (found,) = (states for _, states in _states([one], 3, "cpu"))
    r = drawn([pooled.KIND], 2, 3)
    x = np.zeros(r.shape)
    for u in [*np.zeros((pooled.REST, 2)), *one.inputs]:
        x = r.step(x, u[:, None])
    np.testing.assert_allclose(found[-1], x[:, 0], rtol=1e-9)


@pytest.mark.parametrize("taken_off", [True, False])
@pytest.mark.parametrize("values", [np.exp, lambda z: z - 2.0, lambda z: 0 * z + 7.0])
def test_changes_lead_back_to_the_values_they_are_of(taken_off, values):
    y = values(2 + np.sin(np.arange(40) / 3))
    whole, before = Common.of(y, (), taken_off), Common.of(y[:-5], (), taken_off)
    changes = (whole.levels[-5:] - before.levels[-1]) / before.unit
    np.testing.assert_allclose(before.values(changes), y[-5:], rtol=1e-9)


def test_it_goes_on_from_its_own_forecasts_and_is_the_same_for_one_as_for_all():
    each = series_of()
    pool = Pool.learned(each, 4, 0, "cpu").at(1)
    whole = pool.continued(each, 10)
    assert whole.shape == (len(each), 10) and np.isfinite(whole).all()
    np.testing.assert_allclose(whole[:, :4], pool.ahead(each)[0], rtol=0)
    longer = [
        (np.append(y, ahead), season) for (y, season), ahead in zip(each, whole[:, :4], strict=True)
    ]
    np.testing.assert_allclose(whole[:, 4:8], pool.ahead(longer)[0], rtol=1e-9)
    for place, one in enumerate(each):
        np.testing.assert_allclose(pool.continued([one], 4)[0], whole[place, :4], rtol=1e-9)


def test_few_rows_are_enough_and_the_same_are_drawn_again(monkeypatch):
    each = series_of()
    monkeypatch.setattr(pooled, "ROWS", 50)
    one, again = (Pool.learned(each, 4, 5, "cpu") for _ in "ab")
    np.testing.assert_array_equal(one.readouts, again.readouts)
    assert not np.allclose(one.readouts, Pool.learned(each, 4, 6, "cpu").readouts)


def test_series_that_tell_nothing_stay_where_they_are():
    for each in ([(np.ones(1), ())], [(np.array([1.0, 2.0]), ()), (np.array([5.0]), ())]):
        ahead = Pool.learned(each, 3, 0, "cpu").ahead(each)
        for place, (y, _) in enumerate(each):
            np.testing.assert_allclose(ahead[:, place], y[-1])


def test_outliers_count_less():
    each = [(np.sin(np.arange(60) / 3 + i) + 3, ()) for i in range(8)]
    wild = [*each, (np.where(np.arange(60) % 9, 1.0, 1e3) * each[0][0], ())]
    sound, spoilt = (Pool.learned(one, 2, 0, "cpu").ahead(each)[1] for one in (each, wild))
    truth = np.array([np.sin(np.arange(60, 62) / 3 + i) + 3 for i in range(8)])
    assert np.abs(sound - truth).mean() < 0.05
    assert np.abs(spoilt - truth).mean() < 0.1
