"""Names of months and weekdays in ten languages, whole or cut short."""

from __future__ import annotations

import re
import unicodedata

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
DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend",
    "lunes martes miercoles jueves viernes sabado domingo",
    "lunedi martedi mercoledi giovedi venerdi sabato domenica",
    "segunda terca quarta quinta sexta sabado domingo feira",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "mandag tisdag onsdag torsdag fredag lordag sondag",
)
FILLERS = {"of", "the", "de", "del", "den", "der", "le", "st", "nd", "rd", "th", "er", "o", "at"}
SHORTEST = 3  # letters of a month; 2 of a weekday
ACCENTS = re.compile("[\u0300-\u036f]")


def plain(word: str) -> str:
    """Letters in lower case without accents.

    Examples
    --------
    >>> plain("Février"), plain("MÄRZ"), plain("août")
    ('fevrier', 'marz', 'aout')
    """
    if word.isascii():
        return word.lower()
    return ACCENTS.sub("", unicodedata.normalize("NFKD", word.lower()))


def _beginnings() -> dict[str, int]:
    """Months by their names and every beginning of these that means one month only."""
    found: dict[str, set[int]] = {}
    for names in MONTHS:
        for number, name in enumerate(names.split(), 1):
            for length in range(SHORTEST, len(name) + 1):
                found.setdefault(name[:length], set()).add(number)
    clear = {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1}
    return {**clear, **MORE}


MONTH = _beginnings()
WEEKDAY = {
    name[:length]
    for names in DAYS
    for name in names.split()
    for length in range(2, len(name) + 1)
}  # fmt: skip
