"""Numbers as people write them: plain, with money, units and marks, with either decimal sign."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold._data.text import shown

CHUNK = 10_000  # cells that are Python strings at a time
LARGEST = 1e100  # of a value: its square, and the sum of many of them, are numbers still
TOO_LARGE = (
    f"too large to compute with; correct it, or divide the column: up to {LARGEST:g} will do."
)
MISSING = {
    "", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "?", ".", "\u2013", "\u2014", ":",
    "..", "...", "***", "#n/a n/a", "\\n", "<na>", "#div/0!", "#value!", "#ref!", "#num!", ": c",
}  # fmt: skip
LONGEST_MARK = max(map(len, MISSING))
# Each pattern can cut a cell in one way only, else a cell of a million digits would take hours.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?,\d+([eE][+-]?\d+)?")  # 1.234,5
POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")  # 1.234 beside 12,5
# 1,234.5 or 1,23,456
THOUSANDS = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d{1,2}(,\d{2})+,\d{3})(\.\d*)?")
SPACES = re.compile(r"(?<=\d)[\s'’](?=\d{3}(\D|$))")  # 1 234, 1'234
WHOLE = 2.0**53  # up to which floats hold every whole number
MONEY = {*"$€£¥₹₽₩₺₪₫₴฿¢", *"""
    usd eur gbp jpy inr chf cny rmb aud cad nzd sek nok dkk isk pln czk huf ron bgn rub uah try ils
    brl mxn ars clp cop pen zar krw hkd sgd twd thb idr myr php vnd aed sar egp ngn kes us$ a$ c$
    nz$ hk$ s$ r$ nt$ rs rs. fr fr. sfr sfr. kr kr. zł kč ft lei
