"""Finished blocks of a search on disk, so that a killed search can go on.

A checkpoint is a directory: ``search.json`` says what is searched, ``block-000012.npz`` holds one
finished block, and which one of which search it is. Every file is written aside and moved into
place, so a kill at any moment leaves whole files only, and several processes may work at once.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from echofold._machine.archives import array_in, read_archive
from echofold._machine.files import written_aside
from echofold._machine.notices import warn_of
from echofold._search.blocks import Block
from echofold._search.identity import data_of, described, hashed, splits_of
from echofold._validation.record import Record

FORMAT = 3
HASH = 64  # characters of the hash that a file begins with
ROOM = 2**16  # bytes for the words of a block, and once more for every array


class Checkpoint:
    """Blocks kept in the directory ``path`` for the search that ``identity`` describes.

    A seed of None in ``identity`` stands for any: the one of the earlier run, or ``fresh_seed``.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any], fresh_seed: int):
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.identity = self._agree({"format": FORMAT, **identity}, fresh_seed)
        except OSError as error:
            raise OSError(
                f"checkpoint={str(path)!r} cannot be written ({error.strerror or error}). "
                "Give a directory that you may write to."
            ) from error
        self._search = hashed(self.identity)

    def _agree(self, identity: dict[str, Any], fresh_seed: int) -> dict[str, Any]:
        """Write down what is searched, or compare it with what was searched before."""
        file = self.path / "search.json"
        identity = json.loads(json.dumps(identity))  # as it will be read back
        if not file.exists():
            seed = fresh_seed if identity["seed"] is None else identity["seed"]
            text = json.dumps({**identity, "seed": seed}, indent=1)
            self._write(file, text.encode(), first=True)
        before = _read(file)  # of another process, if it was quicker
        now = {**identity, "version": before.get("version")}  # every version goes on
        if now["seed"] is None:
            now["seed"] = before["seed"]
        if differing := list(_differences("", before, now)):
            raise Elsewhere(
                f"checkpoint={str(self.path)!r} belongs to another search; different are: "
                f"{'; '.join(differing)}. Use the same arguments, or another directory."
            )
        return before

    def load(self, number: int, wanted: Expected) -> Record | None:
        """A finished block; None if it is not there, not whole or not the one wanted."""
        file = self._file(number)
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                raise OSError("a directory or device is in its place")
            if status.st_size > wanted.most_bytes():
                raise Misfit(f"is too large for a block of this search ({status.st_size} bytes)")
            data = file.read_bytes()
            if hashlib.sha256(data[HASH:]).hexdigest().encode() != data[:HASH]:
                return None  # not as it was written
            return unpack(data[HASH:], wanted, self._belongs(number, wanted))
        except FileNotFoundError:
            return None
        except Misfit as why:
            warn_of([f"{file} {why}; block {number} is computed again and the file replaced."])
            return None
        except OSError as error:
            raise OSError(
                f"checkpoint={str(self.path)!r}: block {number} cannot be read "
                f"({error.strerror or error}). Remove {file}, or give another directory."
            ) from error

    def save(self, number: int, record: Record, wanted: Expected) -> None:
        """Keep a finished block, as a hash followed by a NumPy archive."""
        data = pack(record, self._belongs(number, wanted))
        try:
            self._write(self._file(number), hashlib.sha256(data).hexdigest().encode() + data)
        except OSError as error:
            raise OSError(
                f"checkpoint={str(self.path)!r}: block {number} could not be written "
                f"({error.strerror or error}). The blocks finished before are whole and stay; make "
                "room and run the same search again to go on from them."
            ) from error

    def _belongs(self, number: int, wanted: Expected) -> dict[str, Any]:
        return {"search": self._search, "block": number, "content": wanted.content}

    def _file(self, number: int) -> Path:
        return self.path / f"block-{number:06d}.npz"

    def _write(self, file: Path, data: bytes, first: bool = False) -> None:
        """Write a file whole; as the ``first``, never over another."""
        with written_aside(file, _place_first if first else None) as out:
            out.write(data)


def _place_first(aside: Path, file: Path) -> None:
    """Give a file its name unless another process was quicker."""
    try:
        os.link(aside, file)
    except FileExistsError:
        pass
    except (OSError, NotImplementedError):  # no links on this disk; then the last one stays
        if not file.exists():
            os.replace(aside, file)


def _read(file: Path) -> dict[str, Any]:
    """The description of a search."""
    try:
        description = json.loads(file.read_text())
    except (ValueError, RecursionError):
        description = None
    if not isinstance(description, dict) or type(description.get("seed")) is not int:
        raise ValueError(
            f"{file} is not the description of a search; give another checkpoint directory."
        )
    return description


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


# --- one block ------------------------------------------------------------------------------------


class Elsewhere(ValueError):
    """A folder that holds the work of another search."""


