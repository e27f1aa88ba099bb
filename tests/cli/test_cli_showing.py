"""What commands print: the lowest of everything is marked, and no row is left out silently."""

import numpy as np
import pandas as pd
import pytest

from echofold._search.auto import TOGETHER
from echofold.cli.forecast import MOST, errors_table, show_forecast
from echofold.cli.output import Output
from echofold.cli.validate import OURS, comparison_table, networks_table, plain_verdict


def compared(own, plain, networks=((3.0, 4.0), (5.0, 2.0))):
    """Errors of the recipe and of plain forecasts, and of networks by two schemes as two models."""
    schemes = [
        {"scheme": scheme, "final": final, "validation": 1.0, "test": error}
        for scheme, errors in zip(("k-fold", "single"), networks, strict=True)
        for final, error in zip(("retrain", "best"), errors, strict=True)
    ]
    return {"test": own, "plain": plain, "schemes": schemes}


@pytest.mark.parametrize(
    ("plain", "lowest"),
    [
        ({"last value": 9.0, "drift": 6.0}, OURS),
        ({"last value": 9.0, "drift": 1.5}, "drift"),
        ({}, OURS),
    ],
)
def test_the_lowest_of_everything_is_marked(plain, lowest):
    found = compared(2.0, plain)
    marked = [line for line in comparison_table(found, None).splitlines() if "*" in line]
    assert len(marked) == 1 and marked[0].startswith(lowest) and marked[0].count("*") == 1
    said = plain_verdict(found)
    assert (said is not None) == (lowest in plain)
    if said is not None:
        assert f"A plain forecast wins: {lowest} was closer" in said
        assert f"({plain[lowest]:.3f})" in said and "(2.000)" in said


@pytest.mark.parametrize("broken", [False, True], ids=["", "some diverge"])
def test_the_lowest_of_networks_is_marked(broken):
    networks = [[3.0, 4.0], [5.0, np.nan if broken else 2.0]]
    lines = networks_table(compared(9.0, {}, networks)["schemes"]).splitlines()
    (marked,) = (line for line in lines if "*" in line)
    assert marked.split() == (
        ["k-fold", "1.000", "3.000", "*", "4.000"] if broken
        else ["single", "1.000", "5.000", "2.000", "*"]
    )  # fmt: skip


def content_of(given, steps=1):
    """What a forecast of some steps is told of."""
    return {
        "metric": "rmse", "given": given, "column": "y", "expected": None, "origins": 0,
        "contributions": [],
        "verdict": {"words": "Good.", "together": 1.5, "stretches": 4, "steps": steps},
        "members": [{"member": "theta", "weight": 1.0, "error": 1.5}],
        "simple": {"last value": 3.0, "value 7 steps ago": 1.0},
        "files": {"forecast": "out/forecast.csv"},
    }  # fmt: skip


@pytest.mark.parametrize("given", [TOGETHER, "value 7 steps ago"])
def test_what_is_given_is_marked(given):
    days = pd.date_range("2024-01-01", periods=30)
    lines = errors_table(content_of(given), days).splitlines()
    (marked,) = (line for line in lines if "←" in line)
    assert marked.startswith(TOGETHER if given == TOGETHER else "last week")
    assert marked.endswith("1.500" if given == TOGETHER else "1.000")
    assert any(line.split() == ["theta", "100%", "1.500"] for line in lines)


@pytest.mark.parametrize("steps", [1, MOST, MOST + 1, MOST + 2, 500])
def test_every_row_is_printed_or_it_is_said_where_it_is(capsys, steps):
    rows = [f"row-{i}" for i in range(steps)]
    forecasts = pd.DataFrame({"row": rows, "forecast": np.arange(steps) + 0.5})
    values = pd.Series(np.arange(2.0 * steps))
    show_forecast(content_of(TOGETHER, steps), values, forecasts, Output(False, False))
    printed = capsys.readouterr().out
    shown = [row for row in rows if f"{row} " in printed]
    if steps <= MOST + 1:
        assert shown == rows and "…" not in printed
    else:
        assert shown == rows[: MOST // 2] + rows[-MOST // 2 :]
        assert f"… {steps - MOST} more" in printed
        assert f"All {steps} rows are in out/forecast.csv." in printed
