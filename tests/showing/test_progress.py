"""Progress bars tell value, gain and time, no share of iterations that a tolerance will spare, and nothing to files.

What waits shows one by itself after two seconds, where someone looks: here after none, or after more than a test has.
"""

import ast
import inspect
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from tqdm import tqdm

import qad
from qad.mps import ground_state, heisenberg
from qad.optimize import Sphere, adam, minimize, minimize_on, natural_descent
from qad.showing import progress as module
from tests.test_typing import public_functions

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


# -- what waits, by default --------------------------------------------------------------------------------------------

H4, UP4 = qad.mps.ising(4, 1.0), qad.mps.MPS.product([0] * 4)
PLUS = qad.mps.MPS.random(4, 4, seed=1)
SPINS = qad.peps.ising(1.0)
SLOWER = "riemannian", "dmrg", "tdvp", "tebd", "uniform riemannian"  # whose bars are those of others
WAITING = {  # a call of everything that has a bar of its own, as short as it has more than one step
    **{name: lambda search=search: search(None) for name, (_, search) in SEARCHES.items() if name not in SLOWER},
    "least_squares": lambda: qad.optimize.least_squares(lambda x: x**2 - 1, np.full(2, 3.0)),
    "solve_ivp": lambda: qad.integrate.solve_ivp(lambda t, y: -y, [0.0, 1.0, 2.0], np.ones(1)),
    "solve_ivp to one time": lambda: qad.integrate.solve_ivp(lambda t, y: -y, [0.0, 1.0], np.ones(1)),
    "evolve": lambda: qad.mps.evolve(UP4, H4, 0.1, 3),
    "evolve with a callback": lambda: qad.mps.evolve(UP4, H4, 0.1, 3, callback=lambda state, time: None),
    **{
        f"gradient of {method}": lambda method=method: qad.grad(
            lambda g: qad.mps.energy(qad.mps.evolve(PLUS, qad.mps.ising(4, g), 0.1, 3, method, 4, 1e-12).state, H4)
        )(0.7)
        for method in ("tebd", "tdvp2")
    },
    "uniform evolve": lambda: qad.mps.uniform.evolve(
        qad.mps.uniform.UniformMPS.random(2), qad.mps.uniform.ising(1.0), 0.1, 3
    ),
    "excited_state": lambda: qad.mps.excited_state(H4, UP4, bond=4),
    "excitations": lambda: qad.mps.uniform.excitations(
        qad.mps.uniform.ising(2.0),
        qad.mps.uniform.ground_state(qad.mps.uniform.ising(2.0), 2, 1, progress=False).state,
        0.0,
    ),
    "thermal_state": lambda: qad.mps.thermal_state(H4, 0.5),
    "thermal_curve": lambda: qad.mps.thermal_curve(H4, [0.1, 0.2]),
    "metts": lambda: qad.mps.metts(H4, 0.5, 2, warm_up=0),
    "steady_state": lambda: qad.mps.steady_state(
        qad.mps.lindblad(qad.mps.OpSum(2), [(1.0, "Sm", i) for i in (0, 1)]), 4
    ),
    "trajectories": lambda: qad.mps.trajectories(UP4, qad.mps.OpSum(4), [(1.0, "Sm", 0)], 0.1, 2, 2, "tebd"),
    "circuit trajectories": lambda: qad.circuit.NoisyCircuit(1).h(0).measure(0).trajectories(4),
    **{
        f"partition_function {method}": lambda method=method: qad.peps.classical.partition_function(
            qad.peps.classical.ising(0.2), 4, method=method, steps=4
        )
        for method in ("ctmrg", "trg", "hotrg")
    },
    "peps ground_state": lambda: qad.peps.ground_state(SPINS, 2, 4, "c4v", maxiter=2),
    "peps environment": lambda: qad.peps.environment(qad.peps.PEPS.random(2), 4),
    "peps environment c4v": lambda: qad.peps.environment(qad.peps.PEPS.random(2, symmetry="c4v"), 4),
    "simple_update": lambda: qad.peps.simple_update(SPINS, 2, steps=[(0.1, 2)]),
    "peps thermal_state": lambda: qad.peps.finite.thermal_state(SPINS, (1, 2), 0.1, 2, steps=2),
    "peps sample": lambda: qad.peps.finite.sample(qad.peps.finite.FinitePEPS.random(2, 2, 2), 2),
    "vmc ground_state": lambda: qad.vmc.ground_state(
        log_psi, np.zeros(1), H4, qad.vmc.Spins(4), 16, 2, sampler="exact"
    ),
    "vmc evolve": lambda: qad.vmc.evolve(log_psi, np.zeros(1, complex), H4, qad.vmc.Spins(4), 0.1, 2, sampler="exact"),
    "vmc sample": lambda: qad.vmc.sample(log_psi, np.zeros(1), qad.vmc.Spins(4), 32),
}


