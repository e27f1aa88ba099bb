"""Names of arguments that do not exist: an error that says which one was meant.

Other libraries and papers have other names for the same things. Keywords are compared with the
signature before a constructor is entered, so signatures stay as they are written.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any

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


def meant(name: str, known: Iterable[str]) -> list[str]:
    """What may be meant by a name that is not among those ``known``, the likeliest first.

    Examples
    --------
    >>> meant("leaking_rate", ["units", "leak_rate", "ridge"])
    ['leak_rate']
    >>> meant("spectral_raduis", ["units", "spectral_radius"])
    ['spectral_radius']
    """
    names, plain = list(known), name.replace("_", "").lower()
    found = [one for one in names if plain in ALSO_CALLED.get(one, "").split()]
    if found:
        return found
    found = [one for one in names if plain == one.replace("_", "").lower()]
    found += [one for one in names if len(name) > 2 and name in one]  # before what is only alike
    found += difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return found[:1]


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """`` Did you mean 'a'?``, or nothing if there is nothing to guess."""
    found = meant(str(name), known)
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


def check_keywords(function: Callable, given: Iterable[str], whose: str) -> None:
    """Raise for keywords that ``function`` does not take."""
    if (known := _keywords(function)) is not None:
        check_names(given, known, whose)


class NamedArguments:
    """Classes whose constructor tells which argument a wrong name was meant for."""

    def __new__(cls, *args: Any, **options: Any):
        """Compare names, and leave all else to ``__init__``."""
        check_keywords(cls.__init__, options, cls.__name__)
        return super().__new__(cls)


class NamedParameters(NamedArguments):
    """Estimators whose `set_params` does so, too."""

    def set_params(self, **params: Any):
        """Set parameters by name; ``reservoir__name`` is one of the object at ``reservoir``.

        Returns
        -------
        self
        """
        own = self.get_params(deep=False)  # type: ignore[attr-defined]
        names = [name.partition("__")[0] for name in params]
        check_names(names, own, type(self).__name__, ValueError)  # as scikit-learn does
        for name in params:
            outer, nested, _ = name.partition("__")
            if nested and not hasattr(params.get(outer, own[outer]), "set_params"):
                raise ValueError(
                    f"{name} sets a parameter of {outer}, but {outer}="
                    f"{params.get(outer, own[outer])!r} has none. Give {outer} first."
                )
        return super().set_params(**params)  # type: ignore[misc]


@cache
def _keywords(function: Callable) -> tuple[str, ...] | None:
    """Names of the arguments of a function or method; None if it takes any."""
    parameters = list(inspect.signature(function).parameters.values())
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return tuple(
        one.name for one in parameters if one.kind is not one.VAR_POSITIONAL and one.name != "self"
    )
