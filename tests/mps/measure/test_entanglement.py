"""Entropies of every order, Schmidt values and spectra of bonds, against dense states; their derivatives."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, entanglement_entropy, entanglement_spectrum, schmidt_values
from qad.mps.measure.spectral_sums import spectral_sum
from tests.cases import Case, normal

CASES = [
    Case(lambda m: spectral_sum(m, power=3.0, log=False), normal(3, 2, complex)),
    Case(lambda m: spectral_sum(m, power=2.0, log=True), normal(2, 3)),
]


@pytest.mark.parametrize("case", CASES, ids=["power", "logarithm"])
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("dtype", [float, complex, np.complex64])
def test_every_bond_of_a_random_state(dtype):
    psi = MPS.random(6, 6, dtype=dtype, seed=1)
    dense, tolerance = psi.to_dense(), 1e-5 if dtype is np.complex64 else 1e-12
    for bond, (values, levels) in enumerate(zip(schmidt_values(2 * psi), entanglement_spectrum(psi), strict=True), 1):
        s = np.linalg.svd(dense.reshape(2**bond, -1), compute_uv=False)[: len(values)]
        np.testing.assert_allclose(values, s, atol=tolerance)
        np.testing.assert_allclose(levels, -2 * np.log(s[s > 1e-5]), atol=1e3 * tolerance)
        for order in (0.5, 2, 3.5):
            expected = np.log((s ** (2 * order)).sum()) / (1 - order)
            assert entanglement_entropy(psi, bond, order=order) == pytest.approx(expected, abs=10 * tolerance)
        assert entanglement_entropy(psi, order=np.inf)[bond - 1] == pytest.approx(levels[0], abs=10 * tolerance)


def test_levels_that_rounding_hides_are_left_out():
    product = MPS.product([np.array([1.0, 0.2])] * 4).normalized()
    padded = MPS([np.pad(t, ((0, 3 * (i > 0)), (0, 0), (0, 3 * (i < 3)))) for i, t in enumerate(product)])
    noisy = MPS([t + 1e-16 for t in padded])
    for psi in (product, padded, noisy):
        np.testing.assert_allclose(np.concatenate(entanglement_spectrum(psi)), np.zeros(3), atol=1e-12)
        np.testing.assert_allclose(entanglement_entropy(psi, order=0.5), 0, atol=1e-12)


def test_states_of_definite_charge():
    psi = MPS.random(6, 8, conserve="Sz", seed=1)
    plain = psi.without_symmetry()
    for order in (0.5, 2, np.inf):
        np.testing.assert_allclose(entanglement_entropy(psi, order=order), entanglement_entropy(plain, order=order))
    sectors = entanglement_spectrum(psi, 3, by_sector=True)
    assert sorted(sectors) == [-3, -1, 1, 3]
    together = np.sort(np.concatenate(list(sectors.values())))
    np.testing.assert_allclose(together, entanglement_spectrum(psi, 3))
    np.testing.assert_allclose(together, entanglement_spectrum(plain, 3), rtol=1e-9)


@pytest.mark.parametrize("kind", [{}, {"conserve": "Sz"}], ids=["ordinary", "symmetric"])
@pytest.mark.sampled(1)
def test_derivatives_of_states(kind):
    psi = MPS.random(4, 3, seed=2, **kind)
    qad.check_grads(lambda psi: entanglement_entropy(psi, order=2), (psi,))
    qad.check_grads(lambda psi: entanglement_entropy(psi, order=np.inf), (psi,), order=1)
    qad.check_grads(lambda psi: entanglement_spectrum(psi, 2), (psi,), order=1)
    qad.check_grads(lambda psi: schmidt_values(psi, 2), (psi,), order=1)


def test_equal_schmidt_values():
    """Entropies have a derivative where Schmidt values coincide; single values have none."""
    singlets = MPS.from_dense(np.einsum("ab,cd->abcd", *[np.array([[0, 1.0], [-1, 0]])] * 2))
    slope = qad.grad(lambda psi: entanglement_entropy(psi, 1, order=2))(singlets)
    assert max(np.abs(t).max() for t in slope) < 1e-12  # at the maximum
    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(lambda psi: schmidt_values(psi, 1)[0])(singlets)


@pytest.mark.parametrize("order", [0, 0.3, -1, np.nan, 1j, "two"], ids=str)
def test_orders_that_make_no_sense(order):
    with pytest.raises(ArgumentError, match="from 1/2 to infinity"):
        entanglement_entropy(MPS.random(4, 2), order=order)
