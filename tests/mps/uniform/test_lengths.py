"""How correlations of infinite chains decay and oscillate: the AKLT state, as it is and turned along the chain."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import uniform
from qad.mps.charges.quantities import quantities
from qad.mps.uniform import UniformMPS
from qad.symmetric.legs import Leg

UP, ZERO, DOWN = np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])
SITE = np.stack([UP, ZERO, DOWN], axis=1)


def rotated(angle, conserve=None):
    """The AKLT state, site j turned about z by j times an angle."""
    site = SITE @ np.diag(np.exp(0.5j * angle * np.array([1, -1])))
    if conserve is None:
        return UniformMPS([site], kind="spin-1")
    conserved = quantities(conserve, ["spin-1"])
    bond = Leg({(-1,): 1, (1,): 1}, 1, conserved.symmetry)
    return UniformMPS([qad.symmetric.from_dense(site, (bond, *conserved.legs, bond.conj()))], conserved, "spin-1")


def test_lengths_and_wave_numbers():
    lengths, momenta = uniform.correlation_lengths(rotated(0.8), 9)
    np.testing.assert_allclose(lengths, [1 / np.log(3)] * 3)
    np.testing.assert_allclose(np.sort(momenta), [-np.pi + 0.8, np.pi - 0.8, np.pi])
    spiral = uniform.correlations(rotated(0.8), "Sp", "Sm", 3)[0]
    assert abs(np.angle(spiral[2] / spiral[1])) == pytest.approx(np.pi - 0.8)
    peak = uniform.structure_factor(rotated(0.8), "Sp", "Sm", [np.pi - 0.8, -np.pi + 0.8, np.pi])
    assert sorted(peak.real.round(9))[-1] == 4.0  # 2 S(pi) of the other one, 2 * 2
    lengths, momenta = uniform.correlation_lengths(UniformMPS(rotated(0.8).tensors * 2))
    np.testing.assert_allclose(lengths, [1 / np.log(3)] * 3)
    np.testing.assert_allclose(np.sort(momenta), [-0.8, 0.0, 0.8], atol=1e-9)
    one = UniformMPS([np.ones((1, 2, 1))])
    assert [len(x) for x in uniform.correlation_lengths(one)] == [0, 0]
    both = UniformMPS([np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], axis=1)])
    assert uniform.correlation_lengths(both, 1)[0] == [np.inf]


def test_charges():
    """The same of symmetric tensors, and Sp, which adds the charge 2: ``<Sp_i^+ Sp_(i+r)>``."""
    plain, state = rotated(0.8), rotated(0.8, "Sz")
    for function in (uniform.correlations, uniform.structure_factor):
        last = 5 if function is uniform.correlations else [0.0, 0.3]
        np.testing.assert_allclose(function(state, "Sp", "Sm", last), function(plain, "Sp", "Sm", last), atol=1e-12)
    for charge, momentum in ((0, np.pi), (2, np.pi - 0.8), (-2, -np.pi + 0.8)):
        lengths, momenta = uniform.correlation_lengths(state, charge=charge)
        assert (lengths, momenta) == (pytest.approx([1 / np.log(3)]), pytest.approx([momentum]))
    raised = uniform.correlations(state, "Sm", "Sp", 2)[0]
    assert np.angle(raised[2] / raised[1]) == pytest.approx(np.pi - 0.8)
    np.testing.assert_allclose(uniform.correlation_lengths(state)[1], uniform.correlation_lengths(plain)[1], atol=1e-9)
    assert len(uniform.correlation_lengths(state, charge=6)[0]) == 0


@pytest.mark.parametrize("wrong, match", [
    (lambda psi: uniform.correlation_lengths(psi, 0), "k must be a whole number"),
    (lambda psi: uniform.correlation_lengths(psi, charge=2), "states that conserve"),
    (lambda psi: uniform.correlation_lengths(qad.mps.MPS(psi.tensors)), "a UniformMPS is needed"),
])  # fmt: skip
def test_bad_input(wrong, match):
    with pytest.raises(ArgumentError, match=match):
        wrong(rotated(0.8))
