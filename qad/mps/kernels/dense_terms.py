"""The effective operator of a centre, its terms grouped by where they stand.

In canonical form the environment of nothing but identities is 1.  The terms of ``<bra|H|ket>`` that end left of a bond,
or within the centre, then need one matrix on the left legs and the centre; those that begin within it or right of it
one matrix on the right legs; only what crosses the whole centre is applied channel by channel::

    H = H_(left, centre) x 1 + 1 x H_(centre, right) + sum_v LEFT[v] x RIGHT[v]

For two sites of a spin chain of neighbours and second neighbours that is 32 instead of 128 ``bond**3``
multiplications.  Which channels of an operator's bonds carry identities is read off its own tensors, exactly
(`identities`): a channel is one if nothing but multiples of the identity lead to it, whoever wrote the operator.

Legs of environments are (bra, operator, ket), of operators (left, right, out, in), of the centre (a, s, t, b).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.extend import is_foreign, like

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Shape: TypeAlias = tuple[int, int, int, int]

Apply: TypeAlias = "Callable[[np.ndarray], np.ndarray]"  # an effective operator, on a centre as a vector
Block: TypeAlias = "np.ndarray | None"
Parts: TypeAlias = "tuple[Block, Block, Block, tuple[np.ndarray, np.ndarray] | None]"  # see `summed`


def identities(tensors: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each bond, from the left, and each of its channels: the multiple of 1 that stands left of it, else nan.

    A channel that nothing leads to has 0.  Bond 0 is that left of the first site, of dimension 1, beyond which is 1.
    """
    found = [np.ones(1, np.result_type(*tensors))]
    for tensor in tensors:
        factors = multiples(tensor)
        before = found[-1][:, None]
        nothing = (before == 0) | (factors == 0)
        found.append(np.where(nothing, 0, before * factors).sum(axis=0))
    return found


def multiples(tensor: np.ndarray) -> np.ndarray:
    """The multiple of 1 that each block of a site tensor is, nan where it is something else."""
    corner = tensor[:, :, 0, 0]
    same = tensor == corner[:, :, None, None] * np.eye(*tensor.shape[2:])
    return np.where(same.all(axis=(2, 3)), corner, np.nan)


def on_host(tensor: np.ndarray) -> np.ndarray:
    """A small array as NumPy's own."""
    if not is_foreign(tensor):
        return np.asarray(tensor)
    flat = tensor.reshape(-1)
    return np.array([flat[i].item() for i in range(flat.size)], tensor.dtype).reshape(tensor.shape)


def nothing_on(bond: int) -> np.ndarray:
    """The site tensor of no site: a centre of one site is one beside this."""
    return np.eye(bond)[:, :, None, None]


