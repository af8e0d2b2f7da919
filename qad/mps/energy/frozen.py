"""Energies of chains in programs of `qad.freeze`: a step for the value, and a step for all slopes.

The operator may be an argument of the frozen function, so its tensors are operands like those of the state, and
what `qad.mps.energy` remembers of an operator is found by what the tensors hold.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import defvjp, primitive
from qad.mps.chain.sandwich import operator_matrices, quotient
from qad.mps.energy.hamiltonian import Hamiltonian
from qad.mps.energy.node import curvature, real_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import RealNumber

__all__ = ["energy_of_both"]


@primitive
def energy_of_both(*tensors: np.ndarray, sites: int) -> float:
    """The energy of a chain of so many tensors, and of an operator of the tensors that follow."""
    return hamiltonian_of(tensors[sites:]).swept(tensors[:sites], keep=False)[0]


@primitive
def slopes_of_both(g: RealNumber, energy: float, *tensors: np.ndarray, sites: int) -> tuple[np.ndarray, ...]:
    """`g` times the derivative of the energy by every tensor of the chain, unconjugated."""
    psi, H = tensors[:sites], hamiltonian_of(tensors[sites:])
    return real_of(H.slopes(g, energy, H.swept(psi)[1]), psi)


def _energy_vjp(needed, g, ans, *tensors, sites):
    slopes = slopes_of_both(g, ans, *tensors, sites=sites)
    return tuple(slopes[i] for i in needed)


def _slopes_vjp(needed, cotangents, ans, g, energy, *tensors, sites):
    psi, operator = (
        tensors[:sites],
        operator_matrices(tensors[sites:], np.result_type(*{t.dtype for t in tensors[:sites]})),
    )
    return curvature(needed, cotangents, g, energy, psi, lambda chain: quotient(chain, operator))


defvjp(energy_of_both, shared=_energy_vjp)
defvjp(slopes_of_both, shared=_slopes_vjp)


def hamiltonian_of(tensors: Sequence[np.ndarray]) -> Hamiltonian:
    """The operator of these tensors, prepared once for all that hold the same numbers."""
    return _prepared(tuple([(t.shape, t.dtype, t.tobytes()) for t in tensors]))


@lru_cache(maxsize=16)
def _prepared(held):
    made = {each: np.frombuffer(each[2], each[1]).reshape(each[0]) for each in set(held)}
    return Hamiltonian([made[each] for each in held])
