"""Files written whole or not at all, never through a link that others planted; work done once."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_aside(
    path: str | os.PathLike[str], place: Callable[[Path, Path], object] | None = None
) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of ``path`` in one step at the end.

    An interrupt, a full disk or a crash leaves the earlier file whole. A link at ``path`` is
    replaced, and what it leads to is left alone.
    """
    path = Path(path)
    # Nobody can guess the name, and "x" opens neither a file nor a link that is already there.
    aside = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        file = open(aside, "xb")  # noqa: SIM115 (what is not ours is not removed below)
    except FileNotFoundError:  # which would name the file beside
        raise FileNotFoundError(
            errno.ENOENT, f"the folder {str(path.parent)!r} does not exist; create it first",
            str(path),
        ) from None  # fmt: skip
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        (place or os.replace)(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def write_atomically(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a whole file by `written_aside`."""
    with written_aside(path) as file:
        file.write(content)
    return Path(path)


@contextmanager
def alone_with(path: str | os.PathLike) -> Iterator[None]:
    """Keep other processes that ask for the same away from a file, until this is left.

    Raise a BlockingIOError if one is at it. Whoever is killed keeps nobody away: the system lets go
    of what it held, and the empty file ``.NAME.lock`` that is left behind means nothing.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.lock")
    while True:
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, "there is no such file", str(path))
        held = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _hold(held)
        except (BlockingIOError, PermissionError):
            os.close(held)
            raise BlockingIOError(
                errno.EWOULDBLOCK, "another process is at work on it; try again when it has ended",
                str(path),
            ) from None  # fmt: skip
        with suppress(FileNotFoundError):  # or another one: whoever had it before removed it
            if os.path.samestat(os.fstat(held), beside.stat()):
                break
        os.close(held)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no file that is open
            beside.unlink()
        os.close(held)


def _hold(file: int) -> None:
    """Hold a file that is open, or raise a BlockingIOError or PermissionError if another does."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system that knows no locks
        pass