def log_psi(p, s):
    return p[0] * (s * np.roll(s, 1, axis=1)).sum(1)


def bars(call, stream, monkeypatch, patience=0.0):
    """What it writes on this stream, and the modules whose bars it opened."""
    opened, usual = set(), module.tqdm

    def bar(**options):
        opened.add(sys._getframe(3).f_globals["__name__"])  # beneath it are `opened` and contextlib
        return usual(**options)

    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "PATIENCE", patience)
    monkeypatch.setattr(module, "tqdm", bar)
    call()
    return stream.getvalue(), opened


@pytest.mark.parametrize("name", WAITING)
@pytest.mark.sampled(6)
def test_what_waits_shows_one_bar_and_takes_it_away(name, monkeypatch):
    text, opened = bars(WAITING[name], Screen(), monkeypatch)
    assert opened
    assert re.search(r"\[\d\d:\d\d", text)
    assert "\n" not in text  # one row, which is empty again
    assert text.endswith("\r")


@pytest.mark.parametrize("name", WAITING)
@pytest.mark.sampled(3)
def test_nothing_is_shown_before_two_seconds_nor_where_nobody_looks_nor_where_it_is_off(name, monkeypatch):
    assert bars(WAITING[name], Screen(), monkeypatch, patience=1e9)[0] == ""
    assert bars(WAITING[name], io.StringIO(), monkeypatch) == ("", set())
    try:
        qad.config(progress=False)
        assert bars(WAITING[name], Screen(), monkeypatch) == ("", set())
    finally:
        qad.config(progress=True)


def test_patience_is_two_seconds():
    assert module.PATIENCE == 2.0


def test_every_bar_of_the_house_is_among_them(monkeypatch):
    """A module that opens a bar has a call above, and whoever takes progress= waits for nobody's word."""
    root = Path(qad.__file__).parent
    home = {
        ".".join(("qad", *path.relative_to(root).with_suffix("").parts))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "bar_for"
    }
    assert home <= {name for call in WAITING.values() for name in bars(call, Screen(), monkeypatch)[1]}
    taking = {
        name: inspect.signature(f).parameters["progress"].default
        for name, (f, _) in public_functions().items()
        if "progress" in inspect.signature(f).parameters
    }
    assert len(taking) > 8
    assert set(taking.values()) == {None}


def test_a_bar_above_keeps_its_clock_and_no_other_is_shown(monkeypatch):
    moved = []

    def outer():
        with module.bar_for(label="outer") as bar:
            bar.update = moved.append
            found = ground_state(heisenberg(4), 4)
            assert len(moved) > 4 * len(found.history)  # within sweeps, too

    text, _ = bars(outer, Screen(), monkeypatch)
    assert "energy" not in text
    assert "outer: 0 steps" in text
    assert set(moved) == {0}


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_a_process_without_stderr_searches(stream, monkeypatch):
    if stream is not None:
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert ground_state(heisenberg(4), 4).converged
