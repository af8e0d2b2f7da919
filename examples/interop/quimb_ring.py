"""quimb's optimiser on qad's derivatives: the energy of a Heisenberg ring, beside its exact diagonalisation."""

import numpy as np
import quimb as qu
import quimb.tensor as qtn

import qad.interop.quimb  # noqa: F401  registers the backend

n, bond = 8, 8
psi = qtn.MPS_rand_state(n, bond, cyclic=True, seed=0)
hamiltonian = qtn.MPO_ham_heis(n, cyclic=True)


def normalized(psi):
    return psi.multiply(((psi.H & psi) ^ all) ** -0.5, spread_over="all")


def energy(psi, hamiltonian):
    bra, h, ket = qtn.tensor_network_align(psi.H, hamiltonian, psi)
    return (bra & h & ket) ^ all


optimizer = qtn.TNOptimizer(
    psi, energy, normalized, loss_constants={"hamiltonian": hamiltonian}, autodiff_backend="qad", progbar=False,
    hermitian=True,
)  # fmt: skip
optimizer.optimize(150)
exact = np.linalg.eigvalsh(qu.ham_heis(n, cyclic=True).real)[0]
print(f"energy {optimizer.loss:.8f}   exact {exact:.8f}")
