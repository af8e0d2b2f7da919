"""The command line: what it prints, its files, and its exit codes: 1 for failures, 2 for wrong input, one line each."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.commands import bench, ground_state, main
from qad.commands.circuit import summed
from qad.commands.info import extras
from qad.installed import NEEDED, command

ROOT = Path(__file__).parents[2]
BELL = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\nh q[0];\ncx q[0], q[1];\nx q[2];\n'


def run(*words):
    """The exit code of a command, also of one that the parser refuses."""
    try:
        return main([*map(str, words)])
    except SystemExit as end:
        return end.code


@pytest.fixture
def bell(tmp_path):
    file = tmp_path / "bell.qasm"
    file.write_text(BELL)
    return file


def test_a_process_of_its_own():
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "qad", "info"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("extra"))
    assert lines["qad"] == qad.__version__
    assert lines["numpy"] == np.__version__
    assert {"blas", "threads", "kernels", "python", "system"} <= set(lines)


def test_every_package_of_every_extra_is_told():
    rows = extras()
    assert {name for name, _ in rows} == {f"extra {extra}" for _, extra in NEEDED.values()}
    assert len(rows) == len(NEEDED) and all(package in row[1] for package, row in zip(NEEDED, rows, strict=True))


def test_the_command_is_declared():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert declared["scripts"] == {"qad": "qad.commands:main"}


def test_help_names_all_commands(capsys):
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("info", "ground-state", "circuit", "bench"))
    assert run("--version") == 0


def test_a_ground_state(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    plot, state = tmp_path / "energy.png", tmp_path / "state.npz"
    words = ("--model", "ising", "--set", "g=1.5", "--n", 6, "--bond", 8, "--plot", plot, "--save", state)
    assert run("ground-state", *words) == 0
    shown = capsys.readouterr()
    exact = np.linalg.eigvalsh(qad.mps.ising(6, 1.5).to_dense())[0]
    assert float(re.search(r"^energy (\S+)", shown.out)[1]) == pytest.approx(exact)
    assert "dmrg2" in shown.out
    assert f"drawn in {plot}" in shown.out
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert qad.mps.energy(qad.mps.MPS.load(state), qad.mps.ising(6, 1.5)) == pytest.approx(exact)


def test_lattices_and_charges(capsys):
    words = ("--model", "hubbard", "--set", "t=1", "--set", "u=4", "--n", 2, "--legs", 2, "--bond", 16)
    assert run("ground-state", *words, "--conserve", "N,Sz", "--sector", "2,0", "--quiet") == 0
    found = float(capsys.readouterr().out.split()[1])
    H, lattice = qad.mps.hubbard, qad.mps.Lattice.ladder(2)
    other = qad.mps.ground_state(H(lattice, 1.0, 4.0), bond=16, conserve=("N", "Sz"), sector=(2, 0))
    assert found == pytest.approx(other.energy)


def test_a_search_that_does_not_converge_fails(capsys):
    assert run("ground-state", "--model", "heisenberg", "--n", 12, "--bond", 8, "--maxiter", 1) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("energy -5.1")
    assert shown.err.endswith("qad ground-state: stopped at maxiter iterations\n")


def test_ctrl_c_prints_the_best_so_far(capsys, monkeypatch):
    search = qad.mps.ground_state
    monkeypatch.setattr(qad.mps, "ground_state", lambda *a, **k: search(*a, **k | {"callback": stop}))
    assert run("ground-state", "--model", "heisenberg", "--n", 6, "--bond", 8) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("energy -2.4")
    assert "Ctrl-C" in shown.err


def stop(state, energy):
    raise KeyboardInterrupt


def test_expectation_values(capsys, bell):
    words = ("--observable", "ZZI", "--observable", "0.5*XXI - 2 IIZ")
    for bond in ((), ("--bond", 4)):
        assert run("circuit", bell, *words, *bond) == 0
        assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == [
            "1.000000000000",
            "2.500000000000",
        ]


def test_samples_drawings_and_outcomes(capsys, bell, tmp_path):
    assert run("circuit", bell, "--shots", 100, "--seed", 1) == 0
    counts = {line.split()[0]: int(line.split()[1]) for line in capsys.readouterr().out.splitlines()}
    assert counts.keys() == {"001", "111"}
    assert sum(counts.values()) == 100
    assert run("circuit", bell) == 0
    shown = capsys.readouterr().out
    assert "q0: ─H──●" in shown
    assert shown.splitlines()[-2:] == ["001  0.500000000000", "111  0.500000000000"]
    assert run("circuit", bell, "--plot", tmp_path / "bell.svg") == 0
    assert "bell.svg" in capsys.readouterr().out
    assert (tmp_path / "bell.svg").read_text("utf-8").startswith("<svg")


def test_measurements_inside(capsys, tmp_path):
    file = tmp_path / "reset.qasm"
    file.write_text(BELL + "creg c[1];\nmeasure q[0] -> c[0];\nif (c == 1) x q[1];\n")
    assert run("circuit", file, "--observable", "IZI") == 0
    assert capsys.readouterr().out == "IZI  1.000000000000\n"
    assert run("circuit", file, "--shots", 300, "--seed", 1) == 0
    lines = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert set(lines) == {"000", "100"} or sum(map(int, lines.values())) == 300


def test_sums_of_strings():
    assert repr(summed("ZZI")) == "1.0 ZZI"
    assert repr(summed("-0.5 ZZ + 1e-3*XI-YY")) == "-0.5 ZZ + 0.001 XI + -1.0 YY"
    assert repr(summed(".5XX-2.ZZ")) == "0.5 XX + -2.0 ZZ"


def test_a_benchmark_prints_a_line_for_each_case(capsys):
    assert run("bench", "--seconds", 0) == 0
    lines = capsys.readouterr().out.splitlines()[1:-1]
    assert [line[:44].strip() for line in lines] == list(bench.CASES)
    assert all(float(line.split()[-1]) > 0 for line in lines)
    f, x = bench.CASES["circuit, 10 qubits, 4 layers"]()
    qad.check_grads(f, (x,), order=1)


def test_models_are_those_of_the_library():
    assert all(callable(getattr(qad.mps, name)) for name in ground_state.MODELS)


GROUND = ("ground-state", "--n", 6, "--model")
WRONG = {
    "no command": ((), "required"),
    "unknown command": (("bnech",), "bnech"),
    "unknown model": ((*GROUND, "heisenburg"), "heisenburg"),
    "no size": (("ground-state", "--model", "aklt"), "--n"),
    "size": (("ground-state", "--model", "aklt", "--n", "0"), "at least 2"),
    "a coupling that is missing": ((*GROUND, "xxz"), "'delta'"),
    "a coupling too many": ((*GROUND, "aklt", "--set", "g=1"), "--set takes"),
    "a coupling that is no number": ((*GROUND, "xxz", "--set", "delta=big"), "'big' is no number"),
    "no name": ((*GROUND, "xxz", "--set", "1.0"), "NAME=VALUE"),
    "method": ((*GROUND, "aklt", "--method", "dmrg3"), "dmrg3"),
    "charge": ((*GROUND, "heisenberg", "--conserve", "color"), "color"),
    "sector": ((*GROUND, "heisenberg", "--conserve", "Sz", "--sector", "up"), "--sector"),
    "format": ((*GROUND, "aklt", "--plot", "energy.gif"), ".svg"),
    "folder": ((*GROUND, "aklt", "--plot", "nowhere/energy.png"), "no folder"),
    "both": ((*GROUND, "aklt", "--legs", "2", "--around", "3"), "not both"),
    "observable": (("circuit", "FILE", "--observable", "ZZA"), "no sum of Pauli strings"),
    "nothing": (("circuit", "FILE", "--observable", ""), "no sum of Pauli strings"),
    "length": (("circuit", "FILE", "--observable", "ZZ"), "no observable of 3"),
    "program": (("circuit", "BROKEN"), "line"),
    "no text": (("circuit", "BINARY"), "utf-8"),
    "number": (("circuit", "FILE", "--observable", "1.2.3*ZZI"), "no sum of Pauli strings"),
    "too large": (("circuit", "FILE", "--observable", "1e999*ZZI"), "no sum of Pauli strings"),
    "seed": (("circuit", "FILE", "--shots", "5", "--seed", "-1"), "--seed"),
    "seed of a search": ((*GROUND, "aklt", "--seed", "-1"), "--seed"),
    "bond of measurements": (("circuit", "MEASURED", "--bond", "2"), "leave --bond out"),
    "folder of the state": ((*GROUND, "aklt", "--save", "nowhere/state.npz"), "no folder"),
    "state in the place of a folder": ((*GROUND, "aklt", "--save", "."), "is a folder"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_in_one_line(capsys, bell, name):
    words, reason = WRONG[name]
    broken = bell.with_name("broken.qasm")
    broken.write_text(BELL + "h q[7]\n")
    measured = bell.with_name("measured.qasm")
    measured.write_text(BELL + "creg c[1];\nmeasure q[0] -> c[0];\nif (c == 1) x q[1];\n")
    binary = bell.with_name("binary.qasm")
    binary.write_bytes(b"\x9e\xff")
    files = {"FILE": bell, "BROKEN": broken, "MEASURED": measured, "BINARY": binary}
    assert run(*(files.get(word, word) for word in words)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("qad")
    assert reason in shown.err


def test_what_fails_outside_is_1(capsys, tmp_path, monkeypatch):
    assert run("circuit", tmp_path / "absent.qasm") == 1
    assert "absent.qasm" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(*GROUND, "aklt", "--plot", "energy.png") == 1
    assert command("viz") in capsys.readouterr().err
