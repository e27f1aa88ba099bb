"""Files as they go wrong: well-formed tables of many layouts, and seeded ways to damage them."""

import io
import random
import re

import numpy as np
import pandas as pd

ROWS = 60
FRENCH = ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct."]
FRENCH += ["nov.", "déc."]
LARGEST = 2_000_000  # bytes
CELLS = [
    "1e308", "-1e308", "1e999", "-1e999", "-0", "0", "9" * 400, "9" * 19, "-9223372036854775809",
    "NaN", "inf", "-Infinity", "", " ", "null", "#REF!", "-", "--", "1,5", "1.234,5", "1,234.5",
    "1 234", "１２", "٣", "²", "0x10", "1_000", "1e", "e5", ".", "+", "True", "None", "x" * 70_000,
    '"', '""', "'", '"a', "a\nb", '"a\nb"', "\\", "$x$", "<b>", "%s", "{}", "\ud7ff", "\U0001f600",
    "\u2028", "\u00a0", "\x0b", "\x0c", "\x1c", "\x85", "\x1b[2J", "\x00", "\x7f", "\ufeff",
    "−5", "5%", "€5", "$5", "(5)", "5-", "5 kg", "5*", "5 p", "5[1]", "($1,234)", "5 % *", "Total",
    "kWh", "1e-320", "4.9e-324", "1" + "0" * 3000, "0." + "0" * 3000 + "1",
]  # fmt: skip
DATES = [
    "0001-01-01", "9999-12-31", "2204-01-05", "1920-01-05", "20244-01-05", "-2024-01-05",
    "2024-02-30", "2024-13-01", "2024-00-00", "2016-12-31 23:59:60", "2024-01-05T25:00:00",
    "2024-01-05T10:00:00+99:99", "2024-01-05T10:00:00Z", "2024-01-05 10:00:00+02:00",
    "2024-W54", "2024-Q5", "2024Q0", "1677-09-21", "2262-04-12", "1e9", "99999999", "15000101",
    "01/02/03", "31/12/2024", "12/31/2024", "2024-01-05 10:00:00.123456789", "1700000000",
    "janv. 2024", "49-Jan", "Jan-49", "1Q24", "Q9 2024", "2024M13", "1949.1", "1949.083",
    "²/1/2024", "29 févr. 2023", "31/02/49", "24:00", "10:30", "01/02/2021 25:61", "45000.5",
    "194913", "５/٣/2024",
    "Total", "Monday", "today", "now", "NaT", "5 Jan", "2024", "0", "-1", "1000000000", "1e18",
]  # fmt: skip


