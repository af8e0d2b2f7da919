"""Tasks on an executor: what all of them share travels once, results come back in order, lost workers are replaced.

A crew is a common front of executors.  ``size`` is the number of tasks that run at once, ``submit(item)`` returns the
future of ``function(shared, item)``, and ``mended(error)`` says whether a worker was lost and work can go on.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections import deque
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.installed import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

__all__ = ["here", "in_order", "require_executor"]

DEATHS = 3  # of workers at one task, after which it is taken for what kills them


def in_order(
    executor: Any, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield ``(item, function(shared, item))`` in the order of the items, whichever task is done first.

    Twice as many tasks as run at once are under way, so that nobody waits for the next.  A task that fails raises its
    own error, with a note that says which it was; those that wait are cancelled then.

    Parameters
    ----------
    executor : concurrent.futures.Executor, or a client of Dask
    function : callable
        Of the shared object and an item.  For other processes: a function of a module.
    shared : object
        Sent once to each process of a pool and each worker of a Dask cluster, with every task elsewhere.
    items : iterable
    """
    items = enumerate(items)
    with _crew_of(executor, function, shared) as crew:
        waiting = deque()
        try:
            while True:
                for number, item in islice(items, max(2 * crew.size - len(waiting), 0)):
                    waiting.append([number, item, crew.submit(item), 0])
                if not waiting:
                    return
                yield _first(crew, waiting)
        finally:
            for *_, future, _ in waiting:
                future.cancel()


def require_executor(executor: Any) -> None:
    """Raise unless it takes tasks."""
    if not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor={executor!r} takes no tasks: give a concurrent.futures.ThreadPoolExecutor(), a "
            "ProcessPoolExecutor(), another one with their submit, or a distributed.Client()"
        )


def here(function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The same without an executor, one after the other."""
    for number, item in enumerate(items):
        try:
            result = function(shared, item)
        except BaseException as error:
            error.add_note(f"in task {number}: {item}")
            raise
        yield item, result


def _first(crew, waiting):
    """The item and the result of the first task that waits; if its worker was lost, all are submitted again."""
    while True:
        number, item, future, deaths = waiting[0]
        try:
            result = future.result()
        except BaseException as error:
            if deaths + 1 < DEATHS and crew.mended(error):
                for task in waiting:
                    task[2] = crew.submit(task[1])
                waiting[0][3] += 1
                continue
            error.add_note(f"in task {number}: {item}")
            raise
        waiting.popleft()
        return item, result


# -- kinds of executors ----------------------------------------------------------------------------------------------


@contextmanager
def _crew_of(executor, function, shared):
    if (client := _client_of(executor)) is not None:
        yield Dask(client, function, shared)
    elif isinstance(executor, ProcessPoolExecutor):
        crew = Processes(executor, function, shared)
        try:
            yield crew
        finally:
            crew.close()
    else:
        yield Crew(executor, function, shared)


def _client_of(executor):
    """The client of a Dask cluster, if the executor is one or belongs to one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import Client
    from distributed.cfexecutor import ClientExecutor

    client = executor._client if isinstance(executor, ClientExecutor) else executor
    if not isinstance(client, Client):
        return None
    require("an executor of Dask", "distributed")
    return client


class Crew:
    """Any executor: threads, and those that send the shared object along with every task."""

    executor: Any
    function: Callable[[Any, Any], Any]
    shared: Any

    def __init__(self, executor: Any, function: Callable[[Any, Any], Any], shared: Any) -> None:
        require_executor(executor)
        self.executor, self.function, self.shared = executor, function, shared

    @property
    def size(self) -> int:
        workers = getattr(self.executor, "_max_workers", None) or getattr(self.executor, "num_workers", None)
        return workers if isinstance(workers, int) and workers > 0 else os.cpu_count() or 1

    def submit(self, item: Any) -> Future[Any]:
        return self.executor.submit(self.function, self.shared, item)

    def mended(self, error: BaseException) -> bool:
        return False


class Dask(Crew):
    """A Dask cluster: it looks after lost workers itself; what was scattered may be lost with one, and is sent again.

    Dask keeps one copy of what lies on several workers, after a while.
    """

    scattered: Any

    def __init__(self, client: Any, function: Callable[[Any, Any], Any], shared: Any) -> None:
        super().__init__(client, function, shared)
        self.scatter()

    def scatter(self) -> None:
        self.scattered = self.executor.scatter(self.shared, broadcast=True, hash=False)

    @property
    def size(self) -> int:
        return max(1, sum(self.executor.nthreads().values()))

    def submit(self, item: Any) -> Future[Any]:
        return self.executor.submit(self.function, self.scattered, item, pure=False)  # equal tasks are two

    def mended(self, error: BaseException) -> bool:
        if not isinstance(error, CancelledError) or self.scattered.status == "finished":
            return False
        self.scatter()
        return True


class Processes(Crew):
    """A pool of processes: the shared object lies in a file that each reads once; a broken pool is replaced."""

    executor: ProcessPoolExecutor

    def __init__(self, executor: ProcessPoolExecutor, function: Callable[[Any, Any], Any], shared: Any) -> None:
        handle, path = tempfile.mkstemp(prefix="qad-")
        with os.fdopen(handle, "wb") as file:
            pickle.dump(shared, file, protocol=pickle.HIGHEST_PROTOCOL)
        super().__init__(executor, function, path)
        self.own: ProcessPoolExecutor | None = None

    def submit(self, item: Any) -> Future[Any]:
        try:
            return self.executor.submit(_with_file, self.function, self.shared, item)
        except BrokenProcessPool as error:  # told by its result, as if it had been lost later
            future = Future()
            future.set_exception(error)
            return future

    def mended(self, error: BaseException) -> bool:
        if not isinstance(error, BrokenProcessPool):
            return False
        before = self.executor
        self.close_pool()
        self.own = self.executor = ProcessPoolExecutor(before._max_workers, before._mp_context)
        return True

    def close_pool(self) -> None:
        if self.own is not None:
            self.own.shutdown(cancel_futures=True)

    def close(self) -> None:
        self.close_pool()
        os.unlink(self.shared)


_read: dict[str, Any] = {}  # in a process of a pool: the last shared object, by its file


def _with_file(function, path, item):
    if path not in _read:
        _read.clear()
        with open(path, "rb") as file:
            _read[path] = pickle.load(file)
    return function(_read[path], item)
