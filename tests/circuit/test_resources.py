"""What circuits take: memory of a gradient, and compiled code that is as new as its sources."""

import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import qad
from tests.circuit.dense import ENGINES, needs_compiler


def layers(n, depth, engine="auto"):
    """A circuit of rotations and rings of CNOTs, and its Ising energy."""
    c = qad.Circuit(n, engine=engine)
    for _ in range(depth):
        c.ry(np.linspace(0.1, 1.0, n), range(n)).rz(np.linspace(1.0, 2.0, n), range(n))
        c.cx(range(n), [*range(1, n), 0])
    H = qad.PauliSum.on_sites(n, [(1.0, "ZZ", (q, (q + 1) % n)) for q in range(n)] + [(0.5, "X", (0,))])
    return c, lambda theta: c.with_parameters(theta).expectation(H)


@needs_compiler
@pytest.mark.parametrize("depth", [10, 100])
def test_a_gradient_takes_three_states(depth):
    """The state on the tape, a copy from which gates are taken back, and the cotangent, in place.

    The rest is what one chunk takes on each thread, whatever the size of the state, and numbers: 100 bytes a gate.
    """
    from qad.circuit.compiled.blocking import LOCAL
    from qad.circuit.compiled.jit import numba

    n = 17
    c, energy = layers(n, depth)
    gradient, theta = qad.value_and_grad(energy), np.array(c.parameters)
    gradient(theta)
    tracemalloc.start()
    try:
        gradient(theta)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    chunks = numba.config.NUMBA_NUM_THREADS * 2**LOCAL * (6 * 8 + 4)
    assert peak < 3 * 2**n * 16 + chunks + 120 * len(c) + 1e5


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cotangent_of_someone_else_is_left_alone(engine):
    c, _ = layers(3, 1, engine)
    state, pullback = qad.vjp(lambda theta: c.with_parameters(theta).state(), np.array(c.parameters))
    g = 1j * state.conj()
    before = g.copy()
    first, again = pullback(g), pullback(g)
    np.testing.assert_array_equal(g, before)
    np.testing.assert_array_equal(first, again)


@needs_compiler
def test_kernels_call_only_files_of_their_version():
    """What they call is part of their machine code, from whatever file."""
    from qad.circuit.compiled import jit

    for path in Path(jit.__file__).parent.glob("*.py"):
        text = path.read_text("utf-8")
        if "compiled.jit import in" in text:
            assert set(re.findall(r"^from (qad[\w.]*) import|^import (qad)", text, re.MULTILINE)) <= {
                (f"qad.circuit.compiled.{file.stem}", "") for file in path.parent.glob("*.py")
            }


HELPER = """
from qad.circuit.compiled.jit import inner

@inner
def helper(x):
    return x + {}
"""

KERNEL = """
from pathlib import Path

from helper import helper
from qad.circuit.compiled.jit import jit
from qad.contract.kernel_version import version_of

def kernels(version):
    @jit
    def kernel(x):
        return helper(x) if version else x

    return kernel

kernel = kernels(version_of([Path("helper.py")]))
print(kernel(1), "loaded" if kernel.stats.cache_hits else "compiled")
"""


@needs_compiler
def test_machine_code_is_as_new_as_the_files_that_it_calls(tmp_path):
    """A function that closes over their version is compiled anew after one has changed, and only then."""
    (tmp_path / "kernel.py").write_text(KERNEL, "utf-8")
    root = str(Path(qad.__file__).parents[1])
    environment, found = {**os.environ, "PYTHONPATH": root, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}, []
    for step in ("1", "1", "2"):
        (tmp_path / "helper.py").write_text(HELPER.format(step), "utf-8")
        command = [sys.executable, "-B", "kernel.py"]
        run = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
        found.append(run.stdout.split())
    assert found == [["2", "compiled"], ["2", "loaded"], ["3", "compiled"]]
