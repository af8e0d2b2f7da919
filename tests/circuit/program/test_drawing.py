"""Drawings: what stands where."""

import re

import numpy as np
import pytest

import qad


def test_text():
    c = qad.Circuit(4).h(0).cx(0, 3).exp_pauli(0.25, "XY", (1, 2)).s(0).cry(0.3, 2, 3)
    c = c + qad.Circuit(4).t(1).sdg(2).h(0).inverse().swap(0, 2).iswap(1, 3)
    assert str(c).splitlines() == [
        "q0: ─H──●─────S────────H────────×──────────",
        "        │                       │",
        "q1: ────┼──X(0.25)─────T†───────┼──ISWAP:0─",
        "        │     │                 │     │",
        "q2: ────┼──Y(0.25)─────●─────S──×─────┼────",
        "        │              │              │",
        "q3: ────⊕───────────RY(0.3)────────ISWAP:1─",
    ]
    assert str(qad.Circuit(2).rzz(0.5, 0, 1).rxx(1.0, 1, 0)).splitlines() == [
        "q0: ─RZZ(0.5)──RXX(1)─",
        "        │        │",
        "q1: ─RZZ(0.5)──RXX(1)─",
    ]
    assert str(qad.Circuit(2)) == "q0: ─\n\nq1: ─"
    assert "θ0" in str(qad.Circuit(1).ry(np.zeros(3), 0))


def test_long_circuits_go_on_below():
    lines = str(qad.Circuit(2).ry(np.linspace(0, 1, 40), [0] * 40)).splitlines()
    assert max(map(len, lines)) <= 120
    assert sum(line.startswith("q1") for line in lines) > 2
    assert sum(line.count("RY") for line in lines) == 40


def test_picture():
    c = qad.Circuit(3).h(0).cx(0, 1).controlled(0).swap(1, 2).u3(0.1, 0.2, 0.3, 2)
    shown = c.draw()
    assert re.findall(r"<text[^>]*>([^<]*)<", shown.svg) == ["q0", "q1", "q2", "H", "U3(0.1, 0.2, 0.3)"]
    assert shown.svg.count("<circle") == 3  # two controls and a NOT
    figure = pytest.importorskip("matplotlib.figure").Figure()
    c.draw(figure.add_subplot())
    assert [text.get_text() for text in figure.axes[0].texts] == ["q0", "q1", "q2", "H", "U3(0.1, 0.2, 0.3)"]
