"""What a bare ``import qad`` loads, and that all else comes when it is first touched, in whatever way."""

import os
import pickle
import pydoc
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import qad

ROOT = Path(__file__).parents[1]
LATE = {
    "array_api",
    "circuit",
    "integrate",
    "interop",
    "mps",
    "optimize",
    "peps",
    "special",
    "symmetric",
    "viz",
    "vmc",
}  # floors
AT_ONCE = {"contract", "core", "elsewhere", "extend", "frozen", "installed", "keywords", "linalg", "rules", "testing"}
BY_NAME = {
    "archive",
    "commands",
    "showing",
    "typing",
}  # files, the command line, what draws, and words for annotations, which run for nobody but who imports them
UNDERGROUND = {"native"}  # not public: it comes when something is compiled
PACKAGES = {"numpy", "optree", "scipy", "typing_extensions"}  # typing_extensions belongs to optree


def fresh(code):
    """What a new process prints, which is not asked what it compiles."""
    env = os.environ | {"QAD_MESSAGES": "0"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout.split()


@cache
def loaded(code):
    """The modules that a new process has loaded after some code, by their own names."""
    return {*fresh(f"{code}\nimport sys\nprint(*(getattr(m, '__name__', '') for m in sys.modules.values()))")}


def floors(modules):
    """The floors of qad among modules."""
    return {name.split(".")[1] for name in modules if name.startswith("qad.")}


def packages(modules):
    """The packages of others among modules that are loaded from a file of theirs."""
    names = {name.split(".")[0] for name in modules} - sys.stdlib_module_names - {"qad"}
    return {name for name in names if not name.startswith("_") and name != "cython_runtime"}


def test_a_bare_import_loads_what_every_program_needs():
    assert floors(loaded("import qad")) == AT_ONCE


def test_a_bare_import_loads_few_packages():
    bare = packages(loaded("pass"))  # what the environment loads by itself
    assert packages(loaded("import qad")) - bare == PACKAGES


def test_a_bare_import_loads_nothing_of_scipy_beyond_its_door():
    alone = {name for name in loaded("import scipy") if name.startswith("scipy")}
    assert {name for name in loaded("import qad") if name.startswith("scipy")} == alone
    assert "scipy.linalg" not in alone


def test_every_floor_is_either():
    found = {path.name.removesuffix(".py") for path in (ROOT / "qad").glob("[a-z]*") if path.suffix != ".typed"}
    assert found == LATE | AT_ONCE | BY_NAME | UNDERGROUND


@pytest.mark.parametrize(
    "way",
    [
        "import qad\nqad.{}",
        *(pytest.param(way, marks=pytest.mark.slow) for way in ("import qad.{}", "from qad import {}")),
    ],
)
def test_late_floors_come_by_every_way(way):
    lines = [f"{way.format(name)}\nassert sys.modules['qad.{name}'] is vars(qad)['{name}']" for name in sorted(LATE)]
    assert floors(loaded("import qad, sys\n" + "\n".join(lines))) >= LATE


@pytest.mark.parametrize("names, floor", [("Circuit, PauliSum", "circuit"), ("draw", "viz")])
def test_a_late_name_brings_its_floor(names, floor):
    same = "".join(f"\nassert qad.{name} is {name}" for name in names.split(", "))
    assert floor in floors(loaded(f"from qad import {names}\nimport qad{same}"))


def test_a_star_brings_everything():
    code = "from qad import *\nimport qad\nprint(*(n for n in qad.__all__ if globals()[n] is not getattr(qad, n)))"
    assert fresh(code) == []


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'qad' has no attribute 'absent'"):
        _ = qad.absent
    with pytest.raises(
        AttributeError, match="it has cotengra, itensor, jax, pennylane, qiskit, quimb, tenpy, tensornetwork, torch"
    ):
        _ = qad.interop.absent


@pytest.mark.parametrize(
    "name", ["tensornetwork", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pennylane", "qiskit"))]
)
def test_bridges_come_by_name(name):
    pytest.importorskip(name)
    assert name in dir(qad.interop)
    code = f"import qad\nprint(qad.interop.{name}.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.split() == [f"qad.interop.{name}"]


def test_help_shows_what_comes_late():
    text = pydoc.plain(pydoc.render_doc(qad))
    assert "class Circuit" in text
    assert "draw(" in text


def test_pickles_bring_their_floor():
    state = qad.mps.MPS([[[[1.0], [0.0]]], [[[1.0], [0.0]]]])
    held = [qad.PauliSum({"X": 1.0}), state, qad.mps.energy, qad.grad]
    code = f"import pickle\nprint(*(type(x).__name__ for x in pickle.loads({pickle.dumps(held)!r})))"
    assert fresh(code) == ["PauliSum", "MPS", "function", "function"]


FROZEN = """
f, x = lambda x: {}, {}
frozen = qad.freeze(f)
for _ in range(3):
    np.testing.assert_allclose(frozen(x), f(x))
"""
FIRST_TOUCHED = {  # each loads what the others of its process do not
    "small floors and a chain": [
        ("np.linalg.norm(x)", "np.ones(3)"),
        ("qad.linalg.solve_triangular(x, x).sum()", "np.eye(3) + 1"),
        ("qad.special.j0(x)", "np.ones(3)"),
        ("qad.mps.norm2(qad.mps.MPS([x, x.transpose(2, 1, 0)]))", "np.arange(1.0, 7).reshape(1, 2, 3)"),
    ],
    "a circuit": [("qad.Circuit(2).rx(x, 0).cx(0, 1).expectation(qad.PauliSum({'ZZ': 1.0}))", "np.array(0.3)")],
}


@pytest.mark.parametrize("name", FIRST_TOUCHED)
@pytest.mark.sampled(1)
def test_what_is_first_touched_in_a_frozen_function(name):
    """Loading is no part of what the function computes."""
    programs = [FROZEN.format(body, point) for body, point in FIRST_TOUCHED[name]]
    assert fresh("import numpy as np, qad\n" + "".join(programs)) == []
