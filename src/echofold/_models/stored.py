"""What an estimator says about its fitted values, for model files to be checked by."""

from __future__ import annotations

from dataclasses import dataclass


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
