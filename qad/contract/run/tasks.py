"""One function at many points, on any executor: scans of parameters, amplitudes, searches from several starts."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor
    from typing import Any

    from qad.typing import T

__all__ = ["for_each", "in_order", "map_of"]

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
        What all tasks need, such as the tensors of a network: sent with every task.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Anything with their ``map``: threads, processes, ``mpi4py.futures``, Dask.  None computes here, one after the
        other.

    Returns
    -------
    list

    Raises
    ------
    ArgumentError
        `shared` or a point holds recorded Tensors, or `function` returns one: no gradient flows through an executor.
    Exception
        What `function` raised, with a note that says at which point.

    Notes
    -----
    The executor's ``map`` decides how many tasks are under way, and what becomes of those that wait where one fails.  A
    worker that dies is its business too: Dask replaces it, a pool of processes raises.

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

    A task that fails raises its own error, with a note that says which it was.

    Parameters
    ----------
    executor : object with a ``map``, or a client of Dask, or None
        None computes here, one after the other.
    function : callable
        Of the shared object and an item.  For other processes: a function of a module.
    shared : object
        Sent with every task.
    items : iterable
    """
    items = list(items)
    results = iter(map_of(executor)(partial(function, shared), items))
    for number, item in enumerate(items):
        try:
            result = next(results)
        except BaseException as error:
            error.add_note(f"in task {number}: {item}")
            raise
        yield item, result


def map_of(executor: Any) -> Callable[..., Iterable[Any]]:
    """The ``map`` of an executor, Python's own for None."""
    if hasattr(executor, "get_executor"):  # a client of Dask
        executor = executor.get_executor()
    found = map if executor is None else getattr(executor, "map", None)
    if not callable(found):
        raise ArgumentError(
            f"executor={executor!r} takes no tasks: give a concurrent.futures.ThreadPoolExecutor(), a "
            "ProcessPoolExecutor(), another one with their map, or a distributed.Client()"
        )
    return found
