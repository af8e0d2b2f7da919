"""Contractions of symmetric tensors agree with dense ones, to second order, and move as little as they may."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qad
from qad.core.errors import ArgumentError, MissingRuleError, ShapeError
from qad.symmetric import Leg, SymTensor, eye, random, scale, symmetry, tensordot, trace
from qad.symmetric.blocks.gemms import Gemms, gemms
from qad.symmetric.contraction import contraction
from tests.cases import Case, normal
from tests.symmetric.draw import SYMMETRIES, close, digits, few, group_neutral, pairs, rows_of_legs, some, tensors_of

LEFT, SPIN, RIGHT = Leg({-1: 3, 1: 2}, +1), Leg({1: 1, -1: 1}, +1), Leg({2: 1, -2: 2, 0: 2}, -1)
A = random((LEFT, SPIN, RIGHT), seed=1, dtype=complex)
B = random((RIGHT.conj(), SPIN, LEFT.conj()), charge=2, seed=2)
ROWS = [(0, 0, 0, 2, 3, 1), (6, 3, 3, 1, 2, 2)]  # where A, B and C begin, and m, k, n

CASES = [
    Case(
        lambda x, y, turned=turned: gemms(x, y, plan=Gemms(ROWS, (8, 7, 6), turned)),
        (normal(8, dtype), normal(7)),
        name=f"gemms-{turned}",
    )
    for turned in ((False, False), (True, False), (False, True), (True, True))
    for dtype in (float, complex)
] + [Case(lambda a, b: qad.einsum("lpr,rql->qp", a, b), (A, B), name="einsum")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_of_sectors(turned):
    plan = Gemms(ROWS, (8, 7, 6), turned)
    x, y = normal(8), normal(7, complex)
    found = gemms(x, y, plan=plan)
    for one, two, three, m, k, n in ROWS:
        a = x[one : one + m * k].reshape((k, m) if turned[0] else (m, k))
        b = y[two : two + k * n].reshape((n, k) if turned[1] else (k, n))
        c = (a.T if turned[0] else a) @ (b.T if turned[1] else b)
        np.testing.assert_allclose(found[three : three + m * n], c.ravel(), rtol=1e-14)
    assert found[2] == 0 and found[5] == 0 and not plan.full  # what no product writes
    assert plan.left.flops == plan.right.flops == plan.flops == 10


@given(case=pairs())
@some
def test_tensordot(case):
    a, b, axes = case
    expected = np.tensordot(a.to_dense(), b.to_dense(), axes)
    found = tensordot(a, b, axes)
    if expected.ndim:
        assert found.symmetry is a.symmetry
        group = a.symmetry
        assert found.layout.total == group.plus(a.layout.total, b.layout.total)
        assert found.legs == tuple(
            leg for x, own in ((a, axes[0]), (b, axes[1])) for i, leg in enumerate(x.legs) if i not in own
        )
        found = found.to_dense()
    assert found.dtype == expected.dtype
    close(found, expected, 10 * digits(a, b))
    for other in (np.tensordot, qad.tensordot):
        again = other(a, b, axes)
        close(again.to_dense() if expected.ndim else again, expected, 10 * digits(a, b))


@given(case=pairs(dtype=np.complex128, most=1))
@few
def test_derivatives_are_dense_derivatives(case):
    """Gradient, tangent and Hessian-vector product of a function of two tensors and of their dense arrays."""
    a, b, axes = case
    v = [random(x.legs, x.charge, complex, seed=5, split=x.layout.split) for x in (a, b)]

    def whole(c):
        return np.sum(np.abs(c) ** 4) + np.sum(c**2).real

    def dense(x, y):
        return whole(np.tensordot(x, y, axes))

    def ours(x, y):
        c = tensordot(x, y, axes)
        return whole(c.data if type(c) is SymTensor else c)

    points = [(a, b), tuple(x.to_dense() for x in (a, b))]
    towards = [tuple(v), tuple(x.to_dense() for x in v)]
    for derive in (
        lambda f, point, t: qad.grad(f, argnums=(0, 1))(*point),
        lambda f, point, t: qad.hvp(f, point, t),
    ):
        found, expected = derive(ours, points[0], towards[0]), derive(dense, points[1], towards[1])
        for x, y in zip(found, expected, strict=True):
            inside = x.to_dense() != 0
            close(x.to_dense(), np.where(inside, y, 0), 1e-11)
    one, two = qad.jvp(ours, points[0], towards[0])[1], qad.jvp(dense, points[1], towards[1])[1]
    close(one, two, 1e-11)


@given(data=st.data())
@some
def test_trace(data):
    group = symmetry(data.draw(st.sampled_from(SYMMETRIES)))
    leg, *others = data.draw(rows_of_legs(str(group), 1, 3))
    order = data.draw(st.permutations([leg, leg.conj(), *others]))
    a = data.draw(tensors_of(order))
    one, two = order.index(leg), order.index(leg.conj())
    expected = np.trace(a.to_dense(), axis1=one, axis2=two)
    for found in (trace(a, one, two), np.trace(a, axis1=two, axis2=one)):
        close(found.to_dense() if others else found, expected, digits(a))


@given(data=st.data())
@some
def test_scale(data):
    group = data.draw(st.sampled_from(SYMMETRIES))
    a = data.draw(tensors_of(data.draw(rows_of_legs(group, 1, 4))))
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    factors = np.random.default_rng(0).standard_normal(a.shape[axis])
    shape = [1] * a.ndim
    shape[axis] = -1
    found = scale(a, factors, axis)
    assert found.legs == a.legs
    close(found.to_dense(), a.to_dense() * factors.reshape(shape), digits(a))


def test_scale_is_differentiated():
    qad.check_grads(lambda a, s: scale(a, s, 1).data, (A, normal(2)))
    qad.check_grads(lambda a, s: scale(a, s, 2).data, (A, normal(5, complex)))


@pytest.mark.parametrize("text", ["lpr,rql->qp", "lpr,rqm,mtl", "lpr,rqm->mqpl", "lpr,Lpr->Ll", "lpr,lpr->"])
def test_einsum(text):
    operands = [A, B, random((LEFT, SPIN, LEFT.conj()), charge=0 + 1, seed=3)][: text.split("->")[0].count(",") + 1]
    if "L" in text or text == "lpr,lpr->":
        operands[1] = A.conj()
    dense = [x.to_dense() for x in operands]
    expected = np.einsum(text, *dense)
    for f in (qad.einsum, np.einsum):
        found = f(text, *operands)
        close(found.to_dense() if expected.ndim else found, expected, 1e-12)


@given(case=pairs(), data=st.data())
@some
def test_einsum_of_anything(case, data):
    """The labels of a contraction, the open ones in any order."""
    a, b, axes = case
    ones = [f"a{i}" for i in range(a.ndim)]
    twos = [f"b{i}" for i in range(b.ndim)]
    for i, j in zip(*axes, strict=True):
        twos[j] = ones[i]
    output = data.draw(st.permutations(sorted(set(ones) ^ set(twos))))
    found = qad.einsum(a, ones, b, twos, output)
    expected = qad.einsum(a.to_dense(), ones, b.to_dense(), twos, output)
    close(found.to_dense() if output else found, expected, 10 * digits(a, b))


def test_einsum_with_traces_and_paths():
    c = tensordot(A, B, ([2], [0]))
    close(qad.einsum("lpql->qp", c).to_dense(), np.einsum("lpql->qp", c.to_dense()), 1e-12)
    close(np.einsum(A, [0, 1, 2], B, [2, 3, 0], [3, 1]).to_dense(), qad.einsum("lpr,rql->qp", A, B).to_dense(), 1e-14)
    chain = "lpr,lqs,rt,st->pq", (A, A.conj(), eye(RIGHT.conj()), eye(RIGHT))
    one, two = (qad.einsum(*chain[:1], *chain[1], optimize=p) for p in ("auto", [(0, 2), (0, 1), (0, 1)]))
    close(one.to_dense(), two.to_dense(), 1e-12)
    close(one.to_dense(), np.einsum("lpr,lqr->pq", A.to_dense(), A.to_dense().conj()), 1e-12)
    close(qad.einsum("ab->ba", eye(LEFT)).to_dense(), np.eye(5), 0)


def test_ncon():
    found = qad.ncon([A, B], [[1, -2, 2], [2, -1, 1]])
    close(found.to_dense(), qad.ncon([A.to_dense(), B.to_dense()], [[1, -2, 2], [2, -1, 1]]), 1e-12)
    again = qad.ncon([A, B], [[1, -2, 2], [2, -1, 1]], order=[2, 1])
    close(found.to_dense(), again.to_dense(), 1e-12)


def test_charges_that_do_not_add_up_give_zero():
    up, down = random((SPIN,), charge=1), random((SPIN.conj(),), charge=1)
    assert tensordot(up, down, 1) == 0 and qad.einsum("a,a->", up, down) == 0
    assert qad.grad(lambda a: tensordot(a, down, 1) + a.norm())(up).data == 1.0 * np.sign(up.data)


def test_frozen_and_in_batches():
    def f(a, b):
        return qad.einsum("lpr,rql->qp", a, b).norm() ** 2

    frozen = qad.freeze(qad.value_and_grad(f))
    for factor in (1.0, 3.0):
        value, g = frozen(factor * A, B)
        expected, h = qad.value_and_grad(f)(factor * A, B)
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        np.testing.assert_allclose(g.data, h.data, rtol=1e-12)
    stack = np.stack([A.data, 1j * A.data, 2 * A.data])
    found = qad.vmap(lambda x: qad.grad(f)(SymTensor(A.layout, x), B).data)(stack)
    for one, x in zip(found, stack, strict=True):
        np.testing.assert_allclose(one, qad.grad(f)(SymTensor(A.layout, x), B).data, rtol=1e-12)


# -- what is moved ---------------------------------------------------------------------------------------------------


def test_what_lies_right_is_not_moved():
    a, b = A.resplit(2), B.resplit(1)
    assert contraction(a.layout, b.layout, (2,), (0,))[:2] == (None, None)
    assert contraction(a.layout, a.layout.conj, (0, 1), (0, 1))[:2] == (None, None)  # A^T lies in memory
    assert contraction(a.layout, a.layout.conj, (2,), (2,))[:2] == (None, None)
    assert contraction(b.layout, a.layout, (0,), (2,))[:2] == (None, None)
    turned = a.conj().transpose(1, 0, 2).resplit(2)
    first, second, *_ = contraction(a.layout, turned.layout, (0, 1), (1, 0))
    assert (first is None) != (second is None)


# -- refusals --------------------------------------------------------------------------------------------------------


def test_legs_that_do_not_fit_are_shown():
    with pytest.raises(ShapeError, match=r"axis 0 .*Leg\({-1: 3, 1: 2}, flow=\+1\).* axis 0 .*flow=\+1.*opposite"):
        tensordot(A, A, ([0], [0]))
    with pytest.raises(ShapeError, match="charges and dimensions have to be the same"):
        tensordot(A, random((Leg({-1: 3, 1: 1}, -1), LEFT)), ([0], [0]))
    with pytest.raises(ShapeError, match="sectors have to stand in the same order"):
        tensordot(A, random((Leg({1: 2, -1: 3}, -1), LEFT)), ([0], [0]))
    with pytest.raises(ShapeError, match="symmetry U1 and one of Z2"):
        tensordot(A, eye(Leg({0: 1}, 1, "Z2")), 0)
    with pytest.raises(
        ShapeError, match=r"label 'r' joins Leg.*flow=-1\) of operand 0 and Leg.*flow=-1\) of operand 1"
    ):
        qad.einsum("lpr,LPr->lpLP", A, A)
    with pytest.raises(ShapeError, match="does not join axis"):
        trace(A, 0, 1)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: qad.einsum("lpr->lp", A), ArgumentError, "label 'r' stands 1 times"),
        (lambda: qad.einsum("lpr,lpr->lpr", A, A.conj()), ArgumentError, "stands 3 times"),
        (lambda: qad.einsum("lpr,rql->pq", A, B.to_dense()), ArgumentError, "operand 1 is a ndarray among"),
        (lambda: qad.einsum("lpr,rql->pq", A, B, memory_limit=10), ArgumentError, "are for arrays"),
        (lambda: tensordot(A, B.to_dense(), 1), ArgumentError, "do not go together"),
        (lambda: tensordot(A, B, 4), ArgumentError, "name no axes"),
        (lambda: tensordot(A, B, ([2], [0, 1])), ArgumentError, "do not pair"),
        (lambda: trace(A, 0, 7), ArgumentError, "are no axes"),
        (lambda: trace(A, 1, 1), ArgumentError, "joined with itself"),
        (lambda: scale(A, np.ones(3)), ShapeError, "takes 5 factors"),
        (lambda: scale(A, np.ones(5), 4), ArgumentError, "must name axes"),
        (lambda: np.cumsum(A), MissingRuleError, "np.cumsum does not take symmetric tensors"),
        (lambda: np.asarray(A), ArgumentError, "a symmetric tensor is no array"),
        (lambda: A * np.ones(5), TypeError, r"symmetric tensor \* ndarray is not defined: a factor is a number"),
        (lambda: np.linalg.norm(A, 2), ArgumentError, "only the Frobenius norm"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_numpys_functions():
    assert np.linalg.norm(A) == A.norm() and np.shape(A) == A.shape and np.ndim(A) == 3
    assert np.vdot(A, A).real == pytest.approx(A.norm() ** 2)
    np.testing.assert_array_equal(np.transpose(A, (1, 0, 2)).to_dense(), A.to_dense().transpose(1, 0, 2))
    assert group_neutral([LEFT]) == 0


@pytest.mark.parametrize("factor", [3.0, np.float64(3.0), np.array(3.0)])
def test_recorded_numbers_multiply_tensors_from_either_side(factor):
    for f in (lambda c, a: (c * a).norm(), lambda c, a: (a * c).norm(), lambda c, a: (a / c).norm()):
        frozen = qad.freeze(qad.value_and_grad(f, argnums=0))
        for number, tensor in ((factor, A), (2 * factor, 3 * A)):
            found, expected = frozen(number, tensor), qad.value_and_grad(f, argnums=0)(number, tensor)
            np.testing.assert_allclose(found, expected, rtol=1e-13)
            np.testing.assert_allclose(qad.freeze(f)(number, tensor), f(number, tensor), rtol=1e-13)
