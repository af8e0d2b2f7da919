"""Second derivatives of entropies where an eigenvalue is small: right to a ten-thousandth, or refused."""

import mpmath
import numpy as np
import pytest

import qad
from tests.fuzz.perturbation import derivatives
from tests.linalg.draw import unitary

ENTROPY = (
    lambda p: -p * mpmath.log(p), lambda p: -mpmath.log(p) - 1, lambda p: -1 / p, None,
)  # fmt: skip
WAYS = {
    "values": lambda a: np.linalg.eigvalsh(a),
    "values and vectors": lambda a: np.linalg.eigh(a)[0],
}


def entropy(p):
    return -np.sum(p * np.log(p))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("small", [7e-15, 1e-13, 1e-11, 1e-9, 1e-6, 1e-3])
def test_entropies_of_eigenvalues(way, small):
    """At 7e-15 it was off by two hundredths."""
    p = np.array([0.6 - small, 0.4, small])
    for seed in range(3):
        v = unitary(3, seed=seed, real=True)
        e = np.random.default_rng(seed).standard_normal((3, 3))
        a, e = (v * p) @ v.T, e + e.T
        a = (a + a.T) / 2
        _, right, (_, size) = derivatives(ENTROPY, p, v, np.eye(3), e)
        for second in (
            lambda a, e=e: qad.hvp(lambda a: entropy(way(a)), (a,), (e,))[0],
            lambda a, e=e: qad.grad(lambda a: np.sum(e * qad.grad(lambda a: entropy(way(a)))(a)))(a),
        ):
            try:
                found = second(a)
            except qad.QadError:
                assert small < 1e-10
                continue
            assert np.abs(found - right).max() < max(1e-4, 30 * 2.2e-16 / small) * size
            assert small > 1e-14


def test_spectra_with_exact_zeros_keep_their_purity():
    v = unitary(3, real=True)
    a, e = (v * [0.7, 0.3, 0.0]) @ v.T, np.diag([1.0, 2.0, 3.0])
    found = qad.hvp(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2), (a,), (e,))[0]
    np.testing.assert_allclose(found, 2 * e, atol=1e-12)
