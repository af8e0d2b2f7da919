"""Every example is a page of physics: it runs, draws one figure, and prints a number beside the exact one."""

import os
import re
import runpy
import subprocess
import sys

import pytest

from tests.examples.running import EXAMPLES, NAMES, run

MOST_LINES = 59
APART = {  # how far the number that is printed last, in the short form, may be from the exact one
    "circuits/01_vqe_ising_ring.py": 1e-10,
    "circuits/02_qaoa_maxcut.py": 1e-8,
    "circuits/03_h2_ucc.py": 1e-10,
    "circuits/04_learning_a_unitary.py": 1e-10,
    "circuits/05_natural_gradient.py": 1e-2,  # after fifteen steps
    "mps/01_heisenberg_ground_state.py": 1e-8,
    "mps/02_dominant_eigenvector_ising.py": 2e-5,  # bond 3
    "mps/03_heisenberg_hundred_sites.py": 2e-6,
    "mps/04_born_machine.py": 1e-7,
    "mps/05_ising_transition.py": 1e-9,
    "mps/06_infinite_heisenberg.py": 3e-3,  # bond 4
    "mps/07_quench.py": 1e-7,
    "mps/08_hellmann_feynman.py": 1e-8,
    "mps/09_quantum_control.py": 1e-5,
    "peps/01_heisenberg_square.py": 1e-2,  # bond 2
    "peps/02_classical_ising.py": 1e-8,  # the magnetisation
    "peps/03_transverse_ising.py": 1e-7,  # a derivative by the field
    "peps/04_j1j2.py": 1e-7,
    "peps/05_paired_fermions.py": 2e-4,  # bond 2
    "trg/ising_trg.py": 2e-3,  # the specific heat
    "vmc/01_ising_ring.py": 2e-2,  # five standard errors, and what the machine does not express
    "vmc/02_heisenberg_ring.py": 1e-5,
}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_page_with_one_option(name):
    source = (EXAMPLES / name).read_text("utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    assert source.startswith('"""')
    assert source.count('short = "--short" in sys.argv') == 1
    assert source.count("sys.argv") == 1
    assert "``--short``" in source  # the docstring says what it leaves out
    assert not re.search(r"^(import|from) (argparse|click|optparse)", source, re.MULTILINE)
    assert len(re.findall(r"\.save(?:fig)?\(", source)) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(5)
def test_the_short_form_comes_close_to_the_exact_number(name):
    done = run(name)
    number, exact = done.compared[-1]
    assert abs(number - exact) <= APART[name]
    assert done.png.startswith(b"\x89PNG")
    assert len(done.png) > 5000


@pytest.mark.slow
def test_a_user_runs_it(tmp_path):
    script = tmp_path / "example.py"
    script.write_text((EXAMPLES / "mps/01_heisenberg_ground_state.py").read_text("utf-8"), "utf-8")
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES.parent), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, script, "--short"], capture_output=True, text=True, env=environment, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    ways = re.findall(r"^(\S.*?) +energy -4.2\d+   exact -4.2580352073 \(Bethe ansatz\) +[\d.]+ s$", done.stdout, re.M)
    assert ways == ["steepest descent", "L-BFGS", "preconditioned L-BFGS", "sweeps"]
    assert f"figure: {script.with_suffix('.png')}" in done.stdout
    assert "next: docs/" in done.stdout
    assert script.with_suffix(".png").exists()
    assert done.stderr == ""  # bars are for those who look


def test_without_matplotlib_the_number_is_there_and_the_figure_named(tmp_path, monkeypatch, capsys):
    script = tmp_path / "example.py"
    script.write_text((EXAMPLES / "mps/07_quench.py").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(sys, "argv", [str(script), "--short"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match="for the figure: pip install matplotlib"):
        runpy.run_path(str(script))
    assert "exact 0.2" in capsys.readouterr().out
