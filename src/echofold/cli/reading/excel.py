"""Excel workbooks: a sheet as the text of a table, read as any other is; forecasts as a sheet."""

from __future__ import annotations

import csv
import datetime
import difflib
import io
import re
import zipfile
from typing import Any

import pandas as pd

from echofold._data.text import Note, inflected, listed, one_line, shown
from echofold.cli.reading.layout import TOTAL
from echofold.cli.reading.numbers import UNCLEAR

WORKBOOK = "xl/workbook.xml"  # a member of every one
MOST_BYTES = 2**29  # of what is unpacked
DATES = {"D": "yyyy-mm-dd", "min": "yyyy-mm-dd hh:mm", "s": "yyyy-mm-dd hh:mm:ss"}
NEEDED = "Excel needs the package openpyxl: pip install 'echofold[excel]', or save it as CSV."


def is_workbook(content: bytes) -> bool:
    """Whether bytes are a workbook as Excel writes them since 2007."""
    if content[:2] != b"PK":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return WORKBOOK in archive.namelist()
    except Exception:  # damage shows as any of many
        return False


def sheet_as_text(
    content: bytes, name: str, sheet: str | None, note: Note
) -> tuple[str, str | None]:
    """The table of a sheet as text, and the separator: of the one that is named, or the first."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError(f"{name}: {NEEDED}") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= MOST_BYTES:
            values, formulas = (
                openpyxl.load_workbook(io.BytesIO(content), data_only=only)
                for only in (True, False)
            )
            if not formulas.worksheets:
                raise ValueError("it has no sheet")
    except Exception as error:  # damage shows as any of many, depending on the byte
        raise ValueError(
            f"{name} cannot be read as Excel: {one_line(error)}. If it is damaged, save it again, "
            "or save the sheet as CSV."
        ) from None
    if size > MOST_BYTES:
        raise ValueError(
            f"{name} takes {size / 2**20:,.0f} MB when it is unpacked, and at most "
            f"{MOST_BYTES / 2**20:.0f} are read; save the sheet as CSV."
        )
    chosen = _chosen(formulas, name, sheet, note)
    return _text(values[chosen], formulas[chosen], f"{name}, sheet {shown(chosen)}")


def _chosen(book: Any, name: str, sheet: str | None, note: Note) -> str:
    """The name of the sheet that was asked for, or of the first that is seen and holds numbers."""
    names = [one.title for one in book.worksheets]
    if sheet is not None:
        if sheet in names:
            return sheet
        near = difflib.get_close_matches(sheet, names, 1, 0.5)
        hint = f"did you mean {shown(near[0])}?" if near else f"it has {listed(names)}."
        raise ValueError(f"{name} has no sheet {shown(sheet)} (option --sheet): {hint}")
    seen = [one for one in book.worksheets if one.sheet_state == "visible"]
    each = ([one.title for one in seen if _holds_table(one, kinds)] for kinds in ("ndf", "ndfs"))
    tables = next(filter(None, each), [])  # numbers that are text, where there are no others
    if not tables:
        raise ValueError(
            f"{name} has no sheet with a table of numbers, only {listed(names)}; give one with a "
            "header and a column of numbers, or name a hidden one with --sheet."
        )
    if len(tables) > 1:
        are = inflected(len(tables) - 1, "holds a table too", "hold tables too")
        note(f"sheet {shown(tables[0])} of {name} is read; {listed(tables[1:])} {are} (--sheet).")
    return tables[0]


def _holds_table(sheet: Any, kinds: str) -> bool:
    """Whether at least two rows of a sheet have a cell of these kinds with a digit."""
    there = (
        any(cell.data_type in kinds and re.search(r"\d", str(cell.value)) for cell in row)
        for row in sheet.iter_rows()
    )
    return sum(there) > 1


def _text(values: Any, formulas: Any, where: str) -> tuple[str, str | None]:
    """Cells between tabs, or a column, without empty rows and columns around them.

    Cells that are merged below each other all have the value of the first.
    """
    rows = [[_cell(cell) for cell in row] for row in values.iter_rows()]
    _check_formulas(rows, formulas, where)
    for area in values.merged_cells.ranges:
        first = rows[area.min_row - 1][area.min_col - 1]
        for row in range(area.min_row, area.max_row):
            rows[row][area.min_col - 1] = first
    filled = [at for at, row in enumerate(rows) if any(row)]
    if not filled:
        return "", None
    rows = rows[filled[0] : filled[-1] + 1]
    columns = [at for at in range(len(rows[0])) if any(row[at] for row in rows)]
    first, last = columns[0], columns[-1]
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows(row[first : last + 1] if any(row) else [] for row in rows)
    return text.getvalue(), "\t" if last > first else None


def _check_formulas(rows: list[list[str]], formulas: Any, where: str) -> None:
    """Raise for a formula whose value is not stored, but in rows of totals."""
    missing = [
        cell
        for row, own in zip(formulas.iter_rows(), rows, strict=True)
        for cell, text in zip(row, own, strict=True)
        if cell.data_type == "f" and not text and not any(map(TOTAL.fullmatch, filter(None, own)))
    ]
    if missing:
        formula = getattr(missing[0].value, "text", missing[0].value)  # of an array it is an object
        more = inflected(len(missing) - 1, " and one more", " and {:,} more") * (len(missing) > 1)
        raise ValueError(
            f"{where}: cell {missing[0].coordinate} holds the formula "
            f"{shown(formula)}{more}, and what comes of it is not stored: open the file in a "
            "spreadsheet program and save it, or save the sheet as CSV."
        )


def _cell(cell: Any) -> str:
    """A cell as text: dates in the form of ISO, per cent as they are shown, others in full."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        whole = value.time() == datetime.time() and value.microsecond == 0
        return str(value.date()) if whole else value.isoformat(" ", "auto")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return " ".join(str(value).split())
    if "%" in _shown_part(cell.number_format):
        return f"{100 * value:.15g}%"
    text = repr(value)
    return f"{text}0" if UNCLEAR.fullmatch(text) else text  # 1.054 is no thousand here


def _shown_part(form: str) -> str:
    """The format of positive numbers, without what is quoted or escaped in it."""
    return re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", form.split(";")[0])


def workbook_of(frame: pd.DataFrame, index: Any, date_column: int) -> bytes:
    """A table as a workbook of one sheet, with the dates of its rows as dates where they are."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError(NEEDED) from None
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "forecast"
    sheet.append([str(name) for name in frame.columns])
    form = None
    if isinstance(index, pd.DatetimeIndex) and index.tz is None and index.min().year >= 1900:
        form = next((DATES[unit] for unit in DATES if (index == index.floor(unit)).all()), None)
    for number, row in enumerate(frame.itertuples(index=False)):
        cells = [None if isinstance(one, float) and one != one else one for one in row]
        if form is not None:
            cells[date_column] = index[number].to_pydatetime()
        sheet.append(cells)
        if form is not None:
            sheet.cell(number + 2, date_column + 1).number_format = form
    for row in sheet.iter_rows():
        for cell in row:
            if isinstance(cell.value, str):
                cell.data_type = "s"  # and no formula, whatever it begins with
    for at in range(len(frame.columns)):
        letters = openpyxl.utils.get_column_letter(at + 1)
        sheet.column_dimensions[letters].width = max(12, len(str(frame.columns[at])) + 2)
    sheet.freeze_panes = "A2"
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()
