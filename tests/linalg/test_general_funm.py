"""Functions of general matrices."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, MissingRuleError, ShapeError
from qad.linalg import funm_herm
from qad.linalg.functions.elementwise import ElementwiseFunction
from qad.linalg.functions.funm import _along_two, _diagonalised, funm
from tests.cases import Case, normal

A = normal(4, 4, complex) / 2
UNITARY = np.linalg.qr(normal(4, 4, complex, seed=1))[0]


def cosine(a):
    return funm(np.cos, a)


def power(a):
    return funm(lambda w: w**0.3, a)


def curved(e, d):
    return _along_two(e, d, A, *_diagonalised(A), f=ElementwiseFunction(np.cos))


def similar(values, seed=2):
    """A matrix with these eigenvalues, far from normal."""
    v = np.eye(len(values)) + 0.3 * normal(len(values), len(values), complex, seed=seed)
    return v * values @ np.linalg.inv(v)


CASES = [
    Case(cosine, A),
    Case(cosine, A.real),
    Case(cosine, normal(2, 2, 3, 3, complex) / 2),
    Case(power, A + 3 * np.eye(4)),
    Case(power, normal(4, 4) / 4 + 3 * np.eye(4)),
    Case(cosine, UNITARY * np.array([1, 1, 2j, 2j]) @ UNITARY.conj().T, name="degenerate and normal"),
    Case(cosine, similar(np.array([1, 1 + 1e-5, 2j, 2j + 1e-5])), name="nearly degenerate"),
    Case(cosine, np.eye(3, dtype=complex), name="identity"),
    Case(curved, (normal(4, 4, complex, seed=3), normal(4, 4, complex, seed=4)), name="second derivative"),
    Case(lambda a: funm_herm(np.cos, a + a.T), np.zeros((3, 3)), name="slope zero, curvature not"),
    Case(cosine, np.zeros((3, 3)), name="zero"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_values():
    assert np.allclose(funm(np.exp, A), scipy.linalg.expm(A), rtol=0, atol=1e-13)
    assert np.allclose(cosine(A.real), scipy.linalg.cosm(A.real), rtol=0, atol=1e-13)
    assert cosine(A.real).dtype == float
    assert funm(np.sqrt, np.array([[-1.0, 0], [0, 1]])).dtype == complex
    assert funm(np.exp, np.zeros((0, 2, 2))).shape == (0, 2, 2)


def test_against_the_exponential():
    g, h = (qad.grad(lambda a, f=f: qad.abs2(f(a)).sum())(A) for f in (qad.linalg.expm, lambda a: funm(np.exp, a)))
    assert np.allclose(g, h, rtol=0, atol=1e-12)


def test_what_cannot_be_had_raises():
    with pytest.raises(ArgumentError, match=r"eigenvectors is [\d.]+e\+\d+"):
        funm(np.exp, np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        funm(np.exp, np.ones((2, 3)))
    with pytest.raises(ArgumentError, match="Tensor"):
        qad.grad(lambda t: funm(lambda w: t * w, A).real.sum())(1.0)


def test_third_derivatives_raise():
    def curvature(a):
        return qad.hvp(lambda a: cosine(a).real.sum(), (a,), (A,))[0].real.sum()

    with pytest.raises(MissingRuleError):
        qad.grad(curvature)(A)
