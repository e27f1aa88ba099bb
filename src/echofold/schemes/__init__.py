"""How a time axis is split into training and validation rows.

Intervals are half-open, ``(a, b)`` holds the rows ``a .. b - 1``. Sizes (``valid``, ``start``,
``step``, ``min_train``, ``gap``) are row counts when integers and fractions of all rows, rounded
down, when floats below 1.
"""

from dataclasses import fields

from echofold.schemes._scheme import (
    Accumulative,
    KFold,
    LeaveOneOut,
    LeaveSeriesOut,
    Recycle,
    Scheme,
    SingleSplit,
    Split,
    WalkForward,
)

__all__ = [
    "Accumulative", "KFold", "LeaveOneOut", "LeaveSeriesOut", "Recycle", "SingleSplit", "Split",
    "WalkForward",
]  # fmt: skip

BY_NAME: dict[str, type[Scheme]] = {
    scheme.called: scheme
    for scheme in (SingleSplit, KFold, Accumulative, WalkForward, LeaveOneOut, Recycle)
}


def sizes_of(scheme: type[Scheme]) -> tuple[str, ...]:
    """The arguments of a scheme that say how many and how long its splits are.

    Examples
    --------
    >>> sizes_of(SingleSplit)
    ('valid', 'gap')
    """
    names = (one.name for one in fields(scheme))  # type: ignore[arg-type]
    return tuple(name for name in names if hasattr(Scheme, name))
