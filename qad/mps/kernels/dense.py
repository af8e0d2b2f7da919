"""The kernel of states of arrays: what acts on a centre between two environments, made of `qad.mps.kernels.terms`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.extend import like
from qad.mps.kernels.terms import CentreKernel, total
from qad.rules.making.devices import to_device

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.kernels.terms import Apply, CentreTerms, Identities
    from qad.typing import DTypeLike

    Live: TypeAlias = tuple[np.ndarray, np.ndarray]  # channels, and what goes with each of them
    Block: TypeAlias = np.ndarray | None


class DenseKernel(CentreKernel):
    """The kernel of states of arrays.

    Parameters
    ----------
    H : sequence of arrays (left, right, out, in)
    dtype : dtype
        Of states; the sites of the operator have its precision at least.
    identities : pair of lists of arrays, optional
        As in `CentreKernel`.
    """

    sites: list[np.ndarray]

    def __init__(self, H: Iterable[np.ndarray], dtype: DTypeLike, identities: Identities | None = None):
        self.sites = [w.astype(np.result_type(w.dtype, dtype), copy=False) for w in H]
        self.passed: list[np.ndarray] = self.sites
        super().__init__(to_device(self.sites, "cpu"), identities)

    def sites_of(self, H: Sequence[Any]) -> list[Any]:
        """The site tensors of this operator, recorded or plain."""
        return list(H)

    def terms_of(self, row: CentreTerms, site: int) -> DenseTerms:
        """The terms of a centre."""
        return DenseTerms(row)


class DenseTerms:
    """What the terms of an operator do on a centre of at most two neighbours, as arrays.

    Attributes
    ----------
    left, right : array (channels, out, in), or None
        What goes with the channels on the left, and on the right, on the sites that are theirs.
    inner : array (s' t', s t) or None
        What couples both sites where these stand apart.
    crossing : two pairs of channels of an environment and what goes with each of them, or None
        What is applied channel by channel, by arrays (u, out v, in) and (w, out, v in).
    """

    def __init__(self, row: CentreTerms):
        (left, right), inner = row.sides, row.inner
        self.left: Block = left if left.any() else None
        self.right: Block = right if right.any() else None
        self.inner: Block = None if inner is None else inner.reshape(inner.shape[0] * inner.shape[1], -1)
        self.crossing: tuple[Live, Live] | None = None
        if row.crossing is not None:
            one, two = row.crossing
            through = one.any(axis=(0, 2, 3)) & two.any(axis=(1, 2, 3))
            rows, columns = one.any(axis=(1, 2, 3)), two.any(axis=(0, 2, 3))
            before, after = np.flatnonzero(rows), np.flatnonzero(columns)
            one, two = one[rows][:, through].transpose(0, 2, 1, 3), two[through][:, columns].transpose(1, 2, 0, 3)
            one, two = one.reshape(len(before), -1, one.shape[3]), two.reshape(len(after), two.shape[1], -1)
            self.crossing = (before, one), (after, two)

    def effective(self, left: np.ndarray, right: np.ndarray, centre: np.ndarray) -> tuple[Apply, np.ndarray]:
        """The effective operator between two environments, and the centre, whose numbers it takes."""
        a, b = len(centre), centre.shape[-1]
        parts: list[Apply] = []
        if self.left is not None:
            on_left = grown_left(left, self.left)  # of the legs (a, s) or (a, s, t)
            parts.append(lambda x: (on_left @ x.reshape(len(on_left), -1)).reshape(-1))
        if self.right is not None:
            on_right = grown_right(right, self.right)  # of (t, b) or (s, t, b)
            parts.append(lambda x: (x.reshape(-1, len(on_right)) @ on_right).reshape(-1))
        if self.crossing is not None:
            (before, one), (after, two) = self.crossing
            ahead, behind = grown_left(left[:, before], one), grown_right(right[:, after], two)
            rows, columns = ahead.shape[1], len(behind)
            parts.append(lambda x: ((ahead @ x.reshape(rows, -1)).reshape(-1, columns) @ behind).reshape(-1))
        if self.inner is not None:
            within = like(left).asarray(self.inner.astype(left.dtype, copy=False))
            parts.append(lambda x: (within @ x.reshape(a, -1, b)).reshape(-1))
        return partial(total, parts), centre


def grown_left(environment: np.ndarray, operators: np.ndarray) -> np.ndarray:
    """``sum_u L[u] x O[u]`` as a matrix, rows (a', s') and columns (a, s); the operators are (u, s', s)."""
    operators = like(environment).asarray(operators.astype(environment.dtype, copy=False))
    grown = environment.transpose(0, 2, 1)[:, None] @ operators.transpose(1, 0, 2)  # a' s' (a s)
    return grown.reshape(grown.shape[0] * grown.shape[1], -1)


def grown_right(environment: np.ndarray, operators: np.ndarray) -> np.ndarray:
    """``sum_w O[w] x R[w]`` as a matrix that acts from the right, rows (t, b) and columns (t', b')."""
    operators = like(environment).asarray(operators.astype(environment.dtype, copy=False))
    grown = operators.transpose(1, 2, 0)[:, None] @ environment  # t' b' (t b)
    return grown.reshape(grown.shape[0] * grown.shape[1], -1).T
