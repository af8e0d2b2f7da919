"""Samples of states of either kind, site by site.

What was drawn so far has a charge, so that its row vector lies in one sector of a bond; all that have the same charge
go through the matrices of a site together.  Arrays know one charge, ``()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.amplitudes.sectors import matrices_of
from qad.mps.chain.densities import passed_right
from qad.symmetric.generic import join, norm
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities

    Groups: TypeAlias = dict[Any, tuple[np.ndarray, np.ndarray]]  # by charge: which samples, and their rows


def drawn(tensors: Sequence[Any], conserved: Quantities | None, shots: int, rng: np.random.Generator) -> np.ndarray:
    """Samples of an open chain's ``|psi|**2``, exactly and independently: an array (shots, sites) of basis states.

    ``O(shots n phys bond**2)``.  A. J. Ferris and G. Vidal, Phys. Rev. B 85, 165146 (2012).
    """
    out = np.empty((shots, len(tensors)), np.int64)
    neutral = () if conserved is None else conserved.symmetry.shown(conserved.symmetry.neutral)
    groups: Groups = {neutral: (np.arange(shots), np.ones((shots, 1)))}
    for site, (tensor, right) in enumerate(zip(tensors, environments(tensors), strict=True)):
        uniform, found = rng.random(shots), {}
        matrices = matrices_of(tensor, None if conserved is None else conserved.orders[site])
        for charge, (samples, rows) in groups.items():
            branches = {state: (after, rows @ matrix) for state, after, matrix in matrices[charge]}
            chosen = choice(branches, right, uniform[samples], tensor.shape[1])
            out[samples, site] = chosen
            for state, (after, branch) in branches.items():
                here = chosen == state
                if here.any():
                    found.setdefault(after, []).append((samples[here], branch[here]))
        groups = {charge: gathered(parts) for charge, parts in found.items()}
    return out


def environments(tensors: Sequence[Any]) -> list[dict[Any, np.ndarray] | None]:
    """For every site the matrices (bra, ket) of what stands right of it, by charge; None behind the last one."""
    environment, found = None, [None]
    for tensor in reversed(tensors):
        if environment is None:
            environment = join(tensor.conj(), tensor, ((1, 2), (1, 2)))
        else:
            environment = passed_right(environment, tensor, tensor)
        size = norm(environment)
        if not 0 < size < np.inf:
            raise ArgumentError("the state is zero or not finite: there is nothing to draw from")
        environment = environment * (1 / size)
        if type(environment) is SymTensor:
            found.append({charge: block for (charge, _), block in environment.blocks().items()})
        else:
            found.append({(): environment})
    return found[-2::-1]


def choice(
    branches: dict[int, tuple[Any, np.ndarray]], right: dict[Any, np.ndarray] | None, uniform: np.ndarray, states: int
) -> np.ndarray:
    """A basis state for each sample, by its probability."""
    weights = np.zeros((len(uniform), states))
    for state, (after, branch) in branches.items():
        passed = branch if right is None else branch @ right[after].T
        weights[:, state] = (passed * branch.conj()).sum(axis=1).real.clip(0)
    ladder = weights.cumsum(axis=1)
    return (uniform[:, None] * ladder[:, -1:] >= ladder).sum(axis=1).clip(max=max(branches))


def gathered(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The samples that came to one charge, and their rows, of norm 1."""
    rows = np.concatenate([rows for _, rows in parts])
    return np.concatenate([samples for samples, _ in parts]), rows / np.linalg.norm(rows, axis=1, keepdims=True)
