"""The one rule of truncation."""

import numpy as np
import pytest

from qad.linalg.truncation.rule import kept, lost, nonzero, tied


def test_the_fewest_are_kept_whose_rest_weighs_little():
    values = [np.array([3.0, 1.0, 0.1]), np.array([2.0, 0.2])]
    assert kept(values) == [3, 2]
    assert kept(values, 3) == [2, 1]
    assert kept(values, weight=0.0501 / 14.05) == [2, 1]
    assert kept(values, weight=0.0499 / 14.05) == [2, 2]
    assert kept(values, cutoff=0.5) == [1, 1]
    assert kept(values, cutoff=0.5, relative=False) == [2, 1]
    assert lost(values, [2, 1]) == pytest.approx(0.05 / 14.05)


def test_one_is_kept_at_least():
    assert kept([np.zeros(3), np.zeros(2)], weight=1e-14) == [1, 0]
    assert kept([np.array([1.0, 0.5])], cutoff=2.0) == [1]
    assert kept([np.ones(2)], cutoff=2.0, least=0) == [0]
    assert kept([]) == []


def test_what_is_zero_to_rounding_is_kept_on_demand():
    values = np.array([1.0, 1e-14, 5e-15])
    assert kept([values]) == [2]
    assert nonzero(values, 3) == 2
    assert kept([values], size=9) == [1]
    assert kept([values], 2, size=9, zeros=True) == [2]


@pytest.mark.parametrize("squared", [False, True])
def test_multiplets_are_kept_where_they_fit_and_else_cut_in_the_order_of_sectors(squared):
    """Rounding does not choose which of equal values stay."""
    values = [np.array([0.3, 0.1]), np.array([0.3, 0.1 * (1 + 1e-13)]), np.array([0.1, 0.1])]
    for factor in (1.0, 1 - 1e-14):
        near = [values[0], values[1] * factor, values[2] / factor]
        assert kept(near, 4, squared=squared) == [2, 2, 0]
        assert kept(near, 6, 0.15, squared=squared) == [2, 2, 2]
        assert kept(near, 5, drop=True, squared=squared) == [1, 1, 0]
        assert kept(near, 1, squared=squared) == [1, 0, 0]


def test_the_width_of_a_multiplet_is_relative_to_its_values():
    for size in (0.1, 1e-6, 1e-10):
        near, far = [np.array([1.0, size, size * (1 - width)]) for width in (1.4e-6 / 1.1, 1.4e-6 * 1.1)]
        assert tied(near, 2)
        assert kept([near], 2, drop=True) == [1]
        assert not tied(far, 2)
        assert kept([far], 2, drop=True) == [2]
    weights = [np.array([1.0, 0.1, 0.1 * (1 - 2.5e-6)])]
    assert kept(weights, 2, drop=True, squared=True) == [1]
    assert kept(weights, 2, drop=True) == [2]


def test_multiplets_that_weigh_nothing_are_left_out():
    assert kept([np.array([1.0, 3e-8, 3e-8])], 2) == [1]
    assert kept([np.array([1.0, 3e-7, 3e-7])], 2) == [2]


def test_weights_that_are_rounding_form_no_multiplets():
    weights = [np.array([1.0, 0.1, 1e-16, 1e-16]), np.array([1e-16, -1e-17])]
    assert kept(weights, 3, squared=True) == [3, 0]
    assert kept(weights, 9, 1e-14, squared=True) == [2, 0]