@dataclass(frozen=True)
class CentreTerms:
    """The operators of two neighbours in the centre, and what is known of the bonds left, between and right of them.

    Attributes
    ----------
    one, two : arrays (u, v, s', s) and (v, w, t', t)
        Either may be of no site.
    before, left_half, right_half, after : arrays (u,), (v,), (v,), (w,)
        Multiples of 1, nan for other channels: left of bond u and v, right of v and w.
    """

    one: np.ndarray
    two: np.ndarray
    before: np.ndarray
    left_half: np.ndarray
    right_half: np.ndarray
    after: np.ndarray

    @cached_property
    def open_left(self) -> np.ndarray:
        """The channels u with something else than 1 on their left."""
        return np.flatnonzero(np.isnan(self.before))

    @cached_property
    def open_right(self) -> np.ndarray:
        """The channels w with something else than 1 on their right."""
        return np.flatnonzero(np.isnan(self.after))

    @cached_property
    def inner(self) -> np.ndarray:
        """Terms within the centre, (s' t', s t)."""
        return self.fused("u,uvij,vwkl,w->ikjl", known(self.before), self.one, self.two, known(self.after))

    @cached_property
    def left(self) -> np.ndarray:
        """What goes on both sites with each open channel on the left, (u, s' t', s t)."""
        return self.fused("uvij,vwkl,w->uikjl", self.one[self.open_left], self.two, known(self.after))

    @cached_property
    def right(self) -> np.ndarray:
        """What goes on both sites with each open channel on the right, (w, s' t', s t)."""
        return self.fused("u,uvij,vwkl->wikjl", known(self.before), self.one, self.two[:, self.open_right])

    @cached_property
    def left_ended(self) -> np.ndarray:
        """The part of all terms that have ended on the first site, (u, s', s)."""
        return np.einsum("uvij,v->uij", self.one, known(self.right_half))

    @cached_property
    def right_begun(self) -> np.ndarray:
        """The part of all terms that begin with the second site, (w, t', t)."""
        begun = np.where(np.isnan(self.right_half), known(self.left_half), 0)
        return np.einsum("v,vwkl->wkl", begun, self.two)

    @cached_property
    def left_is_short(self) -> bool:
        """Whether no term from the left goes on to the second site, to end there."""
        going = self.one[self.open_left].any(axis=(0, 2, 3)) & np.isnan(self.right_half)
        return not (going & self.two[:, known(self.after) != 0].any(axis=(1, 2, 3))).any()

    @cached_property
    def right_is_short(self) -> bool:
        """Whether no term from the right goes on to the first site, to end there."""
        going = self.two[:, self.open_right].any(axis=(1, 2, 3)) & np.isnan(self.left_half)
        return not (going & self.one[known(self.before) != 0].any(axis=(0, 2, 3))).any()

    @cached_property
    def across(self) -> np.ndarray:
        """The channels v of terms that reach beyond the centre on both sides."""
        left, right = self.one[self.open_left].any(axis=(0, 2, 3)), self.two[:, self.open_right].any(axis=(1, 2, 3))
        return np.flatnonzero(left & right)

    @cached_property
    def between(self) -> np.ndarray:
        """The channels v of terms on both sides of the bond between the sites."""
        live = self.one.any(axis=(0, 2, 3)) & self.two.any(axis=(1, 2, 3))
        return np.flatnonzero(np.isnan(self.left_half) & np.isnan(self.right_half) & live)

    def fused(self, text: str, *operands: np.ndarray) -> np.ndarray:
        """An einsum whose last four legs (s', t', s, t) become two."""
        out = np.einsum(text, *operands, optimize=True)
        return out.reshape(*out.shape[:-4], out.shape[-4] * out.shape[-3], out.shape[-2] * out.shape[-1])

    def operator(self, left: np.ndarray, right: np.ndarray, shape: Shape) -> Callable[[np.ndarray], np.ndarray]:
        """The effective operator between two environments, as a function of vectors; `shape` is (a, s, t, b).

        Grouped at the outer bonds, or at the one in the middle, whichever takes fewer multiplications.
        """
        halves = half_costs(shape)
        outer = outer_cost(self, shape) + len(self.across) * sum(halves)
        parts = at_outer_bonds if outer <= (1 + len(self.between)) * sum(halves) else in_the_middle
        return summed(*parts(self, left, right, shape), shape)


def known(multiples: np.ndarray) -> np.ndarray:
    """Multiples of 1, zero for other channels."""
    return np.where(np.isnan(multiples), 0, multiples)


def half_costs(shape: Shape) -> tuple[int, int]:
    """Multiplications by a matrix on (a, s), and by one on (t, b)."""
    a, s, t, b = shape
    return (a * s) ** 2 * t * b, a * s * (t * b) ** 2


def outer_cost(row: CentreTerms, shape: Shape) -> int:
    """Multiplications by what stands on one side of the centre and in it."""
    a, s, t, b = shape
    left, right = half_costs(shape)
    total = a * (s * t) ** 2 * b
    if len(row.open_left):
        total += left if row.left_is_short else left * t
    if len(row.open_right):
        total += right if row.right_is_short else right * s
    return total