def originals(parquet=True):
    """Well-formed files by name: separators, decimal signs, dates, quotes and encodings."""
    values = np.round(100 + 10 * np.sin(np.arange(ROWS)), 2)
    days = pd.date_range("2023-01-02", periods=ROWS)
    hours = pd.date_range("2024-03-30", periods=ROWS, freq="30min")
    night = pd.date_range("2024-10-27", periods=ROWS, freq="30min")
    months = pd.date_range("1950-01-01", periods=ROWS, freq="MS")
    comma = [f"{value:.2f}".replace(".", ",") for value in values]
    texts = {
        "iso": _lines(",", day=days.strftime("%Y-%m-%d"), visits=values),
        "german": _lines(";", Datum=days.strftime("%d.%m.%Y"), Größe=comma),
        "american": _lines(",", date=days.strftime("%m/%d/%Y"), sales=values, note=["a b"] * ROWS),
        "tabs": _lines("\t", t=hours.strftime("%Y-%m-%d %H:%M"), load=values),
        "bars": _lines("|", t=hours.strftime("%Y-%m-%dT%H:%M:%SZ"), load=values),
        "zones": _lines(",", t=[f"{h:%Y-%m-%dT%H:%M:%S}+02:00" for h in hours], load=values),
        "seconds": _lines(",", t=pd.date_range("2024-01-01", periods=ROWS, freq="s"), x=values),
        "months": _lines(",", month=months.strftime("%b %Y"), x=values),
        "quarters": _lines(",", q=[f"{1990 + i // 4}Q{i % 4 + 1}" for i in range(ROWS)], x=values),
        "weeks": _lines(",", w=[f"2021-W{i + 1:02d}" for i in range(52)], x=values[:52]),
        "years": _lines(",", year=range(1900, 1900 + ROWS), x=values),
        "compact": _lines(",", day=days.strftime("%Y%m%d"), x=values),
        "business": _lines(",", day=pd.bdate_range("2023-01-02", periods=ROWS), x=values),
        "numbered": _lines(",", id=range(1, ROWS + 1), x=values),
        "one column": "x\n" + "\n".join(map(str, values)) + "\n",
        "no header": "\n".join(f"{i};{value}" for i, value in enumerate(values)),
        "quoted": _lines(",", d=days.strftime('"%B %d, %Y"'), n=[f'"1,{v:06.2f}"' for v in values]),
        "missing": _lines(",", day=days.strftime("%Y-%m-%d"), x=["", "NA", *values[2:]]),
        "wide": _lines(",", day=days, **{f"c{i}": values + i for i in range(30)}),
        "slashes": _lines(",", date=months.strftime("%d/%m/%Y"), x=values),
        "two digits": _lines(",", month=months.strftime("%b-%y"), x=values),
        "named": _lines(";", Datum=days.strftime("%a, %d. %B %Y"), x=values),
        "French": _lines(",", mois=[f"{FRENCH[d.month - 1]} {d.year}" for d in months], x=values),
        "epoch": _lines(",", t=hours.as_unit("s").asi8, x=values),
        "milliseconds": _lines(",", t=hours.as_unit("ms").asi8, x=values),
        "Excel": _lines(",", date=range(45_000, 45_000 + ROWS), x=values),
        "Excel hours": _lines(",", date=[f"{45_000 + i / 24:.5f}" for i in range(ROWS)], x=values),
        "yyyymm": _lines(",", m=months.strftime("%Y%m"), x=values),
        "point": _lines(",", m=[f"{d.year}.{d.month}" for d in months], x=values),
        "decimal": _lines(",", time=[f"{1950 + i / 12:.3f}" for i in range(ROWS)], x=values),
        "parts": _lines(",", Year=months.year, Month=months.strftime("%B"), x=values),
        "year and week": _lines(",", Year=[2021] * 52, Week=range(1, 53), x=values[:52]),
        "date and time": _lines(
            ",", Date=hours.strftime("%m/%d/%Y"), Time=hours.strftime("%I:%M %p"), x=values
        ),
        "letters": _lines(",", q=[f"Q{i % 4 + 1} {90 + i // 4}" for i in range(40)], x=values[:40]),
        "money": _lines(";", day=days, x=[f"{german} €" for german in comma]),
        "per cent": _lines(",", day=days, x=[f"{value}%" for value in values]),
        "brackets": _lines(",", day=days, x=[f"({v})" if v < 100 else f"{v}*" for v in values]),
        "units": _lines(",", day=days, x=[f"{value} kg" for value in values]),
        "titles": "sep=;\nVisits\n\n# made here\n"
        + _lines(";", day=["", *days], x=["(kWh)", *values])
        + "Total;6000\n\nSource: Museum, Kaunas\n",
        "spaces": _lines("   ", day=days.strftime("%Y-%m-%d"), x=values),
        "no name": "day,x\n" + _lines(",", i=range(ROWS), d=days, v=values).partition("\n")[2],
        "again": _lines(",", day=days[:30], x=values[:30])
        + _lines(",", day=days[30:], x=values[30:]),
        "twice": _lines(",", day=[*days, *days[:5]], x=[*values, *values[:5]]),
        "clock": _lines(",", t=[*night[:6], *night[4:]], load=[*values, 1, 2]),
        "panel": _lines(
            ",", unique_id=["a"] * ROWS + ["b"] * ROWS, ds=[*days, *days], y=[*values, *values + 1]
        ),
        "apart": _lines(
            ",", shop=["a"] * 30 + ["b"] * 30, day=[*days[:30], *days[30:].shift(99)], x=values
        ),
        "windows": _lines(",", day=days.strftime("%d-%b-%y"), x=values).replace("\n", "\r\n"),
    }  # fmt: skip
    files = {name: text.encode() for name, text in texts.items()}
    files["mark"] = texts["german"].encode("utf-8-sig")
    files["latin"] = texts["german"].encode("cp1252")
    files["utf-16"] = texts["iso"].encode("utf-16")
    files["utf-16 big"] = b"\xfe\xff" + texts["german"].encode("utf-16-be")
    if parquet:
        frame = pd.DataFrame({"day": days, "x": values, "n": range(ROWS), "word": ["w"] * ROWS})
        for name, table in (("parquet", frame), ("parquet index", frame.set_index("day"))):
            written = io.BytesIO()
            table.to_parquet(written, compression="none" if name == "parquet" else "snappy")
            files[name] = written.getvalue()
    return files


def _lines(separator, **columns):
    """A table as text; cells come with their quotes."""
    rows = zip(*columns.values(), strict=True)
    return "\n".join(separator.join(map(str, row)) for row in (columns, *rows)) + "\n"


def damaged(seed, files):
    """One of the files after one to four mutations: its name and the bytes."""
    rng = random.Random(seed)
    name = rng.choice(list(files))
    content = files[name]
    ways = BYTES if name.startswith("parquet") else [*BYTES, *TEXTS * 3]
    for _ in range(rng.choice([1, 1, 2, 4])):
        way = rng.choice(ways)
        content = way(rng, content) if way in BYTES else _as_text(way, rng, content)
    return name, content[:LARGEST]


