"""Amplitudes of configurations of a symmetric state, from products of blocks, and samples of states of either kind.

The beginning of a configuration has a charge, so that its row vector lies in one sector of a bond.  Products are made
once for each distinct beginning; all of one charge that go on by the same basis state are one product of matrices.
What is drawn goes site by site in the same way: all that have the same charge pass a site together.  Arrays know one
charge, ``()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.extend import like, unrecorded
from qad.mps.chain.densities import rights_of
from qad.symmetric.generic import numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.typing import Array

    # which beginnings, or samples, their rows, and logarithms of what was divided out
    Group: TypeAlias = tuple[np.ndarray, Array, Array]


def scaled_amplitudes(
    tensors: Sequence[Any], conserved: Quantities | None, configurations: np.ndarray
) -> tuple[Array, Array]:
    """Amplitudes divided by ``exp(logs)``, and the constant logs; zeros outside of the sector."""
    words, back = np.unique(configurations, axis=0, return_inverse=True)
    fresh = np.argmax(np.diff(words, axis=0, prepend=-1) != 0, axis=1)  # where each word leaves the one before it
    neutral, unit = start_of(conserved), like(numbers(tensors[0]))
    dtype = np.result_type(*[t.dtype for t in tensors])
    groups: dict[Any, Group] = {
        neutral: (np.zeros(1, int), unit.ones((1, 1), dtype), unit.zeros(1, dtype.type(0).real.dtype))
    }
    before = np.zeros(1, int)
    for site, tensor in enumerate(tensors):
        begins = np.flatnonzero(fresh <= site)
        parents = np.searchsorted(before, begins, side="right") - 1
        found = continued(groups, tensor, order_of(conserved, site), parents, words[begins, site])
        groups = {charge: gathered(parts) for charge, parts in found.items()}
        before = begins
    place = np.full(len(words), -1)
    values, logs = unit.zeros(0, dtype), unit.zeros(0, dtype.type(0).real.dtype)
    for reached, rows, own in groups.values():  # of the total charge, or none
        place[reached], values, logs = np.arange(len(reached)), rows[:, 0], own
    nothing = unit.zeros(1, dtype)
    chosen = place[back.reshape(-1)] % (len(values) + 1)
    return np.concatenate([values, nothing])[chosen], np.concatenate([logs, nothing.real])[chosen]


def start_of(conserved: Quantities | None) -> Any:
    """The charge of no sites."""
    return () if conserved is None else conserved.symmetry.shown(conserved.symmetry.neutral)


def order_of(conserved: Quantities | None, site: int) -> np.ndarray | None:
    """Which basis state of a site each entry of its leg is; None where that is its own number."""
    return None if conserved is None else conserved.orders[site]


def continued(
    groups: dict[Any, Group], tensor: SymTensor, order: np.ndarray, parents: np.ndarray, letters: np.ndarray
) -> dict[Any, list[Group]]:
    """The beginnings that are longer by a site, by their charge; those that no block continues are left out."""
    matrices, found = matrices_of(tensor, order), {}
    for charge, (members, rows, logs) in groups.items():
        for letter, after, matrix in matrices.get(charge, ()):
            chosen = np.flatnonzero((letters == letter) & np.isin(parents, members))
            if len(chosen):
                row = np.searchsorted(members, parents[chosen])
                found.setdefault(after, []).append((chosen, rows[row] @ matrix, logs[row]))
    return found


def matrices_of(tensor: Any, order: np.ndarray | None) -> dict[Any, list[tuple[int, Any, Array]]]:
    """By the charge of the bond on the left: basis states that may follow, the charge on the right, and the matrix."""
    if type(tensor) is not SymTensor:
        return {(): [(state, (), tensor[:, state]) for state in range(tensor.shape[1])]}
    found: dict[Any, list[tuple[int, Any, Array]]] = {}
    starts = dict(zip(tensor.legs[1].sectors, tensor.legs[1].starts, strict=True))
    for (before, own, after), block in tensor.blocks().items():
        states = order[starts[own] : starts[own] + block.shape[1]].tolist()
        found.setdefault(before, []).extend([(state, after, block[:, k]) for k, state in enumerate(states)])
    return found


def gathered(parts: list[Group]) -> Group:
    """The beginnings of one charge in ascending order, their rows of size 1."""
    members = np.concatenate([part[0] for part in parts])
    order = np.argsort(members)
    rows, logs = (np.concatenate([part[i] for part in parts])[order] for i in (1, 2))
    sizes = np.abs(unrecorded(rows)).max(axis=1)
    sizes = np.where(sizes > 0, sizes, np.ones_like(sizes))
    return members[order], rows / sizes[:, None], logs + np.log(sizes)


# -- samples -----------------------------------------------------------------------------------------------------------


def drawn(tensors: Sequence[Any], conserved: Quantities | None, shots: int, rng: np.random.Generator) -> np.ndarray:
    """Samples of an open chain's ``|psi|**2``, exactly and independently: an array (shots, sites) of basis states.

    ``O(shots n phys bond**2)``.  A. J. Ferris and G. Vidal, Phys. Rev. B 85, 165146 (2012).
    """
    out = np.empty((shots, len(tensors)), np.int64)
    groups: dict[Any, Group] = {start_of(conserved): (np.arange(shots), np.ones((shots, 1)), np.zeros(shots))}
    for site, (tensor, right) in enumerate(zip(tensors, rights_of(tensors)[1][1:], strict=True)):
        uniform, found, ahead = rng.random(shots), {}, by_charge(right)
        matrices = matrices_of(tensor, order_of(conserved, site))
        for charge, (samples, rows, logs) in groups.items():
            branches = {state: (after, rows @ matrix) for state, after, matrix in matrices[charge]}
            chosen = choice(branches, ahead, uniform[samples], tensor.shape[1])
            out[samples, site] = chosen
            for state, (after, branch) in branches.items():
                here = chosen == state
                if here.any():
                    found.setdefault(after, []).append((samples[here], branch[here], logs[here]))
        groups = {charge: gathered(parts) for charge, parts in found.items()}
    return out


def by_charge(environment: Any) -> dict[Any, np.ndarray]:
    """The matrices (bra, ket) of what stands right of a bond."""
    if type(environment) is not SymTensor:
        return {(): environment}
    return {charge: block for (charge, _), block in environment.blocks().items()}


def choice(
    branches: dict[int, tuple[Any, np.ndarray]], right: dict[Any, np.ndarray], uniform: np.ndarray, states: int
) -> np.ndarray:
    """A basis state for each sample, by its probability."""
    weights = np.zeros((len(uniform), states))
    for state, (after, branch) in branches.items():
        weights[:, state] = (branch @ right[after].T * branch.conj()).sum(axis=1).real.clip(0)
    ladder = weights.cumsum(axis=1)
    return (uniform[:, None] * ladder[:, -1:] >= ladder).sum(axis=1).clip(max=max(branches))
