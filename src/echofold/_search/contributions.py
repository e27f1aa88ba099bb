"""What inputs known in advance are worth: the error of a search's winner without each of them.

An input that is left out keeps its place, and never changes: the weights of the network are those
of the search, and only what the input says is missing. The readouts are found anew, at the ridge
that suits them best, on the same splits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from echofold._data.arguments import candidate_seed
from echofold._data.calendar import group_of
from echofold._data.tables import read
from echofold._data.text import count, listed
from echofold._machine.device import one_blas_thread
from echofold._machine.notices import collected
from echofold._search.runner import Reader
from echofold._validation.settings import Settings
from echofold._validation.validate import validate

MOST = 8  # inputs that are left out one by one; more are left out together
IDLE = 0.97  # of the error, below which the network is better without an input
NOTHING, ALL = "nothing", "all inputs"


def contributions_of(search: Any) -> pd.DataFrame:
    """Errors of the winner on its validation stretches without each input."""
    y, X = search._reader.data
    table = read(X, "X", missing=True)
    names = table.schema.names or [f"column {place}" for place in range(table.values.shape[1])]
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(group_of(str(name)), []).append(place)
    if len(groups) > MOST + 1:
        apart = sorted(groups, key=lambda name: len(groups[name]) == 1)[:MOST]  # a calendar is one
        rest = [place for name in groups.keys() - set(apart) for place in groups[name]]
        groups = {name: groups[name] for name in groups if name in apart}
        groups[f"{count(len(rest), 'other')}"] = rest
    left_out = {NOTHING: [], **groups}
    if len(groups) > 1:
        left_out[ALL] = list(range(len(names)))
    scheme = next(iter(search._results))
    winner = search._winners.winner(scheme)
    draws = range(search.n_draws) if winner.draw is None else [winner.draw]
    candidate, path = search.candidates_[winner.candidate], search._results[scheme].ridge.values
    metric, found = search._reader.metrics[0], {}
    with collected(), one_blas_thread():
        for name, places in left_out.items():
            values = table.values.copy()
            values[:, places] = 0.0
            reader = _reading(search, (y, values))
            seed = candidate_seed(candidate, search.seed_)
            each = [_scores(reader, scheme, candidate, seed + draw, path) for draw in draws]
            scores = np.mean(each, axis=0)  # (splits, ridge)
            best = metric.cost(scores).mean(axis=0)
            found[name] = scores[:, int(np.where(np.isnan(best), np.inf, best).argmin())]
    whole = found[NOTHING]
    return pd.DataFrame(
        {
            "error": {name: float(one.mean()) for name, one in found.items()},
            "ratio": {name: float(one.mean() / whole.mean()) for name, one in found.items()},
            "worse": {
                name: float((metric.cost(one) > metric.cost(whole)).mean())
                for name, one in found.items()
            },
        }
    ).rename_axis("left out")


def words_of(contributions: Sequence[Mapping[str, Any]], metric: str) -> list[str]:
    """What the rows mean, and which inputs are better left out."""
    words = [
        f"Left out: {metric} of the best network on these stretches without an input, readouts "
        "found anew, and the share of stretches on which it is worse. Other members of the "
        "forecast know of no inputs."
    ]
    idle = [
        one["left_out"] for one in contributions
        if one["ratio"] < IDLE and one["worse"] < 0.5
    ]  # fmt: skip
    if idle:
        words.append(f"The network is better without {listed(idle)}: try it so.")
    return words


def _reading(search: Any, data: tuple) -> Reader:
    """What reads other data as a search read its own."""
    own = search._reader
    spaces = search.space_ if isinstance(search.space_, list) else [search.space_]
    return Reader(own.estimator, data, own.fit_params, own.groups, own.cv, own.metrics, spaces)


def _scores(
    reader: Reader, scheme: str, candidate: dict[str, Any], seed: int, path: np.ndarray
) -> np.ndarray:
    """Scores ``(splits, ridge)`` of a candidate with the weights of one draw."""
    problem, schemes = reader.problem(candidate)
    model = clone(reader.estimator).set_params(**candidate, random_state=seed)
    source, metric = model._states(problem, seed), reader.metrics[0]
    settings = Settings(path, metrics=[metric], **model._fitting(vars(model), problem))
    return validate(source, {scheme: schemes[scheme]}, settings)[scheme].scores[metric.name][0]
