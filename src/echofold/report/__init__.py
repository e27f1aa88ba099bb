"""A forecast or a search as one HTML file: it loads nothing; a script in it sorts tables."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from echofold._data.text import figure, in_words, legible
from echofold._machine.files import write_atomically
from echofold.report._about import About

__all__ = ["About", "write_report"]


def write_report(model: Any, path: str | os.PathLike[str], about: About | None = None) -> Path:
    """Write a standalone HTML report of an automatic forecast or of a search.

    The file is written beside ``path`` and then put in its place, so an earlier report stays whole
    if something goes wrong.

    Parameters
    ----------
    model : AutoForecaster or ESNSearchCV
        Fitted. If `evaluate` was called with it, the error that it found is shown too.
    path : path
        Where to write; an existing file is replaced.
    about : About, optional
        A title, notes about the data, how many steps to forecast, and what else the model does
        not know.

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
    return write_atomically(path, render(model, about or About()).encode())


def render(model: Any, about: About) -> str:
    """The report as text."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401 (both are asked for before any work is done)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a report needs {error.name}, which is not installed. "
            "Install it with: pip install 'echofold[report]'"
        ) from error
    from sklearn.utils.validation import check_is_fitted

    if hasattr(model, "series_"):
        return _page("panel.html.j2", _of_panel(model, about))
    from echofold._search.auto import AutoForecaster
    from echofold.plots._series import fitted, validation_outputs
    from echofold.report._about import look_ahead
    from echofold.report._code import code_of_recipe
    from echofold.report._details import details, without_search
    from echofold.report._figures import pictures_of
    from echofold.report._lead import lead

    if not isinstance(about, About):
        raise TypeError(f"about={about!r}: expected an echofold.report.About, or None.")
    if not isinstance(model, AutoForecaster):
        fitted(model)
    check_is_fitted(model, "weights_" if isinstance(model, AutoForecaster) else "results_")
    searched = model.search_ if isinstance(model, AutoForecaster) else model
    ahead = look_ahead(model, about) if model._task.ahead else None
    validation = None if searched is None else validation_outputs(searched)
    content = {
        **(without_search(ahead) if searched is None else details(searched)),
        **lead(model, about, ahead, validation),
        "pictures": pictures_of(searched, ahead, validation),
        "networks": searched is not model,
        **({} if searched is model else {"code": code_of_recipe(model, ahead)}),
    }
    return _page("template.html.j2", content)


def _of_panel(model: Any, about: About) -> dict[str, Any]:
    """The content of a page of many series."""
    from datetime import date

    from echofold._search.panel import forecasts_by_name
    from echofold.report._panel import content_of

    totals = about.totals
    ahead: Any = about.forecast if totals is None else totals.by_name
    if ahead is None:
        ahead = forecasts_by_name(model, model.horizon, about.X, model.level)
    content = content_of(model, ahead, about.title or "Forecasts", totals)
    content["notes"] = [*content["notes"], *map(legible, about.notes)]
    return {"date": date.today().isoformat(), **content}


def _page(name: str, content: dict[str, Any]) -> str:
    """A template filled in, with the style and the script of pages."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": in_words, "figure": figure}
    template, script = environment.from_string(_part(name)), _part("sort.js")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = template.render(**content, style=_part("style.css"), script=script, allowed=allowed)
    return legible(page)


def _part(name: str) -> str:
    """A file that pages are made of."""
    return (files("echofold.report") / name).read_text(encoding="utf-8")
