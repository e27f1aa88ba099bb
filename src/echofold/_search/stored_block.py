"""One finished block as the bytes of a file, and what such a file must hold to be used again."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.problem import Problem
from echofold._folds.splits import RowSplits
from echofold._search.blocks import Block
from echofold._search.descriptions import described, fingerprint, hashed
from echofold._validation.record import Record

HASH = 64  # characters of the hash that a file begins with
NUMBER, TRUTH = np.dtype(float).str, np.dtype(bool).str
ROOM = 2**16  # bytes for the words of a block, and once more for every array


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

    def arrays(self) -> dict[tuple[str, ...], tuple[tuple[int, ...], str]]:
        """Shape and type of every array, by what it is."""
        draws, candidates, ridges = self.shape
        shapes: dict[tuple[str, ...], tuple[tuple[int, ...], str]] = {
            ("score", scheme, metric): ((draws, candidates, splits, ridges), NUMBER)
            for scheme, splits in self.splits.items()
            for metric in self.metrics
        }
        shapes["condition",] = ((draws, candidates), NUMBER)
        if self.prune:
            shapes |= {("pruned", scheme): (self.shape, TRUTH) for scheme in self.splits}
        return shapes

    def most_bytes(self) -> int:
        """The most that a file of this block can take."""
        sizes = [int(np.prod(shape)) * int(kind[-1]) for shape, kind in self.arrays().values()]
        return HASH + sum(sizes) + (len(sizes) + 16) * ROOM


def expected(blocks: Sequence[Block], candidates: Sequence[dict[str, Any]]) -> list[Expected]:
    """What every block of these candidates must be."""
    known: dict[int, Any] = {}  # what is large and shared is described once

    def once(value: Any, describe) -> Any:
        if id(value) not in known:
            known[id(value)] = describe(value)
        return known[id(value)]

    def words(name: str, value: Any) -> Any:
        argument = f"space[{name!r}]"
        if hasattr(value, "shape") and np.ndim(value):
            return once(value, lambda array: described(array, argument))
        return described(value, argument)

    expectations = []
    for block in blocks:
        content = [
            [{k: words(k, v) for k, v in candidates[i].items()} for i in block.candidates],
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


def data_of(problem: Problem) -> str:
    """A hash of the data of a problem."""
    return fingerprint(
        problem.targets, problem.inputs, problem.washout, problem.weights,
        *problem.segments.apart, problem.unit, problem.offset,
        *((np.array(repr(problem.form)), problem.levels) if problem.form else ()),
        *(() if problem.present is None else (problem.present,)),
        *(() if problem.later is None else problem.later),
    )  # fmt: skip


def splits_of(splits: RowSplits) -> str:
    """A hash of the rows of splits."""
    return fingerprint(np.array(repr((splits.train, splits.valid))))


def pack(record: Record, belongs: dict[str, Any]) -> bytes:
    """A block and where it belongs, as a hash followed by a NumPy archive."""
    pairs = [(s, m) for s, metrics in record.scores.items() for m in metrics]
    meta = {
        "belongs": belongs, "schemes": list(record.scores), "scores": pairs,
        "pruned": list(record.pruned), "notes": record.notes,
        "algorithm": {scheme: names[0] for scheme, names in record.algorithm.items()},
        "seconds": float(record.seconds.sum()), "steps": record.steps,
        "column_steps": record.column_steps,
    }  # fmt: skip
    arrays: dict[str, Any] = {f"score{i}": record.scores[s][m] for i, (s, m) in enumerate(pairs)}
    arrays |= {f"pruned{i}": array for i, array in enumerate(record.pruned.values())}
    buffer = io.BytesIO()
    np.savez(buffer, meta=json.dumps(meta), condition=record.condition, **arrays)
    data = buffer.getvalue()
    return hashlib.sha256(data).hexdigest().encode() + data


def is_whole(data: bytes) -> bool:
    """Whether a file is as it was written."""
    return hashlib.sha256(data[HASH:]).hexdigest().encode() == data[:HASH]


def unpack(data: bytes, wanted: Expected, belongs: dict[str, Any]) -> Record:
    """The block in a whole file; raise `Misfit` unless it is the one wanted."""
    try:
        members = _members(data[HASH:])
        meta = json.loads(str(_array(members["meta.npy"])))
        arrays = _named(meta, members)
    except Misfit:
        raise
    except Exception as error:  # whatever foreign bytes end in
        raise Misfit(f"is not a block of a search ({error or type(error).__name__})") from None
    _check_belongs(meta.get("belongs"), belongs)
    shapes = {what: (array.shape, array.dtype.str) for what, array in arrays.items()}
    if shapes != wanted.arrays():
        raise Misfit("holds scores of other schemes, metrics or shapes")
    if not _is_sound(meta, wanted):
        raise Misfit("does not say how its scores were computed")
    condition = arrays["condition",]
    return Record(
        {s: {m: arrays["score", s, m] for m in wanted.metrics} for s in wanted.splits},
        condition=condition,
        seconds=np.full(condition.shape, meta["seconds"] / condition.size),
        algorithm={s: [name] * condition.shape[1] for s, name in meta["algorithm"].items()},
        notes=meta["notes"],
        pruned={s: arrays["pruned", s] for s in wanted.splits} if wanted.prune else {},
        steps=meta["steps"],
        column_steps=meta["column_steps"],
    )


def _members(archive: bytes) -> dict[str, bytes]:
    """The members of an archive, none of which can be larger than the archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        infos = opened.infolist()
        if any(info.compress_type != zipfile.ZIP_STORED for info in infos):
            raise Misfit("is compressed, which no block is")
        if sum(info.file_size for info in infos) > len(archive):
            raise Misfit("claims to hold more than it does")
        return {info.filename: opened.read(info) for info in infos}


