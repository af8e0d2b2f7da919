"""Sums of products of operators, as chains of small bonds.

The bonds of ``sum_j A_j B_j`` hold what its right parts are seen to span through random tensors: of a matrix M = L R^T
across a bond, the range of L is that of ``M G`` for random G, which take no more than A_j and B_j bond by bond, so that
the product is never written out.  From the left, the site tensors are isometries onto these ranges; at the end they are
cut by their Schmidt values.  Where a bond comes out full, there were too few random vectors, and there are more.

N. Halko, P. G. Martinsson and J. A. Tropp, SIAM Review 53, 217 (2011); H. Al Daas et al., SIAM J. Sci. Comput. 45, A74
(2023), of chains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.evolve.tebd import Truncation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Chain: TypeAlias = Sequence[np.ndarray]  # of an operator: legs (left, out, in, right)
    Pairs: TypeAlias = Sequence[tuple[Chain, Chain]]

MORE = 8  # random vectors beyond the directions that a bond keeps
SPARE = 1.25  # random vectors for a full bond, over its size
GROWTH = 1.5  # by how much bonds are thought to grow at first


def summed(pairs: Pairs, bond: int, cutoff: float) -> tuple[list[np.ndarray], float, float]:
    """``sum_j A_j B_j`` of norm 1, the logarithm of its norm, and the weight that cuts discarded.

    Parameters
    ----------
    pairs : sequence of pairs of chains
        Open operators, their sites as legs (left, out, in, right).
    bond, cutoff
        As of `qad.mps.evolve.tebd.Truncation`.

    Returns
    -------
    tensors : list of arrays
        Isometries from their left bonds, but for the first.
    log_norm, discarded : float
    """
    bonds = inner_bonds(pairs)
    limits = np.maximum(largest_bonds(pairs, bond), bonds[-1, -1])
    sizes = np.minimum(limits, (GROWTH * bonds.max(axis=(0, 1))).astype(int) + MORE)
    rng = np.random.default_rng(0)
    while True:
        tensors, log_norm = projected(pairs, random_chain(pairs, sizes, rng))
        truncation = Truncation(bond, cutoff)
        shortened(tensors, truncation)
        scarce = np.array([len(t) for t in tensors[1:]]) + MORE > sizes
        if not (scarce & (sizes < limits)).any():
            return tensors, log_norm, truncation.discarded
        sizes = np.where(scarce, np.minimum(2 * sizes, limits), sizes)


def inner_bonds(pairs: Pairs) -> np.ndarray:
    """The dimensions of the inner bonds of all factors: (pair, factor, bond)."""
    return np.array([[[len(t) for t in chain[1:]] for chain in pair] for pair in pairs]).reshape(len(pairs), 2, -1)


def largest_bonds(pairs: Pairs, bond: int) -> np.ndarray:
    """How many directions every inner bond may need."""
    legs = np.array([a.shape[1] * b.shape[2] for a, b in zip(*pairs[0], strict=True)], float)
    left, right = np.cumprod(legs)[:-1], np.cumprod(legs[::-1])[-2::-1]
    most = np.minimum(np.minimum(left, right), inner_bonds(pairs).astype(float).prod(axis=1).sum(axis=0))
    return np.minimum(most, SPARE * bond + MORE).astype(int)


def random_chain(pairs: Pairs, sizes: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Gaussian tensors with bonds of these sizes, of the dtype of the sum."""
    bonds, dtype = [1, *sizes.tolist(), 1], np.result_type(*(t for pair in pairs for chain in pair for t in chain))
    legs = [(a.shape[1], b.shape[2]) for a, b in zip(*pairs[0], strict=True)]
    return [rng.standard_normal((bonds[k], *leg, bonds[k + 1])).astype(dtype) for k, leg in enumerate(legs)]