""".split()}  # noqa: SIM905  # fmt: skip
MOST_UNITS = 100  # that are told apart in a column
LONGEST = 60  # characters of a dressed number
# From the first digit on. One class of characters, so that a cell can be cut in one way only.
DIGITS = re.compile(r"\d[\d.,'’\s]*")
POWER = re.compile(r"[eE][+-]?\d+")
MARKS = "*†‡§¹²³⁴⁵⁶⁷⁸⁹⁰ª"
NOTE = re.compile(r"\[\w{1,3}\]|\((?:p|r|e|b|s)\)", re.IGNORECASE)
FLAGS = {"p", "r", "e", "b", "s", "u", "c", "f", "d"}  # provisional, revised, estimated, ...
UNSURE = {"c", "f"}  # degrees, where another flag is there too
CAPITALS = set("KMBCFT")  # thousands, millions, degrees: never the flag of the small letter
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
NO_UNIT = {*MONTHS, "am", "pm", "x"}
UNIT = re.compile(r"[^\W\d_]{1,10}[23²³]?(/[^\W\d_]{1,10}[23²³]?)?|°[CFK]?|[%‰]", re.IGNORECASE)
UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # 1.054, 1,054
PLAIN = re.compile(r"[+-]?[\d.,]+")
ZERO_FIRST = re.compile(r"[+-]?0[.,]\d+")  # 0,125 is never a thousand
IN_VAIN = 1000  # cells with commas or points after which a column is taken for text
NEARER = 1000**0.5  # times a neighbour such as 1.054, from which on a whole number is nearer 1054
TWO_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3}){2,}")  # 1.234.567


def each_cell(column: pd.Series) -> Iterator[str]:
    """Cells as text, empty where missing; one by one, for a list takes many times their bytes."""
    for start in range(0, len(column), CHUNK):
        for cell in column.iloc[start : start + CHUNK].tolist():
            if not isinstance(cell, str):  # of Parquet
                cell = "" if pd.api.types.is_scalar(cell) and pd.isna(cell) else str(cell)
            yield cell.strip().replace("\u2212", "-")


def distinct_cells(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """The cells as text, each once, and which of them every row has.

    A text of Python takes many times the bytes of its cell, so that there is none for each row.
    """
    try:
        places, cells = pd.factorize(column, use_na_sentinel=False)
    except TypeError:  # lists in the cells of a Parquet file
        places, cells = np.arange(len(column)), column
    again, texts = pd.factorize(np.array([*each_cell(pd.Series(cells))], dtype=object))
    return again[places], texts.tolist()


def number_in(cell: str, decimal: str) -> float:
    """The value of a cell, NaN if it is missing, infinite if it is something else or too large."""
    if len(cell) <= LONGEST_MARK and cell.lower() in MISSING:
        return math.nan
    if NUMBER.fullmatch(cell) and not (decimal == "," and "." in cell):
        return float(cell)  # most are plain, and need no further look
    cell = SPACES.sub("", cell)
    if decimal == "," and (COMMA.fullmatch(cell) or POINTS.fullmatch(cell)):
        cell = cell.replace(".", "").replace(",", ".")
    elif decimal == "." and THOUSANDS.fullmatch(cell):
        cell = cell.replace(",", "")
    return float(cell) if NUMBER.fullmatch(cell) else math.inf


def is_value(cell: str) -> bool:
    """Whether a cell looks like a number or a date, and not like the name of a column."""
    cell = SPACES.sub("", cell[:100])
    number = any(form.fullmatch(cell) for form in (NUMBER, COMMA, THOUSANDS, POINTS))
    return number or bool(re.match(r"\d{1,4}[-./]\d{1,2}([-./]\d{1,4})?\b", cell))


def whole(values: np.ndarray) -> bool:
    """Whether all values are there and are whole numbers of which floats hold every one."""
    return between(values, -WHOLE, WHOLE) and not (values % 1).any()


def between(values: np.ndarray, low: float, high: float) -> bool:
    """Whether all values are there and within limits."""
    return bool(((values >= low) & (values <= high)).all())


class Dressed(NamedTuple):
    """A cell cut up: the number as text, and what stood around it."""

    bare: str
    negative: bool
    around: str  # money, a unit or a per cent sign, in lower case but for K, M, B, C, F and T
    marks: str

    def value(self, decimal: str) -> float:
        """The number, infinite if the text is none; its unit is not looked at."""
        value = number_in(self.bare, decimal)
        return -value if self.negative and math.isfinite(value) else value


def undress(cell: str) -> Dressed | None:
    """A dressed number, such as ``($1,234)`` or ``12.5 kg*``, in its parts; None for other text."""
    found = DIGITS.search(cell) if len(cell) <= LONGEST else None
    if found is None:
        return None
    before, bare, after = cell[: found.start()], found[0].rstrip(), cell[found.end() :].strip()
    if before[-1:] in (".", ",") and not before[-2:-1].isalpha():
        before, bare = before[:-1], before[-1] + bare
    if power := POWER.match(after):
        bare, after = bare + power[0], after[power.end() :]
    after, marks = _without_marks(after)
    before = before.strip()
    negative = "(" in before and ")" in after
    if negative:
        before, after = before.replace("(", "", 1), after.replace(")", "", 1)
    for sign in ("-", "+"):
        if before.count(sign) == 1 and not negative and sign in (before[0], before[-1]):
            before, negative = before.replace(sign, ""), sign == "-"
    if after[:1] == "-" and not negative and after[1:].strip().lower() in {"", "%", *MONEY}:
        after, negative = after[1:], True
    before, after = before.strip().lower(), after.strip()
    known = after.lower() in MONEY or (UNIT.fullmatch(after) and after.lower() not in NO_UNIT)
    if (before and (after or before not in MONEY)) or (after and not known):
        return None
    after = "K" if after == "k" else after if after in CAPITALS else after.lower()
    return Dressed(bare, negative, before or after, marks)


def _without_marks(text: str) -> tuple[str, str]:
    """Text without the marks of footnotes at its end, and these."""
    bare = text.rstrip("*†‡§ ")
    if bare and bare.strip(MARKS) == "":
        return "", text  # raised digits alone are no unit
    marks = text[len(bare) :].strip()
    end = NOTE.search(bare, max(0, len(bare) - 5))
    if end and end.end() == len(bare):
        return bare[: end.start()].strip(), end[0] + marks
    return bare, marks


def is_dressed(cell: str) -> bool:
    """Whether a cell is a number with a sign of money, per cent, brackets or a mark around it."""
    parts = undress(cell)
    return parts is not None and bool(
        parts.negative or parts.marks or parts.around == "%" or parts.around in MONEY
    )


class Numbers(NamedTuple):
    """Values of a column, NaN where missing, and how its cells were read."""

    values: np.ndarray
    wrong: np.ndarray  # the positions that hold something else
    notes: list[str] = []
    clash: str = ""  # two cells that cannot be of one column


def numbers_of(column: pd.Series, sign: Sign) -> Numbers:
    """A column as numbers: of text plain or dressed, and none of dates."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return Numbers(np.full(len(column), np.nan), np.arange(len(column)))
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
    else:
        read = (number_in(cell, sign.decimal) for cell in each_cell(column))
        values = np.fromiter(read, float, len(column))
    notes, clash = list[str](), ""
    odd = np.flatnonzero(np.isinf(values))
    # Of most texts none of the first cells is a number in dress.
    if any(map(undress, each_cell(column.iloc[odd[:20]]))):
        plain = np.flatnonzero(np.isfinite(values) & (values != 0))[:1].tolist()
        values[odd], notes, clash = _undressed(column, odd, plain, sign.decimal)
    wrong = np.isinf(values)
    values = np.where(wrong, np.nan, values)
    if sign.words and not np.isnan(values).all():
        notes = [sign.words, *notes]
    return Numbers(values, np.flatnonzero(wrong), notes, clash)


