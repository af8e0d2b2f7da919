"""Wave functions: their values by other formulas, and that they can be differentiated, batched and frozen."""

import numpy as np
import pytest

import qad
from qad.vmc import (
    Bosons,
    Connections,
    Electrons,
    Fermions,
    Spins,
    chain,
    convolution,
    jastrow,
    log_cosh,
    marshall,
    mean_field,
    rbm,
    slater,
    symmetrized,
    translations,
)
from tests.cases import Case, normal

SPINS = Spins(6, total=0)
CASES = [Case(log_cosh, normal(3)), Case(log_cosh, normal(2, 2, complex))]


def symmetric_machine():
    log_psi, params = rbm(6, seed=1, scale=0.3)
    return marshall(symmetrized(log_psi, translations(6)), range(0, 6, 2)), params


WAVES = {
    "rbm": (lambda: rbm(6, alpha=2, scale=0.4), SPINS),
    "real rbm": (lambda: rbm(6, dtype=float, scale=0.4), SPINS),
    "jastrow": (lambda: jastrow(6, scale=0.4), SPINS),
    "complex jastrow": (lambda: jastrow(4, complex, scale=0.4), Bosons(4, most=3, total=3)),
    "mean field": (lambda: mean_field(Spins(3, spin=1), complex), Spins(3, spin=1)),
    "slater": (lambda: slater(Fermions(5, total=2)), Fermions(5, total=2)),
    "slater of electrons": (lambda: slater(Electrons(4, up=2, down=1)), Electrons(4, up=2, down=1)),
    "convolution": (lambda: convolution((2, 3), (3, 2), kernel=2), SPINS),
    "real convolution": (lambda: convolution(6, (2,), dtype=float), SPINS),
    "symmetrized": (symmetric_machine, SPINS),
    "chain": (lambda: chain(qad.mps.MPS.random(4, 3, phys=3, seed=1), Spins(4, spin=1)), Spins(4, spin=1)),
}


@pytest.mark.parametrize("name", WAVES)
def test_derivatives(name):
    make, space = WAVES[name]
    log_psi, params = make()
    rows = space.random(4, rng=1).astype(np.int64)
    weights = np.array([0.3, -1.0, 0.5 + 1j, 0.7j])
    qad.check_grads(lambda p: (weights * log_psi(p, rows)).sum(), (params,))


@pytest.mark.parametrize("name", WAVES)
def test_derivatives_of_each_sample_by_vmap_and_freeze(name):
    make, space = WAVES[name]
    log_psi, params = make()
    slope = qad.grad(lambda p, s: log_psi(p, s[None])[0].real)
    batched = qad.freeze(qad.vmap(slope, in_axes=(None, 0)))
    for seed in (1, 2):
        rows = space.random(5, rng=seed).astype(np.int64)
        expected = [slope(params, row) for row in rows]
        found = batched(params, rows)
        parts = [qad.optimize.packing.flatten(tree)[0] for tree in (found, *expected)]
        for own, *each in zip(*parts, strict=True):
            np.testing.assert_allclose(own, np.stack(each), atol=1e-12)


@pytest.mark.parametrize("name", WAVES)
def test_frozen_functions_see_new_configurations(name):
    make, space = WAVES[name]
    log_psi, params = make()
    frozen = qad.freeze(log_psi)
    for seed in (1, 2, 3):
        rows = space.random(6, rng=seed).astype(np.int64)
        np.testing.assert_allclose(np.exp(frozen(params, rows)), np.exp(log_psi(params, rows)), atol=1e-12)
    small = space.random(6, rng=3)
    np.testing.assert_allclose(np.exp(log_psi(params, small)), np.exp(log_psi(params, rows)), atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives_of_log_cosh(case):
    case.check()


@pytest.mark.parametrize("dtype", [float, complex])
def test_log_cosh(dtype):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(7, 9)) * 3 + (1j * rng.normal(size=(7, 9)) * 4 if dtype is complex else 0)
    np.testing.assert_allclose(np.exp(log_cosh(z)), np.cosh(z), rtol=1e-13, atol=1e-13)
    assert log_cosh(z).dtype == dtype
    np.testing.assert_allclose(log_cosh(z + 1000).real, (z + 1000).real - np.log(2), rtol=1e-14)
    np.testing.assert_allclose(qad.grad(lambda z: log_cosh(z).sum().real)(z).conj(), np.tanh(z), atol=1e-12)


def test_a_machine_is_the_product_of_hyperbolic_cosines():
    log_psi, params = rbm(3, alpha=2, scale=0.5)
    s = np.array([1, -1, 1])
    units = [np.cosh(params["b"][k] + sum(s[i] * params["W"][i, k] for i in range(3))) for k in range(6)]
    expected = np.exp(sum(s[i] * params["a"][i] for i in range(3))) * np.prod(units)
    np.testing.assert_allclose(np.exp(log_psi(params, s[None])[0]), expected, rtol=1e-13)


def energy(log_psi, params, H, space):
    psi = np.exp(log_psi(params, space.states()))
    return np.vdot(psi, Connections(H, space).matrix() @ psi) / np.vdot(psi, psi)


