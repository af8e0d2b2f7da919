"""The functions that examples and benchmarks are about, in small: what is frozen in `test_losses.py`.

``EXAMPLES`` and ``BENCHMARKS`` have an entry for every file: named pairs of a function, transforms included, and the
point at which it is called.  ``example()`` runs the example and has its names.  Where a file iterates to convergence,
what it iterates is here, and `INNER` says why.
"""

from functools import partial

import numpy as np

import qad
from benchmarks import (
    amplitudes,
    bridges,
    circuits,
    contraction,
    freeze,
    linalg,
    linalg_rows,
    mps_energy,
    overhead,
    symmetric,
    trace_product,
    transforms,
)
from benchmarks.linalg_table import library_of_qad
from tests.cases import normal

INNER = {
    "circuits/05_natural_gradient.py": "descent along a metric that is made of plain arrays; the energy",
    "mps/02_dominant_eigenvector_ising.py": "two dominant eigenvectors; the map that has them, the energy for these",
    "mps/03_heisenberg_hundred_sites.py": "searches; the energy that they lower",
    "mps/05_ising_transition.py": "sweeps; the energy that they lower, by the state and by the field",
    "mps/06_infinite_heisenberg.py": "dominant eigenvectors; the energy of a bond between given surroundings",
    "mps/07_quench.py": "evolution truncates to what values say; what is measured, and the product of two gates",
    "mps/08_hellmann_feynman.py": "searches; the slope by the operator's parameter",
    "mps/09_quantum_control.py": "evolution truncates to what values say; the energy of the end, and the fermions",
    "peps/01_heisenberg_square.py": "a fixed point; the energies of the model's terms in a given density matrix",
    "peps/02_classical_ising.py": "fixed points; the partition function of one site",
    "peps/03_transverse_ising.py": "fixed points; the energies of the model's terms in a given density matrix",
    "peps/04_j1j2.py": "fixed points; the energies of the model's terms in a given density matrix",
    "peps/05_paired_fermions.py": "fixed points; the energies of the model's terms in a given density matrix",
    "time_to_energy": "searches; the energy that they lower",
}


def both(f, argnums=0):
    """Value and gradient."""
    return qad.value_and_grad(f, argnums)


def ring(example):
    return {"energy": (both(example().energy), (normal(2, 2),))}


def maxcut(example):
    circuit, cut = example().circuit, example().cut
    return {"mean cut": (both(lambda t: -circuit(t).expectation(cut)), (normal(2, 2),))}


def hydrogen(example):
    G, H = example().G, example().H
    return {"energy": (both(lambda t: qad.Circuit(4).x([0, 1]).evolve(G, t).expectation(H)), (np.array(0.1),))}


def unitary(example):
    return {"infidelity": (both(example().infidelity), (normal(2, 3, 2),))}


def natural(example):
    return {"energy": (both(example().energy), (normal(2, 7),))}


def energy_of(operator, n=6, bond=4):
    """The energy of a state, by its tensors."""
    psi = qad.mps.MPS.random(n, bond, seed=0)
    return both(lambda psi: qad.mps.energy(psi, operator)), (psi,)


def heisenberg(example):
    return {"energy": energy_of(qad.mps.heisenberg(6))}


def uniform_ising(example):
    """The transfer operator, and the energy between given eigenvectors."""
    h = example().bond_hamiltonian(0.7)

    def energy(state, value, right, left):
        pair = qad.einsum("asb,btc->astc", state, state)
        ket = qad.einsum("astc,cd,uvst->auvd", pair, right, h)
        return (qad.einsum("ab,auvd,buvd->", left.conj(), ket, pair.conj()) / value**2).real

    def transfer(state, x):
        a = (state + state.transpose(2, 1, 0)).transpose(1, 0, 2) / 2
        return qad.abs2((a @ x @ a.conj().mT).sum(0)).sum()

    state, x = normal(3, 2, 3), normal(3, 3)
    return {"transfer": (both(transfer, (0, 1)), (state, x)), "energy": (both(energy), (state, 1.5, x, x.T))}


