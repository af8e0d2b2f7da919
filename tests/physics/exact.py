"""Numbers that no code of qad's makes: dense operators by Kronecker products, their spectra, and differences.

A chain is a list of kinds of sites; a Hamiltonian is a list of terms ``(coefficient, name, site, name, site, ...)``,
which `opsum` gives to qad and `dense` turns into a sparse matrix here.  Fermions are those of Jordan and Wigner.
"""

from functools import lru_cache, reduce

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh, expm_multiply

import qad

UP = np.array([[0.0, 1.0], [0.0, 0.0]])  # raises a spin, empties a mode
SIGN, ONE = np.diag([1.0, -1.0]), np.eye(2)


def spin(size):
    """Operators of a spin, by descending Sz."""
    m = size - np.arange(round(2 * size) + 1)
    up = np.diag(np.sqrt(size * (size + 1) - m[1:] * m[:-1]), 1)
    x, y = (up + up.T) / 2, (up - up.T) / 2j
    return {"Sx": x, "Sy": y, "Sz": np.diag(m), "Sp": up, "Sm": up.T, "X": 2 * x, "Y": 2 * y, "Z": 2 * np.diag(m)}


def boson(most):
    """Operators of a bosonic mode."""
    lower = np.diag(np.sqrt(np.arange(1.0, most + 1)), 1)
    return {"B": lower, "Bdag": lower.T, "N": np.diag(np.arange(most + 1.0))}


def electron():
    """Operators of two modes on a site, the modes of spin up first; states empty, up, down, both."""
    order = [0, 2, 1, 3]
    up, down = (x[np.ix_(order, order)] for x in (np.kron(UP, ONE), np.kron(SIGN, UP)))
    n_up, n_down, flip = up.T @ up, down.T @ down, up.T @ down
    return {
        "Cup": up, "Cdagup": up.T, "Cdn": down, "Cdagdn": down.T, "Nup": n_up, "Ndn": n_down, "N": n_up + n_down,
        "NupNdn": n_up @ n_down, "Sz": (n_up - n_down) / 2, "Sp": flip, "Sm": flip.T,
        "F": np.diag([1.0, -1.0, -1.0, 1.0]),
    }  # fmt: skip


KINDS = {
    "spin-1/2": spin(0.5),
    "spin-1": spin(1.0),
    "spin-3/2": spin(1.5),
    "boson-2": boson(2),
    "boson-4": boson(4),
    "fermion": {"C": UP, "Cdag": UP.T, "N": np.diag([0.0, 1.0]), "F": SIGN},
    "electron": electron(),
}
KINDS["t-J"] = {name: matrix[:3, :3] for name, matrix in KINDS["electron"].items()}
FERMIONIC = {"C", "Cdag", "Cup", "Cdagup", "Cdn", "Cdagdn"}


def size_of(kind):
    """The number of states of a site."""
    return len(next(iter(KINDS[kind].values())))


def placed(kinds, name, site):
    """One named operator on one site of the chain, with its Jordan-Wigner string."""
    left, right = (int(np.prod([size_of(kind) for kind in part])) for part in (kinds[:site], kinds[site + 1 :]))
    string = np.ones(left)
    if name in FERMIONIC:
        string = reduce(np.kron, [KINDS[kind]["F"].diagonal() for kind in kinds[:site]], np.ones(1))
    return sp.kron(sp.kron(sp.diags(string), KINDS[kinds[site]][name]), sp.identity(right), format="csr")


def product(kinds, *factors):
    """The product of named operators on sites, ``"X", 0, "Z", 2``."""
    return multiplied(tuple(kinds), *factors)


@lru_cache(maxsize=512)
def multiplied(kinds, *factors):
    """The same; sums of terms at other couplings ask for it again."""
    pairs = zip(factors[::2], factors[1::2], strict=True)
    return reduce(lambda one, other: one @ other, [placed(kinds, name, site) for name, site in pairs])


