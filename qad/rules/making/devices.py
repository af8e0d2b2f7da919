"""Arrays moved to a GPU and back, by CuPy; what is recorded stays recorded, and gradients travel the other way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import tree_map
from qad.extend import ENTRIES, is_foreign, primitive, rule, stack_of
from qad.installed import require

if TYPE_CHECKING:
    from types import ModuleType

    from qad.typing import Tree, Value


@primitive
def moved(x: Value, *, device: str) -> Value:
    """The array `x` on that device."""
    if device == "cpu":
        return x.get() if hasattr(x, "get") else x.copy()
    cupy = _cupy()
    with cupy.cuda.Device(int(device.removeprefix("cuda:"))):
        return cupy.asarray(x)


rule(moved, lambda g, y, x, *, device: moved(g, device=device_of(x)), linear=True, batch=ENTRIES)


def device_of(x: Value) -> str:
    """Where the values of `x` lie: "cpu", or the number of a GPU as "cuda:0"."""
    device = getattr(stack_of(x), "device", "cpu")
    return f"cuda:{device.id}" if hasattr(device, "id") else "cpu"


def to_device(tree: Tree, device: str) -> Tree:
    """A pytree with its arrays on a GPU, by CuPy, or back on the host.

    What is computed from arrays on a device is computed there.  Arrays of two devices in one expression are refused:
    move all of them.

    Parameters
    ----------
    tree : pytree
        Arrays of NumPy and CuPy, and Tensors, which stay recorded: gradients come back where `tree` was.
        What is no array stays what it is.
    device : str
        "cuda" or "cuda:0" for the first GPU, "cuda:1" for the second, and so on; "cpu" for the host.

    Returns
    -------
    pytree
        Of the same structure.  What lies there already is not copied.

    Raises
    ------
    ImportError
        CuPy is missing or too old: ``pip install 'qad-tensors[cuda]'``.
    ArgumentError
        There is no such device.

    See Also
    --------
    qad.extend.like : what creates arrays beside those of a device.

    Examples
    --------
    >>> import numpy as np, qad
    >>> psi = {"a": np.ones(2), "name": "plus"}
    >>> qad.to_device(psi, "cpu")["a"] is psi["a"]
    True
    """
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise ArgumentError(f'to_device: the devices are "cpu", "cuda", "cuda:0", "cuda:1", ..., not {device!r}')
    where = "cuda:0" if device == "cuda" else device
    if where != "cpu":
        _cupy()

    def there(x):
        array = stack_of(x)
        is_array = isinstance(array, np.ndarray) or is_foreign(array) or hasattr(array, "__qad_step__")
        return moved(x, device=where) if is_array and device_of(x) != where else x

    return tree_map(there, tree)


def _cupy() -> ModuleType:
    require('qad.to_device(..., "cuda")', "cupy")
    import cupy

    return cupy