def test_determinants_are_eigenstates_of_free_fermions():
    hopping = np.random.default_rng(1).normal(size=(6, 6))
    hopping = hopping + hopping.T
    levels, orbitals = np.linalg.eigh(hopping)
    H = qad.mps.OpSum(6, "fermion")
    for i, j in np.ndindex(6, 6):
        H.add(hopping[i, j], "Cdag", i, "C", j)
    space = Fermions(6, total=3)
    log_psi, params = slater(space, orbitals)
    psi = np.exp(log_psi(params, space.states()))
    np.testing.assert_allclose(Connections(H, space).matrix() @ psi, levels[:3].sum() * psi, atol=1e-12)


def test_determinants_of_electrons_have_the_signs_of_the_chain():
    rng, matrices, H = np.random.default_rng(1), {}, qad.mps.OpSum(4, "electron")
    for spin, name in (("up", "up"), ("dn", "down")):
        matrices[name] = rng.normal(size=(4, 4))
        matrices[name] = matrices[name] + matrices[name].T
        for i, j in np.ndindex(4, 4):
            H.add(matrices[name][i, j], "Cdag" + spin, i, "C" + spin, j)
    solved = {name: np.linalg.eigh(matrix) for name, matrix in matrices.items()}
    space = Electrons(4, up=2, down=3)
    log_psi, params = slater(space, {name: orbitals for name, (_, orbitals) in solved.items()})
    psi = np.exp(log_psi(params, space.states()))
    total = solved["up"][0][:2].sum() + solved["down"][0][:3].sum()
    np.testing.assert_allclose(Connections(H, space).matrix() @ psi, total * psi, atol=1e-12)


def test_chains_are_their_amplitudes():
    state = qad.mps.MPS.random(5, 4, seed=2)
    log_psi, params = chain(state, Spins(5))
    np.testing.assert_allclose(np.exp(log_psi(params, Spins(5).states())), state.to_dense().ravel(), atol=1e-13)

    zeros, state = chain(qad.mps.MPS.product(["up", "down"] * 500), Spins(1000))
    with np.errstate(divide="ignore"):
        assert zeros(state, np.array([[1, -1] * 500, [-1, 1] * 500])).tolist() == [0, -np.inf]


def test_translations_of_a_lattice():
    rows = translations((2, 3))
    assert rows.shape == (6, 6)
    assert rows[1].tolist() == [1, 2, 0, 4, 5, 3]
    assert rows[3].tolist() == [3, 4, 5, 0, 1, 2]
    lattice = qad.mps.Lattice(4, 3, along=True, around=True)
    bonds = {frozenset(pair) for pair in lattice.pairs()}
    assert all({frozenset((row[i], row[j])) for i, j in lattice.pairs()} == bonds for row in translations((4, 3)))


def test_sums_over_translations_have_their_momentum():
    log_psi, params = rbm(6, scale=0.5, seed=3)
    states = SPINS.states()
    phases = np.exp(-2j * np.pi * np.arange(6) / 6)
    psi = np.exp(symmetrized(log_psi, translations(6), phases)(params, states))
    moved = psi[SPINS.numbers(states[:, translations(6)[1]])]
    np.testing.assert_allclose(moved, np.exp(2j * np.pi / 6) * psi, atol=1e-12)


def test_signs_of_sublattices():
    """Marshall's signs make all elements of the ring negative: they lower the energy of a positive wave function."""
    log_psi, params = rbm(6, dtype=float, scale=0.0)
    signed = marshall(log_psi, [0, 2, 4])
    H = qad.mps.heisenberg(6, periodic=True)
    # the uniform state with signs: <Sx Sx + Sy Sy> = -p/2 a bond, and <Sz Sz> = 1/4 - p/2, p = 3/5 antiparallel
    np.testing.assert_allclose(energy(signed, params, H, SPINS), 6 * (1 / 4 - 3 / 5), atol=1e-12)
    rotated = qad.mps.xxz(6, -1.0, periodic=True, j=-1.0)
    np.testing.assert_allclose(energy(log_psi, params, rotated, SPINS), 6 * (1 / 4 - 3 / 5), atol=1e-12)
    machine, own = rbm(6, scale=0.0)
    own["a"][::2] = 0.5j * np.pi
    np.testing.assert_allclose(energy(machine, own, H, SPINS), 6 * (1 / 4 - 3 / 5), atol=1e-12)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: rbm(0), "n must be a whole number"),
        (lambda: mean_field(3), "a space is Spins, .*, but got 3"),
        (lambda: jastrow(1), "n must be a whole number of at least 2"),
        (lambda: slater(Fermions(4)), "with fixed numbers"),
        (lambda: slater(4), "a space is Spins, .*, but got 4"),
        (lambda: chain(qad.mps.MPS.random(4, 2), 4), "a space is Spins, .*, but got 4"),
        (lambda: slater(SPINS), "a determinant is of Fermions or Electrons"),
        (lambda: slater(Fermions(4, total=2), np.ones((4, 1))), r"have shape \(4, 2\), not \(4, 1\)"),
        (lambda: convolution((4, 2)), r"a kernel of 3 sites does not fit on the lattice \(4, 2\)"),
        (lambda: symmetrized(rbm(3)[0], [[0, 1, 1]]), "permutations are rows of the numbers 0 to n - 1"),
        (lambda: chain(qad.mps.MPS.random(4, 2), Spins(3)), "Spins\\(3\\) 3 of 2"),
        (lambda: chain(qad.mps.MPS.random(4, 2, periodic=True), Spins(4)), "an open state of plain arrays"),
        (lambda: translations(0), "a length must be a whole number"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(qad.QadError, match=words):
        call()
