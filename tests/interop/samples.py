"""Random arrays for tests."""

import numpy as np

_generator = np.random.default_rng(7)
_start = _generator.bit_generator.state


def random(*shape):
    """Complex normal random numbers."""
    return _generator.standard_normal(shape) + 1j * _generator.standard_normal(shape)


def restart():
    """Begin again with the same numbers."""
    _generator.bit_generator.state = _start
