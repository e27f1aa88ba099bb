"""The data of a search in a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.text import in_words
from echofold.plots._series import given_series

COLUMNS = 12  # columns or classes described at most


def described(search: Any) -> dict[str, Any]:
    """Size, range and columns of the data."""
    problem, _ = search._reader.problem(search.candidates_[search.best_index_])
    if problem.task.labels:
        return _sequences(search, problem)
    table = given_series(search)
    count, outputs = table.values.shape
    facts = [("Rows", str(count)), ("Outputs", str(outputs))]
    known = problem.known.shape[1]
    if not problem.task.fed_back:
        facts.insert(1, ("Inputs", str(problem.inputs.shape[1])))
    elif known:
        facts.append(("Inputs known in advance", str(known)))
        given = search.best_estimator_.X_schema_
        if given is not None and given.names is not None:
            more = ", …" if len(given.names) > COLUMNS else ""
            first = ", ".join(str(name) for name in given.names[:COLUMNS])
            facts.append(("Given as", first + more))
    if missing := int(np.isnan(table.values).sum()):
        facts.append(("Missing", f"{missing} of {table.values.size} values"))
    facts.append(("Washout", f"{len(problem.washout)} rows that only warm the reservoir up"))
    facts.append(("Split by schemes", f"{problem.rows} rows"))
    text = f"{count} rows"
    if table.index is not None:
        ends = f"{_label(table.index[0])} to {_label(table.index[-1])}"
        facts.append(("Index", ends))
        text += f", {ends}"
    names = table.schema.names or [f"output {i}" if outputs > 1 else "y" for i in range(outputs)]
    columns = [
        (str(name), *map(in_words, (np.nanmin(column), np.nanmean(column), np.nanmax(column))))
        for name, column in zip(names, table.values.T[:COLUMNS], strict=False)
    ]
    head = ("column", "minimum", "mean", "maximum")
    left_out = outputs - len(columns)
    return _laid_out(facts, head, columns, left_out, text)


def given_sequences(search: Any) -> tuple[list[np.ndarray], np.ndarray]:
    """The sequences ``(time, inputs)`` and labels that a search of a classifier was fitted on."""
    given, labels = (
        search._reader.data[i] if len(search._reader.data) > i else search._reader.fit_params[name]
        for i, name in enumerate(("sequences", "y"))
    )
    return search.best_estimator_._sequences(given, reset=False), np.asarray(labels)


def _sequences(search: Any, problem: Any) -> dict[str, Any]:
    sequences, _ = given_sequences(search)
    lengths = sorted({len(s) for s in sequences})
    classes, counts = search.best_estimator_.classes_, np.bincount(problem.labels)
    facts = [
        ("Sequences", str(len(sequences))),
        ("Steps", f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else str(lengths[0])),
        ("Inputs", str(problem.segments.inputs)),
        ("Classes", str(len(classes))),
    ]
    rows = [(str(c), str(n)) for c, n in zip(classes, counts, strict=True)][:COLUMNS]
    text = f"{len(sequences)} sequences of {len(classes)} classes"
    return _laid_out(facts, ("class", "sequences"), rows, len(classes) - len(rows), text)


def _laid_out(facts: list, head: tuple, rows: list, left_out: int, text: str) -> dict[str, Any]:
    return {"facts": facts, "head": head, "rows": rows, "left_out": left_out, "described": text}


def _label(value: Any) -> str:
    """An index label; a date without its midnight."""
    return str(value).removesuffix(" 00:00:00")