def _undressed(
    column: pd.Series, odd: np.ndarray, plain: list[int], decimal: str
) -> tuple[np.ndarray, list[str], str]:
    """Values of ``odd`` cells, more than plain numbers, infinite for others; notes, and a clash.

    ``plain`` is the row of a plain number other than zero, if there is one. All units must be the
    same and in every cell; money may stand in some, as accountants write it.
    """
    cells = column.iloc[odd]
    around, first = Counter[str](), dict[str, int]()
    for row, one in zip(odd.tolist(), map(undress, each_cell(cells)), strict=True):
        if one is not None and len(around) < MOST_UNITS:
            around[one.around] += 1
            if one.around or one.value(decimal):
                first.setdefault(one.around, row)
    flags = FLAGS if plain or around[""] else set()
    if len(flags & around.keys()) > 1:
        flags = flags - UNSURE
    units = [name for name, _ in around.most_common() if name and name not in flags]
    usual = units[0] if units else ""
    values = np.full(len(cells), np.inf)
    if len(units) > 1 or (usual and usual not in MONEY and (plain or "" in first)):
        both = [first[name] for name in (*units, "") if name in first] + plain
        clash = " and ".join(f"{shown(column.iloc[row])} in row {row + 1}" for row in both[:2])
        return values, [], clash
    unit_words = "in per cent" if usual == "%" else f"without {shown(usual)}"
    words = unit_words, "without the mark of a footnote", "as a negative number"
    notes: dict[str, str] = {}
    for place, cell in enumerate(each_cell(cells)):
        one = undress(cell)
        value = one.value(decimal) if one else math.inf
        if one is None or not math.isfinite(value):
            continue
        values[place] = value
        unit, marks = ("", one.around) if one.around in flags else (one.around, one.marks)
        there = unit, marks, one.negative and cell[0] != "-"
        for how in (how for how, so in zip(words, there, strict=True) if so and how not in notes):
            notes[how] = f"{shown(cell)} is read as {value:.12g}, {how}, and so are cells like it"
    return values, list(notes.values()), ""


class Sign(NamedTuple):
    """The decimal sign of a column, and what is to be said of it."""

    decimal: str = "."
    words: str = ""


def signs_of(frame: pd.DataFrame, separator: str | None) -> dict[str, Sign]:
    """The sign of each column of text by its name."""
    seen = {name: _kinds(each_cell(frame[name])) for name in frame}
    return {name: _sign(frame[name], kinds, separator, seen) for name, kinds in seen.items()}


