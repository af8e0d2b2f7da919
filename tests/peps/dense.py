"""Energies of dense states, for tests of finite lattices."""

from types import SimpleNamespace

import numpy as np

S = [np.array([[0, 1], [1, 0]]) / 2, np.array([[0, -1j], [1j, 0]]) / 2, np.diag([0.5, -0.5])]
BOND = sum(np.kron(s, s) for s in S).real
J1J2 = SimpleNamespace(
    terms=[
        SimpleNamespace(operator=BOND.reshape(2, 2, 2, 2), sites=((0, 0), (0, 1))),
        SimpleNamespace(operator=BOND.reshape(2, 2, 2, 2), sites=((0, 0), (1, 0))),
        SimpleNamespace(operator=0.4 * BOND.reshape(2, 2, 2, 2), sites=((0, 0), (1, 1))),
        SimpleNamespace(operator=0.4 * BOND.reshape(2, 2, 2, 2), sites=((0, 1), (1, 0))),
    ]
)


def bonds_of(model, rows, columns, cylinder=False):
    """The terms of a model, written out."""
    return [
        (term.operator, [(r + i, (c + j) % columns) for i, j in term.sites])
        for term in model.terms
        for r in range(rows - max(i for i, _ in term.sites))
        for c in range(columns - (0 if cylinder else max(j for _, j in term.sites)))
    ]


def spin_terms(rows, columns, cylinder, dtype):
    """Fields, bonds without symmetry along rows, columns and both diagonals, a seam where there is one."""
    rng, terms = np.random.default_rng(0), []

    def hermitian(n):
        x = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if dtype is complex else 0)
        return x + x.conj().T

    for r in range(rows):
        for c in range(columns):
            terms.append((hermitian(2), [(r, c)]))
            beside = [(c + 1) % columns] if c < columns - 1 or cylinder else []
            terms += [(hermitian(4), [(r, c), (r, d)]) for d in beside]
            if r < rows - 1:
                terms.append((hermitian(4), [(r + 1, c), (r, c)]))
                terms += [(hermitian(4), pair) for d in beside for pair in ([(r, c), (r + 1, d)], [(r + 1, c), (r, d)])]
    return terms


def dense_energy(psi, terms, columns):
    """``<psi|H|psi> / <psi|psi>`` of amplitudes with a leg per site, row by row."""
    total = 0.0
    for operator, sites in terms:
        k = len(sites)
        axes = [r * columns + c for r, c in sites]
        acted = np.tensordot(operator.reshape((2,) * (2 * k)), psi, (list(range(k, 2 * k)), axes))
        total = total + np.sum(psi.conj() * np.moveaxis(acted, list(range(k)), axes)).real
    return total / np.sum(psi.conj() * psi).real
