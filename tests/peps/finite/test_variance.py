"""The variance of energies of finite lattices, beside all amplitudes."""

import numpy as np
import pytest

from qad import peps
from qad.core.errors import ArgumentError
from qad.peps import finite

X, Y, Z = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])


def exactly(state, terms):
    """``<H^2> - <H>^2`` from all amplitudes."""
    psi = state.to_dense()
    psi = psi / np.linalg.norm(psi)
    image, columns = 0, state.shape[1]
    for operator, sites in terms:
        n, at = len(sites), [r * columns + c % columns for r, c in sites]
        applied = np.tensordot(np.reshape(operator, (2,) * (2 * n)), psi, (range(n, 2 * n), at))
        image = image + np.moveaxis(applied, range(n), at)
    return np.vdot(image, image).real - np.vdot(psi, image).real ** 2


def bonds(operator, rows, columns, ring=False):
    across = [(operator, [(r, c), (r, c + 1)]) for r in range(rows) for c in range(columns - (not ring))]
    return across + [(operator, [(r + 1, c), (r, c)]) for r in range(rows - 1) for c in range(columns)]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("cylinder", [False, True])
@pytest.mark.sampled(1)
def test_the_variance_is_that_of_all_amplitudes(dtype, cylinder):
    """For terms that are not symmetric in their two sites, one of which is named before the upper one."""
    state = finite.FinitePEPS.random(2, 3, 2, seed=1, dtype=dtype, cylinder=cylinder)
    operator = np.kron(X, Z) + 0.3 * np.kron(Z, X) + 0.7 * np.kron(Z, Z)
    operator = operator + (np.kron(Y, X) if dtype is complex else np.kron(Y, Y).real)
    terms = [*bonds(operator, 2, 3, cylinder), (0.4 * X, [(0, 1)]), (0 * Z, [(1, 1)])]
    chi = 256 if cylinder else 64
    assert finite.variance(state, terms, chi) == pytest.approx(exactly(state, terms), rel=1e-10)


@pytest.mark.slow
def test_models_and_larger_lattices():
    state, model = finite.FinitePEPS.random(3, 3, 2, seed=0), peps.heisenberg()
    written = bonds(model.terms[0].operator, 3, 3)
    exact = exactly(state, written)
    assert finite.variance(state, model, 64) == pytest.approx(exact, rel=1e-9)
    assert finite.variance(state, model, 8) == pytest.approx(exact, rel=3e-2)


def test_it_vanishes_for_eigenstates():
    up = finite.FinitePEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 3)
    assert finite.variance(up, peps.heisenberg(), 8) == pytest.approx(0, abs=1e-12)


def test_projectors_on_what_they_project_on():
    """One less the projector leaves nothing of such a state."""
    up = finite.FinitePEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    one = np.diag([1.0, 0.0])
    terms = [(one, [(0, 0)]), (np.kron(one, one), [(0, 1), (0, 2)]), (-one, [(1, 1)]), (X, [(1, 2)])]
    assert finite.variance(up, terms) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("dtype, operator", [(np.float32, 0.3 * X + Z), (np.float64, Y), (np.complex64, Y)])
def test_terms_of_another_dtype_than_the_state(dtype, operator):
    state = finite.FinitePEPS.random(2, 2, 2, seed=3, dtype=float)
    state = finite.FinitePEPS([[t.astype(dtype) for t in row] for row in state.tensors])
    terms = [(operator, [(0, 0)]), (np.kron(X, operator), [(0, 1), (1, 1)])]
    assert finite.variance(state, terms) == pytest.approx(exactly(state, terms), rel=1e-5)


def test_what_it_refuses():
    state = finite.FinitePEPS.random(3, 3, 1)
    for function in (finite.variance, finite.energy):
        with pytest.raises(ArgumentError, match="not Hermitian"):
            function(state, [(np.array([[0.0, 1.0], [0.0, 0.0]]), [(0, 0)])])
    with pytest.raises(ArgumentError, match="single sites and on neighbours"):
        finite.variance(state, peps.j1j2(1.0, 0.5))
    with pytest.raises(ArgumentError, match="a qad.peps.finite.FinitePEPS is needed"):
        finite.variance(peps.PEPS.random(2), peps.heisenberg())
