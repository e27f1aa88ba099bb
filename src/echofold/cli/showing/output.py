"""What a command says: results on stdout, everything else on stderr, or one JSON object."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


class Output:
    """Results, notes and progress, as ``quiet`` and ``as_json`` ask for."""

    def __init__(self, quiet: bool, as_json: bool):
        self.quiet, self.as_json = quiet, as_json
        self.notes: list[str] = []

    @property
    def progress(self) -> Any:
        """The setting for a search's bar."""
        return False if self.quiet else "auto"

    def note(self, text: str) -> None:
        """Something the user should know about; said once."""
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            click.echo(_wrapped(f"note: {text}", sys.stderr), err=True)

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
            click.echo(json.dumps(plain({**content, "notes": self.notes}), ensure_ascii=False))

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
    def resumable(self, checkpoint: Path | None, option: bool = True) -> Iterator[None]:
        """Let an interrupt say how to go on, with the ``option`` --checkpoint or without it."""
        try:
            yield
        except KeyboardInterrupt:
            words = ""
            if checkpoint is not None:
                words = f"finished work is kept in {checkpoint}: run the same command to go on."
            elif option:
                words = "with --checkpoint FOLDER finished work is kept for the next time."
            raise KeyboardInterrupt(words and f"interrupted; {words}") from None


def _wrapped(text: str, stream: Any) -> str:
    """Text broken between words in a terminal; as it is elsewhere."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(textwrap.fill(line, width) for line in text.split("\n"))


def plain(value: Any) -> Any:
    """The same in types that JSON knows; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
