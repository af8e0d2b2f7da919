"""Memory limits: slices give the values and gradients of the whole, within the limit, on any executor."""

import pickle
import random
import tracemalloc
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import qad
from qad.contract.hermitian import proof
from qad.contract.plan.memory import in_bytes, peak_size
from qad.contract.plan.planner import find_plan
from qad.contract.run.slices import Value
from qad.core.errors import ArgumentError
from tests.cases import Case, normal
from tests.contract.hermitian.test_real_form import chain_case, energy
from tests.contract.networks import operands_for, random_network
from tests.counting import calls


def limits(text, shapes, variables, dtype=complex):
    """The bytes that the whole takes, and the least that slices need."""
    whole = qad.plan(text, *shapes, variables=variables, dtype=dtype)
    with pytest.raises(ArgumentError, match="the smallest that can is") as caught:
        qad.plan(text, *shapes, variables=variables, dtype=dtype, memory_limit=1)
    least = int(str(caught.value).partition("can is ")[2].partition(" bytes")[0].replace(",", ""))
    return max(whole.peak_size * np.dtype(dtype).itemsize, least), least


def cut(text, shapes, count):
    """A plan whose first few labels are cut as finely as can be."""
    whole = qad.plan(text, *shapes)
    p = replace(whole, parts=tuple(enumerate(whole.sizes[:count])))
    assert p.slices == np.prod(whole.sizes[:count])
    return p


