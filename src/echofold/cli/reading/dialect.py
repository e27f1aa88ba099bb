"""How a file is written, so that forecasts are written alike: separator, decimal sign, dates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from echofold._data.dates import written

FORMS = (  # of dates; {q} is a quarter
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d", "%Y.%m.%d",
    "%Y", "%Y-%m", "%Y/%m", "%Y%m", "%m/%Y", "%m.%Y", "%m-%Y", "%YM%m", "%Y-M%m",
    "%YQ{q}", "%Y-Q{q}", "%Y Q{q}", "Q{q} %Y", "Q{q}-%Y", "Q{q}/%Y", "{q}Q%y", "%Y:Q{q}",
    "%b %Y", "%b-%Y", "%b-%y", "%b %y", "%B %Y", "%Y %b", "%d %b %Y", "%d-%b-%Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%G-W%V",
    *(f"{day}{mark}{time}" for day in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
      for mark in (" ", "T") for time in ("%H:%M", "%H:%M:%S")),
)  # fmt: skip
LOOKED_AT = 200  # cells at the end, all of which a form must give


@dataclass(frozen=True)
class Dialect:
    """A separator, a decimal sign and a form of dates; whether it is of a workbook."""

    separator: str = ","
    decimal: str = "."
    dates: str | None = None
    excel: bool = False

    def of_dates(self, cells: pd.Series, dates: pd.Index) -> Dialect:
        """The same with the form that gives these cells of a file, if one does."""
        if self.excel or self.dates or pd.api.types.is_datetime64_any_dtype(cells):
            return self
        if not isinstance(dates, pd.DatetimeIndex) or not len(cells):
            return self
        last = [str(cell).strip() for cell in cells.iloc[-LOOKED_AT:]]
        for form in FORMS:
            first = _written(form, dates[-1:]) == last[-1:]
            if first and _written(form, dates[-LOOKED_AT:]) == last:
                return replace(self, dates=form)
        return self

    def written(self, index: Any) -> list[str]:
        """Dates as the file has them, other labels as they are."""
        if self.dates is None or not isinstance(index, pd.DatetimeIndex) or index.tz is not None:
            return written(index)
        as_in_file = _written(self.dates, index)
        return as_in_file if len(set(as_in_file)) == len(index) else written(index)

    def csv(self, frame: pd.DataFrame, header: bool = True) -> bytes:
        """A table as the bytes of a file."""
        text = frame.to_csv(index=False, sep=self.separator, decimal=self.decimal, header=header)
        return text.encode()


def _written(form: str, dates: pd.DatetimeIndex) -> list[str]:
    """Dates in one of the forms."""
    quarters = dates.quarter if "{q}" in form else [""] * len(dates)
    texts = dates.strftime(form)
    return [text.replace("{q}", str(q)) for text, q in zip(texts, quarters, strict=True)]
