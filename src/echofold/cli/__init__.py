"""The command line: ``echofold demo``, ``forecast``, ``validate``, ``schemes`` and others.

Nothing heavy is imported before a command runs, so that ``echofold --help`` answers at once.
"""

from __future__ import annotations

import gc
import sys

SELDOM = 50_000, 20, 20  # objects, turns: most that a command makes are modules, which stay


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(*SELDOM)  # or a tenth of a short command is looking for garbage
    try:
        import click  # noqa: F401
    except ImportError:
        print(
            "Error: the command line needs the extra 'cli': pip install 'echofold[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):  # drawings, where a terminal has few letters
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        from echofold.cli.app import app

        sys.exit(app.main(prog_name="echofold"))
    except KeyboardInterrupt:  # while the first modules load
        print("Error: interrupted; run the command again.", file=sys.stderr)
        sys.exit(130)
