"""Where in a text its table is, and what of it is header and rows.

Comments, titles, units and notes around it are blanked, not removed, so that the lines that are
left keep their numbers.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
import pandas as pd

from echofold._data.text import Note, count, inflected, shown
from echofold.cli.reading.numbers import MISSING, MONEY, MONTHS, is_dressed, is_value, undress

SEPARATORS = (";", "\t", ",", "|")
SAMPLE = 200, 100_000  # lines, and characters of them, that a separator is found from
# A line with the breaks in its quoted cells; a mark inside a cell, as of inches, opens nothing.
# Possessive, so that no place is tried twice.
LINE = re.compile(r"""(?:[^\r\n"]++|(?<![^;,\t|\r\n])"[^"]*+(?:""[^"]*+)*+"|")++""")
OTHER_QUOTES = {pair[0]: pair for pair in ("''", "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb")}
ALIKE = 0.5  # share of lines, more than which a separator must cut alike
TAIL = 20_000  # characters at the end in which notes are looked for
SEP = re.compile(r'\s*"?sep=([;,|\t])"?[ \t]*(?=[\r\n])', re.IGNORECASE)
# Not what Excel writes for errors, which stand in the first column of some tables.
COMMENT = re.compile(r"^[ \t]*(?:#(?!N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|//|%)[^\r\n]*", re.M)
UNITS = {*MONEY, *"""
    % ‰ kwh mwh gwh twh wh kw mw gw w j kj mj gj kg g mg t kt mt lb lbs oz tonnes tons c f k °c °f
    degc m m2 m3 m² m³ km km2 km² cm mm mi ft in ha s sec min h hr hours days d l hl ml litres
    gal bbl million millions mln mio mio. mn bn billion billions thousand thousands tsd tsd. k€ m€
    t€ liters index units pcs pieces count number persons people hpa pa kpa bar m/s km/h mph ppm v a
    hz yyyy yyyy-mm-dd dd.mm.yyyy mm/dd/yyyy dd/mm/yyyy date - –
""".split()}  # noqa: SIM905  # fmt: skip
DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\b.*")
YEAR = re.compile(r"(1[5-9]|20|21)\d\d")
PARTS = re.compile(r"\d[-/]")  # of a date: a number has no such marks after a digit
TIME = re.compile(
    rf"{YEAR.pattern}([-./ ]?[QMW]?\d{{1,2}})?"
    rf"|({'|'.join(MONTHS)})[a-z]*[ .-]?(\d\d|{YEAR.pattern})",
    re.IGNORECASE,
)
DIGIT = re.compile(r"\d")
TOTAL = re.compile(
    r"(grand |sub-?|overall )?(total|sum|average|avg|mean)\b.{0,40}"
    r"|(summe|gesamt|insgesamt|durchschnitt|mittelwert|mittel|somme|moyenne|totale?|totaal|suma|media"
    r"|promedio|somma|gemiddelde|итого|всего|合計|合计)\b.{0,40}"
    r"|(min|max|minimum|maximum|std|stdev|st\.? ?dev|sd|median|count|n|var|variance)[.:]?",
    re.IGNORECASE,
)
REMARK = re.compile(r"[^\W\d_]|[*†‡©(\[#¹²³]")  # as words below a table begin
QUARTILE = re.compile(r"\d{1,2}(\.\d)?\s?%")  # between a minimum and a maximum
MOST_TOTALS = 12  # rows at the end, such as a sum, a mean and shares of them
Edit = tuple[int, int, str]  # from where to where a text is replaced, and by what


@dataclass
class Line:
    """A line of a text: where it is, its words, and its cells."""

    start: int
    end: int
    words: str
    cells: list[str]

    @property
    def filled(self) -> list[str]:
        """Cells that are not blank."""
        return [cell for cell in self.cells if cell]


def filled_lines(text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Lines that are not blank; a quoted cell may hold breaks."""
    return (line for line in LINE.finditer(text, start) if not line[0].isspace())


