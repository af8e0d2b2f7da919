"""Equal small operations as one on stacks: what is batched, what is not, and that results stay what they are."""

import operator
import pickle
from itertools import pairwise

import numpy as np
import pytest

import qad
from benchmarks.freeze import chain, polynomial, small_matrices
from qad.frozen.passes.canonical import SUM
from tests.cases import normal
from tests.frozen.agree import difference
from tests.frozen.test_passes import calls

PLAIN = ("dead", "canonical", "common", "algebra")
BATCHED = (*PLAIN, "batches")


def batched(f, *args):
    """The program of `f` with batches; its results are those of `f`, for other values too."""
    frozen = qad.freeze(f, passes=BATCHED)
    for scale in (1, 1, 0.75):
        moved = [x * scale for x in args]
        assert difference(f(*moved), frozen(*moved), False) is None
    return frozen.program


def rotation(t):
    c, s = np.cos(t / 2), np.sin(t / 2)
    return np.stack([np.stack([c, s * -1j]), np.stack([s * -1j, c])])


def rotations(theta):
    """The trace of the product of many gates, each of an angle of its own."""
    product = rotation(theta[0])
    for t in theta[1:]:
        product = product @ rotation(t)
    return product.trace().real


def test_twenty_gates_are_built_by_one_call_of_each_function():
    program = batched(rotations, normal(20))
    for fn, count in ((np.cos, 1), (np.sin, 1), (np.divide, 1), (np.concatenate, 3), (np.array, 0), (np.dot, 19)):
        assert calls(program, fn) == count
    assert program.counts["batches"] >= 19 * 7


def test_their_gradient():
    program = batched(qad.value_and_grad(rotations), normal(20))
    plain = qad.freeze(qad.value_and_grad(rotations), passes=PLAIN)
    plain(normal(20))
    assert calls(program, np.cos) == 1
    assert len(program.steps) < len(plain.program.steps) - 19 * 6


def test_rows_of_an_array_need_no_stack():
    program = batched(lambda x: sum(np.sin(x[i]) * x[i + 1] for i in range(8)), normal(9, 4))
    assert (calls(program, np.sin), calls(program, np.multiply)) == (1, 1)
    assert calls(program, np.concatenate) == calls(program, np.array) == 0


def test_every_other_entry_and_entries_of_a_matrix():
    for f in (lambda x: [np.exp(x[i, 1]) for i in range(6)], lambda x: [np.exp(x[2, i]) for i in range(6)]):
        program = batched(f, normal(6, 6))
        assert calls(program, np.exp) == 1
        assert calls(program, np.array) == 0


def test_products():
    def f(a, v):
        b, w = a * 2, np.sin(v)
        pairs = [(b[i], b[i + 1], w[i], w[i + 1]) for i in range(12)]
        parts = zip(*[(x @ y, x @ p, p @ y, np.vdot(p, q), p @ q, np.conj(x.T)) for x, y, p, q in pairs], strict=True)
        return [sum(part) for part in parts]

    program = batched(f, normal(13, 2, 2, complex), normal(13, 2, complex))
    assert calls(program, np.matmul) == 5
    assert calls(program, np.dot) == calls(program, np.vdot) == 0
    assert calls(program, np.conjugate) == 2


def test_a_shared_operand():
    program = batched(lambda x, y: sum(x[i] @ y * y[0] for i in range(10)), normal(10, 3, 3), normal(3, 3))
    assert calls(program, np.matmul) == calls(program, np.multiply) == 1


def test_sums():
    program = batched(
        lambda x: [(x[i] * 2).sum(k, keepdims=k == 1) for i in range(6) for k in (None, 0, 1)], normal(6, 3, 2)
    )
    assert (calls(program, SUM), calls(program, np.multiply)) == (3, 1)


def test_what_does_not_pay_stays():
    for f, x in ((polynomial, normal(8)), (qad.value_and_grad(polynomial), normal(8))):
        assert batched(f, x).counts["batches"] == 0
    assert batched(chain, *small_matrices()).counts["batches"] == 0
    assert batched(lambda x: [np.sin(x[i]) for i in range(3)], normal(3, 2)).counts["batches"] == 0
    assert batched(lambda *x: [np.sin(a) for a in x], *[normal(4) for _ in range(8)]).counts["batches"] == 0
    assert batched(lambda x: [np.sin(x[i]) for i in range(8)], normal(8, 40, 40)).counts["batches"] == 0


def test_results_go_straight_to_the_caller():
    x = normal(12, 2, 2, complex)
    assert batched(lambda x: [np.conj(x[i] @ x[i]) for i in range(12)], x).counts["batches"] == 11
    assert batched(lambda x: [np.conj(x[i]) for i in range(12)], x).counts["batches"] == 0


