"""A trial that was dropped: networks that forecast several steps at once, beside closed loops.

    pip install -e ".[cli,accuracy]"
    python benchmarks/direct.py [--every 4] [--processes 2]

Of the series of ``competitions.py`` with 45 values or more, the search of `AutoForecaster` is done
again with ``steps="direct"``, and its forecast takes a share in that of the networks, on the past
stretches by which members are weighed and for what follows. Errors are mean MASE, as shares of
those of closed loops alone, in all and by length.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor

import accuracy  # noqa: F401 (first: it sets the number of threads)
import competitions
import numpy as np

from echofold import AutoForecaster
from echofold._models.combination import NETWORKS, mixed, network_share, priors_for

LEAST, LENGTHS = 45, (45, 60, 80, 120)
SHARES = (0.0, 0.25, 0.5, 1.0)


def errors(job: dict) -> list[float] | None:
    """MASE by the share of direct networks; None without networks, or a scale."""
    warnings.simplefilter("ignore")
    y, season, horizon = job["values"], job["season"], job["horizon"]
    model = AutoForecaster(horizon, season=season, random_state=0, progress=False).fit(y)
    scale = competitions.scale(y, season)
    if model.search_ is None or not scale:
        return None
    space = [form | {"steps": ["direct"]} for form in model.search_.space]
    direct = model.search_.set_params(space=space, checkpoint=None).fit(y)
    found = direct._winners.outputs(next(iter(direct._results)))
    known = np.searchsorted(found.rows[:, 0], model.past_.rows[:, 0])
    said = (found.truth - direct.best_estimator_.residuals_)[known, :, 0]
    others = model._others_ahead(horizon)
    closed, ahead = model.networks_.forecast(horizon), direct.forecast(horizon)
    past = model.past_
    priors = priors_for(y, bool(model.seasons_), {NETWORKS: network_share(len(y))})
    assert model.names_[0] == NETWORKS
    closed_past, each = past.outputs[0].copy(), []
    for share in SHARES:
        past.outputs[0] = (1 - share) * closed_past + share * said
        vars(past).pop("errors", None)
        members = np.vstack([(1 - share) * closed + share * ahead, others])
        forecast = mixed(members, past.weights(priors), model.range_[:, 0])
        each.append(float(np.abs(forecast - job["truth"]).mean()) / scale)
    return each


def main() -> None:
    """Forecast, print and store."""
    import _common

    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=4, help="one in how many series")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    jobs = [job for job in competitions.series() if job["length"] >= LEAST][:: asked.every]
    jobs.sort(key=lambda job: (job["length"], job["season"]))  # equal lengths share programs
    with ProcessPoolExecutor(asked.processes) as pool:
        each = list(pool.map(errors, jobs, chunksize=4))
    rows = [one for one in each if one is not None]
    lengths = np.array([job["length"] for job, one in zip(jobs, each, strict=True) if one])
    found = {}
    for least, most in [(LEAST, np.inf), *zip(LENGTHS, (*LENGTHS[1:], np.inf), strict=True)]:
        part = np.array(rows)[(lengths >= least) & (lengths < most)]
        relative = part.mean(axis=0) / part[:, 0].mean()
        name = f"from {least}" + (f" to {most - 1}" if np.isfinite(most) else "")
        found[name] = {"series": len(part)} | {
            f"{share:g}": float(one) for share, one in zip(SHARES, relative, strict=True)
        }
        print(name, {key: round(one, 4) for key, one in found[name].items()})
    _common.store("direct", {"mean MASE as a share, by share of direct networks": found})


if __name__ == "__main__":
    main()