def _lines_of(text: str, separator: str | None, start: int = 0) -> Iterator[Line]:
    """The same with their cells."""
    for line in filled_lines(text, start):
        yield Line(*line.span(), line[0].strip(), _cells_of(line[0], separator))


def _cells_of(line: str, separator: str | None) -> list[str]:
    """Cells of a line without the spaces around them."""
    if separator is None:
        return [line.strip().strip('"').strip()]
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    reader = csv.reader([line], delimiter=separator, skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(reader, [])]
    except csv.Error:  # a cell longer than csv reads
        return [line]


def straight(text: str, note: Note) -> str:
    """Text with usual quotation marks, if those around the cells of its first line are others."""
    line = next(filled_lines(text[: SAMPLE[1]]), None)
    first = line[0].strip() if line else ""
    marks = OTHER_QUOTES.get(first[:1])
    if marks is None or '"' in text:
        return text
    start, end = map(re.escape, marks)
    if not re.fullmatch(rf"{start}[^{end}]*{end}(?:[;,\t|]{start}[^{end}]*{end})*", first):
        return text
    note(f"{marks[0]} and {marks[1]} around cells are read as quotation marks.")
    return re.sub(rf"(?<![^;,\t|\r\n]){start}|{end}(?![^;,\t|\r\n])", '"', text)


def table_in(text: str, note: Note, separator: str | None = None) -> tuple[str, str | None]:
    """The text of a table with blank lines around it, and its separator; says what is left out."""
    if forced := SEP.match(text):
        separator, text = forced[1], text[forced.end() :]
        note(f"its first line says that cells are separated by {shown(separator)}.")
    comments = _comments(text)
    edits = _left_out(comments, " as a comment" if len(comments) == 1 else " as comments", note)
    named, at = "", 0  # the last comment before the table
    for line in comments:
        if text[at : line.start].strip():
            break
        named, at = line.words.lstrip("#/% "), line.end
    whole, text = text, _edited(text, edits)
    separator = separator or _separator_of(text)
    if separator is None:
        text, separator = _aligned(text, note)
    if separator is None:  # a blank line is a missing value then, but not where a comment was
        ends = [line.end for line in comments]
        edits += [(end, end + 1 + (whole[end : end + 2] == "\r\n"), "") for end in ends]
        text = _edited(whole, edits)
    lines = list(islice(_lines_of(text, separator), SAMPLE[0]))
    widths = Counter(len(line.cells) for line in lines if len(line.filled) > 1 or not separator)
    width = widths.most_common(1)[0][0] if widths else 1
    data = _first_row(lines, width)
    if data is None:
        return text, separator
    edits = _above(lines, data, width, separator, named, note)
    edits += _below(text, lines[data:], width, separator, note)
    return _edited(text, edits), separator


def _separator_of(text: str) -> str | None:
    """The first of ``;``, tab, comma and ``|`` that cuts lines alike; None for one column."""
    sample: list[str] = []
    room = SAMPLE[1]
    for line in filled_lines(text):
        if len(sample) == SAMPLE[0] or (len(line[0]) > room and len(sample) > 1):
            break
        sample.append(line[0][: SAMPLE[1]])
        room -= len(line[0])
    widths = {}
    for one in SEPARATORS:
        try:
            reader = csv.reader(sample, delimiter=one, skipinitialspace=True)
            widths[one] = [len(row) for row in reader]
        except csv.Error:
            widths[one] = [line.count(one) + 1 for line in sample]
    for one, counts in widths.items():
        if counts[0] > 1 and len(set(counts)) == 1:
            return one
    rest = [line for line in sample if not _holds_one(line.strip())]
    cut_by = any(mark in line for line in rest for mark in SEPARATORS)
    if len(rest) <= max(1, len(sample) / 5) and not cut_by:
        return None  # a column with decimal commas, or with titles above
    shares = {}  # of lines that a separator cuts into the same number of cells, more than one
    for one, counts in widths.items():
        width, count = max(Counter(counts).items(), key=lambda pair: (pair[1], pair[0]))
        shares[one] = count / len(counts) if width > 1 else 0.0
    best = max(shares, key=lambda one: shares[one])
    if shares[best] > ALIKE:
        return best
    # The most frequent one: reading will then name the line that is odd.
    one, counts = max(widths.items(), key=lambda pair: sum(pair[1]))
    return one if max(counts) > 1 else None


