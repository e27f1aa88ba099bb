"""What a command says: results on stdout, everything else on stderr, or one JSON object."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from echofold._data.text import label

BLOCKS = "▁▂▃▄▅▆▇█"


class Output:
    """Results, notes and progress, as ``quiet`` and ``as_json`` ask for."""

    def __init__(self, quiet: bool, as_json: bool):
        self.quiet, self.as_json = quiet, as_json
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Something the user should know about; said once."""
        if text in self.notes:
            return
        self.notes.append(text)
        self.stage(f"note: {text}")

    def stage(self, text: str) -> None:
        """What is being done now."""
        if not self.quiet:
            click.echo(_wrapped(text, sys.stderr), err=True)

    def result(self, text: str) -> None:
        """A table or a drawing that was asked for."""
        if not self.as_json:
            click.echo(text)

    def explain(self, text: str) -> None:
        """Words around results."""
        if not self.quiet:
            self.result(_wrapped(text, sys.stdout))

    def json(self, content: dict[str, Any]) -> None:
        """The one object, if it was asked for."""
        if self.as_json:
            click.echo(as_json({**content, "notes": self.notes}))

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Say the library's warnings as notes; those of other libraries are not for the user.

        What is missing was said when the file was read.
        """
        from echofold._data.missing import AS_KNOWN, AS_TARGETS, ON_ITS_OWN
        from echofold._machine.notices import EchofoldWarning

        def show(message: Any, category: type, *_: Any, **__: Any) -> None:
            for words in message.args if issubclass(category, EchofoldWarning) else ():
                if not any(told in words for told in (AS_KNOWN, AS_TARGETS, ON_ITS_OWN)):
                    self.note(words)

        with warnings.catch_warnings():
            warnings.simplefilter("always", EchofoldWarning)
            warnings.showwarning = show
            yield

    @contextmanager
    def resumable(self, checkpoint: Path | None) -> Iterator[None]:
        """Let an interrupt say how to go on."""
        try:
            yield
        except KeyboardInterrupt:
            words = "with --checkpoint FOLDER finished work is kept for the next time."
            if checkpoint is not None:
                words = f"finished work is kept in {checkpoint}: run the same command to go on."
            raise KeyboardInterrupt(f"interrupted; {words}") from None


def _wrapped(text: str, stream: Any) -> str:
    """Text broken between words in a terminal; as it is elsewhere."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(textwrap.fill(line, width) for line in text.split("\n"))


def as_json(content: Any) -> str:
    """Content as JSON; what is not finite becomes null."""

    def known(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else str(value)

    text = json.dumps(content, default=known)
    return json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under a line, the first to the left and the others to the right.

    Examples
    --------
    >>> print(table(["scheme", "error"], [["k-fold", "0.31"], ["single", "12.3"]]))
    scheme  error
    ──────  ─────
    k-fold   0.31
    single   12.3
    """
    columns = [label(name) for name in columns]  # one of them is a name in the user's file
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [columns, ["─" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def sparkline(values: np.ndarray, low: float, high: float, width: int = 60) -> str:
    """Values as a line of blocks, between ``low`` and ``high``; neighbours are averaged to fit.

    Where all of them are missing (NaN) is a space.

    Examples
    --------
    >>> import numpy as np
    >>> sparkline(np.array([0.0, 1.0, 2.0, 7.0]), 0, 7)
    '▁▂▃█'
    """
    parts = np.array_split(np.asarray(values, dtype=float), min(width, len(values)))
    means = [part[~np.isnan(part)].mean() if not np.isnan(part).all() else np.nan for part in parts]
    if np.isinf(means).any():
        return "?" * len(means)
    places = np.clip((np.array(means) - low) / ((high - low) or 1.0), 0, 1) * (len(BLOCKS) - 1)
    return "".join(" " if np.isnan(place) else BLOCKS[round(place)] for place in places)


def shortened(rows: Sequence[Sequence[str]], most: int) -> list[Sequence[str]]:
    """All rows, or the first and last of them with a row that says how many are left out.

    Examples
    --------
    >>> shortened([[str(i), "x"] for i in range(100)], 4)
    [['0', 'x'], ['1', 'x'], ['… 96 more', ''], ['98', 'x'], ['99', 'x']]
    """
    left = len(rows) - most
    if left <= 1:  # the remark would take a row itself
        return list(rows)
    end = len(rows) - most // 2
    remark = [f"… {left} more", *[""] * (len(rows[0]) - 1)]
    return [*rows[: most - most // 2], remark, *rows[end:]]


def prepare_folder(folder: Path) -> None:
    """Make the folder, and find out before the work whether it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"--out {folder}: there is a file of that name; give a folder.") from None
    if not os.access(folder, os.W_OK):
        raise ValueError(f"--out {folder}: this folder cannot be written to; give another.")
