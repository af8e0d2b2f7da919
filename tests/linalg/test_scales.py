"""Rules neither overflow nor underflow between 1e-150 and 1e150."""

import numpy as np
import pytest

import qad
from tests.linalg.draw import draw, herm, well


def invariant_svd(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum((draw(3, 3, seed=4) * (u[:, :2] @ vh[:2])).real)


def invariant_eigh(a):
    v = np.linalg.eigh(herm(a))[1]
    return np.sum((draw(3, 3, seed=4) * (v[:, :1] @ v[:, :1].conj().mT)).real)


# name, loss, degree k of homogeneity: L(c A) = c^k L(A)
POINTS = [
    ("svd", invariant_svd, 0),
    ("eigh", invariant_eigh, 0),
    ("svdvals", lambda a: np.linalg.svdvals(a)[0], 1),
    ("eigvalsh", lambda a: np.linalg.eigvalsh(herm(a))[0], 1),
    ("qr Q", lambda a: np.sum(np.linalg.qr(a).Q.real), 0),
    ("qr R", lambda a: np.sum(np.linalg.qr(a).R.real), 1),
    ("inv", lambda a: np.sum(np.linalg.inv(a).real), -1),
    ("solve", lambda a: np.sum(np.linalg.solve(a, draw(3)).real), -1),
    ("sign", lambda a: np.linalg.slogdet(a)[0].real, 0),
    *((f"norm {p}", lambda a, p=p: np.linalg.norm(a, p), 1) for p in (None, "fro", "nuc", 1, 2, -2, np.inf)),
    ("p-norm", lambda a: np.linalg.norm(a[0], 3), 1),
]  # fmt: skip


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("loss, degree", [c[1:] for c in POINTS], ids=[c[0] for c in POINTS])
def test_gradients_scale(loss, degree, scale):
    a = well(3, 3, seed=2)
    g, scaled = qad.grad(loss)(a), qad.grad(loss)(a * scale)
    np.testing.assert_allclose(scaled * scale ** (1 - degree), g, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("loss", [invariant_svd, invariant_eigh], ids=["svd", "eigh"])
def test_second_order_scales(loss, scale):
    a, v = well(3, 3, seed=2), draw(3, 3, seed=3)
    (h,), (scaled,) = qad.hvp(loss, (a,), (v,)), qad.hvp(loss, (a * scale,), (v * scale,))
    np.testing.assert_allclose(scaled * scale, h, rtol=1e-9, atol=1e-12)