def _holds_one(line: str) -> bool:
    """Whether a line is one number, by either decimal sign."""
    parts = undress(line)
    return parts is not None and any(math.isfinite(parts.value(sign)) for sign in ".,")


def _aligned(text: str, note: Note) -> tuple[str, str | None]:
    """Columns that stand under each other, between spaces; as it is if there are none."""
    sample = [line[0].strip() for line in islice(filled_lines(text), 50)]
    if len(sample) < 3 or all(_holds_one(line) for line in sample[1:]):
        return text, None
    for spaces in (r"[ \t]{2,}", r"[ \t]+"):
        counts = {len(re.split(spaces, line)) for line in sample}
        if len(counts) == 1 and counts != {1} and '"' not in text:
            note("cells are taken to be separated by spaces.")
            lines = (re.sub(spaces, "\t", line.strip()) for line in text.split("\n"))
            return "\n".join(lines), "\t"
    return text, None


def _left_out(lines: list[Line], why: str, note: Note) -> list[Edit]:
    """What blanks some lines; says which."""
    if lines:
        first, number = shown(lines[0].words), len(lines)
        what = f"the line {first} is" if number == 1 else f"{number} lines, the first {first}, are"
        note(f"{what} left out{why}.")
    return [(line.start, line.end, "") for line in lines]


def _edited(text: str, edits: list[Edit]) -> str:
    """Text with some spans replaced."""
    parts, at = [], 0
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _comments(text: str) -> list[Line]:
    """Lines that are comments; none if all are, for then these are no comments."""
    found, at, marks = [], 0, 0
    for match in COMMENT.finditer(text):
        marks += text.count('"', at, match.start())
        at = match.start()
        if marks % 2 == 0:  # not within a quoted cell
            found.append(Line(*match.span(), match[0].strip(), []))
            at = match.end()
    rest = _edited(text, [(line.start, line.end, "") for line in found])
    if not found or not rest.strip():
        return []
    separator = _separator_of(rest)
    if separator is None:
        return found
    widths = Counter(len(line.cells) for line in islice(_lines_of(rest, separator), SAMPLE[0]))
    width = max(widths, key=lambda one: (widths[one], one))
    kept, below, at = [], False, 0
    for line in found:
        below, at = below or bool(text[at : line.start].strip()), line.end
        # Below the header, as wide as the table and with a number: a row of names.
        cells = _cells_of(text[line.start : line.end], separator) if below else []
        if not (len(cells) == width > 1 and any(map(is_value, cells[1:]))):
            kept.append(line)
    return kept


def _first_row(lines: list[Line], width: int) -> int | None:
    """The first line below the header, None if no line holds values."""
    named = False
    for i, line in enumerate(lines):
        # A header still: it counts across, or its first cell has no digit as those below have.
        heads = _counts_across(line.cells) and not named
        heads = heads or (
            not DIGIT.search(line.cells[0])
            and any(DIGIT.search(other.cells[0]) for other in lines[i + 1 : i + 4])
        )
        if _is_data(line, width) and not heads:
            first = shape(line.cells[0])
            # Those before it that begin alike, as Jan 2023 and Feb 2023, may be without a value.
            while i and len(first) > 1 and "9" in first and shape(lines[i - 1].cells[0]) == first:
                i -= 1
            return i
        named = named or len(line.filled) == width
    return None


def _is_data(line: Line, width: int) -> bool:
    """Whether a line is of the table, below its header: as wide, and with a value in it."""
    return len(line.cells) == width and any(
        is_value(cell) or is_dressed(cell) for cell in line.filled
    )