def _as_text(way, rng, content):
    """Change the text of a file, in the encoding that it has."""
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    encoding = "utf-16" if wide else "utf-8"
    text = way(rng, content.decode(encoding, errors="replace" if wide else "surrogateescape"))
    return text.encode(encoding, errors="replace" if wide else "surrogateescape")


# --- bytes --------------------------------------------------------------------------------------


def flip(rng, content):
    out = bytearray(content)
    for _ in range(rng.choice([1, 1, 3, 20])):
        if out:
            out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def truncate(rng, content):
    return content[: rng.randrange(len(content) + 1)]


def cut_out(rng, content):
    a, b = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:a] + content[b:]


def insert(rng, content):
    piece = rng.choice(
        [
            b"\0",
            b"\xff",
            b"\xc3",
            b"\xe2\x82",
            b"\xed\xa0\x80",
            b"\n" * 50,
            b"\r",
            b'"',
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"PAR1",
            bytes(range(256)),
        ]
    )
    at = rng.choice([0, len(content), rng.randrange(len(content) + 1)])
    return content[:at] + piece + content[at:]


def twice(rng, content):
    return content + content


# --- lines, cells, headers ----------------------------------------------------------------------


def _change(rng, lines, change):
    """Change one cell (never of an empty table) in each of some lines."""
    mark = max(",;\t|", key=lines[0].count) if lines else ","
    for at in rng.sample(range(len(lines)), min(len(lines), rng.choice([1, 1, 2, 30]))):
        cells = lines[at].split(mark)
        cells[rng.randrange(len(cells))] = change(mark)
        lines[at] = mark.join(cells)
    return "\n".join(lines)


def odd_cell(rng, text):
    return _change(rng, text.split("\n"), lambda _: rng.choice(CELLS))


def odd_date(rng, text):
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    lines[at] = re.sub(r"^[^,;\t|]*", lambda _: rng.choice(DATES), lines[at])
    return "\n".join(lines)


def odd_year(rng, text):
    return re.sub(
        r"\b(19|20)\d\d\b",
        lambda found: str(rng.choice([1, 1500, 1677, 1920, 2204, 2262, 2300, 9999, int(found[0])])),
        text,
        count=rng.choice([1, 5]),
    )


def more_cells(rng, text):
    return _change(rng, text.split("\n"), lambda mark: mark * rng.choice([1, 1, 2, 2, 9, 2000]))


def header(rng, text):
    first, _, rest = text.partition("\n")
    names = [
        "",
        "x",
        "x,x",
        "1,2",
        "a" * 100_000,
        "x;y",
        '"',
        "\x00",
        "día",
        "$a$,b",
        "\n",
        "_",
        "\ufeff",
    ]
    names += [",".join(f"c{i}" for i in range(3000)), "," * 30_000]
    return rng.choice(names) + "\n" + rng.choice([rest, first + "\n" + rest, ""])


def shuffle_lines(rng, text):
    lines = text.split("\n")
    rng.shuffle(lines)
    return "\n".join(lines)


def repeat_line(rng, text):
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    return "\n".join([*lines[:at], *[lines[at]] * rng.choice([1, 3, 3000]), *lines[at:]])


def drop_lines(rng, text):
    share = rng.choice([0.02, 0.5, 0.95])
    return "\n".join(line for line in text.split("\n") if rng.random() > share)


def odd_line(rng, text):
    lines = text.split("\n")
    piece = rng.choice(
        [
            "",
            " ",
            "# comment",
            "sep=;",
            "sep=|",
            "Total",
            "Total,5",
            ",(kWh)",
            "// x",
            "% x",
            "Source: x, y, z",
            "day,x",
            "#",
            ",,,",
            ";;;;;;;;;;",
            '"',
            "=" * 5000,
            "\t",
        ]
    )
    at = rng.choice([0, len(lines), rng.randrange(len(lines) + 1)])
    return "\n".join([*lines[:at], piece, *lines[at:]])


def swap_marks(rng, text):
    pair = rng.choice([",;", ";,", ",.", ".,", ",|", ",\t", "\n\r", "-/", ":.", "0٠", '" ', "1I"])
    return text.replace(pair[0], pair[1])


def quote(rng, text):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(['"', '""', '"' * 999, "'"]) + text[at:]


BYTES = [flip, truncate, cut_out, insert, twice]
TEXTS = [
    odd_cell, odd_cell, odd_date, odd_date, odd_year, more_cells, header, shuffle_lines,
    repeat_line, drop_lines, odd_line, swap_marks, quote,
]  # fmt: skip
