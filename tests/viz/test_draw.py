"""Pictures of graphs: what they show is what was computed, and cards do not cover each other."""

import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.viz.folding import folded
from qad.viz.graph import Card, cards, summary
from qad.viz.layers import AISLE, GAP, arrange
from qad.viz.tape_graph import GRADIENT, VALUE

SVG = "{http://www.w3.org/2000/svg}"


def program(x, z):
    b = qad.zeros(3)
    b[:2] = np.sin(x)
    b[2] = qad.abs2(z)
    s = np.linalg.svd(np.outer(x, x) + np.eye(2))[1]
    return (b * b).sum() + s[0] * x[1] + (z * (1 - 2j)).real


def recorded():
    x, z = qad.tensor([0.5, -1.0], requires_grad=True), qad.tensor(1 + 2j, requires_grad=True)
    return program(x, z), x, z


def texts(picture, colour):
    root = ElementTree.fromstring(picture.svg)
    return [t.text for t in root.iter(f"{SVG}text") if t.get("fill") == colour]


def test_values_are_green_and_gradients_red():
    y, x, z = recorded()
    picture = qad.draw(y, names={"x": x, "z": z})
    gx, gz = qad.grad(program, (0, 1))(x.numpy(), z.numpy()[()])
    assert {summary(y), summary(x), summary(z), summary(np.sin([0.5, -1.0]))} <= set(texts(picture, VALUE))
    assert {summary(gx), summary(gz), "1"} <= set(texts(picture, GRADIENT))
    assert {"x", "z", "sin", "abs2", "svd", "[:2] =", "[0]", "+"} <= set(texts(picture, "#1f2328"))
    assert "1-2j" in texts(picture, "#6a737d")
    np.testing.assert_array_equal(x.numpy(), [0.5, -1.0])
    y.backward()  # the graph is still there
    np.testing.assert_allclose(x.grad, gx)


def test_cards_do_not_overlap():
    rng = np.random.default_rng(0)
    parents = [[]] + [sorted(set(rng.integers(0, k, 2).tolist())) for k in range(1, 40)]
    sizes = rng.uniform(10, 60, (40, 2)).tolist()
    places, edges = arrange(parents, sizes)
    for layer in range(max(p.layer for p in places) + 1):
        column = sorted((p for p in places if p.layer == layer), key=lambda p: p.y)
        for one, two in pairwise(column):
            assert two.y - one.y >= (one.height + two.height) / 2 + GAP - 1e-9
    assert len(edges) == sum(map(len, parents))
    for path in edges:
        assert [p.layer for p in path] == list(range(path[0].layer, path[-1].layer + 1))
        for one, two in pairwise(path):
            assert two.x - one.x >= (one.width + two.width) / 2 + AISLE - 1e-9


def test_what_cannot_be_drawn():
    y, x, _ = recorded()
    y.backward()
    with pytest.raises(qad.errors.FreedGraphError):
        qad.draw(y)
    with pytest.raises(qad.errors.ArgumentError, match=r"qad\.tensor"):
        qad.draw(np.ones(2))
    for _ in range(500):
        x = x + 1.0
    with pytest.raises(qad.errors.ArgumentError, match="at most"):
        qad.draw(x)


def test_names_are_those_of_recorded_tensors():
    y = np.sum(qad.tensor([1.0], requires_grad=True))
    for other in (3, np.ones(1), qad.tensor([1.0])):
        with pytest.raises(ArgumentError, match="names are"):
            qad.draw(y, names={"x": other})


def test_values_alone_where_there_is_no_gradient():
    x = qad.tensor(np.ones((3, 3)) * 1j, requires_grad=True)
    picture = qad.draw(x @ x)
    assert not texts(picture, GRADIENT)
    assert texts(picture, VALUE) == ["3×3  |·| = 3", "3×3  |·| = 9"]
    inside = qad.vjp(lambda x: len(cards(np.exp(x)[0], {})) * x, np.ones(2))[0]
    np.testing.assert_array_equal(inside, 3)


def test_no_library_is_needed():
    code = "import sys, qad; qad.draw(qad.tensor([1.0], requires_grad=True) * 2); print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False"]


def test_repeated_steps_are_folded():
    x = qad.tensor(0.5, requires_grad=True)
    y = x
    for _ in range(60):
        y = np.sin(y) * x + 0.1
    picture = qad.draw(y, names={"x": x})
    words = texts(picture, "#1f2328")
    assert repr(picture) == "<Picture: graph of 181 operations>"
    assert len(words) < 12
    assert words.count("· · ·") == 1
    more = next(text for text in texts(picture, "#6a737d") if "more" in text)
    steps, operations = (int(word) for word in more.split() if word.isdigit())
    shown = sum(word in ("sin", "×", "+") for word in words)
    assert steps * operations + shown == 180


def test_folded_steps_have_leaves_of_their_own():
    tensors = [qad.tensor(a, requires_grad=True) for a in qad.mps.MPS.random(30, 2, seed=0)]
    y = np.ones(1)
    for a in tensors:
        y = (y @ a[:, 0]) * 2.0
    words = texts(qad.draw(y[0].real), "#1f2328")
    assert words.count("leaf") < 6
    assert len(words) < 30


def test_folds_leave_small_graphs_and_those_without_repeats():
    chain = [Card("leaf", "leaf", "", "", "", [])]
    chain += [Card("sin", "operation", "", "", "", [k]) for k in range(38)]
    assert folded(chain) == chain
    rng = np.random.default_rng(0)
    others = [
        Card("ab"[k % 2] * int(rng.integers(1, 30)), "operation", "", "", "", [k - 1] if k else []) for k in range(60)
    ]
    assert len(folded(others)) > 40
    parents = folded(chain + [Card("sin", "operation", "", "", "", [k]) for k in range(38, 90)])
    assert [box.parents for box in parents] == [[], [0], [1], [2]]
