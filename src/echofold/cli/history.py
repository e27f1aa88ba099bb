"""What a model said and what came: a line for each update beside its file, compared and judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import count, in_words
from echofold._machine.files import write_atomically
from echofold._models.forecast import Forecast
from echofold.report._updates import told_in

SUFFIX = ".history.jsonl"
RECENT = 24  # latest values that came, by which a model is judged,
ENOUGH = 8  # if there are so many
LOSING = 1.5  # times the error that was expected
CLEARLY = 0.9  # of the model's error, below which a plain forecast was clearly better
SURE = 3.0  # standard errors, beyond which a mean error is no chance
FIELDS = (  # of a record
    "model", "rows", "after", "times", "mean", "lower", "upper", "truth", "compared", "error",
    "bias", "expected", "inside", "plain",
)  # fmt: skip
MEANS = "error", "bias", "expected"
OF_EACH = ("after", "truth", "compared", "error", "bias", "expected", "inside", "plain")


def history_of(model: Path) -> Path:
    """Where the history of a model in a file is."""
    return model.with_name(model.name.removesuffix(".echofold") + SUFFIX)


def mark_of(model: Any) -> str:
    """What tells a model from others, however far it has moved on: its past errors, or units."""
    if hasattr(model, "series_"):
        each = "".join(map(mark_of, model.series_.values()))
        return sha256(each.encode()).hexdigest()[:12]
    errors = getattr(model, "residuals_", None)
    if errors is None:
        errors = np.stack([model.y_scaler_.center, model.y_scaler_.unit])
    return sha256(np.ascontiguousarray(errors, dtype=float).tobytes()).hexdigest()[:12]


def read_history(path: Path) -> list[dict[str, Any]]:
    """All records, the oldest first; none where there is no file."""
    if not path.exists():
        return []
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            lacks = [name for name in FIELDS if name not in record]
        except (ValueError, TypeError):
            lacks = ["JSON"]
        if lacks:
            raise ValueError(
                f"line {number} of {path.name} is no record of an update, it lacks {lacks[0]}: "
                "repair it, or move the file away to begin a new history."
            )
        records.append(record)
    return records


def ended(known: Sequence[dict[str, Any]], mark: str, rows: int) -> list[dict[str, Any]]:
    """Records of updates that came to their end, if the model of that ``mark`` has seen ``rows``.

    That of one which was killed before it wrote the model is left out: it is made again.
    """
    return [one for one in known if one["model"] != mark or one["rows"] < rows]


def write_history(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write all records, or leave the file as it is."""
    text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text.encode())


def tell_report(report: Path, words: str) -> list[str]:
    """Tell a report what the page of updates beside it does; its path if that was new to it."""
    page = report.with_name("updates.html")
    if not (report.exists() and page.exists()):
        return []
    before = report.read_bytes().decode()
    after = told_in(before, page.read_bytes().decode(), words)
    return [str(write_atomically(report, after.encode()))] if after != before else []


def tell_history(report: Path, place: Path, model: Any) -> None:
    """Tell a new report of a model what came of forecasts by it, or by those before it."""
    with suppress(ValueError):  # of a damaged history: an update will say so
        if known := read_history(history_of(place)):
            tell_report(report, judged_by(mark_of(model), known).words)


def record_of(
    mark: str, rows: int, after: str, times: Sequence[str], ahead: Forecast, truth: np.ndarray,
    plain: tuple[str, np.ndarray] | None, expected: np.ndarray,
) -> dict[str, Any]:  # fmt: skip
    """A forecast of the model of that ``mark``, from after so many ``rows``, and what came of it.

    ``times`` are those of the forecast, ``expected`` the mean absolute error of past forecasts by
    step, and ``plain`` what a plain forecast by its name said at the same time.
    """
    mean = np.asarray(ahead.mean, dtype=float)
    steps = min(len(mean), len(truth))
    there = np.isfinite(truth[:steps])
    errors = (truth[:steps] - mean[:steps])[there]
    own = truth[:steps][there]
    ends = {
        f"{level:g}": [np.asarray(end[level], dtype=float) for end in (ahead.lower, ahead.upper)]
        for level in ahead.lower
    }
    return {
        "model": mark,
        "rows": rows,
        "after": after,
        "times": list(times),
        "mean": _plain(mean),
        "lower": {level: _plain(low) for level, (low, _) in ends.items()},
        "upper": {level: _plain(high) for level, (_, high) in ends.items()},
        "truth": _plain(truth),
        "compared": len(errors),
        "error": _mean(np.abs(errors)),
        "bias": _mean(errors),
        "expected": _mean(expected[:steps][there]),
        "inside": {
            level: _mean((own >= low[:steps][there]) & (own <= high[:steps][there]))
            for level, (low, high) in ends.items()
        },
        "plain": None
        if plain is None
        else {"name": plain[0], "error": _mean(np.abs(own - plain[1][:steps][there]))},
    }


