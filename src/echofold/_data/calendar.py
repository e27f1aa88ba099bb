"""What a calendar knows in advance: holidays, working days, ends of months, paydays, Easter."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

from echofold._data.arguments import is_integer, refuse
from echofold._data.dates import clock_times, spacing
from echofold._data.text import listed

DAYS, WEEKS, MONTHS = 1.5, 28, 360  # steps below these are of days, of weeks, of months at most
AWAY = 14  # days, longer than any time without work
AROUND = 30  # days before and after holidays, at most
EASTER = (-2, -1, 0, 1)  # days from Easter Sunday: Good Friday to Easter Monday
EASTERN = {  # countries that keep the Easter of the eastern churches
    "BG", "BY", "CY", "EG", "ER", "ET", "GE", "GR", "MD", "ME", "MK", "RO", "RS", "RU", "UA",
}  # fmt: skip
ALIKE = 0.75  # how alike names of countries must be, to be told as near ones
FEW = 3  # rows from which on dates tell how far apart they are
OF_A_COUNTRY = re.compile(  # names of columns
    r"(?P<place>[A-Z]{2}(?:-.+?)?) (?:(?P<days>\d+ days|day) (?:before|after) holiday"
    r"|holiday|working day|month start|month end|payday (?P<payday>\d+)|easter)"
)


def calendar(
    index: Any, country: str | None = None, *, subdiv: str | None = None, around: int = 1,
    paydays: Sequence[int] = (), freq: Any = None,
) -> pd.DataFrame:  # fmt: skip
    """Known inputs of dates: holidays and days around them, working days, ends of months, Easter.

    Which columns there are depends on the arguments and on how far apart the dates are, and never
    on which dates they are: those of a forecast are those of the fit.

    Parameters
    ----------
    index : DatetimeIndex, PeriodIndex, or a pandas series or frame with one
        Dates of the rows, a year apart or less. Dates with a time zone count by its clocks.
    country : str, optional
        Whose holidays, by the code that ISO 3166 has for it, as ``"DE"``; with a subdivision as
        ``"DE-BY"``. Holidays come from the package of that name (``pip install
        "echofold[holidays]"``), which needs no network. Without a country Monday to Friday are
        working days, and there are no holidays.
    subdiv : str, optional
        The subdivision, if ``country`` does not name it: ``"BY"``.
    around : int, default=1
        How many days before and after holidays have a column each.
    paydays : sequence of int, default=()
        Days of the month on which people are paid, 31 being its last. Each is moved to the last
        working day up to it.
    freq : str or offset, optional
        How far apart the dates are, as pandas writes it; needed of fewer than three dates whose
        index does not say so.

    Returns
    -------
    pandas.DataFrame
        With this index, and columns of numbers, whose names begin with the country. Of steps of up
        to a day 0 or 1: ``holiday``, ``day before holiday``, ``day after holiday`` (which are no
        holidays themselves), ``working day``, ``month start``, ``month end``, ``payday 15``, and
        ``easter``, from Good Friday to Easter Monday of the church whose Easter the country keeps.
        Of longer steps how many such days each has: of weeks without starts of months and days
        around holidays, of months, quarters and years holidays, working days and, but for years,
        Easter.

    See Also
    --------
    AutoForecaster.contributions : Whether that helped.

    Notes
    -----
    What a date stands for is told by its frequency, as pandas has it: ``"MS"`` begins a month and
    ``"ME"`` ends it. A week begins on its date if that is a Monday, and ends there on any other
    day. A PeriodIndex leaves no doubt.

    Examples
    --------
    >>> import pandas as pd
    >>> from echofold import calendar
    >>> days = pd.date_range("2024-02-27", periods=4, freq="D")
    >>> calendar(days, paydays=[31]).astype(int)
                working day  month start  month end  payday 31  easter
    2024-02-27            1            0          0          0       0
    2024-02-28            1            0          0          0       0
    2024-02-29            1            0          1          1       0
    2024-03-01            1            1          0          0       0
    >>> months = pd.period_range("2024-02", periods=3, freq="M")
    >>> calendar(months).astype(int)
             working day  easter
    2024-02           21       0
    2024-03           21       3
    2024-04           22       1
    """
    dates = index.index if isinstance(index, pd.Series | pd.DataFrame) else index
    if not isinstance(dates, pd.DatetimeIndex | pd.PeriodIndex) or dates.hasnans or not len(dates):
        refuse(
            "index", type(index).__name__,
            "a pandas index of dates or periods without NaT, or a series or frame with one; of "
            "several series, {name: calendar(y.index) for name, y in series.items()}",
        )  # fmt: skip
    if not is_integer(around) or not 0 <= around <= AROUND:
        refuse("around", around, f"a number of days, 0 to {AROUND}")
    if not np.iterable(paydays) or not all(is_integer(day) and 1 <= day <= 31 for day in paydays):
        refuse("paydays", paydays, "days of the month, 1 to 31, as [15, 31]")
    place = None if country is None and subdiv is None else _place(country, subdiv)
    first, last, step = _days_of(dates, freq)
    start = first.min() - max(AWAY, around)
    days = np.arange(start, last.max() + max(AWAY, around) + 1)
    each = _columns(days, place, step, int(around), dict.fromkeys(map(int, paydays)))
    name = "" if place is None else f"{'-'.join(filter(None, place))} "
    found = {}
    for column, flags in each.items():
        sums = np.concatenate([[0], np.cumsum(flags)])
        found[name + column] = (sums[last - start + 1] - sums[first - start]).astype(float)
    return pd.DataFrame(found, index=dates)


def told_by(names: Iterable[Any]) -> dict[str, Any] | None:
    """The arguments of `calendar` that made columns of these names; None unless of a country."""
    told = [one for one in map(OF_A_COUNTRY.fullmatch, map(str, names)) if one is not None]
    if len({one["place"] for one in told}) != 1:
        return None
    days = [one["days"] for one in told if one["days"]]
    return {
        "country": told[0]["place"],
        "around": max((int(one.split()[0]) if " " in one else 1 for one in days), default=0),
        "paydays": tuple(dict.fromkeys(int(one["payday"]) for one in told if one["payday"])),
    }


def group_of(name: str) -> str:
    """What an input belongs to: those of a country's calendar, or of one column, are one thing.

    Examples
    --------
    >>> group_of("DE working day"), group_of("easter"), group_of("shop=Kaunas"), group_of("price")
    ('calendar DE', 'easter', 'shop', 'price')
    """
    told = OF_A_COUNTRY.fullmatch(name)
    return name.partition("=")[0] if told is None else f"calendar {told['place']}"


def _days_of(dates: Any, freq: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """The first and the last day of each row, as days since 1970, and days of a step."""
    if isinstance(dates, pd.PeriodIndex):
        return _numbered(dates.start_time), _numbered(dates.end_time), _length(dates.freq)
    step = _step(dates, freq)
    plain = dates.tz_localize(None)
    own, length = _numbered(plain), _length(step)
    if length < DAYS:
        return own, own, length
    # A month or a week (of Mondays) that begins on its date, and days; all else ends there.
    kind, begins = type(step).__name__, getattr(step, "weekday", 0) in (0, None)
    if kind.endswith("Begin") or (begins and not kind.endswith(("End", "Quarter"))):
        return own, _numbered(plain + step) - 1, length
    return _numbered(plain - step) + 1, own, length


def _numbered(dates: pd.DatetimeIndex) -> np.ndarray:
    """Dates as days since 1970."""
    return dates.to_numpy().astype("datetime64[D]").astype(np.int64)


def _step(dates: pd.DatetimeIndex, freq: Any) -> Any:
    """How far apart dates are, as an offset of pandas; raise if nobody can tell."""
    if freq is not None:
        try:
            return to_offset(freq)
        except (ValueError, TypeError):
            refuse("freq", freq, "a frequency of pandas, as 'D', 'W-MON', 'MS' or 'h'")
    if dates.freq is not None:
        return dates.freq
    unique = dates.unique().sort_values()
    found = spacing(clock_times(unique)) if len(unique) >= FEW else None
    if found is None:
        words = "are not evenly spaced" if len(unique) >= FEW else "are too few to tell their step"
        raise ValueError(
            f"index: its dates {words}, which decides on the columns. Give freq=, as 'D' or 'MS', "
            "or a PeriodIndex."
        )
    return to_offset(found)


def _length(step: Any) -> float:
    """Days of a step in the mean; of business days more than one."""
    begin = pd.Timestamp("2001-01-01")
    return ((begin + 24 * step) - begin) / pd.Timedelta(days=24)


def _columns(
    days: np.ndarray, place: tuple[str, str | None] | None, step: float, around: int,
    paydays: Iterable[int],
) -> dict[str, np.ndarray]:  # fmt: skip
    """What is true of each of ``days``, which follow each other, by name."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    starts = months.astype("datetime64[D]")
    lasts = (months + 1).astype("datetime64[D]") - np.timedelta64(1, "D")
    years = months.astype("datetime64[Y]").astype(int) + 1970
    holiday, working = _known(days, years, place)
    found: dict[str, np.ndarray] = {}
    if place is not None:
        found["holiday"] = holiday
        for ahead in range(1, around + 1) if step < DAYS else ():
            words = "day" if ahead == 1 else f"{ahead} days"
            found[f"{words} before holiday"] = _nearest(holiday[::-1], ahead)[::-1]
            found[f"{words} after holiday"] = _nearest(holiday, ahead)
    found["working day"] = working
    if step < DAYS:
        found["month start"] = dates == starts
    if step < WEEKS:
        found["month end"] = dates == lasts
        for day in paydays:
            due = dates == np.minimum(starts + np.timedelta64(day - 1, "D"), lasts)
            found[f"payday {day}"] = _moved_back(due, working)
    if step < MONTHS:
        sundays = np.array([_easter(year, place) for year in np.unique(years)])
        found["easter"] = np.isin(days, sundays[:, None] + EASTER)
    return found


