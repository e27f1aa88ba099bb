"""What every experiment needs while it runs: lines of progress, and a place for finished blocks."""

from __future__ import annotations

import hashlib
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class Say:
    """Prints one line for each finished part, with the seconds since the last, unless quiet."""

    def __init__(self, quiet: bool):
        self.quiet = quiet
        self.last = time.perf_counter()

    def __call__(self, text: str, timed: bool = False) -> None:
        """Print a line."""
        now = time.perf_counter()
        if not self.quiet:
            took = f" ({now - self.last:.0f} s)" if timed else ""
            print(f"{text}{took}", file=sys.stderr, flush=True)
        self.last = now

    @property
    def progress(self) -> Any:
        """What a search should show."""
        return False if self.quiet else "auto"


@contextmanager
def checkpoint(out: Path, name: str, *identity: Any) -> Iterator[Path]:
    """A directory for the blocks of one search, removed once its part is finished."""
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:8]
    path = out / "checkpoints" / f"{name}-{digest}"
    yield path
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # blocks of another search may still be there
        path.parent.rmdir()


@contextmanager
def expecting_collinear_states() -> Iterator[None]:
    """Do not warn of what the tables show themselves: grids hold ill-conditioned candidates."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*collinear to working precision")
        warnings.filterwarnings("ignore", message=".*no finite score")
        yield
