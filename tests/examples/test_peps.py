"""The examples of two dimensions: what they compute is right."""

import pytest

from tests.examples.running import run


def test_the_heisenberg_model_on_the_square_lattice():
    done = run("peps/01_heisenberg_square.py")
    assert done.found[2].energy == pytest.approx(-0.6602310935, abs=1e-9)  # published for this bond
    assert done.found[2].converged
    assert 0 < done.length < 1
    assert done.exact < done.found[2].energy


def test_classical_ising():
    compared = run("peps/02_classical_ising.py").compared
    assert len(compared) == 2 * 4
    for found, exact in compared:
        assert found == pytest.approx(exact, abs=2e-6)
