"""The energy of a state: one node of the tape where that can be, else the ordinary sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import Tensor, any_traced, is_foreign, stack_of, value_of
from qad.mps.chain.sandwich import operator_matrices, quotient
from qad.mps.energy.charged import ChargedHamiltonian
from qad.mps.energy.frozen import energy_of_both
from qad.mps.energy.node import energy_of, prepared
from qad.mps.kernels.operators import sites_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.operators.mpo import MPO
    from qad.typing import Array, Real


def energy(psi: MPS, H: MPO) -> Real:
    """``<psi|H|psi> / <psi|psi>`` of a state and an operator on its sites."""
    charged = psi.conserved is not None
    data: list[Any] = [t.data if charged else t for t in psi]
    if not has_node(psi, H, data):
        if not charged and all(type(w) is np.ndarray for w in H):
            prepared(H)  # which checks it
        return quotient(psi.tensors, sites_for(psi, H) if charged else operator_matrices(H, psi.dtype))
    if not charged and any_traced(*data):
        return energy_of_both(*data, *H.tensors, sites=len(psi))
    node = ChargedHamiltonian(psi, H) if charged else prepared(H)
    if any(type(x) is Tensor for x in data) or any_traced(*data):
        return energy_of(*data, H=node)
    return node.swept(data, keep=False)[0]


def has_node(psi: MPS, H: MPO, data: Sequence[Array]) -> bool:
    """Whether the energy is one node: an open chain and an operator that is not recorded, of NumPy's arrays.

    Where `qad.freeze` records the operator and not the state, it records all products.
    """
    if psi.periodic or H.periodic or any(type(w) is Tensor for w in H) or (any_traced(*H) and not any_traced(*data)):
        return False
    return not any(is_foreign(stack_of(value_of(x))) for x in (*data, *H))
