"""Decompositions of symmetric tensors: factors, spectra and derivatives are those of dense matrices."""

import numpy as np
import pytest
from hypothesis import assume, given

import qad
from qad.core.errors import ArgumentError, BatchError, ShapeError
from qad.symmetric import (
    Leg,
    eigh,
    expm,
    eye,
    from_blocks,
    from_dense,
    funm_herm,
    funm_svd,
    norm,
    qr,
    random,
    scale,
    split,
    svd,
    tensordot,
    truncated_svd,
    zeros,
)
from tests.symmetric.draw import close, digits, few, some, squares, tensors

LEFT, SPIN, RIGHT = Leg({-1: 3, 1: 2}, +1), Leg({1: 1, -1: 1}, +1), Leg({2: 1, -2: 2, 0: 3}, -1)
A = random((LEFT, SPIN, RIGHT), seed=1, dtype=complex)
LEG = Leg({0: 3, 1: 2}, +1)


def dense_matrix(a):
    """The dense tensor as a matrix of its first legs and the others."""
    return a.to_dense().reshape(int(np.prod(a.shape[: a.layout.split])), -1)


def isometric(q):
    """Whether the last leg's columns are orthonormal."""
    axes = list(range(q.ndim - 1))
    close(tensordot(q.conj(), q, (axes, axes)).to_dense(), np.eye(q.shape[-1]), digits(q))


@given(a=tensors(least=2))
@some
def test_svd(a):
    u, s, v = svd(a)
    assert u.charge == a.symmetry.shown(a.symmetry.neutral) and v.charge == a.charge
    assert u.legs[-1].flow == -1 and v.legs[0] == u.legs[-1].conj() and u.dtype == a.dtype
    close(tensordot(scale(u, s), v, 1).to_dense(), a.to_dense(), 10 * digits(a))
    isometric(u)
    isometric(v.conj().transpose(*range(1, v.ndim), 0))
    whole = np.linalg.svd(dense_matrix(a), compute_uv=False)
    close(np.sort(s)[::-1], whole[: len(s)], 10 * digits(a))
    close(whole[len(s) :], np.zeros(len(whole) - len(s)), 10 * digits(a))


@given(a=tensors(least=2))
@some
def test_qr(a):
    q, r = qr(a)
    close(tensordot(q, r, 1).to_dense(), a.to_dense(), 10 * digits(a))
    isometric(q)
    for matrix in r.resplit(1).sectors():
        close(np.tril(matrix, -1), np.zeros(matrix.shape), 0)


@given(a=squares())
@some
def test_eigh_and_expm(a):
    half = a.ndim // 2
    h = a + a.conj().transpose(*range(half, a.ndim), *range(half))
    w, v = eigh(h)
    isometric(v)
    close(tensordot(scale(v, w), v.conj(), ([-1], [-1])).to_dense(), h.to_dense(), 10 * digits(a))
    n = int(np.prod(a.shape[:half]))
    close(np.sort(w), np.linalg.eigvalsh(h.to_dense().reshape(n, n)), 10 * digits(a))
    small = a / (1 + a.norm())
    found, expected = expm(small).to_dense(), qad.linalg.expm(small.to_dense().reshape(n, n))
    close(found.reshape(n, n), expected, 10 * digits(a))


@given(a=tensors(least=2))
@some
def test_truncation(a):
    whole = np.linalg.svd(dense_matrix(a), compute_uv=False)
    rank = max(1, len(svd(a)[1]) // 2)
    u, s, v, error = truncated_svd(a, rank, multiplets="cut")
    assert len(s) == rank == v.legs[0].dim
    close(np.sort(s)[::-1], whole[:rank], 10 * digits(a))
    close(error, np.linalg.norm(whole[rank:]), 10 * digits(a))
    close(norm(tensordot(scale(u, s), v, 1) - a), error, 10 * digits(a))
    left, right = split(a, rank, multiplets="cut")
    close(tensordot(left, right, 1).to_dense(), tensordot(scale(u, s), v, 1).to_dense(), 10 * digits(a))
    close(left.norm(), right.norm(), 10 * digits(a))


@given(a=tensors(least=2, most=3, dtype=np.complex128))
@few
def test_derivatives_are_dense_derivatives(a):
    """Of functions that do not depend on the basis of the bond, by elements of the tensor."""
    s = svd(a)[1]
    rank = max(1, len(s) // 2)
    sizes = np.sort(s)[::-1]
    assume(np.diff(-sizes).min(initial=1.0) > 0.05)
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(a.shape)
    rows = int(np.prod(a.shape[: a.layout.split]))

    def ours(a):
        u, s, v, error = truncated_svd(a, rank)
        kept = tensordot(scale(u, s**2), v, 1)
        left, right = split(a, rank)
        return np.sum(weights * np.abs(kept.to_dense() + tensordot(left, right, 1).to_dense()) ** 2) + error

    def dense(x):
        u, s, v, error = qad.linalg.truncated_svd(x.reshape(rows, -1), rank)
        left, right = qad.linalg.split(x.reshape(rows, -1), rank)
        whole = ((u * s**2) @ v + left @ right).reshape(a.shape)
        return np.sum(weights * np.abs(whole) ** 2) + error

    assert ours(a) == pytest.approx(dense(a.to_dense()), rel=1e-10)
    found, expected = qad.grad(ours)(a), qad.grad(dense)(a.to_dense())
    close(found.to_dense(), np.where(found.to_dense() != 0, expected, 0), 1e-9)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(svd(a)[1] ** 3),
        lambda a: np.abs(svd(a)[0].to_dense()) ** 2,
        lambda a: tensordot(*qr(a), 1).data ** 2 + 0 * np.sum(np.abs(qr(a)[1].data) ** 2),
        lambda a: np.abs(qr(a)[1].data) ** 2,
        lambda a: truncated_svd(a, 3)[1],
        lambda a: truncated_svd(a, 3)[3],
        lambda a: np.abs(tensordot(*split(a, 3), 1).data) ** 2,
        lambda a: expm(tensordot(a, a.conj(), ([2], [2])) / 20).data,
        lambda a: eigh(tensordot(a, a.conj(), ([0, 1], [0, 1])))[0],
    ],
)
def test_second_order(f):
    qad.check_grads(f, (A,), order=2)


