"""One symmetric site: energies, densities and derivatives, by moves of both kinds and beside the general cell."""

import dataclasses

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, BatchError, ConvergenceError, ShapeError
from qad.core.trees import tree_map
from tests.peps.states import along, by_differences

MODEL = peps.heisenberg().rotated()


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("method", ["qr", "eigh"])
@pytest.mark.parametrize("model", [MODEL, peps.ising(2.0)], ids=["heisenberg", "ising"])
@pytest.mark.sampled(3)
def test_gradients_agree_with_differences(dtype, method, model):
    state, direction = (peps.PEPS.random(2, seed=seed, dtype=dtype, symmetry="c4v") for seed in (0, 1))
    env = peps.environment(state, 12, method=method)

    def energy(state):
        return peps.energy(state, model, 12, env, tol=1e-12, method=method)

    gradient = qad.grad(energy)(state)
    assert along(gradient, direction) == pytest.approx(by_differences(energy, state, direction), abs=1e-8)
    assert abs(along(gradient, state)) < 1e-9  # the norm of a site is no matter


def test_diagonal_terms():
    state, direction = (peps.PEPS.random(2, seed=seed, symmetry="c4v") for seed in (0, 1))
    model = peps.j1j2(1.0, 0.5).rotated()
    env = peps.environment(state, 9)

    def energy(state):
        return peps.energy(state, model, 9, env, tol=1e-12)

    assert along(qad.grad(energy)(state), direction) == pytest.approx(
        by_differences(energy, state, direction), abs=1e-8
    )


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.sampled(1)
def test_a_larger_bond(dtype):
    state, direction = (peps.PEPS.random(3, seed=seed, dtype=dtype, symmetry="c4v") for seed in (2, 3))
    env = peps.environment(state, 12)

    def energy(state):
        return peps.energy(state, MODEL, 12, env, tol=1e-12)

    assert along(qad.grad(energy)(state), direction) == pytest.approx(
        by_differences(energy, state, direction), abs=1e-8
    )


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.sampled(1)
def test_all_ways_agree_where_chi_is_large(dtype):
    state = peps.PEPS.random(2, seed=0, dtype=dtype, symmetry="c4v")
    general = peps.PEPS([peps.infinite.symmetry.symmetrised(state[0, 0], "c4v")])
    by_qr = peps.energy(state, MODEL, 20)
    assert peps.energy(state, MODEL, 20, method="eigh") == pytest.approx(by_qr, abs=1e-10)
    assert peps.energy(general, MODEL, 20) == pytest.approx(by_qr, abs=1e-8)
    by_halves = peps.energy(general, MODEL, 20, method="full")  # which drops corner values below 1e-10^(1/4)
    assert by_halves == pytest.approx(by_qr, abs=1e-7)


def test_second_derivatives_agree_with_differences_of_gradients():
    state, direction = (peps.PEPS.random(2, seed=seed, symmetry="c4v") for seed in (0, 1))
    env = peps.environment(state, 9)

    def energy(state):
        return peps.energy(state, MODEL, 9, env, tol=1e-12)

    def slope(state):
        return along(qad.grad(energy)(state), direction)

    curvature = along(qad.hvp(energy, (state,), (direction,))[0], direction)
    assert curvature == pytest.approx(by_differences(slope, state, direction, h=1e-3), abs=1e-7)


def test_densities_are_hermitian_and_agree():
    state = peps.PEPS.random(2, seed=0, dtype=complex, symmetry="c4v")
    env = peps.environment(state, 24, tol=1e-11)
    rho = peps.reduced_density(state, [(0, 0), (0, 1)], env)
    single = peps.reduced_density(state, [(5, -3)], env)
    np.testing.assert_allclose(rho, rho.transpose(2, 3, 0, 1).conj(), atol=1e-7)
    np.testing.assert_allclose(np.einsum("stut->su", rho), single, atol=1e-7)
    assert np.linalg.eigvalsh(rho.reshape(4, 4)).min() > -1e-7
    turned = peps.reduced_density(state, [(1, 0), (0, 0)], env)
    np.testing.assert_allclose(
        turned.transpose(1, 0, 3, 2), peps.reduced_density(state, [(0, 0), (1, 0)], env), atol=1e-13
    )


def test_warm_starts_change_nothing():
    state = peps.PEPS.random(2, seed=0, symmetry="c4v")
    cold = peps.environment(state, 12)
    warm = peps.environment(state, 12, start=cold)
    assert warm.report.iterations <= 2
    assert peps.expectation(state, MODEL, warm) == pytest.approx(peps.expectation(state, MODEL, cold), abs=1e-10)
    with pytest.raises(ArgumentError, match="leave `start` out"):
        peps.environment(peps.PEPS.random(3, symmetry="c4v"), 12, start=cold)
    with pytest.raises(ArgumentError, match="leave `start` out"):
        peps.environment(peps.PEPS.random(2), 12, start=cold)
    assert 9 <= cold.chi <= 15


