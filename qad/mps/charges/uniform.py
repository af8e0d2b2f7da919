"""Charges of infinite chains: of a cell, and of domains side by side.

A cell of charge q adds q to the bond on its right.  The charges of its last site are counted less q here, which changes
no operator, for these only know differences; so the bonds on both sides of a cell carry the same charges, and a state
of any filling repeats.

The energy per site as a function of the charge per site is convex, for domains cost nothing per site.  Where it is a
straight line between two charges, as below a ferromagnet's highest spin, a symmetric state of finite bond can only come
near it.  Products of basis states bound the line from above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ArgumentError
from qad.mps.charges.quantities import MODULO_TWO, Quantities, filled
from qad.mps.operators.uniform_mpo import UniformMPO

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Charge


@lru_cache(maxsize=256)
def counted_from_mean(conserved: Quantities, sector: Charge) -> Quantities:
    """The quantities of a cell, the charges of its last site counted less the `sector`."""
    minus = conserved.symmetry.minus
    last = tuple(minus(charge, sector) for charge in conserved.charges[-1])
    return Quantities(conserved.names, (*conserved.charges[:-1], last))


def random_word(conserved: Quantities, sector: Charge, rng: np.random.Generator) -> list[int]:
    """Basis states of sites, of a cell for one, whose charges add up to the sector, all such words equally likely.

    Raises
    ------
    ArgumentError
        If there are none.
    """
    group = conserved.symmetry
    counts = filled(conserved.charges[::-1], sector, group.minus)[::-1]
    if group.neutral not in counts[0]:
        raise ArgumentError(
            f"no state of {len(conserved.charges)} sites has {', '.join(conserved.names)} = {group.shown(sector)}: "
            "give another charge of all of them as sector=, or to an infinite chain a larger cell="
        )
    word, carried = [], group.neutral
    for charges, ahead in zip(conserved.charges, counts[1:], strict=True):
        after = [group.plus(carried, charge) for charge in charges]
        weights = np.array([ahead.get(charge, 0) for charge in after], float)
        word.append(int(rng.choice(len(after), p=weights / weights.sum())))
        carried = after[word[-1]]
    return word


# -- domains -----------------------------------------------------------------------------------------------------------


MOST = 4096  # products of a cell that are looked at


def domains(H: UniformMPO, conserved: Quantities, total: Charge) -> tuple[float, str]:
    """The least energy per site of domains of repeated basis states whose mean charge is that of the cell.

    Parameters
    ----------
    H : UniformMPO
        Of a cell that `conserved` describes.
    conserved : Quantities
    total : tuple of int
        Charge of a cell.  A parity does not bind: a wall makes up for it.

    Returns
    -------
    energy : float
        Infinite where cells have more basis states than are looked at.
    words : str
        The basis states of the domains' cells.
    """
    if np.prod([float(d) for d in H.phys]) > MOST:
        return np.inf, ""
    energies, charges, words = products(H, conserved)
    binding = [i for i, name in enumerate(conserved.names) if name not in MODULO_TWO]
    rows = np.vstack([charges.T[binding], np.ones(len(charges))])
    found = scipy.optimize.linprog(energies, A_eq=rows, b_eq=[*(total[i] for i in binding), 1.0])
    if found.status != 0:
        return np.inf, ""
    shown = ["|" + " ".join(map(str, words[i])) + ">" for i in np.flatnonzero(found.x > 1e-9)]
    return float(found.fun), " and ".join(shown)


def products(H: UniformMPO, conserved: Quantities) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all basis states of a cell that repeat: their energies per site, charges (word, quantity), and words."""
    rows = H.bonds[0]
    passed, charges, words = np.eye(rows)[None], np.zeros((1, len(conserved.names)), int), np.zeros((1, 0), int)
    for w, carried in zip(H, conserved.charges, strict=True):
        states = np.arange(w.shape[2])
        diagonal = w[:, :, states, states].real.transpose(2, 0, 1)
        passed = (passed[:, None] @ diagonal).reshape(-1, rows, w.shape[1])
        charges = (charges[:, None] + np.array(carried)).reshape(-1, charges.shape[1])
        words = np.array([[*word, s] for word in words for s in states])
    begun, ended, between = passed[:, :1, 1:-1], passed[:, 1:-1, -1:], np.eye(rows - 2) - passed[:, 1:-1, 1:-1]
    across = begun @ np.linalg.solve(between, ended) if rows > 2 else 0.0  # terms that leave the cell
    return (passed[:, :1, -1:] + across).reshape(-1) / len(H), charges, words
