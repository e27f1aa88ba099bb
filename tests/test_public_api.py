"""What users may rely on, as a text: a name or an argument that changes is seen in the diff."""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SNAPSHOT = TESTS / "public_api.txt"
REFERENCE = TESTS.parent / "docs/api.md"  # what is not on that page may change without notice
NEEDS_AN_EXTRA = ("echofold.sktime",)


def names() -> dict[str, list[str]]:
    """Public names by module: what `echofold` exports, and what the reference lists."""
    import echofold

    found = {"echofold": set(echofold.__all__)}
    module = "echofold"
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif entry := re.fullmatch(r"   (\w[\w.]*)", line):
            *inside, name = entry[1].split(".")
            found.setdefault(".".join([module, *inside]), set()).add(name)
    return {name: sorted(found[name]) for name in sorted(found) if name not in NEEDS_AN_EXTRA}


def default(value) -> str:
    """A default value, without what differs between runs."""
    return value.__qualname__ if callable(value) else repr(value)


def signature(function) -> str:
    """Arguments and defaults; no annotations, whose text differs between versions of Python."""
    given = inspect.signature(function).parameters.values()
    shown, kinds = [], [one.kind for one in given]
    for place, one in enumerate(given):
        if one.kind is one.KEYWORD_ONLY and one.KEYWORD_ONLY not in kinds[:place]:
            shown += [] if one.VAR_POSITIONAL in kinds else ["*"]
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        value = "" if one.default is one.empty else f"={default(one.default)}"
        shown.append(f"{stars}{one.name}{value}")
        if one.kind is one.POSITIONAL_ONLY and kinds[place + 1 : place + 2] != [one.kind]:
            shown.append("/")
    return f"({', '.join(shown)})"


def members(cls) -> list[str]:
    """Methods and properties that this package defines, not those of scikit-learn's base classes.

    Nor the ``set_fit_request`` and the like, which scikit-learn writes for it.
    """
    found = []
    for name in sorted(set(dir(cls))):
        (home,) = [base for base in cls.__mro__ if name in vars(base)][:1] or [object]
        generated = re.fullmatch(r"set_\w+_request", name)
        if name.startswith("_") or generated or not home.__module__.startswith("echofold"):
            continue
        kept, value = vars(home)[name], getattr(cls, name)
        if isinstance(kept, property) or type(kept).__name__ == "cached_property":
            found.append(f".{name}")
        elif callable(value) and not inspect.isclass(value):
            found.append(f".{name}{signature(value)}")
    return found


def described() -> str:
    """The whole of it, one line for each name, method and property."""
    lines = []
    for module, public in names().items():
        lines.append(module)
        for name in public:
            value = getattr(import_module(module), name)
            if inspect.isclass(value):
                bases = [base for base in value.__mro__ if issubclass(base, Warning)]
                arguments = "" if bases else signature(value)
                lines.append(f"    class {name}{arguments}")
                lines += [f"        {member}" for member in members(value)]
            elif inspect.ismodule(value):
                lines.append(f"    module {name}")
            else:
                shown = signature(value) if callable(value) else f": {type(value).__name__}"
                lines.append(f"    {name}{shown}")
    return "\n".join(lines) + "\n"


def test_the_public_api_is_the_one_that_was_written_down():
    expected = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    found = described().splitlines()
    removed = [line.strip() for line in expected if line not in found]
    added = [line.strip() for line in found if line not in expected]
    assert found == expected, (
        f"the public API has changed. Gone: {removed}; new: {added}. If that is meant, write it "
        "down: python tests/test_public_api.py"
    )


def test_what_the_reference_lists_is_exported():
    for module, public in names().items():
        exported = getattr(import_module(module), "__all__", None)
        assert exported is None or set(public) <= set(exported), module


if __name__ == "__main__":
    SNAPSHOT.write_text(described(), encoding="utf-8")
    sys.stdout.write(f"wrote {SNAPSHOT}\n")
