"""Compiled programs as files: whole or not there, checked when they are read, bounded in size.

JAX writes a file in place and never again, so one that was cut short, or that two processes wrote
at once, would be compiled anew by every process to come.
"""

from __future__ import annotations

import os
import platform
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from echofold._machine.files import write_atomically

SUFFIX = ".program"
MOST_BYTES = 256 * 2**20  # beyond which those used longest ago are removed, down to half
DIGEST = 32  # bytes in front of a program: the SHA-256 of its file's name and of itself
ABANDONED = 3600  # seconds after which a file that was never finished is removed


class Entries:
    """Programs in a folder, as JAX asks for them; whatever goes wrong, there is none.

    Attributes
    ----------
    size : int
        Bytes in the folder, as far as this process knows.
    writes : bool
        Whether it still tries to: not after a folder turned out to be full or read-only.
    """

    def __init__(self, folder: Path):
        self.folder = self._path = folder  # the second name is JAX's
        self.machine = sha256(_processor().encode()).hexdigest()[:8]
        self.size = trim(folder)
        self.writes = True

    def _file(self, key: str) -> Path:
        """Programs are made for one processor; a home folder may be seen by several."""
        return self.folder / f"{key}-{self.machine}{SUFFIX}"

    def _digest(self, key: str, program: bytes) -> bytes:
        """What a program is known by: in the file of another key it is as good as damaged."""
        return sha256(self._file(key).name.encode() + b"\0" + program).digest()

    def get(self, key: str) -> bytes | None:
        """The program of that key, unless there is none, or one that is damaged."""
        try:
            content = self._file(key).read_bytes()
        except OSError:
            return None
        program = content[DIGEST:]
        if content[:DIGEST] != self._digest(key, program):
            return None
        with suppress(OSError):
            os.utime(self._file(key))  # not every disk notes when a file is read
        return program

    def put(self, key: str, program: bytes) -> None:
        """Keep a program, in the place of a damaged one if need be."""
        if not self.writes or len(program) > MOST_BYTES // 2:
            return
        try:
            write_atomically(self._file(key), self._digest(key, program) + program)
        except OSError:
            self.writes = False
            return
        self.size += DIGEST + len(program)
        if self.size > MOST_BYTES:
            self.size = trim(self.folder)


def trim(folder: Path) -> int:
    """Remove what was used longest ago, if a folder has grown large; the bytes that are left."""
    found = []
    # Another process may be removing the same files.
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                if not entry.is_file(follow_symlinks=False):
                    continue
                about = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".part") and time.time() - about.st_mtime > ABANDONED:
                    os.unlink(entry.path)  # by a process that was killed
                else:
                    found.append((about.st_mtime, about.st_size, entry.path))
    size = sum(one[1] for one in found)
    if size <= MOST_BYTES:
        return size
    for _, bytes_, path in sorted(found):
        if size <= MOST_BYTES // 2:
            break
        with suppress(OSError):
            os.unlink(path)
            size -= bytes_
    return size


def _processor() -> str:
    """What programs may assume of the processor: its kind, and its instructions where told."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(("flags", "Features")):
                return f"{platform.machine()} {line}"
    return f"{platform.machine()} {platform.processor()}"