def projected(pairs: Pairs, guess: Chain) -> tuple[list[np.ndarray], float]:
    """The sum in the ranges that its products with a guess have, of norm 1, and the logarithm of its norm.

    The tensors, legs (left, out in, right), are isometries from their right bonds, but for the last.
    """
    rights, lefts, log_norm, found = rights_of(pairs, guess), [np.ones((1, 1, 1))] * len(pairs), 0.0, []
    for site, right in enumerate(rights):
        parts = [past_left(left, a[site], b[site]) for left, (a, b) in zip(lefts, pairs, strict=True)]
        rows, out, in_, *_ = parts[0].shape
        flat = [part.reshape(rows * out * in_, -1) for part in parts]
        matrix = sum(part @ env.reshape(len(env), -1).T for part, env in zip(flat, right, strict=True))
        if site == len(rights) - 1:
            size = float(np.linalg.norm(matrix))
            found.append((matrix / (size or 1.0)).reshape(rows, out * in_, 1))
            return found, log_norm + float(np.log(size)) if size else -np.inf
        q = np.linalg.qr(matrix)[0]
        found.append(q.reshape(rows, out * in_, -1))
        lefts = [(q.conj().T @ part).reshape(-1, *full.shape[3:]) for part, full in zip(flat, parts, strict=True)]
        size = max(map(np.linalg.norm, lefts)) or 1.0
        lefts, log_norm = [left / size for left in lefts], log_norm + float(np.log(size))
    raise AssertionError


def rights_of(pairs: Pairs, guess: Chain) -> list[list[np.ndarray]]:
    """What a guess makes of the factors right of every site, but for one number: for each pair (guess, A, B)."""
    found = [[np.ones((1, 1, 1))] * len(pairs)]
    for site in reversed(range(1, len(guess))):
        envs = [past_right(env, a[site], b[site], guess[site]) for env, (a, b) in zip(found[-1], pairs, strict=True)]
        size = max(map(np.linalg.norm, envs)) or 1.0
        found.append([env / size for env in envs])
    return found[::-1]


def past_left(env: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A left environment (row, A, B) past a site of both: (row, out, in, A, B)."""
    if len(b) > len(a):  # the larger one first takes fewer products
        return past_left(env.swapaxes(1, 2), b.swapaxes(1, 2), a.swapaxes(1, 2)).transpose(0, 2, 1, 4, 3)
    rows, one, two = env.shape
    (_, out, middle, next_one), (_, _, in_, next_two) = a.shape, b.shape
    half = env.swapaxes(1, 2).reshape(rows * two, one) @ a.swapaxes(1, 2).reshape(one, -1)
    full = b.transpose(2, 3, 0, 1).reshape(in_ * next_two, -1) @ half.reshape(rows, two * middle, -1)
    return full.reshape(rows, in_, next_two, out, next_one).transpose(0, 3, 1, 4, 2)


def past_right(env: np.ndarray, a: np.ndarray, b: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """A right environment (guess, A, B) past a site of all three."""
    if len(a) > len(b):
        turned = (t.swapaxes(1, 2) for t in (env, b, a, guess))
        return past_right(*turned).swapaxes(1, 2)
    rows, next_one, next_two = env.shape
    (one, out, middle, _), (two, _, in_, _) = a.shape, b.shape
    half = env.reshape(-1, next_two) @ b.transpose(3, 1, 0, 2).reshape(next_two, -1)
    full = a.swapaxes(2, 3).reshape(one * out, -1) @ half.reshape(rows, next_one * middle, -1)
    full = full.reshape(rows, one, out, two, in_).transpose(2, 4, 0, 1, 3).reshape(-1, one * two)
    return (guess.reshape(len(guess), -1) @ full).reshape(len(guess), one, two)


def shortened(tensors: list[np.ndarray], truncation: Truncation) -> None:
    """Cut a chain with its centre at the end in place; the centre goes to the first site."""
    for site in reversed(range(1, len(tensors))):
        pair = tensors[site].reshape(len(tensors[site]), 1, *tensors[site].shape[1:])
        carried, tensors[site] = truncation.split(pair, to_right=False)
        tensors[site - 1] = np.tensordot(tensors[site - 1], carried[:, 0], 1)
