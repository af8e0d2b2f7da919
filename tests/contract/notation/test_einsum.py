"""einsum, tensordot and ncon: values against numpy, derivatives against differences, on random networks."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from tests.cases import Case, normal
from tests.contract.networks import operands_for, random_network


@pytest.mark.parametrize("count", range(1, 9))
def test_random_networks_equal_numpy(count):
    rng = np.random.default_rng(count)
    for kind in (float, complex, "mixed"):
        for _ in range(4):
            text, shapes = random_network(
                rng, count, extra=min(3, 2 * count - 2), hyper=True, repeat=bool(rng.integers(2))
            )
            operands = operands_for(rng, shapes, kind)
            expected = np.einsum(text, *operands, optimize=True)
            found = qad.einsum(text, *operands)
            assert np.shape(found) == np.shape(expected)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_random_networks_have_right_derivatives(count):
    rng = np.random.default_rng(10 + count)
    for kind in (complex, "mixed"):
        text, shapes = random_network(rng, count, extra=min(2, 2 * count - 2), most=2, hyper=True, repeat=True)
        operands = operands_for(rng, shapes, kind)
        variables = sorted(rng.choice(count, rng.integers(1, count + 1), replace=False).tolist())

        def network(*chosen, text=text, operands=operands, variables=variables):
            found = list(operands)
            for number, x in zip(variables, chosen, strict=True):
                found[number] = x
            return qad.einsum(text, *found)

        qad.check_grads(network, tuple(operands[number] for number in variables), order=2 if count < 5 else 1)


CASES = [
    Case(
        lambda a, b, c: qad.einsum("ij,jk,kl->il", a, b, c),
        (normal(2, 3), normal(3, 2, complex), normal(2, 2, complex)),
    ),
    Case(lambda *x: qad.einsum("abb,bc,cd,da->", *x), tuple(normal(2, 2, *n, complex) for n in [(2,), (), (), ()])),
    Case(lambda a, b: np.tensordot(a, b, 1), (normal(2, 3), normal(3, 2, complex))),
    Case(lambda a: qad.einsum("iij->j", a), normal(2, 2, 3, complex)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


SPECIAL = [
    ("ii->", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ij", (2, 2, 3)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("->", ()),
    ("i->i", (3,)),
    ("ij,j->ij", (2, 3), (3,)),
    ("i,j->ij", (2,), (3,)),
    (",->", (), ()),
    (",ij->ij", (), (2, 3)),
    ("ij,kl->ik", (2, 3), (2, 3)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    ("i...,i...->...", (2, 3), (2, 1, 3)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("a,a,a->", (3,), (3,), (3,)),
    ("ab,ac,ad->bcd", (3, 2), (3, 2), (3, 2)),
    ("ijj,jk,kk->i", (2, 3, 3), (3, 2), (2, 2)),
    ("ij,jk,ki->", (2, 3), (3, 4), (4, 2)),
    ("ab,cd->", (2, 3), (2, 2)),
    ("ij,ij->", (1, 3), (2, 3)),
]


@pytest.mark.parametrize("case", SPECIAL, ids=lambda case: case[0])
def test_special_networks(case):
    text, *shapes = case
    rng = np.random.default_rng(0)
    operands = operands_for(rng, shapes)
    np.testing.assert_allclose(qad.einsum(text, *operands), np.einsum(text, *operands), atol=1e-12)
    qad.check_grads(lambda *operands: qad.einsum(text, *operands), operands)
    qad.check_grads(lambda x: qad.einsum(text, *[x] * len(operands)), (operands[0],)) if len(set(shapes)) == 1 else None


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((3, 3)).astype(dtype) for _ in range(2))
    assert qad.einsum("ij,jk,kl->il", a, b, a).dtype == dtype
    assert qad.grad(lambda a: qad.einsum("ij,ji->", a, b).real)(a).dtype == dtype


def test_memory_orders_and_empty_axes():
    rng = np.random.default_rng(0)
    a, b = rng.random((4, 3, 5)), rng.random((5, 3, 6))
    expected = np.einsum("ijk,kjl->il", a, b)
    for one in (a, np.asfortranarray(a), a[::-1, :, ::-1][::-1, :, ::-1]):
        for two in (b, np.asfortranarray(b), b.transpose(2, 0, 1).copy().transpose(1, 2, 0)):
            np.testing.assert_allclose(qad.einsum("ijk,kjl->il", one, two), expected)
    empty = np.ones((0, 3))
    assert qad.einsum("ij,jk->ik", empty, np.ones((3, 2))).shape == (0, 2)
    np.testing.assert_array_equal(qad.einsum("ji,jk->ik", empty, np.ones((0, 2))), np.zeros((3, 2)))
    assert qad.grad(lambda x: qad.einsum("ij,ij->", x, x))(empty).shape == (0, 3)


def test_numpys_functions_on_tensors():
    rng = np.random.default_rng(0)
    a, b, c = operands_for(rng, [(2, 3), (3, 4), (4, 2)])
    qad.check_grads(lambda a, b, c: np.einsum("ij,jk,ki", a, b, c), (a, b, c))
    qad.check_grads(lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), (a, b))
    qad.check_grads(lambda a, b: np.tensordot(a, b, 1), (a, b))
    qad.check_grads(
        lambda a, b: np.tensordot(a, b, axes=([0, 1], [1, 0])),
        (a, c[:3].copy() if False else operands_for(rng, [(3, 2)])[0]),
    )
    x = qad.tensor(a, requires_grad=True)
    assert type(np.einsum("ij->ji", x)) is qad.Tensor
    with pytest.raises(ArgumentError, match="out"):
        np.einsum("ij->ji", x, out=np.empty((3, 2), complex))
    with pytest.raises(ArgumentError, match="astype"):
        np.einsum("ij->ji", x, dtype=complex)


@pytest.mark.parametrize("text", ["ij->ji", "ii->", "ij,jk->ik", "ij,jk,kl->il", "ij,jk,kl,lm->im"])
def test_constant_tensors_give_constant_tensors(text):
    operands = operands_for(np.random.default_rng(0), [(2, 2)] * (text.count(",") + 1))
    found = qad.einsum(text, qad.tensor(operands[0]), *operands[1:])
    assert type(found) is qad.Tensor
    assert not found.requires_grad
    np.testing.assert_allclose(found.numpy(), np.einsum(text, *operands))


def test_levels_nest():
    a, b, c = operands_for(np.random.default_rng(0), [(2, 2)] * 3)

    def inner(a, b):
        return qad.grad(lambda b: qad.einsum("ij,jk,kl,li->", a, b, c, b).real)(b)

    qad.check_grads(inner, (a, b))
    qad.check_grads(
        lambda a: qad.hvp(lambda b: qad.einsum("ij,jk,kl,li->", a, b, c, b).real, (b,), (c,)), (a,), order=1
    )


def test_plain_arrays_stay_plain():
    a = np.ones((2, 3))
    assert type(qad.einsum("ij->ji", a)) is np.ndarray
    assert isinstance(qad.einsum("ij,ij->", a, a), np.floating)
    assert qad.einsum("i,i->", [1.0, 2.0], [3.0, 4.0]) == 11
    assert qad.einsum(",i->i", 2.0, [1.0, 2.0]).tolist() == [2.0, 4.0]


def test_gradient_of_n_operands_costs_about_three_times_the_value():
    p = qad.plan(",".join("abcdefghij"[i : i + 2] for i in range(9)) + ",ja->", *[(20, 20)] * 10)
    assert p.flops_with_gradient == 3 * p.flops


@pytest.mark.parametrize(
    "shapes, axes",
    [(((2, 3, 4), (4, 3, 5)), ([1, 2], [1, 0])), (((2, 3), (3, 2)), 1), (((2, 3), (2, 3)), 2), (((2,), (3,)), 0),
     (((2, 3), (5, 3)), (1, 1)), (((2, 3), (5, 3)), (-1, [-1])), (((2, 3, 4), (3, 4)), 2)],
)  # fmt: skip
def test_tensordot(shapes, axes):
    a, b = operands_for(np.random.default_rng(0), shapes)
    np.testing.assert_allclose(qad.tensordot(a, b, axes), np.tensordot(a, b, axes))
    qad.check_grads(lambda a, b: np.tensordot(a, b, axes), (a, b))


@pytest.mark.parametrize(
    "axes, kind",
    [(1, ShapeError), (np.int64(1), ShapeError), (([0], [1, 0]), ShapeError), (([0, 0], [0, 0]), ShapeError)]
    + [(axes, IndexError) for axes in (3, ([5], [0]), ([1], [-5]))]
    + [(axes, ArgumentError) for axes in (1.0, "x", None, (1,), ([0.5], [0]), 3 * ([0],))],
)
def test_tensordot_errors(axes, kind):
    for a in (np.ones((2, 3)), qad.tensor(np.ones((2, 3)))):
        with pytest.raises(kind, match="tensordot") as caught:
            np.tensordot(a, np.ones((4, 2)), axes) if type(a) is qad.Tensor else qad.tensordot(a, np.ones((4, 2)), axes)
        assert isinstance(caught.value, qad.QadError)


def test_ncon():
    rng = np.random.default_rng(0)
    a, b, c = operands_for(rng, [(2, 3, 5), (3, 4), (5, 4, 2)])
    expected = np.einsum("abc,bd,cde->ea", a, b, c)
    indices = [[-2, 1, 2], [1, 3], [2, 3, -1]]
    for order in (None, [1, 2, 3], [3, 2, 1], [2, 3, 1]):
        np.testing.assert_allclose(qad.ncon([a, b, c], indices, order=order), expected)
    qad.check_grads(lambda a, b, c: qad.ncon([a, b, c], indices), (a, b, c))
    named = [["-y", "p", "q"], ["p", "r"], ["q", "r", "-x"]]
    np.testing.assert_allclose(qad.ncon([a, b, c], named), expected)


def test_ncon_traces_batches_and_scalars():
    rng = np.random.default_rng(0)
    a, b = operands_for(rng, [(4, 3, 3), (4, 5)])
    np.testing.assert_allclose(qad.ncon([a, b], [[-1, 1, 1], [-1, -2]]), np.einsum("abb,ac->ac", a, b))
    np.testing.assert_allclose(qad.ncon([a], [[1, 2, 2]]), np.einsum("abb->", a))
    np.testing.assert_allclose(qad.ncon([a, b, b], [[1, 2, 2], [1, -1], [1, -2]]), np.einsum("abb,ac,ad->cd", a, b, b))
    np.testing.assert_allclose(qad.ncon([b, b], [[-1, -2], [-3, -4]]), np.einsum("ab,cd->abcd", b, b))


@pytest.mark.parametrize(
    "indices, order",
    [
        ([[1, 2]], None),
        ([[1, 2], [2, 0]], None),
        ([[1, 2], [2, 3]], [1]),
        ([[1, 2], [2, 3]], [1, 2, 3, 4]),
        ([[1], [1, 2]], None),
    ],
)
def test_ncon_errors(indices, order):
    with pytest.raises(ValueError) as caught:
        qad.ncon([np.ones((2, 2)), np.ones((2, 2))], indices, order)
    assert isinstance(caught.value, qad.QadError)


def test_an_unknown_search_is_refused():
    a = np.ones((2, 2))
    assert qad.einsum("ij,jk->ik", a, a, optimize="greedy").shape == (2, 2)
    with pytest.raises(ArgumentError, match="no search named optimize='greedi'"):
        qad.einsum("ij,jk->ik", a, a, optimize="greedi")
