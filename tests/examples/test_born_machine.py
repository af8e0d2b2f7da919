"""The Born machine, small, as a user runs it."""

import numpy as np
import pytest

from tests.examples.loading import load

EXAMPLE = load("mps/04_born_machine.py")
LINES = ("entropy bound", "above the bound")


def test_all_bars_and_stripes_are_there_once():
    patterns = EXAMPLE.bars_and_stripes(3, 2)
    assert len(patterns) == 2**3 + 2**2 - 2
    grids = patterns.reshape(-1, 3, 2)
    uniform = [(grid == grid[:1]).all() or (grid == grid[:, :1]).all() for grid in grids]
    assert all(uniform)


def test_training_reaches_the_entropy_of_the_data(tmp_path, capsys):
    EXAMPLE.main(["--rows", "2", "--columns", "3", "--bond", "8", "--short", "--output", str(tmp_path / "plot.png")])
    printed = capsys.readouterr().out.splitlines()
    bound, above = (float(next(line for line in printed if line.startswith(name)).split()[-1]) for name in LINES)
    assert bound == pytest.approx(np.log(10))
    assert -1e-12 < above < 1e-5
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
