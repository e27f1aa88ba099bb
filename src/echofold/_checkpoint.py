"""Finished blocks of a search on disk, so that a killed search can go on.

A checkpoint is a directory: ``search.json`` says what is searched, ``block-000012.npz`` holds one
finished block. Every file is written aside and moved into place, so a kill at any moment leaves
whole files only.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from echofold._work import Outcome

FORMAT = 1


class Checkpoint:
    """Blocks kept in the directory ``path`` for the search that ``identity`` describes.

    A seed of None in ``identity`` stands for any: the one of the earlier run, or ``fresh_seed``.
    """

    def __init__(self, path: str | os.PathLike, identity: dict[str, Any], fresh_seed: int):
        self.path = Path(path)
        self._fresh_seed = fresh_seed
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.identity = self._agree({"format": FORMAT, **identity})
        except OSError as error:
            raise OSError(
                f"checkpoint={str(path)!r} cannot be written ({error.strerror or error}). "
                "Give a directory that you may write to."
            ) from error

    def _agree(self, identity: dict[str, Any]) -> dict[str, Any]:
        """Write down what is searched, or compare it with what was searched before."""
        file = self.path / "search.json"
        identity = json.loads(json.dumps(identity))  # as it will be read back
        if not file.exists():
            identity["seed"] = self._fresh_seed if identity["seed"] is None else identity["seed"]
            self._write(file, json.dumps(identity, indent=1).encode())
            return identity
        try:
            before = json.loads(file.read_text())
        except (ValueError, UnicodeDecodeError):
            raise ValueError(
                f"{file} is not the description of a search; give another checkpoint directory."
            ) from None
        if identity["seed"] is None:
            identity["seed"] = before.get("seed")
        if differing := list(_differences("", before, identity)):
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another search; different are: "
                f"{'; '.join(differing)}. Use the same arguments, or another directory."
            )
        return identity

    def load(self, number: int) -> Outcome | None:
        """A finished block; None if it is not there or not whole."""
        file = self._file(number)
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(data[64:]).hexdigest().encode() != data[:64]:
            return None
        with np.load(io.BytesIO(data[64:]), allow_pickle=False) as arrays:
            meta = json.loads(str(arrays["meta"]))
            scores: dict[str, dict[str, np.ndarray]] = {name: {} for name in meta["schemes"]}
            for i, (scheme, metric) in enumerate(meta["scores"]):
                scores[scheme][metric] = arrays[f"score{i}"]
            pruned = {name: arrays[f"pruned{i}"] for i, name in enumerate(meta["pruned"])}
            return Outcome(
                scores, arrays["condition"], pruned, meta["algorithm"], meta["notes"],
                meta["seconds"], meta["steps"], meta["column_steps"],
            )  # fmt: skip

    def save(self, number: int, outcome: Outcome) -> None:
        """Keep a finished block."""
        pairs = [(s, m) for s, metrics in outcome.scores.items() for m in metrics]
        meta = {
            "schemes": list(outcome.scores), "scores": pairs, "pruned": list(outcome.pruned),
            "algorithm": outcome.algorithm, "notes": outcome.notes, "seconds": outcome.seconds,
            "steps": outcome.steps, "column_steps": outcome.column_steps,
        }  # fmt: skip
        arrays: dict[str, Any] = {
            f"score{i}": outcome.scores[s][m] for i, (s, m) in enumerate(pairs)
        }
        arrays |= {f"pruned{i}": array for i, array in enumerate(outcome.pruned.values())}
        buffer = io.BytesIO()
        np.savez(buffer, meta=json.dumps(meta), condition=outcome.condition, **arrays)
        data = buffer.getvalue()
        try:
            self._write(self._file(number), hashlib.sha256(data).hexdigest().encode() + data)
        except OSError as error:
            raise OSError(
                f"checkpoint={str(self.path)!r}: block {number} could not be written "
                f"({error.strerror or error}). The blocks finished before are whole and stay; make "
                "room and run the same search again to go on from them."
            ) from error

    def _file(self, number: int) -> Path:
        return self.path / f"block-{number:06d}.npz"

    def _write(self, file: Path, data: bytes) -> None:
        """Write aside, force to disk, move into place."""
        aside = file.with_name(f"{file.name}.{os.getpid()}.part")
        try:
            with open(aside, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            os.replace(aside, file)
        finally:
            aside.unlink(missing_ok=True)


def fingerprint(*arrays: np.ndarray | None) -> str:
    """A hash of data."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        else:
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def described(value: Any) -> Any:
    """A value of a parameter in words that stay the same in another process."""
    if isinstance(value, list | tuple):
        return [described(one) for one in value]
    if hasattr(value, "tocsr"):
        W = value.tocsr()
        return ["sparse", list(W.shape), fingerprint(W.data, W.indices, W.indptr)]
    if hasattr(value, "shape") and np.ndim(value):
        return ["array", list(value.shape), fingerprint(np.asarray(value))]
    if hasattr(value, "rvs"):
        name = getattr(getattr(value, "dist", value), "name", type(value).__name__)
        return [name, repr(getattr(value, "args", ())), repr(getattr(value, "kwds", {}))]
    return repr(value)


def _differences(name: str, before: Any, now: Any) -> Iterator[str]:
    """Where two descriptions differ, as deep inside them as can be said."""
    lists = isinstance(before, list) and isinstance(now, list) and len(before) == len(now)
    if lists and all(isinstance(one, dict) for one in (*before, *now)):
        before, now = dict(enumerate(before)), dict(enumerate(now))
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            inside = f"{name}[{key!r}]" if name else key
            yield from _differences(inside, before.get(key), now.get(key))
    elif before != now:
        yield f"{name} (was {_short(before)}, is {_short(now)})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
