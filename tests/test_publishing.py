"""What publishing needs says the same as the package: versions, requirements, sessions, figures."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import echofold

yaml = pytest.importorskip("yaml")  # comes with Dask
ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def loaded(path):
    return yaml.safe_load(text_of(path))


def constants(path):
    """Names and values of the constants of a script, without running it."""
    found = {}
    for node in ast.parse(text_of(path)).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def sessions():
    """Sessions of the noxfile."""
    tree = ast.parse(text_of("noxfile.py"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("nox.session" in ast.unparse(one) for one in node.decorator_list)
    }


def requirement(text):
    """A requirement of pip or conda as its name and lower bound."""
    return tuple(re.fullmatch(r"([\w-]+) ?>=([\d.]+)", text).groups())


def test_one_version_everywhere():
    assert loaded("CITATION.cff")["version"] == echofold.__version__
    assert loaded("conda/recipe.yaml")["context"]["version"] == echofold.__version__


def test_the_recipe_requires_what_the_package_does():
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["report"], *extras["progress"], extras["cli"][0]]
    recipe = loaded("conda/recipe.yaml")
    got = {requirement(one) for one in recipe["requirements"]["run"]}
    renamed = {requirement(one.replace("matplotlib", "matplotlib-base")) for one in wanted}
    assert got == {*renamed, ("python", PROJECT["requires-python"].removeprefix(">="))}
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"echofold = {PROJECT['scripts']['echofold']}"
    for name in recipe["about"]["license_file"]:
        assert (ROOT / name).is_file()


def test_the_workflow_runs_every_supported_python_and_sessions_that_exist():
    jobs = loaded(".github/workflows/tests.yml")["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    declared = [
        one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)
    ]
    assert matrix["python"] == declared == constants("noxfile.py")["PYTHONS"]
    assert [system.split("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert set(jobs["checks"]["strategy"]["matrix"]["session"]) <= sessions()
    for path in (".github/workflows/tests.yml", ".github/workflows/release.yml"):
        for name in re.findall(r"nox -s \"?([a-z_]+)", text_of(path)):
            assert name in sessions()


def test_the_page_on_stability_has_the_lower_bounds():
    table = text_of("docs/stability.md").partition("| needs | from |\n|---|---|\n")[2]
    rows = re.findall(r"^\| (\S+) \| ([\d.]+)", table, re.MULTILINE)
    python = ("Python", PROJECT["requires-python"].removeprefix(">="))
    assert rows == [python, *map(requirement, PROJECT["dependencies"])]
    assert f"up to {constants('noxfile.py')['PYTHONS'][-1]}" in table


def test_the_documentation_is_built_as_here():
    settings = loaded(".readthedocs.yaml")
    assert (ROOT / settings["sphinx"]["configuration"]).is_file()
    (install,) = settings["python"]["install"]
    assert set(install["extra_requirements"]) <= set(PROJECT["optional-dependencies"])


def test_hooks_use_tools_of_the_development_environment():
    (local,) = loaded(".pre-commit-config.yaml")["repos"]
    wanted = " ".join(PROJECT["optional-dependencies"]["dev"])
    for hook in local["hooks"]:
        assert hook["entry"].split()[0] in wanted


def test_the_paper_cites_what_is_in_its_bibliography():
    text, entries = text_of("paper/paper.md"), text_of("paper/paper.bib")
    known = set(re.findall(r"^@\w+\{(\w+),", entries, re.MULTILINE))
    assert set(re.findall(r"@(\w+)", text)) == known


def test_the_paper_claims_the_speed_that_the_readme_does():
    rows = re.findall(r"^\| (.+?) \| (.+?) \| ([\d.]+ ×) \|", text_of("README.md"), re.MULTILINE)
    measured = [faster for _, _, faster in rows]
    claimed = re.findall(r"\| ([\d.]+ ×) \|$", text_of("paper/paper.md"), re.MULTILINE)
    assert len(claimed) == 5 and set(claimed) <= set(measured)