def born(example):
    psi = qad.mps.MPS.random(9, 3, seed=0)
    return {"loss": (both(example().loss), (psi,))}


def ising_chain(example):
    psi = qad.mps.MPS.random(6, 4, dtype=float, seed=0)
    by_field = both(lambda g, psi: qad.mps.energy(psi, qad.mps.ising(6, g)))

    def magnetisation(psi):
        return np.mean(qad.mps.local_expectations(psi, np.array([[0.0, 1.0], [1.0, 0.0]]))).real

    return {
        "energy": energy_of(qad.mps.ising(6, 0.9)),
        "by the field": (by_field, (np.array(0.9), psi)),
        "magnetisation": (both(magnetisation), (psi,)),
    }


def uniform_heisenberg(example):
    h = example().h

    def energy(a, b, left, right):
        pair = qad.einsum("asb,btc->astc", a, b)
        value = qad.einsum("ax,astc,uvst,xuvy,cy->", left, pair, h, pair.conj(), right)
        return (value / qad.einsum("ax,astc,xsty,cy->", left, pair, pair.conj(), right)).real

    a, b, x = normal(3, 2, 3, complex), normal(3, 2, 3, complex, seed=1), np.eye(3) + 0j
    return {"energy": (both(energy, (0, 1)), (a, b, x, x))}


def quench(example):
    psi = qad.mps.MPS.random(6, 4, seed=0)
    gate = normal(2, 2, 2, 2, complex)

    def after_gates(a, b):
        pair = qad.einsum("asb,btc,uvst->auvc", a, b, gate)
        u, s, vh = np.linalg.svd(pair.reshape(6, 6), full_matrices=False)
        return qad.abs2((u[:, :2] * s[:2]) @ vh[:2] @ gate.reshape(4, 4)[:2, :2].repeat(3, 0).repeat(3, 1)).sum()

    return {
        "magnetisation": (lambda psi: np.mean(qad.mps.local_expectations(psi, np.diag([1.0, -1.0]))).real, (psi,)),
        "gates": (both(after_gates, (0, 1)), (normal(3, 2, 4), normal(4, 2, 3))),
    }


def control(example):
    return {
        "left over": (lambda psi: qad.mps.energy(psi, example().final), (qad.mps.MPS.random(8, 4, seed=0),)),
        "fermions": (both(example().left_over_of_fermions), (example().ramp,)),
    }


def hellmann_feynman(example):
    def slope(p, psi, make):
        return qad.grad(lambda p: qad.mps.energy(psi, make(p)))(p)

    psi, hamiltonian, J = qad.mps.MPS.random(8, 4, seed=0), example().hamiltonian, example().J
    makers = {"XXZ": lambda p: qad.mps.xxz(8, p), "Ising": lambda p: qad.mps.ising(8, p)}
    losses = {name: (partial(slope, make=make), (np.array(0.5), psi)) for name, make in makers.items()}
    return losses | {"every field": (partial(slope, make=lambda g: hamiltonian(g, J)), (normal(8), psi))}


def trg(example):
    coarse = example().log_z

    def log_z(k, chi=3, steps=2):
        return coarse(k, chi, steps)

    def slope(k):
        return qad.jvp(lambda k: log_z(k, 2, 1), (k,), (1.0,))

    k = np.array(0.4)
    return {"lnZ": (both(log_z), (k,)), "curvature": (lambda k: qad.jvp(slope, (k,), (1.0,)), (k,))}


def bonds_of(model):
    """The energies of a model's bonds, whatever sites they join, in one density matrix of two sites."""
    operators = [term.operator for term in model.terms if np.ndim(term.operator) == 4]

    def energy(rho):
        return sum(qad.einsum("stuv,uvst->", h, rho).real for h in operators)

    return {"energy": (both(energy), (normal(2, 2, 2, 2, complex),))}


def square(example):
    return bonds_of(qad.peps.heisenberg().rotated())


def transverse(example):
    return bonds_of(qad.peps.ising(2.5))


