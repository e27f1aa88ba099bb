"""How large the house is, and how far a search walks through it.

    python tools/house.py [--edges]

prints lines and files under ``src``, and for two jobs the files that they pass through and how
often the call goes from one file to another; ``--edges`` also from which function to which.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import echofold
from echofold import ESNForecaster, ESNSearchCV, KFold
from echofold._machine import device

SOURCE = Path(echofold.__file__).parent


class Walk:
    """Files of the library that are called into, and changes from one to another."""

    def __init__(self):
        self.files: set[str] = set()
        self.edges: Counter[tuple[str, str]] = Counter()

    def __enter__(self):
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _note(self, frame, event, _):
        if event != "call" or not (here := self._file(frame)):
            return
        self.files.add(here)
        before = frame.f_back
        while before is not None and not self._file(before):
            before = before.f_back
        if before is not None and self._file(before) != here:
            self.edges[self._function(before), self._function(frame)] += 1

    @staticmethod
    def _file(frame) -> str:
        name = frame.f_code.co_filename
        return name if name.startswith(str(SOURCE)) else ""

    @staticmethod
    def _function(frame) -> str:
        code = frame.f_code
        return f"{Path(code.co_filename).relative_to(SOURCE)} {code.co_qualname}"

    def listing(self) -> str:
        """Changes by the files they join, most first, with the functions below each."""
        joined: dict[tuple[str, str], list] = {}
        for (here, there), count in self.edges.most_common():
            files = here.split()[0], there.split()[0]
            joined.setdefault(files, []).append((count, here.split()[1], there.split()[1]))
        lines = []
        for files, calls in sorted(joined.items(), key=lambda item: -sum(c[0] for c in item[1])):
            lines.append(f"{sum(call[0] for call in calls):5} {files[0]} -> {files[1]}")
            lines += [f"{count:11} {here} -> {there}" for count, here, there in calls]
        return "\n".join(lines)


def search() -> None:
    """One small search, with its final model and a forecast."""
    y = np.sin(np.arange(200) / 5) + 0.1 * np.random.default_rng(0).normal(size=200)
    space = {"leak_rate": [0.5, 1.0], "ridge": [1e-8, 1e-4]}
    found = ESNSearchCV(ESNForecaster(20, random_state=0), space, cv=KFold(5)).fit(y)
    found.forecast(10)


def reading() -> None:
    """A table of two columns, read and forecast by the command."""
    from click.testing import CliRunner

    from echofold.cli.app import app

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        lines = [f"{2020 + month // 12}-{1 + month % 12:02}-01,{month}.5" for month in range(40)]
        path.write_text("month,sales\n" + "\n".join(lines) + "\n")
        few = ["--units", "5", "--grid", "small"]
        out = ["--out", folder]
        CliRunner().invoke(app, ["forecast", str(path), "--horizon", "2", *few, *out])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", action="store_true", help="list the changes of file")
    edges = parser.parse_args().edges
    files = sorted(SOURCE.rglob("*.py"))
    lengths = {path: len(path.read_text().splitlines()) for path in files}
    print(f"src: {sum(lengths.values())} lines in {len(files)} files")
    print(f"files of at most 60 lines: {sum(length <= 60 for length in lengths.values())}")
    device.COMPILING = -1.0  # or every step of a reservoir would be a walk
    search()  # once before, so that compiling is not counted
    for job in (search, reading):
        with Walk() as walk:
            job()
        readers = sum("reading" in Path(name).parts for name in walk.files)
        print(
            f"{job.__doc__} {len(walk.files)} files, {readers} of them readers; "
            f"{walk.edges.total()} changes of file"
        )
        if edges:
            print(walk.listing())


if __name__ == "__main__":
    main()
