"""The standard's extension ``fft``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.wrap import as_tensors, names_of

if TYPE_CHECKING:
    from qad.extend import Tensor
    from qad.typing import DTypeLike

NAMES = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftshift ifftshift"

globals().update(names_of(np.fft, NAMES.split()))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """The frequencies of `fft`."""
    return as_tensors(np.fft.fftfreq(n, d, device=device).astype(dtype or float))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """The frequencies of `rfft`."""
    return as_tensors(np.fft.rfftfreq(n, d, device=device).astype(dtype or float))


__all__ = [*NAMES.split(), "fftfreq", "rfftfreq"]
