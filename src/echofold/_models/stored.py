"""What an estimator says about its fitted values, for model files to be checked by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Parameters that came after version 0.1. Where they have these defaults, files and checkpoints are
# those of before: old ones are read, and new ones can be read by old versions.
ADDED = {"reservoir": None, "log": False, "difference": (), "season": None, "harmonics": 3}


def is_as_before(name: str, value: Any) -> bool:
    """Whether a parameter is new and left at its default."""
    return name in ADDED and type(value) is type(ADDED[name]) and value == ADDED[name]


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