def _array(member: bytes) -> np.ndarray:
    """An array whose header claims no more than its member holds."""
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise Misfit(f"holds an array of format {version}")
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
        np.lib.format.read_array_header_2_0
    )  # fmt: skip
    shape, _, kind = header(stream)
    count = 1
    for length in shape:
        count *= length
    if kind.hasobject or any(length < 0 for length in shape):
        raise Misfit("holds an array that is none of numbers")
    if count * kind.itemsize != len(member) - stream.tell():
        raise Misfit("holds an array of another size than it says")
    return np.lib.format.read_array(io.BytesIO(member), allow_pickle=False)


def _named(meta: dict[str, Any], members: dict[str, bytes]) -> dict[tuple[str, ...], np.ndarray]:
    """The arrays of a block by what they are."""
    places: dict[tuple[str, ...], str] = {("condition",): "condition"}
    places |= {("score", s, m): f"score{i}" for i, (s, m) in enumerate(meta["scores"])}
    places |= {("pruned", s): f"pruned{i}" for i, s in enumerate(meta["pruned"])}
    return {what: _array(members[f"{place}.npy"]) for what, place in places.items()}


def _check_belongs(found: Any, belongs: dict[str, Any]) -> None:
    if not isinstance(found, dict) or found.get("search") != belongs["search"]:
        raise Misfit("belongs to another search")
    if found.get("block") != belongs["block"]:
        raise Misfit(f"is block {found.get('block')} of this search under another name")
    if found != belongs:
        raise Misfit("holds other candidates, draws, data or splits")


def _is_sound(meta: dict[str, Any], wanted: Expected) -> bool:
    """Whether the words of a block have the right kinds."""
    algorithm, notes = meta.get("algorithm"), meta.get("notes")
    numbers = [meta.get(name) for name in ("seconds", "steps", "column_steps")]
    return (
        isinstance(algorithm, dict) and isinstance(notes, dict)
        and algorithm.keys() == notes.keys() == wanted.splits.keys()
        and all(isinstance(name, str) for name in algorithm.values())
        and all(isinstance(note, dict) for note in notes.values())
        and isinstance(numbers[0], float) and all(type(number) is int for number in numbers[1:])
    )  # fmt: skip
