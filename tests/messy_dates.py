"""Files whose dates are written as people and programs write them, and what must come out."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

FRENCH = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
SPANISH = "ene feb mar abr may jun jul ago sep oct nov dic"
ITALIAN = "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
PORTUGUESE = "jan fev mar abr mai jun jul ago set out nov dez"
SWEDISH = "januari februari mars april maj juni juli augusti sep. oktober november december"
POLISH = (
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada "
    "grudnia"
)
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


def half():
    """Columns that are mostly dates are refused, with the first cell that is none."""
    days = list(dates("D", 40, "2021-01-04").strftime("%Y-%m-%d"))
    feet = [*days, "Middle", "Lowest", "Highest", "Spread", "Rows"]
    yield Case("statistics below", table(date=feet), error="holds 'Middle' in row 41.*5 cells")
    gaps = [*days[:20], *["n/a"] * 6, *days[26:]]
    yield Case("n/a among dates", table(date=gaps), error="holds 'n/a' in row 21.*such rows")
    empty = [*days[:20], *[""] * 6, *days[26:]]
    yield Case("empty dates", table(date=empty), error="row 21.*--date-format.*--date none")
    excel = [f"{d:%Y-%m-%d}" if d.day <= 12 else f"{d:%d/%m/%Y}" for d in dates("D", 59)]
    yield Case("half converted", table(date=excel), error="holds '1949-01-01' in row 1")
    years = [*range(1950, 1990), *["n/a"] * 6]
    yield Case("years and n/a", table(year=years), error="holds 'n/a' in row 41")
    named = Case("named with --date", table(when=gaps), error="'n/a' in row 21")
    yield replace(named, options={"date": "when"})
    few = [*days[:20], *["soon"] * 28]
    yield Case("few are dates", table(date=few), "1", "48", note="but 'soon' is not read")
    back = [f"{d.year} m. sausio {d.day} d." for d in dates("YS", 40)[::-1]]
    yield Case("unread, newest first", table(data=back), error="newest seem to come first: sort")
    yield Case("unread, oldest first", table(data=back[::-1]), "1", "40", note="oldest to the new")


def zones():
    """Local days stay the days that they are; finer times are of UTC."""
    local, days = "times in 'date' are local", dates("D", 48, "2021-03-01")
    yield as_is("days east of UTC", "%Y-%m-%dT00:00:00+02:00", days, "daily", local)
    for zone in ("Europe/Vilnius", "America/New_York"):
        for freq, words in (("D", "daily"), ("W-MON", "weekly (Mondays)"), ("MS", "monthly")):
            there = dates(freq, 48, "2021-03-01")
            stamps = list(there.tz_localize(zone))
            texts = [stamp.isoformat() for stamp in stamps]
            yield as_is(f"{words} in {zone}", texts, there, words, local)
            texts = [f"{stamp.tz_convert('UTC'):%Y-%m-%dT%H:%M:%SZ}" for stamp in stamps]
            yield as_is(f"{words} in {zone}, as UTC", texts, there, words, "midnights of a zone")
            seconds = [int(stamp.timestamp()) for stamp in stamps]
            yield as_is(f"{words} in {zone}, epoch", seconds, there, words, "midnights of a zone")
    nine = days + pd.Timedelta("9h")
    yield as_is("nine o'clock", "%Y-%m-%d %H:%M:%S+0200", nine, "daily", local)
    hours = dates("h", 48, "2021-03-27")
    there = [d.isoformat() for d in hours.tz_localize("UTC").tz_convert("Europe/Vilnius")]
    yield as_is("hours", there, hours, "hourly", "converted to UTC")
    yield as_is("zone by letters", "%Y-%m-%d %H:%M CET", hours, "hourly", "zone (CET)")
    yield as_is("of Java", "%a %b %d %H:%M:%S EET %Y", hours, "hourly", "without their zone")
    yield as_is("of C", "%a %b %d %H:%M:%S %Y", hours, "hourly")
    mail = [f'"{d:%a, %d %b %Y %H:%M:%S} +0000"' for d in hours]
    yield as_is("of mail", mail, hours, "hourly", "in UTC")
    yield as_is("format with an offset", "%d/%m/%Y %H:%M +0200", days, "daily", local,
                date_format="%d/%m/%Y %H:%M %z")  # fmt: skip


def which():
    """The column whose dates are there once, and ids that take turns."""
    days, rows = dates("D", 40, "2021-01-04"), range(40)
    iso = list(days.strftime("%Y-%m-%d"))

    def case(name, note="", **columns):
        return Case(name, table(**columns), str(days[0]), str(days[-1]), "daily", (7,), note)

    yield case("a constant date first", updated=["2024-01-05"] * 40, date=iso)
    twice = ["2024-01-05"] * 20 + ["2024-01-06"] * 20
    yield case("a repeated date first", "taken from 'Period'", Retrieved=twice, Period=iso)
    uneven = list((days + pd.to_timedelta(np.arange(40) ** 2, unit="D")).strftime("%Y-%m-%d"))
    yield case("an uneven date first", "taken from 'sold'", seen=uneven, sold=iso)
    doubled = [days[i // 2] for i in rows]
    yield Case("two dates a row", table(date=doubled, due=[days[i // 3] for i in rows]),
               error="and for 19 other dates; take the dates of 'due' with --date")  # fmt: skip
    one_more = [iso[i - (i > 9) - (i > 20)] for i in rows]
    yield Case("two doubled dates", table(date=one_more), error="for 1 other date;")
    turns = "'stn' has 3 values that take turns"
    yield case("stations take turns", turns, date=iso, stn=["ABC"[i % 3] for i in rows])
    yield case("two take turns", "--id 'my stn'", date=iso, **{"my stn": [i % 2 for i in rows]})
    blocks = "'site' has 2 values in blocks"
    yield case("one after the other", blocks, date=iso, site=["AB"[i // 20] for i in rows])
    yield case("weekdays", date=iso, label=[f"{d:%a}" for d in days])
    yield case("months", date=iso, label=[f"{d:%b}" for d in days])
    yield case("not in turn", date=iso, flag=["AB"[i * i % 5 % 2] for i in rows])


def unlikely():
    """Whole numbers that may be years, or days of Excel, but are not named so."""
    rows = range(40)

    def case(name, note="", **columns):
        return Case(name, table(**columns), "1", "40", "", (), note)

    yield case("house numbers", street=["Elm"] * 40, house=[1600 + i for i in rows])
    yield case("a first column of doses", dose=[10_000 + 7 * i for i in rows])
    yield as_is("years without a name", "%Y", dates("YS", 40), "yearly", "read as years", "x")


def programs():
    """Forms of statistical offices, meters and spreadsheets."""
    halves, years, h = dates("2QS", 40), dates("YS", 40), dates("h", 48, "2021-01-30")
    for form in ("{}-S{}", "{}h{}"):
        texts = [form.format(d.year, 1 + d.month // 7) for d in halves]
        yield half_years(f"half-years {form}", texts, halves)
    yield half_years("H1 1949", [f"H{1 + d.month // 7} {d.year}" for d in halves], halves)
    yield as_is("FY1949", "FY%Y", years, "yearly", "fiscal years")
    pairs = [f"{d.year}/{(d.year + 1) % 100:02d}" for d in years]
    yield as_is("1949/50", pairs, years, "yearly", "pairs of years")
    yield as_is("1949-1950", [f"{d.year}-{d.year + 1}" for d in years], years, "yearly", "pairs")
    turn = dates("YS", 24, "2000-01-01")
    texts = [f"{d.year}-{d.year % 100 + 1:02d}" for d in turn]
    yield as_is("2000-01 is no month", texts, turn, "yearly", "pairs")
    weeks = dates("W-MON", 48, "2021-01-04")
    yield as_is("2021-W01-1", "%G-W%V-%u", weeks, "weekly (Mondays)")
    yield as_is("202101", "%G%V", weeks, "weekly (Mondays)", "a year and a week", "week")
    yield as_is("Week of", "Week of %m/%d/%Y", weeks, "weekly (Mondays)")
    six = pd.Timedelta("6D")
    texts = [f"{d:%Y-%m-%d} - {d + six:%Y-%m-%d}" for d in weeks]
    yield as_is("ranges of days", texts, weeks, "weekly (Mondays)", "ranges")
    texts = [f"{d:%d.%m.%Y %H:%M} - {d + pd.Timedelta('1h'):%d.%m.%Y %H:%M}" for d in h]
    yield as_is("ranges of hours", texts, h, "hourly", "first dates")
    texts = [f"{d:%Y-%m-%d %H:%M}-{d + pd.Timedelta('1h'):%H:%M}" for d in h]
    yield as_is("ranges of hours of a day", texts, h, "hourly", "as their first")
    yield as_is("hours with points", "%d.%m.%Y %H.%M", h, "hourly")
    texts = [f"{d.year}年{d.month}月{d.day}日" for d in dates("D")]
    yield as_is("Chinese", texts, dates("D"), "daily")
    yield as_is("Swedish", month_names(SWEDISH, "@ %Y", dates("MS")), dates("MS"), "monthly")
    yield as_is("Polish", month_names(POLISH, "%d @ %Y", dates("MS")), dates("MS"), "monthly")
    random = np.random.RandomState(0)
    for freq, most, words in (("5min", 9, "every 5 minutes"), ("h", 60, "hourly"),
                              ("D", 2400, "daily")):  # fmt: skip
        meant = dates(freq, 200, "2021-01-04")
        late = meant + pd.to_timedelta(random.randint(-most, most, 200), unit="s")
        case = as_is(f"nearly {words}", "%Y-%m-%d %H:%M:%S", late, words, "rounded, for")
        yield replace(case, first=str(meant[0]), last=str(meant[-1]))
    trading = dates("B", 48, "2021-01-04")
    late = trading + pd.to_timedelta(13 + random.randint(0, 8, 48), unit="h")
    case = as_is("closing times", "%Y-%m-%d %H:%M", late, "on business days", "moved to the start")
    yield replace(case, first=str(trading[0]), last=str(trading[-1]))
    uneven = dates("5min", 99, "2021-01-04") + pd.to_timedelta(random.randint(0, 250, 99), unit="s")
    yield Case("uneven minutes", table(date=uneven), error="one row for each 5 minutes first")


def half_years(name, texts, days):
    case = as_is(name, texts, days, "every half-year")
    return replace(case, seasons=(2,))


def several():
    """Periods in a column beside years, and times beside dates, as offices and meters give them."""
    m, q, h = dates("MS", 48), dates("QS", 48), dates("h", 48, "2021-01-30")

    def case(name, days, words, note="made of", **columns):
        return Case(name, table(**columns), str(days[0]), str(days[-1]), words, spaced(words), note)

    yield case("M01", m, "monthly", Year=m.year, Period=m.strftime("M%m"))
    yield case("Q01", q, "quarterly", Year=q.year, Period=[f"Q0{one}" for one in q.quarter])
    year = [d.year for d in m for _ in range(2 if d.month == 12 else 1)]
    period = [p for d in m for p in ([f"M{d.month:02d}"] + ["M13"] * (d.month == 12))]
    yield case("M13", m, "monthly", "4 rows are left out", Year=year, Period=period)
    day, time = h.strftime("%Y-%m-%d"), h.strftime("%H:%M")
    end = (h + pd.Timedelta("59min")).strftime("%H:%M")
    yield case("START TIME", h, "hourly", "'START TIME'", DATE=day, **{"START TIME": time},
               **{"END TIME": end})  # fmt: skip
    yield case("Hour as a range", h, "hourly", Date=day,
               Hour=[f"{a}-{b}" for a, b in zip(time, end, strict=True)])  # fmt: skip
    yield case("HE01", h, "hourly", Date=day, Hour=[f"HE{one + 1:02d}" for one in h.hour])
    merged = ["" if d.month > 1 else d.year for d in m]
    yield case("merged years", m, "monthly", "below them", Year=merged, Month=m.strftime("%b"))
    first = ["" if one.hour else f"{one:%d.%m.%Y}" for one in h]
    yield case("merged days", h, "hourly", "of 'Datum' are taken", Datum=first, Uhrzeit=time)
    wrong = [1949 if i == 0 else "" for i in range(48)]
    yield Case("a year, and never more", table(Year=wrong, Month=m.strftime("%b")), "1", "48",
               note="'Month' may hold dates")  # fmt: skip
    rows = [row for d in m for row in ([d.year] * (d.month == 1) + [f"{d:%B}"])]
    yield Case("years as headings", table(month=rows), error="the year 1949 in row 1, above")
    two, fill = dates("2W-MON", 60, "2021-01-04"), {"fill": "interpolate"}
    yield Case("every 2 weeks", table(date=two.delete(7)), "2021-01-04 00:00:00", str(two[-1]),
               "every 2 weeks", (26,), "1 of 60 values", options=fill)  # fmt: skip
    two = dates("2MS", 48)
    yield replace(as_is("every 2 months", "%Y-%m-%d", two, "every 2 months"), seasons=(6,))
    days = dates("D", 48, "2021-01-04").delete([20, 30]).repeat(2)
    yield Case("sums of none", table(date=days), "2021-01-04 00:00:00", "2021-02-20 00:00:00",
               "daily", (7,), "2 dates have no row, the first 2021-01-24: their sums are 0",
               options={"duplicates": "sum"})  # fmt: skip
    panel = [1950 + i % 24 for i in range(48)]
    yield Case("yearly panel", table(country=["LT"] * 24 + ["LV"] * 24, year=panel),
               error="holds 2 series, told apart by 'country'")  # fmt: skip
    keys = [f"{'MF'[i // 24 % 2]},{'ab'[i // 48 % 2]},{'xy'[i // 96]}" for i in range(192)]
    yield Case("yearly panel of three keys",
               table(**{"sex,age,geo": keys, "year": [1950 + i % 24 for i in range(192)]}),
               error="'sex', 'age' and 'geo' together")  # fmt: skip


CASES = [
    case
    for kind in (
        orders, years, names, stamps, numbers, parts, none, half, zones, which, unlikely, programs,
        several,
    )
    for case in kind()
]  # fmt: skip
