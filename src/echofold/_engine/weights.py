"""How ``W_in`` and ``W`` are drawn, by which topology, and how each candidate scales them.

A *draw* is raw: unscaled, a function of the seed, the sizes and the topology alone. Leak rate,
spectral radius and scalings only scale it, so candidates that differ in nothing else share one draw
(and, in the engine, one matrix product).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigs

from echofold._machine.arrays import few_lengths
from echofold._machine.available import remembered
from echofold._machine.device import one_blas_thread

DENSE_EIGENVALUES = 400  # above this many units ARPACK finds the spectral radius sooner
CHECKED = 10_000  # units up to which ARPACK's radius is checked part by part, at twice the cost


class Sparse(NamedTuple):
    """A square matrix with the same number of stored entries in every row.

    ``columns`` and ``values`` are ``(units, connections)``; a short row is padded with zeros.
    """

    columns: Any
    values: Any


_matrices: dict[int, Any] = {}  # by the identity of values, as long as these are there


def matrix_of(W: Sparse) -> csr_array:
    """The same as SciPy's sparse matrix, made once because a step of NumPy needs it."""
    name = id(W.values)
    found = _matrices.get(name)
    if found is None:
        units, connections = W.columns.shape
        starts = np.arange(0, units * connections + 1, connections)
        # Copies: the values are free to go.
        found = csr_array((W.values.flatten(), W.columns.flatten(), starts), shape=(units, units))
        _matrices[name] = found
        weakref.finalize(W.values, _matrices.pop, name, None).atexit = False
    return found


class Draw(NamedTuple):
    """Raw weights: ``W_in`` is ``(units, 1 + inputs)``, ``W`` is ``(units, units)`` or `Sparse`."""

    W_in: np.ndarray
    W: np.ndarray | Sparse
    radius: float | None  # spectral radius of the raw W; None when W is not to be rescaled
    key: np.ndarray | None = None  # of the noise, where there is any
    rotation: np.ndarray | None = None  # of the state (units, units), where it is turned


def draw(
    units: int, inputs: int, connectivity: float, seed: int, topology: str = "uniform",
    jump: int = 0,
) -> tuple[np.ndarray, Any]:  # fmt: skip
    """Draw ``W_in``, uniform on (-0.5, 0.5), then ``W`` of a topology.

    With ``connectivity`` below 1 every unit receives the same number of connections,
    ``max(1, round(connectivity * units))``, from distinct units, and ``W`` is a SciPy sparse
    matrix.
    """
    rng = np.random.RandomState(seed % 2**32)
    W_in = rng.rand(units, 1 + inputs) - 0.5
    return W_in, TOPOLOGIES[topology](rng, units, connectivity, jump)


def spectral_radius(W) -> float:
    """Largest absolute eigenvalue of a dense or SciPy sparse matrix.

    Examples
    --------
    >>> import numpy as np
    >>> spectral_radius(np.diag([0.5, -2.0]))
    2.0
    """
    W = W if issparse(W) else np.asarray(W)
    # More threads round otherwise, and a winner is made again outside of the search's workers.
    with one_blas_thread():
        if W.shape[0] <= DENSE_EIGENVALUES:
            return _dense_radius(W)
        parts = _parts(W)
        if parts is None or (parts and W.shape[0] > CHECKED):
            return _leading(W)
        # What lies in no cycle adds its diagonal to the eigenvalues and nothing else, but ARPACK
        # may take the rounding that it amplifies for an eigenvalue.
        rest = np.ones(W.shape[0], dtype=bool)
        rest[[unit for part in parts for unit in part]] = False
        exact = float(np.abs(W.diagonal()[rest]).max(initial=0))
        if not parts:
            return exact
        exact = max(exact, *(spectral_radius(W[part][:, part]) for part in parts))
        leading = _leading(W)
        return leading if abs(leading - exact) <= 1e-9 * exact else exact


def _parts(W) -> list[np.ndarray] | None:
    """Units that reach each other in cycles of several, set by set; None if all are one set.

    The eigenvalues of ``W`` are those of these blocks, and the diagonal entries of other units.
    """
    if not issparse(W):
        connected = W != 0
        np.fill_diagonal(connected, True)
        # A unit that hears all and is heard by all joins them: no need to list n² connections.
        if (connected.all(axis=0) & connected.all(axis=1)).any():
            return None
        W = connected
    pattern = csr_array(W, dtype=bool)
    pattern.eliminate_zeros()
    count, label = connected_components(pattern, directed=True, connection="strong")
    if count == 1:
        return None
    order = np.argsort(label, kind="stable")
    sets = np.split(order, np.cumsum(np.bincount(label))[:-1])
    return [units for units in sets if len(units) > 1]


