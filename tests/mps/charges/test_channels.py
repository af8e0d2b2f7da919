"""Charges of sites, of the channels of operators, and of the parts of sums."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPO, OpSum
from qad.mps.charges.channels import Channels
from qad.mps.charges.quantities import quantities
from qad.mps.kernels.charged import ChargedKernel

SPINS = ("Sx", "Sy", "Sz")


def heisenberg(n, names=SPINS):
    total = OpSum(n)
    for distance, coupling in ((1, 1.0), (2, 0.3)):
        for i in range(n - distance):
            for name in names:
                total.add(coupling, name, i, name, i + distance)
    return total


def test_heisenberg_in_three_components_conserves_sz():
    plain, split = heisenberg(8).mpo(), heisenberg(8).mpo(conserve="Sz")
    np.testing.assert_allclose(split.to_dense(), plain.to_dense(), atol=1e-14)
    assert split.bond == 8 and split.dtype == float
    conserved = quantities("Sz", split.sites)
    Channels(list(split), conserved)
    with pytest.raises(ArgumentError, match="does not conserve 'Sz': the term that takes .*OpSum"):
        Channels(list(plain), conserved)


@pytest.mark.parametrize(
    "total, conserve, message",
    [
        (heisenberg(4, ("Sx",)), "Sz", r"the term Sx\(0\) Sx\(1\) does not conserve 'Sz': a part of it adds -4"),
        (OpSum(3, "fermion").add(1.0, "C", 1), "N", r"the term F\(0\) C\(1\) does not conserve 'N'"),
        (OpSum(3).add_exponential(1.0, 0.5, "X", "X"), "Sz", "add_exponential of Sx Sx .* Sp with Sm"),
        (OpSum(3).add(1.0, "Z", 0), "N", "kind 'spin-1/2' knows no charges 'N'; it knows 'Sz', 'parity'"),
        (OpSum(3).add(1.0, "Z", 0), ("Sz", "Sz"), "each once"),
    ],
)
def test_sums_that_do_not_conserve(total, conserve, message):
    with pytest.raises(ArgumentError, match=message):
        total.mpo(conserve=conserve)


def test_parity_is_counted_modulo_two():
    """Pairs of fermions come and go: the Kitaev chain conserves the parity, not the number."""
    total = OpSum(4, "fermion")
    for i in range(3):
        total.add(-1.0, "Cdag", i, "C", i + 1).add(-1.0, "Cdag", i + 1, "C", i)
        total.add(-0.5, "Cdag", i, "Cdag", i + 1).add(-0.5, "C", i + 1, "C", i)
    H = total.mpo(conserve="parity")
    np.testing.assert_allclose(H.to_dense(), total.mpo().to_dense(), atol=1e-14)
    with pytest.raises(ArgumentError, match="does not conserve 'N'"):
        total.mpo(conserve="N")
    for parity in (0, 1):
        even = [k for k in range(16) if bin(k).count("1") % 2 == parity]
        exact = np.linalg.eigvalsh(H.to_dense()[np.ix_(even, even)])[0]
        found = qad.mps.ground_state(H, 8, "dmrg2", conserve="parity", sector=parity)
        assert found.energy == pytest.approx(exact, abs=1e-11)


def test_recorded_couplings_are_split():
    """Their derivative passes through the parts."""

    def entry(j):
        total = OpSum(3)
        for i in range(2):
            for name in SPINS:
                total.add(j, name, i, name, i + 1)
        return np.sum(total.mpo(conserve="Sz").to_dense()[1, 2])

    assert qad.grad(entry)(0.7) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "H, conserve",
    [
        (qad.mps.j1j2(6, 1.0, 0.3, periodic=True), "Sz"),
        (qad.mps.heisenberg(5) @ qad.mps.heisenberg(5), "Sz"),
        (qad.mps.blbq(4, 0.3), "parity"),
        (qad.mps.hubbard(4, 1.0, 4.0), ("N", "Sz")),
        (qad.mps.hubbard(4, 1.0, 4.0), "Sz"),
        (qad.mps.tj(4, 1.0, 0.4), ("Sz", "N")),
    ],
    ids=repr,
)
def test_symmetric_site_tensors(H, conserve):
    """They hold the whole operator, in the order of their legs."""
    conserved = quantities(conserve, H.sites)
    operator = ChargedKernel(list(H), conserved)
    for site, w in enumerate(operator.sites):
        left, right = operator.channels.orders[site : site + 2]
        phys = conserved.orders[site]
        np.testing.assert_array_equal(w.to_dense(), operator.tensors[site][np.ix_(left, right, phys, phys)])
    np.testing.assert_allclose(MPO(operator.tensors).to_dense(), H.to_dense(), atol=1e-13)


def test_channels_that_lead_nowhere():
    """Whatever stands in them, they are left out."""
    H = list(qad.mps.heisenberg(4))
    wide = [np.pad(w, ((0, i > 0), (0, i < 3), (0, 0), (0, 0))) for i, w in enumerate(H)]
    wide[1][-1, 2] = wide[2][1, -1] = wide[2][-1, -1] = [[1.0, 2.0], [3.0, 4.0]]
    operator = ChargedKernel(wide, quantities("Sz", ["spin-1/2"] * 4))
    np.testing.assert_allclose(MPO(operator.tensors).to_dense(), MPO(H).to_dense(), atol=1e-15)


def test_operators_keep_their_sites():
    H = qad.mps.hubbard(4, 1.0, 2.0)
    for other in (2.0 * H, H * 3.0, H + H, H - H, H @ H, H.mH):
        assert other.sites == H.sites
    assert MPO(list(H)).sites is None


def test_kinds_of_ones_own():
    """A clock of three states under a charge that the site is given."""
    kind = qad.mps.Site("three", {"Id": np.eye(3), "Up": np.eye(3, k=-1), "Down": np.eye(3, k=1)},
                        charges={"level": (0, 1, 2)})  # fmt: skip
    total = OpSum(4, kind)
    for i in range(3):
        total.add(1.0, "Up", i, "Down", i + 1).add(1.0, "Down", i, "Up", i + 1)
    H = total.mpo(conserve="level")
    states = np.indices((3,) * 4).sum(axis=0).ravel() == 3
    exact = np.linalg.eigvalsh(H.to_dense()[np.ix_(states, states)])[0]
    found = qad.mps.ground_state(H, 27, "dmrg2", conserve="level", sector=3)
    assert found.energy == pytest.approx(exact, abs=1e-11)
    assert found.state.conserved is not None
