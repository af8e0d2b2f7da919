"""Programs on a GPU, by CuPy, give what they give on the host."""

import numpy as np
import pytest

import qad

pytestmark = pytest.mark.gpu
cupy = pytest.importorskip("cupy", reason="the optional package cupy is not installed")
if cupy.is_available() is False:
    pytest.skip("CuPy finds no GPU", allow_module_level=True)

RNG = np.random.default_rng(0)
MATRICES = [RNG.normal(size=(5, 5)) + 1j * RNG.normal(size=(5, 5)) for _ in range(3)]
PROGRAMS = {
    "network": (lambda a, b, c: qad.einsum("ij,jk,ki->", a, b, c).real, MATRICES),
    "singular values": (
        lambda a, b, c: np.sum(qad.linalg.svd(a @ b, full_matrices=False)[1]) + np.sum(abs(c)),
        MATRICES,
    ),
    "solve": (lambda a, b, c: np.sum(abs(qad.linalg.solve(a, b) - c) ** 2), MATRICES),
    "spectrum": (lambda a, b, c: np.sum(qad.linalg.eigh(a + a.conj().T)[0] ** 3) + np.sum((b * c).real), MATRICES),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_those_of_the_host(name):
    f, arrays = PROGRAMS[name]
    numbers = tuple(range(len(arrays)))
    value, gradient = qad.value_and_grad(f, numbers)(*arrays)
    there = qad.value_and_grad(f, numbers)(*qad.to_device(arrays, "cuda"))
    assert all(isinstance(x, cupy.ndarray) for x in there[1])
    np.testing.assert_allclose(qad.to_device(there[0], "cpu"), value, rtol=1e-10)
    for one, two in zip(qad.to_device(there[1], "cpu"), gradient, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)


def test_a_chain():
    psi, h = qad.mps.MPS.random(6, 8, seed=0), qad.mps.heisenberg(6)
    value, gradient = qad.value_and_grad(lambda psi: qad.mps.energy(psi, h))(psi)
    there = qad.to_device(h, "cuda")
    energy, slope = qad.value_and_grad(lambda psi: qad.mps.energy(psi, there))(qad.to_device(psi, "cuda"))
    np.testing.assert_allclose(qad.to_device(energy, "cpu"), value, rtol=1e-12)
    for one, two in zip(qad.to_device(slope, "cpu").tensors, gradient.tensors, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-11)


def test_gradients_travel_back():
    gradient = qad.grad(lambda x: np.sum(np.sin(qad.to_device(x, "cuda"))))(np.ones(3))
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, np.cos(np.ones(3)))


def test_devices_mixed_in_one_expression_raise():
    with pytest.raises(qad.errors.ArgumentError, match=r"qad\.to_device"):
        qad.grad(lambda x: np.sum(x * np.ones(3)))(cupy.ones(3))
