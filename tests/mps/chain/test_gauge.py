"""Canonical forms, truncation, sums, products and files: states unchanged, derivatives right, degenerate or not."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPO, MPS, energy, heisenberg, norm
from qad.mps.chain.gauge import isometric
from tests.cases import Case, normal

DTYPE = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])


def isometric_product(a):
    """What a loss may see of a factorisation: Q C, and the projector on Q."""
    q, c = isometric(a)
    return (q * 2.0) @ c, q @ q.conj().T


CASES = [
    Case(isometric_product, normal(5, 3, complex)),
    Case(isometric_product, normal(5, 3)),
    Case(isometric_product, normal(2, 4, complex)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def padded(psi, bond):
    """The same state with zeros in larger bonds."""
    last = len(psi) - 1
    return MPS([
        np.pad(t, ((0, 0 if i == 0 else bond - t.shape[0]), (0, 0), (0, 0 if i == last else bond - t.shape[2])))
        for i, t in enumerate(psi)
    ])  # fmt: skip


@DTYPE
def test_truncation_is_the_nearest_state_bond_by_bond(dtype):
    psi = MPS.random(7, 8, dtype=dtype, seed=1)
    small, error = psi.truncate(bond=3)
    assert small.bond == 3
    assert error == pytest.approx(np.linalg.norm(small.to_dense() - psi.to_dense()), rel=1e-12)
    schmidt = np.linalg.svd(psi.to_dense().reshape(8, -1), compute_uv=False)
    assert error >= np.linalg.norm(schmidt[3:])
    same, nothing = psi.truncate()
    np.testing.assert_allclose(same.to_dense(), psi.to_dense(), atol=1e-13)
    assert nothing < 1e-13
    assert psi.truncate(cutoff=0.3)[0].bond < 8


@DTYPE
@pytest.mark.sampled(1)
def test_derivatives_through_gauge_and_truncation(dtype):
    psi, H = MPS.random(5, 4, dtype=dtype, seed=2), heisenberg(5)
    qad.check_grads(lambda psi: energy(psi.canonicalize(2), H), (psi,))
    qad.check_grads(lambda psi: energy(psi.truncate(2)[0], H), (psi,), order=1)
    qad.check_grads(lambda psi: psi.truncate(2)[1], (psi,), order=1)
    qad.check_grads(lambda psi: norm(psi.normalized().canonicalize(0) + psi), (psi,), order=1)


@pytest.mark.parametrize(
    "form",
    [lambda p: p.canonicalize(2), lambda p: p.truncate(4)[0], lambda p: p.truncate(1)[0], lambda p: p.truncate()[0]],
    ids=["canonical", "to 4", "to 1", "cutoff"],
)
def test_padded_product_states_have_finite_right_gradients(form):
    """Seven of eight Schmidt values vanish on every bond."""
    product = MPS.product([np.array([1, 0.3]), np.array([0.2, 1j]), np.array([1.0, 0.5]), 1, 0])
    psi, H = padded(product, 8), heisenberg(5)
    for loss in (energy, lambda psi, H: qad.mps.overlap(psi, product).real):
        expected, found = qad.grad(loss)(psi, H), qad.grad(lambda psi, H, loss=loss: loss(form(psi), H))(psi, H)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-13)


def test_coinciding_schmidt_values():
    """Singlets on neighbours: all Schmidt values are equal, and nothing is divided by their differences."""
    singlets = np.einsum("ab,cd,ef->abcdef", *[np.array([[0, 1.0], [-1, 0]])] * 3)
    psi, H = MPS.from_dense(singlets), heisenberg(6)
    qad.check_grads(lambda psi: energy(psi.canonicalize(3), H), (psi,), order=1)
    qad.check_grads(lambda psi: energy(psi.truncate(4)[0], H), (psi,), order=1)


def test_dropped_directions_that_could_gain_weight_are_refused():
    rng = np.random.default_rng(0)
    a, b, c, *rest = MPS.random(5, 2, seed=1)
    wider = MPS([a, np.concatenate([b, 0 * b], 2), np.concatenate([c, rng.normal(size=c.shape)], 0), *rest])
    H = heisenberg(5)
    assert energy(wider.canonicalize(0), H) == pytest.approx(energy(wider, H))
    with pytest.raises(ArgumentError, match="carry no weight yet but could"):
        qad.grad(lambda psi: energy(psi.canonicalize(2), H))(wider)
    doubled = MPS.random(4, 2, seed=1) + MPS.random(4, 2, seed=1)  # deficient from both sides: nothing is lost
    expected = qad.grad(energy)(doubled, heisenberg(4))
    found = qad.grad(lambda psi: energy(psi.canonicalize(1), heisenberg(4)))(doubled)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-13)


def test_losses_that_see_the_gauge_are_refused():
    with pytest.raises(ArgumentError, match="basis of a bond"):
        qad.grad(lambda psi: abs(psi.canonicalize(2)[1][0, 0, 0]) ** 2)(MPS.random(5, 3))


def test_gradients_that_vanish_are_no_gauge_dependence():
    """At an eigenstate all that is left of the gradient is rounding."""
    g = qad.grad(lambda psi: energy(psi.truncate(2)[0].canonicalize(1), heisenberg(4)))(MPS.product([0, 0, 0, 0]))
    assert max(np.abs(t).max() for t in g) < 1e-14


@pytest.mark.parametrize("method", [lambda p: p.canonicalize(1), lambda p: p.truncate(2)])
def test_rings_have_no_canonical_form(method):
    ring = MPS.random(4, 2, periodic=True, seed=1)
    with pytest.raises(ShapeError, match=r"psi\.opened\(\)"):
        method(ring)
    np.testing.assert_allclose(ring.opened().to_dense(), ring.to_dense(), atol=1e-14)
    small = ring.opened().truncate()[0]
    np.testing.assert_allclose(small.to_dense(), ring.to_dense(), atol=1e-13)
    qad.check_grads(lambda psi: norm(psi.opened()), (ring,), order=1)


def test_centers_that_do_not_exist():
    with pytest.raises(ArgumentError, match="no site 4"):
        MPS.random(4, 2).canonicalize(4)


@DTYPE
def test_dense_states_and_back(dtype):
    psi = MPS.random(5, 8, phys=3, dtype=dtype, seed=1).to_dense()
    state = MPS.from_dense(psi)
    np.testing.assert_allclose(state.to_dense(), psi, atol=1e-14)
    assert MPS.from_dense(psi, bond=2).bond == 2
    qad.check_grads(lambda psi: energy(MPS.from_dense(psi, 2), heisenberg(4)), (normal(2, 2, 2, 2, dtype),), order=1)
    with pytest.raises(ShapeError, match="one axis per site"):
        MPS.from_dense(np.ones(()))


@pytest.mark.parametrize("periodic", [False, True])
def test_linear_algebra_of_states(periodic):
    psi, phi = (MPS.random(4, 3, seed=s, periodic=periodic) for s in (1, 2))
    v, u = psi.to_dense(), phi.to_dense()
    np.testing.assert_allclose((psi + phi).to_dense(), v + u, atol=1e-14)
    np.testing.assert_allclose((2j * psi - phi / 3).to_dense(), 2j * v - u / 3, atol=1e-14)
    np.testing.assert_allclose((-psi).to_dense(), -v)
    assert psi @ phi == pytest.approx(np.vdot(v, u))
    H = heisenberg(4, periodic=True)
    np.testing.assert_allclose((H @ psi).to_dense().ravel(), H.to_dense() @ v.ravel(), atol=1e-14)
    np.testing.assert_allclose((H @ H + 2 * H).to_dense(), H.to_dense() @ (H.to_dense() + 2 * np.eye(16)), atol=1e-14)
    qad.check_grads(lambda psi, phi: norm(H @ (psi + 2j * phi)), (psi, phi), order=1)


def test_sites_that_do_not_fit():
    psi = MPS.random(4, 2)
    for other in (MPS.random(5, 2), MPS.random(4, 2, phys=3), MPS.random(4, 2, periodic=True)):
        with pytest.raises(ShapeError):
            psi + other
    with pytest.raises(ShapeError):
        psi @ MPS.random(5, 2)
    with pytest.raises(ShapeError):
        heisenberg(5) @ psi
    with pytest.raises(ShapeError):
        heisenberg(4, spin=1) @ psi
    with pytest.raises(TypeError):
        psi + heisenberg(4)


def test_adjoint_operators():
    H = qad.mps.OpSum(3).add(1j, "Sp", 0, "Sz", 2).mpo()
    np.testing.assert_allclose(H.mH.to_dense(), H.to_dense().conj().T)


def test_shared_tensors_have_one_gradient():
    a = normal(3, 2, 3, complex)
    H, ring = heisenberg(6, periodic=True), MPS.uniform([a], 6)
    g = qad.grad(energy)(ring, H)
    separate = qad.grad(energy)(MPS([a] * 6), H)
    np.testing.assert_allclose(g[0], sum(separate.tensors), atol=1e-13)
    assert g[0] is g[5]
    cell = MPS.uniform([normal(2, 2, 3), normal(3, 2, 2)], 6)
    assert len(qad.core.trees.flatten(cell)[0]) == 2
    qad.check_grads(lambda psi: energy(psi, H), (cell,), order=1)
    with pytest.raises(ArgumentError, match="5 sites cannot repeat a cell of 2"):
        MPS.uniform([normal(2, 2, 3), normal(3, 2, 2)], 5)


def test_norms_of_any_size():
    psi = MPS.random(1000, 4, seed=1)
    for scale in (1e-200, 1e200):
        same = MPS([scale * t for t in psi]).normalized()
        assert norm(same) == pytest.approx(1, rel=1e-11)
    with pytest.raises(ArgumentError, match="norm zero|is zero"):
        (0.0 * psi).normalized()
    with pytest.raises(ArgumentError, match="norm zero"):
        MPS([np.array([[[1.0, 0.0], [0.0, 0.0]]]), np.array([[[0.0], [0.0]], [[1.0], [1.0]]])]).normalized()


def test_files(tmp_path):
    path = tmp_path / "state.npz"
    ring = MPS.uniform([normal(2, 2, 3), normal(3, 2, 2)], 4)
    for chain in (MPS.random(4, 3, dtype=np.complex64), heisenberg(4), ring):
        chain.save(path)
        same = type(chain).load(path)
        assert same.sharing == chain.sharing
        assert same.dtype == chain.dtype
        for a, b in zip(chain, same, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ArgumentError, match="holds no MPO"):
        MPO.load(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ArgumentError, match="damaged"):
        MPS.load(path)
    np.savez(path, a=np.ones(3))
    with pytest.raises(ArgumentError, match="nothing that qad wrote"):
        MPS.load(path)
    path.write_text("text")
    with pytest.raises(ArgumentError, match="damaged"):
        MPS.load(path)
    with pytest.raises(FileNotFoundError):
        MPS.load(tmp_path / "none.npz")
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_truncation_refuses_a_derivative_by_what_carries_no_weight_yet(conserve):
    """The gradient was 0 without a word: at t = 0 the second direction of the bonds was dropped."""
    up, other = (MPS.product(bits, conserve=conserve) for bits in ([0, 1, 0, 1], [1, 0, 1, 0]))

    def overlap(t, **how):
        return qad.mps.overlap(other, (up + t * other).truncate(**how)[0]).real

    with pytest.raises(ArgumentError, match="carry no weight yet"):
        qad.grad(overlap)(0.0)
    assert qad.grad(overlap)(0.3) == pytest.approx(1.0)
    assert qad.grad(lambda t: overlap(t, bond=1))(0.3) == pytest.approx(0.0, abs=1e-12)  # cut off, as asked


def test_truncation_refuses_a_derivative_by_what_an_earlier_cut_took_away():
    """The cut of the first bond empties a direction of the second one, which a change fills: the gradient was 0."""
    psi, change = np.zeros((2, 3, 3, 3))
    psi[0, 0, 0], psi[1, 1, 0], psi[2, 2, 1], change[0, 1, 1] = 1.0, 0.8, 0.5, 1.0
    state, other = MPS.from_dense(psi), MPS.from_dense(change)

    def overlap(t, bond):
        return qad.mps.overlap(other, (state + t * other).truncate(bond)[0])

    assert overlap(1e-3, 2) == pytest.approx(1e-3)
    with pytest.raises(ArgumentError, match="bond 2 has directions that carry no weight yet"):
        qad.grad(overlap)(0.0, 2)
    assert qad.grad(overlap)(0.0, 3) == pytest.approx(1.0)
    assert qad.grad(overlap)(0.0, 1) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("of", [0, 1])
def test_truncation_refuses_a_derivative_by_a_cut_through_equal_schmidt_values(conserve, of):
    """Of a cat state either half may stay: the norm of what does, and of what is cut off, has a kink."""
    up, down = (MPS.product(bits, conserve=conserve) for bits in ([0, 1, 0, 1], [1, 0, 1, 0]))

    def size(t):
        kept, error = ((1 + t) * up + (1 - t) * down).truncate(bond=1)
        return error if of else qad.mps.norm(kept)

    assert size(1e-3) == pytest.approx(size(-1e-3))
    for slope in (qad.grad(size), lambda t: qad.jvp(size, (t,), (1.0,))):
        with pytest.raises(ArgumentError, match="rank 1 cuts through"):
            slope(0.0)
    assert qad.grad(size)(0.1) == pytest.approx(-1.0 if of else 1.0)


@pytest.mark.parametrize("kind", [MPS, MPO])
def test_dense_arrays_keep_what_carries_no_weight_yet(kind):
    """At t = 0 the state is a product, but its derivative is none: bonds of a recorded array have room for it."""
    rng, ones = np.random.default_rng(2), np.zeros((2, 2, 2, 2))
    ones[0, 0, 0, 0] = 1.0
    one, other = (np.eye(8), rng.normal(size=(8, 8))) if kind is MPO else (ones, rng.normal(size=ones.shape))

    def rebuilt(t, **how):
        return np.sum(other * (kind.from_dense(one + t * other, **how).to_dense() - one) ** 3)

    for t in (0.0, 0.3):
        slope = rebuilt
        for expected in (3 * t**2, 6 * t, 6.0):
            slope = qad.grad(slope)
            assert slope(t) == pytest.approx(np.sum(other**4) * expected, rel=1e-9, abs=1e-12)
    assert kind.from_dense(one).bond == 1
    with pytest.raises(ArgumentError, match="Leave bond out"):
        qad.grad(lambda t: rebuilt(t, bond=2))(0.0)
    assert np.isfinite(qad.grad(lambda t: rebuilt(t, bond=1))(0.0))  # the rest is cut off, as asked
