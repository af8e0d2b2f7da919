"""Plans: their figures against an independent count, their cache, their table."""

import threading
import tracemalloc

import numpy as np
import pytest

import qad
from qad.contract.order.order import from_path
from qad.contract.plan.planner import find_plan
from qad.core.errors import ArgumentError, ShapeError
from tests.contract.networks import joint_cost, operands_for, random_network
from tests.counting import calls


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_figures_are_what_is_executed(counter, count):
    rng = np.random.default_rng(count)
    for closed in (True, False):
        text, shapes = random_network(rng, count, hyper=True, closed=closed)
        operands = operands_for(rng, shapes)
        variables = sorted(rng.choice(count, rng.integers(1, count + 1), replace=False).tolist())
        p = qad.plan(text, *shapes, variables=variables)

        def loss(*chosen, p=p, operands=operands, variables=variables):
            found = list(operands)
            for number, x in zip(variables, chosen, strict=True):
                found[number] = x
            return p(*found).real.sum()

        chosen = [operands[number] for number in variables]
        counter.total = 0
        p(*operands)
        assert counter.total == p.flops
        counter.total = 0
        qad.grad(loss, argnums=tuple(range(len(chosen))))(*chosen)
        assert counter.total == p.flops_with_gradient


def test_figures_follow_from_the_path():
    rng = np.random.default_rng(0)
    for _ in range(10):
        text, shapes = random_network(rng, 5, closed=True)
        terms, output = text.split("->")
        sizes = {
            label: size
            for term, shape in zip(terms.split(","), shapes, strict=True)
            for label, size in zip(term, shape, strict=True)
        }
        p = qad.plan(text, *shapes, variables=[1, 3])
        pairs = from_path(p.path, 5)
        assert p.flops_with_gradient == joint_cost(terms.split(","), output, sizes, {1, 3}, pairs)
        assert p.flops == joint_cost(terms.split(","), output, sizes, set(), pairs)


def test_path_is_opt_einsums():
    import opt_einsum

    rng = np.random.default_rng(3)
    for _ in range(5):
        text, shapes = random_network(rng, 5)
        operands = operands_for(rng, shapes)
        p = qad.plan(text, *shapes)
        found = opt_einsum.contract(text, *operands, optimize=list(p.path))
        np.testing.assert_allclose(p(*operands), found, atol=1e-10)


def test_given_paths_are_followed():
    a, b, c = (np.random.default_rng(0).random((3, 3)) for _ in range(3))
    for path in ([(0, 1), (0, 1)], [(1, 2), (0, 1)], ["einsum_path", (0, 2), (0, 1)]):
        np.testing.assert_allclose(qad.einsum("ij,jk,kl->il", a, b, c, optimize=path), a @ b @ c)
        assert find_plan(
            "ij,jk,kl->il", None, ((3, 3),) * 3, (), path=tuple(p for p in path if p != "einsum_path")
        ).path == tuple(p for p in path if p != "einsum_path")
    for wrong in ([(0, 1)], [(0, 3), (0, 1)], [(0, 0), (0, 1)], [(0, 1, 2)], "no"[:0] or [("x", 1)], [(0, 1.5)], 7):
        with pytest.raises(ArgumentError, match="path"):
            qad.einsum("ij,jk,kl->il", a, b, c, optimize=wrong)


def test_variables_default_to_the_recorded_operands():
    a, b = np.ones((2, 3)), qad.tensor(np.ones((3, 4)), requires_grad=True)
    assert qad.plan("ij,jk->ik", a, b).variables == (1,)
    assert qad.plan("ij,jk->ik", a, a.T).variables == ()
    assert qad.plan("ij,jk->ik", (2, 3), (3, 4)).variables == (0, 1)
    assert qad.plan("ij,jk->ik", (2, 3), (3, 4), variables=[-1 + 1]).variables == (0,)
    for wrong in ([2], [-1], ["x"], [0.5], [[0]], 1):
        with pytest.raises(ArgumentError, match="variables"):
            qad.plan("ij,jk->ik", (2, 3), (3, 4), variables=wrong)


