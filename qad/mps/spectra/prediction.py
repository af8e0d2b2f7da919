"""Series in time continued by linear prediction, and their transforms to frequencies.

Of a series that is a sum of exponentials each number is one linear combination of those before it.  Its coefficients
are fitted to what is known, and the roots of their polynomial are the exponentials (S. R. White and I. Affleck, PRB 77,
134437 (2008); T. Barthel, U. Schollwoeck and S. R. White, PRB 79, 245101 (2009)).  What grows would leave all bounds:
roots outside of the unit circle are reflected into it.  Then the amplitudes of the exponentials are fitted.
"""

from __future__ import annotations

import numpy as np

SMALL = 1e-5  # of singular values, relative: below it they are noise to the fit


def continued(series: np.ndarray, length: int, order: int) -> np.ndarray:
    """A series of so many numbers, the first ones those of `series`, whose last half tells how it goes on.

    Parameters
    ----------
    series : complex array (known,)
    length, order : int
        `order` is the number of exponentials, at most half of what is known.

    Returns
    -------
    complex array (length,)
    """
    known = len(series)
    if length <= known or not series.any():
        return np.concatenate([series, np.zeros(max(length - known, 0), series.dtype)])[:length]
    fitted = known // 2
    rows = np.lib.stride_tricks.sliding_window_view(series, order + 1)[-fitted:]
    weights = np.linalg.lstsq(rows[:, :-1], rows[:, -1], SMALL)[0]
    roots = np.roots(np.concatenate([[1.0], -weights[::-1]]))
    roots = roots / np.maximum(np.abs(roots), 1.0) ** 2
    powers = roots ** np.arange(length - known + fitted)[:, None]
    amplitudes = np.linalg.lstsq(powers[:fitted], series[-fitted:], SMALL)[0]
    return np.concatenate([series, powers[fitted:] @ amplitudes])


def transformed(
    forward: np.ndarray, backward: np.ndarray, step: float, width: float, frequencies: np.ndarray
) -> np.ndarray:
    """Fourier transforms of series from time 0 on and back, convolved with a Gaussian of this standard deviation.

    Their integrals over a period ``2 pi / step`` of frequencies are the numbers at time 0.

    Parameters
    ----------
    forward, backward : complex arrays (m, times)
    step, width : float
    frequencies : array (k,)

    Returns
    -------
    complex array (m, k)
    """
    times = step * np.arange(forward.shape[1])
    window = np.exp(-((width * times) ** 2) / 2) * step / (2 * np.pi)
    window[0] /= 2
    waves = window[:, None] * np.exp(1j * times[:, None] * frequencies)
    return forward @ waves + backward @ waves.conj()
