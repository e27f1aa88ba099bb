"""Finished blocks of a search on disk, so that a killed search can go on.

A checkpoint is a directory: ``search.json`` says what is searched, ``block-000012.npz`` holds one
finished block, and which one of which search it is. Every file is written aside and moved into
place, so a kill at any moment leaves whole files only, and several processes may work at once.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from echofold._machine.files import written_aside
from echofold._machine.notices import EchofoldWarning
from echofold._search.descriptions import hashed
from echofold._search.stored_block import Expected, Misfit, is_whole, pack, unpack
from echofold._validation.record import Record

FORMAT = 2


class Checkpoint:
    """Blocks kept in the directory ``path`` for the search that ``identity`` describes.

    A seed of None in ``identity`` stands for any: the one of the earlier run, or ``fresh_seed``.
    """

    def __init__(self, path: str | os.PathLike, identity: dict[str, Any], fresh_seed: int):
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
            first = {
                **identity,
                "seed": fresh_seed if identity["seed"] is None else identity["seed"],
            }
            self._write(file, json.dumps(first, indent=1).encode(), first=True)
        before = _read(file)  # of another process, if it was quicker
        now = {**identity, "version": before.get("version")}  # every version goes on
        if now["seed"] is None:
            now["seed"] = before["seed"]
        if differing := list(_differences("", before, now)):
            raise ValueError(
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
            if not is_whole(data):
                return None
            return unpack(data, wanted, self._belongs(number, wanted))
        except FileNotFoundError:
            return None
        except Misfit as why:
            warnings.warn(
                f"{file} {why}; block {number} is computed again and the file replaced.",
                EchofoldWarning,
                stacklevel=_outside(),
            )
            return None
        except OSError as error:
            raise OSError(
                f"checkpoint={str(self.path)!r}: block {number} cannot be read "
                f"({error.strerror or error}). Remove {file}, or give another directory."
            ) from error

    def save(self, number: int, record: Record, wanted: Expected) -> None:
        """Keep a finished block."""
        try:
            self._write(self._file(number), pack(record, self._belongs(number, wanted)))
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


def _outside() -> int:
    """How many calls up the code stands that uses the library."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "echofold":
        level, frame = level + 1, frame.f_back
    return level


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
