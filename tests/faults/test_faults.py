"""Tests are worth what they find: every fault of the list, put into a copy of the tree, fails the tests it names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.list import FAULTS

ROOT = Path(__file__).parents[2]
FLOORS = {
    "circuit", "contract", "core", "integrate", "linalg", "mps", "native", "optimize", "peps", "rules", "special",
    "symmetric", "vmc",
}  # fmt: skip
FOUND = 1  # what pytest returns if tests ran and some failed


def test_every_fault_still_has_its_line_and_its_tests():
    assert len(set(FAULTS)) == len(FAULTS) > 40
    assert {fault.path.partition("/")[0] for fault in FAULTS} == FLOORS
    for fault in FAULTS:
        assert (ROOT / "qad" / fault.path).read_text("utf-8").count(fault.old) == 1, fault
        assert fault.old != fault.new, fault
        assert (ROOT / "tests" / fault.tests.partition(" ")[0]).exists(), fault


def planted(fault, folder):
    """A copy of the tree with this fault."""
    for part in ("qad", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    wrong = folder / "qad" / fault.path
    wrong.write_text(wrong.read_text("utf-8").replace(fault.old, fault.new), "utf-8")


def outcome(folder, tests):
    """What the ordinary tests of a file return in a copy of the tree, and what they print."""
    path, _, filtered = tests.partition(" ")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{path}"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        command + (["-k", filtered] if filtered else []), cwd=folder, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout[-2000:] + done.stderr[-500:]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_it_is_found(fault, tmp_path):
    planted(fault, tmp_path)
    code, said = outcome(tmp_path, fault.tests)
    assert code == FOUND, said
