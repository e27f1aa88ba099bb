"""Files that are written whole or not at all, and never through a link that others planted."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
