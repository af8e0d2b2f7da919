"""Ctrl-C at any moment of a search leaves the best that it has, and says so."""

import numpy as np
import pytest

import qad
from qad.mps.search import converged

H = qad.mps.heisenberg(6)
TERM = np.einsum("ikjl->ijkl", qad.mps.heisenberg(2).to_dense().reshape(2, 2, 2, 2).transpose(0, 2, 1, 3))


class Bar:
    """A bar of progress at which the user presses Ctrl-C after some steps."""

    def __init__(self, after):
        self.left = after

    def set_postfix_str(self, *args, **kwargs):
        pass

    def update(self, steps=1):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def chain(method, **options):
    def search(bar):
        found = qad.mps.ground_state(H, bond=8, method=method, progress=bar, **options)
        return found, float(qad.mps.energy(found.state, H)), found.energy, found.converged

    return search


def infinite(method):
    def search(bar):
        found = qad.mps.uniform.ground_state(TERM, bond=2, method=method, progress=bar)
        return found, float(qad.mps.uniform.energy_density(found.state, TERM)), found.energy, found.converged

    return search


def loss(z):
    return (qad.abs2(z) * np.array([1.0, 9.0])).sum() + qad.abs2(z).sum() ** 2


def minimum(search, *rest, **options):
    def run(bar):
        found = search(*rest, progress=bar, **options)
        return found, float(loss(found.params)), found.fun, found.success

    return run


def plane(bar):
    model = qad.peps.heisenberg().rotated()
    found = qad.peps.ground_state(model, bond=2, chi=8, symmetry="c4v", progress=bar, maxiter=12)
    return found, float(qad.peps.expectation(found.state, model, found.environment)), found.energy, found.converged


START = np.array([1 + 1j, 2.0])
UNIT = START / np.linalg.norm(START)
SEARCHES = {
    **{f"chain, {method}": chain(method) for method in ("dmrg2", "dmrg", "riemannian", "lbfgs", "tdvp", "tebd")},
    "symmetric chain": chain("dmrg2", conserve="Sz"),
    "infinite, vumps": infinite("vumps"),
    "infinite, riemannian": infinite("riemannian"),
    "plane": plane,
    "minimize": minimum(qad.optimize.minimize, loss, START),
    "minimize_on": minimum(qad.optimize.minimize_on, loss, UNIT, manifold=qad.optimize.Sphere()),
    "adam": minimum(qad.optimize.adam, loss, START),
    "natural_descent": minimum(qad.optimize.natural_descent, loss, START, lambda z: np.eye(4), rate=0.01),
}


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_is_interrupted_keeps_its_best(name, after):
    bar = Bar(after)
    found, value, told, converged = SEARCHES[name](bar)
    assert bar.left == 0  # nothing went on after it
    assert not converged
    assert found.message == "stopped by the user (Ctrl-C)"
    assert value == pytest.approx(told, rel=1e-9)
    assert told <= found.history[0] + 1e-12


@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_a_state_that_was_being_checked_is_kept(monkeypatch, conserve):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(converged, "probed", interrupted)
    found = qad.mps.ground_state(H, bond=8, conserve=conserve)
    assert found.message == "stopped by the user (Ctrl-C)"
    assert not found.converged
    assert found.energy == pytest.approx(np.linalg.eigvalsh(H.to_dense())[0])


@pytest.mark.parametrize("after", [2, 5])
def test_least_squares(after):
    calls = []

    def residual(x):
        calls.append(x)
        if len(calls) > after:
            raise KeyboardInterrupt
        return np.exp(x) - np.array([2.0, 30.0])

    found = qad.optimize.least_squares(residual, np.zeros(2))
    assert found.interrupted
    assert found.message == "stopped by the user (Ctrl-C)"
    values = np.exp(found.params) - np.array([2.0, 30.0])
    assert found.fun == pytest.approx(values @ values / 2)
    assert found.fun <= found.history[0]
    assert len(calls) == after + 1
