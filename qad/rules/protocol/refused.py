"""What is refused, in one table: the way to write it instead, by the NumPy function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, RecordedTensorError
from qad.elsewhere import attributes_told
from qad.extend import Tensor, attach, implements, value_of

if TYPE_CHECKING:
    from typing import NoReturn

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
    "resize": "x.resize() changes the shape of an array in place: write y = np.resize(x, n)",
    "byteswap": "x.byteswap() is about memory: write x.numpy().byteswap()",
    "setfield": "x.setfield() writes into memory of another dtype: write x[...] = value",
    "getfield": "x.getfield() reads memory as another dtype: write x.real, x.imag or x.astype(dtype)",
    "setflags": "x.setflags() is about memory: write x.numpy(), which is read-only, or x.copy(), which is not",
    "view": "x.view() reads memory as another dtype: write x.astype(dtype), or x.numpy().view(dtype) without gradient",
}.items():
    attach(_name, refusing(f"the method {_name}", _reason))

for _name, _reason in {
    "shape": "x.shape = (9,) would change it in place: write y = x.reshape(9)",
    "dtype": "x.dtype = dtype would read its memory anew: write y = x.astype(dtype)",
}.items():
    attach(_name, getattr(Tensor, _name).setter(refusing(f"assigning to the {_name}", _reason)))


attributes_told(Tensor)


def _asking(name: str, what: str) -> Function:
    """A method of ndarray that gives values away: of constant Tensors, as `item`."""

    def method(x, *args, **kwargs):
        x._refuse(what, f"x.detach().{name}()")
        return getattr(value_of(x), name)(*args, **kwargs)

    return method


for _name, _what in {"tobytes": "bytes", "tofile": "a file", "dump": "a file", "dumps": "bytes"}.items():
    attach(_name, _asking(_name, _what))


def _as_integer_ratio(x: Tensor) -> NoReturn:
    """For `statistics`, which would put the fraction into a Tensor again."""
    x._refuse("a fraction", "np.mean(x) or np.std(x) for statistics, x.detach().item()")
    raise RecordedTensorError("a Tensor has no integer ratio: write x.item(), or x.tolist() for statistics")


attach("as_integer_ratio", _as_integer_ratio)
