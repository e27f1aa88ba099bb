"""Save and load estimators: one zip file of arrays and JSON. Nothing in it is ever executed.

The file holds ``echofold.json`` (class, parameters, fitted values), one ``.npy`` member for each
array, and ``sha256.txt`` with the checksum of every other member.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from inspect import get_annotations
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._candidates import check_parameters
from echofold._estimators import ESNClassifier, ESNForecaster, ESNRegressor
from echofold._frames import Schema
from echofold._scaling import Scaler
from echofold._timeline import Timeline, freeze, thaw

FORMAT = 1
ABOUT, SUMS = "echofold.json", "sha256.txt"
CLASSES = {cls.__name__: cls for cls in (ESNForecaster, ESNRegressor, ESNClassifier)}
DATE = (1980, 1, 1, 0, 0, 0)  # of all members: equal estimators make equal files


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
    if CLASSES.get(name) is not type(estimator):
        raise TypeError(
            f"estimator must be one of {', '.join(CLASSES)}, got {type(estimator)!r}. For a "
            "search, save its best_estimator_."
        )
    check_is_fitted(estimator, "readout_")
    members: dict[str, bytes] = {}
    params = estimator.get_params(deep=False)
    if not isinstance(params["random_state"], Integral | None):
        params["random_state"] = estimator.seed_
    fitted = {k: v for k, v in vars(estimator).items() if k.endswith("_")}
    about = {
        "format": FORMAT,
        "class": name,
        "params": _encode_parts(params, "", members),
        "fitted": _encode_parts(fitted, "", members),
    }
    members[ABOUT] = json.dumps(about, indent=1, allow_nan=False).encode()
    members[SUMS] = _checksums(members)
    _write_whole(Path(path), members)


def load(path: str | os.PathLike) -> Any:
    """Load an estimator saved with `save`.

    Parameters
    ----------
    path : path
        A file written by `save`.

    Returns
    -------
    estimator : ESNForecaster, ESNRegressor or ESNClassifier
        It predicts bit for bit what the saved one did on the same machine.
    """
    members = _read_members(path)
    try:
        about = json.loads(members[ABOUT])
        version = about["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise _refusal(path, f"{ABOUT} cannot be read ({error!r})") from error
    if version != FORMAT:
        raise ValueError(
            f"{path} has format {version!r}, this version of echofold reads format {FORMAT}. "
            "Load it with the version that saved it, or upgrade echofold."
        )
    try:
        cls = CLASSES[about["class"]]
        params = _decode_parts(about["params"], members)
        fitted = _decode_parts(about["fitted"], members)
        estimator = cls(**params)
        check_parameters(params)
        _check_fitted(cls, fitted)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise _refusal(path, f"its contents do not fit together ({error!r})") from error
    for name, value in fitted.items():
        setattr(estimator, name, value)
    return estimator


# --- values -------------------------------------------------------------------------------------


def _encode(value: Any, name: str, members: dict[str, bytes]) -> Any:
    """JSON for a value: itself, or ``{kind: parts}``; arrays become ``members``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        held = [_encode(part, f"{name}.{i}", members) for i, part in enumerate(value)]
        return {type(value).__name__: held}
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, members)
    if hasattr(value, "tocsr"):
        csr = value.tocsr()
        parts = {k: getattr(csr, k) for k in ("data", "indices", "indptr", "shape")}
        return {"csr": _encode_parts(parts, name, members)}
    if isinstance(value, Timeline):
        return {"Timeline": _encode_parts(freeze(value), name, members)}
    if isinstance(value, Schema | Scaler):
        return {type(value).__name__: _encode_parts(vars(value), name, members)}
    raise TypeError(
        f"{name} holds a {type(value).__name__}, which cannot be saved without pickle: numbers, "
        "strings, arrays and sparse matrices can. Change it and fit again."
    )


