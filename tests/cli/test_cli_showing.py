"""What commands print: the lowest of everything is marked, and no row is left out silently."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from echofold.cli.compare import Comparison
from echofold.cli.forecast import MOST, show_forecast
from echofold.cli.output import Output
from echofold.cli.validate import comparison_content, comparison_table, plain_verdict

PLAN = SimpleNamespace(k=5, horizon=3, origins=2, metric="rmse", units=10, seed=0)


def compared(networks, plain):
    """Errors over two beginnings, by two schemes and two final models, beside plain ones."""
    error = np.stack([np.array(networks) - 0.5, np.array(networks) + 0.5])
    simple = {name: np.array([value - 1, value + 1]) for name, value in plain.items()}
    return Comparison(
        ("k-fold", "single"), ("retrain", "best"), np.array([10, 20]), np.ones((2, 2)), error,
        np.full((2, 2, 2), 0.9), simple, [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("networks", "plain", "lowest"),
    [
        ([[3.0, 4.0], [5.0, 2.0]], {"last value": 9.0, "drift": 6.0}, "single"),
        ([[3.0, 4.0], [5.0, 2.0]], {"last value": 9.0, "drift": 1.5}, "drift"),
        ([[3.0, np.nan], [5.0, np.nan]], {"last value": 2.5}, "last value"),
    ],
    ids=["a network", "a plain forecast", "a plain forecast and networks that diverge"],
)
def test_the_lowest_of_everything_is_marked(networks, plain, lowest):
    found = compared(networks, plain)
    marked = [line for line in comparison_table(found, PLAN).splitlines() if "*" in line]
    assert len(marked) == 1 and marked[0].startswith(lowest) and marked[0].count("*") == 1
    said = plain_verdict(found)
    assert (said is not None) == (lowest in plain)
    if said is not None:
        assert f"A plain forecast wins: {lowest} was closer" in said
        assert f"({plain[lowest]:.3f})" in said and f"({np.nanmin(networks):.3f})" in said


def test_without_plain_forecasts_none_of_them_wins():
    assert plain_verdict(compared([[3.0, 4.0], [5.0, 2.0]], {})) is None


def test_json_tells_that_a_plain_forecast_wins(monkeypatch):
    monkeypatch.setattr("echofold.cli.validate.winner", lambda *_: (1.0, {}))
    for error, wins in ((1.5, True), (9.0, False)):
        found = compared([[3.0, 4.0], [5.0, 2.0]], {"drift": error})
        assert comparison_content(found, PLAN, None)["plain_wins"] is wins


@pytest.mark.parametrize("steps", [1, MOST, MOST + 1, MOST + 2, 500])
def test_every_row_is_printed_or_it_is_said_where_it_is(capsys, steps):
    rows = [f"row-{i}" for i in range(steps)]
    forecasts = pd.DataFrame({"row": rows, "forecast": np.arange(steps) + 0.5})
    content = {
        "metric": "rmse", "chosen": {"scheme": "k-fold", "parameters": {}}, "schemes": [],
        "simple": {}, "column": "y", "horizon": steps, "origins": 0, "level": 0.9, "seconds": 1.0,
        "files": {"forecast": "out/forecast.csv"},
    }  # fmt: skip
    show_forecast(content, np.arange(2.0 * steps), forecasts, Output(False, False))
    printed = capsys.readouterr().out
    shown = [row for row in rows if f"{row} " in printed]
    if steps <= MOST + 1:
        assert shown == rows and "…" not in printed
    else:
        assert shown == rows[: MOST // 2] + rows[-MOST // 2 :]
        assert f"… {steps - MOST} more" in printed
        assert f"All {steps} rows are in out/forecast.csv." in printed
