"""`qad.profile`: where time and memory go, per operation, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from qad.core.debug.observer import Observer, wrap_rules
from qad.core.tape.tensor import Tensor, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Function
    from qad.typing.words import Rule


@dataclass
class Timing:
    """What one operation took: calls, seconds and bytes of what it made, forward and backward."""

    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    backward_calls: int = 0
    backward_seconds: float = 0.0
    backward_bytes: int = 0


class profile(Observer):
    """Context manager that measures every operation on Tensors, forward and backward, and prints a table.

    Parameters
    ----------
    show : bool
        Whether to print the table at the end. It can be printed later: ``print(p)``.

    Attributes
    ----------
    rows : dict of str to Timing
        Per operation: ``calls``, ``seconds``, ``bytes`` (of the results) and ``backward_calls``, ``backward_seconds``,
        ``backward_bytes`` (of the cotangents).
    seconds : float
        Of the whole context. What is not in the rows was spent in Python, in the tape and in plain NumPy.

    Notes
    -----
    Measuring costs a few microseconds an operation, most of it outside of the rows. Operations that run inside of
    another one, as those of lower levels do, count there.

    Examples
    --------
    >>> import numpy as np, qad
    >>> with qad.profile(show=False) as p:
    ...     g = qad.grad(lambda x: np.sum(np.sin(x) ** 2))(np.ones(1000))
    >>> p.rows["sin"].calls, p.rows["sin"].bytes, p.rows["sin"].backward_bytes
    (1, 8000, 8000)
    """

    def __init__(self, show: bool = True):
        self.show = show
        self.rows: dict[str, Timing] = {}
        self.seconds: float = 0.0
        self._inside = False

    def __enter__(self) -> Self:
        self._start = perf_counter()
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self.seconds += perf_counter() - self._start
        if self.show and exc[0] is None:
            print(self)

    def apply(self, p: Any, args: Any, kwargs: Any) -> Any:
        if self._inside:
            return super().apply(p, args, kwargs)
        row = self.rows.setdefault(p.name, Timing())
        out, seconds = self._measured(super().apply, p, args, kwargs)
        row.calls += 1
        row.seconds += seconds
        row.bytes += sum(map(_size, out if isinstance(out, (tuple, list)) else (out,)))
        wrap_rules(out, lambda rule, places: self._timed(rule, places, row))
        return out

    def _measured(self, function: Function, *args: Any, **kwargs: Any) -> tuple[Any, float]:
        self._inside = True
        start = perf_counter()
        try:
            return function(*args, **kwargs), perf_counter() - start
        finally:
            self._inside = False

    def _timed(self, rule: Rule, places: Sequence[int] | None, row: Timing) -> Rule:
        def timed(*call, **kwargs):
            if self._inside:
                return rule(*call, **kwargs)
            answer, seconds = self._measured(rule, *call, **kwargs)
            row.backward_calls += 1
            row.backward_seconds += seconds
            row.backward_bytes += sum(map(_size, (answer,) if places else answer))
            return answer

        return timed

    def __str__(self) -> str:
        lines = [
            f"{'operation':24}{'calls':>8}{'ms':>10}{'MB':>10}{'backward':>12}{'ms':>10}{'MB':>10}",
            *(
                f"{name[:23]:24}{r.calls:8}{1e3 * r.seconds:10.3f}{r.bytes / 1e6:10.3f}"
                f"{r.backward_calls:12}{1e3 * r.backward_seconds:10.3f}{r.backward_bytes / 1e6:10.3f}"
                for name, r in sorted(self.rows.items(), key=lambda item: -item[1].seconds - item[1].backward_seconds)
            ),
        ]
        spent = sum(r.seconds + r.backward_seconds for r in self.rows.values())
        lines.append(f"{1e3 * self.seconds:.3f} ms in all, {1e3 * spent:.3f} ms of them in these operations")
        return "\n".join(lines)

    __repr__ = __str__


def _size(x: Any) -> int:
    """Bytes of an array behind Tensors; structured cotangents count nothing."""
    return getattr(value_of(x) if type(x) is Tensor else x, "nbytes", 0)
