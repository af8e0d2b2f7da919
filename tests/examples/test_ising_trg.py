"""The example of tensor renormalisation runs, and its numbers are right."""

import numpy as np
import pytest

import qad
from tests.examples.loading import load


@pytest.fixture(scope="module")
def example():
    return load("trg/ising_trg.py")


def test_short_run(example, capsys):
    found = example.main(["--short"])
    assert np.isclose(found[0.44][0], 0.9287239625771, rtol=0, atol=1e-12)
    assert np.isclose(found[0.5][0], 1.0257928584559, rtol=0, atol=1e-12)
    assert np.isclose(found[0.5][1], -1.7455645753, rtol=0, atol=3e-5)
    assert np.isclose(found[0.5][2], 0.72487145, rtol=0, atol=2e-4)
    assert "exact" in capsys.readouterr().out


def test_exact_solution(example):
    log_z, u, c = example.onsager(0.42)
    assert np.isclose(log_z, 0.9026392190962, rtol=0, atol=1e-12)
    assert np.isclose(u, -1.2260548403, rtol=0, atol=1e-9)
    assert np.isclose(c, 1.19746778, rtol=0, atol=1e-7)


def test_both_modes_agree_with_differences(example):
    def log_z(k):
        return example.log_partition_function(k, 6, 8)

    qad.check_grads(log_z, (np.array(0.5),), rtol=1e-6)
