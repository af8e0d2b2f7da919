"""What a run of the compiled loop does besides numbers: threads, and what is loaded."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import qad
from qad.frozen import passes
from tests.frozen.run.compiled.running import WITHOUT, normal

pytest.importorskip("llvmlite")


def steps(x):
    """Functions that overflow, divide by zero, and have invalid arguments, each where it is told."""
    y = np.exp(x[0] * 1.0) + np.log(x[1] * 1.0) + np.sqrt(x[2] * 1.0) + 1 / (x[3] * 1.0)
    for _ in range(8):
        y = y * 0.5 + 1
    return y


FINE = (1.0, 1.0, 1.0, 1.0)


def point(entries):
    """Vectors, of which one has the entry in question."""
    x = np.ones((4, 5))
    x[:, 2] = entries
    return x


@pytest.mark.parametrize("size", [5, 1 << 15])
def test_threads(size):
    """Every thread has a table of its own."""
    frozen = qad.freeze(lambda x: steps(x) * np.sin(x[0]))
    points = [np.abs(normal(4, size, seed=seed)) + 0.5 for seed in range(16)]
    frozen(points[0])
    expected = [frozen(x) for x in points]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for a, b in zip(pool.map(frozen, points), expected, strict=True):
                np.testing.assert_array_equal(a, b)


def test_a_pass_that_can_be_left_out():
    frozen = qad.freeze(steps, passes=WITHOUT)
    frozen(point(FINE))
    assert not frozen.program.counts.get("compiled")
    assert passes.PASSES[-1] == "compiled"


LOADED = """
import sys
import numpy as np
import qad
f = qad.freeze(qad.value_and_grad(lambda a, b: np.sum(a @ b)))
f(np.eye(3), np.eye(3)), f(np.eye(3), np.eye(3))
print([name for name in ("llvmlite", "qad.native", "qad.frozen.run.compiled.runs") if name in sys.modules])
"""


def test_a_function_of_few_steps_loads_nothing():
    ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


WITHOUT_LLVM = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
import qad
from importlib.util import find_spec
from qad.contract.run import compiler
compiler.has_compiler.cache_clear()
compiler.find_spec = lambda name: None
f = qad.freeze(lambda x: sum(np.sin(x * k) for k in range(20)))
x = np.ones(3)
f(x), f(x)
print(f.stats.replays, f.program.counts.get("compiled", 0), "qad.frozen.run.compiled.runs" in sys.modules)
"""


def test_numpy_alone_does():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_LLVM], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "0", "False"]