def dense(kinds, terms):
    """The sum of terms as a sparse matrix."""
    return sum(c * product(kinds, *factors) for c, *factors in terms).tocsr()


def opsum(kinds, terms):
    """The same sum for qad; coefficients may be Tensors."""
    total = qad.mps.OpSum(len(kinds), list(kinds))
    for term in terms:
        total.add(*term)
    return total


# -- models, as terms --------------------------------------------------------------------------------------------------


def exchange(pairs, j=1.0, delta=1.0):
    """``j (Sx Sx + Sy Sy + delta Sz Sz)`` on pairs."""
    return [term for i, k in pairs for term in
            ((j * 0.5, "Sp", i, "Sm", k), (j * 0.5, "Sm", i, "Sp", k), (j * delta, "Sz", i, "Sz", k))]  # fmt: skip


def row(n, reach=1):
    """Pairs of sites at a distance, open ends."""
    return [(i, i + reach) for i in range(n - reach)]


def transverse(n, g, j=1.0):
    """The Ising chain in a transverse field."""
    return [(-j, "Z", i, "Z", k) for i, k in row(n)] + [(-g, "X", i) for i in range(n)]


def hopping(pairs, t, spins=("",)):
    """``-t (Cdag_i C_k + h.c.)`` on pairs."""
    return [(-t, "Cdag" + s, *((i, "C" + s, k) if one else (k, "C" + s, i)))
            for i, k in pairs for s in spins for one in (True, False)]  # fmt: skip


# -- what follows from a matrix ----------------------------------------------------------------------------------------


def lowest(h, k=1):
    """The lowest eigenvalues, rising, and their states as columns."""
    if h.shape[0] <= 300:
        values, vectors = np.linalg.eigh(h.toarray())
    else:
        start = np.random.default_rng(0).standard_normal(h.shape[0])
        values, vectors = eigsh(h, k=k, which="SA", v0=start, tol=1e-13)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return values[:k], vectors[:, :k]


def evolved(h, psi, time, imaginary=False):
    """``exp(-i h t) psi``, or normalised in imaginary time."""
    psi = np.asarray(psi).reshape(-1)
    if imaginary:
        psi = expm_multiply(-time * h, psi)
        return psi / np.linalg.norm(psi)
    return expm_multiply(-1j * time * h, psi.astype(complex))


def mean(op, psi):
    """``<psi| op |psi> / <psi|psi>``, its real part."""
    psi = np.asarray(psi).reshape(-1)
    return float((np.vdot(psi, op @ psi) / np.vdot(psi, psi)).real)


def thermal(h, beta, *operators):
    """``ln Z``, and thermal means."""
    values, vectors = np.linalg.eigh(h.toarray())
    weights = np.exp(-beta * (values - values[0]))
    z = weights.sum()
    means = [float(np.einsum("ik,ik,k->", vectors.conj(), op @ vectors, weights).real / z) for op in operators]
    return float(np.log(z) - beta * values[0]), *means


def schmidt(psi, left):
    """Schmidt values of a dense state cut after its first `left` axes."""
    psi = np.asarray(psi)
    return np.linalg.svd(psi.reshape(int(np.prod(psi.shape[:left])), -1), compute_uv=False)


def entropy(weights):
    """Von Neumann's entropy of probabilities, in nats."""
    weights = weights[weights > 1e-300]
    return float(-np.sum(weights * np.log(weights)))


def reduced(psi, sites):
    """The density matrix of some sites of a dense state."""
    psi = np.asarray(psi)
    rest = [i for i in range(psi.ndim) if i not in sites]
    block = psi.transpose(*sites, *rest).reshape(int(np.prod([psi.shape[i] for i in sites])), -1)
    return block @ block.conj().T


def difference(f, x, step=1e-3):
    """The derivative of a function of one number by five points, of which the error is of order step**4."""
    return (8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / (12 * step)


def basis(kinds, states):
    """The dense product state of these basis states."""
    psi = np.zeros([size_of(kind) for kind in kinds])
    psi[tuple(states)] = 1
    return psi
