"""Files that are written whole or not at all, and never through a link that others planted."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike, content: bytes) -> Path:
    """Write a file aside and put it in the place of ``path`` in one step.

    An interrupt, a full disk or a crash leaves the earlier file whole. A link at ``path`` is
    replaced, and what it leads to is left alone.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", b"whole").read_bytes()
    b'whole'
    """
    path = Path(path)
    # Nobody can guess the name, and "x" opens neither a file nor a link that is already there.
    aside = path.with_name(f".{secrets.token_hex(8)}.part")
    file = open(aside, "xb")  # noqa: SIM115 (what is not ours is not removed below)
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    return path
