"""Slices on a Dask cluster of two processes that this module starts."""

import os

import numpy as np
import pytest

import qad
from qad.contract.run.tasks import in_order
from qad.core.trees import flatten
from tests.contract.run.jobs import JOBS

pytest.importorskip("distributed", reason="the optional package distributed (of dask) is not installed")

from distributed import Client, LocalCluster

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own: what it finds on a machine differs


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


OPERANDS = [np.random.default_rng(i).normal(size=(6, 6)).T + 1j for i in range(3)]
PLAN = qad.plan("ab,bc,ca->", *OPERANDS, variables=range(3), memory_limit=3600)


def value_and_gradients(executor):
    return qad.value_and_grad(lambda *x: PLAN(*x, executor=executor).real, argnums=(0, 1, 2))(*OPERANDS)


@pytest.mark.parametrize("kind", ["client", "executor"])
def test_values_and_gradients_are_the_same_to_the_last_bit(client, kind):
    assert PLAN.slices > 2
    value, gradients = value_and_gradients(None)
    value_there, gradients_there = value_and_gradients(client if kind == "client" else client.get_executor())
    assert value == value_there
    assert all(np.array_equal(*pair) for pair in zip(gradients, gradients_there, strict=True))


@pytest.mark.slow
def test_a_worker_that_dies_is_survived(client, tmp_path):
    mark = str(tmp_path / "died")

    def task(shared, item):  # of a closure: this module has another name in the workers
        if item == 1 and not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(1)
        return shared + item

    assert [y for _, y in in_order(client, task, 100, range(6))] == [100 + i for i in range(6)]
    assert os.path.exists(mark)


def test_a_failure_says_which_task(client):
    def task(shared, item):
        return 1 / (item - 2)

    with pytest.raises(ZeroDivisionError) as caught:
        list(in_order(client, task, None, range(5)))
    assert caught.value.__notes__ == ["in task 2: 2"]


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_many_points_are_the_same_to_the_last_bit(client, name):
    function, shared, points = JOBS[name]
    here, there = (qad.for_each(function, points, shared, executor=each) for each in (None, client))
    for one, two in zip(flatten(here)[0], flatten(there)[0], strict=True):
        np.testing.assert_array_equal(one, two)
