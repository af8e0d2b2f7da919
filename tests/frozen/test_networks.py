"""Products ordered again: fewer multiply-adds, never more of anything, the same results."""

from functools import partial

import numpy as np
import pytest

import qad
from qad.frozen.axis_labels import Labels, renamed
from qad.frozen.display import flops
from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.passes import PASSES
from qad.frozen.placement import Places
from tests.cases import normal
from tests.frozen.agree import difference

A, B, C = (normal(30, 30, complex, seed=k) for k in range(3))
V = normal(30, complex, seed=3)
OTHERS = tuple(name for name in PASSES if name != "networks")


def both(f, *args):
    """The programs of `f` without and with the pass; all results are compared."""
    made = [qad.freeze(f, passes=passes) for passes in (OTHERS, None)]
    expected = f(*args)
    for frozen in made:
        frozen(*args)
        assert difference(expected, frozen(*args), False) is None
    return [frozen.program for frozen in made]


def work(program):
    return sum(map(flops, program.steps))


def written(program):
    """Bytes of all buffers, as if none were used twice."""
    return sum(var.nbytes for var in Places(program).buffers)


def test_a_chain_is_multiplied_from_its_small_end():
    f = partial(np.matmul)
    plain, better = both(lambda a, b, c, v: f(f(f(a, b), c), v), A, B, C, V)
    assert (work(plain), work(better)) == (2 * 30**3 + 30**2, 3 * 30**2)
    assert better.counts["networks"] == 1


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b, c, v: np.tensordot(np.tensordot(a, b, 1), c, ([1], [0])) @ v,
        lambda a, b, c, v: np.einsum("ij,jk", np.einsum("ij,jk->ik", a, b), c).dot(v),
        lambda a, b, c, v: np.inner(a @ b, c.T) @ v,
        lambda a, b, c, v: ((a @ b).reshape(5, 6, 30) @ c).reshape(30, 30) @ v,
        lambda a, b, c, v: (v @ c.T @ (a @ b).T)[::1].reshape(5, 6),
        lambda a, b, c, v: qad.tr(a @ b @ c @ np.outer(v, v)),
        lambda a, b, c, v: np.trace((a @ b) @ (v[:, None] * v)),
        lambda a, b, c, v: np.outer(v, v).reshape(15, 2, 30) @ b,
    ],
)
def test_products_of_all_kinds(f):
    plain, better = both(f, A, B, C, V)
    assert work(better) < work(plain) / 8


def test_a_gradient_shares_what_remains():
    plain, better = both(qad.grad(lambda *xs: np.sum(xs[0] @ xs[1] @ xs[2] @ xs[3]).real, (0, 1, 2, 3)), A, B, C, V)
    assert work(plain) > 5 * 30**3
    assert work(better) < 16 * 30**2


def test_what_several_read_is_not_computed_twice():
    def f(a, b, c):
        ab = a @ b
        return ab @ c, c @ ab, np.sin(ab)

    plain, better = both(f, A, B, C)
    assert better.counts["networks"] == 0
    assert [s.fn for s in plain.steps] == [s.fn for s in better.steps]


def test_nothing_else_changes():
    def f(a, b, v):
        return np.sin(a) @ (a * b + 1), np.exp(a @ b), (a @ b @ v).sum()

    plain, better = both(f, A, B, V)
    rest = [[s.fn for s in p.steps if s.fn not in (np.dot, np.matmul, RESHAPE, TRANSPOSE)] for p in (plain, better)]
    assert rest[0] == rest[1]


def test_small_savings_do_not_pay():
    small = [normal(3, 3, seed=k) for k in range(2)]
    assert both(lambda a, b: a @ b @ b[0], *small)[1].counts["networks"] == 0


def test_what_is_written_into_stays():
    def f(a, b, v):
        x = a @ b
        x[0] = 1
        return x @ v

    assert both(f, A, B, V)[1].counts["networks"] == 0


def test_alone():
    frozen = qad.freeze(lambda a, b, v: a @ b @ v, passes=("networks",))
    frozen(A, B, V)
    np.testing.assert_allclose(frozen(A, B, V), A @ B @ V, rtol=1e-12)


def random_products(seed):
    """A program of products of matrices and vectors of random sizes, some of them used several times."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 5, 12, 30], 5)
    inputs = [rng.normal(size=(sizes[i], sizes[j])) for i, j in rng.integers(0, 5, (6, 2))]

    def f(*xs):
        choice, known = np.random.default_rng(seed), list(xs)
        for _ in range(12):
            a, b = (known[k] for k in choice.integers(max(0, len(known) - 6), len(known), 2))
            fits = [(x, y) for x in (a, a.T) for y in (b, b.T) if x.shape[1] == y.shape[0]]
            known.append(fits[0][0] @ fits[0][1] if fits else np.outer(a[0], b[:, 0]))
            known[-1] = known[-1] / (1 + sizes.max()) if choice.random() < 0.2 else known[-1]
        return np.sum(known[-1]) + np.sum(known[-2]) + np.sum(known[-3] * known[-3])

    return f, inputs


@pytest.mark.parametrize("seed", range(30))
def test_no_program_gets_costlier(seed):
    f, inputs = random_products(seed)
    for g in (f, qad.value_and_grad(f, tuple(range(len(inputs))))):
        plain, better = both(g, *inputs)
        assert work(better) <= work(plain)
        assert better.counts["networks"] or written(better) == written(plain)


def test_labels_of_reshapes_and_matches():
    labels = Labels()
    axes = labels.axes((6, 1, 4))
    made, found = labels.reshaped(axes, (2, 12))
    assert [[labels.sizes[x] for x in axis] for axis in made] == [[2], [3, 4]]
    assert renamed(axes, found) == (made[0] + made[1][:1], (), made[1][1:])
    assert labels.reshaped(labels.axes((6, 4)), (4, 6)) is None
    one, two = labels.axes((6, 2)), labels.axes((3, 4))
    found = labels.matched([((*one[0], *one[1]), labels.axes((12,))[0])])
    assert [labels.sizes[x] for x in renamed(one, found)[0]] == [6]
    assert labels.matched([((*one[0], *one[1]), (*two[0], *two[1]))]) is not None
    assert labels.matched([(labels.axes((6,))[0], labels.axes((4,))[0])]) is None
