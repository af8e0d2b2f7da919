"""What the translator of kernels once took for something else, or let pass."""

import textwrap
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import qad
from qad.circuit.engines.compiled import kernels as circuit_kernels
from qad.native import INT, Block, Kernels, kernels
from tests.fuzz import native as fuzz


def program(tmp_path, body):
    """A kernel of some lines, and its `Kernels`."""
    path = tmp_path / "program.py"
    path.write_text(fuzz.HEAD + textwrap.indent(body, "    ") + "\n" + fuzz.TAIL)
    names = {"__name__": "program"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["kernel"], Kernels(names["kernel"], files=[path], fast=False)


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # of a bool, which Python still means
@pytest.mark.parametrize("body", [
    "u = a / (b | 1)", "a = a // -3 + a % -4", "a = (a // (b | 1)) % ((b | 1) - 50)", "a = +b", "a = ~b",
    "b = ~(a < b)", "while False:\n    a = 1", "for y in (1, 2):\n    a += y\nelse:\n    b = 7", "u = 0 if p else 0.5",
    "a = (1, 2, 3)[1:][0]", "p = not (a and b)",
])  # fmt: skip
def test_kernels_mean_what_python_means(tmp_path, body):
    """Whole numbers were divided without a rest, ``+x`` and ``~x`` were ``not x``, ``while False`` ran for ever."""
    function, made = program(tmp_path, body)
    assert not fuzz.compare(function, made, made.text("double"), np.random.default_rng(0))


@pytest.mark.parametrize("body, message", [
    ("a = 0.5", "0.5 where i64"), ("p = 7", "7 where i1"), ("p = a", "i64 where i1"), ("a = 2**64", "where i64"),
    ("a = b or 5", "the value of `and` or `or`"), ("p = a is b", "no Is"), ("a = bool(b)", "bool of what is not known"),
    ("a = first(least=2, x=x)", "by keyword"), ("a = first(x[::2], 0)", "a slice with a step"),
    ("a = x[-1]", "have no element"), ("a = x[1, 0]", "have no element"), ("a = len(x[1:-1])", "counted from the end"),
    ("a = [k for k in (1, 2) if k > 1][0]", "a condition in a compre"), ("p = a in range(1, 9, 2)", "Range"),
    ("for i, y in enumerate(x):\n    a += i", "Array where a tuple"), ("a, b, c = x[0:3]", "Array where a tuple"),
    ("for i in range(3):\n    a += i\nelse:\n    b = 1", "a loop with an else"), ("if w:\n    a = 1", "is a Complex"),
    ("for i in range(9):\n    for y in (1, 2):\n        if a > y:\n            break", "is not left"),
    ("if a > b:\n    new = c\na = new", "new may have no value"), ("for i in range(a):\n    b = i\na = i", "i may"),
    ("a = len(HEAD)\nHEAD = 1", "HEAD"), ("a = 2 ** b", "only powers of 2.0"), ("a = b // 0", "no FloorDiv by 0"),
    ("for i in range(0, 9, 0):\n    a += 1", "must not be zero"), ("u = min(r)", "missing 1 required"),
])  # fmt: skip
def test_what_kernels_cannot_say_is_refused(tmp_path, body, message):
    with pytest.raises((TypeError, ValueError, KeyError), match=message):
        program(tmp_path, body)[1].text("double")


def holding(number):
    """A kernel that closes over a number."""

    def kernel(out: Block(INT)):
        out[0] = 2 * number

    return Kernels(kernel, files=[Path(__file__)], fast=False)


def test_machine_code_goes_by_closures_and_by_the_size_of_objects(monkeypatch):
    """Two kernels of one source were one file, and Pythons with larger objects read that of others."""
    before = holding(1).version("double", "machine")
    assert before != holding(2).version("double", "machine")
    monkeypatch.setattr(kernels, "HEAD", kernels.HEAD + 16)
    assert before != holding(1).version("double", "machine")


@pytest.mark.parametrize("name", ["rounds", "tangents"])
def test_optimizations_keep_numbers_that_are_not_finite(name):
    """Kernels were compiled for finite numbers only: what came of others was not defined."""
    text = getattr(circuit_kernels, name).text("double")
    assert "contract" in text and not any(flag in text for flag in (" fast ", "nnan", "ninf"))


GATES = ["rx", "ry", "rz", "p", "crx", "crz", "cp", "rxx", "rzz"]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("gate", GATES)
def test_angles_that_are_not_finite_are_seen(gate, bad):
    def energy(t, engine):
        c = qad.Circuit(3, engine=engine).h(range(3)).ry(t[0], 0)
        getattr(c, gate)(t[1], *range(2 if len(gate) > 2 or gate == "cp" else 1))
        return c.rz(t[2], [1]).expectation(qad.PauliSum({"XYI": 1.0, "ZZX": 0.5, "IXX": 0.25}))

    t = np.array([0.3, bad, 0.5])
    with np.errstate(invalid="ignore"):
        found, expected = (qad.value_and_grad(energy)(t, engine) for engine in ("compiled", "numpy"))
        assert np.isnan(expected[0]) and np.isnan(found[0])
        assert not np.isfinite(found[1][~np.isfinite(expected[1])]).any()
