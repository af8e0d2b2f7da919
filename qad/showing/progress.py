"""Progress bars, of everything that waits: what it has reached, and the time.

By default a bar appears after two seconds where someone looks, in a terminal or a notebook, and is gone at the end;
``qad.config(progress=False)`` turns all of them off.  Of bars within bars the outermost is shown, and those beneath it
keep its clock going.  A search that ends by a tolerance does not know how far it is, so no share of its most iterations
is shown.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from qad.core.process.config import config

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, TextIO

    from qad.typing import Progress

__all__ = ["bar_for", "note", "tick"]

PATIENCE = 2.0  # seconds before a bar appears that nobody asked for
_above: ContextVar[Any] = ContextVar("the bar that is open", default=None)


class Unseen:
    """A bar that nobody sees: nobody looks, or another one is shown above it."""

    def __init__(self, above: Any = None):
        self.above: Any = above

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        """Nothing."""

    def update(self, n: int = 1) -> None:
        """The bar above shows its time."""
        if self.above is not None:
            self.above.update(0)


def bar_for(progress: Progress = None, label: str = "loss", total: int | None = None) -> AbstractContextManager[Any]:
    """The context of a bar.

    Parameters
    ----------
    progress : bool or tqdm, optional
        None for a bar after two seconds, True for one at once that stays, False for none; or a bar that is moved.
    label : str
        What is searched for, or done.
    total : int, optional
        The number of steps, where it is known; of one step alone there is no bar, but of what it consists of.
    """
    above = _above.get()
    if progress is None and (above is not None or total == 1 or not (is_watched(sys.stderr) and config().progress)):
        return nullcontext(Unseen(above))
    return opened(progress, label, total, above)


@contextmanager
def opened(progress: Progress, label: str, total: int | None, above: Any) -> Iterator[Any]:
    """A bar that is shown, moved or refused, and above those that are opened within."""
    beneath = Unseen(above)
    bar: AbstractContextManager[Any] = nullcontext(beneath)
    if hasattr(progress, "update"):
        bar = nullcontext(progress)
    elif progress is not False and is_watched(sys.stderr):
        options = {} if progress else {"leave": False, "delay": PATIENCE}
        bar = beneath = tqdm(total=total, desc=label, unit=" steps", miniters=0, **options)
    with bar as shown:
        token = _above.set(beneath)
        try:
            yield shown
        finally:
            _above.reset(token)


def tick() -> None:
    """The bar that is open shows its time, within a step that may be long."""
    if (above := _above.get()) is not None:
        above.update(0)


def is_watched(stream: TextIO | None) -> bool:
    """Whether a stream ends on a screen, in a terminal or in a notebook, and not in a file or a pipe."""
    if stream is None or getattr(stream, "closed", False):
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


def note(bar: Any, history: Sequence[float], slope: float = np.nan) -> None:
    """Show the last value of a search, what the last step gained, and the norm of the gradient where it is known."""
    gain = f", gain {history[-2] - history[-1]:.1e}" if len(history) > 1 else ""
    gradient = "" if np.isnan(slope) else f", gradient {slope:.1e}"
    bar.set_postfix_str(f"{history[-1]:.12g}{gain}{gradient}", refresh=False)
    bar.update()