def test_plans_are_values():
    one, two = qad.plan("ij,jk->ik", (2, 3), (3, 4)), qad.plan("ij,jk->ik", (2, 3), (3, 4))
    assert one is two
    find_plan.cache_clear()
    assert qad.plan("ij,jk->ik", (2, 3), (3, 4)) == one
    assert hash(qad.plan("ij,jk->ik", (2, 3), (3, 4))) == hash(one)
    assert qad.plan("ij,jk->ki", (2, 3), (3, 4)) != one
    with pytest.raises(AttributeError):
        one.flops = 3


def test_wrong_operands_raise():
    p = qad.plan("ij,jk->ik", (2, 3), (3, 4))
    with pytest.raises(ShapeError, match="ij,jk->ik"):
        p(np.ones((2, 3)), np.ones((3, 5)))
    with pytest.raises(ShapeError):
        p(np.ones((2, 3)))


def test_table():
    text = str(qad.plan("abc,cd,bde->ae", (4, 5, 6), (6, 7), (5, 7, 8), variables=[1]))
    assert "abc,cd,bde->ae" in text
    assert "1,120" in text
    assert "variable operands: 1" in text
    assert "total" in text
    assert len(text.splitlines()) == 5
    assert "2 pairs" in repr(qad.plan("ab,bc,cd->ad", (2, 2), (2, 2), (2, 2)))


def test_sizes():
    p = qad.plan("ij,jk,kl->il", (2, 30), (30, 30), (30, 40), variables=())
    assert p.write_size == 60 + 80
    assert p.peak_size == 60 + 80
    assert p.slices == 1
    q = qad.plan("ij,jk,kl->il", (2, 30), (30, 30), (30, 40), variables=[2])
    assert q.peak_size == 60 + 80 + 80 + 1200  # intermediate, result, its cotangent, the gradient


@pytest.mark.parametrize("variables", [(), (0,), tuple(range(10))])
def test_peak_size_is_what_is_allocated(variables):
    size = 60
    text = ",".join("abcdefghij"[i] + "abcdefghijk"[i + 1] for i in range(10)) + "->ak"
    operands = operands_for(np.random.default_rng(0), [(size, size)] * 10)
    p = qad.plan(text, *[(size, size)] * 10, variables=variables, memory_limit="1GB")  # it holds nothing between calls

    def loss(*chosen):
        return np.abs(p(*chosen, *operands[len(chosen) :])[0, 0]) ** 2

    run = qad.grad(loss, argnums=variables) if variables else loss
    run(*operands[: len(variables)])
    tracemalloc.start()
    run(*operands[: len(variables)])
    measured = tracemalloc.get_traced_memory()[1] / 16
    tracemalloc.stop()
    assert 0.8 * p.peak_size < measured < 1.4 * p.peak_size


def test_a_network_seen_before_is_found_at_once():
    shapes = [(2, 2)] * 20
    text = ",".join(chr(97 + i) + chr(98 + i) for i in range(20))
    first = qad.plan(text, *shapes)
    assert qad.plan(text, *shapes) is first
    assert calls(lambda: qad.plan(text, *shapes)) < 200  # the shapes are looked at, and nothing is planned


def test_threads_share_the_cache():
    find_plan.cache_clear()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(qad.plan("ij,jk,kl->il", (2, 3), (3, 4), (4, 5))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_picture():
    p = qad.plan("abc,cd,bde->ae", (4, 5, 6), (6, 7), (5, 7, 8), variables=[1])
    picture = p.draw()
    assert all(f">{term}<" in picture.svg for term in ("abc", "cd", "bde", "ae", f"{p.steps[0][2].flops:,}"))
    assert f"{p.flops_with_gradient:,}" in picture.alt
    visited = [depends for pair in p.pairs for depends in (p.depends[pair[0]], p.depends[pair[1]])]
    assert picture.svg.count('stroke-width="2.4"') == sum(visited)  # thick where a gradient goes
    assert qad.plan("aa->a", (2, 2)).draw().svg.count("<rect") == 2  # the sheet, and one tensor
