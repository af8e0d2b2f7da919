"""The infinite Ising chain in a transverse field, by a uniform matrix product state and two dominant eigenvectors.

    H = -sum sz_i sz_(i+1) - g sum sx_i,    E = <l| H_two |r> / (lambda^2 <l|r>)

One tensor A (left, physical, right), repeated without end, is the state.  Its transfer operator
``X -> sum_s A_s X A_s^H`` has the dominant eigenvalue lambda and eigenvectors r and l, which hold the two half-chains;
the energy of a bond follows.  Its gradient goes through the eigenvectors implicitly (H. Xie, J.-G. Liu and L. Wang,
Phys. Rev. B 101, 245139 (2020)): linear solves, never a matrix of the transfer operator.  L-BFGS does the rest.

Run: ``python examples/mps/02_dominant_eigenvector_ising.py``; ``--short`` for one field and a small bond.
"""

import argparse

import numpy as np
from scipy import integrate, optimize

import qad

FIELDS = (0.5, 1.0, 1.5)


def bond_hamiltonian(field):
    """``-sz sz - g (sx + sx) / 2`` of one bond, with legs (out, out, in, in)."""
    sx, sz, one = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)
    h = -np.kron(sz, sz) - field / 2 * (np.kron(sx, one) + np.kron(one, sx))
    return h.reshape(2, 2, 2, 2)


def energy(state, hamiltonian):
    """Energy per site of the uniform state with tensor `state` (bond, 2, bond)."""
    a = state.transpose(1, 0, 2)
    bond = state.shape[0]
    value, right, left = qad.linalg.dominant_eig(lambda x: (a @ x @ a.conj().mT).sum(0), np.eye(bond), "both")
    pair = qad.einsum("asb,btc->astc", state, state)
    ket = qad.einsum("astc,cd,uvst->auvd", pair, right, hamiltonian)
    return (qad.einsum("ab,auvd,buvd->", left.conj(), ket, pair.conj()) / value**2).real


def mirrored(x):
    """The part of tensor `x` that looks the same from both ends: the ground state is symmetric."""
    return (x + x.transpose(2, 1, 0)) / 2


def ground_state(field, bonds, seed=0, steps=300):
    """Minimise the energy for growing bonds, each from the state before and some noise.

    Returns the energy, and that of every evaluation.
    """
    h, rng = bond_hamiltonian(field), np.random.default_rng(seed)
    state, history = np.ones((1, 2, 1)), []
    for bond in bonds:
        start = 1e-2 * rng.standard_normal((bond, 2, bond))
        start[: state.shape[0], :, : state.shape[0]] += state

        def fun(x, shape=start.shape):
            value, gradient = qad.value_and_grad(lambda x: energy(mirrored(x), h))(x.reshape(shape))
            history.append(float(value))
            return value, gradient.ravel()

        options = {"maxiter": steps, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
        found = optimize.minimize(fun, start.ravel(), jac=True, method="L-BFGS-B", options=options)
        state = mirrored(found.x.reshape(start.shape))
        state = state / np.linalg.norm(state)
    return float(found.fun), history


def exact(field):
    """``-1/pi int_0^pi sqrt(1 + g^2 - 2 g cos k) dk`` (P. Pfeuty, Ann. Phys. 57, 79 (1970))."""
    return -integrate.quad(lambda k: np.sqrt(1 + field**2 - 2 * field * np.cos(k)), 0, np.pi)[0] / np.pi


def plot(histories, path):
    """The error of the energy during the minimisations."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for field, history in histories.items():
        axis.semilogy(np.array(history) - exact(field), label=f"$g = {field}$")
    axis.set(xlabel="evaluations of energy and gradient", ylabel="energy above the exact one")
    axis.legend()
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print found and exact energies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="one field, a small bond, no plot")
    parser.add_argument("--bonds", type=int, nargs="+", default=(2, 4, 8, 16), help="growing bonds")
    parser.add_argument("--plot", default="dominant_eigenvector_ising.png", help="where the plot goes")
    options = parser.parse_args(arguments)
    fields, bonds = ((1.5,), (2, 4)) if options.short else (FIELDS, options.bonds)
    print(f"bond {bonds[-1]}\n{'g':>4} {'energy per site':>18} {'exact':>18} {'error':>9}")
    found, histories = {}, {}
    for field in fields:
        found[field], histories[field] = ground_state(field, bonds)
        print(f"{field:4} {found[field]:18.13f} {exact(field):18.13f} {found[field] - exact(field):9.1e}")
    if not options.short:
        try:
            plot(histories, options.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return found


if __name__ == "__main__":
    main()
