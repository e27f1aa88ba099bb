"""scikit-learn's metadata routing: what is asked for arrives, what is not is an error."""

import numpy as np
import pytest
import sklearn
from searches import INPUTS, OUTPUTS, SERIES
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit, cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold, evaluate

rng = np.random.default_rng(0)
WEIGHT = rng.uniform(0.1, 3, 160)
GROUPS = np.arange(160) // 20
MODEL = ESNRegressor(12, random_state=0)
SPACE = {"ridge": [1e-6, 1e-2]}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def asking(model=MODEL, **request):
    return sklearn.base.clone(model).set_fit_request(**request)


def search(model=MODEL, cv=None):
    return ESNSearchCV(model, SPACE, cv=KFold(4) if cv is None else cv)


def test_weights_that_are_asked_for_arrive(routing):
    with sklearn.config_context(enable_metadata_routing=False):
        expected = search().fit(INPUTS, OUTPUTS, sample_weight=WEIGHT)
        plain = search().fit(INPUTS, OUTPUTS)
    weighted = search(asking(sample_weight=True))
    found = weighted.fit(INPUTS, OUTPUTS, sample_weight=WEIGHT)
    np.testing.assert_array_equal(found.results_.nrmse, expected.results_.nrmse)
    assert (found.results_.nrmse != plain.results_.nrmse).all()
    np.testing.assert_array_equal(found.best_estimator_.readout_, expected.best_estimator_.readout_)
    alias = search(asking(sample_weight="trust")).fit(INPUTS, OUTPUTS, trust=WEIGHT)
    np.testing.assert_array_equal(alias.results_.nrmse, expected.results_.nrmse)


def test_what_is_not_asked_for_is_an_error(routing):
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight.*set_fit_request"):
        search().fit(INPUTS, OUTPUTS, sample_weight=WEIGHT)
    refused = search(asking(sample_weight=False))
    with pytest.raises(TypeError, match="unexpected argument.*sample_weight"):
        refused.fit(INPUTS, OUTPUTS, sample_weight=WEIGHT)
    with pytest.raises(TypeError, match="unexpected argument.*groups"):
        search().fit(INPUTS, OUTPUTS, groups=GROUPS)  # a scheme that has no use for them
    with pytest.raises(TypeError, match="unexpected argument.*wieght"):
        search().fit(INPUTS, OUTPUTS, wieght=WEIGHT)


def test_groups_go_to_splitters_that_ask_for_them(routing):
    with sklearn.config_context(enable_metadata_routing=False):
        expected = search(cv=GroupKFold(4)).fit(INPUTS, OUTPUTS, groups=GROUPS).results_
    found = search(cv=GroupKFold(4)).fit(INPUTS, OUTPUTS, groups=GROUPS).results_
    np.testing.assert_array_equal(found.nrmse, expected.nrmse)
    several = search(asking(sample_weight=True), {"a": KFold(4), "b": GroupKFold(4)})
    several.fit(INPUTS, OUTPUTS, groups=GROUPS, sample_weight=np.ones(160))
    np.testing.assert_allclose(several.results_["b"].nrmse, expected.nrmse, rtol=1e-9)


def test_what_a_search_asks_for():
    with sklearn.config_context(enable_metadata_routing=True):
        router = get_routing_for_object(search(asking(sample_weight=True), GroupKFold(4)))
        assert router.consumes("fit", ["sample_weight", "groups", "X", "other"]) == {
            "sample_weight", "groups",
        }  # fmt: skip
        assert get_routing_for_object(search()).consumes("fit", ["groups"]) == set()
    assert not hasattr(ESNSearchCV, "set_fit_request")


def test_data_by_keyword_are_no_metadata(routing):
    known = np.cos(np.arange(161) / 4)
    model = ESNForecaster(12, random_state=0)
    found = search(model).fit(SERIES, X=known)
    assert found.forecast(2, X=known[:2]).shape == (2,)
    weighted = asking(model, sample_weight=True)
    honest = evaluate(
        search(weighted), SERIES, X=known, sample_weight=np.ones(161), origins=1, horizon=9
    )
    assert np.isfinite(honest.nrmse).all()


def test_inside_of_scikit_learn(routing):
    cv, r2 = TimeSeriesSplit(2), get_scorer("r2").set_score_request(sample_weight=False)
    grid = GridSearchCV(asking(sample_weight=True), SPACE, cv=cv, scoring=r2)
    weighted = grid.fit(INPUTS, OUTPUTS, sample_weight=WEIGHT).best_estimator_.readout_
    direct = ESNRegressor(12, random_state=0, ridge=grid.best_params_["ridge"])
    direct.fit(INPUTS, OUTPUTS, sample_weight=WEIGHT)
    np.testing.assert_array_equal(weighted, direct.readout_)
    found = cross_validate(
        search(asking(sample_weight=True)), INPUTS, OUTPUTS, cv=cv, scoring=r2,
        params={"sample_weight": WEIGHT}, return_estimator=True,
    )  # fmt: skip
    for (train, _), one in zip(cv.split(INPUTS), found["estimator"], strict=True):
        alone = search(asking(sample_weight=True))
        alone.fit(INPUTS[train], OUTPUTS[train], sample_weight=WEIGHT[train])
        np.testing.assert_array_equal(one.results_.nrmse, alone.results_.nrmse)
    options = {"cv": cv, "scoring": r2, "error_score": "raise"}
    with pytest.raises(UnsetMetadataPassedError, match="ESNRegressor.fit"):
        cross_validate(search(), INPUTS, OUTPUTS, params={"sample_weight": WEIGHT}, **options)


def test_without_routing_everything_is_handed_on():
    found = search(cv=GroupKFold(4)).fit(INPUTS, OUTPUTS, sample_weight=WEIGHT, groups=GROUPS)
    assert (found.results_.nrmse != search(cv=GroupKFold(4)).fit(
        INPUTS, OUTPUTS, groups=GROUPS
    ).results_.nrmse).all()  # fmt: skip
    with pytest.raises(TypeError, match="wieght"):
        search().fit(INPUTS, OUTPUTS, wieght=WEIGHT)
