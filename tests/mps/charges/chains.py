"""Chains that conserve charges, for tests of them."""

import numpy as np

import qad
from qad.mps import MPS

CHAINS = {
    "second neighbours": (qad.mps.j1j2(6, 1.0, 0.3), "Sz", 2),
    "ring": (qad.mps.j1j2(6, 1.0, 0.3, periodic=True), "Sz", 0),
    "spin 1": (qad.mps.blbq(4, 0.3), "parity", 1),
    "electrons": (qad.mps.hubbard(4, 1.0, 4.0), ("N", "Sz"), (3, 1)),
    "unsorted": (qad.mps.hubbard(4, 1.0, 4.0), "Sz", -1),
    "t-J": (qad.mps.tj(4, 1.0, 0.4), ("Sz", "N"), (0, 2)),
}


KINDS = ("dense", *CHAINS)


def random(name, dtype=complex, seed=1, bond=7):
    """A random state on one of the chains, or one of no symmetry, and its operator."""
    if name == "dense":
        return MPS.random(6, bond, dtype=dtype, seed=seed), CHAINS["second neighbours"][0]
    H, conserve, sector = CHAINS[name]
    return MPS.random(len(H), bond, dtype=dtype, seed=seed, conserve=conserve, sector=sector, kind=H.sites), H


def charges_of(conserved):
    """For every basis state of the whole chain its charges, an array (states, quantities)."""
    total = np.zeros((1, len(conserved.names)), int)
    for states in conserved.charges:
        total = (total[:, None] + np.array(states)[None]).reshape(-1, len(conserved.names))
    return np.where(np.array(conserved.names) == "parity", total % 2, total)


def levels(H, conserved, sector):
    """The energies of one sector, ascending, by exact diagonalisation."""
    kept = np.flatnonzero((charges_of(conserved) == np.atleast_1d(sector)).all(axis=1))
    return np.linalg.eigvalsh(H.to_dense()[np.ix_(kept, kept)])
