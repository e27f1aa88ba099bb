"""Files that a forecast leaves: the values, the model and the report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from echofold._data.text import guarded
from echofold._machine.files import write_atomically
from echofold.cli.reading.spacing import written


def prepare(folder: Path) -> Path:
    """Make the folder, and find out before the work whether it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"--out {folder}: there is a file of that name; give a folder.") from None
    if not os.access(folder, os.W_OK):
        raise ValueError(f"--out {folder}: this folder cannot be written to; give another.")
    return folder


def forecast_table(forecast: Any) -> pd.DataFrame:
    """Dates, forecast and intervals as columns, ready to be written."""
    index, frame = forecast.mean.index, forecast.to_frame()
    name = index.name or "row"
    frame.insert(0, "date" if name in frame.columns else name, written(index))
    return frame.reset_index(drop=True)


def records(forecasts: pd.DataFrame) -> list[dict[str, Any]]:
    """The same for JSON; the widest interval has a name that does not depend on its level."""
    names = ["time", "forecast", *forecasts.columns[2:-2], "lower", "upper"]
    return forecasts.set_axis(names, axis=1).to_dict("records")


def write_all(folder: Path, search: Any, forecasts: pd.DataFrame, about: Any) -> dict[str, str]:
    """Write ``forecast.csv``, ``model.echofold`` and ``report.html``; their paths by name.

    ``about`` is what the report is told besides the search.
    """
    from echofold._persistence.save_and_load import save

    paths = {
        "forecast": folder / "forecast.csv",
        "model": folder / "model.echofold",
        "report": folder / "report.html",
    }
    text = forecasts.rename(columns=guarded).to_csv(index=False)
    write_atomically(paths["forecast"], text.encode())
    save(search.best_estimator_, paths["model"])
    search.report(paths["report"], about)
    return {name: str(path) for name, path in paths.items()}
