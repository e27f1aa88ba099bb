"""Checks in fresh environments: `nox` runs all of them, `nox -s lint` one."""

from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests_lowest", "tests", "docs"]

PROJECT = nox.project.load_toml("pyproject.toml")["project"]
PYTHONS = ["3.11", "3.12", "3.13"]


def lowest() -> list[str]:
    """Every lower bound a user can meet, as a pin."""
    extras = PROJECT["optional-dependencies"]
    requirements = PROJECT["dependencies"] + [
        requirement
        for extra, members in extras.items()
        if extra not in ("dev", "docs")
        for requirement in members
    ]
    return [r.replace(">=", "==") for r in requirements if ">=" in r]


@nox.session(python=PYTHONS[0])
def tests_lowest(session: nox.Session) -> None:
    """The tests with the oldest supported dependencies."""
    constraints = Path(session.create_tmp()) / "lowest.txt"
    constraints.write_text("\n".join(lowest()))
    session.install("-e", ".[dev]", "-c", str(constraints))
    session.run("pytest", *session.posargs)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The tests with the newest dependencies."""
    session.install("--upgrade", "-e", ".[dev]")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and formatting."""
    session.install("ruff")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Type hints."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation, examples included; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