def record_of_all(
    mark: str, rows: int, after: str, each: dict[str, dict[str, Any]], units: dict[str, float]
) -> dict[str, Any]:
    """One record of several series, from the record of ``each`` that something came of.

    What is told of all are means over the values of all, in ``units`` of each, and it counts steps;
    ``mean`` and ``truth`` are those of each step. Of single series what came is kept, and what was
    said of it.
    """
    scored = {name: one for name, one in each.items() if one["compared"]}
    told = {name: one for name, one in scored.items() if one["expected"] is not None} or scored
    scale = [units[name] for name in told]
    both = {
        key: pd.DataFrame(
            zip_longest(*(one[key][: len(one["truth"])] for one in told.values())), dtype=float
        )
        for key in ("mean", "truth")
    }
    steps = {
        key: _plain(one.where(both["truth"].notna()).div(scale).mean(axis=1).to_numpy())
        for key, one in both.items()
    }

    def of_all(found: list[float | None], over: Any = scale) -> float | None:
        if not found or None in found:
            return None
        weights = [one["compared"] for one in told.values()]
        return float(np.average(np.array(found, dtype=float) / over, weights=weights))

    whole = {key: of_all([one[key] for one in told.values()]) for key in MEANS}
    plain = of_all([one["plain"] and one["plain"]["error"] for one in told.values()])
    inside = [one["inside"] for one in told.values()]
    levels = sorted({level for one in inside for level in one}, key=float)
    kept = {name: {key: one[key] for key in OF_EACH} for name, one in each.items()}
    for name, one in each.items():
        kept[name] |= {key: one[key][: len(one["truth"])] for key in ("times", "mean")}
        kept[name]["unit"] = units[name]
    return {
        "model": mark,
        "rows": rows,
        "after": after,
        "times": [],
        "lower": {},
        "upper": {},
        **steps,
        "compared": sum(one is not None for one in steps["truth"]),
        **whole,
        "inside": {level: of_all([one.get(level) for one in inside], 1.0) for level in levels},
        "plain": None if plain is None else {"name": "the best one of each", "error": plain},
        "series": kept,
    }


def of_one(known: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The records of one of several series."""
    return [one["series"][name] for one in known if name in one.get("series", {})]


def _plain(values: np.ndarray) -> list[float | None]:
    """Numbers as JSON has them, in full; what is missing is null."""
    return [float(one) if np.isfinite(one) else None for one in values]


def _mean(values: np.ndarray) -> float | None:
    """The mean as JSON has it; null of nothing."""
    return float(np.mean(values)) if len(values) and np.isfinite(values).all() else None


@dataclass(frozen=True)
class Judgement:
    """How a model has done on the latest values that came: in words, and in numbers."""

    words: str
    losing: bool = False
    compared: int = 0
    error: float | None = None
    expected: float | None = None
    plain: float | None = None
    bias: float | None = None
    coverage: float | None = None
    level: float | None = None

    def as_json(self) -> dict[str, Any]:
        """All of it by name."""
        return asdict(self)


def judged_by(mark: str, known: Sequence[dict[str, Any]]) -> Judgement:
    """What the records of the model of that ``mark`` say, not those of one before a search."""
    own = [one for one in known if one["model"] == mark]
    return judged(own, "step" if any("series" in one for one in own) else "value")


def judged(
    records: Sequence[dict[str, Any]], each: str = "value", plainly: bool = True
) -> Judgement:
    """What the latest records say of a model, which count values, or what ``each`` is.

    It is losing where the error of the latest values is more than one and a half times what past
    forecasts let expect or, if it is judged ``plainly``, where a plain forecast was clearly better:
    of many series some are by chance. A drift is a mean error of more than three times its standard
    error.
    """
    some: list[dict[str, Any]] = []
    compared = 0
    for one in reversed(records):
        if compared < RECENT and one["compared"]:
            some.insert(0, one)
            compared += one["compared"]
    if not compared:
        return Judgement("Nothing to compare yet: no value came that was forecast.")
    own = {name: _weighted(some, lambda one, name=name: one[name])
           for name in ("error", "expected", "bias")}  # fmt: skip
    plain = _weighted(some, lambda one: None if one["plain"] is None else one["plain"]["error"])
    level = max(some[-1]["inside"], key=float, default=None)
    coverage = _weighted(some, lambda one: one["inside"].get(level))
    words = f"The mean absolute error of the last {count(compared, each)} that came is "
    words += in_words(own["error"])
    if own["expected"] is not None:
        words += f", and {in_words(own['expected'])} was to be expected from past ones"
    if coverage is not None and level is not None:
        words += f"; {coverage:.0%} lay inside their {float(level):.0%} intervals"
    found = Judgement(
        f"{words}.", False, compared, own["error"], own["expected"], plain, own["bias"], coverage,
        None if level is None else float(level),
    )  # fmt: skip
    if compared < ENOUGH:
        return _with(found, f"That is too little to judge by; {ENOUGH} {each}s will do.")
    return _doubted(found, some, plainly)


def _doubted(found: Judgement, some: Sequence[dict[str, Any]], plainly: bool) -> Judgement:
    """What speaks against a model."""
    error, losing = found.error or 0.0, False
    if found.expected is not None and error > LOSING * found.expected:
        found, losing = _with(found, "The model is losing: search again."), True
    elif plainly and found.plain is not None and found.plain < CLEARLY * error:
        told = f"A plain forecast was better ({in_words(found.plain)}): search again."
        found, losing = _with(found, told), True
    errors = np.array([
        true - said
        for one in some
        for true, said in zip(one["truth"], one["mean"], strict=False)
        if true is not None and said is not None
    ])  # fmt: skip
    spread = errors.std(ddof=1) / len(errors) ** 0.5 if len(errors) > 1 else np.inf
    if abs(errors.mean()) > SURE * spread:
        way = "low" if errors.mean() > 0 else "high"
        found = _with(found, f"Forecasts are too {way}, by {in_words(abs(errors.mean()))} in the "
                      "mean: the level has shifted.")  # fmt: skip
    return replace(found, losing=losing)


def _with(found: Judgement, words: str) -> Judgement:
    """A judgement with one more sentence."""
    return replace(found, words=f"{found.words} {words}")


def _weighted(some: Sequence[dict[str, Any]], of: Any) -> float | None:
    """The mean of a figure over all values that were compared; None if some lack it."""
    figures = [of(one) for one in some]
    if any(one is None for one in figures):
        return None
    return float(np.average(figures, weights=[one["compared"] for one in some]))
