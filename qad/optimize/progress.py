"""Progress bars of searches: value, gain and time.

A search that ends by a tolerance does not know how far it is, so no share of its most iterations is shown.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any, TextIO

    from qad.typing import Progress

__all__ = ["bar_for", "note"]


def bar_for(progress: Progress, label: str = "loss", total: int | None = None) -> AbstractContextManager[Any]:
    """The context of a bar: the one that is given, or a new one, which is dark unless it is wanted and someone looks.

    Parameters
    ----------
    progress : bool or tqdm
    label : str
        What is searched for.
    total : int, optional
        The number of steps, where it is known.
    """
    if hasattr(progress, "update"):
        return nullcontext(progress)
    return tqdm(total=total, desc=label, unit=" steps", disable=not (progress and is_watched(sys.stderr)))


def is_watched(stream: TextIO) -> bool:
    """Whether a stream ends on a screen, in a terminal or in a notebook, and not in a file or a pipe."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


def note(bar: Any, history: Sequence[float], slope: float = np.nan) -> None:
    """Show the last value of a search, what the last step gained, and the norm of the gradient where it is known."""
    gain = f", gain {history[-2] - history[-1]:.1e}" if len(history) > 1 else ""
    gradient = "" if np.isnan(slope) else f", gradient {slope:.1e}"
    bar.set_postfix_str(f"{history[-1]:.12g}{gain}{gradient}", refresh=False)
    bar.update()
