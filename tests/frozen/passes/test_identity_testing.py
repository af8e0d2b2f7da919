"""Products that are equal, or conjugate, for all inputs: found and merged; whatever differs in one bit stays."""

from fractions import Fraction

import numpy as np
import pytest

import qad
from qad.frozen.display import flops
from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.modular import LONGEST, P, reduced, residue
from qad.frozen.passes import PASSES
from tests.cases import normal
from tests.frozen.agree import difference

A, B, C = (normal(6, 6, complex, seed=k) for k in range(3))
OTHERS = tuple(name for name in PASSES if name not in ("equals", "networks"))


def products(program):
    return sum(step.fn in (np.dot, np.matmul) for step in program.steps)


def merged(f, *args):
    """How many products the pass removes from `f`, whose results stay."""
    programs = []
    for passes in (OTHERS, (*OTHERS, "equals")):
        frozen = qad.freeze(f, passes=passes)
        frozen(*args)
        assert difference(f(*args), frozen(*args), False) is None
        assert difference(f(*[2 * x for x in args]), frozen(*[2 * x for x in args]), False) is None
        programs.append(frozen.program)
    return products(programs[0]) - products(programs[1])


@pytest.mark.parametrize(
    "f, saved",
    [
        (lambda a, b, c: (a @ b @ c, a @ (b @ c)), 2),
        (lambda a, b, c: (a @ b @ c, (c.T @ (b.T @ a.T)).T), 2),
        (lambda a, b, c: (a @ b @ c, c.conj().T @ (a @ b).conj().T), 1),
        (lambda a, b, c: (a @ (b + c) @ a, a @ (b @ a) + a @ (c @ a)), 0),  # sums are no products
        (lambda a, b, c: (a @ (b + c) @ a, a @ ((c + b) @ a)), 2),
        (lambda a, b, c: (a @ b @ c, a @ b.conj() @ c, b @ a @ c), 0),
        (lambda a, b, c: (a @ b @ (c / 2), a @ (b / 4 @ (2 * c))), 2),
        (lambda a, b, c: (a @ b @ (c / c[0, 0]), (a @ b @ c) / c[0, 0], a @ ((b / c[0, 0]) @ c)), 2),
        (lambda a, b, c: (a @ b @ np.sin(c), a @ (b @ np.sin(c))), 2),
        (lambda a, b, c: (a @ b @ np.sin(c), a @ (b @ np.sin(c + 0j * a))), 0),
        (lambda a, b, c: (a @ b @ c, a @ (b @ (c * (1 + 2.0**-52)))), 0),
        (lambda a, b, c: (a @ b @ c, a @ (b @ (c + 1e-200 * a))), 0),
        (lambda a, b, c: (a @ b @ c * np.inf, a @ (b @ c)), 2),
    ],
)
def test_equal_products_are_made_once(f, saved):
    with np.errstate(invalid="ignore"):
        assert merged(f, A, B, C) == saved


def test_what_is_written_into_is_not_compared():
    def f(a, b, c):
        x = a @ b
        y = x @ c
        x *= 2
        return y, x @ c, a @ (b @ c)

    assert merged(f, A, B, C) == 0


def test_mixed_precision_is_left_alone():
    single = A.real.astype(np.float32)
    assert (
        merged(lambda a, b: (a.astype(np.float32) @ single @ b, (a @ single) @ b, a @ (single @ b)), A.real, B.real)
        == 0
    )


def test_large_integers_are_told_apart():
    one, two = np.full((6, 6), 2**60), np.full((6, 6), 2**60 + 1)
    assert merged(lambda a, b: (a @ (b * one), (a * two) @ b), A.real, B.real) == 0


def energy(tensors):
    """A chain's energy by plain code, that nothing says to be real."""
    operator = qad.mps.heisenberg(len(tensors)).tensors
    left, norm = np.ones((1, 1, 1)), np.ones((1, 1))
    for x, w in zip(tensors, operator, strict=True):
        half = np.tensordot(np.tensordot(left, x, (2, 0)), w, ((1, 2), (0, 3)))
        left = np.tensordot(x.conj(), half, ((0, 1), (0, 3))).transpose(0, 2, 1)
        norm = np.tensordot(x.conj(), np.tensordot(norm, x, (1, 0)), ((0, 1), (0, 1)))
    return (left[0, 0, 0] / norm[0, 0]).real


