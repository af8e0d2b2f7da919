"""quimb's TNOptimizer on the energy of a periodic Heisenberg chain: an iteration with qad beside one with jitted jax.

The example of quimb's guide, value and gradient of ``<psi|H|psi> / <psi|psi>`` as the optimiser asks for them, real.
Either contracts in the same order: the one that cotengra finds ("auto-hq", quimb's advice), or the one of
`qad.interop.cotengra.JointOptimizer`.  "frozen" records the loss once, as jax traces it; "hermitian" says that the
network is a form ``<psi|O|psi>``, which qad proves.  cotengra's order of the long ring multiplies matrices of 1280 rows
most of the time, so that the line compares NumPy's BLAS with jax's: see docs/slow.md for what OpenBLAS makes of a
processor that it does not know.
"""

from importlib import import_module

import numpy as np

from .case import Case, Contender
from .peers import has, import_jax

ORDERS = "cotengra's order", "qad's order"
LONG = 5  # rounds of the long ring


def optimizer(length, bond, order, **options):
    """quimb's optimiser of this chain."""
    import quimb.tensor as qtn

    from qad.interop.cotengra import JointOptimizer

    import_module("qad.interop.quimb")  # registers the backend
    optimize = {"cotengra's order": "auto-hq", "qad's order": JointOptimizer()}[order]

    def normalized(psi):
        return psi.multiply((psi.H & psi).contract(all, optimize=optimize) ** -0.5, spread_over="all")

    def energy(psi, hamiltonian):
        bra, h, ket = qtn.tensor_network_align(psi.H, hamiltonian, psi)
        return (bra & h & ket).contract(all, optimize=optimize)

    psi = qtn.MPS_rand_state(length, bond, cyclic=True, seed=0)
    constants = {"hamiltonian": qtn.MPO_ham_heis(length, cyclic=True)}
    return qtn.TNOptimizer(psi, energy, normalized, loss_constants=constants, progbar=False, **options)


def contender(name, length, bond, order, needs="quimb", **options):
    """An iteration of the optimiser: from the vector of all parameters to the loss and its gradient."""

    def setup():
        if needs == "jax":
            import_jax()
        made = optimizer(length, bond, order, **options)
        x = np.array(made.vectorizer.vector, float)
        return lambda: made.vectorized_value_and_grad(x)

    def result(found):
        return found[0], [found[1].copy()]

    return Contender(name, setup, result, needs=needs, most_rounds=LONG if length > 32 else None)


def cases():
    """A short and a long ring, in both orders; none without quimb."""
    if not has("quimb"):
        return
    for length, bond in (16, 8), (64, 16):
        for order in ORDERS:
            ours = {"autodiff_backend": "qad"}
            yield Case(f"{length} sites, bond {bond}, {order}", [
                contender("qad", length, bond, order, freeze=True, hermitian=True, **ours),
                contender("qad, not frozen", length, bond, order, hermitian=True, **ours),
                contender("qad, not hermitian", length, bond, order, freeze=True, **ours),
                contender("qad, neither", length, bond, order, **ours),
                contender("jax, jitted", length, bond, order, needs="jax", autodiff_backend="jax"),
            ])  # fmt: skip
