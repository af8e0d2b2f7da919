"""Arguments in the wrong order, and chains of the wrong kind, are answered with what to write."""

import re

import pytest

import qad
from qad import mps
from qad.core.errors import ArgumentError, GradientTypeError

H, PSI = mps.heisenberg(4), mps.MPS.random(4, 2)
CHARGED = mps.MPS.product([0, 1, 0, 1], conserve="Sz")


@pytest.mark.parametrize("psi", [PSI, CHARGED], ids=["dense", "charged"])
@pytest.mark.parametrize(
    "call",
    [
        lambda psi: mps.energy(H, psi),
        lambda psi: mps.expectation(H, psi),
        lambda psi: mps.variance(H, psi),
        lambda psi: mps.evolve(H, psi, 1.0, 2),
        lambda psi: mps.ground_state(psi),
        lambda psi: mps.thermal_state(psi, 1.0),
    ],
)
def test_swapped_arguments_say_so(call, psi):
    with pytest.raises(ArgumentError, match=r"states come first, energy\(psi, H\), evolve\(psi, H, time, steps\)"):
        call(psi)


@pytest.mark.parametrize(
    "call",
    [
        lambda psi: mps.energy(psi, H),
        lambda psi: mps.evolve(psi, H, 1.0, 2),
        lambda psi: mps.measure(psi, "Z"),
        lambda psi: mps.entanglement_entropy(psi),
        lambda psi: mps.norm(psi),
        lambda psi: mps.ground_state(H, start=psi),
    ],
)
def test_infinite_chains_are_sent_to_their_own_functions(call):
    with pytest.raises(ArgumentError, match=r"finite chains, not UniformMPS: .* qad\.mps\.uniform"):
        call(mps.uniform.UniformMPS.random(3))
    with pytest.raises(ArgumentError, match=r"UniformMPS is needed, but got MPS: write qad\.mps\.uniform\.UniformMPS"):
        mps.uniform.local_expectations(PSI, "Z")


@pytest.mark.parametrize("transform", [qad.grad, qad.hessian, qad.value_and_grad])
@pytest.mark.parametrize(
    "search, instead",
    [
        (lambda g: mps.ground_state(mps.ising(4, g)), "energy(found.state, H)"),
        (lambda g: mps.ground_state(mps.OpSum(4).add(g, "Z", 0, "Z", 1).add(1.0, "X", 2)), "energy(found.state, H)"),
        (lambda g: mps.uniform.ground_state(mps.uniform.ising(g)), "qad.mps.uniform.ground_energy(h, bond)"),
        (lambda g: qad.peps.ground_state(qad.peps.ising(g), 2, 8), "qad.peps.energy(found.state, model, chi)"),
    ],
)
def test_searches_name_the_derivative_of_the_energy(search, instead, transform):
    with pytest.raises(GradientTypeError, match=re.escape(instead)):
        transform(lambda g: search(g).energy)(0.5)


@pytest.mark.parametrize("psi", [PSI, CHARGED], ids=["dense", "charged"])
@pytest.mark.parametrize(
    "call",
    [
        lambda psi: mps.apply(psi, psi, 1),
        lambda psi: mps.measure(psi, psi, 1),
        lambda psi: mps.multipoint(psi, ("Z",), psi),
        lambda psi: mps.evolve(psi, H, psi, 2),
        lambda psi: mps.mpo_exp(H, psi),
        lambda psi: mps.xxz(4, psi),
        lambda psi: mps.uniform.ising(psi),
    ],
)
def test_chains_are_no_numbers(call, psi):
    with pytest.raises(ArgumentError, match="MPS is a chain, where an array or a number is needed"):
        call(psi)


def test_what_is_no_operator_of_a_site():
    with pytest.raises(ArgumentError, match="an operator is a name, a matrix"):
        mps.measure(PSI, 1.0)
    with pytest.raises(ArgumentError, match="of no infinite chain"):
        mps.uniform.energy_density(mps.uniform.UniformMPS.random(bond=2), 3)
    with pytest.raises(ArgumentError, match="a UniformMPS is needed, but got int"):
        mps.uniform.uniform_schmidt_form(3)
