"""Logarithms of amplitudes of many configurations, in batches whose temporaries stay in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend.memory import ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qad.typing import Tree

BATCH = 1024  # configurations at once: their hidden units stay in the cache


def pieces(count: int, size: int = BATCH, first: int = 0) -> Iterator[slice]:
    """Slices of at most `size` that make up what is left of `count` from the `first` one on."""
    return (slice(start, min(start + size, count)) for start in range(first, count, size))


def as_whole(rows: np.ndarray) -> np.ndarray:
    """Configurations as wave functions see them: products of small whole numbers do not wrap around."""
    return rows.astype(np.int64)


def amplitudes(log_psi: Callable[[Any, Any], Any], params: Tree, rows: np.ndarray) -> np.ndarray:
    """``log psi`` of configurations (B, n), checked: finite, or minus infinity where psi is 0."""
    found = [of_batch(log_psi, params, rows[piece]) for piece in pieces(len(rows))]
    return found[0] if len(found) == 1 else np.concatenate(found)


def of_batch(log_psi: Callable[[Any, Any], Any], params: Tree, rows: np.ndarray) -> np.ndarray:
    """The same of at most `BATCH` configurations."""
    whole = as_whole(rows)
    ready(whole.nbytes)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.asarray(log_psi(params, whole))
    if logs.shape != (len(rows),) or logs.dtype.kind not in "fc":
        raise ShapeError(
            f"log_psi has to return one float or complex number for each of {len(rows)} configurations, but "
            f"returned {logs.dtype} of shape {logs.shape}"
        )
    if not logs.real.max() < np.inf or np.isnan(logs.imag).any():
        broken = np.flatnonzero(~(logs.real < np.inf) | np.isnan(logs.imag))[0]
        raise ArgumentError(f"log_psi is {logs[broken]} for the configuration {rows[broken].tolist()}")
    return logs


def check_nonzero(logs: np.ndarray, rows: np.ndarray, advice: str) -> None:
    """Raise where psi is 0; `advice` says what to do."""
    if logs.real.min() == -np.inf:
        zero = rows[np.argmin(logs.real)].tolist()
        raise ArgumentError(f"psi is 0 (log_psi is -inf) for the configuration {zero}: {advice}")
