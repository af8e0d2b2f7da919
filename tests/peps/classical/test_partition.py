"""Partition functions of classical models against exact solutions, with two derivatives."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.peps import classical, partition_function
from tests.peps.exact import CATALAN, CRITICAL, HARD_SQUARES, onsager, onsager_energy, ordered_six_vertex

ICE = 1.5 * np.log(4 / 3)  # E. H. Lieb, Phys. Rev. Lett. 18, 692 (1967)


@pytest.mark.parametrize(
    "beta, chi, symmetry, digits",
    [
        (0.43, 32, "c4v", (1e-12, 1e-10, 2e-8)),
        pytest.param(0.43, 32, None, (1e-12, 1e-10, 2e-8), marks=pytest.mark.slow),
        (0.3, 32, "c4v", (1e-14, 1e-13, 1e-12)),
        (0.3, 32, None, (1e-14, 1e-13, 1e-12)),
    ],
)
@pytest.mark.sampled(1)
def test_onsager_with_two_derivatives(beta, chi, symmetry, digits):
    """At 0.3 the environment has fewer states than chi: tiny values are dropped first."""
    report = qad.linalg.Report()
    how = {"chi": chi, "symmetry": symmetry, "report": report}
    found = classical.thermodynamics(lambda b: partition_function(classical.ising(b), **how), beta)
    exact = classical.thermodynamics(onsager, beta)
    for a, b, error in zip(found, exact, digits, strict=True):
        assert a == pytest.approx(b, abs=error)
    assert report.residual < 1e-11
    assert report.iterations < 300


@pytest.mark.parametrize("symmetry", ["c4v", None])
@pytest.mark.sampled(1)
def test_the_ordered_phase_with_a_rim_that_chooses(symmetry):
    how = {"chi": 12, "symmetry": symmetry, "boundary": [1.0, 0.0]}
    found = classical.thermodynamics(lambda b: partition_function(classical.ising(b), **how), 0.5)
    for a, b, error in zip(found, classical.thermodynamics(onsager, 0.5), (1e-13, 1e-11, 1e-9), strict=True):
        assert a == pytest.approx(b, abs=error)
    magnetisation = qad.grad(lambda h: partition_function(classical.ising(0.5, h), **how))(0.0)
    assert magnetisation == pytest.approx((1 - np.sinh(1.0) ** -4) ** 0.125, abs=1e-10)  # C. N. Yang, 1952


@pytest.mark.parametrize(
    "beta", [0.05, 0.2, pytest.param(0.442, marks=pytest.mark.slow), 0.445, 0.46, 0.5, 0.6, 1.0, 2.0]
)
@pytest.mark.sampled(2)
def test_every_temperature_by_default(beta):
    """Below the transition two phases coexist, whose sum has no derivatives: one of them is taken."""
    log_z, energy, heat = classical.thermodynamics(lambda b: partition_function(classical.ising(b)), beta)
    assert log_z == pytest.approx(onsager(beta), abs=1e-10)
    assert energy == pytest.approx(onsager_energy(beta), abs=1e-7)
    step = 1e-4
    slope = (onsager_energy(beta + step) - onsager_energy(beta - step)) / (2 * step)
    assert heat == pytest.approx(-(beta**2) * slope, rel=1e-3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["c4v", pytest.param(None, marks=pytest.mark.slow)])
def test_the_critical_point_by_default(symmetry):
    """What is left is of the finite chi: the environment itself has settled."""
    report = qad.linalg.Report()
    loss = lambda b: partition_function(classical.ising(b), symmetry=symmetry, report=report)  # noqa: E731
    value, slope = qad.value_and_grad(loss)(CRITICAL)
    assert value == pytest.approx(onsager(CRITICAL), abs=2e-9)
    assert slope == pytest.approx(np.sqrt(2), abs=1e-4)
    assert report.residual < 1e-9


@pytest.mark.slow
def test_one_of_several_colours():
    """Coexisting phases of Potts and clock models, against differences of the same call."""
    for model, x in (
        (lambda b: classical.potts(b, 3), 1.2),
        (lambda b: classical.clock(b, 4), 1.4),
    ):
        value = lambda x, model=model: partition_function(model(x), chi=12)  # noqa: E731
        difference = (value(x + 1e-4) - value(x - 1e-4)) / 2e-4
        assert qad.grad(value)(x) == pytest.approx(difference, abs=1e-7)


def test_values_of_both_phases_without_a_choice():
    for beta in (0.5, 1.0):
        assert partition_function(classical.ising(beta), chi=16, symmetry="c4v") == pytest.approx(
            onsager(beta), abs=1e-13
        )


def test_the_critical_point():
    errors = [
        partition_function(classical.ising(CRITICAL), chi=chi, symmetry="c4v") - onsager(CRITICAL) for chi in (6, 10)
    ]
    assert abs(errors[1]) < 1e-6
    assert abs(errors[1]) < abs(errors[0]) < 1e-5


@pytest.mark.parametrize(
    "tensor, exact, chi, error",
    [
        (classical.hard_squares(), np.log(HARD_SQUARES), 12, 1e-13),
        (classical.six_vertex(c=3.0), ordered_six_vertex(3.0), 16, 2e-8),
        (classical.six_vertex(c=6.0), ordered_six_vertex(6.0), 12, 1e-11),
        (classical.six_vertex(), ICE, 12, 2e-5),
        (classical.dimers(), CATALAN / np.pi, 8, 5e-5),
        (classical.potts(0.6, 2), onsager(0.3) + 0.6, 12, 1e-12),
        (classical.clock(0.3, 2), onsager(0.3), 12, 1e-12),
        (classical.clock(0.6, 4), 2 * onsager(0.3), 16, 1e-9),
        (classical.ising(-0.3), onsager(0.3), 16, 1e-11),
    ],
)
@pytest.mark.sampled(1)
def test_solved_models(tensor, exact, chi, error):
    assert partition_function(tensor, chi) == pytest.approx(exact, abs=error)


def test_dimers_of_two_weights():
    """Half of all dimers lie flat where weights are equal, and ln Z rises by their share."""
    slope = qad.grad(lambda x: partition_function(classical.dimers(x, 1.0), chi=12, tol=1e-9))(1.0)
    assert slope == pytest.approx(0.25, abs=1e-3)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.sampled(1)
def test_any_tensor_and_its_derivatives(kind):
    """Without symmetry, against differences, in both modes and to second order."""
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((2,) * 4) + (1j * rng.standard_normal((2,) * 4) if kind is complex else 0)
    tensor = classical.ising(0.25) + 0.15 * noise

    def loss(a):
        return partition_function(a, chi=6, tol=1e-12).real

    qad.check_grads(loss, (tensor,), rtol=1e-6, order=1)
    direction = rng.standard_normal((2,) * 4).astype(kind)

    def along(t):
        return loss(tensor + t * direction)

    h = 2e-3
    difference = (16 * (along(h) + along(-h)) - along(2 * h) - along(-2 * h) - 30 * along(0.0)) / (12 * h**2)
    assert qad.hvp(along, (0.0,), (1.0,))[0] == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("symmetry", ["c4v", None])
def test_corners_of_few_states(symmetry):
    """Product weights and pure order leave one state or two: no NaN, in value and slope."""
    flat = np.full((2,) * 4, 0.5)
    assert partition_function(flat, symmetry=symmetry) == pytest.approx(np.log(2), abs=1e-14)
    gradient = qad.grad(lambda a: partition_function(a, symmetry=symmetry))(flat)
    assert gradient == pytest.approx(np.full((2,) * 4, 1 / 8), abs=1e-12)
    cold = classical.ising(4.0)
    assert partition_function(cold, symmetry=symmetry) == pytest.approx(8.0, abs=1e-6)


@pytest.mark.parametrize("method, beta", [("trg", 0.35), ("hotrg", 0.5)])
@pytest.mark.sampled(1)
def test_coarse_graining(method, beta):
    found = classical.thermodynamics(
        lambda b: partition_function(classical.ising(b), chi=6, method=method, steps=14), beta
    )
    for a, b, error in zip(found, classical.thermodynamics(onsager, beta), (1e-4, 2e-3, 2e-2), strict=True):
        assert a == pytest.approx(b, abs=error)


@pytest.mark.parametrize("method", ["trg", "hotrg"])
def test_coarse_graining_of_small_lattices_is_exact(method):
    """Four sites on a torus, nothing cut: ``Z`` by enumeration."""
    rng = np.random.default_rng(0)
    bond, field = rng.uniform(0.5, 2, (2, 2)), rng.uniform(0.5, 2, 2)
    bond = bond + bond.T
    z = 0.0
    for s in np.ndindex(2, 2, 2, 2):
        s = np.reshape(s, (2, 2))
        z += np.prod(bond[s, np.roll(s, 1, 0)] * bond[s, np.roll(s, 1, 1)] * field[s])
    found = partition_function(classical.spins(bond, field), chi=32, method=method, steps=2)
    assert found == pytest.approx(np.log(z) / 4, abs=1e-13)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: partition_function(np.ones((2, 2, 2))), "legs"),
        (lambda: partition_function(np.ones((2, 2, 3, 2))), "legs"),
        (lambda: partition_function(np.zeros((2,) * 4)), "zero"),
        (lambda: partition_function(np.full((2,) * 4, np.nan)), "not finite"),
        (lambda: partition_function(classical.ising(0.3), chi=1), "at least 2"),
        (lambda: partition_function(classical.ising(0.3), method="exact"), "choose one of"),
        (lambda: partition_function(classical.six_vertex(b=1.5), symmetry="c4v"), "leave out"),
        (lambda: partition_function(classical.ising(0.3), symmetry="c4v", method="trg"), "ctmrg"),
        (lambda: partition_function(classical.ising(0.3), boundary=[1, 0, 0]), "boundary"),
        (lambda: partition_function(classical.ising(CRITICAL), chi=4, maxiter=2), "raise maxiter"),
        (lambda: partition_function(-classical.ising(0.3)), "positive"),
        (lambda: classical.spins([[1.0, 2.0], [3.0, 1.0]]), "not symmetric"),
        (lambda: classical.spins(np.eye(2), np.ones(3)), "one for each"),
        (lambda: classical.potts(0.3, 1), "at least 2"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(qad.QadError, match=message):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("c, chi, close", [(4.0, 32, 1e-12), (4.0, 16, 1e-12), (2.5, 16, 3e-7)])
def test_derivatives_of_the_ordered_six_vertex_model(c, chi, close):
    """The sum of both ordered phases is no isolated environment, and has no derivatives: one of them is chosen."""
    exact = ordered_six_vertex
    value, slope = qad.value_and_grad(lambda c: partition_function(classical.six_vertex(c=c), chi))(c)
    assert value == pytest.approx(exact(c), abs=close)
    assert slope == pytest.approx((exact(c + 1e-5) - exact(c - 1e-5)) / 2e-5, abs=max(100 * close, 1e-9))


def test_a_sum_of_phases_that_rotations_exchange_is_refused():
    """Where "c4v" holds the sum together its derivative is refused for what it is; its value is right."""
    how = {"chi": 16, "symmetry": "c4v"}
    assert partition_function(classical.six_vertex(c=3.0), **how) == pytest.approx(ordered_six_vertex(3.0), abs=2e-8)
    with pytest.raises(ArgumentError, match="sum of phases"):
        qad.grad(lambda c: partition_function(classical.six_vertex(c=c), **how))(3.0)


@pytest.mark.slow
def test_two_chis_show_how_wrong_the_first_is():
    """Ice is critical: the difference of two chis is the error of the first one within a factor of 3."""
    values = [partition_function(classical.six_vertex(), chi) for chi in (8, 16)]
    error, shown = abs(values[0] - ICE), abs(values[0] - values[1])
    assert error / 3 < shown < 3 * error
