"""Copies of estimators share their functions, those that JAX compiled among them."""

from copy import deepcopy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.base import clone

from echofold import ESNForecaster, ESNSearchCV, KFold, cross_validate
from echofold.reservoirs import Custom, Leaky

SERIES = np.sin(np.arange(120) / 5)


@jax.jit
def squares(u, x):
    return jnp.concatenate([x, x**2])


@jax.jit
def turned(weights, parameters, x, u):
    return jnp.tanh(0.5 * jnp.roll(x, 1, axis=0) + weights * u[0])


def init(inputs, seed):
    return np.random.default_rng(seed).normal(size=(6, 1))


MODELS = {
    "compiled activation": ESNForecaster(reservoir=Leaky(6, activation=jnp.tanh)),
    "activation with a derivative": ESNForecaster(reservoir=Leaky(6, activation=jax.nn.relu)),
    "readout": ESNForecaster(6, readout=squares),
    "step": ESNForecaster(reservoir=Custom(6, init=init, step=turned)),
}


@pytest.mark.parametrize("name", MODELS)
def test_functions_of_jax_go_through_every_copy(name):
    model = MODELS[name].set_params(random_state=0)
    expected = model.fit(SERIES).forecast(3)
    for copy in (clone(model).fit(SERIES), deepcopy(model)):
        np.testing.assert_array_equal(copy.forecast(3), expected)
    cross_validate(model, SERIES, cv=KFold(3))
    search = ESNSearchCV(model, {"ridge": [1e-2]}, cv=KFold(3))
    np.testing.assert_array_equal(clone(search).fit(SERIES).forecast(3), expected)


def test_functions_in_a_space_are_shared_too():
    activations = [jnp.tanh, "identity", jax.nn.swish]
    model = ESNForecaster(reservoir=Leaky(6), random_state=0)
    search = clone(ESNSearchCV(model, {"reservoir__activation": activations}, cv=KFold(3)))
    kept = search.space["reservoir__activation"]
    assert [id(one) for one in kept] == [id(one) for one in activations]
    plain = ESNSearchCV(model, {"reservoir__activation": ["tanh"]}, cv=KFold(3)).fit(SERIES)
    found = deepcopy(search).fit(SERIES)
    np.testing.assert_allclose(found.results_.nrmse[:, 0], plain.results_.nrmse[:, 0])
    assert deepcopy(found).best_estimator_.reservoir_.activation in activations


def test_what_is_no_function_is_copied():
    W = np.eye(6)
    model = ESNForecaster(6, W=W, random_state=0)
    assert clone(model).W is not W and deepcopy(model).W is not W
    np.testing.assert_array_equal(clone(model).W, W)
