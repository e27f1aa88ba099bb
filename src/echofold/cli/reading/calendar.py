"""What calendars hold: names of months and of columns, years, weeks, periods, and zones."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import Note

MONTHS = (
    "january february march april may june july august september october november december",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april maj juni juli august september oktober november desember",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada "
    "grudnia",
    "styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad "
    "grudzien",
)
MORE = {"janner": 1, "maerz": 3, "mrz": 3, "mrt": 3}  # that no name above begins with
DAYS = """
    monday tuesday wednesday thursday friday saturday sunday lundi mardi mercredi jeudi vendredi
    samedi dimanche montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend lunes
    martes miercoles jueves viernes sabado domingo lunedi martedi mercoledi giovedi venerdi sabato
    domenica segunda terca quarta quinta sexta feira maandag dinsdag woensdag donderdag vrijdag
    zaterdag zondag mandag tisdag onsdag torsdag fredag lordag sondag
"""
FILLERS = {"of", "the", "de", "del", "den", "der", "le", "st", "nd", "rd", "th", "er", "o", "at"}
ACCENTS = re.compile("[\u0300-\u036f]")
ROLES = {
    "year": "year yr yyyy yy jahr annee an ano anio anno jaar rok",
    "month": "month mon mm mo mnth monat mois mes mese maand manad miesiac monthname",
    "day": "day dd tag jour dia giorno dag dayofmonth dom doy dayofyear",
    "quarter": "quarter qtr q quartal trimestre trim kwartaal",
    "week": "week wk woche kw semaine semana settimana weeknumber weeknr weekofyear kalenderwoche "
    "isoweek yearweek yw weekyear epiweek",
    "hour": "hour hr hh stunde heure hora ora uur he",
    "minute": "minute minuten minuto minuut",
    "date": "date datum fecha data ds dt dato dates day tag jour dia giorno dag",
    "period": "period periode periodo",
    "time": "time uhrzeit zeit heure hora ora tijd heures clock starttime timestart "
    "start begin from von beginn intervalstart",
}
OTHER = """
    datetime timestamp timestamps ts epoch unix unixtime yearmonth yyyymm yyyymmdd ym yearweek
    yearquarter zeitpunkt zeitstempel tiempo temps tempo monthyear years jahre annees fy fiscalyear
