"""What circuits take: memory of a gradient."""

import tracemalloc

import numpy as np
import pytest

import qad
from tests.circuit.dense import ENGINES, needs_compiler


def layers(n, depth, engine="auto"):
    """A circuit of rotations and rings of CNOTs, and its Ising energy."""
    c = qad.Circuit(n, engine=engine)
    for _ in range(depth):
        c.ry(np.linspace(0.1, 1.0, n), range(n)).rz(np.linspace(1.0, 2.0, n), range(n))
        c.cx(range(n), [*range(1, n), 0])
    H = qad.PauliSum.on_sites(n, [(1.0, "ZZ", (q, (q + 1) % n)) for q in range(n)] + [(0.5, "X", (0,))])
    return c, lambda theta: c.with_parameters(theta).expectation(H)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("depth", [10, 100])
def test_a_gradient_takes_three_states(depth):
    """The state on the tape, a copy from which gates are taken back, and the cotangent, in place.

    The rest is what one chunk takes on each thread, whatever the size of the state, and numbers: 100 bytes a gate.
    """
    from qad.circuit.engines.compiled.blocking import LOCAL
    from qad.core.process.threads import kernels

    n = 17
    c, energy = layers(n, depth)
    gradient, theta = qad.value_and_grad(energy), np.array(c.parameters)
    gradient(theta)
    tracemalloc.start()
    try:
        gradient(theta)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    chunks = kernels() * 2**LOCAL * (6 * 8 + 4)
    assert peak < 3 * 2**n * 16 + chunks + 120 * len(c) + 1e5


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cotangent_of_someone_else_is_left_alone(engine):
    c, _ = layers(3, 1, engine)
    state, pullback = qad.vjp(lambda theta: c.with_parameters(theta).state(), np.array(c.parameters))
    g = 1j * state.conj()
    before = g.copy()
    first, again = pullback(g), pullback(g)
    np.testing.assert_array_equal(g, before)
    np.testing.assert_array_equal(first, again)
