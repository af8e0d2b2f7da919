"""Programs of plans: compiled loops for small arrays do what pairs do, at the first call as at any other."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import qad
from qad.contract.plan import planner as planner_module
from qad.contract.run import execute as program_module
from qad.contract.run.execute import Execution
from qad.core.errors import ArgumentError
from tests.contract.networks import operands_for, random_network

pytest.importorskip("llvmlite")
loop_module = pytest.importorskip("qad.contract.run.compiled.loop")


def problem(seed, count, kind=complex, **options):
    rng = np.random.default_rng(seed)
    text, shapes = random_network(rng, count, **options)
    variables = tuple(sorted(rng.choice(count, rng.integers(1, count + 1), replace=False).tolist()))
    return qad.plan(text, *shapes, variables=variables), variables, operands_for(rng, shapes, kind)


def plain(monkeypatch):
    """Let schedules run as the plain Python that they are, and count the multiply-adds of their products."""
    counted = []

    def multiply(first, one, second, two, work, out, m, k, n, form, room):
        counted.append(m * k * n)
        a, b = first[one : one + m * k], second[two : two + k * n]
        a, b = (x.reshape(shape[::-1]).T if turned else x.reshape(shape) for x, shape, turned in (
            (a, (m, k), form & 1), (b, (k, n), form & 2)))  # fmt: skip
        work[out : out + m * n] = (a @ b).ravel()

    def replay(code, kept, work):
        loop_module.replay(code, kept, work, None, np.empty(64, np.int64))

    monkeypatch.setattr(loop_module, "multiply", multiply)
    monkeypatch.setattr(program_module, "replay", replay)
    return counted


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("count", [4, 6, 8])
def test_schedules_do_what_pairs_do(count, closed, monkeypatch):
    counted = plain(monkeypatch)
    for seed in range(6):
        p, variables, operands = problem(seed, count, closed=closed, hyper=True, repeat=True)
        own, looped = Execution(replace(p, compiled=""), variables), Execution(replace(p, compiled="loop"), variables)
        value, state = own.forward(list(operands))
        assert state[0] is None
        g = operands_for(np.random.default_rng(seed), [value.shape])[0]
        expected = own.backward(g, operands, state)
        counted.clear()
        again, state = looped.forward(list(operands))
        assert state[0] is not None
        np.testing.assert_allclose(again, value, rtol=1e-12, atol=1e-12)
        found = looped.backward(g, operands, state)
        for number in variables:
            assert found[number].shape == expected[number].shape
            np.testing.assert_allclose(found[number], expected[number], rtol=1e-12, atol=1e-12)
        for node, x in looped.intermediates(operands, state).items():
            assert node < count or x.shape == tuple(p.sizes[label] for label in p.terms[node])
        assert sum(counted) <= p.flops_with_gradient  # pairs that sum nothing are no products of matrices
        assert value.ndim or sum(counted) > 0


def test_products_of_a_schedule_are_the_plans(monkeypatch):
    """Where every pair sums something, what is executed is counted exactly."""
    counted = plain(monkeypatch)
    ring = ",".join("abcdefgh"[i] + "bcdefgha"[i] for i in range(8)) + "->"
    operands = operands_for(np.random.default_rng(0), [(3, 3)] * 8)
    p = qad.plan(ring, *[(3, 3)] * 8)
    own = Execution(p, tuple(range(8)))
    state = own.forward(list(operands))[1]
    own.backward(np.complex128(1), operands, state)
    assert state[0] is not None
    assert sum(counted) == p.flops_with_gradient - 2 * 9  # the dot product at the root is turned back by scaling


@pytest.mark.parametrize("kind", ["f4", "f8", "c8", "c16"])
def test_compiled_loops(kind):
    text = "abc,bde,cdf,aef->"
    shapes = [(2, 3, 2), (3, 2, 3), (2, 2, 2), (2, 3, 2)]
    operands = [
        x.astype(kind) for x in operands_for(np.random.default_rng(1), shapes, complex if "c" in kind else float)
    ]
    loops, pairs = (qad.plan(text, *shapes, compiled=compiled) for compiled in (True, False))
    tolerance = 1e-5 if kind in ("f4", "c8") else 1e-12
    expected, expected_gradients = qad.value_and_grad(lambda operands: pairs(*operands).real)(operands)
    value, gradients = qad.value_and_grad(lambda operands: loops(*operands).real)(operands)
    assert Execution(loops, ()).forward(list(operands))[1][0] is not None
    np.testing.assert_allclose(value, expected, rtol=tolerance)
    assert value.dtype == expected.dtype
    for x, one, two in zip(operands, gradients, expected_gradients, strict=True):
        assert one.dtype == x.dtype
        assert one.flags.owndata and one.flags.writeable
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance)


def test_all_orders():
    text = "aab,bc,cd,de->ae"
    operands = operands_for(np.random.default_rng(0), [(2, 2, 3), (3, 2), (2, 3), (3, 2)], "mixed")
    qad.check_grads(lambda *x: qad.einsum(text, *x), tuple(operands))

    def weighted(w):  # the pullback of a compiled network, differentiated by the cotangent
        _, pullback = qad.vjp(lambda x: qad.einsum(text, x, *operands[1:]), operands[0])
        return pullback(w)[0]

    qad.check_grads(weighted, (operands_for(np.random.default_rng(0), [(2, 2)])[0],))


def test_pullbacks_may_be_called_again():
    operands = operands_for(np.random.default_rng(0), [(3, 3)] * 5)
    _, pullback = qad.vjp(lambda *x: qad.einsum("ab,bc,cd,de,ef->af", *x), *operands)
    w = operands_for(np.random.default_rng(1), [(3, 3)])[0]
    one, two, three = pullback(w), pullback(2 * w), pullback(w)
    for x, y, z in zip(one, two, three, strict=True):
        np.testing.assert_array_equal(x, z)
        np.testing.assert_allclose(2 * x, y)


def test_arrays_that_no_loop_takes():
    text, shapes = "ab,bc,cd,de->", [(2, 2)] * 4
    whole = [np.arange(4).reshape(2, 2) + number for number in range(4)]
    long = [x.astype(np.longdouble) for x in whole]
    empty = [np.ones((2, 0)), np.ones((0, 2)), np.ones((2, 2)), np.ones((2, 2))]
    assert qad.einsum(text, *whole) == np.einsum(text, *whole)
    assert qad.einsum(text, *long).dtype == np.longdouble
    assert qad.einsum(text, *empty) == 0
    fortran = [np.asfortranarray(x * (1 + 1j)) for x in whole]
    for operands in ([*fortran[:2], *whole[2:]], fortran):
        np.testing.assert_allclose(qad.einsum(text, *operands), np.einsum(text, *operands))
    assert qad.plan(text, *shapes).compiled == "loop"


def constants_case(count=6, size=4):
    text = ",".join("abcdefghijklmnopqrstuvwxy"[i : i + 2] for i in range(count)) + "->"
    return text, operands_for(np.random.default_rng(3), [(size, size)] * count)


def test_constants_that_change_before_the_backward_pass():
    """The gradient is that of the values that were used, whether one is read, or went into a product that is kept."""
    x, one, y, two = operands_for(np.random.default_rng(5), [(3, 3)] * 4)

    def loss(x, y):
        value = qad.einsum("ab,bc,cd,da->", x, one, y, two).real
        one[0, 0] += 1
        return value

    def check(numbers):
        expected = np.conj(one @ y @ two).T, np.conj(two @ x @ one).T
        for number, found in zip(numbers, qad.grad(loss, numbers)(x, y), strict=True):
            np.testing.assert_allclose(found, expected[number], rtol=1e-12)

    for _ in range(2):
        check((0,))
        check((0, 1))

    def weighted(w):  # a pullback that is differentiated itself
        _, pullback = qad.vjp(lambda x, y: qad.einsum("ab,bc,cd,da->", x, one, y, two), x, y)
        kept = one.copy()
        one[...] = 0
        found = pullback(w)[1]
        one[...] = kept
        return found

    qad.check_grads(weighted, (np.array(1 + 2j),))
    np.testing.assert_allclose(weighted(1.0 + 0j), np.conj(two @ x @ one).T, rtol=1e-12)


def test_threads():
    text, operands = constants_case(6, 3)
    function = qad.grad(lambda operands: qad.einsum(text, *operands).real)
    scaled = [[x * number for x in operands] for number in range(1, 5)]
    expected = [function(x) for x in scaled]
    wrong = []

    def work(number):
        for _ in range(50):
            found = function(scaled[number])
            if not all(np.allclose(x, y, rtol=1e-10) for x, y in zip(found, expected[number], strict=True)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_tangents_pass_through_pairs(counter):
    """Forward mode takes the value and two more products for a pair, no transposition."""
    text, operands = constants_case(6, 3)
    p = qad.plan(text, *[x.shape for x in operands])
    tangents = [x * 1j for x in operands]
    counter.total = 0
    value, tangent = qad.jvp(lambda operands: p(*operands), (operands,), (tangents,))
    assert counter.total <= p.flops_with_gradient
    np.testing.assert_allclose(tangent, 6j * value, rtol=1e-12)


def test_without_a_compiler(monkeypatch):
    text, operands = constants_case(6, 3)
    shapes = [x.shape for x in operands]
    expected = qad.grad(lambda operands: qad.einsum(text, *operands).real)(operands)
    monkeypatch.setattr(planner_module, "has_compiler", lambda: False)
    planner_module.find_plan.cache_clear()
    try:
        p = qad.plan(text, *shapes)
        assert p.compiled == ""
        with pytest.raises(ArgumentError, match="llvmlite"):
            qad.plan(text, *shapes, compiled=True)
        for one, two in zip(qad.grad(lambda operands: p(*operands).real)(operands), expected, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)
    finally:
        planner_module.find_plan.cache_clear()


@pytest.mark.parametrize("count, size", [(2, 3), (3, 3), (6, 3), (6, 40), (20, 2)])
@pytest.mark.sampled(3)
def test_every_call_equals_the_first(count, size):
    """To the last digit, values and gradients, however often something has run."""
    text, operands = constants_case(count, size)
    planner_module.find_plan.cache_clear()
    stacked = [np.stack([x] * 3) for x in operands]
    batched = ",".join("z" + term for term in text[:-2].split(",")) + "->z"
    functions = {
        "value": lambda: qad.einsum(text, *operands),
        "gradient": lambda: qad.grad(lambda x: qad.einsum(text, *x).real)(operands)[0],
        "one": lambda: qad.grad(lambda x: qad.einsum(text, x, *operands[1:]).real)(operands[0]),
        "batch": lambda: qad.einsum(batched, *stacked),
    }
    for f in functions.values():
        first = f()
        for _ in range(5):
            np.testing.assert_array_equal(f(), first)


def test_what_is_compiled_is_decided_in_the_plan():
    chain, shapes = "ab,bc,cd,de->ae", [(3, 3)] * 4
    assert qad.plan(chain, *shapes).compiled == "loop"
    assert qad.plan(chain, *shapes, compiled=False).compiled == ""
    assert qad.plan(chain, *shapes, memory_limit="1GB").compiled == "products"
    assert qad.plan("ab,bc->ac", *shapes[:2]).compiled == "products"
    assert qad.plan("ab,bc->ac", *shapes[:2], compiled=True).compiled == "loop"
    assert qad.plan(chain, *[(300, 300)] * 4).compiled == "products"
    with pytest.raises(ArgumentError, match="memory_limit"):
        qad.plan(chain, *shapes, memory_limit="1GB", compiled=True)
    a, b = operands_for(np.random.default_rng(0), shapes[:2])
    np.testing.assert_allclose(qad.plan("ab,bc->ac", a, b, compiled=True)(a, b), a @ b, rtol=1e-13)
