"""Checks of single arguments, of their names, of estimators that were given; seeds of any kind.

Other libraries and papers have other names for the same things. Keywords are compared with the
signature before a constructor is entered, so signatures stay as they are written.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np

Method = TypeVar("Method", bound=Callable[..., Any])
NETWORKS = "ESNForecaster, ESNRegressor or ESNClassifier"


def is_network(given: Any) -> bool:
    """Whether this is one of the library's estimators, and no class."""
    return hasattr(given, "_task") and hasattr(given, "_read") and not isinstance(given, type)


def check_network(given: Any) -> None:
    """Raise unless this is an estimator of the library."""
    if is_network(given):
        return
    if isinstance(given, type):
        raise TypeError(
            f"estimator={given.__name__} is a class; give an {NETWORKS} made of it, as "
            f"{given.__name__}(), with its parameters in the parentheses."
        )
    if is_network(getattr(given, "estimator", None)):
        raise TypeError(
            f"estimator is an {type(given).__name__}, expected an {NETWORKS}: give the estimator "
            "that it searches, or use evaluate(search, ...) to judge the search as a whole."
        )
    raise TypeError(
        f"estimator={describe(given)}: expected an {NETWORKS}. For estimators of other libraries "
        "use scikit-learn's GridSearchCV and cross_validate; readouts of states from elsewhere are "
        "validated by echofold.cross_validate_readout."
    )


def check_fit_params(function: Callable, estimator: Any, given: Iterable[str]) -> None:
    """Raise for keywords that neither ``function`` nor ``estimator.fit`` takes."""
    known = dict.fromkeys(_keywords(function)[0] + _keywords(type(estimator).fit)[0])
    check_names(given, known, function.__qualname__)


def series_first(method: Method) -> Method:
    """Make a method of ``y`` and ``X`` refuse scikit-learn's order, a table and then one column.

    An ``X`` that is given by its name is meant as one.
    """

    @wraps(method)
    def ordered(self, *data, **named):
        first, second = (_shape(one) for one in data[:2]) if len(data) > 1 else ((), ())
        if len(first) == 2 and len(second) == 1 and first[0] == second[0]:
            raise ValueError(
                f"y is a table of shape {tuple(first)} and X a single column of as many values: a "
                "forecaster takes the series first, then inputs known in advance. Use fit(y, X); "
                "to forecast the columns of a table with one known input, name it: fit(y, X=...)."
            )
        return method(self, *data, **named)

    return ordered  # type: ignore[return-value]


def _shape(given: Any) -> tuple[int, ...]:
    """The shape of data, as far as it has one."""
    try:
        return tuple(given.shape) if hasattr(given, "shape") else np.shape(given)
    except ValueError:  # of rows of unequal length
        return ()


# Ours, and what else they are called, without underscores and capitals.
ALSO_CALLED = {
    "units": "nreservoir reservoirsize ressize nunits numunits nneurons hiddensize nhidden "
    "hiddenlayersize reservoirunits n size neurons nodes",
    "leak_rate": "leakingrate leakrate leak leakyrate leakage lr a leaky alpha",
    "spectral_radius": "sr rho spectralradius radius specrad rhosr",
    "input_scaling": "inputscale inputscaling inscaling inscale sigmain inputstrength",
    "bias_scaling": "biasscale biasscaling bias inputbias",
    "connectivity": "density sparsity rcconnectivity reservoirdensity wconnectivity",
    "ridge": "reg regularization regularisation alpha l2 lambda lam beta tikhonov "
    "ridgealpha regcoef regressionparameters ridgeparam ridgeparameter",
    "penalize_bias": "penalisebias regularizebias",
    "washout": "warmup transient ntransient burnin wash transientlength inittransient spinup",
    "scale": "normalize normalise standardize standardise scaler scaling",
    "random_state": "seed randomseed rng randomseeds",
    "W": "wres wrec reservoirmatrix",
    "W_in": "win wfeedback wfb inputmatrix",
    "season": "seasonality period seasonallength seasonlength sp m",
    "difference": "differences differencing d diff",
    "reservoir": "kind topology activation",
    "states": "pooling aggregation statemode",
    "estimator": "model esn base baseestimator",
    "space": "paramgrid paramdistributions params grid searchspace paramspace parameters",
    "cv": "nsplits k folds nfolds scheme validation splits splitter",
    "metric": "scoring score loss criterion metrics objective scorer",
    "final": "refit finalmodel",
    "n_iter": "ntrials maxevals ncandidates iterations ntrial",
    "n_draws": "draws nseeds repeats nrepeats ninits",
    "n_jobs": "jobs workers njobs nthreads nworkers",
    "progress": "verbose verbosity progressbar",
    "select": "selection",
    "ridge_per": "individualridge ridgeperoutput ridgepersplit ridgeper",
    "k": "nsplits splits folds nfolds",
    "valid": "testsize validation validsize validationsize horizon windowlength fh",
    "min_train": "maxtrainsize trainsize window initialwindow mintrainsize initial",
    "step": "steplength stride",
    "shuffle": "shuffled",
    "horizon": "steps h fh nsteps",
    "origins": "norigins nwindows nsplits",
    "level": "coverage confidence alpha levels",
    "X": "exog exogenous xreg covariates",
    "sample_weight": "weights sampleweights weight",
}


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """What may be meant by a name that is not among those ``known``; nothing without a guess."""
    name, names = str(name), list(known)
    plain = name.replace("_", "").lower()
    found = [one for one in names if plain in ALSO_CALLED.get(one, "").split()]
    if not found:
        found = [one for one in names if plain == one.replace("_", "").lower()]
        found += [one for one in names if len(name) > 2 and name in one]  # before what is alike
        found += difflib.get_close_matches(name, names, n=1, cutoff=0.6)
        found = found[:1]
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""


