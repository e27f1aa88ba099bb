"""
1. Forecast a series
====================

Electricity demand in England and Wales, every half-hour. An echo state network is fitted to ten
weeks and continues from there, a day ahead, on its own output.
"""

from matplotlib import pyplot as plt

from echofold import ESNForecaster, datasets, plots
from echofold.metrics import rmse

electricity = datasets.load_electricity()
y = electricity.data
past, next_day = y[:3360], y[3360:3408]
print(electricity)

# %%
# The network learns how each half-hour differs from that of the week before. Every random number
# comes from ``random_state``. Settings are a first guess: a search finds better ones.
model = ESNForecaster(units=100, difference=(336,), leak_rate=0.3, ridge=1, random_state=0)
ahead = model.fit(past).forecast(48)
print(ahead.head(3).round())

# %%
# The same day of the week before is the forecast to beat.
week_before = past[-336:-288]
print(f"network:         {rmse(next_day, ahead):5.0f} MW")
print(f"the week before: {rmse(next_day, week_before):5.0f} MW")

# %%
# Dates of the index are continued by their frequency.
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
plots.forecast(past[-96:], ahead, ax=ax)
ax.plot(next_day.index, week_before, color="0.6", label="the week before")
ax.plot(next_day.index, next_day, ":", color="black", label="what came")
ax.set_ylabel("megawatts")
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)
plt.show()
