"""Chains from TeNPy and to it: states, operators, energies, with charges and without."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

pytest.importorskip("tenpy", reason="the optional package tenpy (physics-tenpy) is not installed")

from tenpy.models.xxz_chain import XXZChain, XXZChain2
from tenpy.networks.mps import MPS

from qad.interop.tenpy import from_tenpy, to_tenpy

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of TeNPy's, about arguments of times to come


PARAMETERS = {"L": 4, "Jxx": 1.0, "Jz": 0.7, "hz": 0.3, "bc_MPS": "finite"}


def model(conserve):
    return XXZChain({**PARAMETERS, "conserve": conserve})


def dense(model, names):
    """The Hamiltonian in the basis in which qad counts, from their operators."""
    site = model.lat.mps_sites()[0]
    order = np.argsort(site.perm)
    op = {name: getattr(site, name).to_ndarray()[np.ix_(order, order)] for name in names}
    total = 0
    for i in range(4):
        for a, b, factor in (("Sp", "Sm", 0.5), ("Sm", "Sp", 0.5), ("Sz", "Sz", 0.7)):
            if i < 3:
                total = total + factor * product({i: op[a], i + 1: op[b]})
        total = total - 0.3 * product({i: op["Sz"]})
    return total


def product(places):
    out = np.eye(1)
    for i in range(4):
        out = np.kron(out, places.get(i, np.eye(2)))
    return out


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_operators_are_sliced_at_their_ends(conserve):
    m = model(conserve)
    np.testing.assert_allclose(from_tenpy(m.H_MPO).to_dense(), dense(m, ["Sp", "Sm", "Sz"]), atol=1e-14)


def test_an_operator_with_its_conjugate_left_out_is_completed():
    whole, half = model(None), XXZChain2({**PARAMETERS, "conserve": None, "explicit_plus_hc": True})
    assert half.H_MPO.explicit_plus_hc
    np.testing.assert_allclose(from_tenpy(half.H_MPO).to_dense(), from_tenpy(whole.H_MPO).to_dense(), atol=1e-14)


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_states_with_charges_and_their_energies(conserve):
    m = model(conserve)
    theirs = MPS.from_product_state(m.lat.mps_sites(), ["up", "down", "up", "up"])
    theirs.norm = 0.5
    psi = from_tenpy(theirs)
    assert abs(psi.to_dense()[0, 1, 0, 0]) == 0.5  # up is their state 0
    np.testing.assert_allclose(qad.mps.energy(psi, from_tenpy(m.H_MPO)), m.H_MPO.expectation_value(theirs).real)


def test_there_and_back():
    psi, h = qad.mps.MPS.random(4, 3, seed=1), qad.mps.heisenberg(4)
    theirs = to_tenpy(psi * 2.0)
    assert abs(theirs.norm - 2) < 1e-12
    np.testing.assert_allclose(from_tenpy(theirs).to_dense(), 2 * psi.to_dense(), atol=1e-13)
    np.testing.assert_allclose(from_tenpy(to_tenpy(h)).to_dense(), h.to_dense(), atol=1e-13)
    value = to_tenpy(h).expectation_value(to_tenpy(psi))
    np.testing.assert_allclose(value, qad.mps.energy(psi, h), atol=1e-12)


def test_what_is_refused():
    infinite = MPS.from_product_state(model(None).lat.mps_sites()[:2], ["up", "down"], bc="infinite")
    with pytest.raises(ArgumentError, match="only finite chains"):
        from_tenpy(infinite)
    with pytest.raises(ArgumentError, match="neither an MPS nor an MPO"):
        from_tenpy(np.ones(2))
    with pytest.raises(ArgumentError, match="conserve=None"):
        to_tenpy(qad.mps.MPS.random(4, 2), model("Sz").lat.mps_sites())
    with pytest.raises(ArgumentError, match="periodic"):
        to_tenpy(qad.mps.MPS.random(4, 2, periodic=True))
    with pytest.raises(ArgumentError, match="without_symmetry"):
        to_tenpy(qad.mps.MPS.product([0, 1], conserve="Sz"))