def _leading(W) -> float:
    """The spectral radius by ARPACK; by the dense solver where the spectrum is crowded."""
    start = np.random.RandomState(0).rand(W.shape[0])  # ARPACK's own start is not repeatable
    try:
        # Drawn weights need 6 to 70 turns; ARPACK's own 10 a unit can take minutes to give up.
        most = {"ncv": 80, "tol": 1e-13, "maxiter": 300 + W.shape[0] // 20}
        leading = eigs(W, k=4, which="LM", v0=start, return_eigenvectors=False, **most)
        return float(np.abs(leading).max())
    except ArpackNoConvergence:  # the dense solver always ends
        return _dense_radius(W)


def _dense_radius(W) -> float:
    """The spectral radius by all eigenvalues."""
    return float(np.abs(np.linalg.eigvals(W.toarray() if issparse(W) else W)).max())


def prepare(W_in, W, *, rescale: bool, scale: float | None = None) -> Draw:
    """Bring raw weights into the form the engine runs, with the spectral radius of ``W``.

    That is found unless a ``scale`` is known that takes its place.
    """
    radius = scale if rescale else None
    W = W.tocsr() if hasattr(W, "tocsr") else W  # not every sparse format does arithmetic
    if rescale and scale is None:
        radius = spectral_radius(W)
        # A nilpotent matrix comes out of floating-point eigenvalues as rounding, not as zero.
        if not radius > 1e-7 * max(float(abs(W).max()), 1e-300):
            raise ValueError(
                "W has a spectral radius of zero, so it cannot be rescaled to the given "
                "spectral_radius. Pass spectral_radius=None to use W as it is, or give another W."
            )
    return Draw(np.asarray(W_in, dtype=float), _engine_form(W), radius)


def _engine_form(W) -> np.ndarray | Sparse:
    """Sparse form where a step over the stored entries is faster than the dense product.

    Measured on a CPU (100 to 1,000 units, 1 and 64 candidates): gathering wins from about ten
    units for each connection, and never below.
    """
    if not issparse(W):
        W = np.ascontiguousarray(W, dtype=float)
        counts = (W != 0).sum(axis=1)
    else:
        counts = np.diff(W.indptr)
    # At least one, a zero: an empty sparse matrix of many units must not become a dense one.
    units, connections = W.shape[0], int(counts.max(initial=1))
    if 10 * connections > units:
        return np.ascontiguousarray(W.toarray(), dtype=float) if issparse(W) else W
    if not issparse(W):
        W = csr_array(W)
    if counts.min(initial=connections) < connections:
        # The most connections of a unit are others in every draw, and each number is compiled once.
        connections = few_lengths(connections, 1, 2)
    columns = np.zeros((units, connections), dtype=np.int32)
    values = np.zeros((units, connections))
    place = np.arange(connections) < np.diff(W.indptr)[:, None]
    columns[place], values[place] = W.indices, W.data
    return Sparse(columns, values)


def bytes_of(draw: Draw) -> int:
    """Memory that a draw takes."""
    arrays = (draw.W_in, *(draw.W if isinstance(draw.W, Sparse) else (draw.W,)))
    return sum(array.nbytes for array in arrays)


@remembered(size=bytes_of)
def drawn(
    units: int, inputs: int, connectivity: float, seed: int, rescale: bool,
    topology: str = "uniform", jump: int = 0,
) -> Draw:  # fmt: skip
    """A draw, kept because blocks of candidates that share it come one after the other."""
    W_in, W = draw(units, inputs, connectivity, seed, topology, jump)
    return prepare(W_in, W, rescale=rescale, scale=SCALES.get(topology))


REWIRED = 0.1  # share of a small world's connections that are moved: few, but enough to be small


def uniform(rng, units: int, connectivity: float, jump: int) -> Any:
    """Weights uniform on (-0.5, 0.5), from ``connectivity * units`` distinct units to each."""
    if connectivity == 1:
        return rng.rand(units, units) - 0.5
    columns = _senders(rng, units, connectivity)
    return _sparse(columns, rng.rand(*columns.shape) - 0.5)


def normal(rng, units: int, connectivity: float, jump: int) -> Any:
    """The same with normal weights."""
    if connectivity == 1:
        return rng.normal(size=(units, units))
    columns = _senders(rng, units, connectivity)
    return _sparse(columns, rng.normal(size=columns.shape))


def ring(rng, units: int, connectivity: float, jump: int) -> Any:
    """Each unit hears the one before it, the first the last: eigenvalues are roots of one."""
    return _sparse((np.arange(units) - 1)[:, None] % units, np.ones((units, 1)))


def ring_with_jumps(rng, units: int, connectivity: float, jump: int) -> Any:
    """A ring, and connections both ways between every ``jump``-th unit and the next of these.

    The last of these jumps back to the first unit only if ``jump`` divides the number of units.
    """
    stops = np.arange(0, units + 1, jump)
    some, others = stops[:-1], stops[1:] % units
    rows = np.concatenate([np.arange(units), some, others])
    columns = np.concatenate([(np.arange(units) - 1) % units, others, some])
    pairs = np.unique(np.stack([rows, columns]), axis=1)  # a jump may lie on another
    return csr_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(units, units))


