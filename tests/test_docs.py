"""What README and documentation show is what happens: their code runs, their commands are valid."""

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MADE = ("generated", "examples", "_build", "_results", "_templates")  # not pages, or not by hand
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
    if path.relative_to(ROOT).parts[1:2] not in [(name,) for name in MADE]
]
EXAMPLES = sorted(path.name for path in ROOT.glob("examples/[0-9]*.py"))


def extension(name):
    """A module of the documentation build."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / f"docs/_ext/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


blocks, results = extension("blocks"), extension("results")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def with_code(page):
    return [block for block in blocks.blocks_of(text_of(page)) if block.runs]


# Pages of seconds, whose code other tests run on smaller data: those of the command line, of kinds
# of reservoir, of inputs known in advance, of searches and their reports, of executors, of horizons
# and backtests, of exponents, of trends, of gaps, of long series, and all in short (reservoirpy).
# The documentation build runs all.
COSTLY = ["docs/start.md"] + [
    f"docs/howto/{name}.md"
    for name in (
        "chaotic", "cluster", "csv", "disk", "dynamics", "feedback", "inputs", "kinds", "long",
        "missing", "parameters", "regression", "reservoirpy", "trends",
    )
]  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page in COSTLY else [])
        for page in PAGES
        if with_code(page)
    ],
)
def test_code_runs(page, monkeypatch):
    monkeypatch.setattr(blocks, "DPI", 30)  # nobody looks at these
    found = blocks.run_page(text_of(page), page, all_of_it=False)
    for block in found:
        assert not block.pictures or block.note.startswith("picture"), "a picture needs words"
        assert "picture" not in block.note or block.pictures, "words for a picture that is not made"
    if page == "README.md":
        (block,) = (one for one in found if one.kind == "python")
        (printed,) = re.findall(r"^```text\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
        assert_same_but_rounding(block.output, printed.rstrip())
    if lacking := sorted({block.lacks for block in found if block.lacks}):
        pytest.skip(f"the other blocks ran; {' and '.join(lacking)} not installed: nox -s sktime")


def names_that_do_not_exist(code, page):
    """What a page imports of the library, and what it passes to it by name, but is not there."""
    known, wrong = {}, []
    tree = ast.parse(code, page)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("echofold"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if hasattr(module, alias.name):
                    known[alias.asname or alias.name] = getattr(module, alias.name)
                else:
                    wrong.append(alias.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = known.get(node.value.id)
            if inspect.ismodule(module) and not hasattr(module, node.attr):
                wrong.append(node.attr)
        if isinstance(node, ast.Call) and callable(of := called(node.func, known)):
            parameters = inspect.signature(of).parameters.values()
            if all(one.kind is not one.VAR_KEYWORD for one in parameters):
                names = {one.name for one in parameters} | {None}  # None: ``**options``
                wrong += [word.arg for word in node.keywords if word.arg not in names]
    return wrong


def called(node, known):
    """The function or class of the library that a call names, if it is one."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = known.get(node.value.id)
        return getattr(module, node.attr, None) if inspect.ismodule(module) else None
    return None


def test_code_of_costly_pages_names_what_exists():
    for page in COSTLY:
        code = [one.code for one in with_code(page) if one.kind == "python" and not one.lacks]
        assert names_that_do_not_exist("\n".join(code), page) == [], page


def test_names_that_do_not_exist_are_noticed():
    code = "from echofold import ESNForecaster as F, Missing, plots\nplots.splits(1, ax=2)\n"
    code += "plots.nothing(3)\nF(20, leek_rate=1, ridge=2, **{})"
    found = names_that_do_not_exist(code, "page")
    assert sorted(found) == ["Missing", "leek_rate", "nothing"]


NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def assert_same_but_rounding(got, shown):
    """Equal texts, in which numbers may differ by one in their last digit."""
    assert NUMBER.sub("#", got) == NUMBER.sub("#", shown)
    for one, other in zip(NUMBER.findall(got), NUMBER.findall(shown), strict=True):
        digits = len(other.partition("e")[0].partition(".")[2])
        allowed = 0 if "." not in other else 1.01 * 10.0**-digits
        assert abs(float(one) - float(other)) <= allowed, (one, other)


def test_comparison_of_outputs_can_fail():
    assert_same_but_rounding("a 0.31 in 1e-08", "a 0.32 in 1e-08")
    for other in ("a 0.33 in 1e-08", "b 0.31 in 1e-08", "a 0.31 in 1e-07", "a 0.31"):
        with pytest.raises(AssertionError):
            assert_same_but_rounding("a 0.31 in 1e-08", other)


def test_few_blocks_are_not_run():
    skipped = [
        (page, block.note)
        for page in PAGES
        for block in blocks.blocks_of(text_of(page))
        if block.kind == "python" and not block.runs
    ]
    assert skipped == [("docs/howto/cluster.md", "not run: needs an MPI installation")]


