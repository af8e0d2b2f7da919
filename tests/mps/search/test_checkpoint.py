"""Checkpoints: resuming, refusing what does not belong, surviving a kill."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import ground_state, heisenberg, ising

ROOT = Path(qad.__file__).parents[1]
SCRIPT = """
import sys, qad

def note(state, energy):
    print(float(energy), flush=True)

qad.mps.ground_state(qad.mps.heisenberg(30), 12, "lbfgs", checkpoint=sys.argv[1], callback=note, tol=0.0)
"""


@pytest.mark.parametrize("method", ["lbfgs", "riemannian", "dmrg", "dmrg2", "tebd", "tdvp"])
@pytest.mark.sampled(1)
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


@pytest.mark.slow
@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("steps", [2000, 2], ids=["finished", "interrupted"])
@pytest.mark.parametrize("method", ["dmrg2", "dmrg", "lbfgs", "riemannian", "tdvp"])
def test_a_larger_bond_goes_on_growing(tmp_path, method, steps, conserve):
    """A search that takes the end of the one of bond 2 for its own is wrong by more than 1e-3."""
    H, options = heisenberg(4), {"checkpoint": tmp_path / "search.npz", "conserve": conserve}
    exact = -1.6160254037844386
    small = ground_state(H, 2, method, maxiter=steps, **options)
    assert small.energy > exact + 1e-3
    large = ground_state(H, 4, method, **options)
    np.testing.assert_array_equal(large.history[: len(small.history)], small.history)
    assert large.converged and large.energy == pytest.approx(exact, abs=1e-8)


def test_the_critical_chain_grows_from_bond_2_to_16(tmp_path):
    """Ising, n = 12: -14.91159 at bond 2, where a search of bond 16 with the same file stopped, too."""
    path = tmp_path / "search.npz"
    assert ground_state(ising(12, 1.0), 2, checkpoint=path).energy == pytest.approx(-14.91159, abs=1e-5)
    found = ground_state(ising(12, 1.0), 16, checkpoint=path)
    assert found.converged and found.energy == pytest.approx(1 - 1 / np.sin(np.pi / 50), abs=1e-8)


def test_a_smaller_tolerance_goes_on(tmp_path):
    path = tmp_path / "search.npz"
    rough = ground_state(heisenberg(12), 32, tol=1e-3, checkpoint=path)
    fine = ground_state(heisenberg(12), 32, checkpoint=path)
    np.testing.assert_array_equal(fine.history[: len(rough.history)], rough.history)
    assert fine.converged and fine.energy == pytest.approx(-5.1420906328405, abs=1e-9)


def other(H=None, bond=8, method="auto", **keywords):
    return H or heisenberg(6), bond, method, keywords


@pytest.fixture(scope="module")
def states():
    return [qad.mps.MPS.random(6, 2, dtype=float, seed=seed) for seed in (0, 1)]


@pytest.mark.parametrize(
    "what, ask",
    [
        ("operator", lambda a, b: other(ising(6, 1.0), excluded=[a])),
        ("method", lambda a, b: other(method="lbfgs", excluded=[a])),
        ("conserve", lambda a, b: other(conserve="Sz")),
        ("excludes other states", lambda a, b: other()),
        ("excludes other states", lambda a, b: other(excluded=[b])),
        ("excludes other states", lambda a, b: other(excluded=[a, b])),
        ("weight", lambda a, b: other(excluded=[a], weight=3.0)),
        ("start=", lambda a, b: other(excluded=[a], start=b)),
        ("bond is 8, and 4 is smaller", lambda a, b: other(bond=4, excluded=[a])),
        ("dtype", lambda a, b: other(dtype=complex, excluded=[a])),
    ],
)
def test_files_of_other_searches_are_refused_and_left_alone(tmp_path, states, what, ask):
    path = tmp_path / "search.npz"
    ground_state(heisenberg(6), 8, checkpoint=path, excluded=states[:1], maxiter=2)
    before = path.read_bytes()
    H, bond, method, keywords = ask(*states)
    with pytest.raises(ArgumentError, match=f"belongs to another search: .*{what}.*; give this search a file of its"):
        ground_state(H, bond, method, checkpoint=path, **keywords)
    assert path.read_bytes() == before


@pytest.mark.parametrize("keywords", [{"sector": 2}, {"conserve": None}, {"conserve": "parity"}])
def test_files_of_other_sectors_are_refused_and_left_alone(tmp_path, keywords):
    path = tmp_path / "search.npz"
    ground_state(heisenberg(6), 8, checkpoint=path, conserve="Sz", maxiter=2)
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match="belongs to another search: its (conserve|sector)"):
        ground_state(heisenberg(6), 8, checkpoint=path, **({"conserve": "Sz"} | keywords))
    assert path.read_bytes() == before


@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.sampled(1)
def test_equal_states_are_known_in_any_gauge(tmp_path, conserve):
    """A script that is run again finds its start and its excluded states anew, equal but for rounding and gauge."""
    H, path = heisenberg(6), tmp_path / "search.npz"
    lowest = ground_state(H, 8, conserve=conserve).state
    start = qad.mps.MPS.product([0, 1] * 3, dtype=float, conserve=conserve)
    first = ground_state(H, 8, start=start, excluded=[lowest], checkpoint=path, maxiter=2)
    again = -1.0 * lowest.canonicalize(3)
    second = ground_state(H, 8, start=start.canonicalize(2), excluded=[again], checkpoint=path)
    np.testing.assert_array_equal(second.history[:3], first.history)
    assert second.energy == pytest.approx(ground_state(H, 8, excluded=[lowest], start=start).energy, abs=1e-9)


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda mark: "no json", "damaged"),
        (lambda mark: "[1, 2]", "damaged"),
        (lambda mark: json.dumps({k: v for k, v in mark.items() if k != "sites"}), "no entry 'sites'"),
        (lambda mark: json.dumps({k: v for k, v in mark.items() if k != "extra"}), "no entry 'extra'"),
        (lambda mark: json.dumps(mark | {"sites": 9}), "no entry 'site_4'"),
        (lambda mark: json.dumps(mark | {"sites": "four"}), "damaged"),
        (lambda mark: json.dumps(mark | {"sites": 3}), "damaged"),
        (lambda mark: json.dumps(mark | {"extra": {"bond": "large"}}), "no numbers"),
        (lambda mark: json.dumps(mark | {"bond": None}), "damaged"),
        (lambda mark: json.dumps(mark | {"excluded": [3]}), "another search: it excludes"),
    ],
)
def test_crafted_marks_are_refused_in_one_sentence(tmp_path, change, what):
    path = tmp_path / "search.npz"
    ground_state(heisenberg(4), 4, checkpoint=path, maxiter=2)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {"mark": np.array(change(json.loads(str(arrays["mark"]))))}))
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match=f"search.npz .*{what}"):
        ground_state(heisenberg(4), 4, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize(
    "entry, value, what",
    [
        ("history", np.array([-1.0, np.nan]), "its history is no list of finite energies"),
        ("history", np.array(["low"]), "its history is no list of finite energies"),
        ("mark", {"extra": {"bond": float("nan")}}, "no numbers"),
        ("mark", {"sites": "four"}, "damaged"),
        ("mark", {"sites": 3}, "damaged"),
        ("mark", {"bond": -1}, "its bond is -1"),
        ("mark", {"sector": [2]}, "another search"),
        ("mark", {"conserve": ["N"]}, "another search"),
    ],
)
def test_crafted_entries_are_refused_in_one_sentence(tmp_path, conserve, entry, value, what):
    """A history with a NaN began a search that ended at once."""
    path = tmp_path / "search.npz"
    ground_state(heisenberg(4), 4, checkpoint=path, maxiter=2, conserve=conserve)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[entry] = np.array(json.dumps(json.loads(str(arrays["mark"])) | value)) if entry == "mark" else value
    np.savez(path, **arrays)
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match=f"search.npz .*{what}"):
        ground_state(heisenberg(4), 4, checkpoint=path, conserve=conserve)
    assert path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_charges_and_legs_of_a_crafted_file_are_refused(tmp_path, conserve):
    path = tmp_path / "search.npz"
    ground_state(heisenberg(4), 4, checkpoint=path, maxiter=2, conserve=conserve)
    with np.load(path) as file:
        arrays = dict(file)
    for name in [name for name in arrays if name not in ("history", "mark")]:
        for other in (np.full(arrays[name].shape, np.nan), np.zeros(0), np.array("x"), np.array([10**6])):
            np.savez(path, **(arrays | {name: other}))
            with pytest.raises(ArgumentError, match="search.npz") as caught:
                ground_state(heisenberg(4), 4, checkpoint=path, conserve=conserve)
            assert "\n" not in str(caught.value)


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