def _encode_parts(parts: dict[str, Any], name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """JSON for named values; ``name`` is of what they are parts of."""
    return {k: _encode(v, f"{name}.{k}".lstrip("."), members) for k, v in parts.items()}


def _encode_array(array: np.ndarray, name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """An array as a member, or as a list of strings if NumPy holds them as objects."""
    if array.dtype.kind in "OT":
        strings = array.tolist()
        if array.ndim != 1 or not all(isinstance(value, str) for value in strings):
            raise TypeError(
                f"{name} is an array of Python objects, which cannot be saved without pickle. "
                "Give labels that are all strings, or all numbers."
            )
        return {"strings": strings}
    member = io.BytesIO()
    np.save(member, array, allow_pickle=False)
    members[f"{name}.npy"] = member.getvalue()
    return {"array": f"{name}.npy"}


def _decode(value: Any, members: dict[str, bytes]) -> Any:
    """The value that JSON stands for."""
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "float":
        return {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[held]
    if kind in ("list", "tuple"):
        parts = [_decode(part, members) for part in held]
        return parts if kind == "list" else tuple(parts)
    if kind == "strings":
        return np.array(held, dtype=object)
    if kind == "array":
        return np.load(io.BytesIO(members[held]), allow_pickle=False)
    named = _decode_parts(held, members)
    if kind == "csr":
        from scipy.sparse import csr_array

        shape = named.pop("shape")
        return csr_array((named["data"], named["indices"], named["indptr"]), shape=shape)
    if kind == "Timeline":
        return thaw(named)
    return {"Schema": Schema, "Scaler": Scaler}[kind](**named)


def _decode_parts(parts: dict[str, Any], members: dict[str, bytes]) -> dict[str, Any]:
    """The named values that JSON stands for."""
    return {k: _decode(v, members) for k, v in parts.items()}


def _check_fitted(cls: type, fitted: dict[str, Any]) -> None:
    """Raise unless all fitted values of the class are there and the arrays fit each other."""
    expected = {name for base in cls.__mro__ for name in get_annotations(base) if name[-1] == "_"}
    strangers = [name for name in fitted if not name.endswith("_") or name.startswith("_")]
    if strangers or expected - fitted.keys():
        raise ValueError(f"unexpected {strangers}, missing {sorted(expected - fitted.keys())}")
    units, inputs = fitted["W_in_"].shape
    shapes = [fitted[name].shape for name in ("W_", "state_")]
    readout = fitted["readout_"]
    if shapes != [(units, units), (units,)] or len(readout) < inputs or readout.ndim != 2:
        raise ValueError(f"shapes {shapes} and {readout.shape} for {units} units")


# --- the file -----------------------------------------------------------------------------------


def _checksums(members: dict[str, bytes]) -> bytes:
    """One line for each member: its SHA-256 and its name."""
    lines = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    return "".join(lines).encode()


def _write_whole(path: Path, members: dict[str, bytes]) -> None:
    """Write the file beside ``path``, then put it in its place in one step."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for name, content in members.items():
                    archive.writestr(zipfile.ZipInfo(name, DATE), content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _read_members(path: str | os.PathLike) -> dict[str, bytes]:
    """All members but the checksums, which they were checked against."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                found = archive.infolist()
                # Only stored members are read: nothing can unpack to more than the file's size.
                if any(member.compress_type != zipfile.ZIP_STORED for member in found):
                    raise zipfile.BadZipFile("compressed members")
                members = {member.filename: archive.read(member) for member in found}
        # Damage shows as any of these, depending on the byte.
        except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, EOFError) as error:
            raise _refusal(path, f"it cannot be read ({error})") from error
    sums = members.pop(SUMS, None)
    if sums is None or ABOUT not in members or len(found) != len(members) + 1:
        raise _refusal(path, f"{ABOUT} or {SUMS} is missing or doubled")
    if sums != _checksums(members):
        raise _refusal(path, "its checksums do not match: it was changed after it was saved")
    return members


def _refusal(path: str | os.PathLike, why: str) -> ValueError:
    """The error for a file that `save` did not write, or not all of it."""
    return ValueError(
        f"{path} is not a file saved by echofold, or it is damaged: {why}. Save the estimator "
        "again, or restore the file from a copy."
    )