"""
OF_ROLE = {role: set(names.split()) for role, names in ROLES.items()}
WEAK = {"q", "data", "an", "he", "mo", "mon", "start", "begin", "from", "von", "beginn"}
LIKE = set.union(*OF_ROLE.values(), set(OTHER.split())) - WEAK
WORD = re.compile(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+")
YEARS = 1500, 2300
Whole = np.ndarray | int
DAY = 86_400_000_000  # microseconds
UNIT = pd.date_range("2000", periods=1).unit  # what pandas gives to dates of its own
LETTER = r"(?P<letter>q|t|qtr|quarter|quartal|trim|trimestre|kwartaal|m|w|kw|wk|week|s|sem|h)"
BETWEEN = r"[-\s:/.]{0,2}"
NUMBER, YEAR = r"(?P<number>\d{1,2})", r"(?P<year>\d{4}|\d\d)"
FORMS = [
    re.compile(rf"(?P<year>\d{{4}}){BETWEEN}{LETTER}{BETWEEN}{NUMBER}"),
    re.compile(r"(?P<year>\d{4})-?(?P<letter>w)(?P<number>\d\d)-?(?P<day>[1-7])"),
    re.compile(rf"{LETTER}{BETWEEN}{NUMBER}[-\s:/.']{{1,2}}{YEAR}"),
    re.compile(rf"{NUMBER}\.?\s?{LETTER}{BETWEEN}'?{YEAR}"),
]
KINDS = {"m": 1, "w": 7, "kw": 7, "wk": 7, "week": 7, "s": 7, "sem": 7, "h": 6}  # else 3 months
MOST_PERIODS = {1: 12, 3: 4, 6: 2, 7: 53}
OFFSET = re.compile(r"\s*(?:Z|(?:UTC|GMT)?([+-])(\d{2})(?::?(\d{2}))?)$")
TIMED = re.compile(r"\d{1,2}:\d{2}|\d{8}T\d{2}|\dT\d{2}")
ZONE = re.compile(
    r"(?<=[\d\sMm])\s*\(?(?:[ECMP][SD]T|AK[SD]T|HST|CES?T|EES?T|WES?T|MES?Z|MSK|BST|IST|SGT|HKT|"
    r"JST|KST|A[EC][SD]T|AWST|NZ[SD]T|SAST)\)?$"
)
MOST_OFFSETS = 4  # offsets of one file: more are rather the ends of ranges such as 10:00-11:00
SAMPLE = 100  # cells by which ways to read a column are ruled out: all of them take a while
HOUR, MINUTE = 3_600_000_000, 60_000_000  # microseconds


def unaccented(word: str) -> str:
    """Letters in lower case without accents."""
    if word.isascii():
        return word.lower()
    return ACCENTS.sub("", unicodedata.normalize("NFKD", word.lower()))


def _beginnings() -> dict[str, int]:
    """Months by every beginning of their names, of three letters or more, that means one only."""
    found: dict[str, set[int]] = {}
    for names in MONTHS:
        for number, name in enumerate(names.split(), 1):
            for length in range(3, len(name) + 1):
                found.setdefault(name[:length], set()).add(number)
    return {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1}


MONTH = {**_beginnings(), **MORE}
WEEKDAY = {name[:length] for name in DAYS.split() for length in range(2, len(name) + 1)}


def role(name: str, wanted: str) -> bool:
    """Whether a column is named for a part of dates, such as MONTH_NAME."""
    return re.sub(r"[\W\d_]", "", unaccented(name)) in OF_ROLE[wanted]


def column_for(names: Sequence[str], *wanted: str) -> str | None:
    """The first column that is named for one of these parts of dates."""
    return next((name for name in names if any(role(name, one) for one in wanted)), None)


def like_dates(name: str, whole: bool = False) -> bool:
    """Whether a word of a name, such as saleDate, speaks of dates, or, if ``whole``, each."""
    words = {unaccented(word) for word in WORD.findall(name)}
    return unaccented(name) in LIKE or bool(words & LIKE and (not whole or words <= LIKE))


def made(year: np.ndarray, month: Whole = 1, day: Whole = 1, time: Whole = 0) -> pd.DatetimeIndex:
    """Dates of numbers, NaT where there is no such day; ``time`` is microseconds of a day."""
    fine = (year >= YEARS[0]) & (year <= YEARS[1]) & (month >= 1) & (month <= 12)
    months = (np.where(fine, year, 1970) - 1970) * 12 + np.where(fine, month, 1) - 1
    firsts = months.astype("datetime64[M]")
    days = firsts.astype("datetime64[D]") + (np.where(fine, day, 1) - 1).astype("timedelta64[D]")
    fine &= days.astype("datetime64[M]") == firsts  # else there is no such day
    stamps = days.astype("datetime64[us]") + np.asarray(time).astype("timedelta64[us]")
    stamps[~fine] = np.datetime64("NaT", "us")
    return usual(pd.DatetimeIndex(stamps))


def usual(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates in pandas' usual unit, if that reaches so far."""
    try:
        return dates.as_unit(UNIT)
    except pd.errors.OutOfBoundsDatetime:
        return dates


