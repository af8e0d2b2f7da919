"""The pass `zeros`: programs on the few entries that are not zero give what the whole arrays give."""

import operator
import pickle
from importlib import import_module

import numpy as np
import pytest

import qad
from qad.frozen.sparse_arrays import placed
from qad.rules.structured_cotangents import scatter
from tests.cases import normal
from tests.frozen.agree import difference

N = 40
EYE, LOWER = np.eye(N), np.diag(normal(N - 1, seed=3), -1)
SHUFFLED = EYE[np.random.default_rng(0).permutation(N)]
STACK = np.einsum("ij,k->ijk", EYE, [1.0, -2.0, 3.0])
D, M = normal(N, seed=1), normal(N, N, seed=2)


def frozen(f, *args):
    """The program of `f`, whose results are compared, at two points, with those of what was recorded."""
    fast, plain = qad.freeze(f), qad.freeze(f, passes=())
    for point in (args, args, [1.5 * x for x in args]):
        assert difference(plain(*point), fast(*point), False) is None
    return fast


def ran(function):
    return function.program.counts["zeros"] > 0


def calls(function, fn):
    return sum(step.fn is fn for step in function.program.steps)


PROGRAMS = {
    "products": lambda x: -(EYE * x * D) / (2 + x * x) * 3.0,
    "products with a column": lambda x: EYE * x[:, None] * M * x,
    "sums of the same places": lambda x: EYE * x - np.sin(x) * EYE,
    "sums of other places": lambda x: (EYE * x - LOWER * x) * x + 2 * LOWER,
    "sums of broadcast arrays": lambda x: (EYE * x)[:, None] + STACK.transpose(0, 2, 1) * x,
    "a sum with all entries": lambda x: (EYE * x * x) + M * x,
    "two with few entries": lambda x: (EYE * x) * (EYE * x + LOWER),
    "at scattered places": lambda x: (SHUFFLED * x * M - SHUFFLED.T) * x,
    "transposed": lambda x: (LOWER * x * x).T * x,
    "reshaped": lambda x: (LOWER * x * x).reshape(8, 5, N) * x,
    "part of it": lambda x: (LOWER * x * x)[3:, ::-2] * x[::-2],
    "rows by numbers": lambda x: (LOWER * x * x)[[3, 1, 1, 4]] * x,
    "broadcast": lambda x: np.broadcast_to((EYE * x)[..., None], (N, N, 3)) * D[:3] * x[:, None],
    "sums over an axis": lambda x: (STACK * x[:, None] * x[:3]).sum(1) * x[:3],
    "sums over axes": lambda x: (STACK * x[:, None] * x[:3]).sum((0, 2)),
    "the sum of all": lambda x: (STACK * x[:, None] * x[:3]).sum(),
    "a product with a vector": lambda x: (STACK * x[:, None] * x[:3]) @ x[:3],
    "a product with a row": lambda x: x[None] @ (STACK * x[:, None] * x[:3]),
    "a vector first": lambda x: x @ (LOWER * x * x),
    "a column": lambda x: (LOWER * x * x) @ x[:, None],
    "a matrix": lambda x: (LOWER * x * x) @ (M * x),
    "put into a larger one": lambda x: scatter(
        EYE[:10] * x * x, indices=((slice(2, 22, 2), ...),), shape=(N, N), dtype=x.dtype
    ),
    "put twice": lambda x: scatter(
        EYE * x * x, LOWER * x, x, indices=(..., ..., 3), shape=(N, N), dtype=x.dtype
    ),
    "put at numbers that repeat": lambda x: scatter(
        EYE[:8] * x * x, indices=(np.array([3, 1, 3, 3, 0, 0, 7, 39]),), shape=(N, N), dtype=x.dtype
    ),
    "complex": lambda x: np.conj((EYE * x) * (1 + 2j) * x).real + (EYE * x * (2 - 1j) * x).imag,
    "of two dtypes": lambda x: EYE * x * x + LOWER * (1j * x),
    "read as it is too": lambda x: (EYE * x, (EYE * x) * x, np.cos(EYE * x)),
    "all constant in the end": lambda x: (EYE * D + 0 * (LOWER * x)) * 2,
    "nothing left": lambda x: (EYE * x)[3:6, 8:] * x[8:],
    "numbers": lambda x: (EYE * x.sum()) * x[3] * x,
}  # fmt: skip


