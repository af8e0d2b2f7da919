"""Symmetric tensors agree with their dense arrays: layouts, moves, arithmetic, creation, derivatives."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import flatten
from qad.symmetric import Leg, SymTensor, eye, from_blocks, from_dense, random, tensordot, zeros
from qad.symmetric.blocks.moves import between, move, unpacking
from qad.symmetric.tensor import moved
from tests.cases import Case
from tests.symmetric.draw import close, digits, few, some, tensors

LEFT, SPIN = Leg({-1: 3, 1: 2}, +1), Leg({1: 1, -1: 1}, +1)
RIGHT = Leg({2: 1, -2: 2, 0: 2}, -1)
THETA = random((LEFT, SPIN, RIGHT), seed=1, dtype=complex)

CASES = [
    Case(lambda a: a.transpose(1, 2, 0).to_dense(), THETA, name="move"),
    Case(lambda a: (2j * a - a.conj().conj() / 3 + a.resplit(0)).norm() ** 2, THETA, name="arithmetic"),
    Case(lambda x: from_dense(x, (SPIN, SPIN.conj()), tol=1.0).data ** 2, np.diag([1.0, 2.0]), name="from_dense"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@given(a=tensors())
@some
def test_dense_and_back(a):
    dense = a.to_dense()
    assert dense.shape == a.shape and dense.dtype == a.dtype
    again = from_dense(dense, a.legs, a.charge, split=a.layout.split)
    assert again.layout is a.layout
    np.testing.assert_array_equal(again.data, a.data)
    assert np.count_nonzero(dense) == a.size


@given(a=tensors())
@some
def test_blocks(a):
    found = a.blocks()
    starts = [dict(zip(leg.sectors, leg.starts, strict=True)) for leg in a.legs]
    dense = a.to_dense()
    for charges, block in found.items():
        cut = tuple(slice(s[q], s[q] + n) for s, q, n in zip(starts, charges, block.shape, strict=True))
        np.testing.assert_array_equal(dense[cut], block)
    assert sum(block.size for block in found.values()) == a.size
    again = from_blocks(found, a.legs, a.charge, split=a.layout.split)
    np.testing.assert_array_equal(again.data, a.data)


@given(a=tensors(), data=st.data())
@some
def test_moves(a, data):
    order = data.draw(st.permutations(range(a.ndim)))
    split = data.draw(st.integers(0, a.ndim))
    there = moved(a, tuple(order), split)
    np.testing.assert_array_equal(there.to_dense(), a.to_dense().transpose(order))
    np.testing.assert_array_equal(a.transpose(order).to_dense(), there.to_dense())
    table = between(a.layout, there.layout, tuple(order))
    if table is not None:
        assert table.full and table.inverse.inverse is table
        np.testing.assert_array_equal(move(there.data, table=table.inverse), a.data)
        np.testing.assert_array_equal(a.data[table.index()], there.data)


@given(a=tensors())
@some
def test_conjugates_lie_alike(a):
    np.testing.assert_array_equal(a.conj().to_dense(), a.to_dense().conj())
    np.testing.assert_array_equal(a.conj().data, a.data.conj())
    assert a.conj().conj().layout == a.layout


@given(a=tensors(), data=st.data())
@some
def test_arithmetic(a, data):
    b = random(a.legs, a.charge, data.draw(st.sampled_from((float, complex))), seed=7).resplit(0)
    dense, other = a.to_dense(), b.to_dense()
    for found, expected in (
        (a + b, dense + other),
        (a - b, dense - other),
        (-a, -dense),
        (2j * a, 2j * dense),
        (a * np.float64(2), dense * np.float64(2)),
        (a / 4, dense / 4),
    ):
        close(found.to_dense(), expected, digits(a))
    close(a.norm(), np.linalg.norm(dense), digits(a))
    close(qad.symmetric.vdot(a, b), np.vdot(dense, other), digits(a))


@given(a=tensors(dtype=np.complex128))
@few
def test_gradients_are_dense_gradients(a):
    """Of the same function of the dense tensor, at the elements that are kept."""
    weights = np.random.default_rng(0).standard_normal(a.shape)

    def f(dense):
        return np.sum(weights * np.abs(dense) ** 2) + np.sum(dense.real * weights) ** 2

    g = qad.grad(lambda a: f(a.to_dense()))(a)
    assert type(g) is SymTensor and g.legs == a.legs and g.charge == a.charge
    close(g.data, move(qad.grad(f)(a.to_dense()).ravel(), table=unpacking(a.layout).inverse), 1e-12)


def test_a_pytree_of_one_leaf():
    leaves, _ = flatten(THETA)
    assert len(leaves) == 1 and leaves[0] is THETA.data
    doubled = qad.tree_map(lambda x: 2 * x, THETA)
    assert doubled.layout is THETA.layout
    again = pickle.loads(pickle.dumps(THETA))
    assert again.layout == THETA.layout and (again - THETA).norm() == 0


def test_higher_derivatives_keep_the_legs():
    def f(a):
        return a.norm() ** 4

    v = random(THETA.legs, seed=3, dtype=complex)
    (h,) = qad.hvp(f, (THETA,), (v,))
    n, inner = THETA.norm(), np.vdot(THETA.data, v.data).real
    close(h.data, 4 * n**2 * v.data + 8 * inner * THETA.data, 1e-12)
    assert h.layout == THETA.layout


def test_vmap():
    stack = np.stack([THETA.data, 2j * THETA.data])
    found = qad.vmap(lambda x: SymTensor(THETA.layout, x).transpose(2, 0, 1).to_dense())(stack)
    np.testing.assert_array_equal(found[1], 2j * THETA.to_dense().transpose(2, 0, 1))


def test_freeze():
    f = qad.freeze(lambda a: qad.grad(lambda a: (a.transpose(1, 2, 0) * 2.0).to_dense().real.sum() ** 2)(a))
    for scale in (1.0, 2.0):
        expected = f.__wrapped__(scale * THETA) if hasattr(f, "__wrapped__") else None
        found = f(scale * THETA)
        inside = 4 * scale * 2 * THETA.to_dense().real.sum()
        np.testing.assert_allclose(found.data, inside, rtol=1e-12)
        assert expected is None or found.layout == expected.layout


# -- rank 0, charges, empty layouts ----------------------------------------------------------------------------------


def test_without_legs():
    number = random((), symmetry="U1", seed=0)
    assert number.shape == () and number.size == 1 and number.to_dense().shape == ()
    assert (3 * number).item() == 3 * number.item()
    assert str(number.conj().symmetry) == "U1" and number.transpose().layout is number.layout
    with pytest.raises(ArgumentError, match="told its symmetry"):
        zeros(())
    with pytest.raises(ArgumentError, match="no block has total charge 1"):
        zeros((), 1, symmetry="U1")


def test_nothing_is_left_where_no_block_is_allowed():
    a = random((SPIN, SPIN.conj()), charge=2)
    none = tensordot(a, a, 1)
    assert none.size == 0 and none.charge == 4 and none.norm() == 0
    assert (none + 2 * none.T.T - none.conj().conj()).to_dense().tolist() == [[0, 0], [0, 0]]
    assert tensordot(none, a, 1).size == 0 and none.blocks() == {}
    assert qad.grad(lambda x: tensordot(x, x, 1).norm() + x.norm())(a).layout is a.layout


def test_eye_is_the_identity():
    np.testing.assert_array_equal(eye(LEFT).to_dense(), np.eye(5))
    assert eye(LEFT, complex).dtype == complex


@pytest.mark.parametrize("make", [zeros, random])
def test_charges_that_no_block_allows(make):
    with pytest.raises(ArgumentError, match=r"no block has total charge 5: .*allow the total charges -4, -2, 0, 2, 4"):
        make((LEFT, SPIN, RIGHT), charge=5)


def test_dense_arrays_off_the_blocks_are_refused():
    dense = THETA.to_dense()
    dense[0, 0, 0] += 0.5  # charges -1, 1, and 2 outwards
    with pytest.raises(ArgumentError, match=r"element \(0, 0, 0\) is .*charges \(-1, 1, 2\) is not allowed"):
        from_dense(dense, THETA.legs)
    assert from_dense(dense, THETA.legs, tol=0.6).norm() == THETA.norm()
    with pytest.raises(ArgumentError, match="is not allowed"):
        qad.grad(lambda x: from_dense(x, THETA.legs).norm())(dense)


def test_refusals():
    with pytest.raises(ShapeError, match=r"legs have shape \(2, 2\), but the array has \(2, 3\)"):
        from_dense(np.zeros((2, 3)), (SPIN, SPIN))
    with pytest.raises(ShapeError, match=r"\+: tensors of different legs: .*flow=\+1.*flow=-1"):
        THETA + THETA.conj()
    with pytest.raises(ShapeError, match="total charges 0 and 2 are never of one kind"):
        zeros((SPIN, SPIN), 0) + zeros((SPIN, SPIN), 2)
    with pytest.raises(ShapeError, match="different symmetries"):
        zeros((SPIN, Leg({0: 1}, 1, "Z2")))
    with pytest.raises(ShapeError, match="data of shape"):
        SymTensor(THETA.layout, np.zeros(3))
    with pytest.raises(ArgumentError, match="no block of charges"):
        from_blocks({(1, 1): [[1.0]]}, (SPIN, SPIN))
    with pytest.raises(ShapeError, match="has shape"):
        from_blocks({(1, -1): [[1.0, 2.0]]}, (SPIN, SPIN))
    with pytest.raises(ArgumentError, match="are no order"):
        THETA.transpose(0, 0, 1)
    with pytest.raises(ShapeError, match="is no number"):
        THETA.item()
    with pytest.raises(ArgumentError, match="dtype int64"):
        random((SPIN, SPIN), dtype=int)
    with pytest.raises(TypeError):
        THETA * THETA


@pytest.mark.parametrize("inside", [np.inf, np.nan, 1e300])
def test_rounding_off_the_blocks_is_that_of_finite_elements_of_the_same_array(inside):
    legs = (SPIN, SPIN.conj())
    one = np.array([[inside, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(from_dense(one, legs).to_dense(), one)
    if not np.isfinite(inside):
        with pytest.raises(ArgumentError, match=r"element \(0, 1\) is 5"):
            from_dense(one + np.array([[0.0, 5.0], [0.0, 0.0]]), legs)
    with pytest.raises(ArgumentError, match=r"element \(0, 1\) is 1e-10"):
        qad.vmap(lambda x: from_dense(x, legs).data)(np.stack([one, [[1.0, 1e-10], [0.0, 1.0]]]))


DENSE, AXES = THETA.to_dense(), ([0, 1, 2], [0, 1, 2])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: THETA[0], "lie in blocks: take a.blocks"),
        (lambda: list(THETA), "no sequence: take a.blocks"),
        (lambda: len(THETA), "take a.shape"),
        (lambda: bool(THETA), "neither true nor false"),
        (lambda: 1.0 * THETA == THETA, r"compare a.legs, a.charge and \(a - b\).norm"),
        (lambda: THETA != DENSE, "compare a.legs"),
        (lambda: DENSE == THETA, "compare a.legs"),
        (lambda: THETA @ THETA, "qad.tensordot"),
        (lambda: DENSE @ THETA, "qad.tensordot"),
        (lambda: abs(THETA), r"a.norm\(\) is the size"),
        (lambda: THETA**2, "elements are in a.data"),
        (lambda: 1 / THETA, "elements are in a.data"),
        (lambda: THETA + DENSE, r"tensor \+ ndarray is not defined: write qad.symmetric.from_dense"),
        (lambda: DENSE + THETA, r"tensor \+ ndarray is not defined"),
        (lambda: THETA - 1.0, "tensor - float is not defined"),
        (lambda: 1.0 - THETA, "tensor - float is not defined"),
        (lambda: 1 + THETA, r"tensor \+ int is not defined"),
        (lambda: THETA * THETA, r"tensor \* SymTensor is not defined: a factor is a number"),
        (lambda: THETA / None, "tensor / NoneType is not defined"),
        (lambda: "2" * THETA, r"tensor \* str is not defined"),
        (lambda: qad.linalg.svd(THETA), "svd: takes arrays of numbers, not SymTensor; symmetric tensors go to"),
    ],
)
def test_operators_that_mean_nothing_say_what_to_write(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_operators_that_mean_something():
    assert THETA == THETA and THETA in [THETA] and THETA != None and THETA != "theta"  # noqa: E711 - `==` is tested
    assert (sum([THETA, THETA]) - 2 * THETA).norm() == 0
    one = random((), symmetry="U1")
    assert float(one) == complex(one) == one.item()
    a = random((SPIN, SPIN.conj()), dtype=complex, seed=1)
    assert (
        qad.tr(a) == a.data.sum()
        and abs(qad.tr(a, a.conj().T, a) - np.trace(a.to_dense() @ a.to_dense().conj().T @ a.to_dense())) < 1e-14
    )


@pytest.mark.parametrize("name", ["trace", "norm", "scale", "fuse", "unfuse", "save", "direct_sum", "vdot", "svd"])
def test_arrays_are_no_symmetric_tensors(name):
    more = {
        "scale": [np.ones(2)],
        "fuse": [(0, 1)],
        "unfuse": [0],
        "save": ["none.npz"],
        "direct_sum": [THETA, 0],
        "vdot": [THETA],
    }.get(name, [])
    with pytest.raises(ArgumentError, match=f"{name}: takes a symmetric tensor, not ndarray"):
        getattr(qad.symmetric, name)(DENSE, *more)


def test_stacks_of_data_are_no_tensors():
    stack = qad.vmap(lambda x: 2 * SymTensor(THETA.layout, x))(np.stack([THETA.data, THETA.data]))
    assert repr(stack).startswith("SymTensor(stack (2,) of shape")
    for call in (
        stack.norm, stack.to_dense, stack.blocks, stack.sectors, lambda: tensordot(stack, THETA.conj(), AXES),
        lambda: qad.einsum("abc,abc->", stack, stack.conj()), lambda: qad.symmetric.vdot(stack, stack),
        lambda: qad.symmetric.svd(stack), lambda: qad.symmetric.save(stack, "none.npz"),
    ):  # fmt: skip
        with pytest.raises(ShapeError, match=r"stacked data of shape \(2, [0-9]+\).*qad.vmap over them"):
            call()
    np.testing.assert_allclose(qad.vmap(lambda a: a.norm())(stack), 2 * [2 * THETA.norm()])
    second = qad.hessian(lambda a: a.norm() ** 4)(random((SPIN,), charge=1))  # a tensor whose data are a tensor
    assert repr(second).startswith("SymTensor(")
    with pytest.raises(ShapeError, match="stacked data"):
        second.norm()


def test_a_block_given_twice_is_refused():
    parity = Leg({0: 1, 1: 1}, +1, "Z2")
    with pytest.raises(ArgumentError, match=r"charges \(0, 0\) is given twice"):
        from_blocks({(0, 0): [[1.0]], (2, 2): [[5.0]]}, (parity, parity.conj()))
