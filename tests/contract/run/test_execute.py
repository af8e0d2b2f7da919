"""What plans do for some variable operands: values, gradients and derivatives of every order, at every call alike."""

import threading

import numpy as np
import pytest

import qad
from qad.contract.plan.planner import find_plan
from tests.contract.networks import operands_for


def test_all_orders():
    text = "aab,bc,cd,de->ae"
    operands = operands_for(np.random.default_rng(0), [(2, 2, 3), (3, 2), (2, 3), (3, 2)], "mixed")
    qad.check_grads(lambda *x: qad.einsum(text, *x), tuple(operands))

    def weighted(w):  # the pullback of a network, differentiated by the cotangent
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


def test_arrays_of_every_kind():
    text = "ab,bc,cd,de->"
    whole = [np.arange(4).reshape(2, 2) + number for number in range(4)]
    long = [x.astype(np.longdouble) for x in whole]
    empty = [np.ones((2, 0)), np.ones((0, 2)), np.ones((2, 2)), np.ones((2, 2))]
    assert qad.einsum(text, *whole) == np.einsum(text, *whole)
    assert qad.einsum(text, *long).dtype == np.longdouble
    assert qad.einsum(text, *empty) == 0
    fortran = [np.asfortranarray(x * (1 + 1j)) for x in whole]
    for operands in ([*fortran[:2], *whole[2:]], fortran):
        np.testing.assert_allclose(qad.einsum(text, *operands), np.einsum(text, *operands))


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


@pytest.mark.parametrize("count, size", [(2, 3), (3, 3), (6, 3), (6, 40), (20, 2)])
@pytest.mark.sampled(3)
def test_every_call_equals_the_first(count, size):
    """To the last digit, values and gradients, however often something has run."""
    text, operands = constants_case(count, size)
    find_plan.cache_clear()
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
