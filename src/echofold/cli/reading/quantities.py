"""Numbers in dress: per cent, money, units, brackets for negatives, and marks of footnotes."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold.cli.reading.each import each_cell
from echofold.cli.reading.numbers import number
from echofold.cli.reading.quote import shown

SIGNS = "$€£¥₹₽₩₺₪₫₴฿¢"
CODES = """
    usd eur gbp jpy inr chf cny rmb aud cad nzd sek nok dkk isk pln czk huf ron bgn rub uah try ils
    brl mxn ars clp cop pen zar krw hkd sgd twd thb idr myr php vnd aed sar egp ngn kes us$ a$ c$
    nz$ hk$ s$ r$ nt$ rs rs. fr fr. sfr sfr. kr kr. zł kč ft lei
""".split()  # noqa: SIM905
MONEY = {*SIGNS, *CODES}
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
NO_UNIT = "jan feb mar apr may jun jul aug sep oct nov dec am pm x".split()  # noqa: SIM905
UNIT = re.compile(r"[^\W\d_]{1,10}[23²³]?(/[^\W\d_]{1,10}[23²³]?)?|°[CFK]?|[%‰]", re.IGNORECASE)


class Dressed(NamedTuple):
    """A cell cut up: the number as text, and what stood around it."""

    bare: str
    negative: bool
    around: str  # money, a unit or a per cent sign, in lower case but for K, M, B, C, F and T
    marks: str


@dataclass
class Undressed:
    """A column's cells that are more than plain numbers: values, and what is to be said.

    ``values`` are infinite for what is no number, ``clash`` names two cells that cannot be of one
    column.
    """

    values: np.ndarray
    notes: list[str] = field(default_factory=list)
    clash: str = ""


def cut(cell: str) -> Dressed | None:
    """A dressed number in its parts; None for any other text.

    Examples
    --------
    >>> cut("($1,234)")
    Dressed(bare='1,234', negative=True, around='$', marks='')
    >>> cut("12.5 kg*").around, cut("9.4-").negative, cut("2023-01-02")
    ('kg', True, None)
    """
    found = DIGITS.search(cell) if len(cell) <= LONGEST else None
    if found is None:
        return None
    before, bare, after = cell[: found.start()], found[0].rstrip(), cell[found.end() :].strip()
    if before[-1:] in (".", ",") and not before[-2:-1].isalpha():
        before, bare = before[:-1], before[-1] + bare
    power = POWER.match(after)
    if power:
        bare, after = bare + power[0], after[power.end() :]
    after, marks = _without_marks(after)
    before = before.strip()
    negative = False
    if "(" in before and ")" in after:
        before, after = before.replace("(", "", 1), after.replace(")", "", 1)
        negative = True
    for sign in ("-", "+"):
        if before.count(sign) == 1 and not negative and sign in (before[0], before[-1]):
            before, negative = before.replace(sign, ""), sign == "-"
    if after[:1] == "-" and not negative and after[1:].strip().lower() in {"", "%", *MONEY}:
        after, negative = after[1:], True
    before, after = before.strip().lower(), after.strip()
    if before and before not in MONEY:
        return None
    if before and after:
        return None
    known = after.lower() in MONEY or (UNIT.fullmatch(after) and after.lower() not in NO_UNIT)
    if after and not known:
        return None
    if after == "k":
        after = "K"
    return Dressed(bare, negative, before or (after if after in CAPITALS else after.lower()), marks)


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


def dressed(cell: str) -> bool:
    """Whether a cell is a number with a sign of money, per cent, brackets or a mark around it."""
    parts = cut(cell)
    return parts is not None and bool(
        parts.negative or parts.marks or parts.around == "%" or parts.around in MONEY
    )


def plain_value(cell: str, decimal: str) -> float:
    """The value of a dressed cell, infinite if it is none; its unit is not looked at."""
    parts = cut(cell)
    if parts is None:
        return math.inf
    value = number(parts.bare, decimal)
    return -value if parts.negative and math.isfinite(value) else value


def undress(cells: pd.Series, plain: tuple[int, str] | None, decimal: str) -> Undressed:
    """Values of the cells of a column that are more than plain numbers, by their rows.

    ``plain`` is the row and the text of a plain number other than zero in the same column. All
    units must be the same and in every cell; money may stand in some, as accountants write it.
    """
    around, first = Counter[str](), dict[str, int]()
    for place, cell in enumerate(each_cell(cells)):
        one = cut(cell)
        if one is not None and len(around) < MOST_UNITS:
            around[one.around] += 1
            if one.around or plain_value(cell, decimal):
                first.setdefault(one.around, place)
    flags = FLAGS if plain is not None or around[""] else set()
    if len(flags & around.keys()) > 1:
        flags = flags - UNSURE
    units = [name for name, _ in around.most_common() if name and name not in flags]
    usual = units[0] if units else ""
    read = Undressed(np.full(len(cells), np.inf))
    bare = plain is not None or "" in first
    if len(units) > 1 or (usual and usual not in MONEY and bare):
        named = {name: (cells.index[place], cells.iloc[place]) for name, place in first.items()}
        both = [named[name] for name in [*units, ""] if name in named] + [plain or (0, "")]
        read.clash = " and ".join(f"{shown(cell)} in row {row + 1}" for row, cell in both[:2])
        return read
    examples: dict[str, tuple[str, float]] = {}
    for place, cell in enumerate(each_cell(cells)):
        one, value = cut(cell), plain_value(cell, decimal)
        if one is None or not math.isfinite(value):
            continue
        read.values[place] = value
        unit, marks = ("", one.around) if one.around in flags else (one.around, one.marks)
        kinds = {"unit": unit, "marks": marks, "sign": one.negative and cell[0] != "-"}
        for kind in (kind for kind, there in kinds.items() if there and kind not in examples):
            examples[kind] = cell, value
    read.notes = [_words(kind, usual, *example) for kind, example in examples.items()]
    return read


def _words(kind: str, unit: str, cell: str, value: float) -> str:
    """What is to be said about cells like one of them."""
    what = {
        "unit": f"without {shown(unit)}",
        "marks": "without the mark of a footnote",
        "sign": "as a negative number",
    }[kind]
    if (kind, unit) == ("unit", "%"):
        what = "in per cent"
    return f"{shown(cell)} is read as {value:.12g}, {what}, and so are cells like it"
