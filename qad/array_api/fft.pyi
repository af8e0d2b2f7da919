"""The standard's extension ``fft`` as the standard writes it, for type checkers; every function gives Tensors."""

from collections.abc import Sequence

from qad.core.tape.tensor import Tensor
from qad.typing import ArrayLike, DTypeLike, Shape

def fft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor: ...
def fftn(
    x: ArrayLike, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> Tensor: ...
def fftshift(x: ArrayLike, /, *, axes: Shape | None = None) -> Tensor: ...
def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor: ...

# all others have the types of one of these
ifft = rfft = irfft = hfft = ihfft = fft
ifftn = rfftn = irfftn = fftn
ifftshift = fftshift
rfftfreq = fftfreq
