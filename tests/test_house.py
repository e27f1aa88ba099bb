"""Imports go down the house only: see "Where an idea lives" in CONTRIBUTING.md."""

import ast
import re
from pathlib import Path

import echofold

SOURCE = Path(echofold.__file__).parent
FLOORS = [  # what stands on one floor does not know of each other, nor of the floors above
    ["_machine"],
    ["_data"],
    ["baselines", "schemes", "metrics"],
    ["_engine", "_folds"],
    ["reservoirs"],
    ["_validation"],
    ["_models"],
    ["_search"],
    ["_persistence"],
    ["datasets", "dynamics", "long_format", "plots", "systems"],
    ["report", "experiments"],
    ["cli"],
    ["sktime", "__main__"],
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
DOORS = {  # a user's object reaches up, when it is asked to
    ("_search.search", "report"),
    ("_search.auto", "report"),
    ("_models.forecast", "plots"),
}


def modules() -> dict[str, Path]:
    """Every module but the front door, by its name inside the package."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    del found["__init__"]
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of the package that a file imports anywhere, for typing alone included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    inside = {name.removeprefix("echofold.") for name in found if name.startswith("echofold.")}
    return {
        name if name in known else name.rpartition(".")[0]
        for name in inside
        if name in known or name.rpartition(".")[0] in known
    }


def test_imports_go_down():
    known, wrong = modules(), []
    for name, path in known.items():
        room = name.partition(".")[0]
        for other in sorted(imported(path, known)):
            there = other.partition(".")[0]
            below = FLOOR[there] < FLOOR[room]
            if there != room and not below and (name, there) not in DOORS:
                wrong.append(f"{name} imports {other}, which is not below it")
    assert wrong == []


def test_no_module_imports_itself_by_way_of_others():
    known = modules()
    graph = {name: imported(path, known) for name, path in known.items()}
    open_, done = [], set()

    def visit(name):
        assert name not in open_, " → ".join([*open_, name])
        if name in done:
            return
        open_.append(name)
        for other in sorted(graph[name]):
            if (name, other) not in DOORS:
                visit(other)
        done.add(open_.pop())

    for name in graph:
        visit(name)


def test_every_room_is_on_the_map():
    page = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text()
    rooms = {name.partition(".")[0] for name in modules()}
    assert rooms == set(FLOOR)
    assert [room for room in sorted(rooms) if f"`{room}" not in page] == []


def test_the_map_names_every_file_and_no_other():
    """The table under "Where an idea lives": folders in the first column, files in the second."""
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    table = text.partition("| folder | file | idea |")[2].partition("\n\n")[0]
    named, folders = set(), []
    for row in table.splitlines()[2:]:
        first, second, _ = row.strip("|").split("|")
        folders = re.findall(r"`([\w/]+)`", first) or folders
        files = re.findall(r"`(\w+)`", second)
        named |= {f"{folder}{file}" for folder in folders for file in files or [""]}
    there = {name.replace(".", "/") for name in modules()}
    packages = {name for name in there if (SOURCE / name).is_dir()}
    whole = {name.rstrip("/") for name in named if name.rstrip("/") in packages}
    assert {name for name in named if name.rstrip("/") not in there} == set()
    inside = {name for name in there if any(name.startswith(f"{folder}/") for folder in whole)}
    assert there - packages - inside - named == set()
