"""What is searched for a series: representations of its values, and networks by its length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from echofold.schemes import BY_NAME, sizes_of

# By errors on rows that were trained on, neither networks and plain forecasts nor schemes can be
# compared, and intervals would be too narrow.
SCHEMES = tuple(
    name for name, scheme in BY_NAME.items() if "valid" in sizes_of(scheme) and scheme.holds_out
)
RIDGE = [1e-6, 1e-3, 1e-1, 1.0, 10.0]
GRIDS: dict[str, dict[str, list[float]]] = {  # of each representation: there are six or more
    "small": {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9]},
    "medium": {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9], "input_scaling": [0.2, 1.0]},
    "large": {
        "leak_rate": [0.1, 0.3, 1.0],
        "spectral_radius": [0.3, 0.6, 0.9, 1.1],
        "input_scaling": [0.3, 1.0],
    },
}
LONG = 20_000  # values from which the small grid is the default, and logarithms are left out
MANY = 1000  # rows from which reservoirs have 100 units rather than 50
LEFT = 20  # values that the shortest beginning must keep
ORIGINS = 3
SPLITS = 20
DRAWS = 3  # whose forecasts are averaged; one of series of `MANY` rows, which vary less by draw
WAVES = 10  # that describe a season at most
OFTEN = 3  # how often a season must be there to be differenced: twice to be learned from

Lags = tuple[int, ...]


@dataclass(frozen=True)
class Forms:
    """What is known of a series: its seasons, the shortest first, and whether it is positive.

    ``log`` and ``differences`` are what was asked for, None if nothing was.
    """

    seasons: tuple[int, ...]
    positive: bool
    log: bool | None = None
    differences: tuple[Lags, ...] | None = None

    @property
    def least(self) -> int:
        """Values that are needed for the differences that were asked for."""
        return max([0, *(3 * sum(lags) + 20 for lags in self.differences or ())])

    def fitting(self, rows: int) -> tuple[dict[str, Any], ...]:
        """Representations for so many rows, all with the same parameters.

        Examples
        --------
        >>> [form["difference"] for form in Forms((12,), positive=False).fitting(200)]
        [(), (1,), (12,), (12, 1)]
        >>> [form["season"] for form in Forms((24, 168), positive=False).fitting(2000)]
        [(24, 168), (24, 168), (168,), (168,), None]
        """
        seasons = tuple(season for season in self.seasons if rows >= OFTEN * season)
        logs = [False, True] if self.positive else [False]
        return tuple(
            {
                "log": log,
                "difference": lags,
                "season": waves or None,
                "harmonics": max([1, *(min(one // 2, WAVES) for one in waves)]),
            }
            for log in (logs if self.log is None else [self.log])
            for lags, waves in self._lags(seasons)
        )

    def _lags(self, seasons: tuple[int, ...]) -> list[tuple[Lags, tuple[int, ...]]]:
        """Differences, each with the seasons whose waves are given beside them."""
        if self.differences is not None:
            return [
                (lags, tuple(season for season in seasons if season not in lags))
                for lags in self.differences
            ]
        if not seasons:
            return [((), ()), ((1,), ()), ((1, 1), ())]
        first, rest = seasons[0], seasons[1:]
        found = [((), seasons), ((1,), seasons), ((first,), rest), ((first, 1), rest)]
        return found + [((season,), ()) for season in rest]


def suiting(
    values: Any,
    seasons: Sequence[int],
    log: bool | None = None,
    differences: tuple[Lags, ...] | None = None,
    nonnegative: bool = False,
) -> Forms:
    """What suits these values, and what was asked for; an error if these do not go together."""
    values = np.asarray(values, dtype=float)
    for words, given, wrong in (
        ("--nonnegative,", nonnegative, values < 0),
        ("--log needs positive values,", log, values <= 0),
    ):
        if given and wrong.any():
            row = int(wrong.argmax())
            raise ValueError(f"{words} but value {row + 1} is {values[row]:.6g}; leave it out.")
    positive = not (values <= 0).any()  # of those that are there
    if log is None and len(values) >= LONG:
        log = False  # seldom worth its time there
    forms = Forms(tuple(seasons), positive, log, differences)
    if len(values) < forms.least:
        longest = max(differences or [()], key=sum)
        raise ValueError(
            f"--difference {','.join(map(str, longest))} leaves too few of {len(values)} values; "
            "use smaller lags."
        )
    return forms


@dataclass(frozen=True)
class Recipe:
    """What to search, and on how many beginnings to repeat it."""

    schemes: dict[str, Any]
    k: int
    valid: int
    units: int
    grid: str
    horizon: int
    forms: tuple[dict[str, Any], ...]
    metric: str = "rmse"
    draws: int = DRAWS
    seed: int = 0
    final: str = "retrain"
    checkpoint: Path | None = None
    verify: bool = False
    nonnegative: bool = False
    origins: int = 0
    shorter: dict[int, Recipe] = field(default_factory=dict)  # what fits each of the beginnings

    @property
    def least(self) -> float:
        """The lowest value that a forecast may have."""
        return 0.0 if self.nonnegative else float("-inf")

    def search(self, progress: Any, kept: str = "all", first: str | None = None) -> Any:
        """A new search, with one of the schemes put first; ``kept`` names its checkpoint."""
        from echofold._models.forecaster import ESNForecaster
        from echofold._search.search import ESNSearchCV

        limits = (0.0, float("inf")) if self.nonnegative else None
        order = sorted(self.schemes, key=lambda name: name != first)
        return ESNSearchCV(
            ESNForecaster(self.units, random_state=self.seed, output_range=limits),
            [
                {name: [value] for name, value in form.items()}
                | {**GRIDS[self.grid], "ridge": RIDGE}
                for form in self.forms
            ],
            cv={name: self.schemes[name] for name in order},
            metric=self.metric,
            final=self.final,
            n_draws=self.draws,
            progress=progress,
            verify=self.verify,
            checkpoint=None if self.checkpoint is None else self.checkpoint / kept,
        )

    @property
    def words(self) -> str:
        """One line about what is searched."""
        networks = len(self.forms) * prod(map(len, GRIDS[self.grid].values()))
        draws = f" × {self.draws} draws" if self.draws > 1 else ""
        return (
            f"{networks} networks of {self.units} units in {len(self.forms)} representations × "
            f"{len(RIDGE)} ridge values{draws}, validated by {', '.join(self.schemes)} "
            f"({self.k} splits of {self.valid} steps)"
        )


def recipe_for(
    series: Any,
    horizon: int,
    output: Any,
    *,
    origins: int | None = None,
    held_out: bool = False,
    units: int | None = None,
    log: bool | None = None,
    differences: tuple[Lags, ...] = (),
    nonnegative: bool = False,
    **settings: Any,
) -> Recipe:
    """What to search for a series of a file and a horizon, which may have to be ``held_out``.

    What suits a beginning of the series is told by that beginning alone.
    """
    values = len(series.values)
    lags = tuple(tuple(filter(None, one)) for one in differences) or None  # 0 stands for none
    asked = log, lags, nonnegative
    forms = suiting(series.values, series.seasons, *asked)
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
    wanted = (ORIGINS if values < LONG else 1) if origins is None else origins
    room = values - max(LEFT, 2 * horizon, forms.least)
    count = max(0, min(wanted, room // horizon))
    if count < wanted:
        output.note(
            f"the series is short for {horizon} steps: the search is repeated on {count} instead "
            f"of {wanted} beginnings."
            if count
            else f"the series is too short to tell the expected error over {horizon} steps."
        )

    def fits(rows: int, units: int | None, **noted: Any) -> Recipe:
        among = suiting(series.values.iloc[:rows], series.seasons_before(rows), *asked)
        more = {"nonnegative": nonnegative, **settings, **noted}
        return recipe_by_length(rows, horizon, among, units=units, **more)

    whole = fits(values - horizon if held_out else values, units, output=output)
    starts = [values - horizon * i for i in range(1, count + 1)]
    # Of other sizes, networks would have to be compiled anew for each of the beginnings.
    shorter = {start: fits(start, whole.units) for start in starts}
    return replace(whole, origins=count, shorter=shorter)


def recipe_by_length(
    values: int,
    horizon: int,
    among: Forms,
    *,
    scheme: str,
    k: int | None = None,
    units: int | None = None,
    grid: str = "auto",
    draws: int | None = None,
    output: Any = None,
    **settings: Any,
) -> Recipe:
    """What fits a series of so many values; ``output`` is told what is unusual about it."""
    rows = values - 1 - min(200, (values - 1) // 10)  # pairs that schemes split, after the washout
    if draws is None:
        draws = DRAWS if rows < MANY else 1
    forms = among.fitting(rows)
    rows = min(rows, values - 1 - max(sum(form["difference"]) for form in forms))
    valid = max(1, min(horizon, rows // 3))
    if valid < horizon and output:
        output.note(
            f"forecasts are validated on {valid} steps, because {rows} rows leave no room for "
            f"{horizon}; intervals further ahead are as wide as the widest of these."
        )
    most = max(1, rows - rows // 2 - valid + 1)  # validations that start in the second half
    if k is not None and k > most and output:
        raise ValueError(
            f"--k {k} splits of {valid} steps do not fit in {rows} rows; use at most {most}."
        )
    k = min(SPLITS if k is None else k, most)
    if grid == "auto":
        grid = "medium" if values < LONG else "small"
    if units is None:
        units = min(50 if rows < MANY else 100, max(10, rows // 3))
    names = SCHEMES if scheme == "all" else (scheme,)
    schemes = {name: scheme_of(name, k=k, valid=valid) for name in names}
    return Recipe(schemes, k, valid, units, grid, horizon, forms, draws=draws, **settings)


def scheme_of(name: str, **sizes: Any) -> Any:
    """A scheme by its name, from those of the sizes that it takes."""
    scheme = BY_NAME[name]
    return scheme(**{size: sizes[size] for size in sizes_of(scheme) if size in sizes})
