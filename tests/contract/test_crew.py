"""Tasks on executors: in order, shared data sent once, failures with their task, lost workers replaced."""

import multiprocessing
import os
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

import qad
from qad.contract import crew
from qad.contract.crew import in_order
from qad.core import malloc
from qad.core.errors import ArgumentError


def add(shared, item):
    return shared["base"] + item


def fail_at_two(shared, item):
    if item == 2:
        raise ZeroDivisionError("of the task")
    return item


def die_once(folder, item):
    """Its process is gone when item 1 is met for the first time."""
    mark = os.path.join(folder, "died")
    if item == 1 and not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(1)
    return item * 10


def always_die(_, item):
    os._exit(1)


class Counting(dict):
    """How often it was pickled."""

    pickled = 0

    def __reduce__(self):
        Counting.pickled += 1
        return dict, (dict(self),)


class Held(ThreadPoolExecutor):
    """Starts nothing until it is asked for a result, and counts what is under way."""

    def __init__(self, workers):
        super().__init__(workers)
        self.under_way, self.most = 0, 0

    def submit(self, function, *args):
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future, held = Future(), self

        def result(timeout=None):
            held.under_way -= 1
            return function(*args)

        future.result = result
        return future


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_threads_in_order():
    with ThreadPoolExecutor(2) as pool:
        assert list(in_order(pool, add, {"base": 5}, range(9))) == [(i, 5 + i) for i in range(9)]


@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_under_way_follows_the_executor_and_not_the_machine(workers):
    held = Held(workers)
    assert len(list(in_order(held, add, {"base": 0}, range(20)))) == 20
    assert held.most == 2 * workers


@pytest.mark.parametrize("executor", [3, "threads", multiprocessing.Process], ids=str)
def test_what_takes_no_tasks_is_refused(executor):
    with pytest.raises(ArgumentError, match=r"takes no tasks: give a concurrent\.futures\.ThreadPoolExecutor"):
        qad.for_each(max, [1, 2], 0, executor)
    with pytest.raises(ArgumentError, match="takes no tasks"):  # there are no slices that it could run
        qad.einsum("ij,jk", np.eye(2), np.eye(2), executor=executor)


def test_a_failure_says_which_task_and_cancels_the_rest():
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError, match="of the task") as caught:
        list(in_order(pool, fail_at_two, None, range(50)))
    assert caught.value.__notes__ == ["in task 2: 2"]
    assert any(frame.name == "fail_at_two" for frame in caught.traceback)  # its own


def test_processes_are_sent_once_what_tasks_share(processes, tmp_path, monkeypatch):
    monkeypatch.setattr(crew.tempfile, "tempdir", str(tmp_path))
    Counting.pickled = 0
    assert list(in_order(processes, add, Counting(base=5), range(9))) == [(i, 5 + i) for i in range(9)]
    assert Counting.pickled == 1
    assert not list(tmp_path.iterdir())  # the file is gone


def test_slices_in_processes_are_the_same_to_the_last_bit(processes):
    operands = [np.random.default_rng(i).normal(size=(6, 6)).T for i in range(3)]
    plan = qad.plan("ab,bc,ca->", *operands, variables=range(3), memory_limit=3500)
    assert plan.slices > 2

    def loss(executor):
        return qad.value_and_grad(lambda *x: plan(*x, executor=executor), argnums=(0, 1, 2))(*operands)

    (value, gradients), (value_there, gradients_there) = loss(None), loss(processes)
    assert value == value_there
    assert all(np.array_equal(*pair) for pair in zip(gradients, gradients_there, strict=True))


def test_a_process_that_dies_is_replaced_but_not_for_ever(tmp_path, monkeypatch):
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    with monkeypatch.context() as patch:
        patch.setattr(crew, "DEATHS", 1)  # a process takes its time to start
        with pytest.raises(BrokenProcessPool) as caught:
            list(in_order(pool, always_die, None, ["the only one"]))
    assert caught.value.__notes__ == ["in task 0: the only one"]
    assert [y for _, y in in_order(pool, die_once, str(tmp_path), range(4))] == [0, 10, 20, 30]  # of a broken pool
    assert (tmp_path / "died").exists()


def memory_is_kept(_):
    return not malloc.waiting


@pytest.mark.slow
def test_processes_of_a_pool_keep_the_memory_that_slices_free():
    """They see no gradient of their own, after which it would be kept."""
    x = np.ones((128, 128))
    plan = qad.plan("ab,bc,cd,da->", x, x, x, x, variables=[], dtype=float, memory_limit=200_000)
    assert plan.slices > 1
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        plan(x, x, x, x, executor=pool)
        assert pool.submit(memory_is_kept, None).result()
