"""What stands in the centre of a sweep, its terms grouped by where they stand; for both kinds of tensors.

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
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.mps.chain.row import edges
from qad.mps.kernels.environments import past_left, past_right, through
from qad.symmetric.generic import join

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Apply: TypeAlias = "Callable[[np.ndarray], np.ndarray]"  # an effective operator, on a centre as a vector


class CentreKernel:
    """What sweeps take of an operator: environments, and effective operators of centres of no, one or two sites.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
        Of plain numbers; `DenseKernel` and `ChargedKernel` turn them into those that join the tensors of states.
    identities : pair of lists of arrays, optional
        Multiples of 1 left, and right, of every channel of each bond, nan for others; by default of an open chain.
    """

    sites: Sequence[Any]  # as they join the tensors of states
    passed: Sequence[Any]  # as environments pass them
    terms_of: Callable[[CentreTerms, int], Any]  # the terms of a centre as tensors of the kind

    def __init__(self, tensors: Sequence[np.ndarray], identities: Identities | None = None):
        self.tensors: list[np.ndarray] = list(tensors)
        self.identities: Identities = identities or on_both_sides(self.tensors)
        self.terms: dict[tuple[int, int], Any] = {}

    def __len__(self) -> int:
        return len(self.tensors)

    def edges(self, tensors: Sequence[Any]) -> tuple[Any, Any]:
        """The environments beyond both ends of a chain."""
        dtype = np.result_type(*{t.dtype for t in tensors})
        return tuple(end.astype(dtype) for end in edges(tensors, self.sites))

    def past_left(self, environment: Any, site: int, tensor: Any, bra: Any = None) -> Any:
        """A left environment past a site; the bra is its tensor where it is not given."""
        return past_left(environment, tensor, bra, self.passed[site])

    def past_right(self, environment: Any, site: int, tensor: Any, bra: Any = None) -> Any:
        """A right environment past a site; the bra is its tensor where it is not given."""
        return past_right(environment, tensor, bra, self.passed[site])

    def mixed_left(self, site: int, left: Any, centre: Any) -> Any:
        """The density on (a, s) of what the operators of this site and all left of it make of a centre."""
        half = through(self.passed[site], left, ((1,), (0,)), (0, 2, 3, 1, 4), 3)  # a' v s', a s
        found = join(half, centre, ((3, 4), (0, 1)))  # a' v s' ...
        others = (1, *range(3, found.ndim))
        return join(found, found.conj(), (others, others))

    def mixed_right(self, site: int, right: Any, centre: Any) -> Any:
        """The conjugate of the density on (s, b) of what those of this site and all right of it make of a centre."""
        half = through(self.passed[site], right, ((1,), (1,)), (4, 1, 2, 3, 0), 2)  # s b, v s' b'
        ahead = centre.ndim - 2
        found = join(centre, half, ((ahead, ahead + 1), (0, 1)))  # ... v s' b'
        others = tuple(range(ahead + 1))
        return join(found.conj(), found, (others, others))

    def effective(self, site: int, size: int, left: Any, right: Any, centre: Any) -> tuple[Apply, Any]:
        """The effective operator of a centre of `size` sites, this one first, and the centre whose numbers it takes."""
        return self.around(site, size).effective(left, right, centre)

    def around(self, site: int, size: int) -> Any:
        """The terms around a centre of `size` sites, this one first, as tensors of the kind."""
        if (site, size) not in self.terms:
            (before, after), half, end = self.identities, site + min(size, 1), site + size
            none = np.eye(len(before[end]))[:, :, None, None]  # the site tensor of no site, beside which one stands
            sites = [*self.tensors[site:end], none, none]
            row = CentreTerms(sites[0], sites[1], before[site], before[half], after[half], after[end], size)
            self.terms[site, size] = self.terms_of(row, site)
        return self.terms[site, size]


Identities: TypeAlias = "tuple[list[np.ndarray], list[np.ndarray]]"


def on_both_sides(tensors: Sequence[np.ndarray]) -> Identities:
    """`identities` from both ends of an open chain."""
    return identities(tensors), identities([w.swapaxes(0, 1) for w in reversed(tensors)])[::-1]


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


def known(multiples: np.ndarray) -> np.ndarray:
    """Multiples of 1, zero for other channels."""
    return np.where(np.isnan(multiples), 0, multiples)


@dataclass
class CentreTerms:
    """The operators of two neighbours in the centre, and what is known of the bonds left, between and right of them.

    Parameters
    ----------
    one, two : arrays (u, v, s', s) and (v, w, t', t)
        Either may be of no site.
    before, left_half, right_half, after : arrays (u,), (v,), (v,), (w,)
        Multiples of 1, nan for other channels: left of bond u and v, right of v and w.
    size : int
        Of sites.
    """

    one: np.ndarray
    two: np.ndarray
    before: np.ndarray
    left_half: np.ndarray
    right_half: np.ndarray
    after: np.ndarray
    size: int

    def __post_init__(self) -> None:
        one, two = self.one, self.two
        self.open_left: np.ndarray = np.isnan(self.before)  # the channels with something else than 1 on their left
        self.open_right: np.ndarray = np.isnan(self.after)
        goes, comes = one[self.open_left].any(axis=(0, 2, 3)), two[:, self.open_right].any(axis=(1, 2, 3))
        self.across: np.ndarray = goes & comes  # the channels v of terms that reach beyond the centre on both sides
        live = one.any(axis=(0, 2, 3)) & two.any(axis=(1, 2, 3))
        # those of terms on both sides of the bond between the sites
        self.between: np.ndarray = np.isnan(self.left_half) & np.isnan(self.right_half) & live
        ends = two[:, known(self.after) != 0].any(axis=(1, 2, 3)) & np.isnan(self.right_half)
        begins = one[known(self.before) != 0].any(axis=(0, 2, 3)) & np.isnan(self.left_half)
        # whether no term reaches from beyond one end to the site at the other end, and ends there: so that terms with
        # the left go on the first of two sites alone, those with the right on the second one
        self.apart: bool = self.size == 2 and not (goes & ends | comes & begins).any()

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """What goes with each channel u on the left, and with each channel w on the right, on sites of the centre.

        Where terms are apart these are (u, s', s) and (w, t', t); else (u, s' t', s t) and (w, s' t', s t), and what
        happens within the centre goes with a channel that stands for the identity.
        """
        if self.apart:  # terms that have ended on the first site, and those that begin with the second one
            begun = np.where(np.isnan(self.right_half), known(self.left_half), 0)
            left = np.einsum("u,uvij,v->uij", self.before != 0, self.one, known(self.right_half))
            return left, np.einsum("v,vwkl,w->wkl", begun, self.two, self.after != 0)
        left = self.fused("uikjl", self.open_left, known(self.after))
        right = self.fused("wikjl", known(self.before), self.open_right)
        for found, multiples in ((left, self.before), (right, self.after)):
            identity = np.flatnonzero(known(multiples))
            if len(identity):
                within = self.fused("ikjl", known(self.before), known(self.after))
                found[identity[0]] += within / multiples[identity[0]]
                break
        return left, right

    @property
    def inner(self) -> np.ndarray | None:
        """What couples both sites where terms are apart, (s', t', s, t)."""
        if not self.apart or not self.between.any():
            return None
        one = np.einsum("u,uvij->vij", known(self.before), self.one[:, self.between])
        two = np.einsum("vwkl,w->vkl", self.two[self.between], known(self.after))
        return np.einsum("vij,vkl->ikjl", one, two)

    @property
    def crossing(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Both site tensors with nothing else than what is applied channel by channel."""
        if not self.across.any():
            return None
        one = np.where((self.open_left[:, None] & self.across)[:, :, None, None], self.one, 0)
        return one, np.where((self.across[:, None] & self.open_right)[:, :, None, None], self.two, 0)

    def fused(self, legs: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Terms on both sites by weights of the channels on both sides, the legs (s', t', s, t) as two."""
        out = np.einsum(f"u,uvij,vwkl,w->{legs}", left, self.one, self.two, right, optimize=True)
        return out.reshape(*out.shape[:-4], out.shape[-4] * out.shape[-3], out.shape[-2] * out.shape[-1])


def total(parts: Sequence[Apply], x: np.ndarray) -> np.ndarray:
    """The sum of the parts of an effective operator on a centre as a vector."""
    out = parts[0](x) if parts else 0 * x
    for part in parts[1:]:
        out = out + part(x)
    return out
