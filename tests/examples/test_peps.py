"""The examples of two dimensions: what they compute is right."""

import pytest

from tests.examples.running import run


def test_classical_ising():
    compared = run("peps/classical_ising.py").compared
    assert len(compared) == 2 * 4
    for found, exact in compared:
        assert found == pytest.approx(exact, abs=2e-6)
