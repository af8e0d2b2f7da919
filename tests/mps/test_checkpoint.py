"""Checkpoints: resuming, refusing what does not belong, surviving a kill."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import ground_state, heisenberg

ROOT = Path(qad.__file__).parents[1]
SCRIPT = """
import sys, qad

def note(state, energy):
    print(float(energy), flush=True)

qad.mps.ground_state(qad.mps.heisenberg(30), 12, "lbfgs", checkpoint=sys.argv[1], callback=note, tol=0.0)
"""


@pytest.mark.parametrize("method", ["lbfgs", "riemannian", "dmrg", "dmrg2", "tebd", "tdvp"])
def test_a_search_goes_on_where_it_stopped(tmp_path, method):
    H, options = heisenberg(6), {"checkpoint": tmp_path / "search.npz"}
    error = 1e-9
    if method == "tebd":  # whose steps grow short before it is accurate
        options["tol"], error = 1e-5, 1e-4
    first = ground_state(H, 8, method, maxiter=3, **options)
    assert len(first.history) == 4
    second = ground_state(H, 8, method, seed=5, **options)
    np.testing.assert_array_equal(second.history[:4], first.history)
    assert second.energy == pytest.approx(-2.4935771338879, abs=error)
    third = ground_state(H, 8, method, maxiter=len(second.history) - 1, **options)
    assert third.energy == pytest.approx(second.energy, abs=error)
    assert "maxiter" in third.message


def test_files_of_other_searches_are_refused(tmp_path):
    path = tmp_path / "search.npz"
    ground_state(heisenberg(4), 4, checkpoint=path, maxiter=2)
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match="operator"):
        ground_state(qad.mps.ising(4, 1.0), 4, checkpoint=path)
    with pytest.raises(ArgumentError, match="method"):
        ground_state(heisenberg(4), 4, "lbfgs", checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:300] + b"x" + b[301:]])
def test_damaged_files_are_refused_and_left_alone(tmp_path, damage):
    path = tmp_path / "search.npz"
    ground_state(heisenberg(4), 4, checkpoint=path, maxiter=2)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match="damaged"):
        ground_state(heisenberg(4), 4, checkpoint=path)
    assert path.read_bytes() == before


def test_a_killed_search_loses_the_last_step_at_most(tmp_path):
    path = tmp_path / "search.npz"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    seen = [float(process.stdout.readline()) for _ in range(8)]
    process.send_signal(signal.SIGKILL)
    seen += [float(line) for line in process.communicate()[0].split()]
    resumed = ground_state(heisenberg(30), 12, "lbfgs", checkpoint=path, maxiter=len(seen) + 3)
    np.testing.assert_allclose(resumed.history[1 : len(seen) + 1], seen, rtol=1e-12)
