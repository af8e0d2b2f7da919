"""Environments of symmetric states, and operators on chains.

Legs and flows: site tensors (left, physical, right) ``(+, +, -)``, operators (left, right, out, in) ``(+, -, +, -)``,
environments (bra, operator, ket), on the left ``(+, -, -)``, on the right ``(-, +, +)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import Tensor
from qad.mps.chain.densities import edges
from qad.mps.charges.channels import Channels
from qad.mps.kernels.charged_terms import Terms
from qad.mps.kernels.dense_terms import CentreTerms, identities, nothing_on
from qad.symmetric.contraction import tensordot
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor, aligned, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.dense_terms import Apply


def onwards(environment: SymTensor, tensor: SymTensor, w: Entries) -> SymTensor:
    """A left environment past one more site, of plain numbers, bra and ket alike."""
    half = tensordot(environment, tensor, ([2], [0]))  # bra u s b
    half = applied(w, half, ((1, 2), (0, 3)), (0, 3, 2, 1), 2)  # bra s', v b
    return tensordot(tensor.conj(), half, ([0, 1], [0, 1]))


def backwards(environment: SymTensor, tensor: SymTensor, w: Entries) -> SymTensor:
    """A right environment past one more site, of plain numbers, bra and ket alike."""
    half = tensordot(tensor, environment, ([2], [2]))  # a s bra v
    half = applied(w, half, ((1, 3), (3, 1)), (3, 1, 2, 0), 2)  # s' bra, u a
    return tensordot(tensor.conj(), half, ([1, 2], [0, 1]))


class Operator:
    """An operator on a chain that conserves charges: its symmetric site tensors, and its terms around two sites.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
    conserved : Quantities
    channels : Channels, optional
        By default those of an open chain.
    """

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities, channels: Channels | None = None):
        self.channels: Channels = channels or Channels(tensors, conserved)
        self.tensors: list[np.ndarray] = self.channels.tensors
        made: dict[Any, tuple[SymTensor, Entries]] = {}
        self.sites: list[SymTensor] = [self.site_tensor(site, made) for site in range(len(self.tensors))]
        self.entries: list[Entries] = [made[self.key(site)][1] for site in range(len(self.tensors))]
        mirrored = [w.swapaxes(0, 1) for w in reversed(self.tensors)]
        self.known: tuple[list[np.ndarray], list[np.ndarray]] = identities(self.tensors), identities(mirrored)[::-1]
        self.terms: dict[tuple[int, int], Terms] = {}
        self.swept: dict[np.dtype, list[Entries]] = {}  # of `qad.mps.energy.charged`

    def key(self, site: int) -> Any:
        """Sites of equal keys are alike."""
        return id(self.tensors[site]), tuple(self.channels.charges[site]), tuple(self.channels.charges[site + 1])

    def site_tensor(self, site: int, made: dict[Any, tuple[SymTensor, Entries]]) -> SymTensor:
        """The symmetric tensor of a site, made once where sites are alike."""
        key = self.key(site)
        if key not in made:
            tensor = self.channels.tensor(site, self.tensors[site])
            made[key] = tensor, Entries(tensor)
        return made[key][0]

    def around(self, site: int, size: int) -> Terms:
        """The terms around a centre of `size` sites, this one first."""
        if (site, size) not in self.terms:
            before, after = self.known
            sites = [*self.tensors[site : site + size], nothing_on(len(before[site + size]))][:2]
            bonds = before[site], before[site + 1], after[site + 1], after[site + size]
            self.terms[site, size] = Terms(CentreTerms(*sites, *bonds), self.channels, site, size)
        return self.terms[site, size]

    def with_label(self, size: int) -> Operator:
        """The operator on a chain with one more site in front, of no charge, which it leaves as it is."""
        conserved = self.channels.conserved.with_label(size)
        return Operator([np.eye(size)[None, None], *self.tensors], conserved)

    def sites_of(self, H: Sequence[Any]) -> list[SymTensor]:
        """The site tensors of this operator, recorded or plain; what would break the symmetry is left out."""
        if all(type(w) is not Tensor for w in H):
            return self.sites
        return self.channels.recorded(H)

    def edges(self, tensors: Sequence[SymTensor]) -> tuple[SymTensor, SymTensor]:
        """The environments beyond both ends of a chain."""
        dtype = np.result_type(*{t.dtype for t in tensors})
        return tuple(end.astype(dtype) for end in edges(tensors, self.sites))

    def past_left(self, environment: SymTensor, site: int, tensor: SymTensor) -> SymTensor:
        """A left environment past a site."""
        return onwards(environment, tensor, self.entries[site])

    def past_right(self, environment: SymTensor, site: int, tensor: SymTensor) -> SymTensor:
        """A right environment past a site."""
        return backwards(environment, tensor, self.entries[site])

    def effective(
        self, site: int, size: int, left: SymTensor, right: SymTensor, centre: SymTensor
    ) -> tuple[Apply, SymTensor]:
        """The effective operator of a centre of `size` sites, this one first, and the centre whose numbers it takes."""
        if not size:
            return on_bond(left, right, centre), centre
        apply = self.around(site, size).effective(left, right, centre)
        return apply, centre.resplit(apply.layout.split)

    def mixed_left(self, site: int, left: SymTensor, centre: SymTensor) -> SymTensor:
        """The density on (a, s) of what the operators of this site and all left of it make of a centre."""
        half = applied(self.entries[site], left, ((1,), (0,)), (0, 2, 3, 1, 4), 3)  # a' v s', a s
        found = tensordot(half, centre, ([3, 4], [0, 1]))  # a' v s' ...
        others = (1, *range(3, found.ndim))
        return tensordot(found, found.conj(), (others, others))

    def mixed_right(self, site: int, right: SymTensor, centre: SymTensor) -> SymTensor:
        """The conjugate of the density on (s, b) of what those of this site and all right of it make of a centre."""
        half = applied(self.entries[site], right, ((1,), (1,)), (4, 1, 2, 3, 0), 2)  # s b, v s' b'
        found = tensordot(centre, half, ([-2, -1], [0, 1]))  # ... v s' b'
        others = tuple(range(found.ndim - 2))
        return tensordot(found.conj(), found, (others, others))


def on_bond(left: SymTensor, right: SymTensor, bond: SymTensor) -> Apply:
    """The effective operator of the matrix on a bond."""

    def apply(x: np.ndarray) -> np.ndarray:
        half = tensordot(left, bare(bond.layout, x), ([2], [0]))  # a' v b
        return aligned(bond, tensordot(half, right, ([1, 2], [1, 2])), "evolve")

    return apply
