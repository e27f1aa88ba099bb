"""Checks in fresh environments: `nox` runs all of them, `nox -s lint` one."""

import os
import re
import shutil
from pathlib import Path

import nox

os.environ["ECHOFOLD_AS_SHIPPED"] = "1"  # tests compile as users do, not quickly

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests_lowest", "tests", "wheel", "sktime", "docs"]

PROJECT = nox.project.load_toml("pyproject.toml")["project"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
AS_SHIPPED = {"ECHOFOLD_AS_SHIPPED": "1"}  # programs are compiled as for users


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


def constraints(session: nox.Session) -> str:
    """A file of the lower bounds for pip."""
    file = Path(session.create_tmp()) / "lowest.txt"
    file.write_text("\n".join(lowest()))
    return str(file)


@nox.session(python=PYTHONS[0])
def tests_lowest(session: nox.Session) -> None:
    """The tests with the oldest supported dependencies."""
    session.install("-e", ".[dev]", "-c", constraints(session))
    session.run("pytest", *session.posargs, env=AS_SHIPPED)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The tests with the newest dependencies."""
    session.install("--upgrade", "-e", ".[dev]")
    session.run("pytest", *session.posargs, env=AS_SHIPPED)


@nox.session(python=PYTHONS[1])
def sktime(session: nox.Session) -> None:
    """The forecaster of sktime, which lags behind the newest dependencies, and its pages."""
    session.install("-e", ".[dev,sktime]", "pyrcn", "torch")
    pages = ["tests/test_docs.py", "-k", "code_runs and (sktime or states)"]
    own = ["tests/test_sktime.py", "src/echofold/sktime.py"]
    session.run("pytest", "-m", "slow or not slow", *own, *session.posargs)
    session.run("pytest", *pages, *session.posargs)


@nox.session
@nox.parametrize("dependencies", ["lowest", "newest"])
def wheel(session: nox.Session, dependencies: str) -> None:
    """What users install: a wheel made of the source distribution, on the lowest and newest."""
    made = Path(session.create_tmp()).resolve() / "wheel"
    shutil.rmtree(made, ignore_errors=True)
    session.install("build")
    session.run("python", "-m", "build", "--outdir", str(made))
    (file,) = made.glob("*.whl")
    blocks = re.findall(r"^```python\n(.*?)^```", Path("README.md").read_text("utf-8"), re.M | re.S)
    pinned = ["-c", constraints(session)] if dependencies == "lowest" else []
    session.install(f"echofold[cli,parquet,optuna] @ {file.as_uri()}", *pinned)
    session.chdir(made)  # away from the sources
    session.run("echofold", "--version")
    session.run("echofold", "demo", "--quiet")
    session.run("python", "-c", "\n".join(blocks))


@nox.session
def lint(session: nox.Session) -> None:
    """Style and formatting, and whether the conda recipe can be rendered."""
    session.install("ruff", "py-rattler-build")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    read = "from rattler_build import Stage0Recipe as Recipe"
    session.run("python", "-c", f"{read}; Recipe.from_file('conda/recipe.yaml').render()")


@nox.session
def types(session: nox.Session) -> None:
    """Type hints, and what checkers make of them in the code of users."""
    session.install("-e", ".[dev]", "basedpyright")
    session.run("mypy")
    session.run("pytest", "-m", "slow or not slow", "tests/test_typing.py")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation, examples included; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
