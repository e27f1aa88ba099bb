"""What an estimator says about its fitted values, for model files to be checked by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


def is_as_before(added: dict[str, Any], name: str, value: Any) -> bool:
    """Whether a parameter is one that was ``added`` after 0.1, and left at its default."""
    return name in added and type(value) is type(added[name]) and value == added[name]


def named_in_files(added: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """Parameters without those ``added`` after 0.1 that are left at their defaults."""
    return {name: value for name, value in params.items() if not is_as_before(added, name, value)}


@dataclass(frozen=True)
class Stored:
    """A fitted value: what it is, and the sizes of its axes or columns.

    ``what`` names a check of `_persistence.expected`; ``axes`` are sizes of the network by name,
    such as "outputs", or words for sizes that may be any. It may be None if ``optional``, missing
    unless ``always``, and infinite unless ``finite``.
    """

    what: str
    axes: tuple[str, ...] = ()
    optional: bool = False
    always: bool = True
    finite: bool = True