def _above(
    lines: list[Line], data: int, width: int, separator: str | None, named: str, note: Note
) -> list[Edit]:
    """Blank titles above the header and units below it, and complete the header."""
    above = lines[:data]
    if not above:
        names = _cells_of(named, separator)
        if width > 1 and len(names) == width and all(names):
            note(f"the comment {shown(named)} is taken as the header.")
            return [(0, lines[0].start, named + "\n")]
        return []
    units: list[Line] = []
    while len(above) > 1 and _are_units(above[-1], width):
        units.insert(0, above.pop())
    header, titles = above[-1], above[:-1]
    if any(map(is_value, header.cells)) and titles and not _counts_across(header.cells):
        return []  # a row of another width: reading will name it
    edits = _left_out(titles, ", above the header", note) + _left_out(units, ", as units", note)
    if separator is not None and len(header.cells) == width - 1 and all(header.cells):
        table = [line.cells for line in lines[data:] if len(line.cells) == width]
        if not any(cells[-1] for cells in table):
            edits.append((header.end, header.end, separator))
        elif _are_row_names(table):
            edits.append((header.start, header.start, separator))
            note(
                f"the header has {count(width - 1, 'name')} for {width} columns; the first is "
                "taken to be the one without a name."
            )
    return edits


def _are_row_names(table: list[list[str]]) -> bool:
    """Whether the first cells count rows, or stand before dates: not where a number is cut."""
    first = [row[0] for row in table]
    if all(cell.isdecimal() for cell in first):
        counted = [int(cell[:9]) for cell in first]
        return counted[0] in (0, 1) and counted == list(range(counted[0], counted[0] + len(first)))
    dates = [[bool(DATE.fullmatch(cell)) for cell in row[:2]] for row in table]
    if len(table[0]) == 2:
        return all(one for one, _ in dates)  # one name is of the values
    return all(second for _, second in dates) and not any(one for one, _ in dates)


def _are_units(line: Line, width: int) -> bool:
    """Whether a line below a header holds units, and nothing else if its first cell is filled."""
    bracketed = {cell for cell in line.filled if re.fullmatch(r"\(.*\)|\[.*\]", cell)}
    bare = {cell.strip("()[]").lower() for cell in line.filled if cell not in bracketed}
    sure = any(cell.lower() in UNITS for cell in line.filled)
    sure = sure or any(3 <= len(cell) <= 32 for cell in bracketed)
    alone = not line.cells[0] or width == 1 or bare <= UNITS | MISSING
    return len(line.cells) <= width and sure and alone


def _below(
    text: str, table: list[Line], width: int, separator: str | None, note: Note
) -> list[Edit]:
    """Blank notes below the table."""
    shapes = {shape(line.cells[0]) for line in table if _is_data(line, width)}
    begin = max(table[0].end, len(text) - TAIL)
    if text.count('"', 0, begin) % 2:  # within a quoted cell
        begin = max(begin, text.find('"', begin) + 1)
    begin = max(table[0].end, text.find("\n", begin))
    found: list[Line] = []
    for line in reversed(list(_lines_of(text, separator, begin))):
        first = line.filled[0] if line.filled else ""
        row = is_value(first) or is_dressed(first) or shape(first) in shapes or '"' in first
        words = REMARK.match(first) and (width > 1 or re.search("[ :]", first))
        if row or not words or (len(line.filled) > 1 and len(line.cells) == width):
            break
        found.insert(0, line)
    return _left_out(found, ", below the table", note)


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row holds names, given some of the rows below it."""
    missing = {cell for row in (first, *below) for cell in row if cell.lower() in MISSING}
    if all(is_dressed(cell) or is_value(cell) or (cell and cell in missing) for cell in first):
        return False
    under = [[row[i] for row in below if row[i] not in missing] for i in range(len(first))]
    columns = list(zip(first, under, strict=True))
    if any(DATE.fullmatch(cell) and any(map(DATE.fullmatch, under)) for cell, under in columns):
        return False
    if any(_is_word(cell) and any(map(is_value, under)) for cell, under in columns):
        return True
    # A year above other numbers and beside words is a name.
    others = [(cell, under) for cell, under in columns if not _is_word(cell)]
    year = len(others) == 1 and YEAR.fullmatch(others[0][0])
    one_year = year and not any(map(YEAR.fullmatch, others[0][1]))
    if _counts_across(first) or one_year or not below:
        return True
    if any(_is_number(cell) and any(map(_is_number, under)) for cell, under in columns):
        return False
    alike = [shape(cell) == shape(under[0]) for cell, under in columns if under and cell]
    return not (alike and all(alike) and any(map(DIGIT.search, first)))


def _counts_across(cells: Sequence[str]) -> bool:
    """Whether cells beside words are years or other whole numbers that count up, as names do."""
    whole = [int(cell[:9]) for cell in cells if cell.isdecimal()]
    if len(whole) < 2 or not any(_is_word(cell) for cell in cells):
        return False
    steps = {after - before for before, after in pairwise(whole)}
    years = all(YEAR.fullmatch(cell) for cell in cells if cell.isdecimal())
    return (years and min(steps) > 0) or (steps == {1} and len(whole) > 2)


def times_across(names: Sequence[str]) -> list[str]:
    """Names that are years or dates, if most are, for the time runs from left to right."""
    times = [name for name in names if TIME.fullmatch(name) or DATE.fullmatch(name)]
    return times if len(times) >= max(5, len(names) / 2) else []


def shape(cell: str) -> str:
    """A cell with letters and digits alike, to tell a date from a remark."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", cell[:100]))