def delay_line(rng, units: int, connectivity: float, jump: int) -> Any:
    """Each unit hears the one before it, the first nobody; all eigenvalues are zero."""
    columns = np.maximum(np.arange(units) - 1, 0)[:, None]
    line = _sparse(columns, (np.arange(units) > 0)[:, None].astype(float))
    line.eliminate_zeros()
    return line


def orthogonal(rng, units: int, connectivity: float = 1.0, jump: int = 0) -> Any:
    """A rotation or reflection, all equally likely; all eigenvalues lie on the unit circle.

    The factor Q of a normal matrix, with the signs that make the diagonal of R positive.
    """
    with one_blas_thread():  # more threads round otherwise
        Q, R = np.linalg.qr(rng.normal(size=(units, units)))
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def small_world(rng, units: int, connectivity: float, jump: int) -> Any:
    """Each unit hears its neighbours on a ring, of which a few are replaced by units anywhere.

    There are about ``connectivity * units`` neighbours, as many on either side. Weights are
    uniform on (-0.5, 0.5).
    """
    reach = int(np.clip(round(connectivity * units / 2), 1, (units - 1) // 2))
    offsets = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
    columns = (np.arange(units)[:, None] + offsets) % units
    if 2 * reach < units - 1:  # or there is nobody else to hear
        for unit, heard in enumerate(columns):
            for place in np.flatnonzero(rng.rand(2 * reach) < REWIRED):
                while (other := rng.randint(units)) == unit or other in heard:
                    pass
                heard[place] = other
    return _sparse(np.sort(columns, axis=1), rng.rand(*columns.shape) - 0.5)


TOPOLOGIES: dict[str, Callable[..., Any]] = {
    "uniform": uniform,
    "normal": normal,
    "ring": ring,
    "ring with jumps": ring_with_jumps,
    "delay line": delay_line,
    "orthogonal": orthogonal,
    "small world": small_world,
}
# What ``spectral_radius`` is relative to, where that is known: to find it takes a time that grows
# with the cube of the units, and rings are meant for many of them.
SCALES = {"ring": 1.0, "delay line": 1.0, "orthogonal": 1.0}
OF_CONNECTIVITY = ("uniform", "normal", "small world")  # those that it says something about


def _senders(rng, units: int, connectivity: float) -> np.ndarray:
    """The distinct units ``(units, connections)`` that each unit hears, in order."""
    connections = max(1, round(connectivity * units))
    columns = np.empty((units, connections), dtype=np.int32)
    for unit in range(units):  # row by row: a units × units permutation would not fit for 1e5 units
        columns[unit] = np.sort(rng.choice(units, connections, replace=False))
    return columns


def _sparse(columns: np.ndarray, values: np.ndarray):
    """A SciPy sparse matrix of equally many ``columns (units, connections)`` in each row."""
    units, connections = columns.shape
    starts = np.arange(0, units * connections + 1, connections)
    indices = columns.astype(np.int32).ravel()
    return csr_array((values.ravel(), indices, starts), shape=(units, units))
