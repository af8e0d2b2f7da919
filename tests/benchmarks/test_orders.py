"""The networks of the table of orders, and what is said of them."""

import json

import numpy as np
import pytest

import qad
from benchmarks import orders


def test_the_networks_are_what_they_are_called():
    text, shapes = orders.regular_graph(20, degree=3)
    labels = "".join(text.split("->")[0].split(","))
    assert {len(shape) for shape in shapes} == {3} and len(shapes) == 20
    assert all(labels.count(label) == 2 for label in labels)
    text, shapes = orders.circuit(side=3, depth=4)
    assert set("".join(text.split("->")[0].split(","))) and all(set(shape) <= {2} for shape in shapes)
    assert len(shapes) == 4 * 3  # a layer is three gates
    rng = np.random.default_rng(0)
    assert np.isfinite(qad.einsum(text, *(rng.normal(size=shape) for shape in shapes)))


def test_costs_are_those_of_the_plan():
    text, shapes = orders.regular_graph(10)
    path = orders.of_qad(text, shapes, 0.1)
    plan = qad.plan(text, *shapes, optimize=path)
    largest = max(np.prod([plan.sizes[label] for label in term]) for term in plan.terms)
    assert orders.costs(text, shapes, path) == (plan.flops_with_gradient, largest)


def test_shuffled_operands_make_the_same_network():
    text, shapes = orders.circuit(side=2, depth=3)
    other, turned = orders.shuffled(text, shapes, 1)
    assert (other, turned) != (text, shapes)
    assert qad.plan(other, *turned).flops_with_gradient == qad.plan(text, *shapes).flops_with_gradient


def test_the_table_says_what_was_kept():
    if not orders.KEPT.exists():
        pytest.skip("nothing was measured yet")
    kept = json.loads(orders.KEPT.read_text("utf-8"))
    assert list(kept["networks"]) == list(orders.NETWORKS)
    assert orders.section(kept).count("\n| ") == len(orders.NETWORKS) + 2