def test_what_depends_on_each_other_or_differs_stays():
    def f(x):
        one = x[0] * x[1]
        for i in range(2, 8):
            one = np.sin(one) * x[i]
        return one, np.cos(x[0]), np.tan(x[1]), np.exp(x[2]), x[3] - 1, x[4] - 2, x[5] - 3

    assert batched(f, normal(8, 3)).counts["batches"] == 0


def test_guards_and_writes_are_not_passed():
    def f(x):
        y = np.zeros_like(x)
        for i in range(8):
            y[i] = np.sin(x[i])
        parts = [np.cos(y[i]) for i in range(8)]
        if x[0] > 0:
            return sum(np.exp(x[i]) for i in range(8)) + sum(parts)
        return sum(np.sinh(x[i]) for i in range(8)) * y

    frozen, x = qad.freeze(f), normal(8)
    for _ in range(2):
        for sign in (1, -1):
            assert difference(f(sign * x), frozen(sign * x), False) is None
    assert frozen.stats.recordings == 2
    for branches in frozen._entries.values():
        for branch in branches.branches:
            assert calls(branch.program, operator.setitem) == 8
            assert calls(branch.program, np.exp) + calls(branch.program, np.sinh) == 1


def test_entries_are_read_before_they_are_written():
    def f(x):
        y = np.sin(x)
        early = [y[i] for i in range(8)]
        y[2:] = x[:-2]
        return [np.cosh(e) for e in early], [np.cosh(y[i]) for i in range(8)]

    batched(f, normal(8))


def test_later_operands_are_computed_in_time():
    def f(x):
        total, outs = x[0], []
        for i in range(10):
            slow = x[i]
            for _ in range(i % 3):
                slow = slow @ x[0]
            outs.append(np.tanh(x[i]) @ slow + total)
            total = np.tanh(outs[-1])
        return outs

    assert batched(f, normal(10, 3, 3) / 3).counts["batches"] > 8


@pytest.mark.parametrize("seed", range(12))
def test_random_batches(seed):
    """Twelve copies of a random chain of small operations, on operands that lie anywhere."""
    rng = np.random.default_rng(seed)
    unary = [
        np.sin,
        np.conj,
        np.exp,
        lambda x: x.T,
        lambda x: x.sum(0),
        lambda x: x[..., 0],
        lambda x: x.real,
        np.negative,
    ]
    binary = [np.add, np.multiply, np.matmul, np.vdot, np.subtract, lambda x, y: np.stack([x, y], -1)]
    script = [(rng.integers(2), rng.integers(8), rng.integers(6), rng.integers(3)) for _ in range(7)]
    places = rng.permutation(12) if seed % 2 else np.arange(12)

    def one(x, y):
        values = [x, y, x * 0.5]
        for kind, i, j, back in script:
            try:
                a, b = values[-1], values[-1 - back]
                values.append(np.tanh(unary[i](a) if kind else binary[j](a, b)) * 0.7)
            except (ValueError, IndexError):
                pass  # shapes that do not fit
        return values

    def f(x, y):
        return [one(x[int(i)], y[11 - int(i)]) for i in places]

    batched(f, normal(12, 2, 2, complex), normal(12, 2, 2))


def test_storing():
    frozen, x = qad.freeze(qad.value_and_grad(rotations)), normal(20)
    frozen(x)
    expected = frozen(x)  # of a replay
    assert difference(expected, pickle.loads(pickle.dumps(frozen))(x), True) is None


def test_two_families_of_one_call_are_two_batches():
    """Products of neighbours and squares: the numbers of all operands together are in no equal distances."""

    def f(angles):
        gates = [np.stack([np.stack([np.cos(t), np.sin(t)]), np.stack([t, t])]) for t in angles]
        return np.stack([x for a, b in pairwise(gates) for x in (a @ b, a @ a)])

    program = batched(f, normal(20))
    assert (calls(program, np.matmul), calls(program, np.dot)) == (2, 0)


def test_traces_of_many_matrices_are_one_product():
    """Diagonals of a stack are a view."""
    program = batched(lambda xs: np.stack([np.sin(x) @ np.ones(3) + x.diagonal() for x in xs]), normal(20, 3, 3))
    assert calls(program, np.sin) == 1
    assert sum(getattr(step.fn, "__name__", "") == "diagonal" for step in program.steps) == 1


def test_scalars_that_only_batches_read_are_batched():
    """Each alone is cheap in the loop over scalars; their readers then find them in one array."""

    def f(x):
        return np.stack([np.cos(t) * np.sin(t) - np.cos(t) + np.sin(t) * t for t in x])

    program = batched(f, normal(30))
    assert sum(step.out.kind == "scalar" for step in program.steps) <= 30  # the picked results
    assert calls(program, np.multiply) == 2