def check_names(
    given: Iterable[str], known: Collection[str], whose: str, error: type = TypeError
) -> None:
    """Raise for the first name that is not ``known``."""
    for name in given:
        if name not in known:
            raise error(
                f"{whose} has no argument {name!r}.{did_you_mean(name, known)} "
                f"Its arguments are {', '.join(known)}."
            )


@cache
def _keywords(function: Callable) -> tuple[tuple[str, ...], bool]:
    """Names of the arguments of a function or method, and whether it takes any others."""
    each = list(inspect.signature(function).parameters.values())
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = (one.name for one in each if one.kind not in variable and one.name != "self")
    return tuple(names), any(one.kind is one.VAR_KEYWORD for one in each)


class NamedArguments:
    """Classes whose constructor tells which argument a wrong name was meant for."""

    if not TYPE_CHECKING:  # to checkers the signature is that of ``__init__``

        def __new__(cls, *args: Any, **options: Any):
            """Compare names, and leave all else to ``__init__``."""
            known, any_other = _keywords(cls.__init__)
            check_names(() if any_other else options, known, cls.__name__)
            return super().__new__(cls)


class NamedParameters(NamedArguments):
    """Estimators whose `set_params` does so, too."""

    if TYPE_CHECKING:  # parameters are attributes

        def __getattr__(self, name: str) -> Any: ...

    def _keep(self, params: dict[str, Any]) -> None:
        """Store the arguments of `__init__` by their names, as they are."""
        for name, value in params.items():
            if name != "self":
                setattr(self, name, value)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``reservoir__name`` is one of the object at ``reservoir``.

        Returns
        -------
        self
        """
        own = self.get_params(deep=False)
        for name in params:
            outer, nested, _ = name.partition("__")
            check_names([outer], own, type(self).__name__, ValueError)  # as scikit-learn does
            value = params.get(outer, own[outer])
            if nested and not hasattr(value, "set_params"):
                raise ValueError(
                    f"{name} sets a parameter of {outer}, but {outer}={value!r} has none. Give "
                    f"{outer} first."
                )
        return super().set_params(**params)  # type: ignore[misc]


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    """Raise for a value outside of what is allowed."""
    raise ValueError(f"{name}={value!r} is not allowed: it must be {expected}.")


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_integer(
    name: str, value: Any, least: int, otherwise: str = "", most: float = np.inf
) -> int:
    """The integer that ``value`` is; raise unless it is one of ``least`` to ``most``."""
    if not is_integer(value) or not least <= value <= most:
        range_ = f"at least {least}" if most == np.inf else f"{least} to {most}"
        refuse(name, value, f"an integer of {range_}{otherwise}")
    return int(value)


def check_one_of(name: str, value: Any, allowed: Collection[str]) -> None:
    """Raise unless a value is one of those allowed."""
    if value not in allowed:
        raise ValueError(
            f"{name}={value!r} is unknown: it must be {', '.join(map(repr, allowed))}."
        )


def check_number(
    name: str, value: Any, expected: str, *, least=-np.inf, most=np.inf, above=-np.inf,
    below=np.inf, kind: Any = Real,
) -> None:  # fmt: skip
    """Raise unless ``value`` is a finite number of a kind, inside of these limits."""
    number = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(float(value))
    if not (number and least <= value <= most and above < value < below):
        refuse(name, value, expected)


def check_numbers(values: Mapping[str, Any], rules: Mapping[str, Mapping]) -> None:
    """`check_number` of values by name, each by the rule of its name."""
    for name, value in values.items():
        check_number(name, value, **rules[name])


def check_count(name: str, value: Any, why: str = "") -> None:
    """Raise unless ``value`` is a positive integer."""
    if not is_integer(value) or value < 1:
        refuse(name, value, f"a positive integer{f' ({why})' if why else ''}")


def describe(value: Any) -> str:
    """A value in a few words, whatever its size."""
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {shape}" if shape is not None else repr(value)


def read_range(given: Any, outputs: int) -> np.ndarray | None:
    """Check an output range and give it as ``(2, outputs)``."""
    if given is None:
        return None
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), outputs) for end in given)
    except (TypeError, ValueError):
        low, high = np.ones(1), np.zeros(1)
    if not (low < high).all():
        raise ValueError(
            f"output_range={given!r} is not allowed: it must be a pair (low, high) with low below "
            f"high, each a number or one for each of the {outputs} outputs, or None."
        )
    return np.stack([low, high])


def seed_of(random_state) -> int:
    """One integer seed from an integer, a RandomState, a Generator or None."""
    if is_integer(random_state):
        return int(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0] % 2**31)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise TypeError(
        f"random_state must be an integer, a numpy RandomState or Generator, or None; "
        f"got {describe(random_state)}."
    )


def candidate_seed(candidate: dict[str, Any], default: int) -> int:
    """The seed of a candidate's first draw: its own, or that of the search.

    None stands for the search's, as if the candidate did not name it: a fresh seed for each
    candidate could not be told apart from the effect of its other parameters.
    """
    given = candidate.get("random_state")
    if given is None:
        return default
    if not is_integer(given):
        raise TypeError(
            f"space['random_state'] has {describe(given)}: candidates take an integer, or None "
            "for the seed of the search."
        )
    return int(given)


def given_params(value: Any) -> dict[str, Any]:
    """Parameters of an estimator or a search that were not left at their defaults."""
    defaults = {k: p.default for k, p in inspect.signature(type(value)).parameters.items()}
    given = value.get_params(deep=False)
    return {k: v for k, v in given.items() if not _same(v, defaults[k])}


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter is its default."""
    plain = bool | int | float | str
    equal = isinstance(value, plain) and type(value) is type(default) and value == default
    return value is default or equal
