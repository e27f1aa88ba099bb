"""Where in a text its table is: comments, titles, units and notes around it are blanked.

Lines are blanked, not removed, so that those left keep their numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from echofold.cli.reading.header import DATE, counts_across, shape
from echofold.cli.reading.numbers import MISSING, is_value
from echofold.cli.reading.quantities import MONEY, dressed
from echofold.cli.reading.quote import shown
from echofold.cli.reading.separators import LINE, SAMPLE, aligned, cells_of, separator_of

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


@dataclass
class Layout:
    """The text of a table with blank lines around it, and the separator of its cells."""

    text: str
    separator: str | None


@dataclass
class Line:
    """A line of a text: where it is, and its cells."""

    start: int
    end: int
    cells: list[str]

    @property
    def filled(self) -> list[str]:
        """Cells that are not blank."""
        return [cell for cell in self.cells if cell]

    def text(self, whole: str) -> str:
        """The line itself."""
        return whole[self.start : self.end].strip()


def layout(text: str, note: Callable[[str], None]) -> Layout:
    """Find the table in a text, and say what of the text is left out."""
    forced = SEP.match(text)
    separator = None
    if forced:
        separator = forced[1]
        text = blanked(text, [(forced.start(), forced.end())])
        note(f"its first line says that cells are separated by {shown(separator)}.")
    comments = _comments(text)
    named = _say_comments(text, comments, note)
    whole, text = text, blanked(text, comments)
    separator = separator or separator_of(text)
    if separator is None:
        text, separator = aligned(text, note)
    if separator is None:  # a blank line is a missing value then, but not where a comment was
        breaks = [(end, end + 1 + (whole[end : end + 2] == "\r\n")) for _, end in comments]
        text = blanked(whole, [*comments, *breaks])
    lines = list(islice(lines_of(text, separator), SAMPLE[0]))
    widths = Counter(len(line.cells) for line in lines if len(line.filled) > 1 or not separator)
    width = widths.most_common(1)[0][0] if widths else 1
    data = _first_row(lines, width)
    if data is None:
        return Layout(text, separator)
    edits = _above(text, lines, data, width, separator, named, note)
    edits += _below(text, lines[data:], width, separator, note)
    return Layout(_edited(text, edits), separator)


def lines_of(text: str, separator: str | None, start: int = 0) -> Iterator[Line]:
    """Lines that are not blank, with their cells; a quoted cell may hold breaks."""
    for match in LINE.finditer(text, start):
        line = match[0]
        if not line.isspace():
            yield Line(*match.span(), cells_of(line, separator))


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Text without what is in some spans."""
    return _edited(text, [(*span, "") for span in spans])


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Text with some spans replaced."""
    if not edits:
        return text
    parts, at = [], 0
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _comments(text: str) -> list[tuple[int, int]]:
    """Where lines are comments; none if all are, for then these are no comments."""
    spans = _outside_quotes(text, [match.span() for match in COMMENT.finditer(text)])
    rest = blanked(text, spans)
    if not spans or not rest.strip():
        return []
    rows = _rows_among(text, spans, rest)
    return [span for span in spans if span not in rows]


def _say_comments(text: str, spans: list[tuple[int, int]], note: Callable[[str], None]) -> str:
    """Say which lines are comments; the last of those before the table."""
    if not spans:
        return ""
    first = shown(text[slice(*spans[0])].strip())
    what = "a comment" if len(spans) == 1 else "comments"
    note(f"{_lines_are(len(spans), first)} left out as {what}.")
    last, at = "", 0
    for start, end in spans:
        if not text[at:start].isspace() and text[at:start]:
            break
        last, at = text[start:end], end
    return last.strip().lstrip("#/% ")


def _outside_quotes(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those spans that do not begin within a quoted cell."""
    if '"' not in text:
        return spans
    kept, at, marks = [], 0, 0
    for start, end in spans:
        marks += text.count('"', at, start)
        at = start
        if marks % 2 == 0:
            kept.append((start, end))
            at = end
    return kept


def _rows_among(text: str, spans: list[tuple[int, int]], rest: str) -> set[tuple[int, int]]:
    """Spans below the header that are as wide as the table and hold a number: rows of names."""
    separator = separator_of(rest)
    if separator is None:
        return set()
    widths = Counter(len(line.cells) for line in islice(lines_of(rest, separator), SAMPLE[0]))
    width = max(widths, key=lambda one: (widths[one], one))
    at, rows = 0, set()
    below = False
    for start, end in spans:
        below = below or bool(text[at:start].strip())
        at = end
        cells = cells_of(text[start:end], separator) if below else []
        if len(cells) == width > 1 and any(map(is_value, cells[1:])):
            rows.add((start, end))
    return rows