CASES = [
    Case(lambda *x: cut("ab,bc,ca->", [(2, 2)] * 3, 2)(*x), tuple(normal(2, 2, complex, seed=s) for s in range(3))),
    Case(lambda *x: cut("ab,bc,cd->ad", [(2, 2)] * 3, 2)(*x), tuple(normal(2, 2, complex, seed=s) for s in range(3))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def problem(seed, count, kind=complex, **options):
    rng = np.random.default_rng(seed)
    text, shapes = random_network(rng, count, most=4, **options)
    operands = operands_for(rng, shapes, kind)
    variables = sorted(rng.choice(count, rng.integers(1, count + 1), replace=False).tolist())

    def loss(*chosen, **options):
        found = list(operands)
        for number, x in zip(variables, chosen, strict=True):
            found[number] = x
        return qad.einsum(text, *found, **options)

    return text, shapes, variables, [operands[number] for number in variables], loss


@pytest.mark.parametrize("count", [2, 4, 6])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.sampled(3)
def test_slices_equal_the_whole(counter, count, closed):
    for seed in range(3):
        text, shapes, variables, chosen, loss = problem(seed, count, closed=closed, hyper=True, repeat=True)
        whole, least = limits(text, shapes, variables)
        for limit in (least, (least + whole) // 2):
            p = qad.plan(text, *shapes, variables=variables, memory_limit=limit)
            assert p.peak_size * 16 <= limit or p.slices == 1
            out, back = qad.vjp(loss, *chosen)
            counter.total = 0
            found, pull = qad.vjp(partial(loss, memory_limit=limit), *chosen)
            w = operands_for(np.random.default_rng(0), [np.shape(out)])[0]
            gradients = pull(w)
            assert counter.total == p.flops_with_gradient
            np.testing.assert_allclose(found, out, rtol=1e-10, atol=1e-10)
            for one, two in zip(gradients, back(w), strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)
            counter.total = 0
            np.testing.assert_allclose(loss(*chosen, memory_limit=whole // 4 + least), out, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("text", ["ab,bc,cd,da->", "ab,bc,cd->ad", "aab,bc,c->", "xab,bc,xca->x", "ab,ba->", "aab->b"])
@pytest.mark.sampled(3)
def test_all_orders(text):
    rng = np.random.default_rng(0)
    terms = text.split("->")[0].split(",")
    shapes = [(2,) * len(term) for term in terms]
    operands = operands_for(rng, shapes, "mixed")
    p = cut(text, shapes, 3)
    np.testing.assert_allclose(p(*operands), np.einsum(text, *operands), atol=1e-12)
    qad.check_grads(p, tuple(operands))
    if len(set(shapes)) == 1:  # the same operand in all places
        qad.check_grads(lambda x: p(*[x] * len(shapes)), (operands[0] * 1j,))


def test_stretched_axes():
    text, shapes = "ij,jk,kl->il", [(2, 1), (4, 3), (3, 2)]
    p = cut(text, shapes, 4)
    operands = operands_for(np.random.default_rng(0), shapes)
    np.testing.assert_allclose(p(*operands), np.einsum(text, *operands), atol=1e-12)
    qad.check_grads(p, tuple(operands))


def test_hermitian_slices():
    sites, operators, terms = chain_case(6, 8)
    least = 2 * sum(x.nbytes for x in sites) + 100
    proof._proved.clear()  # the proof keeps to (twice) the limit as well
    found, sliced = qad.value_and_grad(lambda sites: energy(sites, operators, terms, memory_limit=least))(sites)
    value, gradient = qad.value_and_grad(lambda sites: energy(sites, operators, terms))(sites)
    np.testing.assert_allclose(found, value, rtol=1e-10)
    for one, two in zip(sliced, gradient, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("text", ["abc,ade,bdf,cef->", "abc,ade,bdf,cefx->x"])
@pytest.mark.parametrize("variable", [False, True])
def test_measured_memory_keeps_to_the_limit(text, variable):
    shapes = [tuple(2 if label == "x" else 16 for label in term) for term in text.split("->")[0].split(",")]
    operands = operands_for(np.random.default_rng(0), shapes)
    for x in operands[:3]:
        x.flags.writeable = False  # or a gradient keeps copies
    variables = (3,) if variable else ()
    whole, least = limits(text, shapes, variables)
    limit = int(max(1.2 * least, whole / 6))

    def loss(x):
        return np.abs(qad.einsum(text, *operands[:3], x, memory_limit=limit)).sum() ** 2

    run = qad.grad(loss) if variable else loss
    run(operands[3])
    tracemalloc.start()
    run(operands[3])
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert qad.plan(text, *shapes, variables=variables, memory_limit=limit).slices > 1
    assert measured < limit
    assert limit < whole / 2


class Disorderly(Executor):
    """Does nothing before a result is asked for, and then all that waits, in random order."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, /, *args):
        future = Future()
        self.waiting.append(lambda: future.set_result(function(*args)))
        asked, future.result = future.result, lambda timeout=None: (self.finish(), asked())[1]
        return future

    def finish(self):
        random.Random(len(self.waiting)).shuffle(self.waiting)
        while self.waiting:
            self.waiting.pop()()


def test_executors_change_nothing():
    text, shapes = "abc,ade,bdf,cef->", [(4, 4, 4)] * 4
    operands = operands_for(np.random.default_rng(0), shapes)
    p = cut(text, shapes, 2)

    def run(executor):
        return qad.value_and_grad(lambda *x: np.abs(p(*x, executor=executor)), argnums=(0, 1, 2, 3))(*operands)

    value, gradients = run(None)
    with ThreadPoolExecutor(3) as pool:
        for executor in (pool, Disorderly()):
            found, sliced = run(executor)
            assert found == value
            for one, two in zip(sliced, gradients, strict=True):
                np.testing.assert_array_equal(one, two)
        limit = limits(text, shapes, ())[1]
        assert qad.plan(text, *shapes, variables=(), memory_limit=limit).slices > 1
        found = qad.einsum(text, *operands, memory_limit=limit, executor=pool)
        assert found == qad.einsum(text, *operands, memory_limit=limit)


def test_thousands_of_slices_warn():
    text, shapes = "abc,ade,bdf,cef->", [(20, 20, 20)] * 4
    with pytest.warns(UserWarning, match="slices, contracted one after the other; 35,536 bytes would take 1,600"):
        p = qad.plan(text, *shapes, variables=(), memory_limit=100)
    assert p.slices > 10**6
    assert qad.plan(text, *shapes, variables=(), memory_limit=35_536).slices == 1600


def test_what_an_executor_is_sent_can_be_pickled():
    p = cut("ab,bc,ca->", [(4, 4)] * 3, 2)
    kernel = pickle.loads(pickle.dumps(Value(p)))
    x = np.random.default_rng(0).random((4, 4))
    inner = [x[: shape[0], : shape[1]] for shape in p.part.shapes]
    np.testing.assert_array_equal(kernel.run(*inner), Value(p).run(*inner))
    assert kernel.plan == p


def test_a_limit_that_is_kept_already_changes_nothing():
    p = qad.plan("ab,bc,ca->", (4, 4), (4, 4), (4, 4))
    assert qad.plan("ab,bc,ca->", (4, 4), (4, 4), (4, 4), memory_limit="1GB") == p
    assert p != cut("ab,bc,ca->", [(4, 4)] * 3, 2)


def test_large_networks_are_sliced_by_a_short_search():
    rng = np.random.default_rng(0)
    text, shapes = random_network(rng, 14, extra=13, most=6, closed=True)
    whole, least = limits(text, shapes, (3,))
    found = []

    def search():
        find_plan.cache_clear()
        found.append(qad.plan(text, *shapes, variables=(3,), memory_limit=max(least, whole // 16)))

    assert calls(search) < 300_000  # a second or so
    p = found[0]
    assert p.peak_size * 16 <= max(least, whole // 16)
    assert f"{p.slices} slices" in str(p)


@pytest.mark.parametrize(
    "limit, count",
    [(10, 10), ("10", 10), ("2GB", 2 * 10**9), ("1.5 kB", 1500), ("2MiB", 2 * 2**20), (1e3, 1000), ("7b", 7)],
)
def test_limits_are_bytes(limit, count):
    assert in_bytes(limit) == count


@pytest.mark.parametrize("limit", ["much", "GB", "1.2.3MB", -1, "2XB", (1,)])
def test_limits_that_are_none(limit):
    with pytest.raises(ArgumentError, match="memory_limit"):
        qad.plan("ij,jk->ik", (2, 3), (3, 4), memory_limit=limit)


def chain(count=12, size=60):
    """A product of matrices from left to right, which writes many intermediates that are small beside the operands."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    terms = ["x" + letters[0]] + [letters[place : place + 2] for place in range(count)] + [letters[count]]
    shapes = [(4 * size, size)] + [(size, size)] * count + [(size,)]
    path = [(0, 1)] + [(0, count + 1 - step) for step in range(1, count)] + [(0, 1)]
    return ",".join(terms) + "->x", shapes, path


@pytest.mark.parametrize("variables, share", [(tuple(range(1, 14, 2)), 0.9), (tuple(range(14)), 0.75)])
def test_what_is_not_kept_is_computed_again(counter, variables, share):
    text, shapes, path = chain()
    operands = operands_for(np.random.default_rng(0), shapes)
    operands = [x / np.linalg.norm(x) for x in operands]
    for x in operands:
        x.flags.writeable = False  # or a gradient keeps copies

    def loss(*chosen, **options):
        found = list(operands)
        for number, x in zip(variables, chosen, strict=True):
            found[number] = x
        return qad.einsum(text, *found, optimize=path, **options)

    whole = find_plan(text, None, tuple(shapes), variables, path=tuple(path))
    limit = int(share * peak_size(whole, copies=True) * 16)
    p = find_plan(text, None, tuple(shapes), variables, path=tuple(path), limit=limit)
    assert p.again and p.slices == 1
    assert p.peak_size * 16 <= limit
    assert p.flops_with_gradient <= p.flops + whole.flops_with_gradient
    assert p != whole
    assert "subtrees twice" in str(p)
    chosen = [operands[number] for number in variables]
    out, back = qad.vjp(loss, *chosen)
    counter.total = 0
    found, pull = qad.vjp(partial(loss, memory_limit=limit), *chosen)
    w = operands_for(np.random.default_rng(1), [np.shape(out)])[0]
    gradients = pull(w)
    assert counter.total == p.flops_with_gradient
    np.testing.assert_allclose(found, out, rtol=1e-12)
    for one, two in zip(gradients, back(w), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10)
    pulled = qad.grad(lambda w: np.abs(pull(w)[0]).sum())(w)  # the cotangent is recorded
    np.testing.assert_allclose(pulled, qad.grad(lambda w: np.abs(back(w)[0]).sum())(w), rtol=1e-9)
    run = qad.grad(lambda *x: np.abs(loss(*x, memory_limit=limit)).sum(), argnums=tuple(range(len(chosen))))
    run(*chosen)
    tracemalloc.start()
    run(*chosen)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured < limit
