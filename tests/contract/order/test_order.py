"""Orders: optimal where that is promised, by exhaustive search; the facts about value and gradient together."""

import numpy as np
import pytest

import qad
from qad.contract.order.order import find_order, from_path, to_path
from qad.contract.order.tree import Tree
from tests.contract.networks import all_trees, cheapest, joint_cost, random_network


def problem(text, shapes):
    terms, output = text.split("->")
    terms = terms.split(",")
    sizes = {
        label: size for term, shape in zip(terms, shapes, strict=True) for label, size in zip(term, shape, strict=True)
    }
    return terms, output, sizes


def as_numbers(terms, output, sizes, variables):
    names = {label: number for number, label in enumerate(sizes)}
    return (
        tuple(tuple(names[label] for label in term) for term in terms),
        tuple(names[label] for label in output),
        tuple(sizes.values()),
        tuple(number in variables for number in range(len(terms))),
    )


def without_dangling(text, shapes):
    """Remove labels that one operand alone holds: they are summed before ordering."""
    terms, output, sizes = problem(text, shapes)
    everything = "".join(terms) + output
    terms = ["".join(label for label in term if everything.count(label) > 1) for term in terms]
    return terms, output, {label: size for label, size in sizes.items() if everything.count(label) > 1}


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_optimal_by_all_trees(count):
    rng = np.random.default_rng(count)
    for _ in range(6):
        terms, output, sizes = without_dangling(*random_network(rng, count, most=5, hyper=True))
        variables = set(rng.choice(count, rng.integers(0, count + 1), replace=False).tolist())
        pairs = find_order(*as_numbers(terms, output, sizes, variables))
        best = min(joint_cost(terms, output, sizes, variables, tree) for tree in all_trees(count))
        assert joint_cost(terms, output, sizes, variables, pairs) == best


@pytest.mark.parametrize("count", [6, 7])
def test_optimal_by_all_splits(count):
    rng = np.random.default_rng(count)
    for _ in range(6):
        terms, output, sizes = without_dangling(*random_network(rng, count, extra=4, most=6))
        variables = set(rng.choice(count, 2, replace=False).tolist())
        pairs = find_order(*as_numbers(terms, output, sizes, variables))
        assert joint_cost(terms, output, sizes, variables, pairs) == cheapest(terms, output, sizes, variables)


def closed(rng, count, extra):
    return random_network(rng, count, extra=extra, most=9, closed=True)


def test_all_variable_costs_three_times_the_forward_pass():
    rng = np.random.default_rng(0)
    for count in (4, 6, 9):
        text, shapes = closed(rng, count, 4)
        p = qad.plan(text, *shapes)
        assert p.flops_with_gradient == 3 * p.flops
        assert p.flops == qad.plan(text, *shapes, variables=()).flops


def test_one_variable_costs_no_more_than_the_forward_pass():
    rng = np.random.default_rng(1)
    for _ in range(5):
        text, shapes = closed(rng, 6, 5)
        shapes = [tuple(8 for _ in shape) for shape in shapes]
        size = min(range(6), key=lambda number: len(shapes[number]))
        p = qad.plan(text, *shapes, variables=[size])
        forward = qad.plan(text, *shapes, variables=()).flops
        assert p.flops_with_gradient <= forward + 2 * 8 ** len(shapes[size])


def test_two_variables_often_want_another_order():
    rng = np.random.default_rng(2)
    worse, most = 0, 1.0
    for _ in range(40):
        text, shapes = closed(rng, 6, 5)
        terms, output, sizes = problem(text, shapes)
        variables = set(rng.choice(6, 2, replace=False).tolist())
        network = as_numbers(terms, output, sizes, variables)
        forward_optimal = find_order(*network[:3], (False,) * 6)
        joint = find_order(*network)
        ratio = joint_cost(terms, output, sizes, variables, forward_optimal) / joint_cost(
            terms, output, sizes, variables, joint
        )
        assert ratio >= 1
        worse, most = worse + (ratio > 1), max(most, ratio)
    assert worse >= 12
    assert most > 1.3


def chain(length, bond, mpo, phys=2):
    """A closed matrix product sandwich: text-free terms, in the interleaved form, and shapes."""
    terms, shapes = [], []
    for site in range(length):
        ends = [(name, site + side) for side in (0, 1) for name in "kob" if 0 < site + side < length]
        for name, size in (("k", bond), ("o", mpo), ("b", bond)):
            bonds = tuple(end for end in ends if end[0] == name)
            legs = {"k": (("p", site),), "o": (("p", site), ("q", site)), "b": (("q", site),)}[name]
            terms.append(bonds + legs)
            shapes.append((size,) * len(bonds) + (phys,) * len(legs))
    return terms, shapes


def test_large_networks_are_ordered_well():
    terms, shapes = chain(16, 32, 5)
    sizes = {
        label: size for term, shape in zip(terms, shapes, strict=True) for label, size in zip(term, shape, strict=True)
    }
    network = as_numbers(terms, (), sizes, set(range(2, 48, 3)))
    pairs = find_order(*network)
    assert joint_cost(terms, (), sizes, set(range(2, 48, 3)), pairs) <= 2.2e7
    assert Tree(network, pairs).cost() == joint_cost(terms, (), sizes, set(range(2, 48, 3)), pairs)


@pytest.mark.parametrize("count", [13, 20])
def test_large_random_networks(count):
    rng = np.random.default_rng(count)
    for closed_ in (True, False):
        text, shapes = random_network(rng, count, extra=5, closed=closed_)
        terms, output, sizes = without_dangling(text, shapes)
        variables = set(rng.choice(count, 3, replace=False).tolist())
        network = as_numbers(terms, output, sizes, variables)
        pairs = find_order(*network)
        assert Tree(network, pairs).cost() == joint_cost(terms, output, sizes, variables, pairs)
        assert len(pairs) == count - 1


def test_any_one_of_many_may_be_variable():
    terms, output, sizes = problem(*random_network(np.random.default_rng(0), 14, extra=13, most=6, closed=True))
    forward = joint_cost(terms, output, sizes, set(), find_order(*as_numbers(terms, output, sizes, set())))
    for number in range(14):
        pairs = find_order(*as_numbers(terms, output, sizes, {number}))
        last = 2 * np.prod([sizes[label] for label in terms[number]])
        assert joint_cost(terms, output, sizes, {number}, pairs) <= 1.2 * forward + last


def test_paths_round_trip():
    pairs = ((1, 2), (0, 4), (3, 5))
    assert to_path(pairs, 4) == ((1, 2), (0, 2), (0, 1))
    assert from_path(to_path(pairs, 4), 4) == ((1, 2), (0, 4), (3, 5))
    for wrong in (((0, 1),), ((0, 0), (0, 1), (0, 1)), ((0, 4), (0, 1), (0, 1)), ((0, 1, 2), (0, 1))):
        assert from_path(wrong, 4) is None
