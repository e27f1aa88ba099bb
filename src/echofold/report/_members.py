"""The members of an ensemble: what each learns, and how much it counts."""

from __future__ import annotations

from typing import Any

from echofold._data.numbers import in_words
from echofold._models.ensemble import TRIMMED, is_ensemble


def members_of(search: Any) -> dict[str, Any] | None:
    """Members with equal parameters as one row; None if the final model is no ensemble."""
    model = search.best_estimator_
    if not is_ensemble(model):
        return None
    shaping = model.members[0]._shapes_the_problem
    searched = dict.fromkeys(name for one in search.candidates_ for name in one)
    names = [name for name in searched if name in shaping]
    names += [name for name in searched if name not in shaping and name != "ridge"] + ["ridge"]
    groups: dict[tuple[str, ...], int] = {}
    for member in model.members:
        values = tuple(in_words(getattr(member, name)) for name in names)
        groups[values] = groups.get(values, 0) + 1
    total = len(model.members)
    return {
        "head": names,
        "rows": [(values, count, f"{count / total:.1%}") for values, count in groups.items()],
        "total": total,
        "trimmed": f"{TRIMMED:.0%}",
    }
