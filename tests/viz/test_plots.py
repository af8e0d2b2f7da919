"""Plots show the numbers that they are given, and a wrong gradient is seen."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

pytest.importorskip("matplotlib")


def lines(picture):
    """The data of all lines."""
    return [line.get_xydata() for line in picture._art.axes[0].lines]


def test_a_history_is_the_searchs():
    found = qad.optimize.minimize(lambda x: np.sum((x - 1) ** 4), np.zeros(3))
    shown = lines(qad.draw(found))[0][:, 1]
    np.testing.assert_array_equal(shown[:-1], found.history[:-1] - found.history[-1])
    assert np.isnan(shown[-1])  # the best itself
    both = qad.viz.history({"a": found, "b": [3.0, 2.0]}, exact=1.0)
    np.testing.assert_array_equal(lines(both)[1][:, 1], [2.0, 1.0])
    assert [text.get_text() for text in both._art.axes[0].get_legend().get_texts()] == ["a", "b"]
    for nothing in ([], "abc", [1j], {}):
        with pytest.raises(ArgumentError, match="no history"):
            qad.viz.history(nothing)


def test_axes_say_what_is_shown_and_count_in_whole_steps():
    def axes(found, **options):
        return qad.viz.history(found, **options)._art.axes[0]

    energy = axes(qad.mps.ground_state(qad.mps.heisenberg(4), 4, "dmrg"), exact=-1.6)
    assert energy.get_ylabel() == "energy: distance from -1.6"
    assert (energy.get_yscale(), energy.get_xlabel()) == ("log", "step")
    decay = qad.mps.lindblad(qad.mps.OpSum(2), [(1.0, "Sm", i) for i in (0, 1)])
    residual = axes(steady := qad.mps.steady_state(decay, 4))
    np.testing.assert_array_equal(residual.lines[0].get_ydata(), np.where(steady.history > 0, steady.history, np.nan))
    assert residual.get_ylabel() == "residual"
    still = axes([2.0, 2.0])  # no distance, no logarithm
    assert (still.get_yscale(), still.get_ylabel()) == ("linear", "energy")
    np.testing.assert_array_equal(still.lines[0].get_ydata(), [2.0, 2.0])
    for ax in (energy, axes([3.0, 2.0, 1.0]), axes([1.0])):
        ax.figure.canvas.draw()
        assert np.all(ax.get_xticks() % 1 == 0)


@pytest.mark.parametrize("exact", [np.nan, np.inf, "a", 1j])
def test_exact_values_are_finite_numbers(exact):
    with pytest.raises(ArgumentError, match="finite number"):
        qad.viz.history([2.0, 1.0], exact=exact)


def test_states_that_are_not_finite_have_no_entropies():
    with pytest.raises(ArgumentError, match="not finite"):
        qad.viz.entanglement(qad.mps.MPS([np.full((1, 2, 1), np.nan)] * 3))


def test_entropies_lie_below_what_bonds_can_hold():
    psi = qad.mps.MPS.random(6, 4, seed=1)
    entropies, limits = lines(qad.viz.entanglement(psi))
    np.testing.assert_allclose(entropies[:, 1], qad.mps.entanglement_entropy(psi))
    np.testing.assert_allclose(limits[:, 1], np.log([2, 4, 4, 4, 2]))


def right(z, x):
    return (np.exp(z) * x).real.sum()


def wrong(z, x):
    return np.sum(x * qad.stop_gradient(x))  # whose gradient lacks a factor 2


@pytest.mark.parametrize("f", [right, wrong])
def test_differences_come_close_to_a_right_gradient_alone(f):
    picture = qad.viz.gradient_check(f, (np.array([0.3 + 1j, -0.2]), np.array([1.0, 2.0])))
    errors = lines(picture)[0][:, 1]
    assert (errors.min() < 1e-8) == (f is right)
    assert errors[0] > 1e-4
