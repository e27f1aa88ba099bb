"""Compilations kept on disk, so that the next process need not repeat them.

JAX decides what is kept; here is where, how much, and whose. What is read back is run, so a folder
that others can write to is not used. JAX writes a file in place and never again, so one that was
cut short, or that two processes wrote at once, would be compiled anew by every process to come:
here files are whole or not there, checked when they are read, and bounded in size.

Only programs of this library, which are compiled `keeping`, are kept here. JAX's settings stay as
they are, and so do programs of others, which JAX keeps where it was told to, if anywhere.
"""

from __future__ import annotations

import os
import platform
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import local
from typing import Any

from echofold._machine.files import write_atomically

VARIABLE = "ECHOFOLD_CACHE"  # a folder, or "off"; processes that this one starts read it too
OFF = ("off", "0", "no", "false")
ON = ("", "on", "1", "yes", "true")  # the user's cache folder
JAX = "jax_compilation_cache_dir"  # where JAX itself was told to keep programs
SUFFIX = ".program"
MOST_BYTES = 256 * 2**20  # beyond which those used longest ago are removed, down to half
DIGEST = 32  # bytes in front of a program: the SHA-256 of its file's name and of itself
UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.part")  # of `files.write_atomically`
ABANDONED = 3600  # seconds after which a file that was never finished is removed


class Entries:
    """Programs in a folder, as JAX asks for them; whatever goes wrong, there is none.

    ``size`` is how many bytes are in the folder, as far as this process knows. Once a folder turned
    out to be full or read-only, nothing more is written.
    """

    def __init__(self, folder: Path):
        self.folder = folder
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
    """Remove programs used longest ago, if a folder has many; the bytes of those that are left."""
    found = []
    for path in folder.glob("*"):  # files of others may be there, and stay
        with suppress(OSError):  # another process may be removing the same files
            about = path.lstat()
            if UNFINISHED.fullmatch(path.name) and time.time() - about.st_mtime > ABANDONED:
                path.unlink()  # by a process that was killed
            elif path.suffix == SUFFIX and stat.S_ISREG(about.st_mode):
                found.append((about.st_mtime, about.st_size, path))
    size = sum(one[1] for one in found)
    wanted = MOST_BYTES // 2 if size > MOST_BYTES else size
    for _, bytes_, path in sorted(found):
        if size <= wanted:
            break
        with suppress(OSError):
            path.unlink()
            size -= bytes_
    return size


def _processor() -> str:
    """What programs may assume of the processor: its kind, and its instructions where told."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(("flags", "Features")):
                return f"{platform.machine()} {line}"
    return f"{platform.machine()} {platform.processor()}"


def keep_compilations(folder: str | os.PathLike | None = None) -> Path | None:
    """Say where compiled programs are kept for the next process, or that none are.

    A first search in a process is partly compiling; only the first process on a machine has to.
    They are kept by themselves in the user's cache folder, from the first one that is compiled,
    unless JAX was told a folder of its own. Call this to keep them elsewhere, or not at all, in
    this process and in those that it starts.

    Parameters
    ----------
    folder : path or "off", optional
        Where to keep them, or "off" for nowhere: by default what the environment variable
        ``ECHOFOLD_CACHE`` says, or else the user's cache folder. It is made if it is not there.

    Returns
    -------
    Path or None
        The folder, or None where none is used, because it cannot be written to, or because others
        can: programs are run as they are found. Compiling then takes its time.

    Examples
    --------
    >>> import tempfile
    >>> import echofold
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = echofold.keep_compilations(folder)
    ...     kept.exists()
    True
    >>> echofold.keep_compilations("off")
    """
    if folder is not None:
        said = os.fspath(folder)
        refused = said.lower() in OFF
        os.environ[VARIABLE] = said if refused else str(Path(said).expanduser().absolute())
    place = _chosen()
    return place if place is not None and _entries(place) is not None else None


class _Thread(local):
    """Where this thread keeps what it compiles, as far as it is kept here."""

    folder: Path | None = None


_thread = _Thread()


@contextmanager
def keeping() -> Iterator[None]:
    """Keep what JAX compiles inside, in this thread; no folder is looked for before it does."""
    folder = _chosen()
    limits = _of_jax() if folder is not None else None
    if limits is None:
        yield
        return
    least_seconds, least_bytes = limits
    before, _thread.folder = _thread.folder, folder
    try:
        with least_seconds(0.0), least_bytes(-1):  # however small, however quickly compiled
            yield
    finally:
        _thread.folder = before


@cache
def _of_jax() -> tuple[Any, Any] | None:
    """Let JAX ask here for what a thread keeps here; two limits of its own, for a thread to set.

    Its public way to set a folder is one for the whole process. Where this one, which is not
    public, is gone: None, and nothing is kept.
    """
    try:
        from jax._src import compilation_cache as its
        from jax._src import config

        theirs = its._get_cache
        both = (
            config.persistent_cache_min_compile_time_secs,
            config.persistent_cache_min_entry_size_bytes,
        )
    except (ImportError, AttributeError):
        return None

    def asked(backend):
        return theirs(backend) if _thread.folder is None else _entries(_thread.folder)

    its._get_cache = asked
    return both


@cache
def _entries(folder: Path) -> Entries | None:
    """The programs in a folder, looked for once; None where it should not be used."""
    return Entries(folder) if _usable(folder) else None


def _chosen() -> Path | None:
    """The folder by default: what the user says, or the system's custom.

    None if it is refused, or if JAX itself was told a folder, which is then used as it is.
    """
    said = os.environ.get(VARIABLE, "")
    if said.lower() in OFF:
        return None
    if said.lower() not in ON:
        return Path(said).expanduser()
    settings = getattr(sys.modules.get("jax"), "config", None)
    if getattr(settings, JAX, os.environ.get(JAX.upper())):
        return None
    with suppress(RuntimeError):  # there is no home
        folder = _of_user()
        return folder if folder.is_absolute() else None
    return None


def _of_user() -> Path:
    """The folder of programs by the system's custom."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "echofold" / "programs"


def _usable(folder: Path) -> bool:
    """Whether the folder can be made and written to, by this user alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.stat()
    except OSError:
        return False
    others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if hasattr(os, "getuid") and (about.st_uid != os.getuid() or others):
        return False
    return os.access(folder, os.W_OK | os.X_OK)