@pytest.mark.parametrize("shape", [{"symmetry": "c4v"}, {"cell": ["AB", "BA"]}], ids=["c4v", "cell"])
@pytest.mark.parametrize("first, then", [(6, 16), (16, 6)])
@pytest.mark.sampled(2)
def test_a_start_of_another_size_grows_or_is_cut(shape, first, then):
    state, model = peps.PEPS.random(2, seed=0, **shape), MODEL if "symmetry" in shape else peps.heisenberg()
    cold, start = peps.environment(state, then), peps.environment(state, first)
    warm = peps.environment(state, then, start=start)
    assert 0.75 * then <= warm.chi <= 1.25 * then and warm.chi != start.chi
    assert peps.expectation(state, model, warm) == pytest.approx(peps.expectation(state, model, cold), abs=1e-9)


def test_bad_input():
    state = peps.PEPS.random(2, seed=0, symmetry="c4v")
    with pytest.raises(ArgumentError, match="at least D\\^2 = 4"):
        peps.environment(state, 3)
    with pytest.raises(ArgumentError, match="unknown method 'half'"):
        peps.environment(state, 8, method="half")
    for chi in (np.nan, np.inf, None, "8", 8.5):
        with pytest.raises(ArgumentError, match="chi is a whole number"):
            peps.environment(state, chi)
    for option in (
        {"tol": 0},
        {"tol": np.nan},
        {"tol": None},
        {"maxiter": 0},
        {"adjoint_tol": 0},
        {"adjoint_tol": "x"},
    ):
        with pytest.raises(ArgumentError, match=f"{next(iter(option))} is a positive number"):
            peps.environment(state, 8, **option)
    for symmetry in ("c4v", None):
        with pytest.raises(ArgumentError, match="zero"):
            peps.environment(peps.PEPS([np.zeros((2,) * 5)], symmetry=symmetry), 8)
    with pytest.raises(ConvergenceError, match=r"did not converge .* changes on the way: .*Change chi"):
        peps.environment(state, 8, maxiter=2)
    env = peps.environment(state, 8)
    with pytest.raises(ShapeError, match="does not fit the sites"):
        peps.expectation(state, peps.term(np.eye(3), [(0, 0)]), env)
    with pytest.raises(ArgumentError, match="different sites"):
        peps.reduced_density(state, [(0, 0), (0, 0)], env)
    with pytest.raises(ArgumentError, match="not the environment"):
        peps.reduced_density(peps.PEPS.random(2, ["AB"]), [(0, 0)], env)


@pytest.mark.parametrize("dtype", [float, complex])
def test_signs_of_corner_and_edge_are_no_matter(dtype):
    """They stay as they are, and so do energies and gradients."""
    state = peps.PEPS.random(2, seed=0, dtype=dtype, symmetry="c4v")
    env = peps.environment(state, 8)
    energy, gradient = qad.value_and_grad(lambda state: peps.energy(state, MODEL, 8, env))(state)
    for corner, edge in ((-1, 1), (1, -1)):
        turned = dataclasses.replace(env, corners=(corner * env.corners[0],), edges=(edge * env.edges[0],))
        again = peps.environment(state, 8, turned)
        assert again.report.iterations <= 2
        np.testing.assert_allclose(again.corners[0], turned.corners[0], atol=1e-9)
        value, slope = qad.value_and_grad(lambda state, start=turned: peps.energy(state, MODEL, 8, start))(state)
        assert value == pytest.approx(energy, abs=1e-11)
        np.testing.assert_allclose(slope[0, 0], gradient[0, 0], atol=1e-8)


@pytest.mark.parametrize("symmetry", ["c4v", None])
@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.sampled(2)
def test_sizes_of_sites_are_no_matter(symmetry, scale):
    state = peps.PEPS.random(2, seed=0, symmetry=symmetry)
    found = [
        qad.value_and_grad(lambda state: peps.energy(state, MODEL, 8))(peps.PEPS([f * state[0, 0]], symmetry=symmetry))
        for f in (1.0, scale)
    ]
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-12)
    np.testing.assert_allclose(found[1][1][0, 0] * scale, found[0][1][0, 0], atol=1e-8)


@pytest.mark.parametrize("symmetry", ["c4v", None])
def test_what_is_not_there_yet_is_refused(symmetry):
    state = peps.PEPS.random(2, seed=0, symmetry=symmetry)

    def energy(state):
        return peps.energy(state, MODEL, 8)

    with pytest.raises(ArgumentError, match="cannot be frozen"):
        qad.freeze(energy)(state)
    with pytest.raises(BatchError):
        qad.vmap(energy)(tree_map(lambda x: np.stack([x, x + 0.1]), state))
    fourth = energy
    for _ in range(4):
        fourth = once_more(fourth, state)
    with pytest.raises(ArgumentError, match="derivatives up to order 3"):
        fourth(state)


def once_more(f, direction):
    """The derivative of `f` along a direction, as a function."""
    return lambda state: qad.jvp(f, (state,), (direction,))[1]


@pytest.mark.parametrize("seed", [1, 32, 42, 54, 59])
def test_environments_of_real_random_states_come_to_rest(seed):
    """Where corners were multiplied by one over their norm, rounding kept these from it."""
    state = peps.PEPS.random(2, symmetry="c4v", seed=seed, dtype=float)
    assert peps.environment(state, 12, maxiter=100).error < 1e-10
