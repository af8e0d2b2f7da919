"""The registry of rules: a rule may be replaced."""

import inspect

import numpy as np
from scipy.special import huber

import qad
from qad.core.registry.define import PRIMITIVES
from qad.core.tape.dispatch import UFUNCS
from qad.extend import defvjp, rule


def gradients():
    """Of operands of equal shapes, and of broadcast ones, which another primitive records."""
    x = np.array([1.0, 2.0])
    equal = qad.grad(lambda x: huber(x, np.ones(2)).sum())(x)
    spread = qad.grad(lambda x: huber(x, np.ones((3, 2))).sum())(x)
    return equal.tolist(), spread.tolist()


def test_a_replaced_rule_serves_every_road():
    try:
        defvjp(huber, lambda g, y, a, b: 1.0 * g, lambda g, y, a, b: 0.0 * g, elementwise=True)
        assert gradients() == ([1.0, 1.0], [3.0, 3.0])
        defvjp(huber, lambda g, y, a, b: 5.0 * g, lambda g, y, a, b: 0.0 * g, elementwise=True)
        assert gradients() == ([5.0, 5.0], [15.0, 15.0])
    finally:
        del PRIMITIVES[huber], UFUNCS[huber]


def test_defvjp_has_the_keywords_of_the_contract_and_no_others():
    keywords = [p.name for p in inspect.signature(defvjp).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert keywords == ["argnums", "shared", "linear", "elementwise"]
    known = [p.name for p in inspect.signature(rule).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert {*keywords, "forward", "batch", "shows", "fresh", "name"} <= {*known}
