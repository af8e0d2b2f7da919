"""Losses of the examples, with their gradients: frozen equal to eager."""

import numpy as np
import pytest

import qad
from tests.cases import normal
from tests.examples.loading import load
from tests.freeze.agree import disagreement

RING = load("circuits/01_vqe_ising_ring.py")
UNITARY = load("circuits/04_learning_a_unitary.py")
BORN = load("mps/04_born_machine.py")
TRG = load("trg/ising_trg.py")


def ring(theta):
    return RING.ansatz(theta, 4).expectation(RING.hamiltonian(4, 1.0))


def unitary(theta):
    return UNITARY.infidelity(theta, UNITARY.random_unitary(4, 0))


def born(psi):
    return BORN.negative_log_likelihood(psi, BORN.bars_and_stripes(2, 2))


LOSSES = {
    "ring": (ring, (normal(2, 2),)),
    "unitary": (unitary, (normal(2, 2, 3),)),
    "born": (born, (qad.mps.MPS.random(4, 3, seed=0),)),
    "trg": (lambda k: TRG.log_partition_function(k, 4, 3), (np.array(0.4),)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_examples(name):
    loss, point = LOSSES[name]
    assert disagreement(qad.value_and_grad(loss), point) is None
