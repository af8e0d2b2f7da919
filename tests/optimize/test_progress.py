"""Progress bars tell value, gain and time, no share of iterations that a tolerance will spare, and nothing to files."""

import io
import re
import sys

import numpy as np
import pytest
from tqdm import tqdm

import qad
from qad.mps import ground_state, heisenberg
from qad.optimize import Sphere, adam, minimize, minimize_on, natural_descent

A = np.diag([1.0, 2.0, 3.0])
TERM = -np.kron(np.diag([1.0, -1]), np.diag([1.0, -1])) - np.kron([[0, 1], [1, 0]], np.eye(2))


def quadratic(x):
    return (x @ A @ x) + 1


SEARCHES = {
    "minimize": ("loss", lambda progress: minimize(quadratic, np.ones(3), progress=progress)),
    "minimize_on": (
        "loss",
        lambda progress: minimize_on(lambda x: x @ A @ x, np.full(3, 3**-0.5), manifold=Sphere(), progress=progress),
    ),
    "adam": ("loss", lambda progress: adam(quadratic, np.ones(3), progress=progress, maxiter=7)),
    "natural": (
        "loss",
        lambda progress: natural_descent(quadratic, np.ones(3), lambda x: np.eye(3), progress=progress, maxiter=7),
    ),
    **{
        method: ("energy", lambda progress, method=method: ground_state(
            heisenberg(4), 4, method, maxiter=40, progress=progress
        ))
        for method in ("lbfgs", "riemannian", "dmrg", "dmrg2", "tdvp", "tebd")
    },
    **{
        f"uniform {method}": ("energy", lambda progress, method=method: qad.mps.uniform.ground_state(
            TERM.reshape(2, 2, 2, 2), 2, 2, method, maxiter=4, starts=2, progress=progress
        ))
        for method in ("vumps", "riemannian")
    },
}  # fmt: skip


class Screen(io.StringIO):
    """What a terminal shows."""

    def isatty(self):
        return True


class Notebook(io.StringIO):
    """As Jupyter's, which is no terminal."""

    __module__ = "ipykernel.iostream"


def shown(search, stream, monkeypatch, progress=True):
    """What a search writes on this stream."""
    monkeypatch.setattr(sys, "stderr", stream)
    search(progress)
    return stream.getvalue()


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.sampled(4)
def test_bars_show_value_gain_and_time_and_no_share(name, monkeypatch):
    label, search = SEARCHES[name]
    text = shown(search, Screen(), monkeypatch)
    last = text.split("\r")[-1]
    assert re.match(rf"{label}: [1-9]\d* steps \[\d\d:\d\d, .*-?\d.*, gain -?\d\.\de[+-]\d\d", last), last
    assert "%" not in text
    assert "|" not in text


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.sampled(3)
def test_pipes_and_files_get_nothing(name, monkeypatch):
    assert shown(SEARCHES[name][1], io.StringIO(), monkeypatch) == ""


@pytest.mark.parametrize("name", ["minimize", "dmrg", "uniform riemannian"])
def test_bars_are_shown_where_they_are_asked_for(name, monkeypatch):
    assert shown(SEARCHES[name][1], Screen(), monkeypatch, progress=False) == ""
    assert "gain" in shown(SEARCHES[name][1], Notebook(), monkeypatch)


@pytest.mark.parametrize("method", [adam, lambda *args, **kw: natural_descent(*args, lambda x: np.eye(3), **kw)])
def test_without_a_tolerance_the_share_is_known(method, monkeypatch):
    def search(progress):
        method(quadratic, np.ones(3), maxiter=7, gtol=0.0, progress=progress)

    assert re.search(r"loss: 100%.*7/7", shown(search, Screen(), monkeypatch))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.sampled(3)
def test_a_bar_that_is_given_is_moved_and_stays_open(name, monkeypatch):
    stream = io.StringIO()
    with tqdm(total=1000, file=stream) as bar:
        assert shown(SEARCHES[name][1], Screen(), monkeypatch, progress=bar) == ""
        assert bar.n > 0
        assert not bar.disable
        assert "gain" in bar.postfix


def test_the_energy_and_the_gradient_are_those_of_the_result(monkeypatch):
    found = []
    text = shown(lambda progress: found.append(SEARCHES["lbfgs"][1](progress)), Screen(), monkeypatch)
    assert f"{found[0].history[-1]:.12g}, gain" in text
    assert "gradient" in text