def frustrated(example):
    return bonds_of(qad.peps.j1j2(1.0, 0.5).rotated())


def paired(example):
    return bonds_of(qad.peps.fermions(1.0, delta=1.0, mu=-5.0))


def one_site(beta):
    """ln Z of a torus of one site."""
    return np.log(np.einsum("abab->", qad.peps.classical.ising(beta)))


def classical_ising(example):
    return {"one site": (both(one_site), (np.array(0.4),))}


EXAMPLES = {
    "circuits/01_vqe_ising_ring.py": ring,
    "circuits/02_qaoa_maxcut.py": maxcut,
    "circuits/03_h2_ucc.py": hydrogen,
    "circuits/04_learning_a_unitary.py": unitary,
    "circuits/05_natural_gradient.py": natural,
    "mps/01_heisenberg_ground_state.py": heisenberg,
    "mps/02_dominant_eigenvector_ising.py": uniform_ising,
    "mps/03_heisenberg_hundred_sites.py": heisenberg,
    "mps/04_born_machine.py": born,
    "mps/05_ising_transition.py": ising_chain,
    "mps/06_infinite_heisenberg.py": uniform_heisenberg,
    "mps/07_quench.py": quench,
    "mps/08_hellmann_feynman.py": hellmann_feynman,
    "mps/09_quantum_control.py": control,
    "peps/01_heisenberg_square.py": square,
    "peps/02_classical_ising.py": classical_ising,
    "peps/03_transverse_ising.py": transverse,
    "peps/04_j1j2.py": frustrated,
    "peps/05_paired_fermions.py": paired,
    "trg/ising_trg.py": trg,
}


def products():
    for dtype in (float, complex):
        x, y = (m[:5, :5] for m in trace_product.matrices(dtype))
        for name in ("product_loss", "fused_loss"):
            loss = getattr(trace_product, name)(np, dtype)
            yield f"{name}, {dtype.__name__}", both(lambda x, y, f=loss: f([x, y], []), (0, 1)), (x, y)


def chains():
    loss = overhead.make_loss(np)
    yield "1000 products", both(lambda y, c: loss([y], [c])), (normal(4, complex), np.exp(1j * normal(4)))


def of_vectors():
    for make in (transforms.layers, transforms.rosenbrock, transforms.partition, transforms.repulsion):
        f = make(np)
        yield f"gradient, {make.__name__}", both(f), (transforms.POINT,)
        yield f"Hessian, {make.__name__}", qad.hessian(f), (transforms.POINT,)
    yield "batch", qad.vmap(qad.grad(transforms.squares(np))), (transforms.RIGHT[:5],)
    yield "jvp", lambda *xs: qad.jvp(transforms.chain, xs, xs[::-1]), tuple(normal(3, 4, 4))
    yield "polynomial", both(transforms.polynomial), (normal(8),)
    yield "complex polynomial", both(lambda z: qad.abs2(transforms.polynomial(z))), (normal(8, complex),)


def decompositions():
    makers = {"svd": linalg.svd_loss, "eigh": linalg.eigh_loss, "qr": linalg.qr_loss}
    makers["expm"] = lambda xp: linalg.expm_loss(linalg.of_numpy)(xp)
    makers |= {name: lambda xp, f=f: f for name, f in linalg.SPECTRAL.values()}
    a, *constants = normal(3, 5, 5, complex)
    for name, make in makers.items():
        loss = make(np)
        yield name, both(lambda x, f=loss: f([x], constants)), (a,)
    library = library_of_qad()
    for group, name, f, point in linalg_rows.ROWS:
        yield f"{group}: {name}", both(partial(f, library)), (point,)


