"""Which columns of a table hold its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from echofold._data.text import Note, inflected, listed, shown
from echofold.cli.reading import calendar
from echofold.cli.reading.calendar import DAY, HOUR, MINUTE, MONTH, column_for, like_dates, made
from echofold.cli.reading.dates import HALF, NO_DATE, brief, counted, even, parse_dates, time_of_day
from echofold.cli.reading.layout import TOTAL
from echofold.cli.reading.numbers import between, whole
from echofold.cli.reading.table import FileTable

COUNTERS = {"id", "index", "row", "rows", "nr", "no", "n", "number", "count"}
ANNUAL = re.compile(r"M13|Q05|S03")  # averages of a year, among its periods
PERIOD = re.compile(r"([MQSA])(\d\d)")
MONTHS = {"M": 1, "Q": 3, "S": 6, "A": 12}  # in a period
NUMBERED = re.compile(r"[a-z.]{0,8}\s*0*(\d{1,6})(?:\.0*)?")  # 5, 05, Q1, W05, 5.0, 153000
SPAN = re.compile(r"\s*(?:-|–|to)\s*\d.*$")  # from 00:00 to 01:00
ENDING = re.compile(r"HE\s?(\d\d?)", re.IGNORECASE)  # the hour that ends then
FINER = ("month", "quarter", "week", "day", "period")
FEW = 0.95  # share of cells that may be something else where some are dates
YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21|22)\d\d(?!\d)")
QUARTER = re.compile(r"(?:q|qtr|quarter|t|trim|quartal)\.?\s?([1-4])|([1-4])\.?\s?(?:q|qtr)", re.I)
OF_YEAR = re.compile(
    rf"{TOTAL.pattern}|annual|annee|année|year|jahr|año|ano|anno|j-d|d-n", re.IGNORECASE
)
Found = tuple[list[str], pd.DatetimeIndex] | None  # names of the columns of dates, and these


def find_dates(
    table: FileTable, date: str | None, form: str | None, others: Sequence[str], note: Note
) -> tuple[str | None, pd.Index | None]:
    """The name of the column of dates, none of ``others``, and its values; None without one.

    Columns that make dates together are one column of the table afterwards.
    """
    if date == "none":
        return None, None
    if date is not None:
        return _asked_for(table, date, form, note)
    columns = table.columns(others)
    _unmerge(table, columns, note)
    found = _in_text(table, columns, form, note)
    if found is None and form is None:
        found = _in_parts(table, columns) or _in_numbers(table, columns, note)
    found = found or _in_text(table, columns, form, note, HALF)
    if found is None:
        partly = _in_numbers(table, [one for one in columns if like_dates(one)], _unsaid, HALF)
        if partly:
            _refuse_missing(partly[1], table, partly[0][0])
        _refuse_headings(table, columns)
        return None, None
    _refuse_missing(found[1], table, found[0][0])
    parts, dates = _with_time(table, *found, columns)
    if len(parts) == 1:
        return parts[0], dates
    note(f"dates are made of {' and '.join(shown(part) for part in parts)} (see --date).")
    name = " ".join(parts)
    while name in table.frame.columns:
        name += " date"
    table.frame = table.frame.drop(columns=parts)
    table.frame.insert(0, name, dates)
    return name, dates


def unfolded(table: FileTable, note: Note) -> FileTable:
    """A table with a row for each year and a column for each month or quarter, as one series.

    Columns of sums and means beside these are left out; any other table is left as it is.
    """
    names = list(table.frame.columns)
    each = 12 if len(names) > 12 else 4
    inside, beside = names[1 : 1 + each], names[1 + each :]
    of = _place_in_year if each == 12 else _quarter
    if [of(name) for name in inside] != list(range(1, each + 1)):
        return table
    years = table.numbers(names[0]).values
    if not (whole(years) and between(years, *calendar.YEARS) and len(np.unique(years)) > 1):
        return table
    if len(np.unique(years)) < len(years) or not all(OF_YEAR.fullmatch(one) for one in beside):
        return table
    order = np.argsort(years)
    kind, mark = ("months", "-") if each == 12 else ("quarters", "Q")
    dates = [
        f"{int(year)}{mark}{number:0{len(str(each))}}"
        for year in years[order]
        for number in range(1, each + 1)
    ]
    cells = table.frame[inside].to_numpy()[order].reshape(-1)
    frame = pd.DataFrame({kind[:-1]: dates, "value": cells})
    left = f", and {listed(beside)} {inflected(len(beside), 'is', 'are')} left out" * bool(beside)
    note(
        f"rows of {table.name} are years and columns {kind}: read as one series, 'value'{left} "
        "(--column takes one of them)."
    )
    sign = table.signs.get(inside[0])
    return FileTable(table.name, frame, {} if sign is None else {"value": sign}, table.dialect)


def _place_in_year(name: str) -> int | None:
    """The month that a column is named by: Jan, janvier, 1 or 01."""
    word = calendar.unaccented(str(name)).strip(" .")
    return int(word) if re.fullmatch(r"0?[1-9]|1[0-2]", word) else MONTH.get(word)


def _quarter(name: str) -> int | None:
    """The quarter that a column is named by: Q1, 1Q, T1."""
    found = QUARTER.fullmatch(str(name).strip())
    return int(found[1] or found[2]) if found else None


def _asked_for(table: FileTable, date: str, form: str | None, note: Note) -> tuple[str, pd.Index]:
    """Dates, or numbers of rows, of the column that was named."""
    cells = table.column(date, "--date")
    values, wrong = table.numbers(date)[:2]
    dates, likely = None, date.lower() not in COUNTERS
    if form is None and not len(wrong):
        dates = counted(table, date, likely, likely, note)
    if dates is None:
        dates = parse_dates(cells, form, note, HALF)
        if dates.isna().any() and not np.isnan(values).any():
            return date, pd.Index(values)
    _refuse_missing(dates, table, date)
    return date, dates


def _in_text(
    table: FileTable, columns: list[str], form: str | None, note: Note, most: float = NO_DATE
) -> Found:
    """The most likely column of dates that are more than numbers; ``most`` cells may be none."""
    candidates: dict[str, tuple[pd.DatetimeIndex, list[str]]] = {}
    for name in columns:
        likely = form is not None and (name == table.frame.columns[0] or like_dates(name))
        if not likely and not len(table.numbers(name).wrong):
            continue
        notes: list[str] = []
        dates = parse_dates(table.frame[name], form, notes.append, most)
        if dates.isna().mean() <= most and dates.notna().any():
            candidates[name] = dates, notes
    if not candidates:
        return None
    name = next(iter(candidates))
    if len(candidates) > 1:
        name = min(candidates, key=lambda one: _doubtful(candidates[one][0]))
    dates, notes = candidates[name]
    for one in notes:
        note(one)
    others = [one for one in candidates if one != name and candidates[one][0].nunique() > 1]
    if others:
        note(f"dates are taken from {shown(name)}; {listed(others)} could be too (--date).")
    return [name], dates


def _doubtful(dates: pd.DatetimeIndex) -> tuple[float, bool]:
    """How far a column is from dates that are there once each, and are evenly spaced."""
    known = dates.dropna()
    repeated = 1 - known.nunique() / max(len(known), 1)
    return round(repeated, 2) if known.nunique() > 1 else 2.0, even(known) is None


def _in_numbers(table: FileTable, columns: list[str], note: Note, most: float = NO_DATE) -> Found:
    """The first column of numbers that mean dates, beside others; ``most`` cells may be none."""
    for name in columns if len(table.frame.columns) > 1 else ():
        if len(table.numbers(name).wrong) < most * len(table.frame):
            first = name == table.frame.columns[0] and name.lower() not in COUNTERS
            dates = counted(table, name, like_dates(name), first, note, most)
            if dates is not None:
                return [name], dates
    return None


def _in_parts(table: FileTable, names: Sequence[str]) -> Found:
    """Days of the columns that make them together."""
    year = column_for(names, "year")
    columns = {part: name for part in FINER if (name := column_for(names, part))}
    years = _whole_years(table, year) if year and columns else None
    if year is None or years is None:
        return None
    number = {part: _numbers(table, name, part) for part, name in columns.items()}
    finer = next(iter(columns))
    used = [year, columns[finer]]
    if not between(number[finer], 1, 366):
        return None
    if finer == "week":
        dates = calendar.weeks(years, number["week"])
    elif finer == "quarter":
        dates = made(years, number["quarter"] * 3 - 2)
    elif finer == "day":
        dates = made(years, time=(number["day"] - 1) * DAY)
    else:
        dates = made(years, number[finer], number.get("day", 1))
        if "day" in columns:
            used.append(columns["day"])
    return None if dates.isna().any() else (used, dates)


def _whole_years(table: FileTable, name: str) -> np.ndarray | None:
    """Years of a column, also of two digits; None if a cell is none."""
    values = table.numbers(name).values
    if not whole(values):
        return None
    if between(values, 0, 99):
        return calendar.centuries(values.astype(int))
    return values.astype(int) if between(values, *calendar.YEARS) else None


def _numbers(table: FileTable, name: str, part: str) -> np.ndarray:
    """Numbers of months, weeks and so on, also by name, or of a period's month; below 1 if none."""
    found = []
    for cell in brief(table.frame[name]):
        text = calendar.unaccented(cell).strip().rstrip(".")
        if part == "period":
            match = PERIOD.fullmatch(cell)
            found.append(MONTHS[match[1]] * (int(match[2]) - 1) + 1 if match else -1)
        elif match := NUMBERED.fullmatch(text):
            found.append(int(match[1]))
        else:
            found.append(MONTH.get(text, -1) if part == "month" else -1)
    return np.array(found)


