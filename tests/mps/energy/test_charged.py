"""The energy of symmetric states as one node: against plain ones, at first and second order."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, OpSum, energy
from qad.mps.chain.sandwich import quotient
from qad.mps.kernels.operators import operator_for
from qad.symmetric import SymTensor
from tests.cases import Case


def currents(n):
    """Hopping with a phase: a complex operator."""
    total = OpSum(n)
    for i in range(n - 1):
        total.add(0.5 + 0.3j, "Sp", i, "Sm", i + 1)
        total.add(0.5 - 0.3j, "Sm", i, "Sp", i + 1)
        total.add(0.2 * i, "Sz", i)
    return total.mpo()


OPERATORS = {
    "second neighbours": lambda n: qad.mps.j1j2(n, 1.0, 0.3),
    "complex": currents,
    "far": lambda n: qad.mps.heisenberg(n, periodic=n > 2),
}


def state(name, n, dtype, seed=0, bond=6):
    H = OPERATORS[name](n)
    return MPS.random(n, bond, dtype=dtype, seed=seed, conserve="Sz", sector=n % 2, kind=H.sites), H


CASES = [Case(lambda psi: energy(psi, currents(3)), (state("complex", 3, complex)[0],), name="symmetric")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_agree_with_differences(case):
    case.check()


def dense(function, *states):
    """Of ordinary states."""
    return function(*[psi.without_symmetry() for psi in states])


def alike(found, expected, tolerance):
    for one, two in zip(found.without_symmetry(), expected, strict=True):
        np.testing.assert_allclose(one, two, atol=tolerance)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("n", [2, 3, 6, 7])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.sampled(10)
def test_first_and_second_order(name, n, dtype):
    """Blocks off the charge have slopes of zero, and no directions."""
    psi, H = state(name, n, dtype)
    psi, along = 3.0 * psi, state(name, n, dtype, seed=1)[0]
    value, slopes = qad.value_and_grad(energy)(psi, H)
    expected = dense(lambda x: qad.value_and_grad(energy)(x, H), psi)
    np.testing.assert_allclose([value, energy(psi, H)], expected[0], atol=1e-13)
    alike(slopes, expected[1], 1e-13)
    twice = qad.hvp(lambda x: energy(x, H), (psi,), (along,))[0]
    alike(twice, dense(lambda x, t: qad.hvp(lambda y: energy(y, H), (x,), (t,))[0], psi, along), 1e-12)


def test_differences():
    psi, H = state("second neighbours", 4, complex)
    assert abs(qad.jvp(lambda x: energy(x, H), (psi,), (psi,))[1]) < 1e-13  # the size of a state is no part of it
    qad.check_grads(lambda x: energy(x, H), (psi,), order=2)


def test_single_precision():
    psi, H = state("second neighbours", 6, np.complex64)
    value, slopes = qad.value_and_grad(energy)(psi, H)
    assert value.dtype == np.float32 and slopes.dtype == np.complex64
    np.testing.assert_allclose(value, energy(psi.without_symmetry(), H), rtol=1e-5)


def test_sizes_that_overflow():
    """Norms are taken out on the way."""
    psi, H = state("second neighbours", 40, float)
    large = type(psi)([1e30 * t for t in psi], psi.conserved)
    value, slopes = qad.value_and_grad(energy)(large, H)
    expected = qad.value_and_grad(energy)(psi, H)
    np.testing.assert_allclose(value, expected[0])
    for one, two in zip(slopes, expected[1], strict=True):
        np.testing.assert_allclose(1e30 * one.data, two.data, atol=1e-12)


def test_other_transforms():
    psi, H = state("second neighbours", 6, float)
    data = [t.data for t in psi]

    def of_data(*data):
        return energy(type(psi)([SymTensor(t.layout, x) for t, x in zip(psi, data, strict=True)], psi.conserved), H)

    stacks = [np.stack([x, x + 0.1, 2 * x - 0.3]) for x in data]
    sites = operator_for(psi, H).sites
    examples = [[SymTensor(t.layout, x[i]) for t, x in zip(psi, stacks, strict=True)] for i in range(3)]
    expected = [quotient(tensors, sites) for tensors in examples]
    np.testing.assert_allclose(qad.vmap(of_data)(*stacks), expected, atol=1e-13)
    slopes = qad.vmap(qad.grad(of_data, argnums=2))(*stacks)
    np.testing.assert_allclose(slopes[1], qad.grad(of_data, argnums=2)(*[x[1] for x in stacks]), atol=1e-13)
    frozen = qad.freeze(qad.value_and_grad(of_data, argnums=(0, 3)))
    for _ in range(2):
        value, found = frozen(*data)
        expected = qad.value_and_grad(of_data, argnums=(0, 3))(*data)
        np.testing.assert_allclose(value, expected[0], atol=1e-13)
        for one, two in zip(found, expected[1], strict=True):
            np.testing.assert_allclose(one, two, atol=1e-13)


def test_refusals():
    psi, _ = state("second neighbours", 4, float)
    one_way = OpSum(4)
    one_way.add(1.0, "Sp", 0, "Sm", 1)
    with pytest.raises(ArgumentError, match="not Hermitian"):
        energy(psi, one_way.mpo())
    nothing = type(psi)([0.0 * psi[0], *psi[1:]], psi.conserved)
    with pytest.raises(ArgumentError, match="norm zero"):
        energy(nothing, qad.mps.j1j2(4, 1.0, 0.3))
