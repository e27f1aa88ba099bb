"""Settings of a search that suit the length of a series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from echofold._search.candidates import grid as expanded
from echofold._search.candidates import split_ridge
from echofold._search.search import ESNSearchCV
from echofold.cli.commands.options import SCHEMES
from echofold.cli.forms import Forms
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
RIDGE_OF_FORMS = [1e-6, 1e-3, 1e-1, 1.0, 10.0]
OF_EACH_FORM = {  # networks for each representation, of which there are six or more
    "small": {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9]},
    "medium": {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9], "input_scaling": [0.2, 1.0]},
    "large": GRIDS["medium"],
}
LONG = 20_000  # values from which the small grid is the default, and logarithms are left out
MANY = 1000  # rows from which reservoirs have 100 units rather than 50
LEFT = 20  # values that the shortest beginning must keep
ORIGINS = 3
SPLITS = 20
DRAWS = 3  # whose forecasts are averaged; one of series of `MANY` rows, which vary less by draw


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
    draws: int = DRAWS
    seed: int = 0
    final: str = "retrain"
    checkpoint: Path | None = None
    verify: bool = False
    forms: tuple[dict[str, Any], ...] = ()
    nonnegative: bool = False
    shorter: dict[int, Plan] = field(default_factory=dict)  # what fits each of the beginnings

    @property
    def spaces(self) -> list[dict[str, list]]:
        """What is searched: a grid of networks, for each representation if there are any."""
        if not self.forms:
            return [{**GRIDS[self.grid], "ridge": RIDGE}]
        grid = OF_EACH_FORM[self.grid]
        forms = [{name: [value] for name, value in form.items()} for form in self.forms]
        return [{**form, **grid, "ridge": RIDGE_OF_FORMS} for form in forms]

    def search(self, progress: Any, first: str | None = None) -> ESNSearchCV:
        """A new search, with one of the schemes put first."""
        from echofold._models.forecaster import ESNForecaster

        order = sorted(self.schemes, key=lambda name: name != first)
        return ESNSearchCV(
            ESNForecaster(
                self.units,
                random_state=self.seed,
                output_range=(0.0, float("inf")) if self.nonnegative else None,
            ),
            self.spaces,
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
        candidates = len(expanded(split_ridge(self.spaces, 0.0)[0]))
        ridge = self.spaces[0]["ridge"]
        forms = f" in {len(self.forms)} representations" if self.forms else ""
        draws = f" × {self.draws} draws" if self.draws > 1 else ""
        return (
            f"{candidates} networks of {self.units} units{forms} × {len(ridge)} ridge values"
            f"{draws}, "
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
    origins: int | None = None,
    held_out: bool = False,
    forms: Callable[[int], Forms] | None = None,
    **settings: Any,
) -> Plan:
    """Settings for a series of some values and a horizon, which may have to be ``held_out``.

    With ``forms``, those that suit the first so many values, the search chooses among
    representations.
    """
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
    if origins is None:
        origins = ORIGINS if values < LONG else 1
    wanted = origins
    least = max(LEFT, 2 * horizon, 0 if forms is None else forms(values).least)
    while origins and values - origins * horizon < least:
        origins -= 1
    if origins < wanted:
        output.note(
            f"the series is short for {horizon} steps: the search is repeated on {origins} instead "
            f"of {wanted} beginnings."
            if origins
            else f"the series is too short to tell the expected error over {horizon} steps."
        )
    fits = partial(
        _fitting, horizon=horizon, scheme=scheme, k=k, grid=grid, among=forms, settings=settings
    )
    starts = [values - horizon * i for i in range(1, origins + 1)]
    whole = fits(values - horizon if held_out else values, units=units, noted=output)
    # Of other sizes, networks would have to be compiled anew for each of the beginnings.
    shorter = {start: fits(start, units=whole.units) for start in starts}
    return replace(whole, origins=origins, shorter=shorter)


def _fitting(
    values: int,
    *,
    horizon: int,
    scheme: str,
    k: int | None,
    units: int | None,
    grid: str,
    among: Callable[[int], Forms] | None,
    settings: dict[str, Any],
    noted: Output | None = None,
) -> Plan:
    """What fits a series of so many values; what is unusual about it is ``noted``."""
    rows = _rows(values)
    settings = dict(settings)
    if settings.get("draws") is None:
        settings["draws"] = DRAWS if among and rows < MANY else 1
    forms: tuple[dict[str, Any], ...] = ()
    if among is not None:
        forms = among(values).fitting(rows, many=values >= LONG)
        rows = min(rows, values - 1 - max(sum(form["difference"]) for form in forms))
    valid = min(horizon, rows // 3)
    if valid < horizon and noted:
        noted.note(
            f"forecasts are validated on {valid} steps, because {rows} rows leave no room for "
            f"{horizon}; intervals further ahead are as wide as the widest of these."
        )
    most = rows - rows // 2 - valid + 1  # starts of a validation interval in the second half
    if k is not None and k > most and noted:
        raise ValueError(
            f"--k {k} splits of {valid} steps do not fit in {rows} rows; use at most {most}."
        )
    k = min(SPLITS if k is None else k, most)
    if grid == "auto":
        grid = "medium" if values < LONG else "small"
    if units is None:
        units = min(50 if rows < MANY else 100, max(10, rows // 3))
    chosen = SCHEMES if scheme == "all" else (scheme,)
    schemes = {name: _scheme(name, k, valid) for name in chosen}
    return Plan(schemes, k, valid, units, grid, 0, horizon, forms=forms, **settings)


def _rows(values: int) -> int:
    """Pairs that schemes split, after the washout."""
    return values - 1 - min(200, (values - 1) // 10)


def _scheme(name: str, k: int, valid: int) -> Any:
    """A scheme of ``k`` validation intervals with ``valid`` steps."""
    scheme = BY_NAME[name]
    given = {"k": k, "valid": valid}
    return scheme(**{size: given[size] for size in sizes_of(scheme) if size in given})