@pytest.mark.parametrize("dtype", [float, complex])
def test_half_of_the_gradient_of_an_energy(dtype):
    """Each site has four products for its gradient, of which two are conjugates of the others."""
    n, psi = 8, qad.mps.MPS.random(n=8, bond=4, seed=0, dtype=dtype)
    gradient, point = qad.value_and_grad(energy), list(psi.tensors)
    assert merged_in_trees(gradient, point) >= 2 * (n - 2)


@pytest.mark.parametrize("symmetric, saved", [(True, 1), (False, 0)])
def test_an_expectation_value_of_a_constant_matrix(symmetric, saved):
    h = A + A.conj().T if symmetric else A
    assert merged(qad.value_and_grad(lambda x: np.vdot(x, h @ x).real), B[0]) == saved


def merged_in_trees(f, point):
    plain, better = (qad.freeze(f, passes=passes) for passes in (OTHERS, (*OTHERS, "equals")))
    for frozen in (plain, better):
        frozen(point)
        assert difference(f(point), frozen(point), False) is None
    assert sum(map(flops, better.program.steps)) < sum(map(flops, plain.program.steps))
    return products(plain.program) - products(better.program)


def test_nothing_else_changes():
    def f(a, b, c):
        return np.sin(a @ b @ c) * b, np.exp(a @ (b @ c)) + c

    programs = []
    for passes in (OTHERS, (*OTHERS, "equals")):
        frozen = qad.freeze(f, passes=passes)
        frozen(A, B, C)
        programs.append(frozen.program)
    rest = [[s.fn for s in p.steps if s.fn not in (np.dot, RESHAPE, TRANSPOSE)] for p in programs]
    assert rest[0] == rest[1]


def test_residues_of_numbers():
    for x in (0.0, 1.0, -0.25, 1e-3, np.pi * 1e200, 5e-324, 1 / 3):
        exact = Fraction(x)
        expected = exact.numerator * pow(exact.denominator, -1, P) % P
        assert residue(x) % P == expected
        assert abs(residue(x)) <= P // 2 + 1


def test_sums_of_products_of_residues_are_exact():
    rng = np.random.default_rng(0)
    x, y = rng.integers(-(P // 2) - 1, P // 2 + 2, (2, 2, LONGEST))
    x[:, :9], y[:, :9] = P // 2 + 1, P // 2 + 1
    found = reduced(np.dot(x[0] + 1j * x[1], y[0] + 1j * y[1]))
    (a, b), (c, d) = x.astype(object), y.astype(object)
    assert found.real % P == (a @ c - b @ d) % P
    assert found.imag % P == (a @ d + b @ c) % P


def halves(a, b):
    """Veltkamp's splitting: `high` is `a` to half of its digits, and exactly `a` as a polynomial."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high @ b, (a - high) @ b, a @ b


def errors(a, b):
    """Knuth's errors of a sum and of a difference, exactly 0 as polynomials."""
    found = []
    for c in (b, -b):
        s = a + c
        t = s - a
        found.append(((a - (s - t)) + (c - t)) @ a)
    return found


def shifted(a, b):
    return ((a + 1e6) - 1e6).T @ b, a.T @ b, (a.reshape(-1) + 1e6).reshape(a.shape) @ b - 1e6 * b.sum(0)


def scaled(a, b):
    high = 134217729.0 * a - 134217728.0 * a
    return high @ b, a @ b, ((a + 2.0**26) - 2.0**25 - 2.0**25) @ b, ((a + 2.0**26) / 2 * 2 - 2.0**26) @ b


def shown(a, b):
    c, big = a + 2.0**26, np.full((6, 6), 2.0**26)
    return (c[:3] - 2.0**26) @ b, a[:3] @ b, (np.add(a.T, big.T).T - big) @ b, a @ b


@pytest.mark.parametrize("f", [halves, errors, shifted, scaled, shown])
def test_what_is_rounding_is_equal_to_nothing(f):
    a, b = normal(6, 6), normal(6, 6, seed=1)
    frozen = qad.freeze(f, passes="all")
    for x, y in ((a, b), (b, a)):
        for found, expected in zip(frozen(x, y), f(x, y), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert frozen.program.counts["equals"] == 0