def at_outer_bonds(row: CentreTerms, left: np.ndarray, right: np.ndarray, shape: Shape) -> Parts:
    """Matrices on the left and on the right, both with the whole centre where terms need it; terms across it."""
    on_left = on_right = chain = None
    inner = row.inner if row.inner.any() else None
    if len(row.open_left):
        environment = left[:, row.open_left]
        on_left = grown_left(environment, row.left_ended[row.open_left] if row.left_is_short else row.left)
    if len(row.open_right):
        environment = right[:, row.open_right]
        on_right = grown_right(environment, row.right_begun[row.open_right] if row.right_is_short else row.right)
    if inner is not None and (on_left is not None and not row.left_is_short):
        add_within(on_left.reshape(shape[0], len(inner), shape[0], -1), inner, 0)
        inner = None
    elif inner is not None and (on_right is not None and not row.right_is_short):
        add_within(on_right.T.reshape(len(inner), shape[3], -1, shape[3]), inner, 1)
        inner = None
    if len(row.across):
        one, two = row.one[row.open_left][:, row.across], row.two[row.across][:, row.open_right]
        chain = left_block(left[:, row.open_left], one), right_block(two, right[:, row.open_right])
    return on_left, on_right, inner, chain


def in_the_middle(row: CentreTerms, left: np.ndarray, right: np.ndarray, shape: Shape) -> Parts:
    """Matrices of each half with its own site, and the channels between the halves."""
    chain = None
    if len(row.between):
        chain = left_block(left, row.one[:, row.between]), right_block(row.two[row.between], right)
    return grown_left(left, row.left_ended), grown_right(right, row.right_begun), None, chain


def add_within(grown: np.ndarray, inner: np.ndarray, bond: int) -> None:
    """Add terms within the centre to a matrix that has all its legs, where those of the bond are equal."""
    steps = np.arange(grown.shape[bond])
    if bond == 0:
        grown[steps, :, steps] += like(grown).asarray(inner)
    else:
        grown[:, steps, :, steps] += like(grown).asarray(inner)


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


def left_block(environment: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A left environment (a', u, a) and the site operator `w` right of it, as ``(a' s' v, a s)``."""
    return grown_left(environment, w.transpose(0, 2, 1, 3).reshape(len(w), -1, w.shape[3]))


def right_block(w: np.ndarray, environment: np.ndarray) -> np.ndarray:
    """The site operator `w` and the right environment (b', w, b) right of it, as ``(v s b, s' b')``."""
    return grown_right(environment, w.transpose(1, 2, 0, 3).reshape(w.shape[1], w.shape[2], -1))


def summed(
    on_left: Block, on_right: Block, inner: Block, chain: tuple[np.ndarray, np.ndarray] | None, shape: Shape
) -> Callable[[np.ndarray], np.ndarray]:
    """The sum of the parts of an effective operator as a function of vectors.

    Parameters
    ----------
    on_left, on_right : arrays (rows, rows) and (columns, columns), or None
        Of the legs (a, s) or (a, s, t), and (t, b) or (s, t, b).
    inner : array (s' t', s t) or None
    chain : pair of arrays, or None
        Blocks (a' s' v, a s) and (v t b, t' b').
    shape : tuple (a, s, t, b)
    """
    a, s, t, b = shape

    def apply(x):
        out = None
        if on_left is not None:
            out = (on_left @ x.reshape(len(on_left), -1)).reshape(-1)
        if on_right is not None:
            out = added(out, (x.reshape(-1, len(on_right)) @ on_right).reshape(-1))
        if chain is not None:
            half = (chain[0] @ x.reshape(a * s, t * b)).reshape(a * s, -1)
            out = added(out, (half @ chain[1]).reshape(-1))
        if inner is not None:
            out = added(out, (like(x).asarray(inner) @ x.reshape(a, s * t, b)).reshape(-1))
        return 0 * x if out is None else out

    return apply


def added(total: np.ndarray | None, more: np.ndarray) -> np.ndarray:
    """A sum, in the place of the first if there is one."""
    if total is None:
        return more
    total += more
    return total
