"""Pairs: every lowering equals numpy.einsum, and runs as few products and copies as it should."""

import itertools

import numpy as np
import pytest

import qad
from qad.contract.plan.lower import _Problem as Problem
from qad.contract.plan.lower import canonical, lowered
from qad.contract.plan.unary import reduce, single, spread
from qad.contract.run.pair import contract, pair
from tests.cases import Case, normal


def recipe(text, *shapes, **sizes):
    left, right, out = text.replace("->", ",").split(",")
    sizes = sizes or {
        label: size
        for term, shape in zip((left, right), shapes, strict=True)
        for label, size in zip(term, shape, strict=True)
    }
    terms = tuple(tuple(term) for term in (left, right, out))
    return pair(terms, tuple(tuple(sizes[label] for label in term) for term in terms))


DIAGONAL = single((0, 1, 0), (1,), (2, 3, 2))

CASES = [
    Case(
        lambda a, b: contract(a, b, recipe=recipe("bij,bjk->kbi", a.shape, b.shape)),
        (normal(2, 3, 2), normal(2, 2, 4, complex)),
    ),
    Case(lambda a: reduce(a, recipe=DIAGONAL), normal(2, 3, 2, complex), name="reduce"),
    Case(lambda g: spread(g, recipe=DIAGONAL), normal(3, complex), name="spread"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def random_pair(rng):
    text = ["", "", ""]
    for label in "abcdefg"[: rng.integers(1, 8)]:
        for place in ((0, 1), (0, 2), (1, 2), (0, 1, 2))[rng.integers(4)]:
            text[place] += label
    text = ["".join(rng.permutation(list(term))) for term in text]
    sizes = {label: int(rng.choice([1, 2, 3, 4, 0], p=[0.2, 0.3, 0.25, 0.2, 0.05])) for label in "abcdefg"}
    return "{},{}->{}".format(*text), sizes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(2)
def test_equals_numpy(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        text, sizes = random_pair(rng)
        r = recipe(text, **sizes)
        a, b = (np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) for shape in r.shapes[:2])
        for one, two in ((a, b), (a.real, b), (np.array(a, order="F"), np.array(b, order="F"))):
            expected = np.einsum(text, one, two)
            found = r.run(one, two)
            assert np.shape(found) == expected.shape
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_cotangents_are_pairs():
    r = recipe("bij,bjk->kbi", b=2, i=3, j=4, k=5)
    assert r.left.labels == canonical(("kbi", "bjk", "bij"))
    assert r.right.labels == canonical(("bij", "kbi", "bjk"))
    assert r.left.flops == r.right.flops == r.flops == 120


@pytest.mark.parametrize(
    "text", ["ij,jk->ik", "ij,ji->", "i,j->ij", "bij,bkj->bik", "ib,bj->bij", "ij,i->j", "i,->i", ",->"]
)
def test_gradients(text):
    rng = np.random.default_rng(0)
    sizes = {"b": 2, "i": 3, "j": 2, "k": 3}
    r = recipe(text, **sizes)
    a, b = (np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) for shape in r.shapes[:2])
    qad.check_grads(lambda a, b: contract(a, b, recipe=r), (a, b))
    qad.check_grads(lambda a, b: contract(a, b, recipe=r), (a.real, b), order=1)


WITHOUT_COPY = [
    "ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "ijk,jkl->il", "bij,bjk->bik", "ibj,bjk->bik", "bij,kbj->bik",
    "ijkl,klmn->ijmn",
]  # fmt: skip


@pytest.mark.parametrize("text", WITHOUT_COPY)
def test_no_copy_where_none_is_needed(text):
    sizes = dict(zip("ijklmnbpqr", itertools.repeat(12), strict=False))
    r = recipe(text, **sizes)
    a, b = (np.ones(shape) for shape in r.shapes[:2])
    product_operands = []

    class Watched(np.ndarray):
        def dot(self, other):
            product_operands.extend((self, other))
            return np.asarray(self).dot(np.asarray(other))

        def __matmul__(self, other):
            product_operands.extend((self, other))
            return np.asarray(self) @ np.asarray(other)

    r.run(a.view(Watched), b.view(Watched))
    assert len(product_operands) == 2
    assert all(np.shares_memory(operand, a) or np.shares_memory(operand, b) for operand in product_operands)


def test_structures_share_a_recipe():
    assert recipe("ij,jk->ik", (2, 3), (3, 4)) is recipe("xy,yz->xz", (2, 3), (3, 4))
    assert lowered(canonical(("ij", "jk", "ik")), ((2, 3), (3, 4), (2, 4))) == "a.dot(b)"


def test_recipes_survive_pickling():
    import pickle

    r = recipe("ijk,kl->ijl", i=2, j=3, k=4, l=5)
    assert pickle.loads(pickle.dumps(r)) is r
    s = single((0, 1, 0), (1,), (2, 3, 2))
    assert pickle.loads(pickle.dumps(s)) is s


def test_single_operand_steps():
    rng = np.random.default_rng(0)
    for _ in range(300):
        labels = tuple(rng.integers(0, 4, rng.integers(0, 6)).tolist())
        kept = rng.permutation(sorted(set(labels)))[: rng.integers(0, len(set(labels)) + 1)]
        out = tuple(kept.astype(int).tolist())
        sizes = rng.integers(1, 4, 4)
        a = np.asarray(rng.standard_normal([sizes[label] for label in labels]))
        s = single(labels, out, a.shape)
        expected = np.einsum(a, labels, out)
        found = reduce(a, recipe=s)
        assert np.shape(found) == expected.shape
        np.testing.assert_allclose(found, expected)
        g = np.asarray(rng.standard_normal(expected.shape))
        back = spread(g, recipe=s)
        assert back.shape == a.shape
        np.testing.assert_allclose(np.vdot(back, a), np.vdot(g, expected))


def test_single_operand_gradients():
    a = np.random.default_rng(0).standard_normal((2, 3, 2)) + 0j
    for out in ((), (1,), (0,), (1, 0)):
        s = single((0, 1, 0), out, a.shape)
        qad.check_grads(lambda a, s=s: reduce(a, recipe=s), (a,))


def test_integers_and_booleans_keep_their_dtype():
    for dtype in (bool, np.int8, np.int64, np.float32, np.complex64):
        a = np.ones((3, 3), dtype)
        for text in ("ij->", "ii", "ij->ji"):
            assert qad.einsum(text, a).dtype == np.einsum(text, a).dtype
        assert qad.einsum("ij,jk->ik", a, a).dtype == np.einsum("ij,jk->ik", a, a).dtype


def test_copies_of_short_runs_cost_more():
    """The product leaves its axes as oqwx; what is copied from there two by two takes longer than sixty-four by
    sixty-four."""
    sizes = dict(zip("qvuwox", (5, 5, 2, 2, 64, 64), strict=True))

    def cost(out):
        terms = canonical(("qvuw", "ouvx", out))
        problem = Problem(terms, tuple(tuple(map(sizes.get, term)) for term in ("qvuw", "ouvx", out)))
        return min(problem.cost(*choice) for choice in problem.choices())

    assert cost("oqwx") < cost("qowx") < cost("qoxw")
