"""Random arrays for searches to start from."""

import numpy as np


def normal(rng, shape, dtype):
    """Entries of standard normal distribution; of a complex dtype both parts are."""
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)
