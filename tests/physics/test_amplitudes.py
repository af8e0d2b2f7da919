"""Amplitudes and samples of chains, beside dense states."""

import numpy as np
import pytest

import qad
from qad import mps
from tests.physics import exact


def test_amplitudes_and_their_logarithms():
    psi = mps.MPS.random(8, 5, seed=4)
    words = np.random.default_rng(0).integers(0, 2, (20, 8))
    wanted = psi.to_dense()[tuple(words.T)]
    assert psi.amplitudes(words) == pytest.approx(wanted, rel=1e-11)
    assert np.exp(psi.log_amplitudes(words)) == pytest.approx(wanted, rel=1e-10)


def test_slopes_of_log_amplitudes():
    base, other = (mps.MPS.random(6, 4, seed=seed).tensors for seed in (1, 2))
    word = np.array([[0, 1, 1, 0, 1, 0]])
    chain = lambda x: mps.MPS([a + x * b for a, b in zip(base, other, strict=True)])
    value = lambda x: chain(x).log_amplitudes(word)[0].real
    wanted = lambda x: float(np.log(abs(chain(x).to_dense()[tuple(word[0])])))
    assert qad.grad(value)(0.2) == pytest.approx(exact.difference(wanted, 0.2), abs=1e-7)


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_samples_of_a_ground_state(conserve):
    state = mps.ground_state(mps.heisenberg(8), conserve=conserve).state
    shots = state.sample(4000)
    h = exact.dense(["spin-1/2"] * 8, exact.exchange(exact.row(8)))
    weights = (exact.lowest(h)[1][:, 0] ** 2).reshape((2,) * 8)
    z = 1 - 2.0 * shots
    wanted = np.einsum("abcdefgh,a,b->", weights, [1, -1], [1, -1])
    assert abs((z[:, 0] * z[:, 1]).mean() - wanted) < 5 / np.sqrt(4000)
    assert abs(np.mean((shots == [0, 1] * 4).all(axis=1)) - weights[0, 1, 0, 1, 0, 1, 0, 1]) < 5 * 0.5 / np.sqrt(4000)
    assert not z.sum(axis=1).any()
