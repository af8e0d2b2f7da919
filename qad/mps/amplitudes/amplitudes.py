"""Amplitudes of many configurations at once, of states of either kind.

Those of arrays are one node of the tape, holomorphic in every tensor; `qad.mps.amplitudes.prefix_trees` shares the
work among configurations.  Forward mode and second derivatives are those of `qad.mps.amplitudes.sectors`, in functions
that the tape knows; a ring is opened for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import defjvp, defvjp, is_foreign, jvp, primitive, stop_gradient, value_of, vjp
from qad.linalg.support.derivative_order import orders
from qad.mps.amplitudes.prefix_trees import Words
from qad.mps.amplitudes.sectors import scaled_amplitudes as of_sectors
from qad.mps.chain.gauge import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.amplitudes.prefix_trees import Kept
    from qad.mps.charges.quantities import Quantities
    from qad.typing import Array, ArrayLike


@primitive(keeps=True)
def amplitudes_of(*tensors: np.ndarray, words: Words) -> tuple[tuple[np.ndarray, np.ndarray], Kept]:
    """Amplitudes of the configurations of `words` divided by ``exp(logs)``, and the logs, constants for derivatives."""
    values, logs, tables = words.forward(tensors)
    return (values, logs), tables


@primitive
def slopes_of(g: np.ndarray, *tensors: np.ndarray, words: Words, kept: Kept | None = None) -> tuple[np.ndarray, ...]:
    """Cotangents of the tensors for those of the values."""
    tables = words.forward(tensors)[2] if kept is None else kept
    return tuple(words.backward(g, tensors, tables))


def plain(tensors: Sequence[Array], logs: Array, configurations: Array) -> Array:
    """The values again, in functions that the tape knows."""
    tensors = opened(tensors) if tensors[0].shape[0] > 1 else tensors
    values, own = of_sectors(tensors, None, configurations)
    return values * np.exp(own - logs).astype(values.real.dtype)


def _amplitudes_vjp(needed, g, ans, *tensors, words, kept=None):
    if g[0] is None:  # nothing depends on the values, and the logs are constants
        return tuple(0.0 * tensors[i] for i in needed)
    slope = g[0].astype(ans[0].dtype, copy=False)
    if any(map(orders, (slope, *tensors))):
        _, pullback = vjp(lambda *chain: plain(chain, ans[1], words.configurations), *tensors)
        slopes = [x.conj() for x in pullback(slope.conj())]
    else:
        slopes = slopes_of(slope, *tensors, words=words, kept=kept)
    return tuple(slopes[i] for i in needed)


def _amplitudes_jvp(tangents, ans, *tensors, words):
    direction = tuple(0.0 * x if t is None else t for x, t in zip(tensors, tangents, strict=True))
    return jvp(lambda *chain: plain(chain, ans[1], words.configurations), tensors, direction)[1], 0.0 * ans[1]


defvjp(amplitudes_of, shared=_amplitudes_vjp)
defjvp(amplitudes_of, shared=_amplitudes_jvp)


def scaled_amplitudes(
    tensors: Sequence[Any], conserved: Quantities | None, configurations: ArrayLike
) -> tuple[Array, Array]:
    """Amplitudes divided by ``exp(logs)``, and the constant logs."""
    phys = [t.shape[1] for t in tensors]
    configurations = checked(configurations, phys)
    if conserved is not None:
        return of_sectors(tensors, conserved, configurations)
    bond, periodic = max(t.shape[0] for t in tensors), tensors[0].shape[0] > 1
    dtype = np.result_type(*{t.dtype for t in tensors})
    tensors = [t.astype(dtype, copy=False) for t in tensors]
    values, logs = amplitudes_of(*tensors, words=Words(configurations, phys, bond, periodic))
    return values, stop_gradient(logs)


def checked(configurations: ArrayLike, phys: Sequence[int]) -> np.ndarray:
    """Configurations as an int array (words, sites); raises unless every letter has its matrix."""
    array = value_of(configurations)
    array = np.array(array.tolist()) if is_foreign(array) else np.asarray(array)  # they say where to look
    if array.ndim != 2 or array.shape[1] != len(phys) or not len(array):
        raise ShapeError(
            f"configurations have shape (how many, {len(phys)}), one basis state for each site; got {array.shape}"
        )
    if array.dtype.kind not in "iub":
        raise ArgumentError(f"configurations are whole numbers, the basis states of the sites, not {array.dtype}")
    outside = (array < 0) | (array >= np.array(phys))
    if outside.any():
        row, site = map(int, np.argwhere(outside)[0])
        raise ArgumentError(
            f"configuration {row} has {array[row, site]} on site {site}, whose basis states are 0 to {phys[site] - 1}"
        )
    return array.astype(np.int64)
