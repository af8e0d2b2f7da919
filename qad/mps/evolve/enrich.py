"""What the variational principle of two sites cannot see of a Hamiltonian, and room for it in the bonds.

Let ``L_j`` be the projector on the states that the sites up to j have in a chain, ``D_j = L_(j-1) - L_j`` that on what
first leaves them at site j, and ``R_k``, ``D_k`` the same from the right.  The tangent space of neighbouring pairs holds
what leaves the chain at one site or two neighbours; of ``H psi`` it misses

    |H psi|^2 - |P2 H psi|^2 = sum over j, k >= j + 2 of |D_j D_k H psi|^2,

a sum of squares without cancellation, nothing where H has terms of neighbours only.  The cure is a chain whose bonds
hold the directions of ``H psi``, ``H^2 psi`` ... on the right of each, with no weight: the state is the same, and its
tangent space larger.  M. Yang and S. R. White, PRB 102, 094315 (2020).

What stands left of a bond is known by its products with random vectors, as many as the bond may get new directions.
N. Halko, P. G. Martinsson and J. A. Tropp, SIAM Review 53, 217 (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.gauge import carry, isometric

if TYPE_CHECKING:
    from collections.abc import Sequence

MORE = 8  # random vectors beyond the directions that are wanted
ORDER = 3  # powers of H whose directions a bond gets at the start of an evolution


def enriched(
    H: Sequence[np.ndarray], tensors: Sequence[np.ndarray], bond: int, factor: complex, cutoff: float
) -> list[np.ndarray]:
    """The same state with directions of ``H psi, ..., H^3 psi`` in its bonds, of no weight.

    Parameters
    ----------
    H : sequence of arrays (left, right, out, in)
        Of an open chain.
    tensors : sequence of arrays
        An open chain with its centre at site 0, the other tensors isometries from their left bonds; so is the result.
    bond : int
        Largest bond dimension of the result; wider bonds stay as they are.
    factor : number
        Of a step ``exp(factor * H)``: what counts is the weight that its Taylor series gives to a direction.
    cutoff : float
        The weight that each bond may lack of each term of the series.
    """
    out, ket = list(tensors), list(tensors)
    for k in range(1, ORDER + 1):
        scaled = [abs(factor) / k * H[0], *H[1:]]
        seen = sketches(scaled, ket, bond + MORE)
        out, ket, _ = extended(scaled, out, ket, seen, bond, cutoff)
    return out


def sketches(H: Sequence[np.ndarray], ket: Sequence[np.ndarray], rows: int) -> list[np.ndarray]:
    """For every bond the left part of ``H ket``, (row, operator, ket), times random vectors where it has more rows."""
    seen, rng = [np.ones((1, 1, 1))], np.random.default_rng(0)
    for w, tensor in zip(H[:-1], ket, strict=False):
        passed = through(seen[-1], w, tensor)
        seen.append(mixed(passed.reshape(-1, *passed.shape[2:]), rows, rng))
    return seen


def missed(H: Sequence[np.ndarray], tensors: Sequence[np.ndarray], rows: int, gap: int = 2) -> list[np.ndarray]:
    """`sketches` of what leaves the chain at sites `gap` or more before the one right of each bond.

    Directions without weight count as none.
    """
    rng, basis, left = np.random.default_rng(0), np.ones((1, 1)), np.ones((1, 1, 1))
    seen = fresh = [np.zeros((0, 1, 1))]  # by bond: all that has left, and at the site before
    for site, (w, tensor) in enumerate(zip(H[:-1], tensors, strict=False)):
        centre = carry(basis, tensor)
        isometry, basis = isometric(centre.reshape(-1, centre.shape[2]))
        passed = through(left, w, tensor)
        flat = passed.reshape(len(isometry), -1)
        inside = isometry.conj().T @ flat
        left = inside.reshape(-1, *passed.shape[2:])
        fresh = [*fresh, (flat - isometry @ inside).reshape(-1, *left.shape[1:])]
        far = through(np.concatenate([seen[site], fresh[site]]) if gap == 2 and site else seen[site], w, tensor)
        far = far.reshape(len(far) * far.shape[1], *left.shape[1:])
        seen = [*seen, mixed(np.concatenate([far, fresh[-1]]) if gap == 1 else far, rows, rng)]
    return seen


def through(seen: np.ndarray, w: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """A left part (row, operator, ket) past a site: (row, out, operator, ket)."""
    return np.tensordot(np.tensordot(seen, tensor, 1), w, ((1, 2), (0, 3))).transpose(0, 3, 2, 1)


def mixed(seen: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """A left part with the same Gram matrix and no more rows than columns; in the mean, if these are more than `rows`."""
    flat = seen.reshape(len(seen), seen.shape[1] * seen.shape[2])
    if len(flat) > flat.shape[1] <= rows:
        flat = np.linalg.qr(flat, mode="r")
    elif len(flat) > rows:
        flat = rng.standard_normal((rows, len(flat))) / np.sqrt(rows) @ flat
    return flat.reshape(-1, *seen.shape[1:])


def extended(
    H: Sequence[np.ndarray],
    tensors: Sequence[np.ndarray],
    ket: Sequence[np.ndarray],
    seen: Sequence[np.ndarray],
    bond: int,
    cutoff: float,
) -> tuple[list[np.ndarray], list[np.ndarray], float]:
    """The chain with directions of ``H ket`` in its bonds, ``H ket`` within them, and the norm of what they lack.

    Of the left parts `seen`, and no others; right of every site the bases of the chain are those found so far.
    """
    out, lacked = list(tensors), 0.0
    right = np.ones((1, 1, 1))  # (bra, operator, ket)
    for site in range(len(out) - 1, -1, -1):
        rows = wider(out[site], len(right))
        passed = np.tensordot(np.tensordot(ket[site], right, (2, 2)), H[site], ((1, 3), (3, 1)))
        passed = passed.transpose(2, 0, 3, 1)  # (operator, ket, out, bra)
        if site == 0:
            out[0] = rows
            return out, [passed.reshape(1, *passed.shape[2:]), *out[1:]], float(np.sqrt(lacked))
        sizes, flat = passed.shape, passed.reshape(-1, passed.shape[2] * passed.shape[3])
        known = rows.reshape(len(rows), -1)
        found = seen[site].reshape(len(seen[site]), len(flat)) @ flat
        found = found - (found @ known.conj().T) @ known
        values, vectors = np.linalg.svd(found, full_matrices=False)[1:]
        weights = np.cumsum(values[::-1] ** 2)[::-1]
        kept = min(np.count_nonzero(weights > cutoff), max(bond - len(known), 0), known.shape[1] - len(known))
        lacked += float(weights[kept]) if kept < len(weights) else 0.0
        added = vectors[:kept] - (vectors[:kept] @ known.conj().T) @ known
        added = np.linalg.qr(added.T)[0].T
        known = np.concatenate([known, added])
        out[site] = known.reshape(-1, *rows.shape[1:])
        right = (flat @ known.conj().T).reshape(*sizes[:2], -1).transpose(2, 0, 1)
    raise AssertionError


def wider(tensor: np.ndarray, bond: int) -> np.ndarray:
    """A tensor with zeros for what its right bond got."""
    return np.concatenate([tensor, np.zeros((*tensor.shape[:2], bond - tensor.shape[2]), tensor.dtype)], axis=2)
