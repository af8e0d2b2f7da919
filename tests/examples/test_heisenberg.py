"""The ground-state example, as a user runs it."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import qad

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "mps" / "01_heisenberg_ground_state.py"


def run(*arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, EXAMPLE, *arguments], capture_output=True, text=True, env=environment, timeout=100, check=False
    )


def printed(output, name):
    """The number that the example printed beside `name`."""
    line = next(line for line in output.splitlines() if line.startswith(name))
    return float(line.removeprefix(name).split()[0])


def test_short_form(tmp_path):
    done = run("--short", "--output", str(tmp_path / "plot.png"))
    assert done.returncode == 0, done.stderr
    assert printed(done.stdout, "exact") == pytest.approx(-4.258035207283, abs=1e-11)
    assert printed(done.stdout, "energy") == pytest.approx(-4.258035207283, rel=1e-8)
    assert printed(done.stdout, "relative error") < 1e-8
    assert "gradient" in done.stderr  # the progress bar
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_odd_chains_have_an_exact_energy_too():
    example = runpy.run_path(str(EXAMPLE))
    result = qad.mps.ground_state(qad.mps.heisenberg(7), bond=8, seed=3)
    assert example["exact_energy"](7) == pytest.approx(-2.836239680686657, abs=1e-11)
    assert result.energy == pytest.approx(example["exact_energy"](7), rel=1e-9)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--n", "1"], "'1' is no whole number of at least 2"),
        (["--n", "ten"], "'ten' is no whole number"),
        (["--bond", "0"], "at least 1"),
        (["--bond=-3"], "at least 1"),
        (["--seed", "1.5"], "at least 0"),
        (["--output", "plot.txt"], "does not end in .png"),
        (["--output", "nowhere/plot.png"], "there is no folder"),
    ],
)
def test_nonsense_is_refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as refusal:
        runpy.run_path(str(EXAMPLE))["main"](arguments)
    assert refusal.value.code == 2
    assert message in capsys.readouterr().err
