"""Arrays of other libraries among operands: those that do not speak NumPy's protocols, and those on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.core.words import Value


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


def refuse_devices(name: str, args: Sequence[Value], error: TypeError) -> None:
    """Raise an error that a function met as one of ours, if its operands lie on several devices."""
    devices = [getattr(x, "device", "cpu") for x in args if getattr(x, "ndim", 0)]
    found = sorted({f"cuda:{device.id}" if hasattr(device, "id") else "cpu" for device in devices})
    if len(found) > 1:
        places, one = " and ".join(found), found[-1]
        raise ArgumentError(
            f"{name} of arrays on {places}: move all to one device, as qad.to_device(x, {one!r}) does"
        ) from error
