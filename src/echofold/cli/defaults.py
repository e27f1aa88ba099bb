"""Settings of a search that suit the length of a series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from echofold._search.search import ESNSearchCV
from echofold.cli.commands.options import SCHEMES
from echofold.cli.showing.output import Output
from echofold.schemes import BY_NAME, sizes_of

RIDGE = [1e-8, 1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0]
GRIDS: dict[str, dict[str, list[float]]] = {
    "small": {"leak_rate": [0.2, 1.0], "spectral_radius": [0.4, 0.9]},
    "medium": {
        "leak_rate": [0.1, 0.3, 1.0],
        "spectral_radius": [0.3, 0.6, 0.9, 1.1],
        "input_scaling": [0.3, 1.0],
    },
    "large": {
        "leak_rate": [0.05, 0.1, 0.3, 0.6, 1.0],
        "spectral_radius": [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2],
        "input_scaling": [0.1, 0.3, 1.0],
    },
}
LONG = 20_000  # values from which the small grid is the default: a minute for 100,000 values
LEFT = 20  # values that the shortest beginning must keep
ORIGINS = 3
SPLITS = 20  # a 90 % interval is then not the largest of the errors at a step


@dataclass(frozen=True)
class Plan:
    """What to search, and on how many beginnings to repeat it."""

    schemes: dict[str, Any]
    k: int
    valid: int
    units: int
    grid: str
    origins: int
    horizon: int
    metric: str = "rmse"
    draws: int = 1
    seed: int = 0
    final: str = "retrain"
    checkpoint: Path | None = None
    verify: bool = False

    def search(self, progress: Any, first: str | None = None) -> ESNSearchCV:
        """A new search, with one of the schemes put first."""
        from echofold._models.forecaster import ESNForecaster

        order = sorted(self.schemes, key=lambda name: name != first)
        return ESNSearchCV(
            ESNForecaster(self.units, random_state=self.seed),
            {**GRIDS[self.grid], "ridge": RIDGE},
            cv={name: self.schemes[name] for name in order},
            metric=self.metric,
            final=self.final,
            n_draws=self.draws,
            progress=progress,
            verify=self.verify,
        )

    def kept(self, name: str) -> Path | None:
        """Where one of the searches keeps its finished blocks."""
        return None if self.checkpoint is None else self.checkpoint / name

    @property
    def words(self) -> str:
        """One line about what is searched."""
        candidates = 1
        for values in GRIDS[self.grid].values():
            candidates *= len(values)
        draws = f" × {self.draws} draws" if self.draws > 1 else ""
        return (
            f"{candidates} networks of {self.units} units × {len(RIDGE)} ridge values{draws}, "
            f"validated by {', '.join(self.schemes)} ({self.k} splits of {self.valid} steps)"
        )


def plan(
    values: int,
    horizon: int,
    output: Output,
    *,
    scheme: str,
    k: int | None,
    units: int | None,
    grid: str,
    origins: int = ORIGINS,
    held_out: bool = False,
    **settings: Any,
) -> Plan:
    """Settings for a series of some values and a horizon, which may have to be ``held_out``."""
    if held_out and values - horizon < max(LEFT, 2 * horizon):
        raise ValueError(
            f"--test {horizon} of {values} values leaves too few to search on; hold out at most "
            f"{min(values // 3, values - LEFT)}."
        )
    if horizon > values:
        raise ValueError(
            f"--horizon {horizon} is more than the {values} values of the series; forecast at most "
            "as many as there are."
        )
    wanted = origins
    while origins and values - origins * horizon < max(LEFT, 2 * horizon):
        origins -= 1
    if origins < wanted:
        output.note(
            f"the series is short for {horizon} steps: the search is repeated on {origins} instead "
            f"of {wanted} beginnings."
            if origins
            else f"the series is too short to tell the expected error over {horizon} steps."
        )
    # All searches share their settings, so the shortest beginning decides what fits.
    rows = _rows(values - origins * horizon)
    valid = min(horizon, rows // 3)
    if valid < horizon:
        output.note(
            f"forecasts are validated on {valid} steps, because {rows} rows leave no room for "
            f"{horizon}; intervals further ahead are as wide as the widest of these."
        )
    most = rows - rows // 2 - valid + 1  # starts of a validation interval in the second half
    if k is not None and k > most:
        raise ValueError(
            f"--k {k} splits of {valid} steps do not fit in {rows} rows; use at most {most}."
        )
    k = min(SPLITS, most) if k is None else k
    if grid == "auto":
        grid = "medium" if values < LONG else "small"
    units = min(100, max(10, rows // 10)) if units is None else units
    chosen = SCHEMES if scheme == "all" else (scheme,)
    schemes = {name: _scheme(name, k, valid) for name in chosen}
    return replace(Plan(schemes, k, valid, units, grid, origins, horizon), **settings)


def _rows(values: int) -> int:
    """Pairs that schemes split, after the washout."""
    return values - 1 - min(200, (values - 1) // 10)


def _scheme(name: str, k: int, valid: int) -> Any:
    """A scheme of ``k`` validation intervals with ``valid`` steps."""
    scheme = BY_NAME[name]
    given = {"k": k, "valid": valid}
    return scheme(**{size: given[size] for size in sizes_of(scheme) if size in given})
