"""
1. Forecast a series
====================

Weekly gasoline supply in the United States. An echo state network is fitted to all but the last
year and continues from there, a year ahead, on its own output.
"""

from matplotlib import pyplot as plt

from echofold import ESNForecaster, datasets, plots
from echofold.metrics import nrmse

gasoline = datasets.load_gasoline()
y = gasoline.data
past, last_year = y[:-52], y[-52:]
print(gasoline)

# %%
# Every random number comes from ``random_state``. The untuned defaults are a place to start from,
# not to stay at: the next example looks for better ones.
model = ESNForecaster(units=50, leak_rate=0.1, ridge=1e-2, random_state=0).fit(past)
ahead = model.forecast(52)
print(ahead.head(3))

# %%
# An error of 1 is what the mean of the year would score, if one knew it beforehand. The year
# before, repeated, is the forecast to beat.
repeated = past[-52:].to_numpy()
print(f"network:              {nrmse(last_year, ahead):.3f}")
print(f"the year before:      {nrmse(last_year, repeated):.3f}")

# %%
# Dates of the index are continued by their frequency.
ax = plots.forecast(past[-156:], ahead)
ax.plot(last_year.index, last_year, ":", color="black", label="what came")
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
plt.show()
