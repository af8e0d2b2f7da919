"""Full bonds that are cut by the bond before them: beside singular value decompositions, and derivatives."""

import numpy as np
import pytest

import qad
from qad.mps import MPS, OpSum, evolve, heisenberg, ising
from qad.mps.evolve import leading, truncation

BOND, Z = 16, np.diag([1.0, -1.0])
NEEL, UP = MPS.product([0, 1] * 6), MPS.product([0] * 12)


@pytest.fixture
def decided(monkeypatch):
    """Whether the guess of every cut was taken."""
    seen, lost = [], truncation.lost

    def noted(*args):
        seen.append((share := lost(*args)) is not None)
        return share

    monkeypatch.setattr(truncation, "lost", noted)
    return seen


@pytest.mark.parametrize(
    "H, psi, time", [(heisenberg(12), NEEL, 2.0), (ising(12, 1.0), UP, 3.0)], ids=["neel", "ising"]
)
@pytest.mark.parametrize("imaginary", [False, True])
def test_as_good_as_decompositions(decided, monkeypatch, H, psi, time, imaginary):
    """What is lost in all, and the distance from the state that loses nothing; a charge stays what it is."""
    psi = evolve(psi, H, time, 20, "tebd", BOND, cutoff=1e-24).state
    whole = evolve(psi, H, 0.5, 10, "tebd", 64, imaginary=imaginary).state
    del decided[:]
    found = evolve(psi, H, 0.5, 10, "tebd", BOND, imaginary=imaginary)
    assert sum(decided) > len(decided) / 3
    monkeypatch.setattr(leading, "SMALLEST", 1000)
    best = evolve(psi, H, 0.5, 10, "tebd", BOND, imaginary=imaginary)
    errors = [1 - abs(qad.mps.overlap(whole, x.state)) ** 2 for x in (found, best)]
    assert errors[0] < 1.1 * errors[1]
    assert found.discarded == pytest.approx(best.discarded, rel=0.1)
    if psi is NEEL:
        assert qad.mps.local_expectations(found.state, Z).sum() == pytest.approx(0.0, abs=1e-6)


def test_a_direction_that_the_bond_lacks_is_noticed():
    """A gate that exchanges sites brings in what no bond with charges would find by itself."""
    rng = np.random.default_rng(0)
    even, odd = (np.linalg.qr(rng.normal(size=(32, 32)))[0] for _ in range(2))
    matrix = np.zeros((64, 64))
    matrix[:32, :32] = even * 0.8 ** np.arange(32) @ even.T
    matrix[32:, 32:] = odd * 0.8 ** np.arange(32) @ odd.T
    of_even, of_both = even.T[:16], np.zeros((16, 64))
    of_both[:8, :32], of_both[8:, 32:] = even.T[:8], odd.T[:8]
    for known, taken in ((np.pad(of_even, ((0, 0), (0, 32))), False), (of_both, True)):
        share = leading.lost(matrix, *leading.leading(matrix, known)[:2], 1e-14)
        assert (share is not None) == taken
        if taken:
            assert share == pytest.approx(np.sum(0.64 ** np.arange(8, 32)) / np.sum(0.64 ** np.arange(32)))


def test_derivatives_are_those_of_this_very_evolution(decided):
    """By couplings, the time and the initial state."""
    start = evolve(NEEL, heisenberg(12), 2.0, 20, "tebd", BOND).state

    def loss(coupling, time, scale):
        H = OpSum(12)
        for i in range(11):
            H.add(1.0 + 0.1 * i, "Z", i, "Z", i + 1).add(coupling, "X", i, "X", i + 1)
        psi = MPS([start[0] + scale * start[0][:, ::-1], *start[1:]])
        final = evolve(psi, H, time, 2, "tebd", BOND).state
        return qad.mps.local_expectations(final, Z).real[5] + qad.mps.entanglement_entropy(final, 6)

    args = 0.8, 0.2, 0.1
    found = qad.grad(loss, (0, 1, 2))(*args)
    assert sum(decided) > len(decided) / 3
    step = 1e-4
    for k, derivative in enumerate(found):
        sides = [loss(*(x + sign * step * (i == k) for i, x in enumerate(args))) for sign in (1, -1)]
        assert derivative == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-6, abs=1e-7)
