"""Environments of symmetric states.

Legs and flows: site tensors (left, physical, right) ``(+, +, -)``, operators (left, right, out, in) ``(+, -, +, -)``,
environments (bra, operator, ket), on the left ``(+, -, -)``, on the right ``(-, +, +)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import Tensor
from qad.mps.chain.row import distinct_map
from qad.mps.charges.channels import Channels
from qad.mps.kernels.charged_terms import ChargedTerms
from qad.mps.kernels.terms import CentreKernel
from qad.symmetric.contraction import tensordot
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.terms import CentreTerms, Identities


class ChargedKernel(CentreKernel):
    """The kernel of states that conserve charges: symmetric site tensors, their few entries, and the channels' charges.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
    conserved : Quantities
    channels : Channels, optional
        By default those of an open chain.
    identities : pair of lists of arrays, optional
        As in `CentreKernel`.
    """

    sites: list[SymTensor]

    def __init__(
        self, tensors: Sequence[np.ndarray], conserved: Quantities, channels: Channels | None = None,
        identities: Identities | None = None,
    ):  # fmt: skip
        self.channels: Channels = channels or Channels(tensors, conserved)
        super().__init__(self.channels.tensors, identities)
        self.sites = self.channels.sites()
        self.entries: list[Entries] = distinct_map(Entries, self.sites)
        self.swept: dict[np.dtype, list[Entries]] = {}  # of `qad.mps.energy.charged`

    def with_label(self, size: int) -> ChargedKernel:
        """The operator on a chain with one more site in front, of no charge, which it leaves as it is."""
        conserved = self.channels.conserved.with_label(size)
        return ChargedKernel([np.eye(size)[None, None], *self.tensors], conserved)

    def sites_of(self, H: Sequence[Any]) -> list[SymTensor]:
        """The site tensors of this operator, recorded or plain; what would break the symmetry is left out."""
        if all(type(w) is not Tensor for w in H):
            return self.sites
        return self.channels.recorded(H)

    def terms_of(self, row: CentreTerms, site: int) -> ChargedTerms:
        """The terms of a centre."""
        return ChargedTerms(row, self.channels, site)

    def past_left(self, environment: SymTensor, site: int, tensor: SymTensor) -> SymTensor:
        """A left environment past a site."""
        half = tensordot(environment, tensor, ([2], [0]))  # bra u s b
        half = applied(self.entries[site], half, ((1, 2), (0, 3)), (0, 3, 2, 1), 2)  # bra s', v b
        return tensordot(tensor.conj(), half, ([0, 1], [0, 1]))

    def past_right(self, environment: SymTensor, site: int, tensor: SymTensor) -> SymTensor:
        """A right environment past a site."""
        half = tensordot(tensor, environment, ([2], [2]))  # a s bra v
        half = applied(self.entries[site], half, ((1, 3), (3, 1)), (3, 1, 2, 0), 2)  # s' bra, u a
        return tensordot(tensor.conj(), half, ([1, 2], [0, 1]))

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
