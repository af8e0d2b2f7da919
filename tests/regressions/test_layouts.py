"""Reshapes that are views or copies, as the layout in memory allows, and what is written through them."""

from contextlib import suppress

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.looking.observer import plain_roads
from qad.core.mutation.aliases import shadow
from qad.core.trees import flatten

X = np.array([1.0, 2.0, 3.0])


def written_through_reshape(make):
    def f(x):
        b = make(x)
        r = b.reshape(-1)
        b[0] = 0.5
        r[1] = 2.0
        return (r * np.arange(r.size)).sum() + (b * b).sum()

    return f


def product(x):
    return np.outer(x, x * x)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (product(x).T * 1)[None].repeat(2, 0).sum(0),
        lambda x: (np.stack([product(x)] * 2).T * 1).sum(0),
        lambda x: np.zeros_like((np.stack([product(x)] * 2).T * 1).sum(0)),
        lambda x: np.einsum("ij,jk->ki", product(x), product(x)),
        lambda x: product(x)[:, [1, 0]],
    ],
)
def test_a_reshape_of_uncertain_layout_is_right_or_refused_under_vmap(make):
    f, batch = written_through_reshape(make), np.stack([X, 2 * X])
    for mapped in (qad.vmap(f), lambda x: qad.vmap(qad.value_and_grad(f))(x)[0]):
        with suppress(ArgumentError):
            np.testing.assert_allclose(mapped(batch), [f(x) for x in batch])
    np.testing.assert_allclose(qad.vmap(lambda x: make(x).reshape(-1))(batch), [make(x).reshape(-1) for x in batch])
    for context in (plain_roads(), qad.profile(show=False)):  # where the short-cuts of reshape step aside
        with context, suppress(ArgumentError):
            np.testing.assert_allclose(qad.vmap(f)(batch), [f(x) for x in batch])


@pytest.mark.parametrize(
    "make",
    [
        product,
        lambda x: product(x).T * 2.0,
        lambda x: np.tril(product(x)).sum(0)[None] * np.ones((2, 1)),
        lambda x: np.stack([product(x), product(x)]).sum(0),
        lambda x: np.take(product(x), [1, 0], 1),
        lambda x: product(x)[[1, 0]],
        lambda x: (product(x).T * 1).sum(0),
    ],
)
def test_a_reshape_of_a_layout_that_is_numpys_is_not_refused_under_vmap(make):
    f, batch = written_through_reshape(make), np.stack([X, 2 * X])
    np.testing.assert_allclose(qad.vmap(f)(batch), [f(x) for x in batch])
    np.testing.assert_allclose(qad.vmap(qad.value_and_grad(f))(batch)[0], [f(x) for x in batch])


def test_an_array_made_of_a_number_under_vmap_is_not_taken_for_its_view():
    def f(x):
        b = x.sum()
        c = b[None]
        c += 1.0
        return b + c[0]

    with pytest.raises(ArgumentError, match="of a number"):
        qad.vmap(f)(np.stack([X, X]))
    with pytest.raises(ArgumentError, match="of a number"):
        qad.vmap(qad.grad(f))(np.stack([X, X]))


def test_what_take_gives_lies_in_memory_as_numpys():
    f = written_through_reshape(lambda x: np.take(product(x), [1, 0], 1))
    np.testing.assert_allclose(qad.value_and_grad(f)(X)[0], f(X))
    np.testing.assert_allclose(f(qad.tensor(X)).numpy(), f(X))


def fortran(x):
    return np.outer(x, x * x).T * 1.0


PRODUCERS = {
    "contraction": lambda x: np.einsum("ij,jk->ki", product(x), product(x)),
    "contraction of pairs": lambda x: np.einsum("ij,jk,kl->li", product(x), fortran(x), product(x), optimize=True),
    "contraction of transposed": lambda x: np.einsum("ij,jk->ik", fortran(x), fortran(x)),
    "qad's contraction": lambda x: qad.einsum("ij,jk->ki", product(x), fortran(x)),
    "ncon": lambda x: qad.ncon([product(x), fortran(x)], [[-2, 1], [1, -1]]),
    "delete": lambda x: np.delete(fortran(x), 0, 1),
    "insert": lambda x: np.insert(fortran(x), 1, 0.5, 0),
    "median": lambda x: np.median(np.stack([fortran(x), 2 * fortran(x)], 2), 2),
    "quantile": lambda x: np.quantile(fortran(x), [0.2, 0.7], 0),
    "partition": lambda x: np.partition(fortran(x), 1, 0),
    "padded": lambda x: np.pad(fortran(x), 1, "edge"),
    "gradient": lambda x: np.gradient(fortran(x), axis=0),
    "accumulated": lambda x: np.maximum.accumulate(fortran(x), 0),
    "taken": lambda x: np.take(fortran(x), [[1, 0]], 0)[0],
    "upper factor": lambda x: np.linalg.cholesky(product(x) @ product(x).T + np.eye(3), upper=True),
    "norm": lambda x: np.linalg.norm(np.stack([product(x) + np.diag(x), np.diag(x)], 2), 2, (0, 1), keepdims=True)[0],
    "piecewise": lambda x: np.piecewise(fortran(x), [fortran(x) > 2.0], [np.sin, np.cos]),
    "by a number": lambda x: np.dot(2.0, fortran(x)),
}
WRITES = {
    "reshape": lambda b: b.reshape(-1),
    "ravel": np.ravel,
    "of an elementwise function": lambda b: b.reshape(b.shape[1], -1),
    "in the other order": lambda b: np.ravel(b, "F"),
}