def networks():
    shapes = {"trace": contraction.trace(4, 3, 2), "peps": contraction.peps(2, 2), "regular": contraction.regular(6, 2)}
    shapes["renormalisation"] = contraction.renormalisation(3)
    for name, (text, sizes) in shapes.items():
        yield name, both(lambda xs, t=text: qad.einsum(t, *xs).real.sum()), (contraction.arrays(sizes),)
    text, sizes = contraction.sandwich(3, 5, 2)
    tensors = contraction.arrays(sizes)
    constants = contraction.hermitian_operators(tensors[1::3])
    for hermitian in (False, True):

        def loss(kets, h=hermitian):
            return qad.einsum(text, *contraction.sites(np, kets, constants), hermitian=h).real.sum()

        yield f"sandwich, hermitian={hermitian}", both(loss), (tensors[::3],)


def energies():
    operator, psi = qad.mps.heisenberg(6), qad.mps.MPS.random(6, 4, seed=0)
    constants = [np.ones((1, 1), complex), *mps_energy.operator_matrices([t.astype(complex) for t in operator.tensors])]
    loss = mps_energy.make_loss(np)
    yield "sweep", both(lambda sites: loss(sites, constants)), (list(psi.tensors),)
    yield "energy", *energy_of(operator)


def likelihoods():
    psi, words = qad.mps.MPS.random(6, 3, seed=0, periodic=True), np.random.default_rng(0).integers(0, 2, (9, 6))
    loss = amplitudes.make_loss(np)
    yield "peers' way", both(lambda sites: loss(sites, list(words.T))), (list(psi.tensors),)
    yield "own way", both(lambda psi: 2 * psi.log_amplitudes(words).real.mean()), (psi,)


def frozen_ones():
    yield "chain", freeze.chain, freeze.small_matrices()
    yield "polynomial", both(freeze.polynomial), (normal(8),)
    x, y = trace_product.matrices(complex)
    yield "trace product", both(lambda a, b: qad.tr(a @ b).real, (0, 1)), (x, y)


def simulations():
    for pairs in ("ring", "all", "none"):
        H = circuits.hamiltonian(4, pairs)
        once = circuits.build(4, circuits.angles(4))
        yield (
            f"once, {pairs}",
            both(lambda x, H=H, once=once: once.with_parameters(x).expectation(H)),
            (np.array(once.parameters),),
        )
    H = circuits.hamiltonian(3, "ring")
    yield "anew", both(lambda t: circuits.build(3, t).expectation(H)), (circuits.angles(3),)
    yield "batch", both(lambda t: circuits.build(3, t).expectation(H).sum()), (circuits.angles(3, 2),)


def noisy():
    """Density matrices, for trajectories themselves are refused: no call draws what another one drew."""
    error = qad.circuit.depolarizing(0.05)

    def expectation(t):
        c = qad.circuit.NoisyCircuit(2).gate("ry", t[0], 0).channel(error, 0).gate("cx", 0, 1).gate("rz", t[1], 1)
        return c.channel(error, 1).gate("ry", t[1], 1).expectation("ZX")

    yield "expectation", both(expectation), (np.array([0.3, 0.7]),)


def of_charges():
    one, two = symmetric.operands(4)
    yield "squared norm", both(lambda a, b: qad.tensordot(a, b, ([2], [0])).norm() ** 2, (0, 1)), (one, two)


def bridged():
    yield "value and gradient", both(bridges.of(normal(8, 8))), (normal(8),)


def ring_of_quimb():
    """A network as it is handed over; quimb itself is for tests/interop."""

    def norm(a, b):
        return qad.einsum("isj,jti,ksl,ltk->", a, b, a, b, optimize=[(0, 1), (0, 1), (0, 1)], hermitian=True)

    yield "a real form in a given order", both(norm, (0, 1)), (normal(3, 2, 3), normal(3, 2, 3))


BENCHMARKS = {
    "trace_product": products,
    "overhead": chains,
    "transforms": of_vectors,
    "linalg": decompositions,
    "contraction": networks,
    "mps_energy": energies,
    "amplitudes": likelihoods,
    "time_to_energy": energies,
    "freeze": frozen_ones,
    "freeze_large": energies,
    "circuits": simulations,
    "trajectories": noisy,
    "symmetric": of_charges,
    "bridges": bridged,
    "quimb_ring": ring_of_quimb,
}
