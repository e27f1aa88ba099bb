"""What a command tells the report of its search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from echofold.report import About


def told_of(
    series: Any, content: dict[str, Any], notes: Sequence[str], ahead: Any, better: Any, X: Any
) -> About:
    """The file and its column, what was assumed about it, and what was measured.

    ``ahead`` is the forecast that is given, ``better`` the plain one that it is, if it is one.
    """
    measured = {row["scheme"]: row["expected"] for row in content["schemes"]}
    return About(
        title=f"{series.source}: {series.values.name}",
        notes=[note[:1].upper() + note[1:] for note in notes],
        X=X,
        forecast=ahead,
        instead=better,
        seasons=series.seasons,
        expected={name: error for name, error in measured.items() if error is not None},
        how="--origins 3",
    )