def test_coinciding_values():
    """In different sectors they make no difference; within one the loss must not depend on the basis, as if dense."""
    a = from_dense(np.diag([2.0, 2.0, 1.0, 2.0, 0.5]), (LEG, LEG.conj()))
    weights = random(a.legs, seed=4)

    def ours(a):
        left, right = split(a)
        both = funm_svd(lambda s: s**3, a) + funm_herm(np.exp, a) + tensordot(left, right, 1)
        return np.sum(both.data * weights.data)

    def dense(x):
        u, s, v = np.linalg.svd(x, full_matrices=False)
        return np.sum(((u * s**3) @ v + qad.linalg.funm_herm(np.exp, x) + x) * weights.to_dense())

    close(qad.grad(ours)(a).to_dense(), qad.grad(dense)(a.to_dense()) * (weights.to_dense() != 0), 1e-10)
    qad.check_grads(lambda a: funm_svd(lambda s: s**3, a).data, (a,))
    with pytest.raises(ArgumentError, match="degenerate|coincid"):
        qad.grad(lambda a: np.sum(svd(a)[0].data * np.arange(13)))(a)
    apart = from_dense(np.diag([2.0, 1.5, 1.0, 2.0, 0.5]), (LEG, LEG.conj()))
    qad.check_grads(lambda a: svd(a)[0].data ** 2, (apart,))


def test_the_same_under_conjugation():
    """Sectors of the conjugate lie in the same order: values and factors are the conjugates."""
    u, s, _ = svd(A)
    x, t, y = svd(A.conj())
    assert dict(zip(u.legs[-1].sectors, u.legs[-1].dims, strict=True)) == {-q: n for q, n in x.legs[-1].sectors.items()}
    close(np.sort(s), np.sort(t), 1e-13)
    close(tensordot(scale(x, t), y, 1).to_dense(), A.to_dense().conj(), 1e-12)


# -- truncation over all sectors ---------------------------------------------------------------------------------------


def diagonal(*values):
    """A map of charges -1, 0, 1, ... whose singular values are given, one list for each charge."""
    leg = Leg({q - 1: len(own) for q, own in enumerate(values)}, +1)
    return from_dense(np.diag(np.concatenate(values)), (leg, leg.conj()))


def test_ties_are_cut_in_the_order_of_sectors_whatever_rounding_says():
    for noise in (0.0, 1e-15, -1e-15):
        a = diagonal([2.0, 1.0], [3.0, 0.1], [2.0, 1.0 + noise])
        bond = truncated_svd(a, 4)[0].legs[-1]
        assert bond.sectors == {-1: 2, 0: 1, 1: 1}
        assert truncated_svd(a, 4, multiplets="drop")[0].legs[-1].sectors == {-1: 1, 0: 1, 1: 1}
        assert truncated_svd(a, 5)[0].legs[-1].sectors == {-1: 2, 0: 1, 1: 2}


def test_ties_do_not_ask_how_legs_are_ordered():
    for order in ((-1, 0, 1), (1, 0, -1), (0, 1, -1)):
        leg = Leg(dict.fromkeys(order, 1), +1)
        assert truncated_svd(eye(leg), 2)[0].legs[-1].sectors == {-1: 1, 0: 1}


def test_cutoffs_count_over_all_sectors():
    a = diagonal([2.0, 1e-3], [1e-2], [4.0])
    assert truncated_svd(a, cutoff=1e-3)[0].legs[-1].sectors == {-1: 1, 0: 1, 1: 1}
    assert truncated_svd(a, cutoff=1e-2, relative=False)[0].legs[-1].sectors == {-1: 1, 1: 1}
    assert split(diagonal([2.0, 0.0], [1e-17], [1.0]))[0].legs[-1].sectors == {-1: 1, 1: 1}


