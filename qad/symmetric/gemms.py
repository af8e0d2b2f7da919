"""Products of sectors: one matrix product for each charge, ``C = A B``.

Either factor may lie transposed.  The cotangent of a factor is again such a product, of the cotangent of C and the
other factor: ``G_A = G_C B^T`` and ``G_B = A^T G_C``, and likewise where factors lie transposed.  So one primitive, in
four forms, serves derivatives of every order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import defbatch, defvjp, is_foreign, primitive, spread_out
from qad.symmetric.kernels import multiplied

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.typing import Array

__all__ = ["Gemms", "gemms"]


class Gemms:
    """Which matrices of two flat arrays are multiplied, and where the products lie.  Immutable.

    Attributes
    ----------
    rows : tuple of tuples of int
        For each product: where A, B and C begin, and m, k, n, where A is (m, k) and B is (k, n).
    sizes : tuple of int
        The sizes of the flat arrays that hold the A, the B and the C.
    turned : tuple of bool
        Whether each A lies transposed in memory, and each B.
    full : bool
        Whether every element of the result is written; the others are zero.
    flops : int
        Multiply-adds.
    """

    __slots__ = ("rows", "sizes", "turned", "full", "flops", "_table", "_left", "_right")
    rows: tuple[tuple[int, ...], ...]
    sizes: tuple[int, int, int]
    turned: tuple[bool, bool]
    full: bool
    flops: int

    def __init__(
        self, rows: Iterable[tuple[int, ...]], sizes: tuple[int, int, int], turned: tuple[bool, bool] = (False, False)
    ):
        self.rows, self.sizes, self.turned = tuple(rows), sizes, turned
        self.full = sum(m * n for _, _, _, m, _, n in self.rows) == sizes[2]
        self.flops = sum(m * k * n for _, _, _, m, k, n in self.rows)
        self._table: np.ndarray | None = None
        self._left: Gemms | None = None
        self._right: Gemms | None = None

    @property
    def table(self) -> np.ndarray:
        """The rows as compiled kernels read them."""
        if self._table is None:
            self._table = np.array(self.rows, np.int64).reshape(-1)
        return self._table

    @property
    def left(self) -> Gemms:
        """The products that give the cotangents of A: of those of C with the B, or the other way round (`order`)."""
        if self._left is None:
            (one, two, three), (a, b) = self.sizes, self.turned
            if a:  # A^T lies in memory: its cotangent is B G^T
                rows, sizes, turned = (
                    [(q, r, p, k, n, m) for p, q, r, m, k, n in self.rows],
                    (two, three, one),
                    (b, True),
                )
            else:
                rows, sizes = [(r, q, p, m, n, k) for p, q, r, m, k, n in self.rows], (three, two, one)
                turned = (False, not b)
            self._left = Gemms(rows, sizes, turned)
        return self._left

    @property
    def right(self) -> Gemms:
        """The products that give the cotangents of B."""
        if self._right is None:
            (one, two, three), (a, b) = self.sizes, self.turned
            if b:  # B^T lies in memory: its cotangent is G^T A
                rows, sizes = [(r, p, q, n, m, k) for p, q, r, m, k, n in self.rows], (three, one, two)
                turned = (True, a)
            else:
                rows, sizes = [(p, r, q, k, m, n) for p, q, r, m, k, n in self.rows], (one, three, two)
                turned = (not a, False)
            self._right = Gemms(rows, sizes, turned)
        return self._right

    def __reduce__(self) -> tuple[Any, ...]:
        return Gemms, (self.rows, self.sizes, self.turned)


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


def _joined(x, y, plan):
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


def _left(g, ans, x, y, *, plan):
    return gemms(y, g, plan=plan.left) if plan.turned[0] else gemms(g, y, plan=plan.left)


def _right(g, ans, x, y, *, plan):
    return gemms(g, x, plan=plan.right) if plan.turned[1] else gemms(x, g, plan=plan.right)


defvjp(gemms, _left, _right, linear=True)
defbatch(gemms, lambda batched, x, y, *, plan: gemms(*spread_out(batched, (x, y)), plan=plan))
