"""Files: whole whoever writes them at once, and refused in one sentence where they are not."""

import multiprocessing
import re
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.archive import put
from qad.core.errors import ArgumentError

PACKAGE = Path(qad.__file__).parent
STATES = [qad.mps.MPS.product([0, 1]), qad.mps.MPS.random(30, 8, seed=1)]


def save_often(path, number, times):
    for _ in range(times):
        STATES[number].save(path)


def whole(path):
    return len(qad.mps.MPS.load(path))


@pytest.mark.parametrize("pool", ["threads", "processes"])
@pytest.mark.sampled(1)
def test_what_is_saved_by_several_at_once_is_whole(tmp_path, pool):
    path = tmp_path / "state.npz"
    STATES[0].save(path)
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    make = ThreadPoolExecutor(2) if pool == "threads" else ProcessPoolExecutor(2, mp_context=context)
    with make as workers:
        busy = [workers.submit(save_often, path, number, 150) for number in (0, 1)]
        found = [whole(path)]
        while len(found) < 150 or not all(task.done() for task in busy):
            found.append(whole(path))
        for task in busy:
            task.result()
    assert {2, 30} >= set(found)
    assert [one.name for one in tmp_path.iterdir()] == ["state.npz"]


def test_a_failure_leaves_the_file_of_before_and_no_other(tmp_path):
    path = tmp_path / "state.npz"
    path.write_bytes(b"before")

    def fail(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(path, fail)
    assert path.read_bytes() == b"before" and [one.name for one in tmp_path.iterdir()] == ["state.npz"]


def test_every_saver_of_the_package_goes_through_one_function():
    words = re.compile(r"os\.replace\(|np\.savez?\(|\.write_(bytes|text)\(|open\(.*[\"'][wax]b?[\"']")
    writers = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if words.search(path.read_text())}
    assert writers <= {"archive.py"}


@pytest.mark.parametrize(
    "entry, value, what",
    [
        ("sharing", None, "no entry 'sharing'"),
        ("site_1", None, "no entry 'site_1'"),
        ("site_0", np.array(["x"]), "no numbers"),
        ("site_0", np.ones((1, 2, 5)), "bond between sites 0 and 1"),
        ("site_0", np.ones(3), "site 0 of the MPS has shape"),
        ("sharing", np.array([0, 2, 2]), "sharing"),
        ("sharing", np.array([-1, 0]), "sharing"),
        ("sharing", np.array([], int), "sharing"),
        ("sharing", np.array(["x"]), "invalid literal"),
    ],
)
def test_crafted_chain_files_are_refused_in_one_sentence(tmp_path, entry, value, what):
    path = tmp_path / "state.npz"
    qad.mps.MPS.random(3, 2).save(path)
    with np.load(path) as file:
        arrays = dict(file) | {entry: value}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ArgumentError, match=f"state.npz cannot be read: it is damaged.*{what}"):
        qad.mps.MPS.load(path)


@pytest.mark.parametrize("entry", ["names", "charges_1", "site_0_data", "site_0_legs", "site_1_charge"])
def test_crafted_files_of_definite_charge_are_refused_in_one_sentence(tmp_path, entry):
    path = tmp_path / "state.npz"
    qad.mps.MPS.product([0, 1, 0], conserve="Sz").save(path)
    with np.load(path) as file:
        arrays = dict(file)
    for change in ({}, {entry: np.array("x")}, {entry: np.ones((2, 2, 2))}):
        np.savez(path, **({name: arrays[name] for name in arrays if name != entry} | change))
        with pytest.raises(ArgumentError, match="state.npz cannot be read: it is damaged"):
            qad.mps.MPS.load(path)