def in_plausible_years(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates without those of years that nobody means."""
    years = dates.year
    meant = (years >= YEARS[0]) & (years <= YEARS[1])
    return dates if meant.all() else dates.where(meant)


def centuries(years: np.ndarray) -> np.ndarray:
    """Whole years of the last two digits, in the order of a file; below zero where missing.

    A file that runs on from row to row does so over the turn of a century, and ends next year at
    the latest. In any other order, a year after the next is of the last century.
    """
    there, latest = years >= 0, _today().year + 1
    known = years[there]
    whole = np.unwrap(known, period=100).round().astype(int)
    steps = np.diff(whole)
    if len(known) and ((steps >= 0).all() or (steps <= 0).all()):
        whole += (latest - whole.max()) // 100 * 100
    else:
        whole = latest - (latest - known) % 100
    out = years.copy()
    out[there] = whole
    return out


def _today() -> datetime.date:
    return datetime.date.today()


def by_letter(cells: Sequence[str]) -> tuple[pd.DatetimeIndex, bool]:
    """First days of the periods, NaT where a cell is none; whether years have two digits."""
    year, number, kind, digits, days = np.zeros((5, len(cells)), int)
    halves = True
    for row, cell in enumerate(cells):
        text = unaccented(cell) if len(cell) <= 20 else ""
        match = next((found for form in FORMS if (found := form.fullmatch(text))), None)
        if match:
            kind[row] = KINDS.get(match["letter"], 3)
            year[row], number[row] = int(match["year"]), int(match["number"])
            digits[row] = len(match["year"])
            days[row] = int(match.groupdict().get("day") or 1) - 1
            halves &= match["letter"] in ("s", "sem") and number[row] <= 2
    if halves:  # 2001-S1 and 2001-S2 are no weeks
        kind[kind > 0] = 6
    usual_kind = int(np.bincount(kind[kind > 0]).argmax()) if kind.any() else 3
    short = bool(kind.any()) and float(np.median(digits[kind > 0])) == 2
    fits = (kind == usual_kind) & (number >= 1) & (number <= MOST_PERIODS[usual_kind])
    fits &= digits == (2 if short else 4)
    year = np.where(fits, year, -1)
    if short:
        year = centuries(year)
    if usual_kind == 7:
        return weeks(year, number, days), short
    return made(year, (number - 1) * usual_kind + 1), short


def weeks(year: np.ndarray, number: np.ndarray, days: Whole = 0) -> pd.DatetimeIndex:
    """Mondays of the weeks of ISO 8601, or ``days`` after; NaT where a year has no such week."""
    fourth = made(year, day=4)  # of January, which is in the first week
    ahead = 7 * (number.clip(0, 54) - 1) - fourth.day_of_week
    thursday = fourth + pd.to_timedelta(ahead + 3, unit="D").as_unit(fourth.unit)
    moved = thursday + pd.to_timedelta(days - 3, unit="D").as_unit(fourth.unit)
    return moved.where(thursday.year == year)


def sampled(cells: Sequence[Any]) -> list[Any]:
    """Some of the cells of a column, from its first to its last."""
    places = np.linspace(0, len(cells) - 1, min(len(cells), SAMPLE)).astype(int)
    return [cells[place] for place in places]


def without_zone(cells: list[str], say: Note) -> tuple[list[str], np.ndarray | None]:
    """Cells without their zones, and the minutes that these are ahead of UTC where all tell so."""
    sample = [cell for cell in sampled(cells) if TIMED.search(cell)]
    if not any(ZONE.search(cell) or OFFSET.search(cell) for cell in sample):
        return cells, None
    zones = [match[0] for cell in cells if (match := ZONE.search(cell))]
    if len(zones) > len(cells) / 2:
        zone = zones[0].strip(" ()")
        say(f"times in {{}} are taken as they stand, without their zone ({zone}).")
        return [ZONE.sub("", cell) for cell in cells], None
    found = [OFFSET.search(cell) if TIMED.search(cell) else None for cell in cells]
    if found.count(None) >= len(cells) / 2:
        return cells, None
    cells, ahead = cells.copy(), np.zeros(len(cells), int)
    for row, match in enumerate(found):
        if match:
            cells[row] = cells[row][: match.start()]
            minutes = int(match[2] or 0) * 60 + int(match[3] or 0)
            ahead[row] = -minutes if match[1] == "-" else minutes
    if len(np.unique(ahead)) > MOST_OFFSETS:
        say("ranges of hours in {} are read as their first.")
        return cells, None
    return cells, ahead


def placed(local: pd.DatetimeIndex, ahead: np.ndarray, say: Note) -> pd.DatetimeIndex:
    """Dates of local times: as they stand if they are days or longer apart, else in UTC."""
    times = local.dropna() - local.dropna().normalize()
    if ahead.any() and times.nunique() == 1:  # days, weeks or longer apart
        say("times in {} are local: offsets from UTC are left out.")
        return local
    universal = local - pd.to_timedelta(ahead, unit="min").as_unit(local.unit)
    days = local_midnights(universal)
    if days is not None:
        say("times in {} are midnights of a zone: they are read as its days.")
        return days
    say(f"times in {{}} are {'converted to' if ahead.any() else 'in'} UTC.")
    return universal


def local_midnights(dates: pd.DatetimeIndex) -> pd.DatetimeIndex | None:
    """The days whose midnights these are, in a zone with summer time or east of UTC, or None."""
    known = dates.dropna()
    if len(known) < 3:
        return None
    times = np.unique((known - known.normalize()).as_unit("us").asi8)
    steps = np.abs(np.diff(known.unique().as_unit("us").asi8)) / DAY
    summer = len(times) == 2 and (times[1] - times[0]) == HOUR
    # A month that begins at 22:00 on the last of the one before.
    late = len(times) == 1 and times[0] >= 12 * HOUR and np.median(steps) > 27
    if not (summer or late) or np.median(steps) < 0.9 or (times % (15 * MINUTE)).any():
        return None
    return dates.round("D")
