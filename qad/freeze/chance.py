"""Random numbers inside of a frozen function: they would be drawn once and never again, so they are refused."""

import random

import numpy as np

from qad.core.errors import ArgumentError
from qad.freeze.reach import reachable

__all__ = ["Chance"]


class Chance:
    """The states of all generators within reach of a function: NumPy's, Python's, and those it closes over."""

    def __init__(self, f):
        self.generators = reachable(f, (np.random.Generator, np.random.RandomState))
        self.states = self._states()

    def _states(self):
        return [self.common(), random.getstate(), *(repr(_bits(g).state) for g in self.generators)]

    def common(self):
        """The state of NumPy's generator without a name."""
        _, keys, place, *rest = np.random.get_state(legacy=True)
        return keys.tobytes(), place, rest

    def excuse(self, before):
        """A step has drawn from that since `before`; it will draw again in a replay."""
        if self.common() != before:
            self.states = self._states()

    def check(self):
        """Raise where a generator has moved since."""
        if self._states() != self.states:
            raise ArgumentError(
                "qad.freeze: the function drew random numbers, which a replay would repeat: draw them outside and pass "
                "the arrays as arguments, or make the generator inside of a fixed seed, np.random.default_rng(0)"
            )


def _bits(generator):
    return getattr(generator, "bit_generator", None) or generator._bit_generator
