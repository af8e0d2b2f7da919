"""Products of vectors that stand along an axis: `vecdot`, `matvec`, `vecmat` and `cross`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, implements, primitive, rule, unbroadcast
from qad.rules.products.products import array, matmul

if TYPE_CHECKING:
    from qad.typing import Value


@implements(np.vecdot)
def vecdot(x1: Value, x2: Value) -> Value:
    return matmul(array(x1).conj()[..., None, :], array(x2)[..., None])[..., 0, 0]


@implements(np.linalg.vecdot)
def linalg_vecdot(x1: Value, x2: Value, /, *, axis: int = -1) -> Value:
    return vecdot(np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1))


def matvec(x1: Value, x2: Value) -> Value:
    return matmul(array(x1), array(x2)[..., None])[..., 0]


def vecmat(x1: Value, x2: Value) -> Value:
    return matmul(array(x1).conj()[..., None, :], array(x2))[..., 0, :]


if hasattr(np, "matvec"):  # NumPy 2.2
    implements(np.matvec)(matvec)
    implements(np.vecmat)(vecmat)


@primitive(name="cross")
def cross_product(a: Value, b: Value) -> Value:
    """The vector product along the last axis, of length 3."""
    return np.cross(a, b)


rule(
    cross_product,
    lambda g, y, a, b: unbroadcast(cross_product(b, g), a.shape),
    lambda g, y, a, b: unbroadcast(cross_product(g, a), b.shape),
    linear=True,
    batch=core(1, 1),
    fresh=True,
)


@implements(np.cross)
def cross(a: Value, b: Value, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Value:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(array(a), axisa, -1), np.moveaxis(array(b), axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ArgumentError(f"np.cross of Tensors takes vectors of length 3, not of shapes {a.shape} and {b.shape}")
    c = cross_product(a, b)
    return np.moveaxis(c, -1, axisc)


implements(np.linalg.cross)(lambda x1, x2, /, *, axis=-1: cross(x1, x2, axis=axis))
