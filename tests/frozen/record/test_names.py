"""Names that are bound anew, Tensors that are closed over, state that changes, methods: a frozen function follows."""

import numpy as np
import pytest

import qad
from tests.frozen.record.test_captures import DISPATCHED, Child, Plain, Slotted, X, dispatched, module

NUMBER, FLAG, TEXT = 2.0, False, "sum"


def rebindings():
    """Dict of name -> (function, what binds a name anew: called with 1, 2, ...)."""
    plain, slotted, listed, mapping = Plain(), Slotted(), [1.0], {"a": 1.0}
    slotted.w = 1.0
    local = np.ones(3)
    number, inner = 1.0, lambda x: x

    def again(k):
        nonlocal local
        local = local + k

    def again_number(k):
        nonlocal number
        number = float(k)

    def again_function(k):
        nonlocal inner
        inner = (lambda x: x) if k % 2 else lambda x: 2 * x

    def into_class(k):
        Child.extra = float(k)

    into_class(0)
    child = Child()
    return {
        "closure": (lambda x: x * local, again),
        "number": (lambda x: x * number, again_number),
        "function": (lambda x: inner(x), again_function),
        "global": (lambda x: x * NUMBER if FLAG else -x, lambda k: globals().update(FLAG=bool(k % 2), NUMBER=float(k))),
        "attribute": (plain.method, lambda k: setattr(plain, "w", plain.w + k)),
        "slot": (lambda x: x * slotted.w, lambda k: setattr(slotted, "w", float(k))),
        "entry": (lambda x: x * listed[0], lambda k: listed.__setitem__(0, float(k))),
        "length": (lambda x: x * len(listed), lambda k: listed.append(float(k))),
        "key": (lambda x: x * mapping["a"], lambda k: mapping.update(a=float(k))),
        "order of keys": (
            lambda x: x * next(iter(mapping.values())),
            lambda k: mapping.update({"b": mapping.pop("a", k)}),
        ),
        "module": (lambda x: x * module.number, lambda k: setattr(module, "number", float(k))),
        "class": (lambda x: x * child.extra, into_class),
        "instance instead of class": (lambda x: x * child.shared, lambda k: setattr(child, "shared", float(k))),
        "a Tensor": (lambda x: x * local, lambda k: again(0) or qad.tensor(np.ones(3))),
        "integer or truth": (lambda x: x * listed[0], lambda k: listed.__setitem__(0, True if k % 2 else 1)),
    }


@pytest.mark.parametrize("name", rebindings())
def test_a_name_that_is_bound_anew(name):
    f, bind = rebindings()[name]
    frozen = qad.freeze(f)
    x = np.array([-1.0, 2.0, 3.0])
    try:
        for k in range(4):
            for _ in range(2):
                found, expected = frozen(x), f(x)
                np.testing.assert_array_equal(found, expected)
                assert np.asarray(found).dtype == np.asarray(expected).dtype
            bind(k + 1)
    finally:
        globals().pop("abs", None)
        globals().update(NUMBER=2.0, FLAG=False, TEXT="sum")


def test_a_name_that_becomes_a_recorded_tensor():
    """The gradient with respect to it was zero: the program had taken the earlier array."""
    w = np.array([1.0, 2.0])
    frozen = qad.freeze(lambda x: np.sum(x * w))

    def loss(v):
        nonlocal w
        w = v
        return frozen(np.array([3.0, 4.0]))

    assert frozen(np.ones(2)) == 3
    np.testing.assert_array_equal(qad.grad(loss)(np.ones(2)), [3, 4])
    np.testing.assert_array_equal(qad.grad(loss)(np.ones(2)), [3, 4])
    w = np.array([1.0, 2.0])
    assert frozen(np.ones(2)) == 3


def test_closed_over_tensors():
    def loss(v, x):
        return qad.freeze(lambda x: np.sum(v * v * x))(x)

    for argnums in (0, 1):
        np.testing.assert_array_equal(
            qad.grad(loss, argnums)(np.array([1.0, 2.0]), np.array([3.0, 4.0])),
            qad.grad(lambda v, x: np.sum(v * v * x), argnums)(np.array([1.0, 2.0]), np.array([3.0, 4.0])),
        )
    w = qad.tensor([1.0, 2.0], requires_grad=True)
    qad.freeze(lambda x: (w * w * x).sum())(np.array([3.0, 4.0])).backward()
    np.testing.assert_array_equal(w.grad, [6, 16])


def test_a_traced_array_that_is_closed_over():
    outer = qad.freeze(lambda x: qad.freeze(lambda y: y * x)(np.ones(3)))
    for scale in (1.0, 2.0):
        np.testing.assert_array_equal(outer(scale * X), scale * X)


def test_functions_that_are_dispatched_on_types():
    frozen = qad.freeze(lambda x: dispatched(x))
    for entry in (1.0, 5.0, 5.0, 1.0):
        DISPATCHED[0] = entry
        np.testing.assert_array_equal(frozen(X), X * DISPATCHED)


def test_a_function_that_counts_is_not_replayed():
    count = [0]

    def f(x):
        count[0] += 1
        return x * count[0]

    frozen = qad.freeze(f)
    assert [float(frozen(1.0)) for _ in range(4)] == [1, 2, 3, 4]
    assert frozen.stats.replays == 0


def test_what_is_declared_constant_is_not_looked_at():
    big, number = np.ones(3), 2.0

    def f(x):
        return x * big * number

    for constant in ("big", ("big", "number"), True):
        frozen = qad.freeze(f, constant=constant)
        np.testing.assert_array_equal(frozen(X), 2 * X)
        big[0] = 9.0
        np.testing.assert_array_equal(frozen(X), 2 * X)
        big[0] = 1.0
    with pytest.raises(qad.errors.ArgumentError, match="'other' names nothing.*big.*number"):
        qad.freeze(f, constant="other")(X)


class Model:
    def __init__(self, weight):
        self.weight, self.steps = np.full(3, weight), 0

    @qad.freeze
    def apply(self, x):
        return np.sum(x * self.weight)

    @qad.freeze
    def raised(self, x, power):
        return np.sum(x**power * self.weight)

    @qad.freeze
    @qad.value_and_grad
    def loss(self):
        return np.sum(self.weight)

    @classmethod
    @qad.freeze
    def of_class(cls, x):
        return 2 * x


def test_methods():
    one, two = Model(1.0), Model(2.0)
    for _ in range(3):
        assert (one.apply(X), two.apply(X)) == (6, 12)
        assert (one.raised(X, 2), two.raised(X, power=3)) == (14, 72)
        one.steps += 1  # which nobody reads
    assert one.apply.stats.recordings == 1
    one.weight[0] = 5
    assert one.apply(X) == 10
    one.weight = np.zeros(3)
    assert one.apply(X) == 0
    assert Model.apply(two, X) == 12
    np.testing.assert_array_equal(Model.of_class(X), 2 * X)
    np.testing.assert_array_equal(qad.grad(two.apply)(X), [2, 2, 2])


def test_objects_whose_methods_are_frozen_are_bounded():
    models = [Model(float(k)) for k in range(70)]
    assert [float(m.apply(X)) for m in models] == [6.0 * k for k in range(70)]
    assert len(vars(Model)["apply"]._bound) == 64
