"""Files whose dates are written as people and programs write them, and what must come out."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

FRENCH = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
SPANISH = "ene feb mar abr may jun jul ago sep oct nov dic"
ITALIAN = "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
PORTUGUESE = "jan fev mar abr mai jun jul ago set out nov dez"
DUTCH = "jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec."


@dataclass(frozen=True)
class Case:
    """A file, how it is read, and the dates or the error that come out."""

    name: str
    content: str
    first: str = ""
    last: str = ""
    words: str = ""
    seasons: tuple = ()
    note: str = ""  # what one of the notes says; if empty, none is given
    error: str = ""
    options: dict = field(default_factory=dict)


def table(**columns):
    """A file of columns and of values that change."""
    rows = len(next(iter(columns.values())))
    columns = {**columns, "sales": np.round(100 + 10 * np.sin(np.arange(rows)), 2)}
    lines = zip(*columns.values(), strict=True)
    return "\n".join(",".join(map(str, line)) for line in (columns, *lines)) + "\n"


def dates(freq, rows=48, start="1949-01-01"):
    return pd.date_range(start, periods=rows, freq=freq)


def month_names(names, form, days):
    return [d.strftime(form).replace("@", names.split()[d.month - 1]) for d in days]


def spaced(words):
    """Seasons of a file with 48 rows."""
    return {
        "monthly": (12,), "quarterly": (4,), "daily": (7,), "hourly": (24,),
        "on business days": (5,), "every 30 minutes": (), "every 15 minutes": (),
    }.get(words, ())  # fmt: skip


def as_is(name, texts, days, words, note="", column="date", **options):
    """A case of a single column of dates."""
    texts = texts if isinstance(texts, list) else list(days.strftime(texts))
    days = days.floor("s")
    return Case(
        name, table(**{column: texts}), str(days[0]), str(days[-1]), words, spaced(words), note,
        options=options,
    )  # fmt: skip


def orders():
    """Both orders of day and month, in every frequency and with every mark."""
    months, quarters, days = dates("MS"), dates("QS"), dates("D", 48, "2021-01-30")
    for mark in "/.-":
        day, us = f"%d{mark}%m{mark}%Y", f"%m{mark}%d{mark}%Y"
        both = "--date-format"
        yield as_is(f"months, day first, {mark}", day, months, "monthly", both)
        yield as_is(f"months, month first, {mark}", us, months, "monthly", both)
        yield as_is(f"quarters, day first, {mark}", day, quarters, "quarterly", "day first")
        yield as_is(f"quarters, month first, {mark}", us, quarters, "quarterly", "month first")
        yield as_is(f"days, day first, {mark}", day, days, "daily")
        yield as_is(f"days, month first, {mark}", us, days, "daily")
    fifth = list((months + pd.Timedelta("4D")).strftime("%d/%m/%Y"))
    yield as_is(
        "the 5th of months", fifth, months, "monthly", "day first, because they are monthly"
    )
    third = dates("30min", 48, "2021-04-03")
    for name, form in (("day", "%d.%m.%Y %H:%M"), ("month", "%m/%d/%Y %H:%M")):
        yield as_is(f"one day, {name} first", form, third, "every 30 minutes", f"the {name} first")
    yield as_is("months without zeros", [f"{d.day}/{d.month}/{d.year}" for d in months], months,
                "monthly", "because they are monthly then")  # fmt: skip
    yield as_is("months with a time", "%d/%m/%Y 00:00", months, "monthly", "day first")
    yield as_is("months with a US time", "%m/%d/%Y 12:00 AM", months, "monthly", "month first")
    yield as_is("months, years of two digits", "%d/%m/%y", months, "monthly", "1949 to 1952")
    yield as_is("US months, years of two digits", "%m/%d/%y", months, "monthly", "1949 to 1952")
    yield as_is("years on 1 April, day first", "%d/%m/%Y", dates("YS-APR", 48, "1950-04-01"),
                "yearly", "could be read with the month first too")  # fmt: skip
    hours = dates("h", 48, "2021-02-03")
    yield as_is("hours, day first", "%d/%m/%Y %H:%M", hours, "hourly", "day first")
    yield as_is("hours, month first", "%m/%d/%Y %I:%M:%S %p", hours, "hourly", "month first")
    newest = list(months[::-1].strftime("%d/%m/%Y"))
    yield as_is("newest first", newest, months, "monthly", "sorted")
    weeks = dates("W-MON", 48, "2021-01-04")
    yield as_is("weeks, day first", "%d/%m/%Y", weeks, "weekly (Mondays)")
    yield as_is("year, month, day with slashes", "%Y/%m/%d", days, "daily")
    yield as_is("year of two digits first", "%y-%m-%d", days, "daily", "read as 2021;")


def years():
    """Years of two digits."""
    yield as_is("Jan-49", "%b-%y", dates("MS", 144), "monthly", "1949 to 1960", "month")
    turn = dates("MS", 132, "1995-01-01")
    yield as_is("Jan-95 to Dec-05", "%b-%y", turn, "monthly", "1995 to 2005", "month")
    old = dates("MS", 252, "1910-01-01")
    yield as_is("Jan-10 to Dec-30", "%b-%y", old, "monthly", "1910 to 1930", "month")
    yield as_is("Jan-05, lately", "%b-%y", dates("MS", 60, "2005-01-01"), "monthly", "2005 to 2009")
    mixed = list(turn.strftime("%b-%y"))
    mixed = mixed[60:] + mixed[:60]
    yield as_is("two digits, not in order", mixed, turn, "monthly", "1995 to 2005", "month")
    yield as_is("01-Feb-49", "%d-%b-%y", dates("MS"), "monthly", "1949 to 1952")
    yield as_is("31.12.99", "%d.%m.%y", dates("D", 48, "1999-12-20"), "daily", "1999 to 2000")
    yield as_is("two digits, format given", "%b-%y", dates("MS"), "monthly", "1949 to 1952",
                date_format="%b-%y")  # fmt: skip
    yield as_is("1Q49", [f"{d.quarter}Q{d:%y}" for d in dates("QS")], dates("QS"), "quarterly",
                "1949 to 1960")  # fmt: skip
    yield as_is("Mar '49", "%b '%y", dates("MS"), "monthly", "1949 to 1952", "month")


def names():
    """Months by name."""
    months, days = dates("MS"), dates("D", 48, "2021-02-25")
    for form in ("%Y %b", "%Y-%b", "%b %Y", "%B %Y", "%Y %B", "%b-%Y", "%B, %Y", "%b%Y", "%Y%b"):
        yield as_is(f"form {form}", [f'"{d:{form}}"' for d in months], months, "monthly")
    yield as_is("upper case", [f"{d:%d-%b-%Y}".upper() for d in days], days, "daily")
    for form in ("%d %B %Y", "%B %d, %Y", "%d%b%Y", "%d. %b. %Y", "%A, %d %B %Y", "%a %d %b %Y"):
        yield as_is(f"form {form}", [f'"{d:{form}}"' for d in days], days, "daily")
    yield as_is("weekday and numbers", "%a %d/%m/%Y", days, "daily")
    ends = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
    yield as_is("1st Jan 2020", [f"{d.day}{ends.get(d.day, 'th')} {d:%b %Y}" for d in days], days,
                "daily")  # fmt: skip
    yield as_is("French", month_names(FRENCH, "%d-@-%Y", months), months, "monthly")
    plain = FRENCH.translate({ord("é"): "e", ord("û"): "u", ord("."): None})
    yield as_is("French, without accents", month_names(plain, "@ %Y", months), months, "monthly")
    yield as_is("German", month_names(GERMAN, "%d. @ %Y", days), days, "daily")
    yield as_is("Spanish", month_names(SPANISH, "%d de @ de %Y", days), days, "daily")
    yield as_is("Italian", month_names(ITALIAN + " dicembre", "%d @ %Y", months), months, "monthly")
    yield as_is("Portuguese", month_names(PORTUGUESE, "@/%Y", months), months, "monthly")
    yield as_is("Dutch", month_names(DUTCH, "%d @ %Y", months), months, "monthly")
    yield as_is("mar. 1 mar", month_names(SPANISH, "mar. 1 @ %Y", months), months, "monthly")


def stamps():
    """ISO 8601 and what looks like it."""
    hours, months = dates("h", 48, "2024-01-31"), dates("MS")
    yield as_is("20240131T1200", "%Y%m%dT%H%M", hours, "hourly")
    yield as_is("milliseconds and Z", "%Y-%m-%dT%H:%M:%S.000Z", hours, "hourly", "UTC")
    yield as_is("digits to the minute", "%Y%m%d%H%M", hours, "hourly")
    yield as_is("digits to the hour", "%Y%m%d%H", hours, "hourly")
    yield as_is("digits to the day", "%Y%m%d", dates("D"), "daily")
    yield as_is("2024M01", "%YM%m", months, "monthly")
    yield as_is("2024-M01", "%Y-M%m", months, "monthly")
    yield as_is("1949-01", "%Y-%m", months, "monthly")
    yield as_is("01/1949", "%m/%Y", months, "monthly")
    yield as_is("1949/01", "%Y/%m", months, "monthly")
    quarters = dates("QS")
    for form in ("{y}Q{q}", "{y}-Q{q}", "{y} Q{q}", "Q{q} {y}", "Q{q}/{y}", "{q}Q{y}", "T{q} {y}"):
        texts = [form.format(y=d.year, q=d.quarter) for d in quarters]
        yield as_is(f"quarter {form}", texts, quarters, "quarterly")
    weeks = dates("W-MON", 48, "2024-01-01")
    for form in ("%G-W%V", "%GW%V", "W%V %G", "KW %V/%G", "%G-S%V"):
        yield as_is(f"week {form}", form, weeks, "weekly (Mondays)")
    yield as_is("time with h", "%d/%m/%Y %Hh%M", dates("h", 48, "2021-12-30"), "hourly")
    late = [f"{d:%d.%m.%Y %H:%M}" for d in dates("h", 48, "2021-12-30 01:00")]
    late = [f"{30 + i // 24}.12.2021 {i % 24 + 1:02d}:00" for i in range(48)]
    yield as_is("24:00", late, dates("h", 48, "2021-12-30 01:00"), "hourly")
    bare = [f"{d:%d/%m/%Y}" if d.hour == 0 else f"{d:%d/%m/%Y %H:%M}" for d in hours]
    yield as_is("midnight without a time", bare, hours, "hourly")


def numbers():
    """Numbers that mean dates."""
    months, hours, days = dates("MS"), dates("h", 48, "2024-01-31"), dates("D", 48, "2020-01-01")
    since = (hours.as_unit("ns").asi8 // 10**9).tolist()
    for name, size in (("seconds", 1), ("milliseconds", 10**3), ("nanoseconds", 10**9)):
        yield as_is(f"epoch, {name}", [one * size for one in since], hours, "hourly",
                    f"{name} since 1970", "x")  # fmt: skip
    before = [int(d.timestamp()) for d in months]
    yield as_is("epoch, months of 1949", before, months, "monthly", "seconds since", "timestamp")
    yield as_is("epoch with a fraction", [f"{one}.0" for one in since], hours, "hourly", "1970")
    serial = (days - pd.Timestamp("1899-12-30")).days.tolist()
    yield as_is("Excel days", serial, days, "daily", "days of Excel", "Date")
    monthly = dates("MS", 48, "1990-01-01")
    steps = (monthly - pd.Timestamp("1899-12-30")).days.tolist()
    yield as_is("Excel months, unnamed", steps, monthly, "monthly", "days of Excel", "A")
    parts = [f"{one:.5f}" for one in (hours - pd.Timestamp("1899-12-30")) / pd.Timedelta("1D")]
    yield as_is("Excel hours", parts, hours, "hourly", "days of Excel", "Datum")
    yield as_is("194901", "%Y%m", months, "monthly", "a year and a month", "x")
    yield as_is("1949.01", "%Y.%m", months, "monthly", "a year and a month", "x")
    cut = [f"{d:%Y.%m}".rstrip("0") if d.month == 10 else f"{d:%Y.%m}" for d in months]
    yield as_is("1949.1 for October", cut, months, "monthly", "a year and a month", "x")
    yield as_is("1949.1 for January", [f"{d.year}.{d.month}" for d in months], months, "monthly",
                "a year and a month", "x")  # fmt: skip
    both = [f"{d.year}.{1 if d.month == 10 else d.month}" for d in months]
    yield as_is("1949.1 for both", both, months, "monthly", "a year and a month", "x")
    yield as_is("01.1949", "%m.%Y", months, "monthly", "a month and a year", "x")
    for digits in (2, 3, 6):
        time = [f"{1949 + i / 12:.{digits}f}" for i in range(48)]
        yield as_is(f"R, months, {digits} digits", time, months, "monthly", "fractions", "time")
    middle = [f"{1949 + (i + 0.5) / 12:.3f}" for i in range(48)]
    yield as_is("middles of months", middle, months, "monthly", "fractions for months", "time")
    yield as_is("R, quarters", [1949 + i / 4 for i in range(48)], dates("QS"), "quarterly",
                "fractions for quarters", "time")  # fmt: skip
    yield as_is("years", "%Y", dates("YS"), "yearly", column="year")
    yield as_is("years of R", [f"{1949 + i}.0" for i in range(48)], dates("YS"), "yearly")


def parts():
    """Dates from several columns."""

    def case(name, days, words, note="made of", **columns):
        return Case(name, table(**columns), str(days[0]), str(days[-1]), words, spaced(words), note)

    m, q, d, h = dates("MS"), dates("QS"), dates("D", 48, "2020-02-20"), dates("h")
    w = dates("W-MON", 48, "2024-01-01")
    week = list(w.isocalendar().week)
    yield case("Year, Month", m, "monthly", "'Year' and 'Month'", Year=m.year, Month=m.month)
    yield case("YEAR, MONTH by name", m, "monthly", YEAR=m.year, MONTH=m.strftime("%B"))
    yield case("month before year", m, "monthly", month=m.strftime("%b"), year=m.year)
    yield case("Year, Quarter", q, "quarterly", Year=q.year, Quarter=q.quarter)
    yield case("Year, Q1", q, "quarterly", Year=q.year, Qtr=[f"Q{one}" for one in q.quarter])
    yield case("Year, Month, Day", d, "daily", Year=d.year, Month=d.month, Day=d.day)
    yield case("Year, day of the year", d, "daily", year=d.year, doy=d.day_of_year)
    yield case("Year, Week", w, "weekly (Mondays)", Year=w.year, Week=week)
    yield case("Jahr, Monat", m, "monthly", Jahr=m.year, Monat=month_names(GERMAN, "@", m))
    french, spanish = month_names(FRENCH, "@", m), month_names(SPANISH, "@", m)
    yield case("Année, Mois", m, "monthly", **{"Année": m.year, "Mois": french})
    yield case("Año, Mes", m, "monthly", **{"Año": m.year, "Mes": spanish})
    yield case("Anno, Mese", m, "monthly", Anno=m.year, Mese=m.month)
    yield case("Year, Month, Day, Hour", h, "hourly", Year=h.year, Month=h.month, Day=h.day,
               Hour=h.hour)  # fmt: skip
    yield case("Date, Time", h, "hourly", "'Date' and 'Time'", Date=h.strftime("%Y-%m-%d"),
               Time=h.strftime("%H:%M"))  # fmt: skip
    yield case("Date, Hour", h, "hourly", Date=h.strftime("%Y-%m-%d"), Hour=h.hour)
    yield case("Date, Time of digits", h, "hourly", Date=h.strftime("%Y%m%d"),
               Time=h.strftime("%H%M"))  # fmt: skip
    yield case("Datum, Uhrzeit", h, "hourly", Datum=h.strftime("%d.%m.%Y"),
               Uhrzeit=h.strftime("%H:%M:%S"))  # fmt: skip
    yield case("Date, Time with am and pm", h, "hourly", Date=h.strftime("%m/%d/%Y"),
               Time=h.strftime("%I:%M %p"))  # fmt: skip


def none():
    """Columns that look like dates and are not read, and those that do not."""
    rows = list(range(48))

    def case(name, note="", first="1", last="48", **columns):
        return Case(name, table(**columns), first, last, "", (), note)

    seasons = [f"{('spring', 'autumn')[i % 2]} {1 + i}" for i in rows]
    yield case("seasons of the year", "'date' may hold dates, but 'spring 1'", date=seasons)
    yield case("months without years", "--date-format", month=[i % 12 + 1 for i in rows])
    yield case("text with digits first", "'lap 1'", lap=[f"lap {i + 1}" for i in rows])
    yield case("named in a sentence", "may hold dates", **{"Order Date": ["soon"] * 48})
    yield case("rows are counted", id=rows)
    yield case("days are counted", day=rows)
    yield case("ids like days of Excel", id=[40_000 + i for i in rows])
    yield case("a first column that counts", n=[40_000 + i for i in rows])
    yield case("ids like seconds", id=[1_600_000_000 + i for i in rows])
    yield case("a first column that goes on by one", A=[40_000 + i for i in rows])
    scores = [f"{i * 5 % 12 + 1}/{i * 7 % 90 + 10}" for i in rows]
    yield case("scores like months", "may hold dates, but '1/10'", score=scores)
    yield case("text without dates", shop=["north", "south"] * 24)
    prices = [f"{1 + i % 12}.{i % 90 + 10}" for i in rows]
    prices[7] = "closed"
    yield case("prices like months", price=prices)
    refused = Case("a word", table(date=[*dates("MS", 47).strftime("%d/%m/%Y"), "later"]),
                   error="holds 'later' in row 48")  # fmt: skip
    uneven = dates("D", 4000, "2000-01-01")[np.cumsum(np.arange(48) ** 2 % 37 + 1)]
    yield refused
    yield Case("uneven in both orders", table(date=uneven.strftime("%d/%m/%Y")),
               error="not evenly spaced|mostly gaps")  # fmt: skip


CASES = [
    case
    for kind in (orders, years, names, stamps, numbers, parts, none)
    for case in kind()
]  # fmt: skip
