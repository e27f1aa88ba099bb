"""The four series to forecast: labor, gasoline, sunspots, electricity."""

from __future__ import annotations

import numpy as np

from echofold.datasets._dataset import SeriesDataset, embedded


def load_labor() -> SeriesDataset:
    """Monthly unemployment rate in the United States, 1948 to 1977.

    Returns
    -------
    SeriesDataset
        360 values in percent, indexed by the first day of each month.

    Examples
    --------
    >>> from echofold.datasets import load_labor
    >>> labor = load_labor()
    >>> labor
    <labor: (360,), percent; US Bureau of Labor Statistics, series LNS14000000>
    >>> float(labor.data["1975-05-01"])
    9.0
    """
    return _load(
        "labor",
        start="1948-01-01",
        frequency="MS",
        index_name="month",
        season=12,
        units="percent",
        description="Monthly unemployment rate in the United States, seasonally adjusted, "
        "January 1948 to December 1977, 360 values.",
        source="US Bureau of Labor Statistics, series LNS14000000",
        terms="Work of the US government, not under copyright in the United States.",
    )


def load_gasoline() -> SeriesDataset:
    """Weekly supply of finished motor gasoline in the United States, 1991 to 2017.

    Returns
    -------
    SeriesDataset
        1355 values in million barrels a day, indexed by the Friday that ends each week.

    Examples
    --------
    >>> from echofold.datasets import load_gasoline
    >>> gasoline = load_gasoline()
    >>> float(gasoline.data.iloc[0]), gasoline.frequency, gasoline.season
    (6.621, 'W-FRI', 52)
    """
    return _load(
        "gasoline",
        start="1991-02-08",
        frequency="W-FRI",
        index_name="week_ending",
        season=52,
        units="million barrels a day",
        description="Weekly finished motor gasoline product supplied in the United States, "
        "weeks ending 8 February 1991 to 20 January 2017, 1355 values.",
        source="US Energy Information Administration",
        terms="Work of the US government, not under copyright in the United States.",
    )


def load_sunspots() -> SeriesDataset:
    """Monthly mean sunspot numbers, 1749 to 2013.

    Returns
    -------
    SeriesDataset
        3177 values, indexed by the first day of each month. The season is the solar
        cycle, about 11 years.

    Examples
    --------
    >>> from echofold.datasets import load_sunspots
    >>> sunspots = load_sunspots()
    >>> float(sunspots.data.iloc[0]), sunspots.data.index[0].year, sunspots.season
    (58.0, 1749, 132)
    """
    return _load(
        "sunspots",
        start="1749-01-01",
        frequency="MS",
        index_name="month",
        season=132,
        units="sunspot number",
        description="Monthly mean sunspot numbers, January 1749 to September 2013, 3177 values, "
        "on the scale in use before the recalibration of 2015.",
        source="WDC-SILSO, Royal Observatory of Belgium, Brussels",
        terms="CC BY-NC 4.0: not for commercial work, and credit WDC-SILSO, Royal Observatory of "
        "Belgium, Brussels.",
    )


def load_electricity() -> SeriesDataset:
    """Half-hourly electricity demand in England and Wales, 12 weeks of summer 2000.

    Returns
    -------
    SeriesDataset
        4032 values in megawatts, indexed by the start of each half-hour. The season is
        the week, 336 samples; the day, 48 samples, is a cycle too.

    Examples
    --------
    >>> from echofold.datasets import load_electricity
    >>> electricity = load_electricity()
    >>> float(electricity.data.iloc[0]), electricity.frequency, electricity.season
    (22262.0, '30min', 336)
    """
    return _load(
        "electricity",
        start="2000-06-05",
        frequency="30min",
        index_name="time",
        season=336,
        units="megawatts",
        description="Half-hourly electricity demand in England and Wales, Monday 5 June to "
        "Sunday 27 August 2000, 4032 values; cycles of 48 (day) and 336 (week) samples.",
        source="National Grid; J. W. Taylor (2003), Journal of the Operational Research "
        "Society 54, 799-805",
        terms="Credit National Grid and J. W. Taylor.",
    )


def _load(
    name: str, *, start: str, frequency: str, index_name: str, season: int, **fields: str
) -> SeriesDataset:
    """Read the last column of the embedded CSV file and index it by time."""
    import pandas as pd

    # numpy rounds to the nearest double; the default parser of pandas does not promise it.
    with embedded(f"{name}.csv").open(encoding="ascii") as stream:
        values = np.loadtxt(stream, delimiter=",", skiprows=1, usecols=-1)
    index = pd.date_range(start, periods=len(values), freq=frequency, name=index_name)
    data = pd.Series(values, index=index, name=name)
    return SeriesDataset(name=name, data=data, season=season, **fields)