def _nearest(flags: np.ndarray, ahead: int) -> np.ndarray:
    """Whether the last flag up to a day was exactly so many days before it."""
    places = np.arange(len(flags))
    latest = np.maximum.accumulate(np.where(flags, places, -len(flags) - ahead))
    return places - latest == ahead


def _moved_back(due: np.ndarray, working: np.ndarray) -> np.ndarray:
    """Flags moved to the last working day up to each."""
    places = np.arange(len(due))
    latest = np.maximum.accumulate(np.where(working, places, -1))[due]
    moved = np.zeros(len(due), dtype=bool)
    moved[latest[latest >= 0]] = True
    return moved


# --- holidays -------------------------------------------------------------------------------------


def _known(
    days: np.ndarray, years: np.ndarray, place: tuple[str, str | None] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each of these days is a holiday, and whether it is a working day."""
    if place is None:
        return np.zeros(len(days), dtype=bool), (days + 3) % 7 < 5  # 1970 began on a Thursday
    of_years = [_year(*place, int(year)) for year in range(years[0], years[-1] + 1)]
    first = np.datetime64(f"{years[0]:04}-01-01", "D").astype(np.int64)
    flags = np.concatenate(of_years, axis=1)[:, days[0] - first :][:, : len(days)]
    return flags[0], flags[1]


@lru_cache(1000)
def _year(country: str, subdiv: str | None, year: int) -> np.ndarray:
    """Holidays and working days of a year ``(2, days)``."""
    known, one, found = _package().country_holidays(country, subdiv=subdiv), date(year, 1, 1), []
    while one.year == year:
        found.append((one in known, known.is_working_day(one)))
        one += timedelta(days=1)
    return np.array(found).T


def _package() -> Any:
    """The package holidays; raise if it is not there."""
    try:
        import holidays
    except ImportError as error:
        raise ImportError(
            "holidays of a country need the package holidays: pip install 'echofold[holidays]'"
        ) from error
    return holidays


def _place(country: str | None, subdiv: str | None) -> tuple[str, str | None]:
    """A country and its subdivision as the package holidays has them; raise for others."""
    if not isinstance(country, str) or not isinstance(subdiv, str | None):
        refuse("country", country, "a code as 'DE', or 'DE-BY' with a subdivision")
    code, _, part = country.strip().partition("-")
    if part and subdiv is not None and part != subdiv:
        raise ValueError(f"country={country!r} and subdiv={subdiv!r} name two subdivisions.")
    package, code, part = _package(), code.upper(), part or subdiv or ""
    known = package.list_supported_countries(include_aliases=False)
    if code not in known:
        raise ValueError(
            f"country={country!r} is no code that the package holidays knows."
            f"{_near(country, known)} Give the two letters of ISO 3166, as 'DE', and 'DE-BY' for a "
            "subdivision."
        )
    same = [one for one in known[code] if one.lower() == part.lower()]
    if part and not same:
        near = difflib.get_close_matches(part.upper(), known[code], 1, 0.4)
        hint = f"did you mean {near[0]!r}? " if near else ""
        there = listed(known[code]) if len(known[code]) else "none"
        raise ValueError(
            f"{code!r} has no subdivision {part!r}: {hint}There are {there}. Give one, or the "
            "country alone."
        )
    return code, same[0] if same else None


def _near(country: str, known: Iterable[str]) -> str:
    """Codes of countries whose name or code is nearly this one, as part of a sentence."""
    from holidays.registry import COUNTRIES

    each = {
        alias.lower().replace("_", " "): code
        for name, aliases in COUNTRIES.items()
        for code in set(aliases) & set(known)
        for alias in (name, *aliases)
    }
    near = difflib.get_close_matches(country.lower(), each, 1, ALIKE)
    return f" Did you mean {each[near[0]]!r}?" if near else ""


# --- Easter ---------------------------------------------------------------------------------------


def _easter(year: int, place: tuple[str, str | None] | None) -> int:
    """Easter Sunday as days since 1970, of the church whose Easter is kept there."""
    return _sunday(year, place is not None and place[0] in EASTERN)


@lru_cache(1000)
def _sunday(year: int, eastern: bool) -> int:
    """Easter Sunday as days since 1970: by the tables of 1582, or by the Julian calendar.

    The algorithms of J. Meeus, Astronomical Algorithms (1998), chapter 8.
    """
    a, b, c, d, e, century = year % 19, year % 4, year % 7, 0, 0, year // 100
    if eastern:
        d = (19 * a + 15) % 30
        e = (2 * b + 4 * c - d + 34) % 7
        number, off = d + e + 114, century - century // 4 - 2  # days that Julian dates are behind
    else:
        d = (19 * a + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
        full = d - (d == 29 or (d == 28 and a > 10))  # days from 21 March to the full moon
        number, off = full + (7 - (year + year // 4 + full + 2 - century + century // 4) % 7), 0
        return (date(year, 3, 21) - date(1970, 1, 1)).days + number
    return (date(year, number // 31, number % 31 + 1) - date(1970, 1, 1)).days + off