def _kinds(cells: Iterator[str]) -> dict[str, str]:
    """The first cell of each kind, up to one that leaves no doubt about the decimal sign."""
    first: dict[str, str] = {}
    in_vain = 0
    for cell in cells:
        kind = _kind(cell)
        if kind:
            first.setdefault(kind, cell)
        elif not first and ("," in cell or "." in cell):
            in_vain += 1
        if kind in (",", ".") or in_vain == IN_VAIN:
            break
    return first


def _kind(cell: str) -> str:
    """The decimal sign that a cell proves, or ``,?`` or ``.?`` where it may be of thousands.

    Whole numbers of up to three digits, but zero, are ``small``, longer ones ``large``; text is
    of no kind.
    """
    if "," not in cell and "." not in cell:
        if not cell or (not cell.isdecimal() and cell[0].isdecimal() and cell[-1].isdecimal()):
            return ""  # most dates, which need no further look
        digits = _bare(cell).lstrip("+-")
        if not digits.isdecimal():
            return ""
        return "large" if len(digits) > 3 else "small" if digits.strip("0") else ""
    bare = _bare(cell)
    if "," in bare:
        comma, thousands = COMMA.fullmatch(bare), THOUSANDS.fullmatch(bare)
        if comma and thousands and not ZERO_FIRST.match(bare):
            return ",?"
        return "," if comma else "." if thousands else ""
    if "." in bare and NUMBER.fullmatch(bare):
        return ".?" if UNCLEAR.fullmatch(bare) else "."
    return "," if TWO_POINTS.fullmatch(bare) else ""


def _bare(cell: str) -> str:
    """A number without spaces and without what stands around it; other text as it is."""
    if PLAIN.fullmatch(cell):
        return cell
    parts = undress(cell)
    return SPACES.sub("", cell if parts is None else parts.bare)


def _grouped(cells: Iterator[str]) -> bool:
    """Whether cells such as 1.054 are rather thousands: neighbours are nearer each other then."""
    ratios, whole, count, before = [], 0, 0, None
    for cell in cells:
        bare = _bare(cell).lstrip("+-")
        marked = bool(UNCLEAR.fullmatch(bare))
        if not (marked or bare.isdecimal()) or not bare.strip("0"):
            continue
        size = float(bare.replace(",", "."))
        if before is not None and before[1] != marked:
            ratios.append(math.log(before[0] / size if marked else size / before[0]))
        before, whole, count = (size, marked), whole + (not marked), count + 1
    # Whole numbers are no accident where they are many: less is asked of them then.
    asked = math.log(NEARER) * (1 - whole / count / 2)
    return sum(ratios) > asked * len(ratios)


def _sign(
    column: pd.Series, kinds: dict[str, str], separator: str | None, seen: dict[str, dict[str, str]]
) -> Sign:
    """The sign of a column with these ``kinds`` of cells, in a file where those were ``seen``."""
    if proof := kinds.get(","):
        what = "commas are read as decimal signs"
        what = what if "," in proof else "points are read as of thousands"
        return Sign(",", f"{what}, as in {shown(proof)}; see --decimal")
    cell = kinds.get(",?") or kinds.get(".?")
    if "." in kinds or not cell or ("large" in kinds and ",?" not in kinds):
        return Sign()
    small = kinds.get("small")
    grouped = _grouped(each_cell(column)) if small and "large" not in kinds else None
    mark, name, other = (",", "comma", ".") if ",?" in kinds else (".", "point", ",")
    # What is between commas and has one itself stands in quotes, and is rather English.
    proofs = [sign for one in seen.values() for sign in ",." if mark in one.get(sign, "")]
    elsewhere = next(iter(proofs), "") or (other if mark == "," == separator else mark)
    thousands = grouped or elsewhere == other
    words = ["a decimal sign", "of thousands"]
    closer = f", which fits whole numbers such as {shown(small)} better"
    return Sign(
        other if thousands else mark,
        f"the {name} in {shown(cell)} is read as {words[thousands]}"
        f"{closer * (grouped == thousands)}; if it is {words[not thousands]}, give --decimal "
        f"{mark if thousands else other}",
    )
