"""Columns of the series' own file that are inputs, with rows where the value is still to come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from echofold.cli.reading.encode import Encoded, encoded
from echofold.cli.reading.gaps import FILLS, filled_by, written
from echofold.cli.reading.quote import shown
from echofold.cli.reading.table import Table
from echofold.cli.showing.output import Output


@dataclass(frozen=True)
class Beside:
    """Inputs from the file of a series, by its dates; ``rows`` are NaN where the file has none."""

    made: list[Encoded]
    frame: pd.DataFrame
    rows: pd.Series

    def at(
        self, index: pd.Index, ahead: pd.Index, source: str, fill: str, output: Output
    ) -> pd.DataFrame:
        """Inputs beside the values and the steps to forecast, without holes, or the error."""
        wanted = index.append(ahead)
        there = int(wanted.isin(self.frame.index).sum())
        if there < len(wanted):
            got = there - len(index)
            raise ValueError(
                f"{source} has {got} rows after its last value, but --input needs {len(ahead)}, "
                f"until {written(wanted[-1:])[0]}: add rows with the inputs and an empty cell for "
                "the value, or forecast fewer."
            )
        frame, rows = self.frame.loc[wanted], self.rows.loc[wanted]
        opened = rows.isna()
        if opened.iloc[len(index) :].any():
            date = written(wanted[len(index) :][opened.iloc[len(index) :]][:1])[0]
            raise ValueError(
                f"{source} has no row for {date}, which is to be forecast; add it with its inputs."
            )
        for one in self.made:
            empty = np.flatnonzero(frame[one.names].isna().any(axis=1) & ~opened)
            if len(empty):
                more = f" and {len(empty) - 1} more rows" if len(empty) > 1 else ""
                raise ValueError(
                    f"input {shown(one.column)} of {source} is empty in row "
                    f"{int(rows.iloc[empty[0]])}{more}; inputs must be known for every value and "
                    "for those to forecast: fill it in."
                )
        return self._filled(frame, int(opened.sum()), fill, output)

    def _filled(self, frame: pd.DataFrame, count: int, fill: str, output: Output) -> pd.DataFrame:
        """Inputs in rows that were opened for missing dates, as the values are."""
        frame = frame.reset_index(drop=True)
        if not count:
            return frame
        how = FILLS["forward" if fill == "leave" else fill]  # by the network, which needs some
        flags = " (zeros and ones with the value before)" * (fill == "interpolate")
        output.note(f"inputs in the {count} missing rows are {how}{flags}.")
        for one in self.made:
            own = "forward" if fill == "interpolate" and one.flags else fill
            frame[one.names] = filled_by(own, frame[one.names])
        return frame


def beside(table: Table, names: tuple[str, ...], column: str) -> tuple[list[Encoded], np.ndarray]:
    """Columns of a table as inputs, and their values ``(rows, inputs)``."""
    if column in names:
        raise ValueError(
            f"--input {column}: this column is to be forecast, and not known in advance; name "
            "another, or another --column."
        )
    rows = np.arange(len(table.frame))
    made = [encoded(table, name, rows) for name in names]
    return made, np.hstack([one.values for one in made])
