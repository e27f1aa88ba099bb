"""A search as one HTML file to keep or send: it loads nothing and runs nothing."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from echofold._data.text import legible
from echofold._machine.files import write_atomically


def write_report(search: Any, path: str | os.PathLike) -> Path:
    """Write a standalone HTML report of a search.

    The file is written beside ``path`` and then put in its place, so an earlier report stays whole
    if something goes wrong.

    Parameters
    ----------
    search : ESNSearchCV
        Fitted. If `evaluate` was called with it, its honest error is shown beside the winner's.
    path : path
        Where to write; an existing file is replaced.

    Returns
    -------
    pathlib.Path
        The path written to.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold
    >>> from echofold.report import write_report
    >>> search = ESNSearchCV(
    ...     ESNForecaster(20, random_state=0), {"ridge": [1e-8, 1e-4]}, cv=KFold(4)
    ... )
    >>> search = search.fit(np.sin(np.arange(200) / 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(search, pathlib.Path(folder) / "report.html").name
    'report.html'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(
            f"path={str(path)!r}: the folder {str(path.parent)!r} does not exist. Create it first."
        )
    return write_atomically(path, render(search).encode())


def render(search: Any) -> str:
    """The report as text."""
    from sklearn.utils.validation import check_is_fitted

    try:
        import jinja2
        import matplotlib  # noqa: F401 (both are asked for before any work is done)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a report needs {error.name}, which is not installed. "
            "Install it with: pip install 'echofold[report]'"
        ) from error
    from echofold._data.numbers import in_words
    from echofold.report._content import gather
    from echofold.report._figures import draw

    if not hasattr(search, "finalize"):
        raise TypeError(f"search={search!r}: expected a fitted ESNSearchCV.")
    check_is_fitted(search, "results_")
    here = files("echofold.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = in_words
    template = environment.from_string((here / "template.html.j2").read_text(encoding="utf-8"))
    page = template.render(
        **gather(search),
        pictures=draw(search),
        style=(here / "style.css").read_text(encoding="utf-8"),
    )
    return legible(page)
