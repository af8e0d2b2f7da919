"""One function at many points, on any executor: scans of parameters, amplitudes, searches from several starts."""

from __future__ import annotations

import os
import sys
from collections import deque
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor
    from typing import Any

    from qad.typing import T

__all__ = ["for_each", "in_order", "require_executor"]

PATIENCE = 1.0  # seconds after which a terminal shows how far it is


def for_each(
    function: Callable[[Any, Any], T], points: Iterable[Any], shared: Any = None, executor: Executor | Any = None
) -> list[T]:
    """``[function(shared, point) for point in points]``, on an executor.

    Results come in the order of the points, whoever is done first, and are the same to the last bit wherever they are
    computed, on processors of one kind.

    Parameters
    ----------
    function : callable
        Of `shared` and a point.  It differentiates, optimises, contracts inside; for other processes it is a function
        of a module.
    points : iterable
        Parameters, bit strings, starts, seeds: what is sent with each task.
    shared : object, optional
        What all tasks need, such as the tensors of a network: sent once to each worker of a Dask cluster, and with
        every task elsewhere.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Threads, processes, ``mpi4py.futures``, Dask.  None computes here, one after the other.

    Returns
    -------
    list

    Raises
    ------
    ArgumentError
        `shared` or a point holds recorded Tensors, or `function` returns one: no gradient flows through an executor.
    Exception
        What `function` raised, with a note that says at which point; what waits is cancelled.

    Notes
    -----
    Twice as many tasks are under way as run at once.  A worker that dies is the executor's business: Dask replaces it,
    a pool of processes raises.

    Examples
    --------
    >>> import numpy as np, qad
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def slope(psi, angle):
    ...     return float(qad.grad(lambda t: np.sum(np.sin(t) * psi))(angle))
    >>> with ThreadPoolExecutor(2) as threads:
    ...     qad.for_each(slope, [0.0, np.pi], shared=np.ones(2), executor=threads)
    [2.0, -2.0]
    """
    from tqdm import tqdm  # which `import qad` does without

    points = list(points)
    _check((shared, points), "what is sent to them holds")
    done, results = in_order(executor, function, shared, points), []
    for _, result in tqdm(done, "points", len(points), delay=PATIENCE, disable=not sys.stderr.isatty()):
        _check(result, "the function returned")
        results.append(result)
    return results


def _check(tree, what):
    if any(type(leaf) is Tensor and leaf.requires_grad for leaf in flatten(tree)[0]):
        raise ArgumentError(
            f"for_each: tasks carry no gradient, and {what} a recorded Tensor: differentiate inside of the function, "
            "or pass x.numpy()"
        )


def in_order(
    executor: Any, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield ``(item, function(shared, item))`` in the order of the items, whichever task is done first.

    Twice as many tasks as run at once are under way, so that nobody waits for the next.  A task that fails raises its
    own error, with a note that says which it was; those that wait are cancelled then.

    Parameters
    ----------
    executor : concurrent.futures.Executor, or a client of Dask, or None
        None computes here, one after the other.
    function : callable
        Of the shared object and an item.  For other processes: a function of a module.
    shared : object
        Sent once to each worker of a Dask cluster, with every task elsewhere.
    items : iterable
    """
    if executor is None:
        yield from one_by_one(function, shared, items)
        return
    require_executor(executor)
    if hasattr(executor, "scatter"):
        shared = executor.scatter(shared, broadcast=True, hash=False)
    items, waiting, most = enumerate(items), deque(), 2 * at_once(executor)
    try:
        while True:
            for number, item in islice(items, most - len(waiting)):
                waiting.append((number, item, executor.submit(function, shared, item)))
            if not waiting:
                return
            number, item, future = waiting[0]
            with noted(number, item):
                result = future.result()
            waiting.popleft()
            yield item, result
    finally:
        for *_, future in waiting:
            future.cancel()


def one_by_one(function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """`in_order` without an executor."""
    for number, item in enumerate(items):
        with noted(number, item):
            result = function(shared, item)
        yield item, result


def require_executor(executor: Any) -> None:
    """Raise unless it takes tasks."""
    if not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor={executor!r} takes no tasks: give a concurrent.futures.ThreadPoolExecutor(), a "
            "ProcessPoolExecutor(), another one with their submit, or a distributed.Client()"
        )


def at_once(executor: Any) -> int:
    """How many tasks an executor runs at once: a client of Dask, a pool of Python's, of MPI, or of a kind unknown."""
    if hasattr(executor, "nthreads"):
        return max(1, sum(executor.nthreads().values()))
    workers = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    return workers if isinstance(workers, int) and workers > 0 else os.cpu_count() or 1


@contextmanager
def noted(number: int, item: Any) -> Iterator[None]:
    """Add to an error which task it was."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in task {number}: {item}")
        raise
