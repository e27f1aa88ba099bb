"""Save and load estimators: one zip file of arrays and JSON. Nothing in it is ever executed.

The file holds ``echofold.json`` (class, parameters, fitted values), one ``.npy`` member for each
array, and ``sha256.txt`` with the checksum of every other member.
"""

from __future__ import annotations

import json
import os
from copy import copy
from importlib import import_module
from numbers import Integral
from pathlib import Path
from reprlib import repr as short
from typing import Any, TypeVar, overload

from sklearn.utils.validation import check_is_fitted

from echofold._data.scaling import Scaler
from echofold._data.tables import Schema
from echofold._engine.kind import KINDS
from echofold._models import ESTIMATORS
from echofold._models.base import ESN
from echofold._models.ensemble import ForecastEnsemble, is_ensemble
from echofold._persistence.archive import MOST_MEMBERS, read_members, write_members
from echofold._persistence.checks import count, floats, optional
from echofold._persistence.contents import (
    CLASS,
    Parts,
    decode,
    decode_parts,
    encode,
    encode_parts,
    parse,
)
from echofold._persistence.expected import check_fitted, check_params
from echofold._persistence.frozen import thaw
from echofold.reservoirs import reservoir_of

FORMAT = 1
Kind = TypeVar("Kind")
ABOUT = "echofold.json"


def save(estimator: Any, path: str | os.PathLike) -> None:
    """Save a fitted estimator to one file.

    The file is written beside ``path`` and then put in its place, so an interrupted save leaves
    an earlier file whole.

    Parameters
    ----------
    estimator : ESNForecaster, ESNRegressor or ESNClassifier
        Fitted.
    path : path
        Any name; an existing file is replaced.

    Notes
    -----
    A ``random_state`` that is a generator is saved as the seed that was drawn from it.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from echofold import ESNForecaster, load, save
    >>> model = ESNForecaster(units=20, random_state=0).fit(np.sin(np.arange(100) / 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.echofold"
    ...     save(model, path)
    ...     bool((load(path).forecast(5) == model.forecast(5)).all())
    True
    """
    name = type(estimator).__name__
    members: dict[str, bytes] = {}
    if is_ensemble(estimator):
        about = {
            "format": FORMAT,
            "class": name,
            "members": [
                _described(one, f"{i}", members) for i, one in enumerate(estimator.members)
            ],
            **{
                name: encode(getattr(estimator, f"{name}_"), name, members)
                for name in ("residuals", "log_residuals", "runs")
            },
        }
    elif name not in ESTIMATORS or _class(name) is not type(estimator):
        raise TypeError(
            f"estimator must be one of {', '.join(ESTIMATORS)}, got {type(estimator)!r}. For a "
            "search, save its best_estimator_."
        )
    else:
        about = {"format": FORMAT, "class": name, **_described(estimator, "", members)}
    text = json.dumps(about, indent=1, allow_nan=False).encode()
    try:
        _restore(parse(text), dict(members))
        if len(members) > MOST_MEMBERS - 2:
            raise ValueError(f"{len(members)} arrays, expected at most {MOST_MEMBERS - 2}")
    except ValueError as error:
        raise ValueError(
            f"{name} was changed since it was fitted, or is too large, and could not be loaded "
            f"again: {error}. Fit it again and save it then."
        ) from error
    write_members(Path(path), {**members, ABOUT: text})


