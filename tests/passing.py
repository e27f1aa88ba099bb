"""Rows that come by in blocks, as from a reservoir whose states are not kept."""

from echofold._engine.states import Whole


class Passing(Whole):
    """Given rows in the place of `States`; the pilot sees the rows ``pilot``."""

    streams = True

    candidates = 1

    def __init__(self, problem, block, pilot):
        self.problem, self.block, self._pilot = problem, block, pilot
        self.columns = self.held = problem.inputs.shape[1]

    def pilot(self, rows):
        return [self.problem.inputs[self._pilot]]

    def blocks(self, start=0, stop=None, save=()):
        stop = self.problem.rows if stop is None else stop
        for first in range(start, stop, self.block):
            yield first, [self.problem.inputs[first : min(first + self.block, stop)]]
