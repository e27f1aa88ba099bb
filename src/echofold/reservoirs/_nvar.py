"""Next-generation reservoir computing: delayed inputs and their products, nothing recurrent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import comb
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer, is_integer, refuse
from echofold._engine.kind import MOST_COLUMNS, Reservoir, products
from echofold._machine.arrays import namespace

MOST_DEGREES = 5
LONGEST = 10**6  # steps of a buffer: far more than products of so many inputs could ever use


@dataclass(eq=False, repr=False)
class NVAR(Reservoir):
    """Nonlinear vector autoregression: delayed inputs, and products of them.

    With ``k`` delays and a spacing ``s``, the readout sees beside ``[1; u(n)]``::

        [u(n−s); …; u(n−(k−1)s); all products of `degree` of u(n), u(n−s), …, u(n−(k−1)s)]

    each product once [1]_. The state is a buffer of inputs: nothing is drawn, so ``random_state``
    and the number of draws have no effect, and nothing is left of a start after ``(k−1)s + 1``
    steps. Few rows are needed to train it, and few delays are enough where the inputs are all
    variables of a system whose equations are polynomials.

    Parameters
    ----------
    delays : int, default=2
        Inputs at how many times, the current one counted.
    spacing : int, default=1
        Steps between these times.
    degree : int or tuple of int, default=2
        Factors of the products, up to 5: 2 for squares and products of two, (2, 3) for those of
        three as well, 1 for none.

    Notes
    -----
    There are ``(k·d + p − 1)! / (p! (k·d − 1)!)`` products of degree ``p`` of ``d`` inputs, at most
    20,000. A ``readout`` without inputs, such as "states", leaves ``u(n)`` itself out.

    References
    ----------
    .. [1] D. J. Gauthier, E. Bollt, A. Griffith and W. A. S. Barbosa, "Next generation reservoir
       computing", Nature Communications 12, 2021.

    Examples
    --------
    >>> from echofold import ESNForecaster
    >>> from echofold.reservoirs import NVAR
    >>> from echofold.systems import lorenz63
    >>> y = lorenz63(700, random_state=0)
    >>> model = ESNForecaster(reservoir=NVAR(2, degree=2), ridge=1e-6).fit(y[:600])
    >>> model.readout_.shape  # 1 + 3 inputs + 3 delayed + 21 products
    (28, 3)
    >>> bool(abs(model.forecast(20) - y[600:620]).max() < 0.5)
    True
    """

    compiled_in = ("delays", "spacing", "degree")
    shows = False
    eager = True

    delays: int = 2
    _: KW_ONLY
    spacing: int = 1
    degree: int | tuple[int, ...] = 2

    @property
    def _degrees(self) -> tuple[int, ...]:
        """Degrees of which there are products."""
        given = self.degree if isinstance(self.degree, tuple) else (self.degree,)
        return tuple(int(degree) for degree in given if degree > 1)

    @property
    def _length(self) -> int:
        """Inputs in the buffer, the current one first."""
        return (int(self.delays) - 1) * int(self.spacing) + 1

    def size(self, inputs: int) -> int:
        return self._length * inputs

    def look(self, x, u):
        """Delayed inputs, then products of all inputs that count."""
        inputs, apart = u.shape[0], self.spacing * u.shape[0]
        taps = [x[delay * apart : delay * apart + inputs] for delay in range(self.delays)]
        xp = namespace(x)
        values = xp.concatenate(taps)
        return xp.concatenate([*taps[1:], *(products(values, p) for p in self._degrees)])

    def looks(self, inputs: int) -> int:
        count = int(self.delays) * inputs
        seen = count - inputs + sum(comb(count + p - 1, p) for p in self._degrees)
        if seen > MOST_COLUMNS:
            raise ValueError(
                f"NVAR(delays={self.delays}, degree={self.degree}) of {inputs} inputs has {seen} "
                f"columns, more than {MOST_COLUMNS}. Use fewer delays or a lower degree."
            )
        return seen

    def check(self) -> None:
        check_integer("delays", self.delays, 1)
        check_integer("spacing", self.spacing, 1)
        if self._length > LONGEST:
            raise ValueError(
                f"delays={self.delays} with spacing={self.spacing} needs a buffer of "
                f"{self._length} steps, more than {LONGEST}. Use fewer delays, or less spacing."
            )
        given = self.degree if isinstance(self.degree, tuple) else (self.degree,)
        right = all(is_integer(one) and 1 <= one <= MOST_DEGREES for one in given)
        if not given or not right or len(set(given)) < len(given):
            expected = f"an integer from 1 to {MOST_DEGREES}, or a tuple of different ones"
            refuse("degree", self.degree, expected)
        if self.delays == 1 and not self._degrees:
            raise ValueError(
                "delays=1 with degree=1 leaves nothing to see beside the inputs. Give 2 delays or "
                "more, or a degree of 2 or more."
            )

    def draw(self, inputs: int, seed: int) -> tuple:
        """Nothing."""
        return ()

    def step(self, weights: Any, columns, x, u):
        """The buffer with a new input; the oldest falls out."""
        xp = namespace(x)
        new = xp.broadcast_to(u, (u.shape[0], x.shape[1]))
        return xp.concatenate([new, x[: x.shape[0] - u.shape[0]]])

    def warmup(self, columns) -> int:
        """Steps after which the buffer is full."""
        return self._length

    def trained(self, weights: Any, columns) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restored(self, stored: dict[str, Any]) -> tuple[Any, dict[str, np.ndarray]]:
        """Nothing but one column."""
        return (), self.columns((), [self], 0)