def with_write(make, through):
    def f(x):
        b = make(x)
        b = b * 1.0 if "elementwise" in through else b
        r = WRITES[through](b)
        r[..., 0] = 0.5
        return (b * b).sum() + (r * np.arange(r.size).reshape(r.shape)).sum()

    return f


@pytest.mark.parametrize("through", WRITES)
@pytest.mark.parametrize("make", PRODUCERS)
def test_a_write_through_a_reshape_of_a_composed_result_is_numpys(make, through):
    f, batch = with_write(PRODUCERS[make], through), np.stack([X, 2 * X])
    np.testing.assert_allclose(qad.value_and_grad(f)(X)[0], f(X), rtol=1e-12)
    np.testing.assert_allclose(qad.jvp(f, (X,), (X,))[0], f(X), rtol=1e-12)
    np.testing.assert_allclose(float(qad.extend.value_of(f(qad.tensor(X)))), f(X), rtol=1e-12)
    np.testing.assert_allclose(qad.grad(qad.checkpoint(f))(X), qad.grad(f)(X), rtol=1e-12)
    for frozen in (qad.freeze(f), qad.freeze(lambda x: qad.value_and_grad(f)(x)[0]), qad.freeze(f, passes=())):
        for x in (0.5 * X, X):
            np.testing.assert_allclose(frozen(x), f(x), rtol=1e-12)
    with suppress(ArgumentError):
        np.testing.assert_allclose(qad.vmap(f)(batch), [f(x) for x in batch], rtol=1e-12)
    qad.hessian(f)(X)


def test_a_contraction_lies_alike_in_its_compiled_loop():
    a = [np.random.default_rng(i).normal(size=(2, 3) if i % 2 else (3, 2)) for i in range(6)]
    found = {qad.einsum("ab,bc,cd,de,ef,fg->ga", *a).strides for _ in range(6)}
    assert len(found) == 1
    assert found == {(24, 8)}


TRANSFORMS = {
    "gradient": lambda f: qad.grad(lambda x: (f(x) ** 2).sum()),
    "Jacobian": qad.jacobian,
    "Hessian": lambda f: qad.hessian(lambda x: (f(x) ** 2).sum()),
    "Wirtinger": lambda f: lambda x: qad.wirtinger(f)(x * (1 + 1j)),
    "vmap": qad.vmap,
    "jvp": lambda f: lambda x: qad.jvp(f, (x,), (x,)),
    "vjp": lambda f: lambda x: qad.vjp(f, x)[1](np.ones(x.shape[::-1])),
    "checkpoint": qad.checkpoint,
    "freeze": qad.freeze,
    "frozen gradient": lambda f: qad.freeze(qad.grad(lambda x: (f(x) ** 2).sum())),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_a_transform_hands_out_is_in_c_order_wherever_it_is_called(name):
    seen = []

    def f(x):
        return np.sin(x.T)

    step = TRANSFORMS[name](f)

    def inside(x):
        seen.append(step(x))
        return x.sum()

    for x in (np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))):
        for call in (inside, inside, qad.grad(inside), lambda x: qad.jvp(inside, (x,), (x,))):
            call(x)
        inside(qad.tensor(x))
        inside(qad.tensor(x, requires_grad=True))
    leaves = [x for x in flatten(seen)[0] if getattr(x, "ndim", 0)]
    assert len(leaves) >= 12
    assert all((x if type(x) is np.ndarray else shadow(x)).flags.c_contiguous for x in leaves)


def test_what_is_raveled_of_a_number_spread_out_is_a_copy():
    def f(x):
        spread = np.broadcast_to((x * x).sum(), (2,))
        r = np.ravel(spread)
        r[-1] = x[0]
        return (r * np.arange(1.0, 3.0)).sum() + spread.sum()

    assert qad.value_and_grad(f)(X)[0] == f(X)
    assert float(qad.extend.value_of(f(qad.tensor(X)))) == f(X)
    frozen = qad.freeze(f)
    assert frozen(X) == frozen(X) == f(X)
    np.testing.assert_allclose(qad.grad(f)(X), 3 * 2 * X + [2.0, 0, 0])
