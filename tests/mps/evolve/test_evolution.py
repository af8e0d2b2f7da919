"""Time evolution against dense exponentials."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPO, MPS, energy, evolve, heisenberg, ising, norm
from qad.mps.evolve import truncation
from qad.mps.evolve.neighbours import neighbour_terms

NEEL = MPS.product([0, 1] * 3)


def exact(psi, H, time):
    return qad.linalg.expm(-1j * time * H.to_dense()) @ psi.to_dense().reshape(-1)


@pytest.mark.parametrize("H", [heisenberg(6), ising(6, 1.2)], ids=["heisenberg", "ising"])
@pytest.mark.parametrize("method, order, error", [("tebd", 2, 3e-3), ("tebd4", 4, 2e-5), ("tdvp2", 2, 1e-5)])
def test_evolution_against_dense(H, method, order, error):
    final = evolve(NEEL, H, 0.7, 10, method).state
    assert np.linalg.norm(final.to_dense().reshape(-1) - exact(NEEL, H, 0.7)) < error
    assert norm(final) == pytest.approx(1)
    assert energy(final, H) == pytest.approx(energy(NEEL, H), abs=5 * error)


def test_the_order_of_product_formulas():
    H, psi = heisenberg(4), MPS.random(4, 4, seed=1)
    for method, order in (("tebd", 2), ("tebd4", 4)):
        errors = []
        for steps in (4, 8):
            final = evolve(psi, H, 1.0, steps, method, cutoff=0.0).state
            errors.append(np.linalg.norm(final.to_dense().reshape(-1) - exact(psi, H, 1.0)))
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_single_site_steps_conserve_energy_and_norm():
    H, psi = heisenberg(8), MPS.random(8, 4, seed=2)
    final = evolve(psi, H, 1.0, 10, "tdvp").state
    assert final.bonds == psi.bonds
    assert energy(final, H) == pytest.approx(energy(psi, H), abs=1e-8)
    full = MPS.random(6, 8, seed=3)
    dense = evolve(full, heisenberg(6), 0.5, 2, "tdvp").state.to_dense().reshape(-1)
    np.testing.assert_allclose(dense, exact(full, heisenberg(6), 0.5), atol=1e-7)


def test_operators_beyond_neighbours():
    ring = heisenberg(6, periodic=True)
    psi = MPS.random(6, 8, seed=4)
    final = evolve(psi, ring, 0.4, 8, "tdvp2").state
    assert np.linalg.norm(final.to_dense().reshape(-1) - exact(psi, ring, 0.4)) < 1e-5
    with pytest.raises(ArgumentError, match="beyond neighbours"):
        evolve(NEEL, ring, 0.4, 8, "tebd")


@pytest.mark.slow
def test_imaginary_time_and_truncation():
    H = heisenberg(8)
    found = evolve(MPS.product([0, 1] * 4), H, 30.0, 60, "tdvp2", imaginary=True)
    assert found.state.dtype == complex
    assert energy(found.state, H) == pytest.approx(-3.3749325986879, abs=1e-8)
    cut = evolve(MPS.product([0, 1] * 4), H, 2.0, 20, "tebd", bond=3)
    assert cut.state.bond == 3
    assert 0.001 < cut.discarded < 1


def test_terms_of_neighbours_add_up():
    H = ising(4, 0.7)
    total = 0
    for i, h in enumerate(neighbour_terms(H)):
        total = total + np.kron(np.kron(np.eye(2**i), h.reshape(4, 4)), np.eye(2 ** (2 - i)))
    np.testing.assert_allclose(total, H.to_dense(), atol=1e-12)


def test_callback_and_bad_input():
    times = []

    def callback(state, time):
        times.append(time)
        if len(times) == 3:
            raise StopIteration

    assert evolve(NEEL, heisenberg(6), 1.0, 10, callback=callback).time == pytest.approx(0.3)
    assert times == pytest.approx([0.1, 0.2, 0.3])
    with pytest.raises(ArgumentError, match="tdvp2"):
        evolve(NEEL, heisenberg(6), 1.0, 10, "euler")
    with pytest.raises(ArgumentError, match="steps"):
        evolve(NEEL, heisenberg(6), 1.0, 0)
    with pytest.raises(ShapeError, match="6 sites"):
        evolve(NEEL, heisenberg(5), 1.0, 1)


@pytest.mark.parametrize("method", ["tebd", "tebd4", "tdvp", "tdvp2"])
def test_the_precision_is_that_of_the_state_and_the_operator(method):
    H = MPO([w.astype(np.float32) for w in heisenberg(6)])
    for psi in (NEEL, MPS([t.real for t in NEEL])):
        single = MPS([t.astype(np.complex64 if psi.dtype.kind == "c" else np.float32) for t in psi])
        assert evolve(single, H, 0.3, 2, method).state.dtype == np.complex64
        found = evolve(single, H, 0.3, 2, method, imaginary=True).state
        assert found.dtype == single.dtype
        exact = evolve(psi, heisenberg(6), 0.3, 2, method, imaginary=True).state
        assert abs(abs(qad.mps.overlap(found, exact)) - 1) < 1e-5


def test_half_steps_that_meet_are_one_unless_a_callback_looks_between_them():
    """To rounding the state is the same; the gates are fewer."""
    seen, split = [], truncation.Truncation.split

    def counted(self, *args):
        seen.append(0)
        return split(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(truncation.Truncation, "split", counted)
        states = [
            evolve(NEEL, heisenberg(6), 0.4, 4, "tebd", cutoff=1e-26, callback=c).state for c in (None, print_nothing)
        ]
    assert len(seen) == (5 * 3 + 4 * 2) + 4 * (2 * 3 + 2)
    np.testing.assert_allclose(states[0].to_dense(), states[1].to_dense(), rtol=0, atol=1e-11)


def print_nothing(state, time):
    """A callback that only looks."""
