"""Products of sectors: one matrix product for each charge, ``C = A B``.

Either factor may lie transposed.  The cotangent of a factor is again such a product, of the cotangent of C and the
other factor: ``G_A = G_C B^T`` and ``G_B = A^T G_C``, and likewise where factors lie transposed.  So one primitive, in
four forms, serves derivatives of every order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, is_foreign, primitive, rule
from qad.symmetric.blocks.kernels import compiled_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array

__all__ = ["Gemms", "gemms"]


class Gemms:
    """Which matrices of two flat arrays are multiplied, and where the products lie.  Immutable.

    Attributes
    ----------
    table : array of int64 (products, 6)
        For each product: where A, B and C begin, and m, k, n, where A is (m, k) and B is (k, n).
    sizes : tuple of int
        The sizes of the flat arrays that hold the A, the B and the C.
    turned : tuple of bool
        Whether each A lies transposed in memory, and each B.
    full : bool
        Whether every element of the result is written; the others are zero.
    """

    __slots__ = ("table", "sizes", "turned", "full", "_rows", "_left", "_right")
    table: np.ndarray
    sizes: tuple[int, int, int]
    turned: tuple[bool, bool]
    full: bool

    def __init__(
        self,
        rows: np.ndarray | Sequence[tuple[int, ...]],
        sizes: tuple[int, int, int],
        turned: tuple[bool, bool] = (False, False),
    ):
        self.table, self.sizes, self.turned = np.array(rows, np.int64).reshape(-1, 6), sizes, turned
        self.table.flags.writeable = False
        self.full = int((self.table[:, 3] * self.table[:, 5]).sum()) == sizes[2]
        self._rows: list[list[int]] | None = None
        self._left: Gemms | None = None
        self._right: Gemms | None = None

    @property
    def rows(self) -> list[list[int]]:
        """The table as Python reads it."""
        if self._rows is None:
            self._rows = self.table.tolist()
        return self._rows

    @property
    def flops(self) -> int:
        """Multiply-adds."""
        return int(self.table[:, 3:].prod(axis=1).sum())

    @property
    def left(self) -> Gemms:
        """The products that give the cotangents of A: of those of C with the B, or the other way round (`_left`)."""
        if self._left is None:
            (one, two, three), (a, b) = self.sizes, self.turned
            if a:  # A^T lies in memory: its cotangent is B G^T
                self._left = Gemms(self.table[:, [1, 2, 0, 4, 5, 3]], (two, three, one), (b, True))
            else:
                self._left = Gemms(self.table[:, [2, 1, 0, 3, 5, 4]], (three, two, one), (False, not b))
        return self._left

    @property
    def right(self) -> Gemms:
        """The products that give the cotangents of B."""
        if self._right is None:
            (one, two, three), (a, b) = self.sizes, self.turned
            if b:  # B^T lies in memory: its cotangent is G^T A
                self._right = Gemms(self.table[:, [2, 0, 1, 5, 3, 4]], (three, one, two), (True, a))
            else:
                self._right = Gemms(self.table[:, [0, 2, 1, 4, 3, 5]], (one, three, two), (not a, False))
        return self._right

    def __reduce__(self) -> tuple[Any, ...]:
        return Gemms, (self.table, self.sizes, self.turned)


@primitive
def gemms(x: Array, y: Array, *, plan: Gemms) -> Array:
    """Multiply the matrices of two flat arrays, or of stacks of them (b, size), sector by sector."""
    if is_foreign(x):
        return _joined(x, y, plan)
    dtype = np.result_type(x, y)
    lead = x.shape[:-1] or y.shape[:-1]
    out = (np.empty if plan.full else np.zeros)((*lead, plan.sizes[2]), dtype)
    multiplied(x, y, out, plan)
    return out


def multiplied(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Gemms) -> None:
    """Write the product of each sector of `x` (..., size) and `y` (..., size) into `out` (..., size)."""
    if (loops := compiled_for(x, y)) is not None:
        loops.multiplied(x, y, out, plan.table.reshape(-1), plan.turned[0] + 2 * plan.turned[1])
    else:
        multiplied_plainly(x, y, out, plan)


def multiplied_plainly(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Gemms) -> None:
    """`multiplied` in NumPy's functions."""
    lead = out.shape[:-1]
    for one, two, three, m, k, n in plan.rows:
        a = x[..., one : one + m * k].reshape((*lead, k, m) if plan.turned[0] else (*lead, m, k))
        b = y[..., two : two + k * n].reshape((*lead, n, k) if plan.turned[1] else (*lead, k, n))
        a, b = a.mT if plan.turned[0] else a, b.mT if plan.turned[1] else b
        c = out[..., three : three + m * n]
        if lead:
            c[...] = (a @ b).reshape(c.shape)
        else:
            np.matmul(a, b, out=c.reshape(m, n))


def _joined(x: Any, y: Any, plan: Gemms) -> Any:
    """`gemms` in functions that write nothing: for arrays of other libraries."""
    lead, parts, end = x.shape[:-1] or y.shape[:-1], [], 0
    nothing = np.zeros((*lead, 0), np.result_type(x.dtype, y.dtype), like=x)
    for one, two, three, m, k, n in sorted(plan.rows, key=lambda row: row[2]):
        a = x[..., one : one + m * k].reshape((*lead, k, m) if plan.turned[0] else (*lead, m, k))
        b = y[..., two : two + k * n].reshape((*lead, n, k) if plan.turned[1] else (*lead, k, n))
        c = (a.mT if plan.turned[0] else a) @ (b.mT if plan.turned[1] else b)
        parts += [np.zeros_like(nothing, shape=(*lead, three - end)), c.reshape((*lead, m * n))]
        end = three + m * n
    return np.concatenate([nothing, *parts, np.zeros_like(nothing, shape=(*lead, plan.sizes[2] - end))], axis=-1)


def _left(g: Any, ans: Any, x: Any, y: Any, *, plan: Gemms) -> Any:
    return gemms(y, g, plan=plan.left) if plan.turned[0] else gemms(g, y, plan=plan.left)


def _right(g: Any, ans: Any, x: Any, y: Any, *, plan: Gemms) -> Any:
    return gemms(g, x, plan=plan.right) if plan.turned[1] else gemms(x, g, plan=plan.right)


rule(
    gemms,
    _left,
    _right,
    linear=True,
    batch=core(1, 1),
)
