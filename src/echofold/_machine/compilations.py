"""Compilations kept on disk, so that the next process need not repeat them.

JAX decides what is kept; here is where, how much, and whose. What is read back is run, so a folder
that others can write to is not used. JAX writes a file in place and never again, so one that was
cut short, or that two processes wrote at once, would be compiled anew by every process to come:
here files are whole or not there, checked when they are read, and bounded in size.
"""

from __future__ import annotations

import os
import platform
import stat
import sys
import time
import warnings
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from echofold._machine.files import write_atomically

VARIABLE = "ECHOFOLD_CACHE"  # a folder, or "off"
FOUND = "ECHOFOLD_CACHE_FOUND"  # the folder in use: the processes that this one starts use it too
SUFFIX = ".program"
MOST_BYTES = 256 * 2**20  # beyond which those used longest ago are removed, down to half
DIGEST = 32  # bytes in front of a program: the SHA-256 of its file's name and of itself
ABANDONED = 3600  # seconds after which a file that was never finished is removed


class Entries:
    """Programs in a folder, as JAX asks for them; whatever goes wrong, there is none.

    ``size`` is how many bytes are in the folder, as far as this process knows. Once a folder turned
    out to be full or read-only, nothing more is written.
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
    for path in folder.glob("*"):
        with suppress(OSError):  # another process may be removing the same files
            about = path.lstat()
            if path.name.endswith(".part") and time.time() - about.st_mtime > ABANDONED:
                path.unlink()  # by a process that was killed
            elif stat.S_ISREG(about.st_mode):
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
    """Keep compiled programs in a folder, and take from it what an earlier process left there.

    A first fit or search in a process is mostly compiling; with this, only the first process on a
    machine compiles. The command line does it by itself, the library only when this is called.

    Parameters
    ----------
    folder : path, optional
        Where to keep them: by default what the environment variable ``ECHOFOLD_CACHE`` says ("off"
        for nowhere), or else the user's cache folder. It is made if it is not there.

    Returns
    -------
    Path or None
        The folder, or None where none can be used, because it cannot be written to, or because
        others can: programs are run as they are found. Compiling then takes its time as before.

    Examples
    --------
    >>> import tempfile
    >>> import echofold
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = echofold.keep_compilations(folder)
    ...     kept.exists()
    True
    """
    place = _chosen() if folder is None else Path(folder).expanduser()
    if place is None or not _usable(place):
        return None
    if "jax" in sys.modules:
        use_kept(place)
    else:  # `_machine.programs` does it when it imports JAX, later or never
        os.environ[FOUND] = str(place.absolute())
    return place


def use_kept(folder: Path | None = None) -> None:
    """Let JAX take programs from a folder, or from the one found earlier, and keep them there."""
    if folder is None and FOUND not in os.environ:
        return
    folder = Path(os.environ[FOUND]) if folder is None else folder
    import jax
    from jax._src import compilation_cache as its

    # A program that cannot be read is compiled anew; that is nothing to be told about.
    warnings.filterwarnings("ignore", message=".*persistent compilation cache.*")
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)  # keep all, however small
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    its.reset_cache()  # it may have looked at another folder before
    # JAX's own files can be half written, and then stay so. Its way to set others is not public;
    # where it is gone, JAX's own are used.
    if hasattr(its, "_cache") and hasattr(its, "_cache_initialized"):
        its._cache, its._cache_initialized = Entries(folder), True  # type: ignore[assignment]


def _chosen() -> Path | None:
    """The folder by default: what the user says, or the system's custom.

    None if it is refused, or if JAX itself was told a folder, which is then used as it is.
    """
    said = os.environ.get(VARIABLE, "")
    if said.lower() in ("off", "0", "no", "false"):
        return None
    if said:
        return Path(said).expanduser()
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return None
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