@pytest.fixture
def whatever_it_costs(monkeypatch):
    monkeypatch.setattr(import_module("qad.frozen.passes.sparsity"), "MARGIN", np.inf)


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, dtype, whatever_it_costs):
    f = frozen(PROGRAMS[name], normal(N, seed=4).astype(dtype) if dtype is not complex else normal(N, complex))
    assert ran(f)


def test_programs_where_it_pays():
    assert sum(ran(frozen(f, normal(N))) for f in PROGRAMS.values()) > len(PROGRAMS) / 2


def test_a_chain_of_products_is_on_the_diagonal():
    f = frozen(lambda x: -(EYE * x) * np.sin(x) * (2 + x), normal(N))
    assert ran(f)
    assert calls(f, placed) == 1
    assert max(step.out.size for step in f.program.steps if step.fn is not placed) == N


def test_what_does_not_pay_stays():
    f = frozen(lambda x: (EYE * x) @ M, normal(N))
    assert not ran(f)
    assert calls(f, np.multiply) == 1


def test_memory_that_is_written_into_stays(whatever_it_costs):
    def f(x):
        y = np.zeros_like(M * x)
        y[...] = EYE * x * x
        z = y * EYE * x
        y[0] = 5
        return z, y * LOWER * x

    def twice(x):
        y = np.zeros_like(M * x)
        y[...] = M * x
        before = SHUFFLED * y * x
        y[...] = 5 * x
        return before, SHUFFLED * y * x

    frozen(f, normal(N))
    frozen(twice, normal(N))


def test_results_belong_to_the_caller():
    f = frozen(lambda x: -(EYE * x) * np.sin(x) * (2 + x), normal(N))
    one = f(D)
    kept = one.copy()
    f(2 * D)[...] = 7
    np.testing.assert_array_equal(one, kept)
    one[...] = 3
    np.testing.assert_array_equal(f(D), kept)


def test_a_zero_of_the_structure_is_zero():
    x = D.copy()
    x[3] = np.inf
    with np.errstate(invalid="ignore"):
        whole = qad.freeze(lambda x: -(EYE * x) * x * 2 * D, passes=())(x)
        f = qad.freeze(lambda x: -(EYE * x) * x * 2 * D)
        f(D)
        few = f(x)
    assert np.isnan(whole[0, 3]) and few[0, 3] == 0 and np.isinf(few[3, 3])


def test_in_a_file():
    f = frozen(PROGRAMS["sums of other places"], normal(N))
    assert ran(f)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(D), f(D))
    assert "placed" in f.source


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def repulsion(x):
    r = np.reshape(x, (N // 2, 2))
    apart = r[:, None] - r[None]
    return np.sum(1 / (np.sum(apart * apart, -1) + np.eye(N // 2))) + np.sum(r * r)


def chain(x):
    """Of masks, of a buffer, and of neighbours."""
    out = qad.zeros(N)
    out[1:] = np.where(x[1:] > 0.2, np.sin(x[:-1]), x[1:] ** 3)
    out[0] = x[3] * x[0]
    return np.sum(out**2 * np.roll(x, 1)) + np.sum(x[[1, 1, 4]] ** 4) + np.prod(np.cos(x[x > 0]))


@pytest.mark.parametrize("f", [rosenbrock, repulsion, chain])
def test_hessians(f):
    x = normal(N, seed=5)
    hessian = qad.freeze(qad.hessian(f))
    hessian(x)
    for scale in (1.0, 1.1):
        found, h = hessian(scale * x), 1e-5
        np.testing.assert_allclose(found, qad.hessian(f)(scale * x), rtol=1e-12, atol=1e-12 * np.abs(found).max())
    slope = qad.grad(f)
    steps = np.stack([(slope(x + h * e) - slope(x - h * e)) / (2 * h) for e in EYE])
    np.testing.assert_allclose(hessian(x), steps, rtol=1e-6, atol=1e-7 * np.abs(steps).max())


def test_the_hessian_of_rosenbrock_has_three_diagonals():
    hessian = qad.freeze(qad.hessian(rosenbrock))
    hessian(normal(N))
    sizes = [step.out.size for step in hessian.program.steps if step.fn not in (placed, operator.getitem)]
    assert max(sizes) < N
