"""
2. Search hyper-parameters
==========================

Forty networks, six ridge values and 18 validation stretches make 4,320 closed-loop forecasts. The
reservoirs run through the series once, together; the forecasts advance in lockstep.
"""

from matplotlib import pyplot as plt

from echofold import ESNForecaster, ESNSearchCV, KFold, datasets, plots

y = datasets.load_gasoline().data[:-52]

search = ESNSearchCV(
    ESNForecaster(units=50, random_state=0),
    {
        "leak_rate": [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0],
        "spectral_radius": [0.2, 0.5, 0.8, 1.1, 1.4],
        "ridge": [1e-8, 1e-6, 1e-4, 1e-2, 1, 100],
    },
    cv=KFold(18, valid=52),
).fit(y)
print(search.summary())

# %%
# Results are a labelled array. Here is how much the leak rate matters when everything else may
# adapt to it.
found = search.results_.nrmse.mean(["draw", "split"])
print(found.min("ridge").groupby("leak_rate").min().to_series().round(3).to_string())

# %%
# Every cell is the best ridge for that pair; the mark is the winner.
plots.surface(search, "leak_rate", "spectral_radius")
plt.show()
