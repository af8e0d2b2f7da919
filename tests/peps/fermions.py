"""A reference for fermions on lattices: matrices of Jordan and Wigner on all sites in a row."""

from functools import reduce
from itertools import combinations

import numpy as np

from qad.mps import site


def matrix_of(operator, sites, kinds):
    """The matrix on all sites of an operator of legs ``(out, ..., in, ...)`` on some of them, in their order.

    It is a sum of products of elementary operators of a site, each as often odd as it changes the parity.
    """
    k = len(sites)
    total = 0.0
    for place in np.argwhere(np.abs(operator) > 0):
        factors = [elementary(site, x, a, kinds) for site, x, a in zip(sites, place[:k], place[k:], strict=True)]
        # |x y ...><a b ...| = sign |x><a| |y><b| ...: every bra passes the matrix elements that come after it
        odd = [(odd_of(kinds[s])[x], odd_of(kinds[s])[a]) for s, x, a in zip(sites, place[:k], place[k:], strict=True)]
        passed = sum(odd[i][1] * (odd[j][0] + odd[j][1]) for i in range(k) for j in range(i + 1, k))
        total = total + operator[tuple(place)] * (-1) ** passed * reduce(np.matmul, factors)
    size = int(np.prod([site(kind).phys for kind in kinds]))
    return total + np.zeros((size, size))


def elementary(place, x, a, kinds):
    """``|x><a|`` of a site on all of them: with the parity of all sites before it where it is odd."""
    d = site(kinds[place]).phys
    own = np.outer(np.eye(d)[x], np.eye(d)[a])
    odd = (odd_of(kinds[place])[x] + odd_of(kinds[place])[a]) % 2
    parts = [site(kind).operators["F"] if odd else site(kind).operators["Id"] for kind in kinds[:place]]
    return reduce(np.kron, [*parts, own, *[site(kind).operators["Id"] for kind in kinds[place + 1 :]]])


def odd_of(kind):
    """1 for odd basis states."""
    own = site(kind).operators
    return (own["F"].diagonal() < 0).astype(int) if "F" in own else np.zeros(site(kind).phys, int)


def signed(psi, conserved, kind):
    """The amplitudes of a graded tensor in the basis of the matrices: without its odd references."""
    dense = psi.to_dense()
    for axis, order in enumerate(conserved.orders):
        dense = np.take(dense, np.argsort(order), axis)
    place, odd = conserved.names.index("fermions"), odd_of(kind)
    for j, charges in enumerate(conserved.charges):
        if (charges[0][place] - odd[0]) % 2:
            for i in range(j):
                dense = dense * ((1 - 2 * odd).reshape(-1, *[1] * (dense.ndim - 1 - i)))
    return dense.reshape(-1)


def lowering(name, kinds):
    """The matrix of an operator of a site on all of them, for each site: with strings where it is fermionic."""
    found = []
    for place, kind in enumerate(kinds):
        own = site(kind)
        before = "F" if name in own.fermionic else "Id"
        parts = (
            [own.operators[before]] * place + [own.operators[name]] + [own.operators["Id"]] * (len(kinds) - place - 1)
        )
        found.append(reduce(np.kron, parts))
    return found


def dense(model, shape, cylinder=False):
    """The matrix of a model on a lattice, its sites row by row; the rows of a cylinder are rings."""
    rows, columns = shape
    kinds, total = [model.kind] * (rows * columns), 0.0
    for t in model.terms:
        for r in range(rows):
            for c in range(columns):
                places = [(r + i, (c + j) % columns if cylinder else c + j) for i, j in t.sites]
                if all(0 <= i < rows and 0 <= j < columns for i, j in places):
                    total = total + matrix_of(t.operator, [i * columns + j for i, j in places], kinds)
    return total


def lowest_of_hubbard(rows, columns, numbers, u):
    """The lowest energy of electrons on an open lattice with t = 1, so many of each spin, which hop by themselves."""
    sites = [(r, c) for r in range(rows) for c in range(columns)]
    bonds = [(i, j) for i, (r, c) in enumerate(sites) for j, x in enumerate(sites) if x in ((r, c + 1), (r + 1, c))]
    (up, at_up), (down, at_down) = (hopping_of(bonds + [(j, i) for i, j in bonds], len(sites), n) for n in numbers)
    both = u * np.diag((at_up @ at_down.T).reshape(-1))
    return np.linalg.eigvalsh(np.kron(up, np.eye(len(down))) + np.kron(np.eye(len(up)), down) + both)[0]


def hopping_of(bonds, n, number):
    """The matrix of ``-sum c_i^+ c_j`` between sets of filled sites, and which sites they fill."""
    words = list(combinations(range(n), number))
    matrix = np.zeros((len(words),) * 2)
    for column, word in enumerate(words):
        for i, j in bonds:
            if j in word and i not in word:
                rest = [x for x in word if x != j]
                sign = (-1) ** (word.index(j) + sum(x < i for x in rest))
                matrix[words.index(tuple(sorted([*rest, i]))), column] -= sign
    return matrix, np.array([[float(x in word) for x in range(n)] for word in words])
