"""The standard's extension ``fft``."""

import numpy as np

from qad.array_api.wrap import as_tensors, names_of

NAMES = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftshift ifftshift"

globals().update(names_of(np.fft, NAMES))


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of `fft`."""
    return as_tensors(np.fft.fftfreq(n, d, device=device).astype(dtype or float))


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of `rfft`."""
    return as_tensors(np.fft.rfftfreq(n, d, device=device).astype(dtype or float))


__all__ = [*NAMES.split(), "fftfreq", "rfftfreq"]