def test_a_cut_within_a_sector_warns_and_has_no_derivative():
    a = diagonal([2.0, 1.0, 1.0], [3.0])
    with pytest.warns(RuntimeWarning, match="one sector that coincide"):
        truncated_svd(a, 3)
    with pytest.warns(RuntimeWarning), pytest.raises(ArgumentError):
        qad.grad(lambda a: np.sum(np.abs(truncated_svd(a, 3)[0].data) * np.arange(7)))(a)


@pytest.mark.parametrize("factors", [lambda a: truncated_svd(a, 2)[1], lambda a: split(a, 2)[0].data])
def test_a_cut_between_equal_values_of_two_sectors_is_chosen_and_has_no_derivative(factors):
    def loss(a):
        return np.sum(np.abs(factors(a)) ** 2)

    between, apart = diagonal([2.0, 1.0], [1.0, 0.2]), diagonal([2.0, 1.0], [0.9, 0.2])
    with pytest.raises(ArgumentError, match="rank 2 cuts through degenerate"):
        qad.grad(loss)(between)
    with pytest.raises(ArgumentError, match="rank 2 cuts through degenerate"):
        qad.jvp(loss, (between,), (between,))
    values = qad.vmap(lambda x: loss(type(between)(between.layout, x)))(np.stack([between.data, between.data]))
    np.testing.assert_allclose(values, loss(between), rtol=1e-14)  # values are as they are, of batches too
    assert np.count_nonzero(qad.grad(loss)(apart).data) == 2


def test_zeros_that_are_cut_do_not_trouble_losses_of_the_others():
    g = qad.grad(lambda a: truncated_svd(a, 2)[1][0])(diagonal([2.0, 0.0], [0.0, 0.0]))
    close(g.to_dense(), np.diag([1.0, 0, 0, 0]), 1e-12)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: truncated_svd(A, 0), ArgumentError, "leaves nothing"),
        (lambda: truncated_svd(A, -1), ArgumentError, "leaves nothing"),
        (lambda: truncated_svd(A, 1.5), ArgumentError, "max_rank=1.5 must be a whole number"),
        (lambda: split(zeros((SPIN, SPIN.conj()))), ArgumentError, "leaves nothing"),
        (lambda: truncated_svd(A, 3, multiplets="keep"), ArgumentError, "multiplets='keep'"),
        (lambda: eigh(A), ShapeError, "has to be the conjugate"),
        (lambda: eigh(random((SPIN, SPIN.conj()), charge=2)), ArgumentError, "is neutral, not 2"),
        (lambda: eigh(random((LEG, LEG.conj()))), ArgumentError, "not Hermitian"),
        (lambda: svd(A.to_dense()), ArgumentError, "takes a symmetric tensor, not ndarray"),
        (lambda: svd(A, 7), ArgumentError, "split=7"),
        (lambda: svd(from_blocks({(0, 0): [[np.nan]]}, (Leg({0: 1}, 1), Leg({0: 1}, -1)))), ArgumentError, "nan"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_an_empty_tensor_has_no_bond():
    a = tensordot(random((SPIN, SPIN.conj()), charge=2), random((SPIN, SPIN.conj()), charge=2), 1)
    assert a.size == 0 and not a.to_dense().any()
    with pytest.raises(ArgumentError, match="bond would be empty"):
        svd(a)


def test_under_vmap_and_freeze():
    def f(a):
        u, s, v, _ = truncated_svd(a, 3)
        return tensordot(scale(u, s), v, 1).norm()

    stack = np.stack([A.data, -2.0 * A.data])  # with the same ranks
    found = qad.vmap(lambda x: f(type(A)(A.layout, x)))(stack)
    np.testing.assert_allclose(found, [f(A), 2 * f(A)], rtol=1e-12)
    frozen = qad.freeze(lambda a: qad.grad(lambda a: np.sum(svd(a)[1] ** 3))(a))
    for factor in (1.0, 2.0):
        expected = qad.grad(lambda a: np.sum(svd(a)[1] ** 3))(factor * A)
        np.testing.assert_allclose(frozen(factor * A).data, expected.data, rtol=1e-10, atol=1e-12)
    cut = qad.freeze(lambda a: truncated_svd(a, 2)[1])
    for values in ([4.0, 3.0, 2.0, 1.0], [4.0, 1.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0]):  # of two sectors: other ranks
        np.testing.assert_allclose(np.sort(cut(diagonal(values[:2], values[2:]))), [3.0, 4.0])


@pytest.mark.parametrize("rank", [{"max_rank": 2}, {"cutoff": 0.6}])
def test_examples_of_a_batch_that_keep_other_sectors_are_refused(rank):
    one, two = diagonal([4.0, 3.0], [2.0, 1.0]), diagonal([1.0, 2.0], [3.0, 4.0])
    stack = np.stack([one.data, two.data])
    with pytest.raises(BatchError, match="keep different sectors"):
        qad.vmap(lambda x: truncated_svd(type(one)(one.layout, x), **rank)[3])(stack)
    with pytest.raises(BatchError, match="keep different sectors"):
        qad.vmap(lambda x: norm(split(type(one)(one.layout, x), **rank)[0]))(stack)
