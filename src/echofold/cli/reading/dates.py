"""Dates of one column: text in the forms that people write, of which one is meant, or numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold._data.season import calendar_seasons
from echofold._data.text import Note, one_line, shown
from echofold.cli.reading import calendar
from echofold.cli.reading.calendar import DAY, YEARS, centuries, made, unaccented, usual
from echofold.cli.reading.numbers import between, distinct_cells, each_cell, whole
from echofold.cli.reading.spacing import date_grid, nearest_spacing, words_of
from echofold.cli.reading.table import FileTable

MOSTLY = 0.9  # share of cells that must be of a form
DAYS = r"(\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-\d\d-\d\d),?\s+(\d{1,2})\.(\d\d)"  # and a time, 10.30
UNIX = r"(?:[a-z]{3},?\s+)?([a-z]{3}\s+\d{1,2})\s+(\d{1,2}:\d\d:\d\d)\s+"
RANGES = "ranges in {} are read as their first dates."
# A pattern, what is kept of it, and what is said.
FORMS = [(re.compile(pattern, re.IGNORECASE), kept, said) for pattern, kept, said in (
    (r"(?:week (?:of|commencing|beginning|starting|from)|w/?c|wb)[:\s]\s*(.+)", r"\1", ""),
    (r"(\d{4}-\d\d-\d\d\S*)\s?/\s?\d{4}-\d\d-\d\d\S*", r"\1", RANGES),
    (r"(.*?\d{4}\b.*?|\d{4}.*?)\s+(?:-|–|—|to|bis|until)\s+\D{0,12}\d.*", r"\1", RANGES),
    (rf"{UNIX}(\d{{4}})", r"\1 \3 \2", ""),
    (
        rf"{UNIX}[a-z]{{3,4}}\s+(\d{{4}})", r"\1 \3 \2",
        "times in {} are taken as they stand, without their zone.",
    ),
    (DAYS, r"\1 \2:\3", ""),
    (rf"{DAYS}\.(\d\d)", r"\1 \2:\3:\4", ""),
    (r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日(.*)", r"\1-\2-\3\4", ""),
    (r"(\d{4})\s?年\s?(\d{1,2})\s?月", r"\1-\2", ""),
    (r"fy\s?'?(\d{4})", r"\1", "fiscal years in {} are read as years."),
)]  # fmt: skip
TWO_YEARS = re.compile(r"(?:fy\s?)?(\d{4})\s?[/–-]\s?(\d{4}|\d\d)", re.IGNORECASE)
TOKEN = re.compile(r"\d+|[^\W\d_]+")
MARKS = re.compile(r"[\w\s./'’,-]+")
TIME = re.compile(
    r"(?:^|,?\s+|,|(?<=\d)[t:])(\d{1,2})"
    r"(?:(?:[:h](\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)\s*([ap])?\.?m?\.?|\s*([ap])\.?m\.?)"
    r"\s*(?:z|utc|gmt|uhr|h)?$"
)
ORDERS = ((), ("y",), ("my", "ym"), ("dmy", "mdy", "ymd"))  # by how many numbers there are
WORDS = {
    "dmy": "with the day first", "mdy": "with the month first", "ymd": "with the year first",
    "my": "as month and year", "ym": "as year and month", "y": "as years",
}  # fmt: skip
ISO = re.compile(r"\d{4}-|\d{8}T")
WHOLE_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
DIGIT = re.compile(r"\d")
NO_DATE = 0.1  # share of cells that may be something else in a column of dates
HALF = 0.5  # the same in one that was meant to be, of which the first such cell is named
LONGEST = 100  # characters of a date
EPOCHS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
LATEST = 4.2e9  # seconds
EARLIEST = 3e8  # seconds, in 1979, of a column whose name says nothing
EXCEL = np.datetime64("1899-12-30", "us")
SERIALS = 10_000, 73_050  # days of Excel, of 1927 to 2099
MONTHLY = (
    (re.compile(r"(?P<month>0[1-9]|1[0-2])[.,](?P<year>\d{4})"), "a month and a year"),
    (re.compile(r"(?P<year>\d{4})[.,](?P<month>\d{1,2})"), "a year and a month"),
)
Readings = dict[str, tuple[pd.DatetimeIndex, bool]]  # dates by order; years of two digits or not
Found = Iterator[tuple[pd.DatetimeIndex, str]]  # dates of numbers, and what these are read as


def parse_dates(
    column: pd.Series, form: str | None, note: Note, most: float = NO_DATE
) -> pd.DatetimeIndex:
    """Dates of a column, NaT where a cell is none or its year is implausible.

    Without a form they are guessed, and all NaT if more than ``most`` of the cells are no dates.
    """

    def say(words: str) -> None:
        note(words.replace("{}", shown(column.name), 1))

    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates, ahead = calendar.in_plausible_years(pd.DatetimeIndex(column)), None
        if dates.tz is not None:
            local, universal = dates.tz_localize(None), dates.tz_convert("UTC").tz_localize(None)
            ahead = np.where(dates.isna(), 0, (local - universal).total_seconds()) // 60
            dates = local
    elif form is not None:
        dates, ahead = _formatted(brief(column), form, say)
    else:
        cells, ahead = calendar.without_zone(_rewritten(brief(column), say), say)
        dates = _guess(cells, say, most)
    dates = calendar.in_plausible_years(dates)
    if ahead is not None and dates.notna().any():
        dates = calendar.placed(dates, ahead, say)
    return dates


def brief(column: pd.Series) -> list[str]:
    """Cells, empty where they are too long for a date: pandas makes all as wide as the longest."""
    return _of_dates(each_cell(column))


def _of_dates(cells: Iterable[str]) -> list[str]:
    """Cells, empty where they are too long for a date."""
    return [cell if len(cell) <= LONGEST else "" for cell in cells]


def _rewritten(cells: list[str], say: Note) -> list[str]:
    """Cells in a form that is read, as they are if they have none of these forms."""
    sample = calendar.sampled(cells)
    if _follow(sample) and _follow(cells):
        say("pairs of years in {} are read as the first of them.")
        return [match[1] if (match := TWO_YEARS.fullmatch(cell)) else cell for cell in cells]
    for pattern, kept, said in FORMS:
        if np.mean([pattern.fullmatch(cell) is not None for cell in sample]) >= MOSTLY:
            if said:
                say(said)
            return [pattern.sub(kept, cell) if pattern.fullmatch(cell) else cell for cell in cells]
    return cells


def _follow(cells: list[str]) -> bool:
    """Whether cells are a year and the next, such as 1980/81; by chance one of twelve months is."""
    pairs = [match for cell in cells if (match := TWO_YEARS.fullmatch(cell))]
    return sum(f"{int(one[1]) + 1}".endswith(one[2]) for one in pairs) >= MOSTLY * len(cells)


def _formatted(
    cells: list[str], form: str, say: Note
) -> tuple[pd.DatetimeIndex, np.ndarray | None]:
    """Read cells as the user says they are written; minutes ahead of UTC as well."""
    ahead = None
    if form.endswith("%z"):
        cells, ahead = calendar.without_zone(cells, say)
        form = form if ahead is None else form[:-2].rstrip()
    try:
        dates = pd.to_datetime(cells, format=form, errors="coerce", utc="%z" in form.lower())
    except Exception as error:  # any, by the way in which the format is wrong
        raise ValueError(
            f"--date-format {shown(form)} cannot be used: {one_line(error)}. Give one such as "
            "'%d/%m/%Y %H:%M'."
        ) from None
    if dates.tz is not None:
        dates, ahead = dates.tz_localize(None), np.zeros(len(dates), int)
    if "%y" in form:  # which pandas takes for years of 1969 to 2068
        there = dates.notna()
        years = np.where(there, dates.year, -1).astype(int)
        shifts = centuries(np.where(there, years % 100, -1)) - years
        for shift in np.unique(shifts[there]):
            moved = dates + pd.DateOffset(years=int(shift))
            dates = dates.where(~there | (shifts != shift), moved)
        _say_century(dates, say)
    return dates, ahead


def _guess(cells: list[str], say: Note, most: float) -> pd.DatetimeIndex:
    """Read cells in the way that makes most of them dates, in the best order."""
    nothing = pd.DatetimeIndex([pd.NaT] * len(cells))
    sample = calendar.sampled(cells)
    if np.mean([DIGIT.search(cell) is None for cell in sample]) > most:
        return nothing
    for way in (_iso, calendar.by_letter):
        if way(sample)[0].isna().mean() <= most:
            dates, short = way(cells)
            break
    else:
        apart = take_apart(sample)
        orders = ORDERS[int(np.bincount(apart.counts, minlength=4).argmax())]
        tried = [one for one in orders if in_order(apart, one)[0].isna().mean() <= most]
        apart = take_apart(cells if tried else [])
        readings = {one: in_order(apart, one) for one in tried}
        best = _best(readings, cells, say)
        if best is None:
            return nothing
        dates, short = readings[best]
    if short:
        _say_century(dates, say)
    return dates


def _iso(cells: Sequence[str]) -> tuple[pd.DatetimeIndex, bool]:
    """Dates of ISO 8601, NaT where cells are none; and that years have not two digits."""
    cells = [cell if ISO.match(cell) else "" for cell in cells]  # else any number is a year
    dates = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)  # a few have a zone
    return calendar.in_plausible_years(dates.tz_localize(None)), False


class Apart(NamedTuple):
    """Cells in up to three pieces: a number, and how many digits were written."""

    numbers: np.ndarray  # below zero for a named month
    digits: np.ndarray
    counts: np.ndarray  # of pieces, none in a cell that is no date
    time: np.ndarray  # microseconds of the day


def take_apart(cells: Sequence[str]) -> Apart:
    """Numbers, named months and times of day of each cell."""
    out, time = np.zeros((len(cells), 7), np.int32), np.zeros(len(cells), np.int64)
    for row, cell in enumerate(cells):
        # Days repeat in a file of hours, and hours in one of days: each is taken apart once.
        cut = cell.rfind(" ", 0, cell.find(":")) if ":" in cell else -1
        late = time_of_day(cell[cut + 1 :]) if cut > 0 else -1
        if late >= 0:
            out[row], time[row] = _pieces(cell[:cut].rstrip(", "))[0], late
        else:
            out[row], time[row] = _pieces(cell)
    return Apart(out[:, :3], out[:, 3:6], out[:, 6], time)


@lru_cache(4096)
def _pieces(cell: str) -> tuple[tuple[int, ...], int]:
    """A row of numbers, digits and count of a cell, and its time; zeros if it is no date."""
    letters, cell, time = not cell.isascii() or cell.lower() != cell.upper(), unaccented(cell), 0
    if match := TIME.search(cell) if letters or ":" in cell else None:
        cell, time = cell[: match.start()], _micros(match)
    pieces = TOKEN.findall(cell) if MARKS.fullmatch(cell) and time >= 0 else []
    if letters:
        pieces = _without_words(pieces)
    if len(pieces) == 1 and re.fullmatch(r"\d{8}", pieces[0]):  # 20240131, before a time
        pieces = [pieces[0][:4], pieces[0][4:6], pieces[0][6:]]
    # Rather a price, such as 12.50 or 1,234.
    price = "," in cell or ("." in cell and len(pieces) == 2 and max(map(len, pieces)) < 4)
    if not 1 <= len(pieces) <= 3 or (price and not letters):
        return (0,) * 7, 0
    numbers = [int(one[:5]) if one.isdecimal() else -calendar.MONTH[one] for one in pieces]
    digits = [len(one) if one.isdecimal() else 0 for one in pieces]
    none = [0] * (3 - len(pieces))
    return (*numbers, *none, *digits, *none, len(pieces)), time


@lru_cache(4096)
def time_of_day(cell: str) -> int:
    """Microseconds of a day that a cell such as 10:30 says, below zero if it says none."""
    match = TIME.fullmatch(unaccented(cell))
    return _micros(match) if match else -1


def _micros(match: re.Match[str]) -> int:
    hour, minute, second, fraction, half, other_half = match.groups()
    half = half or other_half
    hours, minutes, seconds = int(hour), int(minute or 0), int(second or 0)
    if half and 1 <= hours <= 12:
        hours = hours % 12 + (12 if half == "p" else 0)
    elif half:
        return -1
    if minutes > 59 or seconds > 59 or hours > 24 or (hours == 24 and minutes + seconds):
        return -1
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + int(f"{fraction or 0:0<6}"[:6])


def _without_words(pieces: list[str]) -> list[str]:
    """Pieces without weekdays and the like; none if a word is left that is not a month."""
    pieces = [piece for piece in pieces if piece not in calendar.FILLERS]
    words = [place for place, piece in enumerate(pieces) if not piece.isdecimal()]
    if words and (len(words) > 1 or len(pieces) - len(words) == 3):
        # French and Spanish cut March and Tuesday alike: of two words the other is the month.
        for spare in [place for place in words if pieces[place] in calendar.WEEKDAY][:1]:
            del pieces[spare]
    months = [piece for piece in pieces if not piece.isdecimal()]
    return pieces if len(months) <= 1 and all(piece in calendar.MONTH for piece in months) else []


def in_order(apart: Apart, order: str) -> tuple[pd.DatetimeIndex, bool]:
    """Dates of pieces in one order, NaT where it does not fit; whether years have two digits."""
    fits = apart.counts == len(order)
    place = {role: order.index(role) for role in order}
    year, written = apart.numbers[:, place["y"]], apart.digits[:, place["y"]]
    short = bool(fits.any()) and float(np.median(written[fits])) == 2
    if short and order in ("y", "ym"):  # 21-Jan is a day without a year
        return pd.DatetimeIndex([pd.NaT] * len(fits)), short
    fits &= (written == (2 if short else 4)) & (year >= 0)
    month = day = np.ones_like(year)
    if "m" in place:
        month = np.abs(apart.numbers[:, place["m"]])
        fits &= apart.digits[:, place["m"]] <= 2
    if "d" in place:
        day = apart.numbers[:, place["d"]]
        fits &= (day > 0) & (apart.digits[:, place["d"]] <= 2)
    fits &= (month >= 1) & (month <= 12) & (day <= 31)
    if short:
        year = centuries(np.where(fits, year, -1))
    return made(np.where(fits, year, -1), month, day, apart.time), short


class Fit(NamedTuple):
    """How far a reading is from plausible, the worst first."""

    unread: int
    uneven: int  # 0 with a spacing, 1 with one after moving to the start of periods, 2 without
    odd: bool  # a year of two digits comes first
    gaps: int
    back: int  # steps back in time
    inside: int  # dates that are not the first of a month
    rank: int


def _best(readings: Readings, cells: list[str], say: Note) -> str | None:
    """The order that is meant, said where others would do; None if it is too unlikely."""
    order, (_, short) = next(iter(readings.items()), ("", (None, False)))
    weak = order == "y" or (short and len(order) == 2)
    if len(readings) < 2 and not weak:
        return order or None
    points = np.mean(["." in cell for cell in cells[:100]]) > 0.5
    first = "dmy" if points else "mdy"  # who writes points has the day first
    fits = {one: _fit(one, *reading, one != first) for one, reading in readings.items()}
    best = min(fits, key=lambda one: fits[one][0])
    (fit, every), dates = fits[best], readings[best][0]
    if weak and fit.uneven == 2:
        return None  # 10/12 may be anything, 1850 too
    for one, (other, _) in fits.items():
        differ = np.flatnonzero((dates != readings[one][0]) & dates.notna())
        if len(differ) and other.unread == fit.unread and not other.odd:
            row, even = int(differ[-1]), other.uneven > fit.uneven
            why = f", because they are {words_of(every)} then" if every and even else ""
            say(
                f"dates in {{}} are read {WORDS[best]}{why}: {shown(cells[row])} is "
                f"{dates[row].day} {dates[row]:%B %Y}, and could be read {WORDS[one]} too; see "
                "--date-format."
            )
            break
    return best


def _fit(order: str, read: pd.DatetimeIndex, short: bool, rank: int) -> tuple[Fit, str | None]:
    """How plausible dates are that were read in an order, and their spacing."""
    known = read.dropna()
    unread, back = len(read) - len(known), int((np.diff(known.asi8) < 0).sum())
    odd = short and order[0] == "y"
    dates = known.unique().sort_values()
    moved, every = nearest_spacing(dates) if len(dates) > 2 else (dates, None)
    if every is None:  # two days, in many rows, are near each other
        gaps = (dates.max() - dates.min()).days if len(dates) < 3 else 0
        return Fit(unread, 2, odd, gaps, back, 0, rank), None
    gaps, inside = len(date_grid(moved, every)) - len(moved), int((known.day != 1).sum())
    return Fit(unread, int(moved is not dates), odd, gaps, back, inside, rank), every


def in_one_order(
    column: pd.Series, parts: Sequence[np.ndarray], note: Note
) -> pd.DatetimeIndex | None:
    """Dates of series whose rows are ``parts`` of a column, NaT in cells that are none.

    Day and month are written in the same order in all, which each alone may not tell. None if no
    other order is possible anyway, but for plain dates of ISO 8601, or if the column holds
    something else.
    """
    sample = brief(column.iloc[calendar.sampled(range(len(column)))])
    if all(map(WHOLE_ISO.fullmatch, sample)):
        codes, cells = distinct_cells(column)
        dates = _iso(cells)[0] if all(map(WHOLE_ISO.fullmatch, cells)) else None
        return None if dates is None or dates.hasnans else dates[codes]
    if np.mean([ISO.match(cell) is not None or not DIGIT.search(cell) for cell in sample]) > 0.5:
        return None
    apart = take_apart(sample)  # before all cells of a column of numbers are
    if all(in_order(apart, one)[0].isna().mean() > HALF for one in ORDERS[3]):
        return None
    codes, cells = distinct_cells(column)
    apart = take_apart(_of_dates(cells))
    readings = {one: in_order(apart, one) for one in ORDERS[3]}
    if sum(dates.notna().any() for dates, _ in readings.values()) < 2:
        return None
    readings = {one: (dates[codes], short) for one, (dates, short) in readings.items()}
    unread = {one: dates.isna().mean() for one, (dates, _) in readings.items()}
    least = [one for one in readings if unread[one] == min(unread.values())]
    if min(unread.values()) > NO_DATE:
        return None
    best = least[0]
    if len(least) > 1:
        first = "dmy" if "." in sample[0] else "mdy"
        fits = {
            one: np.sum([_fit(one, dates[rows], short, one != first)[0] for rows in parts], axis=0)
            for one, (dates, short) in readings.items()
            if one in least
        }
        best = min(fits, key=lambda one: tuple(fits[one]))
        note(
            f"dates in {shown(column.name)} are read {WORDS[best]}, which suits most series best; "
            "see --date-format."
        )
    return readings[best][0]


def _say_century(dates: pd.DatetimeIndex, say: Note) -> None:
    """Say which years those of two digits are."""
    if dates.notna().any():
        first, last = dates.min().year, dates.max().year
        years = f"{first} to {last}" if last > first else f"{first}"
        say(f"years of two digits in {{}} are read as {years}; write four if they differ.")


def counted(
    table: FileTable, name: str, likely: bool, first: bool, note: Note, most: float = NO_DATE
) -> pd.DatetimeIndex | None:
    """Dates of a column of numbers, NaT where one is missing; None if they are something else.

    ``likely`` says that the column has a name like a date, ``first`` that it is the first; ``most``
    of its cells may be missing. What numbers are taken for is said.
    """
    values = table.numbers(name).values
    there = ~np.isnan(values)
    known, column = values[there], table.frame[name][there]
    if len(known) < 2 or len(known) < (1 - most) * len(values):
        return None
    steps = np.diff(known)
    rises = _once(known) and (likely or (steps >= 0).all() or (steps <= 0).all())
    for way in WAYS if rises else WAYS[:2]:
        for found, meaning in way(known, column, likely, first):
            if meaning:
                row = int(found.notna().argmax())
                note(
                    f"numbers in {shown(name)} are read as {meaning}: {shown(column.iloc[row])} is "
                    f"{found[row].day} {found[row]:%B %Y}; --date none takes rows as evenly spaced."
                )
            every = pd.Series(found, np.flatnonzero(there)).reindex(range(len(values)))
            return pd.DatetimeIndex(every)
    return None


def _digits(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Found:
    """Days such as 20240131, also with hours, minutes and seconds."""
    if not whole(values):
        return
    for form, low, high in (
        ("%Y%m%d", 15e6, 24e6), ("%Y%m%d%H", 19e8, 21e8), ("%Y%m%d%H%M", 19e10, 21e10),
        ("%Y%m%d%H%M%S", 19e12, 21e12),
    ):  # fmt: skip
        if between(values, low, high):
            texts = [f"{value:.0f}" for value in values]
            dates = pd.DatetimeIndex(pd.to_datetime(texts, format=form, errors="coerce"))
            if dates.isna().mean() < 1 - MOSTLY:
                yield dates, ""


def _months(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Found:
    """Months such as 194901, 1949.01 or 01.1949."""
    if whole(values):
        if between(values, YEARS[0] * 100, YEARS[1] * 100):
            numbers = values.astype(int)
            if calendar.role(str(column.name), "week"):
                dates = calendar.weeks(numbers // 100, numbers % 100)
                if dates.notna().all() and even(dates):
                    yield dates, "a year and a week"
            yield from _monthly(numbers // 100, numbers % 100, "a year and a month")
        return
    if not between(values, 1, 13) and not between(values, *YEARS):
        return
    cells = brief(column)
    for form, meaning in MONTHLY:
        found = [match for cell in cells if (match := form.fullmatch(cell))]
        if len(found) == len(cells):
            year = np.array([int(match["year"]) for match in found])
            yield from _monthly(year, _written_months([match["month"] for match in found]), meaning)


def _written_months(texts: list[str]) -> np.ndarray:
    """Months after a point, where 1 is October among 09 and 11, and after 9 without zeros."""
    padded = all(len(text) == 2 or text == "1" for text in texts)
    months = np.array([int(f"{text:0<2}") if padded else int(text) for text in texts])
    if not padded:
        october = np.flatnonzero([text == "1" for text in texts])
        beside = np.r_[0, months, 0]
        months[october[(beside[october] == 9) | (beside[october + 2] == 9)]] = 10
    return months


def _monthly(year: np.ndarray, month: np.ndarray, meaning: str) -> Found:
    """Months that follow each other, or quarters."""
    fine = (month >= 1) & (month <= 12) & (year >= YEARS[0]) & (year <= YEARS[1])
    counts = year * 12.0 + month
    if fine.all() and _once(counts) and any(_steady(counts, step) for step in (1, 3)):
        yield made(year, month), meaning


def _years(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Found:
    """Whole years, with few left out, or with fractions, as R counts months and quarters."""
    if not between(values, *YEARS):
        return
    if (likely or first) and whole(values) and _steady(values):
        yield made(values.astype(int)), "" if likely else "years"
    for parts, middle, near in ((4, 0.0, 0.03), (12, 0.0, 0.07), (12, 0.5, 0.15)):
        counts = values * parts - middle
        rounded = np.rint(counts).astype(int)
        if (np.abs(counts - rounded) <= near).all() and _steady(rounded.astype(float)):
            words = f"years with fractions for {'quarters' if parts == 4 else 'months'}"
            yield made(rounded // parts, rounded % parts * (12 // parts) + 1), words


def _epoch(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Found:
    """Seconds since 1970, or finer."""
    largest = np.max(np.abs(values))
    name, ticks = next((one for one in EPOCHS.items() if largest <= LATEST * one[1]), ("", 1))
    seconds = values / ticks
    # Whole minutes, or a name: else a number counts something.
    clear = likely or not (values % (60 * ticks)).any()
    fine = between(seconds, -2.3e9 if likely else EARLIEST, LATEST)
    if fine and clear and np.max(np.abs(seconds)) > EARLIEST:
        dates = usual(pd.DatetimeIndex(np.rint(seconds * 1e6).astype("datetime64[us]")))
        days = calendar.local_midnights(dates)
        if days is not None and even(days):
            yield days, f"{name} since 1970, at midnights of a zone"
        elif even(dates):
            yield dates, f"{name} since 1970"


def _serial(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Found:
    """Days since the end of 1899, with or without a time of day."""
    if not (likely or first) or not between(values, *SERIALS):
        return
    micros = values * DAY
    for unit, near in ((60e6, 5e6), (1e6, 1e6)):  # of a fraction with few decimals
        snapped = np.rint(micros / unit) * unit
        if np.max(np.abs(snapped - micros)) <= near:
            micros = snapped
            break
    dates = usual(pd.DatetimeIndex(EXCEL + np.rint(micros).astype("timedelta64[us]")))
    every = even(dates)
    # Numbers with a constant step of one, or of none that a calendar has, count something else.
    # Without a name only the unequal lengths of months tell enough.
    if every and calendar_seasons(every) is not None and (likely or every[0] in "MQY"):
        yield dates, "days of Excel, since the end of 1899"


WAYS = (_digits, _months, _years, _epoch, _serial)


def even(dates: pd.DatetimeIndex) -> str | None:
    """The spacing of dates in any order, as they are or moved to the start of their periods."""
    known = dates.dropna().unique().sort_values()
    return nearest_spacing(known)[1] if len(known) > 2 else None


def _once(values: np.ndarray) -> bool:
    """Whether few numbers come twice, as they do where rows are doubled."""
    return len(np.unique(values)) >= MOSTLY * len(values)


def _steady(values: np.ndarray, step: float = 1) -> bool:
    """Whether numbers go on by one step, but for a few."""
    steps = np.diff(np.unique(values))
    return len(steps) > 0 and float(np.median(steps)) == step
