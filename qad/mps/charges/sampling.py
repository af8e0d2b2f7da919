"""Samples of symmetric states, drawn sector by sector.

As `qad.mps.amplitudes.amplitudes.drawn`: what was drawn so far has a charge, so that its row vector lies in one sector
of the bond; all that have the same charge go through the blocks of a site together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.symmetric.contraction import tensordot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.symmetric.tensor import SymTensor

    Groups: TypeAlias = dict[Any, tuple[np.ndarray, np.ndarray]]  # by charge: which samples, and their rows


def drawn(tensors: Sequence[SymTensor], conserved: Quantities, shots: int, rng: np.random.Generator) -> np.ndarray:
    """Samples of ``|psi|**2``, an array (shots, sites) of basis states; those of the ordinary state for this `rng`."""
    out = np.empty((shots, len(tensors)), np.int64)
    neutral = conserved.symmetry.shown(conserved.symmetry.neutral)
    groups: Groups = {neutral: (np.arange(shots), np.ones((shots, 1)))}
    for site, (tensor, right) in enumerate(zip(tensors, environments(tensors), strict=True)):
        uniform, found = rng.random(shots), {}
        for charge, (samples, rows) in groups.items():
            branches = branches_of(tensor, charge, rows, conserved.orders[site])
            chosen = choice(branches, right, uniform[samples], tensor.shape[1])
            out[samples, site] = chosen
            for state, (after, branch) in branches.items():
                here = chosen == state
                if here.any():
                    found.setdefault(after, []).append((samples[here], branch[here]))
        groups = {charge: gathered(parts) for charge, parts in found.items()}
    return out


def environments(tensors: Sequence[SymTensor]) -> list[dict[Any, np.ndarray] | None]:
    """For every site the matrices (bra, ket) of what stands right of it, by charge; None behind the last one."""
    environment, found = None, [None]
    for tensor in reversed(tensors):
        half = tensor if environment is None else tensordot(tensor, environment, ([2], [1]))
        environment = tensordot(tensor.conj(), half, ([1, 2], [1, 2]))
        size = environment.norm()
        if not 0 < size < np.inf:
            raise ArgumentError("the state is zero or not finite: there is nothing to draw from")
        environment = environment * (1 / size)
        found.append({charge: block for (charge, _), block in environment.blocks().items()})
    return found[-2::-1]


def branches_of(
    tensor: SymTensor, charge: Any, rows: np.ndarray, order: np.ndarray
) -> dict[int, tuple[Any, np.ndarray]]:
    """For every basis state that may follow on a site: the charge of the bond behind it, and the rows there."""
    leg, found = tensor.legs[1], {}
    starts = dict(zip(leg.sectors, leg.starts, strict=True))
    for (before, own, after), block in tensor.blocks().items():
        if before == charge:
            for k in range(block.shape[1]):
                found[int(order[starts[own] + k])] = after, rows @ block[:, k]
    return found


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