def test_blocks_that_need_a_package_are_run_where_it_is():
    text = "<!-- needs: {} -->\n```python\nprint(1)\nmissing\n```\n"
    (block,) = blocks.run_page(text.format("not_a_package"), "page", all_of_it=False)
    assert block.runs and block.lacks == "not_a_package" and not block.output
    for name, all_of_it in (("json", False), ("not_a_package", True)):
        with pytest.raises(NameError, match="missing"):
            blocks.run_page(text.format(name), "page", all_of_it=all_of_it)


def test_packages_that_blocks_need_are_in_the_documentation_build():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = " ".join(project["optional-dependencies"]["docs"])
    for page in PAGES:
        for block in blocks.blocks_of(text_of(page)):
            if name := block.note.partition("needs:")[2].strip():
                assert name in listed, (page, name)


def test_no_block_is_overlooked():
    """Every fence that opens as Python or shell code is found, whatever stands around it."""
    for page in PAGES:
        opened = re.findall(
            r"^\s*`{3,}\s*(?:python|py|bash|sh|console)\b", text_of(page), re.MULTILINE
        )
        assert len(opened) == len(blocks.blocks_of(text_of(page))), page


COMMANDS = [
    (page, arguments)
    for page in PAGES
    for block in blocks.blocks_of(text_of(page))
    for arguments in block.commands
]


@pytest.mark.parametrize(("page", "arguments"), COMMANDS, ids=lambda value: str(value)[:60])
def test_commands_are_valid(page, arguments):
    """The parser of the command line takes every command that is shown; nothing is run."""
    from echofold.cli.app import app

    with app.make_context("echofold", list(arguments)) as context:
        kept = "_protected_args" if hasattr(context, "_protected_args") else "protected_args"
        name, command, rest = app.resolve_command(context, getattr(context, kept) + context.args)
        command.make_context(name, rest, parent=context)


def test_inline_commands_name_real_options():
    """Options named in running text belong to some command."""
    from echofold.cli.app import COMMANDS as NAMES
    from echofold.cli.app import app

    known = {"--version"}
    with app.make_context("echofold", ["info"]) as context:
        for name in NAMES:
            for option in app.get_command(context, name).get_params(context):
                known.update([*option.opts, *option.secondary_opts])
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
        for code in re.findall(r"`((?:echofold |--)[^`]*)`", text):
            named = set(re.findall(r"(?<!\S)--[a-z-]+", code))
            assert named <= known | {"--help"}, (page, code)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:|#", target) or target.endswith("examples/index.rst"):
            continue
        assert (ROOT / page).parent.joinpath(target.partition("#")[0]).exists(), target


def test_reference_is_complete():
    import echofold
    from echofold import datasets, dynamics, plots, systems

    text = text_of("docs/api.md")
    listed = set(re.findall(r"^   (\w[\w.]*)$", text, re.MULTILINE))
    modules = {"datasets", "dynamics", "metrics", "plots", "report", "reservoirs", "schemes"}
    modules |= {"baselines", "systems"}
    public = {
        name for part in (echofold, datasets, dynamics, plots, systems) for name in part.__all__
    }
    public -= modules
    public |= {"nrmse", "rmse", "mse", "mae", "error_rate", "interval_score", "crps"}
    public |= {"mase", "mape", "smape", "r2", "log_mse", "horizon"}
    public |= {"log_mse", "horizon"}
    assert public - listed <= {"EchofoldWarning"}
    assert "EchofoldWarning" in text
    for module in modules - {"schemes", "report"}:
        assert f"echofold.{module}" in text


def test_readme_is_short_and_in_step_with_the_results():
    text = text_of("README.md")
    assert len(text.splitlines()) < 150
    commands = (
        'pip install ".[cli]" && echofold demo',
        'pip install -e ".[dev]" && pytest -n auto',
    )
    for command in commands:
        assert f"    {command}\n" in text
    (shown,) = results.SPEED.findall(text)
    assert shown.strip() == results.speed_table().strip(), "run python docs/_ext/results.py"


@pytest.mark.parametrize("path", sorted(results.STORED.glob("*.json")), ids=lambda path: path.stem)
def test_stored_results_can_be_shown(path, tmp_path):
    shown = results.benchmark(path.stem, tmp_path)
    assert "Measured on" in shown and "| --- |" in shown


def test_stored_results_without_a_table_of_their_own():
    found = {"machine": {"cpu": "abacus"}, "a_b": [{"ratio": 2.0}, {"ratio": 0.33333333}]}
    shown = "".join(results.anything(found))
    assert "| a b 1 ratio | 2 |" in shown and "| a b 2 ratio | 0.3333 |" in shown
    assert "abacus" not in shown and "abacus" in results.machine(found)


