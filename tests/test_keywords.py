"""Keywords of other packages are answered with ours, and nothing else changes."""

import inspect
import pickle

import numpy as np
import pytest

import qad
from qad import mps, peps

H, PSI = mps.heisenberg(4), mps.MPS.random(4, 2)


@pytest.mark.parametrize(
    "call, name, instead",
    [
        *[(lambda **k: mps.ground_state(H, **k), name, "write bond=") for name in ("chi", "D", "bonds")],
        (lambda **k: mps.ground_state(H, **k), "tolerance", "write tol="),
        (lambda **k: mps.ground_state(H, **k), "sweeps", "write maxiter="),
        (lambda **k: mps.ground_state(H, **k), "conserv", "write conserve="),
        (lambda **k: mps.ground_state(H, **k), "colour", "it takes H, bond, method"),
        (lambda **k: mps.evolve(PSI, H, 1.0, **k), "dt", "write steps=, how many: the time over the length of a step"),
        (lambda **k: mps.evolve(PSI, H, 1.0, 2, **k), "chi", "write bond="),
        (lambda **k: mps.uniform.ground_state(mps.uniform.heisenberg(), **k), "D", "write bond="),
        (lambda **k: peps.ground_state(peps.heisenberg(), 2, **k), "max_chi", "write chi="),
        (lambda **k: qad.optimize.minimize(np.sum, np.ones(2), **k), "lr", "adam takes rate="),
        (lambda **k: qad.optimize.minimize(np.sum, np.ones(2), **k), "tolerance", "write gtol="),
        (lambda **k: qad.optimize.adam(np.sum, np.ones(2), **k), "lr", "write rate="),
        (lambda **k: qad.Circuit(2).mps(**k), "chi", "write bond="),
        (lambda **k: qad.Circuit(2).mps(**k), "colour", "it takes bond, cutoff"),
        (lambda **k: PSI.truncate(**k), "chi", "write bond="),
        (lambda **k: mps.MPS.random(4, **k), "chi", "write bond="),
        (lambda **k: mps.uniform.excitations(H, PSI, 0.0, **k), "bonds", "it takes h, state, momentum"),
        (lambda **k: peps.simple_update(peps.heisenberg(), **k), "D", "write bond="),
        (lambda **k: peps.cluster_update(peps.heisenberg(), **k), "D", "write bond="),
        (lambda **k: peps.partition_function(peps.classical.ising(0.3), **k), "max_chi", "write chi="),
        (lambda **k: qad.optimize.natural_descent(np.sum, np.ones(2), **k), "lr", "write rate="),
        (
            lambda **k: qad.optimize.minimize_on(np.sum, np.ones(2), manifold=qad.optimize.Sphere(), **k),
            "lr",
            "adam takes rate=",
        ),
        (lambda **k: qad.optimize.root(np.cos, **k), "x0", "write params="),
        (lambda **k: qad.optimize.least_squares(np.cos, **k), "x0", "write params="),
        (lambda **k: mps.uniform.evolve(PSI, H, 1.0, 2, **k), "order", "write method="),
        (lambda **k: qad.integrate.solve_ivp(np.sin, [0, 1], np.ones(2), **k), "tolerance", "write rtol="),
        (lambda **k: qad.fixed_point(np.cos, np.ones(2), **k), "tolerance", "write tol="),
        (lambda **k: qad.vmc.sample(np.sum, 0.1, qad.vmc.Spins(2), **k), "n_samples", "write samples="),
        (lambda **k: qad.vmc.ground_state(np.sum, 0.1, H, qad.vmc.Spins(4), **k), "n_iter", "write steps=$"),
        (lambda **k: qad.vmc.ground_state(np.sum, 0.1, H, qad.vmc.Spins(4), **k), "diag_shift", "write shift="),
        (lambda **k: qad.vmc.ground_state(np.sum, 0.1, H, qad.vmc.Spins(4), **k), "lr", "write rate="),
        (lambda **k: qad.vmc.evolve(np.sum, 0.1, H, qad.vmc.Spins(4), 1.0, **k), "dt", "write steps=, how many: the"),
        (lambda **k: qad.vmc.Spins(4, **k), "total_sz", "write total=, which counts 2 Sz"),
        (qad.vmc.Metropolis, "n_chains", "write chains="),
        (qad.vmc.Metropolis, "n_sweeps", "write sweep="),
        (qad.vmc.Metropolis, "burn_in", "write discard="),
        (lambda **k: qad.linalg.linear_solve(np.cos, np.ones(2), **k), "max_iter", "write maxiter="),
        (lambda **k: qad.linalg.lowest_eig(np.eye(2), np.ones(2), **k), "tolerance", "write tol="),
        (lambda **k: qad.linalg.dominant_eig(np.eye(2), np.ones(2), **k), "tolerance", "write tol="),
    ],
)
def test_a_keyword_of_others_is_answered_with_ours(call, name, instead):
    with pytest.raises(TypeError, match=f"takes no keyword '{name}': .*{instead}"):
        call(**{name: 4})


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: mps.apply(PSI, 0, np.eye(2)), r"apply\(psi, operator, sites\)"),
        (lambda: peps.energy(peps.heisenberg(), PSI, 8), r"got Model: .*energy\(state, model, chi\)"),
        (lambda: peps.environment(16, PSI), "a PEPS is needed, but got int"),
        (lambda: qad.circuit.entropy([0], qad.Circuit(2)), r"not list: entropy\(circuit, qubits\)"),
        (lambda: qad.circuit.reduced_density([0], qad.Circuit(2)), r"reduced_density\(circuit, qubits\)"),
        (lambda: qad.circuit.parameter_shift("Z", qad.Circuit(1)), r"parameter_shift\(circuit, observable\)"),
        (lambda: qad.circuit.estimate("Z", qad.Circuit(1), 9), r"estimate\(circuit, observable, shots\)"),
        *[
            (lambda args=args: qad.integrate.solve_ivp(*args), r"solve_ivp\(f, times, y0\)")
            for args in ((1.0, [0, 1], np.sin), ([0, 1], np.sin, 1.0), (1.0, np.sin, [0, 1]), (np.sin, 1.0, [0, 1]))
        ],
        (lambda: qad.fixed_point(np.ones(2), np.cos), r"fixed_point\(f, x0, \*params\)"),
        (lambda: qad.linalg.linear_solve(np.eye(2), np.ones(2)), "np.linalg.solve takes a matrix"),
    ],
)
def test_arguments_in_another_order_are_answered_with_ours(call, said):
    with pytest.raises(qad.errors.ArgumentError, match=said):
        call()


