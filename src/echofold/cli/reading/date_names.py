"""Names of columns that hold dates, or parts of them, in several languages."""

from __future__ import annotations

import re

from echofold.cli.reading.month_names import plain

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
OTHER = (
    "datetime timestamp timestamps ts period periode periodo epoch unix unixtime yearmonth yyyymm "
    "yyyymmdd ym yearweek yearquarter zeitpunkt zeitstempel tiempo temps tempo monthyear years "
    "jahre annees fy fiscalyear"
)
OF_ROLE = {role: set(names.split()) for role, names in ROLES.items()}
WEAK = {"q", "data", "an", "he", "mo", "mon", "start", "begin", "from", "von", "beginn"}
LIKE = set.union(*OF_ROLE.values(), set(OTHER.split())) - WEAK
WORD = re.compile(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+")


def role(name: str, wanted: str) -> bool:
    """Whether a column is named for a part of dates.

    Examples
    --------
    >>> role("Año", "year"), role("MONTH_NAME", "month"), role("sales", "day")
    (True, True, False)
    """
    return re.sub(r"[\W\d_]", "", plain(name)) in OF_ROLE[wanted]


def like_dates(name: str, whole: bool = False) -> bool:
    """Whether a word of a name speaks of dates, or, if ``whole``, each.

    Examples
    --------
    >>> like_dates("Order Date"), like_dates("saleDate"), like_dates("update")
    (True, True, False)
    >>> like_dates("response time", whole=True)
    False
    """
    words = {plain(word) for word in WORD.findall(name)} | {plain(name)}
    found = words & LIKE
    return bool(plain(name) in LIKE or (found and (not whole or words - {plain(name)} <= LIKE)))
