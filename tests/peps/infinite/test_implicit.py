"""Derivatives of environments at their fixed point."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ConvergenceError
from qad.peps.infinite.cells.lattice import ONE_SIDE
from qad.peps.infinite.implicit import as_they_are
from qad.peps.infinite.iteration import Around
from tests.cases import Case, normal
from tests.peps.states import near_product

AROUND = Around(normal(1, 1, 1), normal(1, 1, 2, 1))  # of one state: bases of bonds are no matter
CASES = [Case(lambda *x: as_they_are(*x, around=AROUND, w=ONE_SIDE)[1], tuple(AROUND), name="as they are")]

STATES = {
    "c4v": (lambda dtype: peps.PEPS.random(2, seed=0, dtype=dtype, symmetry="c4v"), None),
    "1x1": (lambda dtype: near_product(["A"], 0, dtype), "half"),
    "1x1 full": (lambda dtype: near_product(["A"], 2, dtype), "full"),
    "2x2": (lambda dtype: near_product(["AB", "BA"], 0, dtype), "half"),
}


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("case", STATES)
@pytest.mark.sampled(2)
def test_first_derivatives_are_those_of_moves_that_are_right_to_second_order(case, dtype, monkeypatch):
    state, method = STATES[case][0](dtype), STATES[case][1]
    env = peps.environment(state, 6, method=method, tol=1e-11)

    def energy(state):
        return peps.energy(state, peps.ising(1.0), 6, env, method=method, tol=1e-11)

    first = qad.grad(energy)(state)
    for engine in (peps.infinite.c4v, peps.infinite.cells):
        monkeypatch.setattr(engine.solve, "orders", lambda layer: 2)
    for x, y in zip(first.tensors, qad.grad(energy)(state).tensors, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-8)


@pytest.mark.parametrize("cell, symmetry", [(["A"], "c4v"), (["AB"], None)])
def test_what_is_not_at_rest_by_the_step_of_derivatives_is_refused(cell, symmetry, monkeypatch):
    state = peps.PEPS.random(2, cell, 0, symmetry=symmetry)
    monkeypatch.setattr(peps.infinite.implicit, "weighted", lambda *_: 1e-6)
    with pytest.raises(ConvergenceError, match="not at rest: by the step of derivatives it changes by 1.0e-06"):
        qad.grad(lambda state: peps.energy(state, peps.ising(1.0), 6))(state)


@pytest.mark.parametrize("symmetry", [None, "c4v"])
def test_losses_that_depend_on_bases_of_bonds_are_refused(symmetry):
    state = near_product(["A"], 0)
    state = peps.PEPS(state.tensors, ["A"], symmetry)
    env = peps.environment(state, 8)
    with pytest.raises(ArgumentError, match="depends on the bases of bonds of the environment"):
        qad.grad(lambda x: peps.environment(x, 8, env).corners[0][0, 1])(state)
    value, gradient = qad.value_and_grad(lambda x: np.linalg.norm(peps.environment(x, 8, env).corners[0]))(state)
    assert np.isfinite(value) and np.isfinite(gradient.tensors[0]).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_corners_and_edges_are_as_they_are(case):
    case.check()
