"""Tasks on executors: results in order and the same wherever they run, failures with their task."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import qad
from qad.contract.run.tasks import in_order
from qad.core.errors import ArgumentError
from qad.core.process import malloc
from qad.core.trees import flatten
from tests.contract.run.jobs import JOBS, broken


def add(shared, item):
    return shared["base"] + item


def fail_at_two(shared, item):
    if item == 2:
        raise ZeroDivisionError("of the task")
    return item


@pytest.fixture(scope="module", params=["threads", "processes", "MPI"])
def executor(request):
    if request.param == "MPI":
        futures = pytest.importorskip("mpi4py.futures", reason="mpi4py is not installed")
        pool = futures.MPIPoolExecutor(2)
    elif request.param == "threads":
        pool = ThreadPoolExecutor(2)
    else:
        pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver"))
    with pool:
        yield pool


@pytest.mark.parametrize("name", JOBS)
def test_results_are_the_same_to_the_last_bit_wherever_they_are_computed(name, executor):
    function, shared, points = JOBS[name]
    here, there = (qad.for_each(function, points, shared, executor=each) for each in (None, executor))
    assert len(here) == len(points)
    for one, two in zip(flatten(here)[0], flatten(there)[0], strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_failure_says_at_which_point(executor):
    for where in (executor, None):
        with pytest.raises(ZeroDivisionError) as caught:
            qad.for_each(broken, range(5), executor=where)
        assert caught.value.__notes__ == ["in task 2: 2"]


def test_recorded_tensors_are_refused():
    x = qad.tensor(1.0, requires_grad=True)
    for points, shared, function in (([x], None, max), ([1.0], {"a": [x]}, max), ([1.0], None, lambda _, y: x * y)):
        with pytest.raises(ArgumentError, match="differentiate inside of the function"):
            qad.for_each(function, points, shared)
    assert qad.for_each(lambda a, y: a * y, [], 2) == []


def test_threads_in_order():
    with ThreadPoolExecutor(2) as pool:
        assert list(in_order(pool, add, {"base": 5}, range(9))) == [(i, 5 + i) for i in range(9)]


@pytest.mark.parametrize("executor", [3, "threads", multiprocessing.Process], ids=str)
def test_what_takes_no_tasks_is_refused(executor):
    with pytest.raises(ArgumentError, match=r"takes no tasks: give a concurrent\.futures\.ThreadPoolExecutor"):
        qad.for_each(max, [1, 2], 0, executor)
    with pytest.raises(ArgumentError, match="takes no tasks"):  # there are no slices that it could run
        qad.einsum("ij,jk", np.eye(2), np.eye(2), executor=executor)


def test_a_failure_says_which_task():
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError, match="of the task") as caught:
        list(in_order(pool, fail_at_two, None, range(50)))
    assert caught.value.__notes__ == ["in task 2: 2"]
    assert any(frame.name == "fail_at_two" for frame in caught.traceback)  # its own


def test_slices_are_the_same_to_the_last_bit(executor):
    operands = [np.random.default_rng(i).normal(size=(6, 6)).T for i in range(3)]
    plan = qad.plan("ab,bc,ca->", *operands, variables=range(3), memory_limit=3500)
    assert plan.slices > 2

    def loss(where):
        return qad.value_and_grad(lambda *x: plan(*x, executor=where), argnums=(0, 1, 2))(*operands)

    (value, gradients), (value_there, gradients_there) = loss(None), loss(executor)
    assert value == value_there
    assert all(np.array_equal(*pair) for pair in zip(gradients, gradients_there, strict=True))


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