def _with_time(
    table: FileTable, parts: list[str], days: pd.DatetimeIndex, names: Sequence[str]
) -> tuple[list[str], pd.DatetimeIndex]:
    """Days that repeat together with the times, or hours and minutes, of other columns."""
    for part, unit in (("time", "D"), ("hour", "D"), ("minute", "h")):
        name = column_for([one for one in names if one not in parts], part)
        if name is None or days.is_unique or (days != days.floor(unit)).any():
            continue
        times = _times(table, name, part)
        if times is not None:
            later = days + pd.to_timedelta(times, unit="us").as_unit("us")
            parts, days = [*parts, name], calendar.usual(later)
    return parts, days


def _times(table: FileTable, name: str, part: str) -> np.ndarray | None:
    """Microseconds of a day that the cells of a column say, None if one of them says none."""
    numbers = _numbers(table, name, part)
    if part == "minute":
        return numbers * MINUTE if between(numbers, 0, 59) else None
    told = np.array([_begin(cell) for cell in brief(table.frame[name])])
    return _clock(numbers) if (told < 0).any() else told


def _begin(cell: str) -> int:
    """Microseconds of the day when a time, a span or an hour such as HE01 begins."""
    if ending := ENDING.fullmatch(cell):
        return (int(ending[1]) - 1) * HOUR if 1 <= int(ending[1]) <= 25 else -1
    return time_of_day(SPAN.sub("", cell))


