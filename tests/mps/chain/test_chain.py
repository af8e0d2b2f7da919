"""States and operators as containers: making them, dense forms, bad input, pytrees."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import flatten, tree_map
from qad.mps import MPO, MPS


def test_random_open_chain_caps_its_bonds():
    psi = MPS.random(n=6, bond=5, seed=1)
    assert psi.bonds == (1, 2, 4, 5, 4, 2, 1)
    assert psi.bond == 5
    assert not psi.periodic
    assert len(psi) == 6
    assert psi[2] is psi.tensors[2]
    assert [t.shape for t in psi] == [(1, 2, 2), (2, 2, 4), (4, 2, 5), (5, 2, 4), (4, 2, 2), (2, 2, 1)]


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
@pytest.mark.parametrize("n, bond, phys", [(1, 3, 2), (5, 3, 2), (4, 4, 3), (3, 2, 1)])
def test_random_states_are_normalised_and_even(n, bond, phys, dtype, periodic):
    psi = MPS.random(n, bond, phys, dtype, seed=2, periodic=periodic)
    assert psi.dtype == np.dtype(dtype)
    tolerance = 1e-5 if psi.dtype.itemsize <= 8 and psi.dtype != np.float64 else 1e-13
    assert np.linalg.norm(psi.to_dense()) == pytest.approx(1, abs=tolerance)
    sizes = [np.linalg.norm(t) / np.sqrt(t.shape[0]) for t in psi]
    assert max(sizes) < 4 * min(sizes)


def test_random_states_follow_their_seed():
    one, same, other = (MPS.random(4, 3, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(one[1], same[1])
    assert not np.allclose(one[1], other[1])


@pytest.mark.parametrize("periodic", [False, True])
def test_dense_amplitudes_are_products_of_matrices(periodic):
    psi = MPS.random(4, 3, seed=1, periodic=periodic)
    dense = psi.to_dense()
    assert dense.shape == (2, 2, 2, 2)
    a, b, c, d = psi
    expected = np.trace(a[:, 0] @ b[:, 1] @ c[:, 1] @ d[:, 0])
    np.testing.assert_allclose(dense[0, 1, 1, 0], expected, rtol=1e-12)


def test_dense_operator_is_out_by_in():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 2, 2))
    H = MPO([m[None, None] for m in (x, y, z)])
    np.testing.assert_allclose(H.to_dense(), np.kron(np.kron(x, y), z))
    v = MPS.random(3, 2, seed=3)
    ring = MPO(list(rng.normal(size=(3, 2, 2, 2, 2))))
    expected = np.einsum("abij,bckl,camn->ikmjln", *ring).reshape(8, 8)
    np.testing.assert_allclose(ring.to_dense(), expected)
    np.testing.assert_allclose((ring @ H).to_dense(), expected @ H.to_dense())
    assert ring.periodic
    assert v.to_dense().shape == v.phys


def test_product_states():
    up, plus = np.array([1.0, 0.0]), np.array([1.0, 1.0]) / np.sqrt(2)
    psi = MPS.product([up, plus, 1])
    np.testing.assert_allclose(psi.to_dense(), np.einsum("i,j,k->ijk", up, plus, [0, 1]))
    assert psi.bonds == (1, 1, 1, 1)
    assert MPS.product([0, 2], phys=3, dtype=np.float32).to_dense()[0, 2] == 1

    def amplitudes(angle):
        return MPS.product([np.stack([np.cos(angle), np.sin(angle)]), 0]).to_dense()

    _, tangent = qad.jvp(amplitudes, (0.3,), (1.0,))
    np.testing.assert_allclose(tangent[:, 0], [-np.sin(0.3), np.cos(0.3)])


def test_whole_numbers_become_floats():
    """One spin along x, not of norm 1, and one up."""
    psi = MPS.product([[1, 1], [1, 0]])
    np.testing.assert_allclose(qad.mps.measure(psi, "Sz"), [0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(psi.normalized().to_dense()[:, 0], [0.5**0.5, 0.5**0.5])
    flip = MPO([np.array([[[[0, 1], [1, 0]]]])] * 2)
    assert (psi.dtype, flip.dtype) == (float, float)
    later = qad.mps.evolve(psi, flip, np.pi / 2, 1, "tdvp2").state
    np.testing.assert_allclose(later.to_dense(), -1j * psi.normalized().to_dense()[::-1, ::-1], atol=1e-12)


@pytest.mark.parametrize(
    "states, error", [([2], ArgumentError), ([-1], ArgumentError), ([0.5], ShapeError), ([[[1, 0]]], ShapeError)]
)
def test_product_states_that_are_none(states, error):
    with pytest.raises(error, match="site 0"):
        MPS.product(states)


def test_bonds_that_do_not_fit():
    tensors = [np.zeros((1, 2, 3)), np.zeros((4, 2, 1))]
    with pytest.raises(ShapeError, match=r"sites 0 and 1 of the MPS does not fit.*dimension 3.*has 4"):
        MPS(tensors)
    with pytest.raises(ShapeError, match=r"site 1 of the MPS has shape \(2, 2\).*legs \(left, physical, right\)"):
        MPS([np.zeros((1, 2, 2)), np.zeros((2, 2))])
    with pytest.raises(ShapeError, match="ends of the MPO do not fit"):
        MPO([np.zeros((1, 3, 2, 2)), np.zeros((3, 2, 2, 2))])
    with pytest.raises(ShapeError, match="dimension 1 or more"):
        MPS([np.zeros((1, 0, 1))])
    with pytest.raises(ArgumentError, match="at least one site"):
        MPS([])


@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"n": 2.5}, {"n": "three"}, {"bond": 0}, {"phys": -1}, {"dtype": int}, {"dtype": bool}]
)
def test_random_refuses_nonsense(wrong):
    name = next(iter(wrong))
    with pytest.raises(ArgumentError, match=name):
        MPS.random(**({"n": 3, "bond": 2} | wrong))


def test_dense_forms_have_limits():
    with pytest.raises(ArgumentError, match="expectation"):
        MPS.random(60, 2).to_dense()
    with pytest.raises(ArgumentError, match="expectation"):
        qad.mps.heisenberg(30).to_dense()


def test_chains_are_pytrees():
    psi = MPS.random(3, 2)
    leaves, _ = flatten(psi)
    assert len(leaves) == 3
    doubled = tree_map(lambda x: 2 * x, psi)
    assert isinstance(doubled, MPS)
    np.testing.assert_array_equal(doubled[1], 2 * psi[1])
    assert isinstance(tree_map(lambda x: x, qad.mps.ising(3, 1.0)), MPO)


def test_repr():
    assert repr(MPS.random(3, 2, dtype=float)) == "MPS(3 sites, open, bonds 1-2-2-1, float64)"
    assert repr(MPS.random(2, 2, periodic=True)) == "MPS(2 sites, periodic, bonds 2-2-2, complex128)"
    assert repr(MPS.random(200, 4)) == "MPS(200 sites, open, bonds 1-2-4-4-4-...-4-4-4-2-1, complex128)"
