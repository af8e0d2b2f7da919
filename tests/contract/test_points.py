"""One function at many points gives the same wherever it runs; mistakes say where they were made."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from tests.contract.points import JOBS, broken


@pytest.fixture(scope="module", params=["threads", "processes", "MPI"])
def executor(request):
    if request.param == "MPI":
        futures = pytest.importorskip("mpi4py.futures", reason="mpi4py is not installed")
        pool = futures.MPIPoolExecutor(2)
    elif request.param == "threads":
        pool = ThreadPoolExecutor(2)
    else:
        pool = ProcessPoolExecutor(2, mp_context=get_context("forkserver"))
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