def test_tables_of_chaotic_systems():
    side = {"first": 2.0, "cpu": 0.5, "error": 10.44, "ran away": 0}
    tasks = [
        {"task": "Lorenz", "measure": "horizon", "echofold": side,
         "reservoirpy": {"cpu": 1.5, "error": 7.3, "ran away": 3}, "published": ""},
        {"task": "NARMA", "measure": "NMSE", "echofold": {"first": 1.0, "cpu": 0.1, "error": 0.06},
         "reservoirpy": {"cpu": 0.2, "error": 0.16}, "published": "by hand: 0.05"},
    ]  # fmt: skip
    shown = "".join(results.chaotic({"tasks": tasks})).replace("\N{NO-BREAK SPACE}", " ")
    assert "| Lorenz; horizon | 10.4 | 7.3, 3 ran away | 500 ms | 1.5 s |" in shown
    assert "| NARMA; NMSE | 0.06 | 0.16 | 100 ms | 200 ms |" in shown
    assert "took 2 s, 1 s." in shown
    assert shown.count("Published for") == 1 and "for NARMA: by hand: 0.05." in shown
    told = {
        "draws": 1, "times, all draws, compiling included": 2.5, "plain NumPy, CPU s a draw": 6.0,
        "echofold, CPU s a draw": 2.0, "times": 3.0, "same candidate selected": "6 of 7",
        "median difference of log_mse": 0.0126,
    }  # fmt: skip
    shown = "".join(results.racca(told)).replace("\N{NO-BREAK SPACE}", " ")
    assert "| echofold | 2 s | 3.0 |" in shown and "Median of 1 draw; all" in shown
    assert "6 of 7" in shown and "by 0.013" in shown
    assert "Median of 3 draws; all" in "".join(results.racca(told | {"draws": 3}))


def test_the_table_of_fields():
    row = {
        "task": "flames", "neighbourhoods": 8, "median": 6.512, "one in ten below": 4.27,
        "units": 500, "rows": 10_000, "networks": 360, "cpu": 147.4, "published": "about 5",
        "settings": {"ridge": 1e-6}, "device": "cpu", "wall": 12.0,
    }  # fmt: skip
    shown = "".join(results.fields({"tasks": [row]})).replace("\N{NO-BREAK SPACE}", " ")
    assert "| flames | 500 units | 8 | 6.5 | 4.3 | 10,000 | 360 | 147 s |" in shown
    assert "Published for flames: about 5." in shown
    assert "| 12 s, gpu |" in "".join(results.fields({"tasks": [row | {"device": "gpu"}]})).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_claims_of_the_landing_page_are_those_of_stored_results(tmp_path, monkeypatch):
    shown = results.claims()
    told = results.stored("accuracy")["summary"]
    alike = {name for name, row in told.items() if row["series"] == told["echofold"]["series"]}
    lowest = min(told[name]["geometric mean"] for name in alike - {"echofold"})
    assert f"**MASE {told['echofold']['geometric mean']:.2f}**" in shown
    assert f"reach {lowest:.2f} at best" in shown
    faster = results.stored("folds")["summary"]["50"]["naive_over_ours_at_n"]
    assert f"**{faster:.0f} times as fast**" in shown
    assert shown.count(":::{container} card\n") == 3
    assert "<!-- claims -->" in text_of("docs/index.md")
    monkeypatch.setattr(results, "STORED", tmp_path)
    assert "card\n" not in results.claims()


def test_results_that_are_not_stored_say_how_to_make_them(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "STORED", tmp_path)
    monkeypatch.setattr(results, "PAPER", tmp_path)
    assert "`python benchmarks/chaotic.py` makes one" in results.benchmark("chaotic", tmp_path)
    assert "`echofold reproduce racca` makes one" in results.other_paper("racca")
    assert "`echofold reproduce all` makes one" in results.paper()


def test_tables_of_other_papers_stand_where_they_are_named():
    class App:
        srcdir = ROOT / "docs"

    source = ["<!-- paper: racca -->"]
    results.on_source_read(App, "page", source)
    assert source[0].startswith("Prediction horizon") and "\n### As published" in source[0]
    assert "| RVc |" in source[0] and "| RVc |" not in results.paper()
    assert results.MARKER.findall(text_of("docs/howto/chaotic.md"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_short_and_explain_themselves(example):
    text = text_of(f"examples/{example}")
    assert len(text.splitlines()) < 60
    title, rule, *words = ast.get_docstring(ast.parse(text)).splitlines()
    assert rule == "=" * len(title) and title.startswith(f"{int(example[:2])}. ") and any(words)
    assert text.count("plt.show()") == 1


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_run(example):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    name = f"examples/{example}"
    exec(compile(text_of(name), name, "exec"), {"__name__": "__main__"})
    assert pyplot.get_fignums()
    pyplot.close("all")
