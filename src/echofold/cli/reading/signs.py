"""The decimal sign of each column of a file, from what its own cells show first."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from echofold.cli.reading.numbers import COMMA, NUMBER, SPACES, THOUSANDS
from echofold.cli.reading.quantities import cut
from echofold.cli.reading.quote import shown

UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # 1.054, 1,054
PLAIN = re.compile(r"[+-]?[\d.,]+")
ZERO_FIRST = re.compile(r"[+-]?0[.,]\d+")  # 0,125 is never a thousand
IN_VAIN = 1000  # cells with commas or points after which a column is taken for text
NEARER = 1000**0.5  # times a neighbour such as 1.054, from which on a whole number is nearer 1054
TWO_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3}){2,}")  # 1.234.567


class Sign(NamedTuple):
    """The decimal sign of a column, and what is to be said of it."""

    decimal: str = "."
    words: str = ""


class Shown(NamedTuple):
    """What the cells of a column show: a proof, or cells that may be read in two ways."""

    proof: str = ""  # the decimal sign, if a cell leaves no doubt
    cell: str = ""  # that cell
    comma: str = ""  # a cell such as 1,054
    point: str = ""  # a cell such as 1.054
    small: str = ""  # a whole number other than zero of up to three digits
    large: bool = False  # whether there are whole numbers of more digits


def all_signs(names: Iterable[str], decimal: str) -> dict[str, Sign]:
    """One sign for all columns, as an option says."""
    return {name: Sign(decimal) for name in names}


def signs_of(
    names: Iterable[str],
    cells: Callable[[str], Iterator[str]],
    separator: str | None,
) -> dict[str, Sign]:
    """The sign of each column by its name."""
    seen = {name: look(cells(name)) for name in names}
    found = {}
    for name, one in seen.items():
        unclear = (one.comma or one.point) and not one.proof and one.small and not one.large
        grouped = _grouped(cells(name)) if unclear else None
        found[name] = _sign(one, grouped, separator, seen)
    return found


def look(cells: Iterator[str]) -> Shown:
    """What the cells of a column show, up to the first that leaves no doubt."""
    comma = point = small = ""
    large, in_vain = False, 0
    for cell in cells:
        if "," not in cell and "." not in cell:
            whole = _whole(cell)
            large = large or len(whole) > 3
            if not small and len(whole) < 4 and whole.strip("0"):
                small = cell
            continue
        if UNCLEAR.fullmatch(cell):  # first, for a column of these is looked at to its end
            kind = "." if "." in cell else ","
        else:
            proof, kind = _proof(_bare(cell))
            if proof:
                return Shown(proof, cell, comma, point, small, large)
        if kind == ".":
            point = point or cell
        elif kind:
            comma = comma or cell
        elif not (comma or point or small or large):
            in_vain += 1
            if in_vain == IN_VAIN:
                break
    return Shown("", "", comma, point, small, large)


def _whole(cell: str) -> str:
    """The digits of a whole number; empty for other text."""
    if cell.isdecimal():
        return cell
    if not cell or (cell[0].isdecimal() and cell[-1].isdecimal()):
        return ""  # most dates, which need no further look
    bare = _bare(cell).lstrip("+-")
    return bare if bare.isdecimal() else ""


def _bare(cell: str) -> str:
    """A number without spaces and without what stands around it; other text as it is."""
    if not PLAIN.fullmatch(cell):
        parts = cut(cell)
        cell = cell if parts is None else parts.bare
        cell = SPACES.sub("", cell)
    return cell


def _proof(bare: str) -> tuple[str, str]:
    """The decimal sign that a number proves, or the sign that is unclear; two empty for text."""
    if "," not in bare:
        if TWO_POINTS.fullmatch(bare):
            return ",", ""
        if not NUMBER.fullmatch(bare) or "." not in bare:
            return "", ""
        return ("", ".") if UNCLEAR.fullmatch(bare) else (".", "")
    comma, thousands = COMMA.fullmatch(bare), THOUSANDS.fullmatch(bare)
    if comma and (not thousands or ZERO_FIRST.match(bare)):
        return ",", ""
    if comma:
        return "", ","
    return ("." if thousands else ""), ""


def _grouped(cells: Iterator[str]) -> bool:
    """Whether cells such as 1.054 are rather thousands, beside whole numbers of up to three digits.

    They are if neighbours in the file are closer to each other so, on average of their ratios.
    Whole numbers are no accident where they are many: less is asked of them then.
    """
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
    asked = math.log(NEARER) * (1 - whole / count / 2)
    return sum(ratios) > asked * len(ratios)


def _sign(
    one: Shown, grouped: bool | None, separator: str | None, seen: Mapping[str, Shown]
) -> Sign:
    """The sign of a column that shows this, in a file whose columns show those.

    ``grouped`` tells if whole numbers beside unclear cells make these thousands, None without any.
    """
    if one.proof == "," and "," not in one.cell:
        return Sign(",", f"points are read as of thousands, as in {shown(one.cell)}; see --decimal")
    if one.proof == ",":
        return Sign(
            ",", f"commas are read as decimal signs, as in {shown(one.cell)}; see --decimal"
        )
    if one.proof or not (one.comma or one.point) or (one.large and not one.comma):
        return Sign()
    mark, name, other = (",", "comma", ".") if one.comma else (".", "point", ",")
    # What is between commas and has one itself stands in quotes, and is rather English.
    elsewhere = _of_others(seen, mark) or (other if mark == "," == separator else mark)
    thousands = grouped or elsewhere == other
    words = ["a decimal sign", "of thousands"]
    closer = f", which fits whole numbers such as {shown(one.small)} better"
    return Sign(
        other if thousands else mark,
        f"the {name} in {shown(one.comma or one.point)} is read as {words[thousands]}"
        f"{closer * (grouped == thousands)}; if it is {words[not thousands]}, give --decimal "
        f"{mark if thousands else other}",
    )


def _of_others(seen: Mapping[str, Shown], mark: str) -> str:
    """The decimal sign that a comma or a point in another column proves; empty if none does."""
    return next((one.proof for one in seen.values() if mark in one.cell), "")
