"""Hamiltonians of infinite chains: terms of any range as operators, energies, and what is refused."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import OpSum, uniform
from qad.mps.operators.power_law import power_law
from qad.mps.operators.uniform_mpo import of_neighbours, size_of
from qad.mps.uniform import UniformMPO, UniformMPS, UniformOpSum

Z = np.diag([1.0, -1.0])


def spins(total, coupling, i, j):
    total.add(coupling / 2, "Sp", i, "Sm", j).add(coupling / 2, "Sm", i, "Sp", j).add(coupling, "Sz", i, "Sz", j)


def window(H, cells):
    """The terms within some cells, as a dense matrix."""
    first, last = np.eye(1, H.bonds[0])[:, :, None, None], np.eye(H.bonds[0])[:, -1:, None, None]
    tensors = list(H.tensors * cells)
    tensors[0] = np.tensordot(first[:, :, 0, 0], tensors[0], 1)
    tensors[-1] = np.einsum("abst,bc->acst", tensors[-1], last[:, :, 0, 0])
    return qad.mps.MPO(tensors).to_dense()


def shifted(cell, sites, cells, write):
    """The same terms written one by one into a finite chain."""
    total = OpSum(cell * cells, sites)
    for start in range(cells):
        write(lambda c, *factors, at=cell * start: within(total, c, factors, at))
    return total.mpo().to_dense()


def within(total, coefficient, factors, at):
    moved = [x + at if isinstance(x, int) else x for x in factors]
    if all(x < len(total.sites) for x in moved if isinstance(x, int)):
        total.add(coefficient, *moved)


def two_sites(add):
    add(0.7, "Z", 0, "Z", 1), add(-0.4, "Z", 1, "X", 3, "Z", 4), add(0.2, "X", 0), add(1.1, "Y", 0, "Y", 4)
    add(0.3, "Z", 0, "X", 2), add(0.6, "X", 1, "X", 2), add(0.6, "Z", 1, "X", 2)


def hopping(add):
    add(-1.0 + 0.5j, "Cdag", 0, "C", 2), add(-1.0 - 0.5j, "Cdag", 2, "C", 0), add(0.3, "N", 0, "N", 1)


@pytest.mark.parametrize("cell, sites, write", [(2, "spin-1/2", two_sites), (1, "fermion", hopping)])
def test_terms_repeat(cell, sites, write):
    total = UniformOpSum(cell, sites)
    write(total.add)
    np.testing.assert_allclose(window(total.mpo(), 6 // cell), shifted(cell, sites, 6 // cell, write), atol=1e-14)


def test_channels_remember_what_takes_fewer():
    many = UniformOpSum()
    for k, weight in enumerate((0.3, 0.5, 0.7)):
        many.add(weight, [np.diag([1.0, k]), np.array([[0, 1.0], [1.0, k]]), np.eye(2) + k][k % 3], 0, "Z", 1, "X", 2)
    assert many.mpo().bond == 4  # the ends are shared
    assert many.dagger().mpo().bond == 4
    exponential = UniformOpSum().add_exponential(0.7, 0.5, "Z", "Z").add(0.1, "X", 0)
    finite = OpSum(5).add_exponential(0.7, 0.5, "Z", "Z")
    for i in range(5):
        finite.add(0.1, "X", i)
    np.testing.assert_allclose(window(exponential.mpo(), 5), finite.mpo().to_dense(), atol=1e-14)


def test_sums_of_sums():
    one, two = UniformOpSum(2).add(0.5, "Z", 0, "X", 3), UniformOpSum(2).add(0.25, "X", 1)
    both = 2.0 * (one + two) - two
    again = UniformOpSum(2).add(1.0, "Z", 2, "X", 5).add(0.25, "X", 3)  # the same, a cell further
    np.testing.assert_allclose(window(both.mpo(), 3), window(again.mpo(), 3), atol=1e-14)
    assert repr(one) == "UniformOpSum(a cell of 2 sites, 1 terms)"


@pytest.mark.parametrize("exponent, error", [(1.5, 1e-2), (2.0, 1e-4), (3.0, 1e-6), (6.0, 1e-8)])
def test_power_laws(exponent, error):
    weights, rates = power_law(exponent, error)
    r = np.arange(1.0, 20001)
    fit = np.exp(np.outer(r - 1, np.log(rates))) @ weights
    assert abs(fit - r**-exponent).sum() <= error
    assert rates.max() < 1
    coarse = power_law(exponent, 10 * error)[0]
    assert len(coarse) < len(weights) < 25


def test_two_site_terms_as_operators():
    rng = np.random.default_rng(0)
    h = rng.standard_normal((3, 3, 3, 3)) + 1j * rng.standard_normal((3, 3, 3, 3))
    h = h + h.conj().transpose(2, 3, 0, 1)
    psi = UniformMPS.random(4, 3, 2, seed=1)
    assert uniform.energy_density(psi, of_neighbours(h)) == pytest.approx(uniform.energy_density(psi, h), rel=1e-11)


def test_the_size_of_terms_is_that_of_their_spectrum():
    H = UniformOpSum().add(0.3, "Z", 0, "Z", 1).add(0.4, "Z", 0, "X", 2).add(7.0)
    assert size_of(H.mpo()) == pytest.approx(0.5, rel=0.3)  # in a window terms that reach out are missing
    assert size_of((1e-9 * H).mpo()) == pytest.approx(1e-9 * size_of(H.mpo()))


@pytest.mark.parametrize("cell", [1, 2, 3])
def test_energies_against_a_long_ring(cell):
    psi = UniformMPS.random(3, cell=cell, dtype=float, seed=1)
    H, ring = UniformOpSum(), OpSum(60)
    for add, sites in ((H.add, [0]), (ring.add, range(60))):
        for i in sites:
            j, k, m = ((i + d) % 60 for d in (1, 2, 5))
            add(0.7, "Z", i, "Z", j), add(0.3, "Z", i, "X", j, "Z", k), add(-0.2, "X", i, "X", m), add(0.4, "X", i)
    assert uniform.energy_density(psi, H) == pytest.approx(
        qad.mps.energy(qad.mps.MPS(psi.tensors * (60 // cell)), ring.mpo()) / 60, abs=1e-9
    )


def test_derivatives_of_the_energy():
    psi = UniformMPS.random(2, cell=1, seed=2)

    def energy(psi, couplings):
        H = (
            UniformOpSum()
            .add(couplings[0], "Z", 0, "Z", 2)
            .add(0.3, "X", 0)
            .add_exponential(0.2, couplings[1], "X", "X")
        )
        return uniform.energy_density(psi, H)

    qad.check_grads(energy, (psi, np.array([0.7, 0.4])), order=2, rtol=1e-5)


def test_bad_input():
    with pytest.raises(ArgumentError, match="odd number"):
        UniformOpSum(1, "fermion").add(1.0, "C", 3)
    with pytest.raises(ArgumentError, match="below 1"):
        UniformOpSum().add_exponential(1.0, 1.0, "Z", "Z")
    with pytest.raises(ArgumentError, match="above 1"):
        UniformOpSum().add_power_law(1.0, 1.0, "Z", "Z")
    with pytest.raises(ArgumentError, match="the same cell"):
        UniformOpSum(2) + UniformOpSum(3)
    with pytest.raises(ArgumentError, match="energy per site"):
        UniformOpSum() @ UniformOpSum()
    with pytest.raises(ArgumentError, match="UniformOpSum"):
        UniformOpSum().add(1.0, "Z", 0).mpo() * 2.0
    with pytest.raises(ArgumentError, match="triangular"):
        UniformMPO([np.ones((2, 2, 2, 2))])
    with pytest.raises(ShapeError, match="bonds of 2"):
        UniformMPO([np.ones((1, 1, 2, 2))])
    growing = UniformOpSum().add_exponential(1.0, 0.5, "Z", "Z").mpo()[0].copy()
    growing[1, 1] *= 2.0
    with pytest.raises(ArgumentError, match="decay"):
        UniformMPO([growing])
    H = UniformOpSum().add(1.0, "Sp", 0, "Sm", 1)
    with pytest.raises(ArgumentError, match="Hermitian"):
        uniform.energy_density(UniformMPS.random(2), H)
    with pytest.raises(ArgumentError, match="Hermitian"):
        uniform.ground_state(H)
    with pytest.raises(ShapeError, match="does not fit"):
        uniform.energy_density(UniformMPS.random(2, 3), H + H.dagger())
    both = UniformMPS([np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], axis=1)])
    with pytest.raises(ArgumentError, match="sum of several"):
        uniform.energy_density(both, UniformOpSum().add(1.0, "Z", 0))
