"""Files as people have them, made here: what each holds, and what must come of it."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

ROWS = 30
DAYS = pd.date_range("2023-01-02", periods=ROWS)
MONTHS = pd.date_range("2023-03-01", periods=ROWS, freq="MS")
VALUES = np.round(100 + 10 * np.sin(np.arange(ROWS)), 1)
THOUSANDS = 1000 + 37 * np.arange(ROWS) % 500
AROUND_1000 = 900 + 37 * np.arange(ROWS) % 500
MILLIONS = 1_234_567 + 1000 * AROUND_1000
RATIOS = np.round(VALUES / 70, 3)
SIGNED = np.round(10 * np.sin(np.arange(ROWS)), 1)


class Messy(NamedTuple):
    """A file, the options it is read with, and the values and dates, or the words of the error."""

    content: bytes
    values: Any = VALUES
    dates: Any = DAYS
    notes: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    options: dict[str, Any] = {}


def rows(values=VALUES, days=DAYS, mark=",", form="%Y-%m-%d"):
    """Lines of dates and values, without a header."""
    cells = zip(days.strftime(form), values, strict=True)
    return [f"{day}{mark}{value}" for day, value in cells]


def file(*lines, end="\n"):
    """Lines as the bytes of a file; lists of lines are joined."""
    flat = []
    for line in lines:
        flat += [line] if isinstance(line, str) else line
    return (end.join(flat) + end).encode()


def table(values=VALUES, **options):
    """A table with a header."""
    mark = options.get("mark", ",")
    return file(f"day{mark}x", rows(values, **options))


def english(value):
    return f"{value:,.2f}"


def german(value):
    return english(value).translate(str.maketrans(",.", ".,"))


def quoted(cells):
    return [f'"{cell}"' for cell in cells]


def pointed(value):
    return f"{value:,}".replace(",", ".")


def changed(cells, at, cell):
    """Cells with another one in one place."""
    out = list(cells)
    out[at] = cell
    return out


def bracketed(value):
    return f"({-value})" if value < 0 else f"{value}"


def panel(*ids, header="unique_id,ds,y", days=None, shuffle=False):
    """A long table: thirty days for each id, or as given for each."""
    lines = []
    for number, one in enumerate(ids):
        there = DAYS if days is None else days[number]
        lines += [
            f"{one},{day:%Y-%m-%d},{v + number}" for day, v in zip(there, VALUES, strict=True)
        ]
    if shuffle:
        lines = sorted(lines, key=lambda line: line.split(",")[1])
    return file(header, lines)


def later(start):
    return pd.date_range(start, periods=ROWS)


HOURS = pd.date_range("2024-10-26", periods=72, freq="h")
HALVES = pd.date_range("2024-10-26", periods=144, freq="30min")


def clock(hours=HOURS, back="2024-10-27 02:00", for_hours=1):
    """Local times of an autumn night, with an hour that comes twice."""
    twice = (hours >= back) & (hours < pd.Timestamp(back) + pd.Timedelta(hours=for_hours))
    at = int(np.flatnonzero(twice)[-1]) + 1
    local = [*hours[:at], *hours[twice], *hours[at:]]
    values = [*np.arange(at) * 2, *np.arange(twice.sum()), *np.arange(at, len(hours)) * 2]
    expected = np.arange(len(hours)) * 2.0
    expected[twice] = (expected[twice] + np.arange(twice.sum())) / 2
    lines = [f"{time:%Y-%m-%d %H:%M},{value}" for time, value in zip(local, values, strict=True)]
    return file("time,x", lines), expected, hours


def spring():
    """Local times of a spring night, with an hour that never was."""
    hours = pd.date_range("2024-03-30", periods=72, freq="h")
    kept = [i for i in range(72) if i != 26]
    values = np.arange(72) ** 2 % 50
    expected = values.astype(float)
    expected[26] = np.nan
    return table(values[kept], days=hours[kept], form="%Y-%m-%d %H:%M"), expected, hours


def half_hours(count, at, year):
    """Half hours with one mistyped year."""
    times = list(
        pd.date_range("2024-01-01", periods=count, freq="30min").strftime("%Y-%m-%d %H:%M")
    )
    times[at] = year + times[at][4:]
    return file("t,x", [f"{time},{i % 7}" for i, time in enumerate(times)])


def mistyped(freq, at, year, count=60):
    days = pd.date_range("1990-01-01", periods=count, freq=freq).strftime("%Y-%m-%d").tolist()
    days[at] = year + days[at][4:]
    return file("t,x", [f"{day},{i % 7}" for i, day in enumerate(days)])


def gaps(count, missing):
    """Days without some of them, or with empty cells there."""
    days = pd.date_range("2022-01-01", periods=count)
    return file("day,x", [f"{d:%Y-%m-%d},{i % 9}" for i, d in enumerate(days) if i not in missing])


CLOCK, CLOCK_VALUES, CLOCK_HOURS = clock()
HALF, HALF_VALUES, HALF_HOURS = clock(HALVES)
SPRING, SPRING_VALUES, SPRING_HOURS = spring()
TWICE = [*rows(), f"2023-01-05,{VALUES[3] + 1:.1f}"]

CELLS = {
    "per cent": Messy(table([f"{v}%" for v in VALUES]), notes=("read as 100, in per cent",)),
    "per cent after a space": Messy(table([f"{v} %" for v in VALUES]), notes=("in per cent",)),
    "per cent and bare numbers": Messy(
        table(changed([f"{v}%" for v in VALUES], 4, "7")),
        error=("'100.0%' in row 1 and '7' in row 5", "not in one unit"),
    ),
    "per cent and a bare zero": Messy(
        table(changed([f"{v}%" for v in VALUES], 4, "0")),
        values=changed(VALUES, 4, 0),
        notes=("per cent",),
    ),
    "dollars": Messy(
        table(quoted(f"${v:,}" for v in THOUSANDS)), THOUSANDS, notes=("read as 1000, without '$'",)
    ),
    "dollars with cents": Messy(table([f"${v:.2f}" for v in VALUES]), notes=("without '$'",)),
    "negative dollars": Messy(
        table([f"-${-v}" if v < 0 else f"${v}" for v in SIGNED]), SIGNED, notes=("without '$'",)
    ),
    "dollars in the first row only": Messy(
        table(changed(VALUES, 0, "$ 100.0")), notes=("without '$'",)
    ),
    "euros behind decimal commas": Messy(
        table([f"{german(v)} €" for v in THOUSANDS + 0.5], mark=";"),
        THOUSANDS + 0.5,
        notes=("commas are read as decimal signs", "without '€'"),
    ),
    "euros in Windows letters": Messy(
        table([f"{german(v)} €" for v in VALUES], mark=";").decode().encode("cp1252"),
        notes=("Latin-1", "without '€'"),
    ),
    "pounds": Messy(table([f"£{v}" for v in VALUES]), notes=("without '£'",)),
    "yen": Messy(table([f"¥{v}" for v in THOUSANDS]), THOUSANDS, notes=("without '¥'",)),
    "rupees in lakhs": Messy(
        table(quoted(f"₹1,{v // 1000 + 10},{v % 1000:03d}" for v in THOUSANDS)),
        [100_000 + (v // 1000 + 10) * 1000 + v % 1000 for v in THOUSANDS],
        notes=("without '₹'",),
    ),
    "a code before": Messy(
        table(quoted(f"USD {v:,}" for v in THOUSANDS)), THOUSANDS, notes=("without 'usd'",)
    ),
    "a code behind": Messy(table([f"{v} CHF" for v in VALUES]), notes=("without 'chf'",)),
    "Swiss thousands": Messy(
        table([f"{v:,}".replace(",", "'") + " CHF" for v in THOUSANDS]), THOUSANDS,
        notes=("without 'chf'",),
    ),
    "two currencies": Messy(
        table(changed([f"${v}" for v in VALUES], 6, "€106")),
        error=("'$100.0' in row 1 and '€106' in row 7", "not in one unit"),
    ),
    "brackets for negatives": Messy(
        table([bracketed(v) for v in SIGNED]), SIGNED, notes=("as a negative number",)
    ),
    "brackets with thousands": Messy(
        table(quoted(f"({v:,})" if v % 2 else f"{v:,}" for v in THOUSANDS)),
        [-v if v % 2 else v for v in THOUSANDS],
        notes=("thousands", "as a negative number"),
    ),
    "dollars in brackets": Messy(
        table([f"(${-v})" if v < 0 else f"${v}" for v in SIGNED]), SIGNED,
        notes=("without '$'", "as a negative number"),
    ),
    "a minus behind": Messy(
        table([f"{-v}-" if v < 0 else f"{v}" for v in SIGNED]), SIGNED,
        notes=("as a negative number",),
    ),
    "a long minus": Messy(table([str(v).replace("-", "−") for v in SIGNED]), SIGNED),
    "kilograms": Messy(table([f"{v} kg" for v in VALUES]), notes=("without 'kg'",)),
    "degrees": Messy(table([f"{v}°C" for v in VALUES]), notes=("without '°c'",)),
    "cubic metres": Messy(table([f"{v} m3" for v in VALUES]), notes=("without 'm3'",)),
    "kilometres an hour": Messy(table([f"{v} km/h" for v in VALUES]), notes=("without 'km/h'",)),
    "two units": Messy(
        table(changed([f"{v} kg" for v in VALUES], 3, "101 lb")),
        error=("'100.0 kg' in row 1 and '101 lb' in row 4",),
    ),
    "a unit in one cell": Messy(
        table(changed(VALUES, 3, "101 kg")), error=("'101 kg' in row 4 and '100.0' in row 1",)
    ),
    "asterisks": Messy(table([f"{v}*" if v > 105 else v for v in VALUES]), notes=("footnote",)),
    "provisional figures": Messy(
        table([f"{v} p" if i > 25 else v for i, v in enumerate(VALUES)]), notes=("footnote",)
    ),
    "numbered footnotes": Messy(
        table([f"{v}[{i}]" if i < 3 else v for i, v in enumerate(VALUES)]), notes=("footnote",)
    ),
    "raised footnotes": Messy(
        table([f"{v}¹" if i == 5 else v for i, v in enumerate(VALUES)]), notes=("footnote",)
    ),
    "below a limit": Messy(table(changed(VALUES, 3, "<5")), error=("'<5' in row 4",)),
    "a hexadecimal number": Messy(table(changed(VALUES, 3, "0x10")), error=("'0x10' in row 4",)),
    "spaces for thousands": Messy(
        table([f"{v:,}".replace(",", " ") for v in THOUSANDS]), THOUSANDS
    ),
    "one column of per cent": Messy(
        file("share", [f"{v}%" for v in VALUES]), dates=None, notes=("in per cent",)
    ),
    "no header and dollars": Messy(
        file(rows([f"${v}" for v in VALUES])), notes=("no header", "without '$'")
    ),
}  # fmt: skip


def two(first, *second, mark=";"):
    """Two columns beside the dates."""
    return file(
        mark.join(["day", "z", "x"]),
        [mark.join(map(str, cells)) for cells in zip(DAYS.date, first, *second, strict=True)],
    )


NOT_THOUSANDS = [f"{v:.3f}" for v in RATIOS]
AROUND_10 = np.round(10 + 2 * np.sin(np.arange(ROWS)) + 0.0127, 3)
DECIMALS = [f"{v:.3f}" for v in AROUND_10]
COUNTS = [5, 37, 1234, 150, 12500, 87, 640, 2310, 18, 411] * 3
GROWING = np.round(1.45 ** np.arange(1, ROWS + 1)).astype(int)
CLOSER = ("'10.013' is read as a decimal sign, which fits", "such as '12'", "--decimal ,")
SIGNS = {
    "points for thousands above 999": Messy(
        table([pointed(v) for v in AROUND_1000], mark=";"), AROUND_1000,
        notes=("the point in '1.011' is read as of thousands", "such as '900'", "--decimal"),
    ),
    "points for thousands and euros": Messy(
        table([f"{pointed(v)} €" for v in AROUND_1000], mark=";"), AROUND_1000,
        notes=("the point in '1.011 €' is read as of thousands", "without '€'"),
    ),
    "points for millions": Messy(
        table([pointed(v) for v in MILLIONS]), MILLIONS,
        notes=("points are read as of thousands, as in '2.134.567'",),
    ),
    "three decimals": Messy(
        table(NOT_THOUSANDS), RATIOS, notes=("'1.429' is read as a decimal sign", "--decimal ,")
    ),
    "three decimals, some below one": Messy(
        table([f"{v - 1.4:.3f}" for v in RATIOS]), np.round(RATIOS - 1.4, 3)
    ),
    "three decimals that end in zeros": Messy(table(RATIOS), RATIOS),
    "three decimals and zeros": Messy(
        table(changed(NOT_THOUSANDS, 4, "0")), changed(RATIOS, 4, 0),
        notes=("read as a decimal sign",),
    ),
    "three decimals and a whole number": Messy(
        table(changed(DECIMALS, 4, "12")), changed(AROUND_10, 4, 12), notes=CLOSER
    ),
    "three decimals and a whole number first": Messy(
        table(changed(DECIMALS, 0, "12"), mark=";"), changed(AROUND_10, 0, 12),
        notes=("is read as a decimal sign", "such as '12'"),
    ),
    "three decimals and whole numbers in one column": Messy(
        file("x", changed(changed(DECIMALS, 4, "12"), 9, "11")),
        changed(changed(AROUND_10, 4, 12), 9, 11), None, notes=CLOSER,
    ),
    "three decimals, a whole number and euros": Messy(
        table([f"{one} €" for one in changed(DECIMALS, 4, "12")]), changed(AROUND_10, 4, 12),
        notes=("'10.013 €' is read as a decimal sign", "without '€'"),
    ),
    "three decimals of both signs and a whole number": Messy(
        table(changed([f"-{one}" if i % 2 else one for i, one in enumerate(DECIMALS)], 4, "12")),
        changed([-v if i % 2 else v for i, v in enumerate(AROUND_10)], 4, 12), notes=CLOSER,
    ),
    "three decimals in hundreds and a whole number": Messy(
        table(changed([f"{10 * v:.3f}" for v in AROUND_10], 4, "120")),
        changed([round(10 * v, 3) for v in AROUND_10], 4, 120),
        notes=("is read as a decimal sign", "such as '120'"),
    ),
    "whole numbers and one of three decimals": Messy(
        table(changed([f"{v:.0f}" for v in AROUND_10], 4, "9.871")),
        changed(np.round(AROUND_10), 4, 9.871),
        notes=("'9.871' is read as a decimal sign", "such as '10'"),
    ),
    "three decimals after commas and a whole number": Messy(
        table(changed([one.replace(".", ",") for one in DECIMALS], 4, "12"), mark=";"),
        changed(AROUND_10, 4, 12),
        notes=("the comma in '10,013' is read as a decimal sign", "--decimal ."),
    ),
    "three decimals, and whole numbers of four digits": Messy(
        table(changed(DECIMALS, 4, "1200")), changed(AROUND_10, 4, 1200)
    ),
    "thousands above and below a thousand once": Messy(
        table(changed([pointed(v) for v in THOUSANDS + 100], 4, "950")),
        changed(THOUSANDS + 100, 4, 950),
        notes=("of thousands, which fits whole numbers such as '950' better", "--decimal ."),
    ),
    "counts of all sizes": Messy(
        table([pointed(v) for v in COUNTS]), COUNTS, notes=("'1.234' is read as of thousands",)
    ),
    "growth from one to thousands": Messy(
        table([pointed(v) for v in GROWING[:24]], days=DAYS[:24]), GROWING[:24], DAYS[:24],
        notes=("'1.164' is read as of thousands",),
    ),
    "thousands of both signs": Messy(
        table([pointed(v if i % 2 else -v) for i, v in enumerate(AROUND_1000)]),
        [v if i % 2 else -v for i, v in enumerate(AROUND_1000)], notes=("of thousands",),
    ),
    "English thousands in quotes": Messy(
        table(quoted(f"{v:,}" for v in AROUND_1000)), AROUND_1000,
        notes=("the comma in '1,011' is read as of thousands", "such as '900'"),
    ),
    "English thousands in quotes and a small number": Messy(
        table(quoted(changed([f"{v:,}" for v in 10 * THOUSANDS], 4, "12"))),
        changed(10 * THOUSANDS, 4, 12), notes=("'10,000' is read as of thousands",),
    ),
    "points for thousands as in another column": Messy(
        two([pointed(v) for v in MILLIONS], [pointed(v) for v in THOUSANDS]), THOUSANDS,
        options={"column": "x"}, notes=("the point in '1.000' is read as of thousands",),
    ),
    "points for thousands before commas in another column": Messy(
        two([german(v) for v in THOUSANDS], changed([pointed(v) for v in THOUSANDS], 4, "12")),
        changed(THOUSANDS, 4, 12), options={"column": "x"}, notes=("is read as of thousands",),
    ),
    "commas for thousands between tabs": Messy(
        table([f"{v:,}" for v in AROUND_1000], mark="\t"), AROUND_1000,
        notes=("the comma in '1,011' is read as of thousands", "such as '900'"),
    ),
    "a zero before the comma": Messy(
        table(quoted(f"{v / 1000:.3f}".replace(".", ",") for v in VALUES)),
        [float(f"{v / 1000:.3f}") for v in VALUES], notes=("commas are read as decimal signs",),
    ),
    "decimal commas in another column": Messy(
        two(["54,9"] * ROWS, NOT_THOUSANDS), RATIOS, options={"column": "x"},
        notes=("'1.429' is read as a decimal sign",),
    ),
    "sizes with decimal commas": Messy(
        two(['"12,5 cm"'] * ROWS, VALUES, mark=","), options={"column": "x"}
    ),
    "a sign for all columns": Messy(
        two(["54,9"] * ROWS, NOT_THOUSANDS), [float(one) * 1000 for one in NOT_THOUSANDS],
        options={"column": "x", "decimal": ","},
    ),
    "commas as in another column": Messy(
        two(["1,234.5"] * ROWS, [f"{v:,}" for v in THOUSANDS]), THOUSANDS,
        options={"column": "x"}, notes=("the comma in '1,000' is read as of thousands",),
    ),
    **{
        f"spaces and decimal commas, {len(end)}, {ord(space)}": Messy(
            table([f"{v:,.2f}".replace(",", space).replace(".", ",") + end for v in MILLIONS],
                  mark=";"),
            MILLIONS, notes=("commas are read as decimal signs", *(["without '€'"] * len(end[:1]))),
        )
        for space in (" ", "\xa0", "\u202f") for end in ("", " €")
    },
    "billions in some cells": Messy(
        table(changed(["900000000"] * ROWS, 3, "1.10B")),
        error=("'1.10B' in row 4 and '900000000' in row 1", "not in one unit"),
    ),
    "degrees of two kinds": Messy(
        table(changed(changed(VALUES, 3, "97.6 F"), 5, "99.1 C")),
        error=("'97.6 F' in row 4 and '99.1 C' in row 6",),
    ),
    "degrees of two kinds in small letters": Messy(
        table(changed(changed(VALUES, 3, "97.6 f"), 5, "99.1 c")), error=("'97.6 f' in row 4",)
    ),
    "thousands in all cells": Messy(
        table([f"{v}{'K' if i % 2 else 'k'}" for i, v in enumerate(VALUES)]),
        notes=("without 'K'",),
    ),
    **{
        f"{mark} for what is missing": Messy(
            table(changed(VALUES, 3, mark)), changed(VALUES, 3, np.nan),
            notes=("1 of 30 values is missing",),
        )
        for mark in (
            "–", "—", ":", "..", "...", "***", "#N/A N/A", "\\N", "<NA>", "#DIV/0!", "#VALUE!",
            "#REF!", ": c",
        )
    },
}  # fmt: skip

NAMELESS = {
    f"no header, {first}": Messy(
        file(lines), values, dates, notes=("no header", *notes), options=options
    )
    for first, lines, values, dates, notes, options in [
        ("months", rows(days=MONTHS, form="%b %Y"), VALUES, MONTHS, (), {}),
        ("weekdays", rows(form="%a %Y-%m-%d"), VALUES, DAYS, (), {}),
        ("a name", [f"north,{row}" for row in rows()], VALUES, DAYS, (), {}),
        ("a remark", [f"{row},ok" for row in rows()], VALUES, DAYS, (), {}),
        ("nothing first", rows(changed(VALUES, 0, "NA")), VALUES[1:], DAYS[1:],
         ("the first row has no value",), {}),
        ("nothing first in one column", ["NA", *map(str, VALUES)], VALUES, None,
         ("the first row has no value",), {}),
        ("a name without dates", [f"north{' east' * (i % 2)},{v}" for i, v in enumerate(VALUES)],
         VALUES, None, (), {}),
    ]
}  # fmt: skip

AROUND = {
    "Excel's separator": Messy(
        file("sep=;", "day;x", rows(mark=";")), notes=("separated by ';'",)
    ),
    "Excel's separator in quotes": Messy(
        file('"sep=,"', "day,x", rows(), end="\r\n"), notes=("separated by ','",)
    ),
    "a title": Messy(
        file("Visits in Kaunas", "day,x", rows()), notes=("'Visits in Kaunas' is left out, above",)
    ),
    "a title with a year": Messy(
        file("Visits, 2023", "day,x", rows()), notes=("above the header",)
    ),
    "titles and a blank line": Messy(
        file("Visits", "Museum of Art, Kaunas", "", "day,x", rows()),
        notes=("2 lines, the first 'Visits', are left out, above",),
    ),
    "a title with a comma": Messy(
        file("Visits, in thousands", "day,x", rows()), notes=("above the header",)
    ),
    "a title padded with separators": Messy(
        file("Visits,", ",", "day,x", rows()), notes=("above the header",)
    ),
    "a title above one column": Messy(
        file("Visits in Kaunas", "", "x", [str(v) for v in VALUES]), dates=None,
        notes=("above the header",),
    ),
    "a title above decimal commas": Messy(
        file("Besuche in Kaunas", "", "x", [german(v) for v in VALUES]), dates=None,
        notes=("above the header", "decimal signs"),
    ),
    "comments": Messy(
        file("# made by a logger", "# version 2", "day,x", rows()),
        notes=("2 lines, the first '# made by a logger', are left out as comments",),
    ),
    "comments of C": Messy(file("// logger", "day,x", rows()), notes=("as a comment",)),
    "comments of MATLAB": Messy(file("% logger", "day,x", rows()), notes=("as a comment",)),
    "comments in the middle": Messy(
        file("day,x", rows()[:9], "# restarted", rows()[9:]), notes=("as a comment",)
    ),
    "a header in a comment": Messy(
        file("# logger", "# day,x", rows()), notes=("'day,x' is taken as the header",)
    ),
    "names that begin like comments": Messy(
        file("tag,day,x", [f"#{i},{row}" for i, row in enumerate(rows())]), options={"column": "x"}
    ),
    "some names that begin like comments": Messy(
        file("# a shop", "tag,day,x", [f"{'#' * (i % 9 == 0)}{i},{row}"
                                       for i, row in enumerate(rows())], "# end"),
        options={"column": "x"}, notes=("2 lines, the first '# a shop', are left out",),
    ),
    "breaks in quoted cells": Messy(
        file("day,x,note", [f'{row},"line one\n# line, two"' for row in rows()])
    ),
    "breaks in quoted names": Messy(
        file('day,"Sales\n(EUR)"', rows()), options={"column": "Sales (EUR)"}
    ),
    "breaks in one column": Messy(
        file('"Sales\n(EUR)"', [f"{v}" for v in VALUES]), dates=None,
        options={"column": "Sales (EUR)"},
    ),
    "a long remark with breaks last": Messy(
        file("day,x,note", [f"{row}," for row in rows()[:-1]],
             rows()[-1] + ',"' + "Words, more words\n" * 2000 + 'Total,"')
    ),
    "marks of inches": Messy(file("day,x,size", [f'{row},5" pipe' for row in rows()])),
    "marks of order in names": Messy(
        "\ufeffday,\ufeffSales\xa0in\u202f €\n".encode() + file(rows()),
        options={"column": "Sales in €"},
    ),
    "a space before quotes": Messy(
        file('"day", "x"', [f'"{row}"'.replace(",", '", "') for row in rows()])
    ),
    "single quotes": Messy(
        file("'day','x'", [f"'{row}'".replace(",", "','") for row in rows()]),
        notes=("' and ' around cells",),
    ),
    "curly quotes": Messy(
        file("“day”;“x”", [f"“{row}”".replace(",", "”;“") for row in rows()]),
        notes=("“ and ” around cells",),
    ),
    "a sign of the end": Messy(file("day,x", rows()) + b"\x1a"),
    "Excel's errors in the first column": Messy(
        file("n,day,x", [f"#N/A,{row}" for row in rows()]), options={"column": "x"}
    ),
    "blank lines everywhere": Messy(
        file("", "day,x", "", [f"{row}\n" for row in rows()], "", "")
    ),
    "rows of separators alone": Messy(
        file("day,x", rows(), ",", ","), notes=("2 rows hold nothing, the first in row 31",)
    ),
    "units in brackets": Messy(
        file("day,x", ",(kWh)", rows()), notes=("the line ',(kWh)' is left out, as units",)
    ),
    "units in words": Messy(file("day,x", ",million", rows()), notes=("as units",)),
    "units for every column": Messy(
        file("day,x", "yyyy-mm-dd,kWh", rows()), notes=("as units",)
    ),
    "units below one column": Messy(
        file("x", "kWh", [str(v) for v in VALUES]), dates=None, notes=("as units",)
    ),
    "a title and units": Messy(
        file("Energy", "day,x", ",kWh", rows()), notes=("above the header", "as units")
    ),
    "a source below": Messy(
        file("day,x", rows(), "", "Source: Statistics Lithuania"), notes=("below the table",)
    ),
    "a source with commas below": Messy(
        file("day,x", rows(), "Source: Museum of Art, Kaunas, 2023"), notes=("below the table",)
    ),
    "a source padded with separators": Messy(
        file("day,x", rows(), "Source: Museum,"), notes=("below the table",)
    ),
    "notes below one column": Messy(
        file("x", [str(v) for v in VALUES], "Source: Museum"), dates=None,
        notes=("below the table",),
    ),
    "several notes below": Messy(
        file("day,x", rows(), "* provisional", "Last update: 2023-03-01"),
        notes=("2 lines, the first '* provisional'",),
    ),
    "a total": Messy(
        file("day,x", rows(), "Total,3000"), notes=("the last row, 'Total', is left out",)
    ),
    "a sum and a mean": Messy(
        file("day,x", rows(), "Sum,3000", "Average,100"), notes=("the last 2 rows, from 'Sum'",)
    ),
    "a German total": Messy(
        file("Tag;x", rows([german(v) for v in VALUES], mark=";"), "Summe;3.000,0"),
        notes=("'Summe'",),
    ),
    "a total and a source": Messy(
        file("day,x", rows(), "Grand Total,3000", "", "Source: Museum"),
        notes=("below the table", "'Grand Total'"),
    ),
    "separators at the end of lines": Messy(
        file("day,x,", [f"{row}," for row in rows()])
    ),
    "separators at the end of rows": Messy(file("day,x", [f"{row}," for row in rows()])),
    "an index without a name": Messy(
        file("day,x", [f"{i},{row}" for i, row in enumerate(rows(), 1)]),
        notes=("2 names for 3 columns",),
    ),
    "an index before two columns": Messy(
        file('"x"', [f'"{i}",{v}' for i, v in enumerate(VALUES, 1)]), dates=None,
        notes=("1 name for 2 columns",),
    ),
    "dates before one name": Messy(file("x", rows()), notes=("1 name for 2 columns",)),
    "rows of two widths": Messy(
        file("shop,day,x", [f"north,{row}{',ok' * (i % 2)}" for i, row in enumerate(rows())]),
        error=("line 3 has 4 fields, too many where the first line has 3",),
    ),
    "a name short at the end": Messy(
        file("day,x", [f"{row},ok" for row in rows()]),
        error=("line 2 has 3 fields, too many where the first line has 2",),
    ),
    "decimal commas between commas": Messy(
        file("day,x", [row.replace(".", ",") for row in rows()]),
        error=("line 2 has 3 fields", "decimal sign"),
    ),
    "thousands between commas": Messy(
        file("day,x", rows([f"{v:,}" for v in THOUSANDS])),
        error=("line 2 has 3 fields", "decimal sign"),
    ),
    "statistics below": Messy(
        file("day,x", rows(), "count,30", "mean,100", "std,7", "min,90", "25%,95", "max,110"),
        notes=("the last 6 rows, from 'count' on",),
    ),
    "a name beginning each row": Messy(
        panel("Total", header="shop,day,x")
    ),
    "the last series of a panel": Messy(
        file("shop,year,x", [f"{one},{1990 + i},{v}" for i, v in enumerate(VALUES)
                             for one in ("north", "Total")]),
        dates=pd.date_range("1990", periods=ROWS, freq="YS"),
        options={"id": ("shop",), "only": "Total"},
    ),
    "an empty name": Messy(
        file(",day,x", [f"{i},{row}" for i, row in enumerate(rows())])
    ),
    "a header again": Messy(
        file("day,x", rows()[:9], "day,x", rows()[9:]),
        notes=("1 row holds the names of the columns again, the first in row 10",),
    ),
    "quotes around everything": Messy(
        file('"day","x"', [f'"{row}"'.replace(",", '","') for row in rows()])
    ),
    "aligned columns": Messy(
        file("day         x", [row.replace(",", "   ") for row in rows()]), notes=("by spaces",)
    ),
    "single spaces": Messy(
        file("day x", [row.replace(",", " ") for row in rows()]), notes=("by spaces",)
    ),
    "months without a value first": Messy(
        file("month,x", "Jan 2023,n/a", "Feb 2023,n/a",
             rows(days=MONTHS, form="%b %Y")),
        dates=MONTHS,
        notes=("the first 2 rows have no value",),
    ),
    "a month without a value last": Messy(
        file("month,x", rows(days=MONTHS, form="%b %Y"),
             "Sep 2025,"),
        dates=MONTHS,
        notes=("the last row has no value",),
    ),
    "a name that is a year": Messy(
        file("place,2020", [f"{'abcdef'[i % 6]},{v}" for i, v in enumerate(VALUES)]), dates=None,
        options={"column": "2020"},
    ),
    "a first row of names that counts": Messy(
        file("place,x,y,z", "a,1,2,3", [f"b,{v},3,4" for v in VALUES[1:]]),
        changed(VALUES, 0, 1), dates=None, options={"column": "x"},
    ),
    "names that are years": Messy(
        file("Visits", "", "day,2020,2021", [f"{row},1" for row in rows()]),
        notes=("above the header",), options={"column": "2020"},
    ),
}  # fmt: skip

ONE = [str(value) for value in VALUES]
LOST = changed(changed(VALUES, 9, np.nan), 20, np.nan)
LINES = changed(changed(ONE, 9, ""), 20, "  ")
BLANK = ("2 blank lines between values: taken as missing", "2 of 30 values are missing")
BLANK_LINES = {
    "blank lines": Messy(file("x", LINES), LOST, None, BLANK),
    "blank lines without a header": Messy(file(LINES), LOST, None, ("no header", *BLANK)),
    "blank lines of Windows": Messy(file("x", LINES, end="\r\n"), LOST, None, BLANK),
    "blank lines of an old Mac": Messy(file("x", LINES, end="\r"), LOST, None, BLANK),
    "cells in quotes that are blank": Messy(
        file("x", [f'"{one.strip()}"' for one in LINES]), LOST, None, BLANK[1:]
    ),
    "blank lines around values": Messy(
        file("", "Visits", "", "", "x", "", ONE[:12], "", ONE[13:], "", "", ""),
        changed(VALUES, 12, np.nan), None,
        ("above the header", "1 blank line between values", "1 of 30 values is missing"),
    ),
    "blank lines, a comment, names again and a total": Messy(
        file("x", LINES[:5], "# restarted", LINES[5:15], "", "x", "", LINES[15:], "", "Total"),
        LOST, None, ("a comment", "names of the columns again", "the last row, 'Total'", *BLANK),
    ),
    "blank lines below a separator that is not used": Messy(
        file("sep=;", "x", LINES), LOST, None, ("separated by ';'", *BLANK)
    ),
    "every second line blank": Messy(file("x", ONE, end="\n\n"), dates=None),
    "every second line blank without a header": Messy(
        file(ONE, end="\n\n"), dates=None, notes=("no header",)
    ),
    "breaks of two systems": Messy(file("x", ONE, end="\r\r\n"), dates=None),
    "every second line blank but for the last": Messy(
        file("x", ONE[:-1], end="\n\n") + ONE[-1].encode(), dates=None
    ),
    "blank lines among spaced ones": Messy(file("x", LINES, end="\r\r\n"), LOST, None, BLANK),
    "blank lines in two columns": Messy(file("day,x", rows()[:9], "", "", rows()[9:])),
    "decimal commas and blank lines": Messy(
        file("x", [one.replace(".", ",") for one in LINES]), LOST, None, ("decimal signs", *BLANK)
    ),
}  # fmt: skip

UNREADABLE = {
    "a separator alone": Messy(b"sep=;\n", error=("holds no table beside what was left out",)),
    "no numbers": Messy(
        file("day,x", rows(["open"] * ROWS)),
        error=("no column of numbers", "'x' holds 'open' in row 1", "29 more"),
    ),
    "dates alone": Messy(
        file("day", [f"{day:%Y-%m-%d}" for day in DAYS]),
        error=("no column of numbers beside 'day'",),
    ),
    "an empty column": Messy(
        file("day,x", rows([""] * ROWS)), error=("no column of numbers", "'x' are empty")
    ),
    "a decimal comma between commas": Messy(
        file("day,x", rows()[:12], "2023-01-14,99,5", rows()[13:]),
        error=("line 14 has 3 fields, too many where the first line has 2", "'2023-01-14,99,5'",
               "decimal sign"),
    ),
    "a separator in a name": Messy(
        file("day,x,town", [f"{row},Kaunas" for row in rows()[:12]], "2023-01-14,99,Kaunas, LT",
             [f"{row},Kaunas" for row in rows()[13:]]),
        error=("line 14 has 4 fields, too many", "quote cells that contain ','"),
    ),
    "a cut line": Messy(
        file("day,x", rows()[:12], "2023-01-14", rows()[13:]),
        error=("line 14 has 1 field, too few where 2 are expected", "'2023-01-14'"),
    ),
    "a cut line below titles": Messy(
        file("Visits", "", "day,x", rows()[:12], "2023-01-14", rows()[13:]),
        error=("line 16 has 1 field, too few",),
    ),
    "empty cells left out at the end": Messy(
        file("day,x,note", [f"{row},good" if i % 5 == 0 else row for i, row in enumerate(rows())]),
        notes=("24 lines, the first line 3, have fewer than 3 fields",),
    ),
    "JSON": Messy(
        b'[{"day": "2023-01-02", "x": 5},\n {"day": "2023-01-03", "x": 6}]', error=("is JSON",)
    ),
    "HTML": Messy(file("<!DOCTYPE html>", "<html><body>", "<p>5,6</p>"), error=("is HTML",)),
    "a packed file": Messy(b"\x1f\x8b\x08\x00abc", error=("is compressed (gzip); unpack",)),
    "years across": Messy(
        file("country," + ",".join(map(str, range(1990, 2020))),
             [f"{one}," + ",".join(map(str, VALUES + i)) for i, one in enumerate(["LT", "LV"])]),
        error=("time runs across the columns, '1990', '1991', '1992'", "turn the table"),
    ),
    "years across below titles": Messy(
        file('"Data Source","World Development Indicators",', "",
             '"Last Updated Date","2024-03-01",', "",
             '"Country Name","Country Code",' + ",".join(f'"{y}"' for y in range(1990, 2020)) + ",",
             [f'"{one}","{one[:2]}",' + ",".join(f'"{v}"' for v in VALUES + i) + ","
              for i, one in enumerate(["Lithuania", "Latvia", "Estonia"])]),
        error=("time runs across the columns", "turn the table"),
    ),
    "months across": Messy(
        file("name," + ",".join(f"{day:%Y-%m}" for day in MONTHS),
             "x," + ",".join(map(str, VALUES))),
        error=("time runs across the columns, '2023-03'",),
    ),
    "days across": Messy(
        file("name," + ",".join(f"{day:%Y-%m-%d}" for day in DAYS),
             "x," + ",".join(map(str, VALUES))),
        error=("time runs across the columns, '2023-01-02'",),
    ),
    "no header and a word first": Messy(
        file(rows(changed(VALUES, 0, "closed"))), error=("holds 'closed' in row 1",)
    ),
    "one row": Messy(file("day,x", "2023-01-02,5"), [5], None, ("one date", "by rows")),
    "one row without a header": Messy(file("2023-01-02,5"), [5], None, ("no header", "one date")),
    "a header": Messy(file("day,x"), error=("has a header, 'day', 'x', but no rows",)),
    "a word": Messy(b"x", error=("has a header, 'x', but no rows",)),
    "a number": Messy(b"5", [5], None, ("no header",)),
    "a header and a total": Messy(file("day,x", "Total,5"), [5], None, ("'Total' is not read",)),
}  # fmt: skip

DOUBLED = {
    "rows that repeat": Messy(
        file("day,x", rows(), rows()[3:6]),
        notes=("not in time order", "3 rows repeat others of file.csv cell by cell"),
    ),
    "a clock that goes back": Messy(
        CLOCK, CLOCK_VALUES, CLOCK_HOURS,
        notes=("the hour from 2024-10-27 02:00 is there twice", "averaged"),
    ),
    "a clock that goes back by half hours": Messy(
        HALF, HALF_VALUES, HALF_HOURS, notes=("2024-10-27 02:00 is there twice",)
    ),
    "a clock that goes back at noon": Messy(
        clock(back="2024-10-27 12:00")[0], error=("2024-10-27 12:00", "--duplicates")
    ),
    "a clock that goes back for two hours": Messy(
        clock(for_hours=2)[0], error=("2024-10-27 02:00 (rows 27 and 29)", "1 other date")
    ),
    "a clock that goes forward": Messy(
        SPRING, SPRING_VALUES, SPRING_HOURS,
        notes=("1 of 72 values is missing, the first at 2024-03-31 02:00",),
    ),
    "two values for a day": Messy(
        file("day,x", TWICE),
        error=("more than one row for 2023-01-05 (rows 4 and 31)", "--duplicates mean"),
    ),
    "one time for all rows": Messy(
        file("time,x", [f"2024-10-27 02:00,{value}" for value in VALUES]),
        error=("more than one row for 2024-10-27 02:00 (rows 1 and 2)", "--duplicates"),
    ),
    "their mean": Messy(
        file("day,x", TWICE), changed(VALUES, 3, VALUES[3] + 0.5),
        notes=("1 date has several rows", "their mean is taken"), options={"duplicates": "mean"},
    ),
    "the first": Messy(
        file("day,x", TWICE), notes=("the first is taken",), options={"duplicates": "first"}
    ),
    "the last": Messy(
        file("day,x", TWICE), changed(VALUES, 3, VALUES[3] + 1), notes=("the last is taken",),
        options={"duplicates": "last"},
    ),
    "their sum": Messy(
        file("day,x", rows(), rows()[3]), changed(VALUES, 3, 2 * VALUES[3]),
        notes=("their sum is taken",), options={"duplicates": "sum"},
    ),
}  # fmt: skip

HOLES = {
    "a mistyped year of half hours": Messy(
        half_hours(20_000, 777, "2204"),
        error=("mostly gaps", "to 2204-01-17 04:30 (row 778)", "correct row 778"),
    ),
    "a mistyped year of months": Messy(
        mistyped("MS", 30, "2092"), error=("mostly gaps", "correct row 31")
    ),
    "a mistyped year of years": Messy(
        mistyped("YS", 30, "2202"), error=("mostly gaps", "correct row 31")
    ),
    "a year too late by a little": Messy(
        half_hours(20_000, 777, "2026"),
        error=("15,866 of 35,866 values are missing", "from 2025-02-20 16:00 to 2026-01-17 04:00"),
    ),
    "a quarter missing": Messy(
        gaps(100, range(10, 98, 3)), error=("30 of 100 values are missing", "--fill forward")
    ),
    "a long gap": Messy(
        gaps(100, range(40, 55)),
        error=("15 of 100 values are missing, 15 of them from 2022-02-10 to 2022-02-24",),
    ),
    "a long gap that is to be filled": Messy(
        gaps(100, range(40, 55)), [i % 9 if i not in range(40, 55) else 39 % 9 for i in range(100)],
        pd.date_range("2022-01-01", periods=100), notes=("filled with the value before",),
        options={"fill": "forward"},
    ),
    "a long gap that is no gap": Messy(
        gaps(100, range(40, 55)), [i % 9 for i in range(100) if i not in range(40, 55)], None,
        options={"date": "none", "season": (9,)},
    ),
    "short gaps": Messy(
        gaps(100, [20, 21, 50]), [np.nan if i in (20, 21, 50) else i % 9 for i in range(100)],
        pd.date_range("2022-01-01", periods=100),
        notes=("3 of 100 values are missing", "left out, neither learned from nor scored"),
    ),
    "short gaps that are to be filled": Messy(
        gaps(100, [20, 21, 50]),
        np.interp(range(100), [i for i in range(100) if i not in (20, 21, 50)],
                  [i % 9 for i in range(100) if i not in (20, 21, 50)]),
        pd.date_range("2022-01-01", periods=100), notes=("filled along straight lines",),
        options={"fill": "interpolate"},
    ),
}  # fmt: skip

PANELS = {
    "a panel": Messy(
        panel("north", "south"),
        error=("holds 2 series, told apart by 'unique_id' ('north', 'south')",
               "--id unique_id --only north", "all with --id unique_id"),
    ),
    "a panel sorted by date": Messy(
        panel("north", "south", header="shop,day,x", shuffle=True),
        error=("2 series, told apart by 'shop'",),
    ),
    "a panel whose dates never meet": Messy(
        panel("a", "b", header="shop,day,x", days=[DAYS, later("2023-05-01")]),
        error=("2 series, told apart by 'shop'",),
    ),
    "a panel whose dates follow each other": Messy(
        panel("a", "b", days=[DAYS, later("2023-02-01")]), error=("2 series",)
    ),
    "a panel of numbered series": Messy(
        panel("1", "2", "3", "4", header="shop,day,x"),
        error=("4 series, told apart by 'shop' ('1', '2', '3', …)", "--only 1"),
    ),
    "a panel by year": Messy(
        file("country,year,gdp", [f"{c},{y},{y % 7 + n}" for n, c in enumerate(["LT", "LV", "EE"])
                                  for y in range(1990, 2020)]),
        error=("3 series, told apart by 'country'",),
    ),
    "a panel of two columns": Messy(
        file("shop,item,day,x", [f"s{s},i{i},{d:%Y-%m-%d},{v + s + i}" for s in range(2)
                                 for i in range(2) for d, v in zip(DAYS, VALUES, strict=True)]),
        error=("4 series, told apart by 'shop' and 'item' together",),
    ),
    "one of a panel": Messy(
        panel("north", "south"), VALUES + 1, options={"id": ("unique_id",), "only": "south"}
    ),
    "one of a panel of numbered series": Messy(
        panel("1", "2", header="shop,day,x"), VALUES + 1, options={"id": ("shop",), "only": "2"}
    ),
    "none of a panel": Messy(
        panel("north", "south"), error=("holds no 'soth' (option --only): did you mean 'south'",),
        options={"id": ("unique_id",), "only": "soth"},
    ),
    "no column of ids": Messy(
        panel("north", "south"), error=("no column 'unique' (option --id)", "did you mean"),
        options={"id": ("unique",), "only": "south"},
    ),
    "a panel summed": Messy(
        panel("north", "south"), 2 * VALUES + 1, notes=("their sum",),
        options={"duplicates": "sum"},
    ),
    "a year beside the dates": Messy(
        file("year,day,x", [f"{day.year},{row}" for day, row in
             zip(later("2022-12-20"), rows(days=later("2022-12-20")), strict=True)]),
        dates=later("2022-12-20"), options={"column": "x"},
    ),
    "a name beside the dates": Messy(
        file("weekday,day,x", [f"{day:%A},{row}" for day, row in zip(DAYS, rows(), strict=True)])
    ),
    "one id": Messy(panel("north")),
}  # fmt: skip

YEARS = pd.date_range("2019-01-01", periods=36, freq="MS")
BY_YEAR = np.round(100 + 10 * np.sin(np.arange(36)), 1)
NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905
FRENCH = (
    "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.".split()  # noqa: SIM905
)


def by_year(names=NAMES, values=BY_YEAR, first="Year", mark=",", years=range(2019, 2022)):
    """A row for each year; the end of the last one may be empty."""
    cells = np.reshape([str(one) for one in values], (3, -1))
    if mark == ";":
        cells = np.char.replace(cells, ".", ",")
    each = [mark.join([str(year), *row]) for year, row in zip(years, cells, strict=True)]
    return [mark.join([first, *map(str, names)]), *each]


ACROSS = {
    "years and months": Messy(
        file(by_year()), BY_YEAR, YEARS, ("rows of file.csv are years and columns months",)
    ),
    "years and months, the latest first": Messy(
        file(by_year()[:1], by_year()[:0:-1]), BY_YEAR, YEARS, ("are years and columns months",)
    ),
    "years and months in French, with decimal commas": Messy(
        file(by_year(FRENCH, mark=";", first="année")), BY_YEAR, YEARS,
        ("columns months", "decimal signs"),
    ),
    "years and numbers of months": Messy(
        file(by_year(range(1, 13))), BY_YEAR, YEARS, ("columns months",)
    ),
    "years and months, not all of the last": Messy(
        file(by_year()[:3], [",".join([*by_year()[3].split(",")[:9], "", "", "", ""])]),
        BY_YEAR[:32], YEARS[:32], ("columns months", "the series ends at 2021-08-01"),
    ),
    "years and months and their sums": Messy(
        file([f"{by_year()[0]},Total,Annual"], [f"{row},1200,100" for row in by_year()[1:]],
             [f"Average{13 * ',100'},"]),
        BY_YEAR, YEARS, ("'Total', 'Annual' are left out", "'Average', is left out"),
    ),
    "years and months without one year": Messy(
        file(by_year(years=(2018, 2020, 2021))),
        error=("gap|missing",),
    ),
    "years and quarters": Messy(
        file(by_year(["Q1", "Q2", "Q3", "Q4"], BY_YEAR[:12])), BY_YEAR[:12],
        pd.date_range("2019-01-01", periods=12, freq="QS"), ("columns quarters",),
    ),
    "one month of all years": Messy(
        file(by_year()), BY_YEAR[2::12], pd.date_range("2019-01-01", periods=3, freq="YS"),
        options={"column": "Mar"},
    ),
    "years and months, and more than sums": Messy(
        file([f"{by_year()[0]},rain"], [f"{row},{i * i}" for i, row in enumerate(by_year()[1:])]),
        error=("13 columns of numbers",),
    ),
    "months that begin with October": Messy(
        file(by_year(NAMES[9:] + NAMES[:9])), error=("12 columns of numbers",),
    ),
}  # fmt: skip

FILES = {
    **CELLS, **SIGNS, **NAMELESS, **AROUND, **BLANK_LINES, **UNREADABLE, **DOUBLED, **HOLES,
    **PANELS, **ACROSS,
}  # fmt: skip
