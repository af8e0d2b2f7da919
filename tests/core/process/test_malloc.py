"""Importing qad changes nothing in the process; freed memory is kept from the first large gradient on, if it may be."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.process import malloc as memory

ROOT = Path(__file__).parents[3]
GLIBC = "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()) and bool(os.confstr("CS_GNU_LIBC_VERSION"))

# `mapped(n)`: whether a block of n MB comes from the system and goes back there, as the C library counts such blocks
COUNT = """
import ctypes
import numpy as np
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]
library = ctypes.CDLL(None)
library.mallinfo2.restype = Info
def mapped(n):
    before = library.mallinfo2().hblks
    block = np.empty(n << 20, np.uint8)
    return library.mallinfo2().hblks > before
def gradient():
    qad.grad(lambda x: np.sum(x * x))(np.ones(10_000))
"""


def said(program, **environment):
    """What a program of its own process prints, as a list of words."""
    environment = {**os.environ, **environment}
    command = [sys.executable, "-c", COUNT + program]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def has_mallinfo2():
    return GLIBC and tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2])) >= (2, 33)


counted = pytest.mark.skipif(not has_mallinfo2(), reason="needs mallinfo2 of the GNU C library")


@counted
@pytest.mark.parametrize("word", ["auto", pytest.param(None, marks=pytest.mark.slow)])
def test_the_first_large_gradient_and_not_the_import_makes_the_library_keep_memory(word):
    program = "import qad; print(mapped(2)); qad.grad(np.sum)(np.ones(100)); print(mapped(3));"  # the library learns
    program += "gradient(); print(mapped(4), mapped(20))"
    assert said(program, **{"QAD_KEEP_MEMORY": word} if word else {}) == ["True", "True", "False", "False"]


@pytest.mark.slow
@counted
def test_the_environment_switches_it_off_and_on():
    program = "import qad; print(mapped(2)); gradient(); print(mapped(3))"
    assert said(program, QAD_KEEP_MEMORY="0") == ["True", "True"]
    assert said(program, QAD_KEEP_MEMORY="1") == ["False", "False"]
    with pytest.raises(subprocess.CalledProcessError):
        said("import qad", QAD_KEEP_MEMORY="perhaps")


@counted
def test_config_switches_it_off_and_on():
    program = "import qad; qad.config(keep_memory=False); gradient(); print(mapped(2));"
    program += "qad.config(keep_memory=True); print(mapped(2)); qad.config(keep_memory=False); print(mapped(5))"
    assert said(program) == ["True", "False", "True"]


@pytest.mark.slow
def test_nothing_large_is_allocated_by_the_import():
    """NumPy's arrays, and all else that Python allocates."""
    program = """
import tracemalloc, scipy.linalg, opt_einsum, optree
tracemalloc.start()
import qad
print(max(trace.size for trace in tracemalloc.take_snapshot().traces))
tracemalloc.stop()
print(ctypes.__name__)
"""
    assert int(said(program)[0]) < 1 << 20


# -- in this process, where nothing is told to the library ------------------------------------------


@pytest.fixture
def told(monkeypatch):
    """The parameters that are set meanwhile; afterwards everything is as it was."""
    calls, before = [], (memory.waiting, memory._now, qad.config().keep_memory)
    monkeypatch.setattr(memory, "_mallopt", lambda parameter, size: calls.append((parameter, size)))
    yield calls
    qad.config(keep_memory=before[2])
    memory.waiting, memory._now = before[:2]


def test_the_library_is_told_once(told):
    memory.waiting, memory._now = True, memory.USUAL
    for _ in range(3):
        qad.grad(lambda x: np.sum(x * x))(np.ones(10_000))
    assert told == [(-3, 32 << 20), (-1, 64 << 20)]
    qad.config(keep_memory=False)
    qad.config(keep_memory=False)
    assert told[2:] == [(-3, 128 << 10), (-1, 128 << 10)]
    qad.grad(lambda x: np.sum(x * x))(np.ones(10_000))
    assert len(told) == 4


def taped(x):
    """A gradient in PyTorch's style."""
    x = qad.tensor(x, requires_grad=True)
    np.sum(x * x).backward()


def rotated(angles):
    """The gradient of a circuit, whose state is what is large."""
    H = qad.PauliSum({"Z" * 12: 1.0})
    return qad.grad(lambda t: qad.Circuit(12).ry(t, range(12)).expectation(H))(angles)


GRADIENTS = {
    "vjp": lambda: qad.vjp(np.sin, np.ones(10_000))[1](np.ones(10_000)),
    "backward": lambda: taped(np.ones(10_000)),
    "jacobian": lambda: qad.jacobian(lambda x: x * x)(np.ones(100)),
    "circuit": lambda: rotated(np.ones(12)),
}


@pytest.mark.parametrize("kind", GRADIENTS)
def test_gradients_of_every_kind_are_noticed(told, kind):
    memory.waiting, memory._now = True, memory.USUAL
    GRADIENTS[kind]()
    assert told == list(memory.KEPT.items()) and not memory.waiting


def test_small_gradients_do_not_matter(told):
    memory.waiting = True
    qad.grad(lambda x: np.sum(x * x))(np.ones(1000))
    assert not told


def test_settings_are_told(told):
    assert qad.config(keep_memory=False).keep_memory is False
    assert qad.config().keep_memory is False
    assert qad.config(keep_memory="auto").keep_memory == "auto"
    assert repr(qad.config()) == "Settings(keep_memory='auto', messages=True, progress=True, threads='auto')"


@pytest.mark.parametrize("value", ["yes", 2, 1.0, [], "1"])
def test_other_settings_are_refused(told, value):
    before = qad.config()
    with pytest.raises(ArgumentError, match='write "auto", True or False'):
        qad.config(keep_memory=value)
    assert qad.config() == before


def test_other_c_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(os, "confstr_names", {})
    memory._mallopt(-3, 1)  # which would make every allocation a mapping
    monkeypatch.delattr(os, "confstr_names")
    memory._mallopt(-3, 1)
