"""Samples of large families: every value of a parameter is there, and what is left out is run at night."""

from itertools import product
from types import SimpleNamespace

import pytest

from tests.sampling import MOST, one_in, thin


class Item:
    """What pytest knows of a case."""

    def __init__(self, name, marks, **params):
        self.nodeid = f"test_it.py::{name}[{'-'.join(map(str, params.values()))}]"
        self.callspec = SimpleNamespace(params=params)
        self.marks = list(marks)

    def get_closest_marker(self, name):
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, mark):
        self.marks.append(mark)


def family(name, *marks, **values):
    """All cases of a test function."""
    return [Item(name, marks, **dict(zip(values, row, strict=True))) for row in product(*values.values())]


def ordinary(items):
    """Those that an ordinary run takes."""
    thin(items)
    return [item for item in items if item.get_closest_marker("slow") is None]


def seen(items, name):
    """The values that a parameter has."""
    return {item.callspec.params[name] for item in items}


def test_products_are_sampled_with_every_value_of_every_parameter():
    whole = family("test_product", one=range(8), other="abcdefghij")
    day = ordinary(whole)
    assert len(day) == MOST < len(whole)
    assert seen(day, "one") == set(range(8))
    assert seen(day, "other") == set("abcdefghij")


def test_every_value_of_a_long_list_is_there():
    """Also where there are more of them than an ordinary run takes of a product."""
    day = ordinary(family("test_product", one=range(30), other="abcdefghij"))
    assert len(day) == 30 > MOST
    assert seen(day, "one") == set(range(30))


def test_lists_and_small_products_are_not():
    for whole in (family("test_list", one=range(300)), family("test_small", one=range(3), other="abcd")):
        assert ordinary(whole) == whole


def test_a_mark_says_how_many():
    mark = pytest.mark.sampled(4).mark
    day = ordinary(family("test_heavy", mark, kind=["x", "y"], number=range(5)))
    assert len(day) == 4
    assert seen(day, "kind") == {"x", "y"}
    assert len(ordinary(family("test_list", mark, one=range(5)))) == 4


def test_the_draw_is_of_names_alone():
    names = [{item.nodeid for item in ordinary(cases)} for cases in (
        family("test_product", one=range(30), other="abcdefghij"),
        family("test_product", one=range(30), other="abcdefghij")[::-1],
    )]  # fmt: skip
    assert names[0] == names[1]


def test_cases_of_a_single_test_are_drawn_by_their_names():
    cases = [f"case {i}" for i in range(400)]
    day = one_in(4, cases)
    assert 70 < len(day) < 130
    assert set(one_in(4, cases[::-1])) == set(day) < set(cases)
    assert one_in(1, cases) == cases


def test_a_case_that_is_asked_for_is_run():
    (asked,) = family("test_heavy", pytest.mark.sampled(4).mark, kind="x", number=[3])
    assert ordinary([asked]) == [asked]
