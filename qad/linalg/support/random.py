"""Random arrays for searches to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from qad.typing import DTypeLike, Shape


def normal(rng: np.random.Generator, shape: Shape, dtype: DTypeLike) -> np.ndarray:
    """Entries of standard normal distribution; of a complex dtype both parts are."""
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)
