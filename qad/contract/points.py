"""One function at many points, on any executor: scans of parameters, amplitudes, searches from several starts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from qad.contract.crew import here, in_order
from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Executor
    from typing import Any

    from qad.typing import T

__all__ = ["for_each"]

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
        What all tasks need, such as the tensors of a network: sent once to each process of a pool and each worker of a
        Dask cluster.
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
    Twice as many tasks are under way as run at once.  Workers that die are replaced, as docs/clusters.md says.

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
    done = here(function, shared, points) if executor is None else in_order(executor, function, shared, points)
    results = []
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
