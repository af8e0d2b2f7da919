"""Fourier transforms of every kind, length, axis and norm."""

from itertools import product

import numpy as np
import pytest

import qad
from tests.cases import Case, normal

R, C = normal(4, 5), normal(4, 5, complex)
NORMS = (None, "ortho", "forward")


def case(name, x, **options):
    f = getattr(np.fft, name)
    return Case(lambda x: f(x, **options), x, name=f"{name}({options})")


CASES = [
    case(f, x, n=n, axis=axis, norm=norm)
    for names, xs, lengths, axes in (
        (("fft", "ifft"), (C,), (None, 3, 7), (0, -1)),
        (("fft", "rfft", "ihfft"), (R,), (None, 3, 4, 8), (-1,)),
        (("irfft", "hfft"), (C, R), (None, 3, 4, 9), (0,)),
    )
    for f, x, n, axis, norm in product(names, xs, lengths, axes, NORMS)
]
CASES += [
    case(f, R if f.startswith("rfft") else C, s=s, axes=axes, norm=norm)
    for f in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn")
    for s, axes, norm in ((None, (0, 1), "ortho"), ((3, 6), (0, 1), None), (None, (1, 0), "forward"))
]
CASES += [case(f, C) for f in ("fftn", "irfftn", "ifft2", "fftshift", "ifftshift")]
CASES += [case("fftshift", R, axes=0), case("ifftshift", C, axes=[1]), case("fftn", normal(2, 3, 2), axes=(-1, 0))]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_derivatives_and_values(c):
    c.check()
    (x,) = c.point
    np.testing.assert_allclose(c.f(qad.tensor(x)).numpy(), c.f(x), atol=1e-14)


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft"])
def test_single_precision(name):
    case(name, C.astype(np.complex64)).check()


def test_lengths_and_axes_must_match():
    with pytest.raises(qad.errors.ArgumentError, match="one each"):
        np.fft.fft2(qad.tensor(C), s=(3,))


def test_fft_is_reachable_from_qad():
    assert qad.fft is np.fft
