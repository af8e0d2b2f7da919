"""Symmetries and legs: charges, flows, equality, refusals."""

import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qad.core.errors import ArgumentError
from qad.symmetric import Leg, symmetry
from qad.symmetric.blocks.combinations import fusion
from tests.symmetric.draw import SYMMETRIES, legs, rows_of_legs, some


def test_symmetries_are_shared():
    assert symmetry("U1xZ2") is symmetry(("U1", "Z2")) is symmetry(symmetry("U1xZ2"))
    assert pickle.loads(pickle.dumps(symmetry("Z3"))) is symmetry("Z3")


def test_charges_of_cyclic_groups_are_counted_modulo():
    assert Leg({-1: 2, 3: 1}, +1, "Z3") == Leg({2: 2, 0: 1}, +1, "Z3")
    assert Leg({(1, -1): 2}, +1, "U1xZ2").sectors == {(1, 1): 2}


def test_products_of_u1_need_no_name():
    assert str(Leg({(0, 1): 1}, +1).symmetry) == "U1xU1"


@given(leg=st.sampled_from(SYMMETRIES).flatmap(legs))
@some
def test_conjugates_join(leg):
    assert leg.joins(leg.conj()) and not leg.joins(leg) and leg.conj().conj() is leg
    assert leg.conj().sectors == leg.sectors
    assert list(leg.conj().sectors) == list(leg.sectors)
    assert pickle.loads(pickle.dumps(leg)) == leg
    assert leg.dim == sum(leg.sectors.values())


@given(row=st.sampled_from(SYMMETRIES).flatmap(rows_of_legs))
@some
def test_fusion_does_not_depend_on_the_sign_of_charges(row):
    group = row[0].symmetry
    one, two = fusion(row, group), fusion(tuple(leg.conj() for leg in row), group)
    assert [group.opposite(q) for q in one.dims] == list(two.dims)
    np.testing.assert_array_equal(one.combinations.numbers, two.combinations.numbers)
    np.testing.assert_array_equal(one.starts, two.starts)


def test_legs_of_a_basis():
    leg, order = Leg.from_charges([(0, 0), (1, 1), (1, -1), (2, 0), (1, 1)], +1)
    assert leg == Leg({(0, 0): 1, (1, 1): 2, (1, -1): 1, (2, 0): 1}, +1) and order == (0, 1, 4, 2, 3)
    assert Leg.from_charges(np.array([[0, 1], [1, 1], [0, 1]]), +1) == (Leg({(0, 1): 2, (1, 1): 1}, +1), (0, 2, 1))
    assert Leg.from_charges([1, -1], -1) == (Leg({1: 1, -1: 1}, -1), (0, 1))
    with pytest.raises(ArgumentError, match="at least one sector"):
        Leg.from_charges([], +1)


def test_order_of_sectors_matters():
    one, two = Leg({0: 1, 1: 2}, +1), Leg({1: 2, 0: 1}, -1)
    assert not one.joins(two) and one != two.conj()


@pytest.mark.parametrize(
    "sectors, flow, kind, words",
    [
        ({}, 1, None, "at least one sector"),
        ({0: 0}, 1, None, "dimension 0, which must be 1 or more"),
        ({0: 1.5}, 1, None, "dimension 1.5"),
        ({0: 1}, 0, None, r"flow=0 must be \+1"),
        ({0: 1, 2: 1}, 1, "Z2", "coincide under Z2"),
        ({0.5: 1}, 1, None, "0.5 is no charge of U1"),
        ({1: 1}, 1, "U1xZ2", "1 is no charge of U1xZ2: write a tuple of 2"),
        ({0: 1}, 1, "SU2", "there is no symmetry 'SU2'"),
        ({0: 1}, 1, "Z1", "there is no symmetry 'Z1'"),
        ([3, 3], 1, None, "takes a dict"),
    ],
)
def test_refusals(sectors, flow, kind, words):
    with pytest.raises(ArgumentError, match=words):
        Leg(sectors, flow, kind)


def test_a_symmetry_is_one_object_however_it_is_written_and_in_all_threads():
    assert symmetry("Z02xU1") is symmetry(("Z2", "U1")) and str(symmetry("Z02")) == "Z2"
    with pytest.raises(ArgumentError, match="5 is no symmetry"):
        symmetry(5)
    found, gate = [], threading.Barrier(4)

    def ask():
        gate.wait()
        found.extend([symmetry(f"Z{n}") for n in range(5000, 5200)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800 and len(set(map(id, found))) == 200