def _described(estimator: ESN, name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """Parameters and fitted values of an estimator, as JSON; arrays become ``members``."""
    check_is_fitted(estimator, "readout_")
    params = estimator.get_params(deep=False)
    if not isinstance(params["random_state"], Integral | None):
        params["random_state"] = estimator.seed_
    fitted = {k: v for k, v in vars(estimator).items() if k.endswith("_") and k != "reservoir_"}
    return {
        "params": encode_parts(params, name, members),
        "fitted": encode_parts(fitted, name, members),
    }


@overload
def load(path: str | os.PathLike) -> Any: ...


@overload
def load(path: str | os.PathLike, kind: type[Kind]) -> Kind: ...


def load(path, kind=None):
    """Load an estimator saved with `save`.

    Nothing in the file is executed, and all it says is checked before it is used, so a file from
    a stranger can be loaded: it does no harm, though it may predict nonsense. Reading takes at
    most about twice as much memory as the file is long.

    Parameters
    ----------
    path : path
        A file written by `save`.
    kind : class, optional
        The class that it must be of, as `ESNForecaster`; type checkers then know it.

    Returns
    -------
    estimator : ESNForecaster, ESNRegressor or ESNClassifier
        It predicts bit for bit what the saved one did on the same machine.

    Raises
    ------
    ValueError
        If the file was not written by `save`, is damaged, or does not fit together.
    TypeError
        If it holds an estimator of another ``kind``.
    OSError
        If it cannot be opened.
    """
    with open(path, "rb") as file:
        try:
            members = read_members(file)
            if ABOUT not in members:
                raise ValueError(f"{ABOUT} is missing")
            about = parse(members.pop(ABOUT))
        except Exception as error:  # what no check foresaw is a bad file too
            raise _refusal(path, "it cannot be read", error) from error
    version = about.get("format") if isinstance(about, dict) else None
    if type(version) is int and version != FORMAT:
        raise ValueError(
            f"{path} has format {short(version)}, this version of echofold reads format {FORMAT}. "
            "Load it with the version that saved it, or upgrade echofold."
        )
    try:
        estimator = _restore(about, members)
    except Exception as error:  # as above
        raise _refusal(path, "its contents do not fit together", error) from error
    if kind is not None and not isinstance(estimator, kind):
        raise TypeError(
            f"{path} holds an {type(estimator).__name__}, expected an {kind.__name__}. Give "
            "another file, or leave kind out."
        )
    return estimator


def _restore(about: Any, members: dict[str, Any]) -> Any:
    """The estimator that a file describes; ``members`` are its arrays. All of it is checked."""
    if isinstance(about, dict) and about.get("class") == ForecastEnsemble.__name__:
        return _restore_ensemble(about, members)
    if not isinstance(about, dict) or set(about) != {"format", "class", "params", "fitted"}:
        raise ValueError(f"{ABOUT} must hold format, class, params and fitted, got {short(about)}")
    name = about["class"]
    if type(about["format"]) is not int or not isinstance(name, str) or name not in ESTIMATORS:
        raise ValueError(f"class {short(name)} of format {short(about['format'])}")
    estimator = _restore_one(name, about, members)
    if members:
        raise ValueError(f"members {short(sorted(members))} belong to no value")
    return estimator


def _restore_ensemble(about: dict[str, Any], members: dict[str, Any]) -> ForecastEnsemble:
    """The ensemble that a file describes."""
    validation = {"residuals": None, "log_residuals": None, "runs": None}
    if set(about) != {"format", "class", "members", *validation}:
        raise ValueError(f"{ABOUT} must hold format, class, members, {', '.join(validation)}")
    held = about["members"]
    if type(about["format"]) is not int or not isinstance(held, list) or not held:
        raise ValueError(f"members are {short(held)}, expected forecasters")
    for one in held:
        if not isinstance(one, dict) or set(one) != {"params", "fitted"}:
            raise ValueError(f"a member is {short(one)}, expected params and fitted")
    ensemble = ForecastEnsemble([_restore_one("ESNForecaster", one, members) for one in held])
    first = ensemble.members[0]
    for one in ensemble.members[1:]:
        if (one.y_schema_, one.X_schema_) != (first.y_schema_, first.X_schema_):
            raise ValueError("members are of different series")
        if (one.timeline_ is None) != (first.timeline_ is None):
            raise ValueError("members are of different series")
    if not all(hasattr(one, "range_") for one in ensemble.members):
        raise ValueError("a member has no range_")
    for name in validation:
        validation[name] = decode(about[name], name, members)
        if name != "runs":
            check = optional(floats("count", "horizon", "outputs", finite=False))
            check(name, validation[name], {"outputs": len(first.last_)})
    if members:
        raise ValueError(f"members {short(sorted(members))} belong to no value")
    count("runs", validation["runs"], {})
    for name, value in validation.items():
        setattr(ensemble, f"{name}_", value)
    return ensemble


def _restore_one(name: str, about: dict[str, Any], members: dict[str, Any]) -> Any:
    """An estimator by its parameters and fitted values."""
    params = decode_parts(about["params"], "params", members)
    fitted = decode_parts(about["fitted"], "fitted", members)
    cls = _class(name)
    check_params(params, cls._get_param_names())
    params = {name: _made(value) for name, value in params.items()}
    cls._check_values(params)
    kind = reservoir_of(params)
    check_fitted(cls, kind, fitted)
    estimator = cls(**params)
    for attribute, value in fitted.items():
        setattr(estimator, attribute, _made(value))
    estimator.reservoir_ = copy(kind)
    return estimator


def _class(name: str) -> type[ESN]:
    """An estimator by its name."""
    return getattr(import_module(f"echofold._models.{ESTIMATORS[name]}"), name)


def _made(value: Any) -> Any:
    """The object that checked parts belong to; any other value is what it is."""
    if not isinstance(value, Parts):
        return value
    if value.kind == "Timeline":
        return thaw(value.parts)
    if value.kind == "csr":
        from scipy.sparse import csr_array

        data, indices, starts, shape = (
            value.parts[part] for part in ("data", "indices", "indptr", "shape")
        )
        return csr_array((data, indices, starts), shape=shape)
    if value.kind == "Reservoir":
        parts = {name: _made(part) for name, part in value.parts.items()}
        kind = KINDS[parts.pop(CLASS)]
        return kind(**parts)
    return {"Schema": Schema, "Scaler": Scaler}[value.kind](**value.parts)


def _refusal(path: str | os.PathLike, why: str, error: Exception) -> ValueError:
    """The error for a file that `save` did not write, or not all of it."""
    cause = str(error) if isinstance(error, ValueError) else repr(error)
    return ValueError(
        f"{path} is not a file saved by echofold, or it is damaged: {why} ({cause:.500}). Save "
        "the estimator again, or restore the file from a copy."
    )
