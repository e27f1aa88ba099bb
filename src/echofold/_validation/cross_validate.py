"""Cross-validation of one candidate, and of readouts on states from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from echofold._data.arguments import check_fit_params, check_network, seed_of
from echofold._data.problem import REGRESSION, Problem, Segments
from echofold._engine.states import GivenStates
from echofold._folds.choose import check_algorithm
from echofold._folds.ridge import check_ridge
from echofold._machine.progress import one_piece
from echofold._validation.record import datasets, gathered, warn_once
from echofold._validation.settings import (
    Settings,
    check_metrics,
    describe_data,
    describe_rounding,
    resolve_schemes,
)
from echofold._validation.validate import validate
from echofold._validation.verify import check_verifiable, verify, with_checkable_metrics

if TYPE_CHECKING:
    import xarray as xr


@overload
def cross_validate(
    estimator: Any, *data: Any, cv: dict[str, Any], **options: Any
) -> dict[str, xr.Dataset]: ...


@overload
def cross_validate(
    estimator: Any,
    *data: Any,
    cv: Any = None,
    ridge: Any = None,
    metric: Any = "nrmse",
    algorithm: str = "auto",
    memory: Any = None,
    readouts: bool = False,
    groups: Any = None,
    verify: bool = False,
    **fit_params: Any,
) -> xr.Dataset: ...


def cross_validate(
    estimator: Any,
    *data: Any,
    cv: Any = None,
    ridge: Any = None,
    metric: Any = "nrmse",
    algorithm: str = "auto",
    memory: Any = None,
    readouts: bool = False,
    groups: Any = None,
    verify: bool = False,
    **fit_params: Any,
) -> Any:
    """Cross-validate one estimator over a path of ridge values, at the cost of about one fit.

    Parameters
    ----------
    estimator : ESNForecaster, ESNRegressor or ESNClassifier
        Not changed.
    *data, **fit_params
        What ``estimator.fit`` takes: arrays, tables, or long series that are read in blocks.
    cv : scheme, splitter, int, list of index pairs, or dict of these, optional
        How the rows after the washout, or whole sequences, are split. By default into ten folds,
        ``KFold(10)``; those of sequences are shuffled, for a classifier stratified too, and those
        of ``groups`` keep them together. An integer is a number of such folds.
    ridge : float or sequence of float, optional
        Ridge values; the estimator's own by default. A path costs little more than one value.
    metric : str, callable or list of these
        A name of `echofold.metrics`, as ``"nrmse"``, or ``f(y_true, y_pred)``.
        Rows without a target (NaN) do not count; a split without any other is left out.
    algorithm : {"auto", "naive", "small_k", "large_k"}
        All give the same result; ``"auto"`` takes the one with the lowest estimated cost.
    memory : None, number of bytes, str such as "2GB", or {"states", "pieces", "fold", "frugal"}
        Memory to use (half of what is free by default), or the way to use it.
    readouts : bool
        Whether the readouts of every split are returned too, as ``readout``.
    groups : array, optional
        Handed to splitters that ask for groups.
    verify : bool
        Whether some splits are refitted plainly and compared, at the price of a few fits; an error
        is raised if results differ by more than rounding explains.

    Returns
    -------
    xarray.Dataset, or a dict of them when ``cv`` is a dict
        One variable per metric over ``(split, ridge)``; ``attrs`` say which algorithm was used,
        why, and the condition number of the states.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, KFold, cross_validate
    >>> y = np.sin(np.arange(300) / 5)
    >>> found = cross_validate(ESNForecaster(30, random_state=0), y, cv=KFold(5), ridge=[1e-8, 1.0])
    >>> found.nrmse.mean("split").values.round(2)
    array([0.  , 0.58])
    """
    from sklearn.base import clone

    check_network(estimator)
    check_fit_params(cross_validate, estimator, fit_params)
    estimator = clone(estimator)
    problem = estimator._read(*data, **fit_params)
    params = estimator.get_params(deep=False)
    own = estimator._own_ridge(problem.task)
    if ridge is None and np.ndim(params["ridge"]):
        raise ValueError(
            f"ridge={params['ridge']!r} of the estimator is one for each output, and one split is "
            "scored with one ridge; give ridge=... a path to validate."
        )
    path = check_ridge(own if ridge is None else ridge)
    seed = seed_of(params["random_state"])
    source = estimator._states(problem, seed)
    settings = Settings(
        path, metrics=check_metrics(metric), algorithm=algorithm, memory=memory, readouts=readouts,
        verify=verify, **estimator._fitting(params, problem),
    )  # fmt: skip
    if readouts and settings.pool != "all":
        raise ValueError(
            f"readouts=True gives a readout of each split, and with pool={settings.pool!r} each "
            "series has one of its own. Use readouts=False, or pool='all'."
        )
    return _run(source, cv, groups, settings, {"seed": seed})


@overload
def cross_validate_readout(
    states: Any,
    targets: Any,
    *,
    cv: dict[str, Any],
    ridge: Any = 1e-6,
    metric: Any = "nrmse",
    penalize_bias: bool = False,
    sample_weight: Any = None,
    algorithm: str = "auto",
    readouts: bool = False,
    groups: Any = None,
    verify: bool = False,
) -> dict[str, xr.Dataset]: ...


@overload
def cross_validate_readout(
    states: Any,
    targets: Any,
    *,
    cv: Any = None,
    ridge: Any = 1e-6,
    metric: Any = "nrmse",
    penalize_bias: bool = False,
    sample_weight: Any = None,
    algorithm: str = "auto",
    readouts: bool = False,
    groups: Any = None,
    verify: bool = False,
) -> xr.Dataset: ...


def cross_validate_readout(
    states: Any,
    targets: Any,
    *,
    cv: Any = None,
    ridge: Any = 1e-6,
    metric: Any = "nrmse",
    penalize_bias: bool = False,
    sample_weight: Any = None,
    algorithm: str = "auto",
    readouts: bool = False,
    groups: Any = None,
    verify: bool = False,
) -> Any:
    """Cross-validate linear readouts of states that were measured or computed elsewhere.

    Parameters
    ----------
    states : array (rows, columns)
        For example the activity of a physical reservoir; the column of ones is added here.
    targets : array (rows,) or (rows, outputs)
    cv, ridge, metric, algorithm, readouts, groups, verify
        As in `cross_validate`.
    penalize_bias : bool
        Whether the ridge acts on the bias too.
    sample_weight : array (rows,), optional
        Weights for training.

    Returns
    -------
    xarray.Dataset, or a dict of them when ``cv`` is a dict

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import LeaveOneOut, cross_validate_readout
    >>> states = np.random.default_rng(0).normal(size=(50, 3))
    >>> found = cross_validate_readout(states, states @ [1, 2, 3], cv=LeaveOneOut(), ridge=[0, 10])
    >>> bool(found.nrmse.mean("split")[0] < 1e-12)
    True
    """
    from echofold._data.tables import read, read_weights

    X = read(states, "states").values
    Y = read(targets, "targets").values
    if len(X) != len(Y):
        raise ValueError(
            f"states has {len(X)} rows but targets has {len(Y)}; give one target for each row."
        )
    weights = read_weights(sample_weight, len(X))
    units, zeros = np.ones(Y.shape[1]), np.zeros(Y.shape[1])
    problem = Problem(REGRESSION, Y, Segments.series(X), units, zeros, weights=weights)
    settings = Settings(
        check_ridge(ridge), penalize_bias, check_metrics(metric), algorithm, None, readouts,
        verify=verify,
    )  # fmt: skip
    return _run(GivenStates(problem, X), cv, groups, settings, {})


def _run(source, cv, groups, settings: Settings, attrs: dict[str, Any]):
    """Validate and put the results into one Dataset for each scheme."""
    check_algorithm(settings.algorithm)
    schemes = resolve_schemes(cv, source.problem, groups, settings.metrics)
    asked = with_checkable_metrics(settings) if settings.verify else settings
    if settings.verify:
        check_verifiable(source.problem)
    with one_piece("validating"):
        validated = validate(source, schemes, asked)
    if settings.verify:
        verify(source, validated, asked, attrs.get("seed", 0))
    for one in validated.values():
        one.W = None if one.W is None else source.of_features(one.W)
    names = [metric.name for metric in settings.metrics]
    record = gathered([validated], names, readouts=settings.readouts, steps=source.steps)
    attrs = {**attrs, "pilot_steps": source.pilot_steps}
    results = datasets(record, None, schemes, settings, attrs)
    notes = describe_data(source.problem, schemes)
    notes += describe_rounding(source.problem, source.dtype)
    warn_once(results.values(), settings, notes)
    return results if isinstance(cv, dict) else results["cv"]
