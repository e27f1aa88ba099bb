"""Save and load estimators: one zip file of arrays and JSON. Nothing in it is ever executed.

The file holds ``echofold.json`` (class, parameters, fitted values), one ``.npy`` member for each
array, and ``sha256.txt`` with the checksum of every other member. Of a model of many series there
are members that are such files too, each with what is of some of the series.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from importlib import import_module
from numbers import Integral
from reprlib import repr as short
from typing import Any, BinaryIO, Protocol, Self, TypeVar, get_origin, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.panels import KINDS, Panel
from echofold._machine.archives import MOST_MEMBERS, read_archive
from echofold._machine.files import written_aside
from echofold._models import ESTIMATORS
from echofold._models.base import ESN, Stored
from echofold._models.combination import POOLED
from echofold._models.ensemble import ForecastEnsemble, is_ensemble
from echofold._models.forecaster import ESNForecaster
from echofold._models.learning import Learning
from echofold._persistence.contents import (
    decode,
    decode_each,
    decode_parts,
    encode_each,
    encode_parts,
    parse,
)
from echofold._persistence.expected import (
    AUTOMATIC,
    ENSEMBLE,
    PANEL,
    PARAMETERS,
    check,
    check_fitted,
    require,
)
from echofold._search.auto import AutoForecaster
from echofold._search.panel import STORED, parts_of, restored

FORMAT = 1
Kind = TypeVar("Kind")
ABOUT, SUMS = "echofold.json", "sha256.txt"
PARTS = {"params", "fitted"}
BLOCK = 200  # series in one member of a file
WRITTEN = (1980, 1, 1, 0, 0, 0)  # date of all members: equal estimators make equal files


def save(estimator: Any, path: str | os.PathLike[str], *, learning: bool = False) -> None:
    """Save a fitted estimator to one file.

    The file is written beside ``path`` and then put in its place, so an interrupted save leaves
    an earlier file whole.

    Parameters
    ----------
    estimator : AutoForecaster, ESNForecaster, ESNRegressor or ESNClassifier
        Fitted.
    path : path
        Any name; an existing file is replaced.
    learning : bool, default=False
        Whether the file also holds what ``partial_fit`` goes on from, of an ESNForecaster of one
        series or an ESNRegressor. It is an array of the square of the number of features, so that
        the file is about twice as large, more so with a sparse reservoir.

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
    about = {"format": FORMAT, **_content(estimator, "", members)}
    if learning:
        about["fitted"] |= encode_parts({"learning_": _learning_of(estimator)}, "", members)
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
    with written_aside(path) as file:
        _pack(file, text, members)


def _learning_of(estimator: Any) -> Learning:
    """What `partial_fit` goes on from; raise unless it is there and a file can hold it."""
    if type(estimator).__name__ not in ESTIMATORS or not hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"learning=True is for an ESNForecaster or an ESNRegressor, got {type(estimator)!r}, "
            "which does not learn on. Leave it out."
        )
    if hasattr(estimator, "series_"):
        raise ValueError(
            "learning=True is for a model of one series, and this one has "
            f"{len(estimator.series_)}. Leave it out, and fit all data again to learn on."
        )
    return estimator._learned_on("save(..., learning=True)")


def _pack(file: Any, text: bytes, members: dict[str, bytes]) -> None:
    """Write what describes a model, and its arrays, as an archive."""
    members[ABOUT] = text
    members[SUMS] = _checksums(members)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member, WRITTEN), content)


