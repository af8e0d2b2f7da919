"""Frozen functions equal eager ones: on every case of every primitive, on random programs, in all that callers do."""

import threading

import numpy as np
import pytest

import qad
from qad.core.tape import node
from tests.cases import normal
from tests.frozen.agree import difference, disagreement, loss, moved
from tests.fuzz.programs import draw
from tests.rules.test_registry import gathered

LEFT_OUT = (
    "solution", "real_linear", "tree", "mixed", "work without x",  # linear_solve: an iteration until convergence
    "gates on a chain", "variational steps",  # the case makes its operator of traced numbers
    "log Z", "thermal mean",  # the derivative of a thermal state is refused: bonds follow from values
    "sparse",  # SciPy's matrix products, of plain arrays, see no traced ones
    "apply_along_axis",  # multiplies by slices of a constant: NumPy rounds with the layout, which the copy has not
)  # fmt: skip


def agreeing(case, passes):
    """Whether the value and the gradient of a case agree, frozen and eager, where eager has them."""
    problems = {}
    gradient = qad.value_and_grad(loss(case.f), argnums=tuple(range(len(case.point))))
    for name, f in (("value", case.f), ("gradient", gradient)):
        try:
            f(*case.point)
        except qad.QadError:
            continue
        if found := disagreement(f, case.point, passes):
            problems[name, str(case)] = found
    return problems


@pytest.mark.parametrize("passes", [(), None], ids=["recorded", "improved"])
@pytest.mark.parametrize("start", range(80))
@pytest.mark.filterwarnings("ignore:'where' used without")  # by NumPy's functions on plain arrays
@pytest.mark.sampled(2)
def test_every_primitive_frozen(start, passes):
    cases = [c for c in gathered() if not str(c).startswith(LEFT_OUT)][start::80]
    problems = {}
    for case in cases:
        problems |= agreeing(case, passes)
    assert not problems


@pytest.mark.parametrize("passes", [(), None], ids=["recorded", "improved"])
@pytest.mark.parametrize("first", range(0, 60, 20))
@pytest.mark.sampled(1)
def test_random_programs(first, passes):
    problems = {}
    with np.errstate(all="ignore"):
        for seed in range(first, first + 20):
            program, _, inputs = draw(seed)
            f, others = qad.value_and_grad(program, argnums=(0, 1, 2)), [moved(x) for x in inputs]
            try:
                expected = f(*inputs), f(*inputs), f(*others)
            except qad.QadError:
                continue
            frozen = qad.freeze(f, passes=passes)
            for values, wanted in zip((inputs, inputs, others), expected, strict=True):
                if found := difference(wanted, frozen(*values), passes == ()):
                    problems[seed] = found
    assert not problems


def test_without_passes_a_replay_is_the_function_to_the_last_bit():
    """On arguments in C order; of transforms, eager calls add cotangents in an order of their own."""
    problems = {}
    with np.errstate(all="ignore"):
        for seed in range(60):
            program, _, inputs = draw(seed)
            frozen, inputs = qad.freeze(program, passes=()), [np.ascontiguousarray(x) for x in inputs]
            if found := difference(program(*inputs), (frozen(*inputs), frozen(*inputs))[1], True):
                problems[seed] = found
    assert not problems


def test_second_call_records_no_tape_node():
    x, y = normal(5, 5, complex), normal(5, 5, complex, seed=1)
    frozen = qad.freeze(qad.value_and_grad(lambda a, b: qad.abs2(qad.tr(a @ b @ a)), argnums=(0, 1)))
    frozen(x, y)
    before = node.next_id()
    frozen(2 * x, y)
    assert node.next_id() == before + 1
    assert (frozen.stats.recordings, frozen.stats.replays) == (1, 1)


def test_branches_both_ways():
    @qad.freeze
    @qad.value_and_grad
    def f(x):
        return np.sum(x**2) if x[0] > 0 else np.sum(np.sin(x))

    for _ in range(3):
        assert f(np.array([1.0, 2.0]))[0] == 5
        np.testing.assert_allclose(f(np.array([-1.0, 2.0]))[1], np.cos([-1.0, 2.0]))
    assert f.stats.recordings == 2
    assert f.stats.guard_failures == 5


