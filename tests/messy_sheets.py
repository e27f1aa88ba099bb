"""Excel files as people have them, made by openpyxl: what each holds, and what must come of it."""

import datetime
import io
import re
import zipfile

import openpyxl
import pandas as pd
from messy_files import BY_YEAR, DAYS, MONTHS, NAMES, ROWS, VALUES, YEARS, Messy

SERIALS = [(day - datetime.datetime(1899, 12, 30)).days for day in DAYS.to_pydatetime()]
HOURS = pd.date_range("2023-01-02", periods=ROWS, freq="h")
PERCENT = VALUES / 200


def pairs(values=VALUES, days=DAYS, head=("day", "x")):
    """A header, and rows of dates and values."""
    cells = zip(days.to_pydatetime(), map(float, values), strict=True)
    return [list(head), *map(list, cells)]


def book(*sheets, names=None, change=None):
    """Rows of sheets as the bytes of a file, changed before it is written."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for number, rows in enumerate(sheets):
        sheet = made.create_sheet(names[number] if names else None)
        for row in rows:
            sheet.append(row)
    if change is not None:
        change(made)
    content = io.BytesIO()
    made.save(content)
    return content.getvalue()


def formatted(column, form):
    """What gives a format to a column."""

    def change(made):
        for cell in made.worksheets[0][column][1:]:
            cell.number_format = form

    return change


def merged(*areas):
    """What merges cells."""

    def change(made):
        for area in areas:
            made.worksheets[0].merge_cells(area)

    return change


def hidden(place):
    """What hides a sheet."""

    def change(made):
        made.worksheets[place].sheet_state = "hidden"

    return change


def since_1904(made):
    """Dates are counted as on early Macintoshes."""
    made.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904


def a_cell_far_below(made):
    """A cell that looks empty."""
    made.worksheets[0]["D90"] = " "


def changed(content, change):
    """An archive whose members are changed, or left out where None comes of them."""
    found, made = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for member in found.namelist():
            if (new := change(member, found.read(member))) is not None:
                archive.writestr(member, new)
    return made.getvalue()


def with_formulas(rows, cached):
    """A book whose second column holds formulas, with the values that a program would store.

    openpyxl writes formulas without values, so these are put into the file.
    """
    content = book([rows[0], *([day, f"={value}+0"] for day, value in rows[1:])])
    own = iter([value for _, value in rows[1:]])

    def change(member, text):
        if cached and member == "xl/worksheets/sheet1.xml":
            return re.sub(rb"</f><v ?/>|</f><v></v>", lambda _: b"</f><v>%g</v>" % next(own), text)
        return text

    return changed(content, change)


def without(content, lost):
    """An archive without one of its members."""
    return changed(content, lambda member, text: None if member == lost else text)


TITLE = [["Sales of all shops"], [None, "in thousands"], []]
OF_YEARS = [["year", "month", "x"]] + [
    [day.year, NAMES[day.month - 1], float(value)]
    for day, value in zip(MONTHS, VALUES, strict=True)
]  # of 10, 12 and 8 months
HEADED = [["day", "x", None], [None, "north", "south"]] + [
    [*row, 2 * row[1]] for row in pairs()[1:]
]
TWICE = 2 * VALUES
SHOPS = [["shop", "day", "x"], *(["north", *row] for row in pairs()[1:]),
         *(["south", *row] for row in pairs(TWICE)[1:])]  # fmt: skip
SHEETS = {
    "dates": Messy(book(pairs())),
    "serials of dates": Messy(
        book([["day", "x"], *map(list, zip(SERIALS, VALUES.tolist(), strict=True))]),
        notes=("Excel",),
    ),
    "serials that are shown as dates": Messy(
        book([["day", "x"], *map(list, zip(SERIALS, VALUES.tolist(), strict=True))],
             change=formatted("A", "dd.mm.yyyy"))
    ),
    "dates in the epoch of 1904": Messy(book(pairs(), change=since_1904)),
    "dates that are text": Messy(
        book([["day", "x"], *([f"{day:%d.%m.%Y}", value] for day, value in pairs()[1:])])
    ),
    "numbers that are text": Messy(
        book([["day", "x"], *([day, str(value).replace(".", ",")] for day, value in pairs()[1:])]),
        notes=("decimal signs",),
    ),
    "dates and times": Messy(book(pairs(days=HOURS)), dates=HOURS),
    "no header": Messy(book(pairs()[1:]), notes=("no header",)),
    "one column": Messy(book([["x"], *([value] for value in VALUES.tolist())]), dates=None),
    "a title row": Messy(
        book([*TITLE, *pairs()]), notes=("2 lines, the first 'Sales of all shops'",)
    ),
    "a title row that is merged": Messy(
        book([["Sales of all shops", None], *pairs()], change=merged("A1:B1")),
        notes=("'Sales of all shops' is left out",),
    ),
    "years that are merged": Messy(
        book(OF_YEARS, change=merged("A2:A11", "A12:A23", "A24:A31")), dates=MONTHS,
        notes=("dates are made of 'year' and 'month'",),
    ),
    "names of series that are merged": Messy(
        book(SHOPS, change=merged("A2:A31", "A32:A61")), TWICE,
        options={"id": ("shop",), "only": "south"},
    ),
    "heads that are merged": Messy(
        book(HEADED, change=merged("B1:C1", "A1:A2")), options={"column": "north"},
        notes=("left out, above the header",),
    ),
    "a table that begins elsewhere": Messy(
        book([[], [], *([None, None, *row] for row in pairs())])
    ),
    "a cell that looks empty far below": Messy(book(pairs(), change=a_cell_far_below)),
    "several sheets": Messy(
        book(pairs(), pairs(TWICE), names=("North", "South")),
        notes=("sheet 'North' of file.xlsx is read; 'South' holds a table too (--sheet)",),
    ),
    "the sheet that is named": Messy(
        book(pairs(), pairs(TWICE), names=("North", "South")), TWICE, options={"sheet": "South"}
    ),
    "a sheet of words before the table": Messy(
        book([["Read me"], ["Made by hand in 2023"]], pairs(), names=("About", "Data"))
    ),
    "a sheet that is hidden": Messy(
        book(pairs(TWICE), pairs(), names=("Old", "New"), change=hidden(0))
    ),
    "no sheet of that name": Messy(
        book(pairs(), names=("Sales",)), options={"sheet": "Sale"},
        error=("file.xlsx has no sheet 'Sale' (option --sheet): did you mean 'Sales'?",),
    ),
    "formulas with their values": Messy(with_formulas(pairs(), cached=True)),
    "formulas without values": Messy(
        with_formulas(pairs(), cached=False),
        error=("sheet 'Sheet': cell B2 holds the formula '=", "and 29 more", "and save it"),
    ),
    "a sum without a value below the table": Messy(
        book([*pairs(), ["Total", "=SUM(B2:B31)"]]), notes=("'Total'",)
    ),
    "per cent": Messy(
        book(pairs(PERCENT), change=formatted("B", "0.0%")), 100 * PERCENT, notes=("per cent",)
    ),
    "money": Messy(book(pairs(), change=formatted("B", '#,##0.00 "€ (20%)"'))),
    "decimals that look like thousands": Messy(
        book(pairs([1.054, *map(float, range(950, 950 + ROWS - 1))])),
        [1.054, *range(950, 950 + ROWS - 1)],
    ),
    "errors in cells": Messy(
        book([*pairs()[:10], [DAYS[9].to_pydatetime(), "#N/A"], *pairs()[11:]]),
        [*VALUES[:9], float("nan"), *VALUES[10:]], notes=("missing",),
    ),
    "years and months": Messy(
        book([["Year", *NAMES], *([2019 + i, *BY_YEAR[12 * i : 12 * i + 12].tolist()]
                                  for i in range(3))]),
        BY_YEAR, YEARS, notes=("are years and columns months",),
    ),
    "tabs, breaks and quotes in cells": Messy(
        book([["day", "x", 'say\t"so"\nhere'], *([*row, 'a "b"\n;c'] for row in pairs()[1:])])
    ),
    "no numbers": Messy(
        book([["a", "b"], ["c", "d"]]), error=("no sheet with a table of numbers",)
    ),
    "nothing": Messy(book([]), error=("no sheet with a table",)),
    "a damaged file": Messy(
        without(book(pairs()), "xl/worksheets/sheet1.xml"), error=("cannot be read as Excel",)
    ),
    "another archive": Messy(
        without(book(pairs()), "xl/workbook.xml"), error=("another spreadsheet than .xlsx",)
    ),
    "an old file": Messy(b"\xd0\xcf\x11\xe0" + bytes(600), error=("old Excel file (.xls)",)),
}  # fmt: skip
