"""One step of the pair of Dormand and Prince, J. Comp. Appl. Math. 6, 19 (1980)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array

NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
FIFTH = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
ERROR = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)  # of the fifth order, by the 4th


def advanced(f: Callable[..., Array], t: Any, y: Array, size: Any, args: tuple[Any, ...]) -> Array:
    """The state after a step."""
    return y + size * _sum(FIFTH, _slopes(f, t, y, size, args))


def pair_of(f: Callable[..., Array], t: Any, y: Array, size: Any, args: tuple[Any, ...]) -> tuple[Array, Array]:
    """The state after a step, and the estimate of its error."""
    slopes = _slopes(f, t, y, size, args)
    found = y + size * _sum(FIFTH, slopes)
    slopes.append(f(t + size, found, *args))
    return found, size * _sum(ERROR, slopes)


def _slopes(f, t, y, size, args):
    slopes = []
    for node, weights in zip(NODES, STAGES, strict=True):
        now = y + size * _sum(weights, slopes) if slopes else y
        slopes.append(checked(f(t + node * size, now, *args), y.shape))
    return slopes


def _sum(weights, slopes):
    return sum(w * k for w, k in zip(weights, slopes, strict=True) if w)


def checked(slope: Any, shape: tuple[int, ...]) -> Any:
    """What `f` returns, if it has the shape of the state."""
    if np.ndim(slope) and not hasattr(slope, "shape"):
        raise ShapeError("solve_ivp: the function returns a list: write np.stack([...]), an array of the shape of y")
    if np.shape(slope) != shape:
        raise ShapeError(f"solve_ivp: the function returns shape {np.shape(slope)} for a state of shape {shape}")
    return slope
