"""Code blocks of Markdown pages: found, run, and shown with what they print and draw.

The documentation build and ``tests/test_docs.py`` both run pages through `run_page`, so what a page
shows is what its code does. A page is run from top to bottom in one namespace and one empty folder:

- a fenced block of ``python`` is run;
- in a fenced block of ``bash``, a line that begins with ``echofold`` is run only if the comment
  ``<!-- run -->`` stands before the block.

A comment on the line before a block says more:

- ``<!-- not run: reason -->`` the block is shown and not run;
- ``<!-- needs: package -->`` the block imports what is not in every environment: the documentation
  build has it, and the tests skip such blocks, and say so, where it is not installed;
- ``<!-- picture: words -->`` what the block draws, for those who cannot see it;
- ``<!-- picture only: words -->`` the same, and the code is not shown.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r"(?:^<!--[ ]*(?P<note>[^\n]*?)[ ]*-->\n)?"
    r"^```(?P<kind>python|bash)[ ]*\n(?P<code>.*?)^```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
DPI = 192  # twice what screens are counted in, for sharp lines


@dataclass
class Block:
    """One fenced block of a page, and after running what came out of it."""

    kind: str
    code: str
    note: str
    place: tuple[int, int]  # in the text of the page
    line: int
    output: str = ""
    pictures: list[bytes] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)  # of the pictures, in CSS pixels

    @property
    def runs(self) -> bool:
        """Whether the block is run."""
        if self.kind == "bash":
            return self.note == "run"
        return not self.note.startswith("not run")

    @property
    def lacks(self) -> str:
        """The package that the block needs and that is not installed; nothing if there is none."""
        name = self.note.partition("needs:")[2].strip()
        return name if name and find_spec(name) is None else ""

    @property
    def commands(self) -> list[list[str]]:
        """Arguments of the ``echofold`` commands of a shell block."""
        lines = self.code.replace("\\\n", " ").splitlines() if self.kind == "bash" else []
        found = (shlex.split(part) for line in lines for part in line.split("&&"))
        return [words[1:] for words in found if words[:1] == ["echofold"]]


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of Python and shell code of a page."""
    return [
        Block(m["kind"], m["code"], m["note"] or "", m.span(), text.count("\n", 0, m.start()) + 1)
        for m in FENCE.finditer(text)
    ]


def run_page(text: str, name: str, all_of_it: bool = True) -> list[Block]:
    """Run the blocks of a page, in order, in an empty folder.

    Unless ``all_of_it``, those are left out whose package is not installed.
    """
    import matplotlib

    matplotlib.use("Agg")
    found = blocks_of(text)
    names: dict[str, Any] = {"__name__": "__page__"}
    style = matplotlib.rc_context({"font.size": 11.5})  # to be read on a phone
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), style:
        for block in found:
            if block.runs and (all_of_it or not block.lacks):
                try:
                    _run(block, names, f"{name}, line {block.line}")
                except Exception as error:
                    error.add_note(f"in the block at line {block.line} of {name}")
                    raise
    return found


def _run(block: Block, names: dict[str, Any], where: str) -> None:
    """Run one block; keep what it prints, warns of and draws."""
    from matplotlib import pyplot

    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("default")
        if block.kind == "python":
            exec(compile("\n" * block.line + block.code, where, "exec"), names)
        for arguments in block.commands:
            printed.write(_command(arguments))
    told = [f"{w.category.__name__}: {w.message}" for w in caught if "echofold" in w.filename
            or w.category.__name__ == "EchofoldWarning"]  # fmt: skip
    block.output = "\n".join(filter(None, [printed.getvalue().rstrip(), *told]))
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        stream = io.BytesIO()
        figure.savefig(stream, dpi=DPI, bbox_inches="tight")
        block.pictures.append(stream.getvalue())
        block.widths.append(round(96 * figure.get_figwidth()))
    pyplot.close("all")


def _command(arguments: list[str]) -> str:
    """What a command of the command line prints."""
    from click.testing import CliRunner

    from echofold.cli.app import app

    os.environ.setdefault("COLUMNS", "100")
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    if result.exit_code:
        raise RuntimeError(f"echofold {' '.join(arguments)}: {result.output}")
    return result.stdout


def shown(text: str, found: list[Block], name: str, folder: Path, address: str) -> str:
    """The page with outputs and pictures after its blocks; pictures are written to ``folder``."""
    parts, end = [], 0
    for number, block in enumerate(found):
        start, stop = block.place
        parts.append(text[end:start])
        end = stop
        if not block.note.startswith("picture only"):
            parts.append(f"```{block.kind}\n{block.code}```\n")
        if block.output:
            parts.append(f"\n```{{code-block}} text\n:class: output\n\n{block.output}\n```\n")
        words = block.note.partition(":")[2].strip()
        for i, (picture, width) in enumerate(zip(block.pictures, block.widths, strict=True)):
            if not words:
                raise ValueError(f"{name}, line {block.line}: a picture needs <!-- picture: … -->.")
            file = f"{name.replace('/', '-')}-{number}-{i}.png"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(picture)
            parts.append(
                f"\n```{{image}} {address}/{file}\n:alt: {words}\n:width: {width}px\n```\n"
            )
    return "".join([*parts, text[end:]])


def on_source_read(app: Any, name: str, source: list[str]) -> None:
    """Run a page when Sphinx reads it."""
    if any(block.runs for block in blocks_of(source[0])):
        try:
            found = run_page(source[0], name)
        except Exception as error:
            from sphinx.errors import ExtensionError

            raise ExtensionError(f"{name}: {''.join(traceback.format_exception(error))}") from error
        folder = Path(app.srcdir) / "generated" / "pictures"
        source[0] = shown(source[0], found, name, folder, "/generated/pictures")


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("source-read", on_source_read, priority=600)  # after results.py has filled pages
    return {"version": "1", "parallel_read_safe": False}
