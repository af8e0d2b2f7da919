"""A rule is added in two places: the recipe of CONTRIBUTING.md, run, is all that the rest of the house asks for."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core.registry.define import PRIMITIVES
from qad.core.trees import flatten
from tests.rules.test_batches import LOOPING, batch, looped
from tests.rules.test_registry import stale

PAGE = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text("utf-8")
pytestmark = pytest.mark.usefixtures("registries_as_before")


def recipe():
    """What the examples of the section define: two functions with their rules, and their cases."""
    (section,) = re.findall(r"^## A rule in two places\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    names = {"__name__": "recipe"}
    for example in doctest.DocTestParser().get_examples(section):
        exec(example.source, names)
    return names


def test_the_recipe_is_all_that_a_rule_takes(monkeypatch):
    before = set(PRIMITIVES)
    names = recipe()
    added = set(PRIMITIVES) - before
    assert {p.__name__ for p in added} == {"lorentzian", "cosines"}
    recorded = [node for case in names["CASES"] for node in case.nodes()]
    assert added <= {node[1].fn for node in recorded}
    assert [stale(node) for node in recorded if node[1].fn in added and node[1].fresh] != []
    assert not any(stale(node) for node in recorded if node[1].fn in added)
    assert looped(names["CASES"], 2, monkeypatch) <= LOOPING


@pytest.mark.parametrize("kind", [float, complex])
def test_it_serves_every_transform(kind):
    names = recipe()
    x = np.arange(1.0, 7.0).reshape(2, 3).astype(kind)
    cosines, lorentzian = names["cosines"], names["lorentzian"]

    def f(x):
        return np.sum(qad.abs2(cosines(lorentzian(x), x)))

    qad.check_grads(f, (x,), order=2)
    g = qad.grad(f)
    frozen = qad.freeze(g)
    np.testing.assert_allclose(frozen(x), g(x), rtol=1e-13)
    np.testing.assert_allclose(frozen(2 * x), g(2 * x), rtol=1e-13)
    stacked = batch(x)
    np.testing.assert_allclose(qad.vmap(g)(stacked), np.stack([g(a) for a in stacked]), rtol=1e-12)
    assert flatten(qad.jvp(f, (x,), (x,)))[0][1] == pytest.approx(np.sum(g(x).conj() * x).real, rel=1e-12)
