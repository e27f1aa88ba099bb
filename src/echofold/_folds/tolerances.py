"""Where rounding begins to matter: every threshold by which a fast result is believed or not.

A split beyond one of these is refitted plainly, so a tolerance costs time and never a digit that is
promised. ``benchmarks/trust.py`` measures what is left.
"""

from functools import lru_cache

import numpy as np

EPS = np.finfo(float).eps

# Rank
NEARLY_SINGULAR = 1e-10  # reciprocal condition, in units of columns, from which rank is looked at
COLLINEAR = 1e13  # condition number from which columns are collinear to working precision
BALANCED = 100.0  # largest ratio of column norms that an SVD is used for: it spoils small columns
# The same for coordinates, which need not be exact. Units of a reservoir differ by up to 4,000.
ALIKE_COLUMNS = 1e4
# How many times as large as the smallest row the largest may be before a QR is corrected:
# readouts are off by 1e-12 for 100 times, by 1e-10 for 1,000, by 1e-6 for a million. Rows of a
# reservoir with a bias differ by less than 10.
UNLIKE_ROWS = 30.0
SPOILED_ROWS = 1e6  # the same, from which no other way than the plain one is taken

FULL_RANK = 100.0  # times what is negligible: above it no direction is left out at a ridge of 0
FAR = 1e4  # times what is negligible: a direction is surely kept, and so is its angle to others

# Whitened moments
WELL = 1e-6  # reciprocal condition of a pilot, from which its Gram matrix tells enough
POOR = 1e3  # condition from which a pilot, or a training set, is not trusted
# Readouts of a set that is not trusted are corrected by its rows until a correction is less than
# this share of them: what is left then is about its square.
CORRECTED = 1e-7
MISSING = 1e10  # condition from which a training set may lack a direction that others have
CORRECTIONS = 3  # until the set is refitted
POWERS = 30  # of a matrix, from which its norm is known
PROBES = 2  # random vectors whose growth tells how well conditioned a system is
NOISE = 1e3  # mean square up to which a direction at the floor of sigma holds rounding only
LEFT_OF_TOTAL = 1e-3  # of the whole, in any direction, below which total − fold is not trusted

# Leaving rows out
ALIKE = 1e2  # singular values this near the largest lose as few digits by ``X Q / s``
GROWTH = 30.0  # of a vector under (I − dCd)⁻¹
GROWTH_OF_ROOT = 1e2  # condition of a root of S, in the dual form

# Walking from split to split
LEAST_EIGENVALUE = 1e-3  # of the largest, from which a start is sound
# Taking away a row that leaves less than this share in its direction multiplies earlier rounding by
# the square of the inverse: after an outlier of 1,000 deviations readouts were off by 1e-3.
LEFT_OF_ROW = 1e-2


def negligible(largest, columns: int):
    """Singular values up to this are left out at a ridge of 0."""
    return (1 + columns) * EPS * largest


@lru_cache(maxsize=256)
def probe(size: int, count: int = PROBES) -> np.ndarray:
    """Random vectors ``(size, count)``, always the same."""
    vectors = np.random.RandomState(0).standard_normal((size, count))
    vectors.setflags(write=False)
    return vectors
