"""Arrays of libraries that do not speak NumPy's protocols, among operands and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any


def brought(x: Any) -> Any:
    """`x`, and an array of a library such as JAX, which does not speak NumPy's protocols, as one of NumPy's.

    Else its own arithmetic would take part in the derivative, in JAX's case in single precision.  A tensor of torch is
    refused, since torch may be recording it.
    """
    kind = type(x)
    if hasattr(kind, "__array_function__") or not hasattr(kind, "__array__"):
        return x
    if kind.__module__.partition(".")[0] == "torch":
        raise ArgumentError(
            "a torch tensor among the operands: write qad.interop.torch.wrap(f), which differentiates f in torch, or "
            "pass x.numpy(force=True), a constant"
        )
    return x if isinstance(x, np.generic) else np.asarray(x)
