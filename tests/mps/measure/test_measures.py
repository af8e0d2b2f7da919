"""Local measurements, densities, entropies and transfer operators against dense states; their derivatives."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import (
    MPS,
    correlations,
    entanglement_entropy,
    heisenberg,
    local_expectations,
    norm2,
    overlap,
    reduced_density,
    transfer,
)
from qad.mps.measure.spectral_sums import entropy_of
from tests.cases import Case, normal

PERIODIC = pytest.mark.parametrize("periodic", [False, True], ids=["open", "periodic"])
DTYPE = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
X, Z, UP = np.array([[0.0, 1], [1, 0]]), np.diag([1.0, -1.0]), np.array([[0.0, 1], [0, 0]])
CASES = [
    Case(lambda a: entropy_of([a], 1, power=2), 0.3 * a, name=f"entropy of a {a.dtype} matrix")
    for a in (normal(3, 2, complex), normal(2, 2))
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def acted(v, matrix, site):
    return np.moveaxis(np.tensordot(matrix, v, (1, site)), 0, site)


def state(n=5, bond=3, dtype=complex, periodic=False):
    psi = 1.7 * MPS.random(n, bond, dtype=dtype, seed=1, periodic=periodic)
    return psi, psi.to_dense() / np.linalg.norm(psi.to_dense())


@PERIODIC
@DTYPE
def test_against_dense(dtype, periodic):
    psi, v = state(dtype=dtype, periodic=periodic)
    assert norm2(psi) == pytest.approx(1.7**2)
    for matrix in (Z, UP):
        expected = [np.vdot(v, acted(v, matrix, i)) for i in range(5)]
        np.testing.assert_allclose(local_expectations(psi, matrix), expected, atol=1e-13)
    pairs = [[np.vdot(v, acted(acted(v, UP, j), X, i)) for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(correlations(psi, X, UP), pairs, atol=1e-13)
    for sites in (2, [0], [1, 2], [0, 2, 4]):
        kept = [sites] if isinstance(sites, int) else sites
        rows = np.moveaxis(v, kept, range(len(kept))).reshape(2 ** len(kept), -1)
        np.testing.assert_allclose(reduced_density(psi, sites), rows @ rows.conj().T, atol=1e-13)


@DTYPE
def test_entropies_against_dense(dtype):
    psi, v = state(n=6, bond=6, dtype=dtype)
    p = [np.linalg.svd(v.reshape(2**i, -1), compute_uv=False) ** 2 for i in range(1, 6)]
    expected = [-(q * np.log(q)).sum() for q in p]
    np.testing.assert_allclose(entanglement_entropy(psi), expected, atol=1e-12)
    assert entanglement_entropy(psi, 2) == pytest.approx(expected[1])


def test_operators_of_their_own_for_every_site():
    psi, v = state()
    expected = [np.vdot(v, acted(v, m, i)) for i, m in enumerate([X, Z, X, Z, UP])]
    np.testing.assert_allclose(local_expectations(psi, [X, Z, X, Z, UP]), expected, atol=1e-13)


@PERIODIC
@DTYPE
@pytest.mark.sampled(2)
def test_derivatives_of_measurements(dtype, periodic):
    psi = MPS.random(4, 2, dtype=dtype, seed=2, periodic=periodic)
    qad.check_grads(lambda psi: local_expectations(psi, UP), (psi,), order=1)
    qad.check_grads(lambda psi: correlations(psi, X, UP), (psi,), order=1)
    qad.check_grads(lambda psi: reduced_density(psi, [1, 2]), (psi,))
    qad.check_grads(norm2, (psi,))
    qad.check_grads(lambda m: local_expectations(psi, m), (X,))
    if not periodic:
        qad.check_grads(entanglement_entropy, (psi,))


def test_entropies_of_product_states_have_finite_slopes():
    product = MPS.product([np.array([1.0, 0.2])] * 4)
    padded = MPS([np.pad(t, ((0, 3 * (i > 0)), (0, 0), (0, 3 * (i < 3)))) for i, t in enumerate(product)])
    for psi in (product, padded):
        np.testing.assert_allclose(entanglement_entropy(psi), 0, atol=1e-14)
        g = qad.grad(lambda psi: entanglement_entropy(psi).sum())(psi)
        assert max(np.abs(t).max() for t in g) < 1e-6
    singlets = MPS.from_dense(np.einsum("ab,cd->abcd", *[np.array([[0, 1.0], [-1, 0]])] * 2))
    np.testing.assert_allclose(entanglement_entropy(singlets) / np.log(2), [1, 0, 1], atol=1e-12)


def test_long_chains():
    psi = MPS([1e3 * t for t in MPS.random(300, 4, seed=1)])
    values = local_expectations(psi, Z)
    assert np.isfinite(values).all()
    assert np.isfinite(entanglement_entropy(psi)).all()
    assert sum(local_expectations(psi, X).real) == pytest.approx(qad.mps.energy(psi, sum_of_x(300)), abs=1e-9)


def sum_of_x(n):
    total = qad.mps.OpSum(n)
    for i in range(n):
        total.add(1.0, "X", i)
    return total.mpo()


@PERIODIC
def test_transfer_operators(periodic):
    psi, phi = (MPS.random(4, 2, seed=s, periodic=periodic) for s in (1, 2))
    whole = transfer(psi, bra=phi)
    assert np.trace(whole.to_dense()) == pytest.approx(overlap(phi, psi))
    parts = transfer(psi, 0, 2, phi).to_dense() @ transfer(psi, 2, 4, phi).to_dense()
    np.testing.assert_allclose(whole.to_dense(), parts, atol=1e-13)
    wide = MPS.random(4, 3, seed=3, periodic=periodic)
    pairs = np.einsum("bsd,asc->badc", wide[1].conj(), psi[1])  # bra before ket, as of all environments
    expected = pairs.reshape(pairs.shape[0] * pairs.shape[1], -1)
    np.testing.assert_allclose(transfer(psi, 1, 2, wide).to_dense(), expected, atol=1e-13)
    middle = transfer(psi, 1, 3)
    left, right = normal(2, 2, complex), normal(2, 2, complex, seed=1)
    assert middle.shape == (4, 4)
    np.testing.assert_allclose(middle.apply_left(left).ravel(), left.ravel() @ middle.to_dense(), atol=1e-13)
    np.testing.assert_allclose(middle.apply_right(right).ravel(), middle.to_dense() @ right.ravel(), atol=1e-13)
    qad.check_grads(lambda psi: transfer(psi, 0, 2).to_dense(), (psi,), order=1)


def test_bad_input():
    psi = MPS.random(4, 2)
    with pytest.raises(ShapeError, match="does not fit site 0"):
        local_expectations(psi, np.eye(3))
    with pytest.raises(ShapeError, match="3 operators were given for 4"):
        local_expectations(psi, [X, X, X])
    refused = {(): "each once", (2, 1): "must ascend", (1, 1): "each once", (4,): "no site 4", (-1,): "no site -1"}
    for sites, words in refused.items():
        with pytest.raises(ArgumentError, match=words):
            reduced_density(psi, sites)
    with pytest.raises(ArgumentError, match="2\\*\\*26"):
        reduced_density(MPS.random(20, 2), range(15))
    with pytest.raises(ArgumentError, match="bonds are 1 to 3"):
        entanglement_entropy(psi, 0)
    with pytest.raises(ShapeError, match="periodic"):
        entanglement_entropy(MPS.random(4, 2, periodic=True))
    with pytest.raises(ArgumentError, match="no row"):
        transfer(psi, 2, 2)
    with pytest.raises(ArgumentError, match="a state is needed where an operator"):
        norm2(heisenberg(4))
    with pytest.raises(ArgumentError, match="zero"):
        local_expectations(0.0 * psi, X)


def test_measurements_on_sites_of_a_mixed_chain():
    up, plus, zero = np.array([1.0, 0.0]), np.array([1.0, 1.0]) / np.sqrt(2), np.array([0.0, 1.0, 0.0])
    psi = MPS.product([up, plus, zero])
    z = np.diag([1.0, -1.0])
    np.testing.assert_allclose(qad.mps.measure(psi, z, [1, 0]), [0, 1], atol=1e-15)
    np.testing.assert_allclose(
        [qad.mps.measure(psi, "X", 1), qad.mps.measure(psi, np.diag([1.0, 0.0, -1.0]), 2)], [1, 0], atol=1e-15
    )
    with pytest.raises(ShapeError, match="does not fit site 2"):
        qad.mps.measure(psi, z, [0, 2])
    values = local_expectations(psi, [z, 2 * z, np.eye(3)])
    np.testing.assert_allclose(values, [1, 0, 1], atol=1e-15)
    slope = qad.grad(lambda x: local_expectations(psi, [x * z, z, x**2 * np.eye(3)]).sum().real)(2.0)
    assert abs(slope - 5) < 1e-14
