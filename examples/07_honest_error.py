"""
7. An honest error
==================

The winner of a search has the lowest validation error of many, so that error flatters it.
``evaluate`` repeats the whole search on beginnings of the series and scores what it made on the
stretch that follows, which no choice has seen.
"""

import pandas as pd
from matplotlib import pyplot as plt

from echofold import ESNForecaster, ESNSearchCV, KFold, SingleSplit, evaluate
from echofold.datasets import load_gasoline

y = load_gasoline().data
space = {
    "leak_rate": [0.1, 0.3, 0.9],
    "spectral_radius": [0.2, 0.6, 1.0],
    "ridge": [1e-8, 1e-5, 1e-2],
}
found = {}
for name, cv in {"single split": SingleSplit(52), "18-step CV": KFold(18, valid=52)}.items():
    search = ESNSearchCV(ESNForecaster(50, random_state=0), space, cv=cv)
    found[name] = evaluate(search, y, origins=5, horizon=52)

# %%
# A year ahead, five times. The single split promises the lower error, and once its forecast runs
# away. Averaged over eighteen stretches, the promise is dull and kept.
for name, result in found.items():
    told, came = result.validation.median().item(), result.nrmse.median().item()
    print(f"{name}: promised {told:.2f}, came {came:.2f} (medians);", end=" ")
    print(f"{result.coverage.mean().item():.0%} of the values in 90 % intervals")

# %%
fig, both = plt.subplots(1, 2, sharey=True, figsize=(6.4, 3.2), layout="constrained")
for ax, (name, result) in zip(both, found.items(), strict=True):
    years = pd.DatetimeIndex(y.index[result.start.values]).year
    ax.semilogy(years, result.validation, "o-", color="#0072B2", label="promised")
    ax.semilogy(years, result.nrmse, "s-", color="#D55E00", label="came")
    ax.set_title(name, fontsize="medium")
    ax.set_xlabel("forecast from")
both[0].set_ylabel("NRMSE, a year ahead")
both[1].legend(frameon=False)
plt.show()