def _clock(numbers: np.ndarray) -> np.ndarray | None:
    """Microseconds of a day of hours, or of digits such as 930, 1530 or 153000."""
    if not between(numbers, 0, 240_000):
        return None
    if numbers.max() <= 24:
        return numbers * HOUR
    if numbers.max() > 2400:
        numbers = numbers // 100  # seconds are left out
    fine = (numbers // 100 <= 24) & (numbers % 100 < 60) & (numbers.max() > 100)
    return numbers // 100 * HOUR + numbers % 100 * MINUTE if fine.all() else None


def _unmerge(table: FileTable, names: list[str], note: Note) -> None:
    """Fill years and days down to the rows below, and leave annual averages out of a table."""
    year = column_for(names, "year")
    coarse = year or column_for(names, "date")
    parts = ("month", "quarter", "period") if year else ("time", "hour")
    finer = column_for(names, *parts)
    if coarse is None or finer is None:
        return
    finer_cells = brief(table.frame[finer])
    if year and calendar.role(finer, "period"):
        annual = np.array([ANNUAL.fullmatch(cell) is not None for cell in finer_cells])
        if annual.any() and not annual.all() and all(map(PERIOD.fullmatch, finer_cells)):
            first = shown(finer_cells[int(annual.argmax())])
            rows = inflected(annual.sum(), "1 row is", "{} rows are")
            note(f"{rows} left out as averages of a year ({first} in {shown(finer)}).")
            table.frame = table.frame[~annual].reset_index(drop=True)
            table.read.clear()
        return
    cells = brief(table.frame[coarse])
    there = np.array([cell != "" for cell in cells])
    if there.all() or not there[0] or there.mean() > 0.5:
        return
    # Months or hours begin anew with each year or day.
    numbers = _numbers(table, finer, "month") if year else _times(table, finer, "hour")
    if numbers is None or numbers.min() < 0:
        return
    if ((np.diff(numbers, prepend=numbers[0]) <= 0) == there).all():
        note(f"cells of {shown(coarse)} are taken for the empty ones below them too.")
        table.frame = table.frame.assign(**{coarse: pd.Series(cells).where(there).ffill()})
        table.read.pop(coarse, None)


def _refuse_missing(dates: pd.DatetimeIndex, table: FileTable, name: str) -> None:
    """Raise where a row has no date."""
    missing = np.flatnonzero(dates.isna())
    if len(missing):
        like = "a date like the others" if len(missing) < len(dates) else "a date"
        remove = inflected(len(missing), "that row", "such rows")
        more = inflected(len(missing), "", " ({:,} cells are not)")
        raise ValueError(
            f"column {shown(name)} of {table.name} holds {table.place(name, missing[0])}, which is "
            f"not {like}{more}; remove {remove}, give --date-format, or take rows as evenly spaced "
            "with --date none."
        )


def _refuse_headings(table: FileTable, columns: list[str]) -> None:
    """Raise for years in rows of their own above their months."""
    for name in columns[:3]:
        sample = [
            calendar.unaccented(cell).rstrip(".") for cell in brief(table.frame[name].iloc[:40])
        ]
        years = [row for row, cell in enumerate(sample) if YEAR.fullmatch(cell)]
        months = sum(cell in MONTH or re.fullmatch(r"q[1-4]", cell) is not None for cell in sample)
        if years and months and len(years) + months >= 0.9 * len(sample):
            raise ValueError(
                f"column {shown(name)} of {table.name} holds the year {sample[years[0]]} in row "
                f"{years[0] + 1}, above months without one: write the year into a column of its "
                "own beside the months, and remove such rows."
            )


def say_unread(table: FileTable, others: Sequence[str], note: Note) -> None:
    """Say which column, none of ``others``, seems to hold dates that could not be read."""
    columns = table.columns(others)
    text = {name for name in columns if len(table.numbers(name).wrong) > NO_DATE * len(table.frame)}
    # A column of numbers that is alone is forecast, whatever its name.
    alone = len(columns) == len(table.frame.columns) == len(text) + 1
    for name in columns:
        if name in text:
            sample = brief(table.frame[name].iloc[:100])
            digits = np.mean([any(mark.isdigit() for mark in cell) for cell in sample])
            first = name == table.frame.columns[0]
            likely = like_dates(name) or (first and digits > 1 - NO_DATE)
        else:
            counts = len(np.unique(np.diff(table.numbers(name).values))) == 1
            likely = like_dates(name, whole=True) and not counts and not alone
        if likely:
            break
    else:
        return
    cells = brief(table.frame[name])
    years = [int(match[0]) for cell in cells if (match := YEAR.search(cell))]
    told = len(years) >= (1 - NO_DATE) * len(cells) and years[0] > years[-1]
    if told and (np.diff(years) <= 0).all():
        raise ValueError(
            f"the dates in {shown(name)} of {table.name} are not read, such as {shown(cells[0])}, "
            "and the newest seem to come first: sort the rows from the oldest to the newest, or "
            "say how dates are written with --date-format."
        )
    what = "its numbers are not read as such"
    if name in text:
        unread = parse_dates(table.frame[name], None, _unsaid, FEW).isna()
        what = f"{shown(cells[int(unread.argmax())])} is not read as one"
    note(
        f"{shown(name)} may hold dates, but {what}, and rows are taken as evenly spaced, from the "
        "oldest to the newest: name the column with --date and how its dates are written with "
        "--date-format."
    )


def another(table: FileTable, others: Sequence[str]) -> str | None:
    """A column that may hold the dates, none of ``others``."""
    found = _in_text(table, table.columns(others), None, _unsaid, 0.0)
    return found[0][0] if found and found[1].nunique() > 1 else None


def _unsaid(words: str) -> None:
    """Take a note of which users are not told."""
