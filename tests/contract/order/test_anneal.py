"""Annealed trees: against the optimum, compiled against Python, and what they reach in large graphs."""

import numpy as np
import pytest

from benchmarks.orders import regular_graph
from qad.contract.order import anneal as annealing
from qad.contract.order.anneal import anneal
from qad.contract.order.exchange import Exchanger
from qad.contract.order.order import order_of_many, searched
from qad.contract.order.tree import Tree
from qad.contract.run.compiler import exchanger, has_compiler
from tests.contract.networks import cheapest, random_network
from tests.contract.order.test_order import as_numbers, problem, without_dangling


def never():
    return False


def one_by_one(network):
    """The tree that takes in one operand after another."""
    count = len(network[0])
    return Tree(network, [(0, 1), *((count + number, number + 2) for number in range(count - 2))])


def graph(vertices):
    """A random regular graph as numbers, all variable."""
    text, shapes = regular_graph(vertices)
    return as_numbers(*problem(text, shapes), set(range(vertices)))


@pytest.mark.parametrize("count", [6, 7, 9])
@pytest.mark.sampled(1)
def test_small_networks_reach_their_optimum(count):
    """Open and closed ones, labels in three operands among them, few operands variable.

    A temperature of 0.1 does not tell costs apart that differ by a percent.
    """
    rng = np.random.default_rng(count)
    for number in range(4):
        text, shapes = random_network(rng, count, extra=4, most=6, closed=number % 2 == 0, hyper=True)
        terms, output, sizes = without_dangling(text, shapes)
        variables = set(rng.choice(count, 2, replace=False).tolist())
        network = as_numbers(terms, output, sizes, variables)
        best = cheapest(terms, output, sizes, variables)
        assert best <= min(anneal(one_by_one(network), 20, seed, never).cost() for seed in range(3)) <= 1.01 * best
        assert best <= next(searched(network, never)).cost() <= 1.01 * best


def test_costs_are_kept_up_to_date():
    """Exactly where sizes are powers of 2, and to the accuracy of the logarithms for others."""
    rng = np.random.default_rng(0)
    for power, accuracy in ((2, 0), (3, 1e-2)):
        text, shapes = random_network(rng, 14, extra=12, most=3, hyper=True)
        terms, output, sizes = without_dangling(text, shapes)
        network = as_numbers(terms, output, {label: power ** (size - 1) for label, size in sizes.items()}, {3, 5})
        state = Exchanger(one_by_one(network), 0)
        before = state.pairs()
        state.sweep(30, [2.0] * 1024)
        assert state.pairs() != before
        assert abs(sum(state.costs) / Tree(network, state.pairs()).cost() - 1) <= accuracy


@pytest.mark.skipif(not has_compiler(), reason="llvmlite is not installed")
def test_compiled_exchanges_are_the_same_ones():
    rng = np.random.default_rng(1)
    text, shapes = random_network(rng, 16, extra=9, most=7, hyper=True)
    mixed = as_numbers(*without_dangling(text, shapes), {1, 2})
    for network in (mixed, graph(60), (((),) * 13, (), (), (True,) * 13)):  # the graph's labels take two words
        plain = Exchanger(one_by_one(network), 3)
        compiled = exchanger(Exchanger(one_by_one(network), 3))
        for limits in ([4.0] * 512 + [1.5] * 512, [1.0] * 1024):
            plain.sweep(20, limits)
            compiled.sweep(20, limits)
        assert compiled.pairs() == plain.pairs()
        assert compiled.costs.tolist() == plain.costs


@pytest.mark.parametrize("vertices, most, largest", [(200, 1.5e10, 2**26), (300, 4e13, 2**37)])
@pytest.mark.sampled(1)
def test_large_graphs(vertices, most, largest):
    """The first round of many."""
    tree = next(searched(graph(vertices), never))
    assert tree.cost() < most
    assert max(tree.size(tree.legs[node]) for node in tree.children) <= largest


def test_orders_depend_on_the_network_alone(monkeypatch):
    network = graph(40)
    found = order_of_many(*network)
    for compiled_from in (0, 10**9):
        monkeypatch.setattr(annealing, "COMPILED", compiled_from)
        assert order_of_many(*network) == found


def test_extents_of_nothing_and_beyond_all_floats():
    """Arrays without elements, and a tree whose cost no float holds."""
    count = 13
    terms = tuple((number, number + 1) for number in range(count))
    empty = terms, (0, count), (3, 0, *(1,) * (count - 1)), (True,) * count
    assert len(order_of_many(*empty)) == count - 1
    labels = {frozenset(pair): label for label, pair in enumerate((i, j) for i in range(count) for j in range(i))}
    terms = tuple(tuple(label for pair, label in labels.items() if number in pair) for number in range(count))
    huge = one_by_one((terms, (), (2**40,) * len(labels), (True,) * count))
    assert huge.cost() > 2**1024
    assert anneal(huge, 5, 0, never).cost() > 2**1024
