"""Who waits is told in one line: of compilers, plans, and folders that cannot be written."""

import os
import subprocess
import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from string import ascii_letters
from threading import Event

import pytest

import qad
from qad.contract.order import order
from qad.contract.plan import planner
from qad.core.process import waiting
from qad.core.process.waiting import COMPILING, NOT_KEPT, tell, tell_once
from qad.installed import command

ROOT = Path(__file__).parents[3]


@pytest.fixture
def at_once(monkeypatch):
    """Every wait is a long one, however short."""
    monkeypatch.setattr(waiting, "PATIENCE", 1e-6)
    monkeypatch.setattr(waiting, "_waited", {})


@pytest.fixture
def told(monkeypatch):
    """What is told, and a wait until it has been: the timer is a thread of its own."""
    lines, event = [], Event()
    monkeypatch.setattr(waiting, "tell_once", cache(lambda message: (lines.append(message), event.set())))
    return lines, event


def test_long_waits_are_told_while_they_last(at_once, told):
    lines, event = told
    with waiting.waiting("x"):
        assert event.wait(30)
        assert lines == ["x"]


def test_short_waits_are_not(told, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 1e6)
    with waiting.waiting("x"):
        pass
    assert told[0] == []


def test_waits_of_one_message_are_told_once(at_once, told):
    lines, event = told
    for message, first in (("x", True), ("x", False), ("y", True)):
        event.clear()
        with waiting.waiting(message):
            assert event.wait(30 if first else 0.05) == first
    assert lines == ["x", "y"]


def test_short_waits_add_up(told, monkeypatch):
    """The clock is ours: twice 0.6 s."""
    now = iter([0.0, 0.6, 7.0, 7.6])
    started = []

    class Clock:
        def __init__(self, seconds, function, arguments):
            started.append(round(seconds, 9))

        def start(self):
            pass

        cancel = start

    monkeypatch.setattr(waiting, "monotonic", lambda: next(now))
    monkeypatch.setattr(waiting, "Timer", Clock)
    monkeypatch.setattr(waiting, "_waited", {})
    for _ in range(2):
        with waiting.waiting("x"):
            pass
    assert started == [1.0, 0.4]


def test_an_error_ends_the_wait(told):
    with pytest.raises(ZeroDivisionError), waiting.waiting("error"):
        _ = 1 / 0
    assert 0 < waiting._waited.pop("error") < waiting.PATIENCE


def test_lines_are_silenced(capsys):
    tell("one")
    qad.config(messages=False)
    tell("two")
    qad.config(messages=True)
    tell("three")
    assert capsys.readouterr() == ("", "qad: one\nqad: three\n")


def test_some_lines_are_told_once(capsys):
    for _ in range(3):
        tell_once("once in a process, by a test")
    assert capsys.readouterr().err == "qad: once in a process, by a test\n"


# -- processes with kernels to compile


ALWAYS = "from qad.core.process import waiting\nwaiting.PATIENCE = 1e-6\n"
PLAIN = """
import numpy as np, qad
print(round(float(qad.mps.energy(qad.mps.MPS([np.ones((1, 2, 1))] * 4), qad.mps.heisenberg(4))), 12))
"""
USES = f"""{PLAIN}
def energy(t):
    return qad.Circuit(3).rx(t[0], 0).ry(t[1], 1).cx(0, 1).expectation("ZZI")
print(*qad.value_and_grad(energy)(np.array([0.3, 0.4]))[1].round(6))
"""


def lines_of(code, folder, **variables):
    """What a new process prints on stdout and on stderr, with kernels kept in a folder."""
    silent = {name: word for name, word in os.environ.items() if not name.startswith("QAD_")}
    env = silent | {"QAD_CACHE_DIR": str(folder)} | variables
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines(), run.stderr.splitlines()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A folder with the kernels of an energy, and what was told when they were compiled."""
    pytest.importorskip("llvmlite")
    folder = tmp_path_factory.mktemp("kernels")
    return folder, lines_of(ALWAYS + PLAIN, folder)


@pytest.mark.slow
def test_a_first_energy_is_told_and_no_second(plain):
    assert plain[1] == (["0.75"], ["qad: " + COMPILING])
    assert lines_of(ALWAYS + PLAIN, plain[0]) == (["0.75"], [])


SOME = """
from qad.circuit.engines.compiled import kernels
from qad.contract.run import compiled
compiled.warm_up("d")
kernels.warm_up("D")
"""
EVERYTHING = "import qad; qad.warm_up()"


@pytest.fixture(
    scope="module",
    params=[pytest.param(SOME, marks=pytest.mark.slow), pytest.param(EVERYTHING, marks=pytest.mark.slow)],
)
def warm(request, tmp_path_factory):
    """A folder with the kernels of `USES` or with all of them, and what was told when they were compiled."""
    pytest.importorskip("llvmlite")
    folder = tmp_path_factory.mktemp("kernels")
    return folder, lines_of(ALWAYS + request.param, folder)


def test_compiling_many_kernels_is_told_in_one_line(warm):
    assert warm[1] == ([], ["qad: " + COMPILING])


def test_what_is_compiled_is_not_compiled_again(warm):
    out, err = lines_of(ALWAYS + USES, warm[0])
    assert len(out) == 2
    assert err == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "silenced", [pytest.param("import qad; qad.config(messages=False)\n", marks=pytest.mark.slow), ""]
)
def test_who_does_not_want_to_know_is_not_told(plain, tmp_path, silenced):
    variables = {} if silenced else {"QAD_MESSAGES": "0"}
    assert lines_of(silenced + ALWAYS + PLAIN, tmp_path, **variables) == (plain[1][0], [])


@pytest.mark.slow
def test_without_a_folder_kernels_work_and_one_line_says_so(plain):
    out, err = lines_of(ALWAYS + PLAIN, "/dev/null/nowhere")
    assert out == plain[1][0]
    assert err == ["qad: " + COMPILING, "qad: " + NOT_KEPT.format("QAD_CACHE_DIR")]


@pytest.mark.slow
def test_without_a_compiler_there_is_nothing_to_warm_up(tmp_path):
    code = "import importlib.util as u\ninner = u.find_spec\n"
    code += "u.find_spec = lambda name, *rest: None if name == 'llvmlite' else inner(name, *rest)\n"
    out, err = lines_of(code + "import qad; qad.warm_up()", tmp_path)
    assert out == []
    assert [line for line in err if command("fast") in line] == err
    assert len(err) == 1


# -- what is planned


@pytest.fixture
def waits(monkeypatch):
    """The messages of waits, from wherever."""
    messages = []
    for module in (order, planner):
        monkeypatch.setattr(module, "waiting", lambda message: messages.append(message) or nullcontext())
    return messages


def test_long_plans_are_told_once(waits):
    """And not again where the plan is remembered; a few tensors are planned at once."""
    pairs = [(i, (i + step) % 14) for i in range(14) for step in (1, 5)]
    text = (
        ",".join("".join(x for x, pair in zip(ascii_letters[:28], pairs, strict=True) if i in pair) for i in range(14))
        + "->"
    )
    for _ in range(2):
        qad.plan(text, *[(3,) * 4] * 14)
    assert waits == ["planning a contraction, once for networks of this structure"]


def test_small_plans_are_not_told(waits):
    qad.plan("ab,bc,cd,da->", *[(38, 38)] * 4)
    assert waits == []


def test_fitting_into_memory_is_told(waits):
    qad.plan("ab,bc,cd,da->", *[(37, 37)] * 4, memory_limit="180kB")
    assert waits == ["planning a contraction within its memory limit, once for networks of this structure"]