def test_loops_of_varying_length():
    @qad.freeze
    def f(x):
        n = 0
        while np.linalg.norm(x) > 1:
            x, n = x / 2, n + 1
        return x, n

    for size in (0.5, 3.0, 9.0, 3.5, 0.1):
        x, n = f(np.array([size, 0.0]))
        assert n == max(0, int(np.ceil(np.log2(size))))
        assert x[0] == size / 2**n


def test_integers_index():
    table = np.arange(6.0).reshape(3, 2)
    f = qad.freeze(lambda x: table[np.argmax(x)] * x.sum())
    for x in np.eye(3):
        np.testing.assert_array_equal(f(x), table[np.argmax(x)])
    assert f.stats.recordings == 3


def test_floats_are_conditions():
    f = qad.freeze(lambda x: x * float(x.sum()))
    x = np.ones(2)
    for scale, recordings in ((1, 1), (3, 2), (1, 2)):
        assert f(scale * x)[0] == 2 * scale**2
        assert f.stats.recordings == recordings
    assert "a float decided upon at test_freeze.py" in f.stats.reasons[0]


def test_pytrees_keywords_and_numbers():
    @qad.freeze
    def f(params, scale=1.0, *, shift):
        return {"out": params["a"] * scale + shift, "pair": (params["b"], params["a"][0])}

    params = {"a": np.ones(2, np.float32), "b": 3.0}
    for scale in (2.0, 0.5):
        out = f(params, scale, shift=np.float32(1))
        assert out["out"].dtype == np.float32  # a Python number is weak
        assert out["out"][0] == scale + 1
        assert out["pair"] == (3.0, 1)
    assert f.stats.recordings == 1


def test_integers_are_static():
    f = qad.freeze(lambda x, n: x**n)
    assert f(np.array([2.0]), 2) == 4
    assert f(np.array([2.0]), 3) == 8
    assert "3 instead of 2" in f.stats.reasons[0]


def test_results_are_the_callers_own():
    f = qad.freeze(lambda x: (x, x.T, x * 2, np.broadcast_to(x[0], (3, 2))))
    x = np.arange(4.0).reshape(2, 2)
    for _ in range(3):
        first = f(x)
        kept = [y.copy() for y in first]
        for y in first:
            assert y.flags.writeable
            assert not np.shares_memory(y, x)
            y += 1
        for y, z in zip(f(x), kept, strict=True):
            np.testing.assert_array_equal(y, z)
    np.testing.assert_array_equal(x, np.arange(4.0).reshape(2, 2))


def test_writing_inside():
    @qad.freeze
    def f(x):
        y = np.zeros_like(x)
        y[1:] = x[:-1]
        view = y[::2]
        view += 1
        np.multiply(y, 2, out=y)
        np.add.at(y, [0, 0], x[1])
        return y, view

    for x in (np.arange(4.0), np.ones(4)):
        y, view = f(x)
        expected = 2 * (np.concatenate([[0], x[:-1]]) + np.array([1, 0, 1, 0]))
        expected[0] += 2 * x[1]
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(view, expected[::2])
    assert f.stats.replays == 1


def test_captured_arrays_are_watched():
    small, large = np.ones(3), np.ones((100, 100))
    f = qad.freeze(lambda x: x + small.sum() + large[0, 0])
    assert f(1.0) == 5
    small[0] = 2
    assert f(1.0) == 6
    large[0, 0] = 3
    assert f(1.0) == 8
    large[0, 0], large[50, 60] = 1, 3
    assert f(1.0) == 6
    assert f.stats.reasons[-1] == "what the function captured has changed: large"


def test_threads():
    f = qad.value_and_grad(lambda a: np.sum(qad.abs2(a @ a @ a)))
    frozen = qad.freeze(f)
    points = [normal(6, 6, complex, seed=k) for k in range(8)]
    expected = [f(x) for x in points]
    wrong = []

    def work(k):
        for n in range(40):
            i = (k + n) % 8
            if difference(expected[i], frozen(points[i]), False):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_inside_of_another_frozen_function():
    inner = qad.freeze(lambda x: x * 2)
    outer = qad.freeze(lambda x: inner(x) + 1)
    assert outer(1.0) == 3
    assert outer(2.0) == 5
    assert inner.stats.recordings == 0


def test_tape_style_inside():
    @qad.freeze
    def f(x):
        t = qad.tensor(x, requires_grad=True)
        (t * t).sum().backward()
        return t.grad

    for x in (np.ones(2), np.arange(2.0)):
        np.testing.assert_array_equal(f(x), 2 * x)
