"""Forecasts of sums that add up, beside forecasts of each level alone and sums of forecasts.

    pip install -e ".[cli,accuracy]"
    python benchmarks/totals.py [--seeds 40]

Panels are made up: monthly sales of products in stores, 60 months and the 12 that follow. What
happens to all, to a store, to a product and to one of them alone are random walks, so that errors
are correlated; seasons belong to products; noise is that of counting. A third of the series begin
later. Of the typical series 33 are sold in a month, or 2. The errors of each level, in units of
mean changes over a season, are told as ratios to those of forecasts of each level alone, with the
standard error over panels.
"""

from __future__ import annotations

import argparse

import _common  # first: it sets the number of threads
import numpy as np
import pandas as pd

from echofold import AutoForecaster, forecast_totals

MONTHS, AHEAD = 60, 12
STORES, PRODUCTS, TYPICAL = 5, 8, (33.0, 2.0)
LEVELS = ("total", "store", "product", "store / product")
METHODS = ("alone", "bottom-up", "mint")


def made_up(seed: int, stores: int, products: int, typical: float) -> pd.Series:
    """Sales by store, product and month; of the typical series so many a month."""
    rng, rows = np.random.default_rng(seed), MONTHS + AHEAD
    t = np.arange(rows)

    def walks(count: int, size: float) -> np.ndarray:
        return np.cumsum(rng.normal(0, size, (count, rows)), axis=1)

    of_all, of_store, of_product = walks(1, 0.02)[0], walks(stores, 0.02), walks(products, 0.03)
    wave = rng.uniform(0, 0.4, products)[:, None] * np.sin(
        2 * np.pi * (t / 12 + rng.uniform(0, 1, (products, 1)))
    )
    months, found = pd.date_range("2018-01-01", periods=rows, freq="MS"), {}
    for store in range(stores):
        for product in range(products):
            logs = rng.normal(np.log(typical), 1) + of_all + of_store[store] + of_product[product]
            mean = np.exp(logs + wave[product] + walks(1, 0.03)[0])
            first = rng.integers(0, 30) if rng.uniform() < 1 / 3 else 0
            one = pd.Series(rng.poisson(mean).astype(float), months, name="sold")
            found[f"store {store}", f"product {product}"] = one[first:]
    return pd.concat(found, names=["store", "product", "month"])


def errors(seed: int, typical: float) -> pd.DataFrame:
    """Mean errors on what follows by level and method, and the share of it inside of intervals."""
    y = made_up(seed, STORES, PRODUCTS, typical)
    months = y.index.get_level_values("month")
    past, after = y[months < months.max() - pd.DateOffset(months=AHEAD - 1)], {}
    truth = dict(list(y.groupby(level=["store", "product"])))
    found = {
        method: forecast_totals(AutoForecaster(AHEAD, progress=False), past, method=method)
        for method in METHODS[1:]
    }
    mint = found["mint"]
    said = {"alone": mint.model.forecast()} | {name: one.forecast for name, one in found.items()}
    rows = []
    for name, level in mint.levels.items():
        members = [
            one.droplevel([0, 1]).iloc[-AHEAD:]
            for own, one in truth.items()
            if all(part in ("(all)", own[n]) for n, part in enumerate(name))
        ]
        after = np.sum(members, axis=0)
        own = mint.model.series_[name].table_.values[:, 0]
        unit = np.nanmean(np.abs(own[12:] - own[:-12])) or np.nan
        for method, one in said.items():
            size = np.abs(one.mean[name] - after).mean() / unit
            low, high = one.lower[0.9][name], one.upper[0.9][name]
            inside = ((after >= low) & (after <= high)).mean()
            rows.append((level, method, size, inside))
    table = pd.DataFrame(rows, columns=["level", "method", "error", "inside"])
    return table.groupby(["level", "method"], sort=False).mean()


def compared(each: list[pd.DataFrame], typical: float) -> list[dict]:
    """Ratios of errors by level, with their standard errors over panels."""
    whole = pd.concat(each, keys=range(len(each)), names=["seed"])
    wide, rows = whole["error"].unstack("method"), []
    for level in LEVELS:
        own = wide.xs(level, level="level")
        inside = whole["inside"].xs(level, level="level").groupby("method").mean()
        row = {"typical": typical, "level": level}
        for method in METHODS:
            ratio = own[method].mean() / own["alone"].mean()
            apart = own[method] - ratio * own["alone"]
            row[method] = ratio
            row[f"{method} ±"] = apart.std() / np.sqrt(len(own)) / own["alone"].mean()
            row[f"{method} inside"] = inside[method]
        rows.append(row)
    return rows


def main() -> None:
    """Forecast, compare, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40)
    seeds, rows = parser.parse_args().seeds, []
    for typical in TYPICAL:
        rows += compared([errors(seed, typical) for seed in range(seeds)], typical)
    print(pd.DataFrame(rows).round(3).to_string(index=False))
    if seeds == parser.get_default("seeds"):
        _common.store("totals", {"seeds": seeds, "levels": rows})


if __name__ == "__main__":
    main()