def _lines_are(count: int, first: str) -> str:
    """The subject of a sentence about lines."""
    if count == 1:
        return f"the line {first} is"
    return f"{count} lines, the first {first}, are"


def _first_row(lines: list[Line], width: int) -> int | None:
    """The first line below the header, None if no line holds values."""
    named = False
    for i, line in enumerate(lines):
        counts = counts_across(line.cells) and not named
        if _is_data(line, width) and not counts and not _heads(line, lines[i + 1 : i + 4]):
            first = shape(line.cells[0])
            # Those before it that begin alike, as Jan 2023 and Feb 2023, may be without a value.
            while i and len(first) > 1 and "9" in first and shape(lines[i - 1].cells[0]) == first:
                i -= 1
            return i
        named = named or len(line.filled) == width
    return None


def _heads(line: Line, below: list[Line]) -> bool:
    """Whether a line with numbers in it is a header still: its first cell has none."""
    digit = re.compile(r"\d").search
    return not digit(line.cells[0]) and any(digit(other.cells[0]) for other in below)


def _is_data(line: Line, width: int) -> bool:
    """Whether a line is of the table, below its header: as wide, and with a value in it."""
    return len(line.cells) == width and any(is_value(cell) or dressed(cell) for cell in line.filled)


def _above(
    text: str,
    lines: list[Line],
    data: int,
    width: int,
    separator: str | None,
    named: str,
    note: Callable[[str], None],
) -> list[tuple[int, int, str]]:
    """Blank titles above the header and units below it, and complete the header."""
    above = lines[:data]
    if not above:
        names = cells_of(named, separator)
        if width > 1 and len(names) == width and all(names):
            note(f"the comment {shown(named)} is taken as the header.")
            return [(0, lines[0].start, named + "\n")]
        return []
    units: list[Line] = []
    while len(above) > 1 and _are_units(above[-1], width):
        units.insert(0, above.pop())
    header, titles = above[-1], above[:-1]
    if any(map(is_value, header.cells)) and titles and not counts_across(header.cells):
        return []  # a row of another width: reading will name it
    edits = [(line.start, line.end, "") for line in [*titles, *units]]
    if titles:
        first = shown(titles[0].text(text))
        note(f"{_lines_are(len(titles), first)} left out, above the header.")
    if units:
        note(f"{_lines_are(len(units), shown(units[0].text(text)))} left out, as units.")
    if separator is not None and len(header.cells) == width - 1 and all(header.cells):
        ends = all(not line.cells[-1] for line in lines[data:] if len(line.cells) == width)
        if ends:
            edits.append((header.end, header.end, separator))
        elif _are_row_names([line.cells for line in lines[data:] if len(line.cells) == width]):
            edits.append((header.start, header.start, separator))
            count = "1 name" if width == 2 else f"{width - 1} names"
            note(
                f"the header has {count} for {width} columns; the first is taken to be the one "
                "without a name."
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
    """Whether a line below a header holds units."""
    if len(line.cells) > width or not line.filled:
        return False
    return any(
        cell.lower() in UNITS or re.fullmatch(r"\(.{1,30}\)|\[.{1,30}\]", cell)
        for cell in line.filled
    ) and (not line.cells[0] or width == 1 or all(_is_unit(cell) for cell in line.filled))


def _is_unit(cell: str) -> bool:
    """Whether a cell beside a unit may be another."""
    bare = cell.strip("()[]").lower()
    return bare in UNITS or bare in MISSING or bool(re.fullmatch(r"\(.*\)|\[.*\]", cell))


def _below(
    text: str, table: list[Line], width: int, separator: str | None, note: Callable[[str], None]
) -> list[tuple[int, int, str]]:
    """Blank notes below the table."""
    shapes = {shape(line.cells[0]) for line in table if _is_data(line, width)}
    begin = max(table[0].end, len(text) - TAIL)
    if text.count('"', 0, begin) % 2:  # within a quoted cell
        begin = max(begin, text.find('"', begin) + 1)
    begin = max(table[0].end, text.find("\n", begin))
    found: list[Line] = []
    for line in reversed(list(lines_of(text, separator, begin))):
        if not _is_note(line, width, shapes):
            break
        found.append(line)
    if found:
        note(f"{_lines_are(len(found), shown(found[-1].text(text)))} left out, below the table.")
    return [(line.start, line.end, "") for line in found]


def _is_note(line: Line, width: int, shapes: set[str]) -> bool:
    """Whether a line is no row of a table but words below it."""
    if not line.filled:
        return False
    first = line.filled[0]
    if is_value(first) or dressed(first) or shape(first) in shapes or '"' in first:
        return False
    if not re.match(r"[^\W\d_]|[*†‡©(\[#¹²³]", first):
        return False
    if width == 1:
        return bool(re.search(r"[ :]", first))
    return len(line.filled) == 1 or len(line.cells) != width