def _is_number(cell: str) -> bool:
    """Whether a cell is a number, plain or dressed, and no date."""
    return is_dressed(cell) or (
        is_value(cell) and not DATE.fullmatch(cell) and not PARTS.search(cell)
    )


def _is_word(cell: str) -> bool:
    """Whether a cell is text without digits, and not a mark of a missing value."""
    return cell.lower() not in MISSING and not DIGIT.search(cell)


def without_extra_rows(frame: pd.DataFrame, note: Note) -> pd.DataFrame:
    """A table without rows that are no part of the series; says which."""
    again = np.full(len(frame), frame.shape[1] > 0)
    blank = np.full(len(frame), frame.shape[1] > 1)
    for one in frame.columns:
        again &= (frame[one] == one).to_numpy(dtype=bool)
        blank &= (frame[one] == "").to_numpy(dtype=bool)
        if not blank.any() and not again.any():
            break
    for gone, what in ((blank, "nothing"), (again, "the names of the columns again")):
        if gone.any():
            rows = inflected(gone.sum(), "1 row holds", "{} rows hold")
            are = inflected(gone.sum(), "is", "are")
            note(f"{rows} {what}, the first in row {gone.argmax() + 1}, and {are} left out.")
    frame = frame[~(again | blank)]
    totals = _totals(frame)
    if totals:
        word, number = shown(totals[-1][1]), len(totals)
        rows = f"row, {word}, is" if number == 1 else f"{number} rows, from {word} on, are"
        note(f"the last {rows} left out.")
    return frame.iloc[: len(frame) - len(totals)]


def _totals(frame: pd.DataFrame) -> list[tuple[int, str]]:
    """Place and text of the first cell of each last row that is a total of those above it."""
    tail, totals = frame.iloc[-MOST_TOTALS - 1 :, :100], list[tuple[int, str]]()
    for row in reversed(range(len(tail))):
        filled = [(i, str(cell)) for i, cell in enumerate(tail.iloc[row]) if str(cell).strip()]
        words = [cell.strip() for _, cell in filled]
        dated = any(is_value(cell) and re.search(r"\d[-/]\d", cell) for cell in words[1:])
        quartile = totals and frame.shape[1] > 1 and words and QUARTILE.fullmatch(words[0])
        if not quartile and not (words and TOTAL.fullmatch(words[0]) and not dated):
            break
        totals.append(filled[0])
    above = frame.iloc[: len(frame) - len(totals)]
    # Names of series begin earlier rows too.
    ids = any((above.iloc[:, place] == cell).any() for place, cell in totals)
    return [] if ids or len(totals) == len(tail) else totals
