"""Settings: what is checked, what takes effect, and on how many threads BLAS works meanwhile."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import qad
from qad.core.process import threads
from qad.core.process.threads import blas_for, kernels, numbers


@pytest.fixture(autouse=True)
def as_before():
    """Three threads for BLAS, where it can have them, and all settings as they were afterwards."""
    before, counts = qad.config(), numbers()
    threads.give([3] * len(counts))
    yield
    qad.config(threads="auto", messages=before.messages)
    threads.give(counts)
    threads._usual = None


@pytest.mark.parametrize("given", [0, -1, 1.5, "two", True, [2]])
def test_threads_are_auto_or_a_count(given):
    with pytest.raises(qad.errors.ArgumentError, match='write "auto" or a number from 1'):
        qad.config(threads=given)


@pytest.mark.parametrize("given", [1, 0, "yes", []])
def test_messages_are_shown_or_not(given):
    with pytest.raises(qad.errors.ArgumentError, match="write True or False"):
        qad.config(messages=given)


def test_a_setting_that_is_refused_changes_nothing():
    before = qad.config(), numbers()
    with pytest.raises(qad.errors.ArgumentError):
        qad.config(threads=1, messages="no")
    assert (qad.config(), numbers()) == before


def test_threads_are_those_of_kernels_and_of_blas():
    before = numbers(), kernels()
    assert before[0]
    for count in (1, 2, np.int64(1)):
        assert qad.config(threads=count).threads == count
        assert kernels() == count
        assert numbers() == [min(count, most) for most in before[0]]
    qad.config(threads="auto")
    assert (numbers(), kernels()) == before


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "QAD_NUM_THREADS"])
def test_kernels_have_what_the_environment_says(variable):
    code = "from qad.core.process.threads import kernels; print(kernels())"
    plain = {name: word for name, word in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for word, count in [("5", 5), ("", len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None)]:
        run = subprocess.run([sys.executable, "-c", code], env=plain | {variable: word}, capture_output=True, text=True)
        assert count is None or int(run.stdout) == count


def test_small_products_have_one_thread():
    before = numbers()
    with blas_for(threads.LARGE - 1):
        assert set(numbers()) == {1}
        with blas_for(2):
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
    assert numbers() == before
    with blas_for(threads.LARGE):
        assert numbers() == before


def test_an_error_gives_the_threads_back():
    before = numbers()
    with pytest.raises(ZeroDivisionError), blas_for(2):
        _ = 1 / 0
    assert numbers() == before


def test_searches_at_once_give_the_threads_back_when_the_last_has_ended():
    before = numbers()
    first, second = blas_for(2), blas_for(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(numbers()) == {1}
    second.__exit__(None, None, None)
    assert numbers() == before
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: search(lambda *_: None) and None, range(8))) == {None}
    assert numbers() == before


def test_what_is_set_meanwhile_holds_afterwards():
    most = numbers()
    with blas_for(2):
        qad.config(threads=2)
        assert set(numbers()) == {1}
    assert numbers() == [min(2, own) for own in most]
    with blas_for(2):
        qad.config(threads="auto")
    assert numbers() == most


H = qad.mps.heisenberg(4)


def search(callback):
    return qad.mps.ground_state(H, bond=4, method="dmrg", callback=callback, maxiter=3)


def evolution(callback):
    return qad.mps.evolve(qad.mps.MPS.random(4, 2, 2, seed=0), H, 0.1, 2, callback=callback)


ISING = -np.kron(np.diag([1.0, -1]), np.diag([1.0, -1])) - np.kron([[0, 1], [1, 0]], np.eye(2))


def uniform_evolution(callback):
    psi = qad.mps.uniform.UniformMPS.random(2, 2, 2, seed=0)
    return qad.mps.uniform.evolve(psi, ISING.reshape(2, 2, 2, 2), 0.1, 2, callback=callback)


@pytest.mark.parametrize("run", [search, evolution, uniform_evolution])
def test_searches_and_evolutions_of_small_bonds_work_on_one_thread(run):
    before, seen = numbers(), []
    run(lambda *_: seen.append(numbers()))
    assert seen
    assert all(set(counts) == {1} for counts in seen)
    assert numbers() == before


def test_uniform_searches_and_circuits_on_chains_too(monkeypatch):
    asked = []
    monkeypatch.setattr(threads, "numbers", lambda: asked.append(1) or numbers())  # once where it begins
    before = numbers()
    qad.mps.uniform.ground_state(ISING.reshape(2, 2, 2, 2), bond=2, cell=1, maxiter=3, starts=1)
    assert len(asked) == 1
    t = np.array([0.3])
    qad.grad(lambda t: qad.Circuit(3).rx(t[0], 0).cx(0, 1).mps(bond=2).expectation("ZZI"))(t)
    assert len(asked) >= 3
    assert numbers() == before