def test_equations_that_need_conjugate_gradients_say_so():

    def laplace(x):
        return 2 * x - np.append(x[1:], 0.0) - np.append(0.0, x[:-1])

    with pytest.raises(qad.errors.ConvergenceError, match="positive=True"):
        qad.linalg.linear_solve(laplace, np.ones(300))


def test_errors_from_within_and_missing_arguments_stay_what_they_are():
    def callback(state, energy):
        return len(3)

    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        mps.ground_state(H, 4, callback=callback)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'H'"):
        mps.ground_state()


def test_functions_keep_their_signature_and_their_place():
    assert list(inspect.signature(mps.ground_state).parameters)[:3] == ["H", "bond", "method"]
    assert pickle.loads(pickle.dumps(mps.evolve)) is mps.evolve


@pytest.mark.parametrize(
    "old, new",
    [
        (lambda: mps.OpSum(2, sites="fermion").sites, lambda: mps.OpSum(2, kind="fermion").sites),
        (lambda: mps.MPS.product(["up"], sites="electron").phys, lambda: mps.MPS.product(["up"], kind="electron").phys),
        (lambda: PSI.truncate(max_bond=1)[0].bond, lambda: PSI.truncate(bond=1)[0].bond),
        (lambda: PSI.apply(np.eye(4), (0, 1), max_bond=1).bonds, lambda: PSI.apply(np.eye(4), (0, 1), bond=1).bonds),
        (
            lambda: mps.apply(PSI, np.eye(4), sites=(0, 1), max_bond=1).bonds,
            lambda: PSI.apply(np.eye(4), (0, 1), 1).bonds,
        ),
        (
            lambda: mps.correlations(PSI, "N", "N", sites="fermion")[0, 1],
            lambda: PSI.measure(np.diag([0, 0, 0, 1]), (0, 1)),
        ),
        (
            lambda: mps.multipoint(PSI, ("N",), places=[[1]], sites="fermion")[0],
            lambda: mps.multipoint(PSI, ("N",), sites=[[1]], kind="fermion")[0],
        ),
        (lambda: qad.Circuit(2).mps(max_bond=2).state.bond, lambda: qad.Circuit(2).mps(bond=2).state.bond),
    ],
)
def test_our_old_keywords_work_and_tell_the_new_ones(old, new):
    with pytest.warns(DeprecationWarning, match="is how keywords are spelled now"):
        assert old() == pytest.approx(new()) if not isinstance(new(), tuple) else old() == new()


def test_keywords_that_have_not_changed_are_not_told():
    with pytest.warns(DeprecationWarning, match=r"^correlations: kind= is how .* now, not sites=$"):
        mps.correlations(PSI, one="N", other="N", sites="fermion")


def test_old_keywords_that_do_not_fit_are_refused():
    for call in (lambda: PSI.truncate(max_bond=1, bond=2), lambda: mps.OpSum(2, sites="fermion", kind="fermion")):
        with pytest.raises(TypeError, match="takes no keyword"):
            call()
