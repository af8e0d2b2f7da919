"""Sums of products of operators as chains of small bonds, beside dense ones; and roots of densities by squaring."""

import numpy as np
import pytest

import qad
from qad.mps import MPO, ising, thermal_state, xxz
from qad.mps.thermal.products import chain_of, summed

RNG = np.random.default_rng(1)


def random_operator(legs, bond, dtype=complex):
    """Of normal entries."""
    sizes = [1, *[bond] * (len(legs) - 1), 1]
    shapes = [(sizes[k], sizes[k + 1], d, d) for k, d in enumerate(legs)]
    normal = (RNG.normal(size=s) + (1j * RNG.normal(size=s) if dtype is complex else 0) for s in shapes)
    return MPO(list(normal))


def dense(tensors):
    return MPO([t.transpose(0, 3, 1, 2) for t in tensors]).to_dense()


@pytest.mark.parametrize("legs", [(2,), (2, 3), (2, 3, 2, 2), (2,) * 6])
@pytest.mark.parametrize("dtype", [float, complex])
def test_sums_of_products(legs, dtype):
    a, b, c = (random_operator(legs, bond, dtype) for bond in (3, 2, 2))
    found, log_norm, lost = summed([(chain_of(a), chain_of(b)), (chain_of(c), chain_of(a))], 64, 0.0)
    exact = a.to_dense() @ b.to_dense() + c.to_dense() @ a.to_dense()
    np.testing.assert_allclose(np.exp(log_norm) * dense(found), exact, atol=1e-12 * np.linalg.norm(exact))
    assert lost < 1e-25 and found[0].dtype == exact.dtype
    for t in found[1:]:
        flat = t.reshape(len(t), -1)
        np.testing.assert_allclose(flat @ flat.conj().T, np.eye(len(t)), atol=1e-12)


def test_sums_are_nearly_as_near_as_cuts_of_the_whole():
    """Where the bond is too small: the loss is within a quarter of that of the best chain, cut bond by bond."""
    X = chain_of(thermal_root(xxz(8, 0.7), 2.0))
    exact = MPO([t.transpose(0, 3, 1, 2) for t in X]).to_dense()
    exact = exact @ exact
    exact = exact / np.linalg.norm(exact)
    found = dense(summed([(X, X)], 12, 0.0)[0])
    best = MPO.from_dense(exact).truncate(12)[0].to_dense()
    overlaps = [abs(np.vdot(x, exact)) / np.linalg.norm(x) for x in (found, best)]
    assert 1 - overlaps[0] < 1.25 * (1 - overlaps[1])


def thermal_root(H, beta):
    """``exp(-beta H / 2)`` as an operator, of norm 1."""
    tensors = thermal_state(H, beta).state.tensors
    return MPO([t.reshape(len(t), *w.shape[2:], -1).transpose(0, 3, 1, 2) for t, w in zip(tensors, H, strict=True)])


def test_nothing_is_a_sum_of_norm_zero():
    zero = chain_of(0.0 * ising(4, 1.0))
    tensors, log_norm, lost = summed([(zero, zero)], 8, 0.0)
    assert log_norm == -np.inf and lost == 0.0 and not np.any(tensors[0])


def test_roots_are_hermitian_and_of_the_density():
    H = qad.mps.xyz(5, 1.0, 0.8, 0.5, dm=(0, 0, 0.3))
    root = thermal_root(H, 3.0).to_dense()
    exact = qad.linalg.expm(-1.5 * H.to_dense())
    np.testing.assert_allclose(root, exact / np.linalg.norm(exact), atol=1e-8)


@pytest.mark.parametrize("n", [1, 2])
def test_short_chains(n):
    sum_ = qad.mps.OpSum(n)
    for i in range(n):
        sum_.add(0.7, "Z", i).add(0.2, "X", i)
    beta, h = 0.9, sum_.mpo().to_dense()
    levels = np.linalg.eigvalsh(h)
    hot = thermal_state(sum_, beta)
    assert hot.log_partition == pytest.approx(np.log(np.exp(-beta * levels).sum()), abs=1e-10)
    slope = qad.grad(lambda b: thermal_state(sum_, b).energy)(beta)
    p = np.exp(-beta * levels) / np.exp(-beta * levels).sum()
    assert slope == pytest.approx((p @ levels) ** 2 - p @ levels**2, abs=1e-9)


@pytest.mark.filterwarnings("ignore:qad.freeze")
def test_values_follow_their_arguments_where_they_are_frozen():
    """What is decided by numbers, how often to square for one, is recorded anew."""
    frozen = qad.freeze(lambda g: thermal_state(ising(4, g), 0.5).energy)
    for g in (0.5, 0.51, 5.0):
        assert frozen(g) == pytest.approx(thermal_state(ising(4, g), 0.5).energy, abs=1e-12)
