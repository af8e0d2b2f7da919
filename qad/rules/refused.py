"""What is refused, in one table: the way to write it instead, by the NumPy function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import attach, implements

if TYPE_CHECKING:
    from qad.typing import Function

FILES = "files hold values, not gradients: give it x.numpy()"
SETS = "it compares two arrays of values: write np.unique(x), and pick of that with np.isin(x.numpy(), y.numpy())"

REFUSED: dict[Function, str] = {
    np.save: FILES, np.savez: FILES, np.savez_compressed: FILES, np.savetxt: FILES,
    np.intersect1d: SETS, np.setxor1d: SETS,
    np.sort_complex: "complex numbers have no order: write np.sort of x.real, of abs(x) or of qad.abs2(x)",
    np.polydiv: "the length of its remainder depends on values: write np.polyval(u, x) / np.polyval(v, x)",
}  # fmt: skip


def refusing(name: str, reason: str) -> Function:
    """A handler that says why not."""

    def refuse(*args, **kwargs):
        raise ArgumentError(f"{name} of a Tensor is refused: {reason}")

    return refuse


for _function, _reason in REFUSED.items():
    implements(_function)(refusing(f"np.{_function.__name__}", _reason))

for _name, _reason in {
    "sort": "x.sort() sorts in place: write y = np.sort(x)",
    "partition": "x.partition() works in place: write y = np.partition(x, kth)",
    "resize": "x.resize() works in place: write y = np.resize(x, shape)",
    "byteswap": "x.byteswap() is about memory: write x.numpy().byteswap()",
    "view": "x.view() reads memory as another dtype: write x.astype(dtype), or x.numpy().view(dtype) without gradient",
}.items():
    attach(_name, refusing(f"the method {_name}", _reason))