class Misfit(Exception):
    """A whole file that is not the block it is taken for; the message says why."""


@dataclass(frozen=True)
class Expected:
    """What is known of a block before it is computed.

    ``content`` is a hash of its candidates, seeds, data and splits; ``splits`` are the numbers of
    splits by scheme, ``shape`` the numbers of draws, candidates and ridge values.
    """

    content: str
    splits: dict[str, int]
    metrics: tuple[str, ...]
    shape: tuple[int, int, int]
    prune: bool

    def blank(self) -> Record:
        """A record of the right shapes, with nothing in it yet."""
        draws, candidates, ridges = self.shape
        return Record(
            {
                scheme: {m: np.empty((draws, candidates, splits, ridges)) for m in self.metrics}
                for scheme, splits in self.splits.items()
            },
            condition=np.empty((draws, candidates)),
            seconds=np.empty((draws, candidates)),
            algorithm={},
            notes={},
            pruned={scheme: np.empty(self.shape, bool) for scheme in self.splits if self.prune},
        )

    def most_bytes(self) -> int:
        """The most that a file of this block can take."""
        arrays = arrays_of(self.blank())
        return HASH + sum(array.nbytes for array in arrays) + (len(arrays) + 16) * ROOM


def expected(blocks: Sequence[Block], candidates: Sequence[dict[str, Any]]) -> list[Expected]:
    """What every block of these candidates must be."""
    known: dict[int, Any] = {}  # what is large and shared is described once

    def once(value: Any, describe, *more: str) -> Any:
        if id(value) not in known:
            known[id(value)] = describe(value, *more)
        return known[id(value)]

    expectations = []
    for block in blocks:
        chosen = [candidates[i] for i in block.candidates]
        content = [
            [{k: once(v, described, f"space[{k!r}]") for k, v in one.items()} for one in chosen],
            block.draws, block.seeds, once(block.problem, data_of),
            {name: once(splits, splits_of) for name, splits in block.schemes.items()},
        ]  # fmt: skip
        expectations.append(
            Expected(
                hashed(content),
                {name: len(splits) for name, splits in block.schemes.items()},
                tuple(metric.name for metric in block.settings.metrics),
                (len(block.draws), len(block.candidates), len(block.settings.ridge)),
                block.prune,
            )
        )
    return expectations


def arrays_of(record: Record) -> list[np.ndarray]:
    """The arrays that a file holds of a block, in the order of their names there."""
    scores = [each[metric] for _, each in sorted(record.scores.items()) for metric in sorted(each)]
    return [record.condition, *scores, *(array for _, array in sorted(record.pruned.items()))]


def pack(record: Record, belongs: dict[str, Any]) -> bytes:
    """A block and where it belongs, as a NumPy archive."""
    meta = {
        "belongs": belongs, "notes": record.notes,
        "algorithm": {scheme: names[0] for scheme, names in record.algorithm.items()},
        "seconds": float(record.seconds.sum()), "steps": record.steps,
        "column_steps": record.column_steps,
    }  # fmt: skip
    arrays: dict[str, Any] = {f"array{i}": one for i, one in enumerate(arrays_of(record))}
    buffer = io.BytesIO()
    np.savez(buffer, meta=json.dumps(meta), **arrays)
    return buffer.getvalue()


def unpack(data: bytes, wanted: Expected, belongs: dict[str, Any]) -> Record:
    """The block in an archive; raise `Misfit` unless it is the one wanted."""
    try:
        members = read_archive(io.BytesIO(data))
        meta = json.loads(str(array_in(members.pop("meta.npy"), "meta.npy")))
        found = meta["belongs"]
        if found["search"] != belongs["search"]:
            raise Misfit("belongs to another search")
        if found["block"] != belongs["block"]:
            raise Misfit(f"is block {found['block']} of this search under another name")
        if found != belongs:
            raise Misfit("holds other candidates, draws, data or splits")
        record = wanted.blank()
        places = arrays_of(record)
        names = [f"array{i}.npy" for i in range(len(members))]
        arrays = [array_in(members[name], name) for name in names]
        if [(one.shape, one.dtype) for one in arrays] != [(one.shape, one.dtype) for one in places]:
            raise Misfit("holds scores of other schemes, metrics or shapes")
        for place, array in zip(places, arrays, strict=True):
            place[...] = array
        record.seconds[...] = float(meta["seconds"]) / record.seconds.size
        for scheme in wanted.splits:
            record.algorithm[scheme] = [str(meta["algorithm"][scheme])] * wanted.shape[1]
            record.notes[scheme] = dict(meta["notes"][scheme])
        record.steps, record.column_steps = int(meta["steps"]), int(meta["column_steps"])
        return record
    except Misfit:
        raise
    except Exception as error:  # whatever foreign bytes end in
        raise Misfit(f"is not a block of a search ({error or type(error).__name__})") from None
