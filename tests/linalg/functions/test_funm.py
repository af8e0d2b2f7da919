"""Functions of the spectrum: exact at, near and far from degeneracy, to second order."""

import numpy as np
import pytest

import qad
from qad.linalg import funm_herm, funm_svd
from qad.linalg.equations.triangular import solve_lower, solve_upper
from qad.linalg.functions.divided_differences import first_differences, second_differences
from qad.linalg.functions.elementwise import ElementwiseFunction
from qad.linalg.functions.funm_herm import _along_two as along_two_herm
from qad.linalg.functions.funm_svd import _along_two as along_two_svd
from tests.cases import Case
from tests.linalg.draw import draw, herm, unitary, well, with_eigenvalues, with_values

SPECTRA = {
    "generic": [1, 2, 3.5],
    "identity": [1, 1, 1],
    "pair": [1, 1, 2],
    "gap 1e-4": [1, 1 + 1e-4, 2],
    "gap 1e-9": [1, 1 + 1e-9, 2],
    "gap 1e-12": [1, 1 + 1e-12, 2],
    "close": [1, 1.001, 1.01],
}
ZEROS = {"one zero": [1, 2, 0], "two zeros": [1, 0, 0]}
HERMITIAN = {
    "exp": np.exp,
    "log": np.log,
    "inverse root": lambda w: 1 / np.sqrt(w),
    "evolution": lambda w: np.exp(-1j * w),
}
SVD = {
    "polar factor": lambda s: 1.0,
    "root": np.sqrt,
    "inverse": lambda s: 1 / s,
    "identity": lambda s: s,
    "sine": np.sin,
    "soft threshold": lambda s: np.maximum(s - 0.3, 0),
}
SHAPES = [(3, 3), (4, 3), (3, 5)]
SINGULAR = ("identity", "sine", "soft threshold")  # differentiable at zero singular values


def solves(a, b):
    r = np.triu(a) + 2 * np.eye(3)
    return solve_upper(r, solve_lower(r.mT, b))


def second_of_exp(e, d):
    """The second derivative at a degenerate point, as a function of its directions."""
    a = with_eigenvalues([1, 1, 2])
    return along_two_herm(e, d, a, *np.linalg.eigh(a), f=ElementwiseFunction(np.exp))


def second_of_sine(e, d):
    a = with_values([1, 1, 0.5], 4, 3)
    return along_two_svd(e, d, a, *np.linalg.svd(a, full_matrices=False), f=ElementwiseFunction(np.sin, odd=True))


CASES = [
    Case(lambda a, f=f: funm_herm(f, herm(a)), with_eigenvalues(w, real=(i + j) % 2), name=f"{name} of {spectrum}")
    for i, (name, f) in enumerate(HERMITIAN.items())
    for j, (spectrum, w) in enumerate(SPECTRA.items())
]
CASES += [
    Case(lambda a: funm_herm(np.exp, herm(a)), with_eigenvalues(w), name=f"exp of {name}")
    for name, w in {"zero": [0, 0, 0], "both signs": [-1, 0, 0, 1], "tiny": [1e-17, -1e-17, 1]}.items()
]
CASES += [
    Case(
        lambda a, f=f: funm_svd(f, a),
        with_values(s, *SHAPES[(i + j) % 3], real=(i + j) % 2),
        name=f"{name} of {spectrum}",
    )
    for i, (name, f) in enumerate(SVD.items())
    for j, (spectrum, s) in enumerate((SPECTRA | (ZEROS if name in SINGULAR else {})).items())
]
CASES += [
    Case(lambda a: funm_herm(np.exp, herm(a)), draw(2, 3, 3), name="batch"),
    Case(lambda a: funm_svd(np.sin, a), draw(2, 3, 4), name="batch, singular"),
    Case(solves, (draw(3, 3), draw(3, 2))),
    Case(second_of_exp, (draw(3, 3), draw(3, 3, seed=1))),
    Case(second_of_sine, (draw(4, 3), draw(4, 3, seed=1))),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.sampled(16)
def test_derivatives(case):
    qad.check_grads(case.f, case.point, rtol=1e-7)


@pytest.mark.parametrize(
    "a", [unitary(4), np.eye(4) + 0j, with_values([2, 2, 0, 0])], ids=["unitary", "identity", "zeros"]
)
def test_reconstruction_is_the_identity_map(a):
    """The loss on which every masked decomposition is wrong by its own size."""
    w = draw(4, 4, seed=9)
    g = qad.grad(lambda a: np.sum((w.conj() * funm_svd(lambda s: s, a)).real))(a)
    np.testing.assert_allclose(g, w, atol=1e-12)
    (h,) = qad.hvp(lambda a: np.sum((w.conj() * funm_svd(lambda s: s, a)).real), (a,), (w,))
    np.testing.assert_allclose(h, 0, atol=1e-11)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    a, w = draw(3, 4), draw(3, 4, seed=9)

    def loss(a):
        return np.sum((w * funm_svd(lambda s: 1.0, a)).real)

    np.testing.assert_allclose(qad.grad(loss)(a * scale) * scale, qad.grad(loss)(a), rtol=1e-10)


@pytest.mark.parametrize("gap", [0, 1e-13, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1])
def test_divided_differences_of_the_exponential(gap):
    """To 13 digits at every distance; the references are ``exp(x) phi(gap)`` in their stable forms."""
    w, f = np.array([1.0, 1.0 + gap, 1.0 + 3 * gap]), ElementwiseFunction(np.exp)
    d = first_differences(f, w)
    first = np.exp(w[0]) * (np.expm1(w - w[0])[1:] / (w - w[0])[1:] if gap else np.ones(2))
    np.testing.assert_allclose(d[0, 1:], first, rtol=1e-13)
    np.testing.assert_allclose(np.diagonal(d), np.exp(w), rtol=1e-14)
    if gap < 1e-4:
        expected = np.exp(w.mean()) / 2
        np.testing.assert_allclose(second_differences(f, w, d, 0)[1, 2], expected, rtol=1e-11 + gap)
    elif gap > 1e-3:
        a, b, c = w
        expected = np.exp(a) * (np.expm1(c - a) / (c - a) - np.expm1(b - a) / (b - a)) / (c - b)
        np.testing.assert_allclose(second_differences(f, w, d, 0)[1, 2], expected, rtol=1e-10)


@pytest.mark.parametrize("f", [lambda s: 1.0, np.sqrt, lambda s: 1 / s], ids=["polar", "root", "inverse"])
def test_no_derivative_at_a_zero_singular_value(f):
    with pytest.raises(qad.QadError, match="value number 2"):
        qad.grad(lambda a: np.sum(funm_svd(f, a).real))(with_values([2, 1, 1e-17]))


def test_errors():
    a = well(2, 2, real=True)
    with pytest.raises(qad.QadError, match="not Hermitian"):
        funm_herm(np.exp, draw(2, 2))
    with pytest.raises(qad.QadError, match="no derivative of order 1"):
        qad.grad(lambda a: np.sum(funm_herm(np.sqrt, a)))(np.diag([0.0, 1.0]))
    with pytest.raises(qad.QadError, match="recorded Tensor"):
        qad.grad(lambda t: np.sum(funm_herm(lambda w: np.exp(t * w), herm(a))))(1.0)
    with pytest.raises(qad.QadError, match="real functions"):
        funm_svd(lambda s: np.exp(1j * s), a)
