"""Any cell: known energies, derivatives, densities several ways."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ConvergenceError
from qad.peps.infinite.cells.iteration import check_multiplets
from qad.peps.infinite.cells.projectors import Spaces
from qad.peps.infinite.stacks import laid, reordered
from tests.cases import Case, normal
from tests.peps.cylinders import energy_of_cylinder
from tests.peps.states import STORED, along, by_differences, near_product

ROTATED = peps.heisenberg().rotated()
CASES = [
    Case(lambda x: reordered(x, order=(2, 0, 1)), normal(3, 2)),
    Case(lambda x: laid(x, order=(1, 0)), normal(2, 3, 2)),
    Case(lambda x: reordered(x, order=(1, 0)), normal(2, 2, 2, complex)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_stacks_in_another_order(case):
    case.check()


@pytest.mark.parametrize("chi", [24, 32, 48])
@pytest.mark.sampled(1)
def test_the_stored_state(chi):
    state = peps.PEPS([STORED])
    env = peps.environment(state, chi)
    assert peps.expectation(state, ROTATED, env) == pytest.approx(-0.66472391, abs=6e-9)
    across, down = (peps.expectation(state, t, env) for t in ROTATED.terms)
    assert (across, down) == (pytest.approx(-0.331104, abs=6e-7), pytest.approx(-0.333619, abs=6e-7))


@pytest.mark.parametrize("cell, chi", [(["AB", "BA"], 8), (["AB", "CD"], 12)], ids=["two", "four"])
def test_cuts_are_placed_anew_where_levels_have_crossed(cell, chi):
    """With the cuts of the first state the environment of the second one goes to and fro for ever."""
    state, change = near_product(cell, 4), peps.PEPS.random(2, cell, 104, dtype=float)
    other = peps.PEPS([x + 0.2 * y for x, y in zip(state.tensors, change.tensors, strict=True)], cell)
    env = peps.environment(other, chi, peps.environment(state, chi, tol=1e-8), tol=1e-8, maxiter=100)
    assert env.error <= 1e-8
    model = peps.heisenberg()
    assert peps.expectation(other, model, env) == pytest.approx(peps.energy(other, model, 20), abs=1e-7)


@pytest.mark.parametrize(
    "circumference, energy", [(4, -0.672030), (6, -0.665643), pytest.param(8, -0.664857, marks=pytest.mark.slow)]
)
@pytest.mark.sampled(1)
def test_exact_cylinders_of_the_stored_state(circumference, energy):
    """They come nearer to the plane, whose energy is -0.66472391, by a factor of about seven per step."""
    across, down = (t.operator for t in ROTATED.terms)
    exact = energy_of_cylinder(STORED / np.linalg.norm(STORED), across, down, circumference)
    assert exact == pytest.approx(energy, abs=1e-6)
    assert abs(exact + 0.66472391) < 0.4 * 7 ** (-circumference / 2)


@pytest.mark.parametrize("cell, chi, seed", [(["A"], 5, 39), (["AB"], 5, 38), (["A"], 12, 17)])
@pytest.mark.sampled(1)
def test_sizes_that_change_to_the_last(cell, chi, seed):
    """Random states whose widest gap moves from step to step: an environment, or a refusal."""
    state = peps.PEPS.random(2, cell, seed)
    try:
        env = peps.environment(state, chi, tol=1e-8, maxiter=200)
    except ConvergenceError:
        return
    assert peps.expectation(state, ROTATED, env) == pytest.approx(peps.energy(state, ROTATED, 20, tol=1e-8), abs=2e-2)


def test_the_stored_state_is_a_minimum():
    state = peps.PEPS([STORED])
    gradient = qad.grad(lambda state: peps.energy(state, ROTATED, 24))(state)
    assert np.abs(gradient.tensors[0]).max() < 2e-6


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(
    "cell, chi, method",
    [(["A"], 8, "half"), (["A"], 8, "full"), (["AB"], 8, "half"), (["AB", "BA"], 6, "half")],
    ids=["1x1", "1x1 full", "2x1", "2x2 in two kinds"],
)
@pytest.mark.sampled(2)
def test_gradients_agree_with_differences(cell, chi, method, dtype):
    compare(cell, chi, method, dtype, seed=2 if method == "full" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [float, complex])
def test_gradients_of_a_cell_of_four(dtype):
    compare(["AB", "CD"], 6, "half", dtype, seed=0)


def compare(cell, chi, method, dtype, seed):
    """The gradient of the energy beside differences."""
    state, direction = near_product(cell, seed, dtype), peps.PEPS.random(2, cell, 99, dtype=dtype)
    model = ROTATED if cell == ["A"] else peps.heisenberg()
    tol = 1e-11 if method == "full" else 1e-12
    env = peps.environment(state, chi, method=method, tol=tol)

    def energy(state):
        return peps.energy(state, model, chi, env, tol=tol, method=method)

    gradient = qad.grad(energy)(state)
    assert along(gradient, direction) == pytest.approx(by_differences(energy, state, direction), abs=1e-8)


@pytest.mark.parametrize("dtype", [float, pytest.param(complex, marks=pytest.mark.slow)])
def test_second_derivatives_agree_with_differences_of_gradients(dtype):
    state, direction = near_product(["A"], 0, dtype), peps.PEPS.random(2, ["A"], 99, dtype=dtype)
    env = peps.environment(state, 5, tol=1e-12)

    def energy(state):
        return peps.energy(state, ROTATED, 5, env, tol=1e-12)

    def slope(state):
        return along(qad.grad(energy)(state), direction)

    curvature = along(qad.hvp(energy, (state,), (direction,))[0], direction)
    assert curvature == pytest.approx(by_differences(slope, state, direction), abs=1e-7)


def test_third_derivatives_agree_with_differences_at_the_default_tolerance():
    state, direction = near_product(["A"], 3, float), peps.PEPS.random(2, ["A"], 99, dtype=float)

    def energy(t):
        moved = [x + t * y for x, y in zip(state.tensors, direction.tensors, strict=True)]
        return peps.energy(peps.PEPS(moved), ROTATED, 8)

    second, h = qad.grad(qad.grad(energy)), 1e-3
    near, far = (second(np.array(k * h)) - second(np.array(-k * h)) for k in (1, 2))
    assert qad.grad(second)(np.array(0.0)) == pytest.approx((8 * near - far) / (12 * h), abs=1e-7)


def test_larger_patterns_of_the_same_site_are_the_same_state():
    site = near_product(["A"], 0).tensors[0]
    one = peps.environment(peps.PEPS([site]), 8)
    two = peps.environment(peps.PEPS([site, site], ["AB"]), 8)
    repeated = peps.environment(peps.PEPS([site], ["AA", "AA"]), 8)
    a, b, c = (
        peps.expectation(peps.PEPS(sites, cell), ROTATED, env)
        for sites, cell, env in (([site], "A", one), ([site] * 2, ["AB"], two), ([site], ["AA", "AA"], repeated))
    )
    assert b == pytest.approx(a, abs=1e-9)
    assert c == pytest.approx(a, abs=1e-12)


def test_one_site_of_the_rotated_model_is_two_of_the_plain_one():
    site = near_product(["A"], 3).tensors[0]
    turned = np.tensordot(np.array([[0.0, 1.0], [-1.0, 0.0]]), site, (1, 0))
    rotated = peps.energy(peps.PEPS([site]), ROTATED, 8)
    plain = peps.energy(peps.PEPS([site, turned], ["AB", "BA"]), peps.heisenberg(), 8)
    assert plain == pytest.approx(rotated, abs=1e-9)


def test_one_site_densities_agree_in_all_patches():
    state = near_product(["AB", "BA"], 1)
    env = peps.environment(state, 12, tol=1e-11)
    for place in env.cell.first:
        alone = peps.reduced_density(state, [place], env)
        for step in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            other = (place[0] + step[0], place[1] + step[1])
            pair = peps.reduced_density(state, [place, other], env)
            np.testing.assert_allclose(np.einsum("stut->su", pair), alone, atol=3e-6)


def test_a_rotated_state_has_rotated_expectation_values():
    state = near_product(["AB"], 2)
    turned = peps.PEPS([x.transpose(0, 2, 3, 4, 1) for x in state.tensors], ["A", "B"])
    straight, other = peps.environment(state, 8), peps.environment(turned, 8)
    across, down = (peps.term(t.operator, t.sites) for t in peps.heisenberg().terms)
    assert peps.expectation(turned, down, other) == pytest.approx(peps.expectation(state, across, straight), abs=1e-9)
    for one, two in (("row", "column"), ("column", "row")):
        assert peps.correlation_length(other, one) == pytest.approx(peps.correlation_length(straight, two), rel=1e-5)
    sz = peps.local_expectations(state, "Sz", straight)
    assert sz.shape == (1, 2)
    np.testing.assert_allclose(peps.local_expectations(turned, "Sz", other), sz.T, atol=1e-9)


def test_symmetries_without_an_engine_of_their_own():
    state = peps.PEPS([near_product(["A"], 0).tensors[0]], symmetry="c2v")
    env = peps.environment(state, 8)
    pair = peps.reduced_density(state, [(0, 0), (0, 1)], env)
    np.testing.assert_allclose(pair, pair.transpose(1, 0, 3, 2), atol=1e-9)


def test_an_environment_that_does_not_converge_says_so():
    with pytest.raises(ConvergenceError, match=r"changes on the way: .*Raise chi"):
        peps.environment(near_product(["A"], 0), 8, maxiter=2)


def unequal(dtype=float):
    """Two sites whose bonds have dimensions 1, 2 and 3."""
    rng = np.random.default_rng(5)
    shapes = (2, 2, 3, 2, 1), (2, 2, 1, 2, 3)  # physical, up, left, down, right
    tensors = [0.15 * rng.standard_normal(shape).astype(dtype) for shape in shapes]
    for i, x in enumerate(tensors):
        x[i, 0, 0, 0, 0] += 1
    return peps.PEPS(tensors, ["AB"])


def test_legs_of_different_dimensions():
    state, rng = unequal(), np.random.default_rng(6)
    env = peps.environment(state, 9, tol=1e-12)
    assert {env.edge(0, 0, 0).shape[1], env.edge(1, 0, 0).shape[1], env.edge(3, 0, 0).shape[1]} == {4, 1, 9}
    sizes = {x.shape for x in env.corners}
    assert len(sizes) > 1  # legs keep as many states as they hold
    direction = peps.PEPS([rng.standard_normal(x.shape) for x in state.tensors], ["AB"])

    def energy(state):
        return peps.energy(state, peps.heisenberg(), 9, env, tol=1e-12)

    assert along(qad.grad(energy)(state), direction) == pytest.approx(
        by_differences(energy, state, direction), abs=1e-8
    )


def test_warm_moves_decompose_no_large_matrix_but_at_the_end(monkeypatch):
    state = near_product(["AB", "BA"], 0)
    env, calls, svd = peps.environment(state, 8), [], np.linalg.svd

    def counted(x, *args, **kwargs):
        calls.append(x.shape[-1])
        return svd(x, *args, **kwargs)

    near = peps.PEPS(
        [x + 1e-3 * y for x, y in zip(state.tensors, near_product(["AB"], 1).tensors, strict=True)], state.cell
    )
    monkeypatch.setattr(np.linalg, "svd", counted)
    warm = peps.environment(near, 8, env)
    assert warm.report.iterations > 5
    assert sum(size > env.chi for size in calls) == 1


def test_multiplets_that_a_cut_would_part_are_named_with_the_least_chi_that_serves():
    states = [np.zeros(0)] * len(Spaces._fields)
    spaces = Spaces(*states)._replace(
        s=np.array([[0.9, 0.4, 0.4]]), used=np.ones((1, 3), bool), others=np.array([[0.4, 0.4, 0.4, 0.1]]),
        groups=np.zeros(1, int),
    )  # fmt: skip
    with pytest.raises(ArgumentError, match="chi=3 parts a multiplet of states that weigh the same: at least chi=5"):
        check_multiplets(spaces, 3)
    check_multiplets(spaces._replace(others=np.array([[0.39, 0.1]])), 3)