def _content(estimator: Any, name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """The class of an estimator and what it is made of, as JSON; arrays become ``members``."""
    called = type(estimator).__name__
    if is_ensemble(estimator):
        each = enumerate(estimator.members)
        held = [_described(one, f"{name}.{i}".lstrip("."), members) for i, one in each]
        validation = {one: getattr(estimator, f"{one}_") for one in ENSEMBLE}
        return {"class": called, "members": held, **encode_parts(validation, name, members)}
    if type(estimator) is AutoForecaster:
        params = encode_parts({one: getattr(estimator, one) for one in AUTOMATIC}, name, members)
        if hasattr(estimator, "series_"):
            panel = encode_parts(dict(vars(estimator.panel_)), "panel", members)
            fitted = encode_parts(parts_of(estimator), name, members)
            views, once = estimator.series_.values(), {"pool_": None, "pooled_": ()}
            own = [one._parts() | once for one in views]
            blocks = _in_blocks(own, [one.networks_ for one in views], members)
            about = {"class": called, "params": params, "fitted": fitted}
            return {**about, "panel": panel, "blocks": blocks}
        check_is_fitted(estimator, "weights_")
        fitted, networks = encode_parts(estimator._parts(), name, members), estimator.networks_
        networks = None if networks is None else _content(networks, "networks", members)
        return {"class": called, "params": params, "fitted": fitted, "networks": networks}
    if called not in ESTIMATORS or _class(called) is not type(estimator):
        raise TypeError(
            f"estimator must be one of {', '.join(ESTIMATORS)} or AutoForecaster, got "
            f"{type(estimator)!r}. For a search, save its best_estimator_."
        )
    if isinstance(estimator, ESNForecaster) and hasattr(estimator, "series_"):
        return {"class": called, **_several(estimator, members)}
    return {"class": called, **_described(estimator, name, members)}


def _several(estimator: ESNForecaster, members: dict[str, bytes]) -> dict[str, Any]:
    """The same of a forecaster of several series: its network, and what is of each series."""
    shared, panel = set(estimator._network), vars(estimator.panel_)
    if any(view.readout_ is not estimator.readout_ for view in estimator.series_.values()):
        shared.remove("readout_")
    views = [vars(view).items() for view in estimator.series_.values()]
    apart = shared | {"learning_"}
    own = [{k: v for k, v in view if k.endswith("_") and k not in apart} for view in views]
    return {
        **_described(estimator, "", members),
        "panel": encode_parts(panel, "panel", members),
        "blocks": _in_blocks(own, [None] * len(own), members),
    }


def _in_blocks(each: list[dict[str, Any]], networks: list[Any], members: dict[str, bytes]) -> int:
    """Put what is of single series into members that are files themselves; how many these are."""
    blocks, first = 0, 0
    while first < len(each):
        inner: dict[str, bytes] = {}
        held: dict[str, Any] = {}
        last = first
        while last < len(each) and last < first + BLOCK and len(inner) < MOST_MEMBERS // 2:
            if networks[last] is not None:
                place = str(last - first)
                held[place] = _content(networks[last], f"networks.{place}", inner)
            last += 1
        about = {"series": encode_each(each[first:last], "series", inner), "networks": held}
        file = io.BytesIO()
        _pack(file, json.dumps(about, allow_nan=False).encode(), inner)
        members[f"series.{blocks}.echofold"] = file.getvalue()
        blocks, first = blocks + 1, last
    return blocks


def _described(estimator: ESN, name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """Parameters and fitted values of an estimator, as JSON; arrays become ``members``."""
    check_is_fitted(estimator, "readout_")
    params = estimator.get_params(deep=False)
    if not isinstance(params["random_state"], Integral | None):
        params["random_state"] = estimator.seed_
    apart = ("reservoir_", "panel_", "series_", "learning_")
    estimator.condition_  # noqa: B018 - now it is among the fitted values
    fitted = {k: v for k, v in vars(estimator).items() if k.endswith("_") and k not in apart}
    return {
        "params": encode_parts(params, name, members),
        "fitted": encode_parts(fitted, name, members),
    }


def _checksums(members: Mapping[str, bytes | bytearray]) -> bytes:
    """One line for each member: its SHA-256 and its name."""
    lines = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    return "".join(lines).encode()


class Loaded(Protocol):
    """What a file of any estimator may hold, for type checkers: the methods of all of them."""

    def forecast(self, horizon: int = ..., X: Any = None, level: Any = None) -> Any: ...

    def predict(self, X: Any, start: str = ...) -> np.ndarray: ...

    def predict_proba(self, sequences: Any) -> np.ndarray: ...

    def update(self, y: Any, X: Any = None) -> Self: ...

    def __getattr__(self, name: str) -> Any: ...


@overload
def load(path: str | os.PathLike[str]) -> Loaded: ...


@overload
def load(path: str | os.PathLike[str], kind: type[Kind]) -> Kind: ...


def load(path: str | os.PathLike[str], kind: Any = None) -> Any:
    """Load an estimator saved with `save`.

    Nothing in the file is executed, and all it says is checked before it is used, so a file from
    a stranger can be loaded: it does no harm, though it may predict nonsense. Reading takes at
    most about twice as much memory as the file is long.

    Parameters
    ----------
    path : path
        A file written by `save`.
    kind : class, optional
        The class that it must be of, as `ESNForecaster`; type checkers then know it. They know
        forecasts too by ``ESNForecaster[pd.Series]``, of a model of a pandas series.

    Returns
    -------
    estimator : AutoForecaster, ESNForecaster, ESNRegressor or ESNClassifier
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
        about, members = _guarded(path, "it cannot be read", _read, file)
    version = about.get("format") if isinstance(about, dict) else None
    if type(version) is int and version != FORMAT:
        raise ValueError(
            f"{path} has format {short(version)}, this version of echofold reads format {FORMAT}. "
            "Load it with the version that saved it, or upgrade echofold."
        )
    estimator = _guarded(path, "its contents do not fit together", _restore, about, members)
    kind = get_origin(kind) or kind
    if kind is not None and not isinstance(estimator, kind):
        raise TypeError(
            f"{path} holds an {type(estimator).__name__}, expected an {kind.__name__}. Give "
            "another file, or leave kind out."
        )
    return estimator


def _guarded(path: str | os.PathLike[str], why: str, work: Callable, *given: Any) -> Any:
    """What ``work`` makes of a file; what no check foresaw is a bad file too."""
    try:
        return work(*given)
    except Exception as error:
        cause = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(
            f"{path} is not a file saved by echofold, or it is damaged: {why} ({cause:.500}). Save "
            "the estimator again, or restore the file from a copy."
        ) from error


def _read(file: BinaryIO) -> tuple[Any, dict[str, bytearray]]:
    """What a file says, and its arrays."""
    members = read_archive(file)
    for name in (SUMS, ABOUT):
        if name not in members:
            raise ValueError(f"{name} is missing")
    if members.pop(SUMS) != _checksums(members):
        raise ValueError("its checksums do not match: it was changed after it was saved")
    return parse(members.pop(ABOUT)), members


def _restore(about: Any, members: dict[str, Any]) -> Any:
    """The estimator that a file describes; ``members`` are its arrays. All of it is checked."""
    version = about.pop("format", None) if isinstance(about, dict) else None
    if type(version) is not int:
        raise ValueError(f"{ABOUT} must hold a format, got {short(about)}")
    estimator = _restored(about, members)
    if members:
        raise ValueError(f"members {short(sorted(members))} belong to no value")
    return estimator


def _restored(about: Any, members: dict[str, Any]) -> Any:
    """An estimator by its class and what it is made of."""
    name = about.get("class") if isinstance(about, dict) else None
    held = {ForecastEnsemble.__name__: {"members", *ENSEMBLE}}
    held[AutoForecaster.__name__] = {*PARTS, "networks"}
    held |= dict.fromkeys(ESTIMATORS, PARTS)
    if not isinstance(name, str) or name not in held:
        raise ValueError(f"class {short(name)}")
    if name in (ESNForecaster.__name__, AutoForecaster.__name__) and "blocks" in about:
        held[name] = {*PARTS, "panel", "blocks"}
    if set(about) != {"class", *held[name]}:
        raise ValueError(
            f"{ABOUT} must hold class, {', '.join(sorted(held[name]))}, got {short(about)}"
        )
    if "blocks" in about:
        several = name == ESNForecaster.__name__
        return (_restore_several if several else _restore_panel)(about, members)
    if name == AutoForecaster.__name__:
        return _restore_automatic(about, members)
    return (_restore_ensemble if "members" in about else _restore_one)(name, about, members)


def _panel(about: dict[str, Any], members: dict[str, Any]) -> Panel:
    """What several series were given in."""
    panel = decode_parts(about["panel"], "panel", members)
    check("panel", panel, PANEL)
    several, names = Panel(**panel), panel["names"]
    require(several.kind in KINDS, "panel.kind", several.kind, "a kind of several series")
    by_number = several.kind in ("list", "tuple")
    fine = len(names) == len(set(names)) and (not by_number or names == tuple(range(len(names))))
    require(fine and len(names) > 0, "panel.names", names, "names of series, each once")
    level = several.level
    fine = several.kind != "long" or (
        isinstance(level, tuple)
        and len(level) == 4
        and all(isinstance(one, str) for one in level[:2])
        and level[3] in ("pandas", "polars")
    )
    require(fine, "panel.level", level, "the columns of a long frame, and its kind")
    return several


def _of_blocks(about: dict[str, Any], members: dict[str, Any]) -> Iterator[tuple[dict, Any]]:
    """The values of each series, and what describes its networks with the members of these."""
    count = about["blocks"]
    require(type(count) is int and 1 <= count <= MOST_MEMBERS, "blocks", count, "how many")
    for block in range(count):
        content = members.pop(f"series.{block}.echofold", None)
        if content is None:
            raise ValueError(f"block {block} of series is missing")
        inner, own = _read(io.BytesIO(content))
        del content
        fine = isinstance(inner, dict) and inner.keys() == {"series", "networks"}
        require(fine, f"block {block}", inner, "series and networks")
        networks = inner["networks"]
        require(isinstance(networks, dict), f"networks of block {block}", networks, "descriptions")
        for place, values in enumerate(decode_each(inner["series"], "series", own)):
            yield values, (networks.pop(str(place), None), own)
        if own or networks:
            raise ValueError(f"members {short(sorted([*own, *networks]))} belong to no series")


def _restore_panel(about: dict[str, Any], members: dict[str, Any]) -> AutoForecaster:
    """The automatic forecaster of several series that a file describes."""
    params = decode_parts(about["params"], "params", members)
    fitted = decode_parts(about["fitted"], "fitted", members)
    check("parameters", params, AUTOMATIC)
    check("fitted values", fitted, STORED)
    several, each = _panel(about, members), []
    for values, (networks, own) in _of_blocks(about, members):
        found = None if networks is None else _restored(networks, own)
        if tuple(values.get("names_", ()))[:1] == (POOLED,):
            values |= {name: fitted[name] for name in ("pool_", "pooled_")}
        each.append(_automatic(params, values, found))
    return restored(AutoForecaster(**params), several, each, fitted)


def _restore_several(about: dict[str, Any], members: dict[str, Any]) -> ESNForecaster:
    """The forecaster of several series that a file describes."""
    params = decode_parts(about["params"], "params", members)
    network = decode_parts(about["fitted"], "fitted", members)
    several = _panel(about, members)
    names, views = several.names, []
    apart = {"readout_"} if params.get("pool", "all") != "all" and len(names) > 1 else set()
    for own, (networks, _) in _of_blocks(about, members):
        require(networks is None, "networks", networks, "none, for all series share one")
        require({"readout_"} & own.keys() == apart, "readout_", own.get("readout_"), "as pool says")
        common = {name: value for name, value in network.items() if name not in apart}
        views.append(_checked_one("ESNForecaster", params, {**own, **common}))
    if len(views) != len(names):
        raise ValueError(f"{len(views)} series have {len(names)} names")
    estimator = ESNForecaster(**params)
    estimator.reservoir_ = views[0].reservoir_
    shared = {"seed_", "condition_", "readout_", *estimator.reservoir_.stored}
    if set(network) != shared:
        raise ValueError(f"the network is {short(sorted(network))}, expected {sorted(shared)}")
    shape = views[0].readout_.shape
    check("the network", {"readout_": network["readout_"]}, {"readout_": Stored("floats", shape)})
    estimator.panel_, estimator.series_ = several, dict(zip(names, views, strict=True))
    for attribute, value in network.items():
        setattr(estimator, attribute, value)
    return estimator


def _restore_automatic(about: dict[str, Any], members: dict[str, Any]) -> AutoForecaster:
    """The automatic forecaster that a file describes, with its networks if it has any."""
    networks = None
    if about["networks"] is not None:
        networks = _restored(about["networks"], members)
    params = decode_parts(about["params"], "params", members)
    check("parameters", params, AUTOMATIC)
    return _automatic(params, decode_parts(about["fitted"], "fitted", members), networks)


def _automatic(params: dict[str, Any], fitted: dict[str, Any], networks: Any) -> AutoForecaster:
    """An automatic forecaster of values and networks that are checked here."""
    if networks is not None and not isinstance(networks, ForecastEnsemble | ESNForecaster):
        raise ValueError(f"its networks are a {type(networks).__name__}")
    check("fitted values", fitted, AutoForecaster._stored, {"outputs": 1})
    if networks is not None and networks.y_schema_ != fitted["y_schema_"]:
        raise ValueError("its networks are of another series")
    return AutoForecaster._restored(params, fitted, networks)


def _restore_ensemble(name: str, about: dict[str, Any], members: dict[str, Any]) -> Any:
    """The ensemble that a file describes."""
    held = about["members"]
    if not isinstance(held, list) or not held:
        raise ValueError(f"members are {short(held)}, expected forecasters")
    for one in held:
        if not isinstance(one, dict) or set(one) != PARTS:
            raise ValueError(f"a member is {short(one)}, expected params and fitted")
    ensemble = ForecastEnsemble([_restore_one("ESNForecaster", one, members) for one in held])
    series = {(m.y_schema_, m.X_schema_, m.timeline_ is None) for m in ensemble.members}
    if len(series) > 1:
        raise ValueError("members are of different series")
    if not all(hasattr(one, "range_") for one in ensemble.members):
        raise ValueError("a member has no range_")
    validation = {name: decode(about[name], name, members) for name in ENSEMBLE}
    check(name, validation, ENSEMBLE, {"outputs": len(ensemble.members[0].last_)})
    for name, value in validation.items():
        setattr(ensemble, f"{name}_", value)
    return ensemble


def _restore_one(name: str, about: dict[str, Any], members: dict[str, Any]) -> ESN:
    """An estimator by its parameters and fitted values."""
    params = decode_parts(about["params"], "params", members)
    fitted = decode_parts(about["fitted"], "fitted", members)
    return _checked_one(name, params, fitted)


def _checked_one(name: str, params: dict[str, Any], fitted: dict[str, Any]) -> Any:
    """An estimator of parameters and fitted values that are checked here."""
    cls = _class(name)
    if cls is not ESNForecaster and "states_" in fitted:  # files of 0.1.0
        fitted |= {"summaries_": (fitted.pop("states_"),), "normalize_": False}
    check("parameters", params, {name: PARAMETERS[name] for name in cls._get_param_names()})
    kind = cls._check_values(params, whole="summaries_" in fitted)._on(cls._grid_of(params, fitted))
    check_fitted(cls, kind, fitted)
    estimator = cls(**params)
    for attribute, value in fitted.items():
        setattr(estimator, attribute, value)
    estimator.reservoir_ = copy(kind)
    return estimator


def _class(name: str) -> type[ESN]:
    """An estimator by its name."""
    return getattr(import_module(f"echofold._models.{ESTIMATORS[name]}"), name)
