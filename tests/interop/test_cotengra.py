"""Orders of cotengra and opt_einsum for qad, and qad's for cotengra."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

pytest.importorskip("cotengra", reason="the optional package cotengra is not installed")

import cotengra
import opt_einsum

from qad.interop.cotengra import JointOptimizer

TEXT, SHAPES = "ab,bc,cd,de,ea->", [(2, 3), (3, 4), (4, 5), (5, 2), (2, 2)]
RANDOM = np.random.default_rng(0)
OPERANDS = [RANDOM.normal(size=shape) for shape in SHAPES]
TERMS = TEXT[:-2].split(",")


def test_trees_and_optimisers_of_cotengra_prescribe_the_order():
    tree = cotengra.array_contract_tree(TERMS, "", shapes=SHAPES, optimize="greedy")
    search = cotengra.GreedyOptimizer(temperature=0.0)
    for optimize, path in ((tree, tree.get_path()), (search, search(TERMS, "", tree.size_dict))):
        assert qad.plan(TEXT, *SHAPES, optimize=optimize).path == tuple(map(tuple, map(sorted, path)))
        np.testing.assert_allclose(qad.einsum(TEXT, *OPERANDS, optimize=optimize), np.einsum(TEXT, *OPERANDS))
        qad.check_grads(lambda *x, how=optimize: qad.einsum(TEXT, *x, optimize=how), OPERANDS)


def test_a_search_is_made_once_for_a_structure():
    calls = []

    def search(inputs, output, sizes):
        calls.append(inputs)
        return [(0, 1)] * (len(inputs) - 1)

    for _ in range(3):
        qad.einsum(TEXT, *OPERANDS, optimize=search)
    assert len(calls) == 1


def test_sliced_trees_are_refused_with_the_way_out():
    tree = cotengra.array_contract_tree(TERMS, "", shapes=SHAPES, optimize="greedy").slice(target_slices=2)
    with pytest.raises(ArgumentError, match="memory_limit="):
        qad.einsum(TEXT, *OPERANDS, optimize=tree)


def test_the_joint_planner_in_cotengra():
    ours = qad.plan(TEXT, *SHAPES, variables=[0])
    tree = cotengra.array_contract_tree(TERMS, "", shapes=SHAPES, optimize=JointOptimizer([0]))
    assert tuple(map(tuple, tree.get_path())) == ours.path
    value = cotengra.array_contract(OPERANDS, TERMS, "", optimize=JointOptimizer())
    np.testing.assert_allclose(value, np.einsum(TEXT, *OPERANDS))


def test_the_joint_planner_in_opt_einsum():
    ours = qad.plan(TEXT, *SHAPES, variables=[0]).path
    found, _ = opt_einsum.contract_path(TEXT, *OPERANDS, optimize=JointOptimizer([0]))
    assert tuple(found) == ours
    value = opt_einsum.contract(TEXT, *OPERANDS, optimize=JointOptimizer())
    np.testing.assert_allclose(value, np.einsum(TEXT, *OPERANDS))
