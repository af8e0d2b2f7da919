"""What a frozen function returns belongs to the caller: never a constant, a captured array, an argument or a buffer."""

import numpy as np
import pytest

import qad
from qad.core.trees import flatten

K = np.array([1.0, 2.0, 3.0])
X = np.array([3.0, 4.0, 5.0])
KEPT = np.ones(3)
keeping = qad.extend.opaque(lambda x: KEPT)

FUNCTIONS = {
    "constant Hessian": qad.hessian(lambda x: np.sum(x * x)),
    "constant gradient": qad.grad(lambda x: np.sum(x)),
    "constant Jacobian": qad.jacobian(lambda x: 2 * x),
    "captured": lambda x: K,
    "captured, twice": lambda x: [K, K, (K, x)],
    "view of a captured array": lambda x: (K[1:], K[::-1], K.reshape(3, 1)),
    "argument": lambda x: (x, x, x[1:]),
    "one result twice": lambda x: (x * 2,) * 2,
    "a result and a view of it": lambda x: (lambda y: (y, y.T, y[1:]))(x * 2),
    "made inside": lambda x: (np.zeros(3), np.eye(2)),
    "a constant Tensor": lambda x: qad.zeros(3),
    "kept by a step": lambda x: keeping(x),
    "a step of it": lambda x: (keeping(x), keeping(x) * 1.0),
    "broadcast": lambda x: np.broadcast_to(x[0], (4,)),
    "of a dict": lambda x: {"b": K, "a": {"c": x * 0 + K}},
    "value and gradient": qad.value_and_grad(lambda x: np.sum(K * x)),
    "an array without axes": lambda x: (np.array(2.0), np.sum(x), np.sum(x)[...]),
    "gradients of examples by an array without axes": lambda x: qad.vmap(
        qad.grad(lambda p, y: np.sum(p * y)), in_axes=(None, 0)
    )(x[0, ...], np.outer(x, K)),
    "real and imaginary parts": lambda x: (lambda z: (z, z.real, z.imag))(x + 1j),
}


def arrays(tree):
    return [qad.extend.value_of(x) for x in flatten(tree)[0]]


@pytest.mark.parametrize("passes", [None, (), ("canonical", "common")])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_belong_to_the_caller(name, passes):
    f = FUNCTIONS[name]
    frozen, x = qad.freeze(f, passes=passes), X.copy()
    expected = [np.array(y) for y in arrays(f(x))]
    earlier = []
    for _ in range(4):
        found = arrays(frozen(x))
        for y, z in zip(found, expected, strict=True):
            np.testing.assert_array_equal(y, z)
        writable = [y for y in found if isinstance(y, np.ndarray)]
        for i, y in enumerate(writable):
            assert y.flags.writeable
            for other in (x, K, KEPT, *writable[:i], *earlier):
                assert not np.shares_memory(y, other)
        earlier += writable
        for y in writable:
            y += 17.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(K, [1, 2, 3])


def test_results_of_calls_that_are_not_replayed():
    """The plain function answers where a step raises; its arrays are copied like all others."""

    def f(a):
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return K

    frozen = qad.freeze(f)
    for a in (np.eye(3), np.zeros((3, 3)), np.eye(3), np.zeros((3, 3))):
        found = frozen(a)
        np.testing.assert_array_equal(found, f(a))
        found += 1
    np.testing.assert_array_equal(K, [1, 2, 3])


def test_objects_that_every_call_would_share_are_refused():
    class Box:
        pass

    for made in (lambda x: {1, 2}, lambda x: bytearray(3), lambda x: Box(), lambda x: np.random.default_rng(0)):
        with pytest.raises(qad.errors.ArgumentError, match="which every call would share"):
            qad.freeze(made)(X)


def test_text_numbers_and_functions_may_be_returned():
    frozen = qad.freeze(lambda x: ("text", 3, None, True, 2.5, np.sin, slice(1), float))
    for _ in range(2):
        assert frozen(X) == ("text", 3, None, True, 2.5, np.sin, slice(1), float)


def test_rounding_by_python():
    for f in (round, lambda x: round(x, 1)):
        for kind in (float, np.float64):
            frozen = qad.freeze(f)
            for x in (1.26, 2.5, 1.26, -3.75):
                found, expected = frozen(kind(x)), f(kind(x))
                assert (found, type(found)) == (expected, type(expected))
