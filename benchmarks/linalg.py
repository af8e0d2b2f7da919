"""Value and gradient of losses of svd, eigh, qr (64 to 512) and expm (128), complex128.

Losses do not depend on the gauge and use every factor. The gradient flows through the decomposition alone: what is
around it are one or two matrix products. JAX sits in double precision and compiles at its first call;
"qad, funm_herm" and "qad, funm_svd" compute the same by the spectral functions, which are exact at degenerate
spectra as well. The last columns give the value alone.
"""

from functools import partial

import numpy as np

from .case import Case, Contender
from .peers import with_jax, with_torch

SIZES, EXPM_SIZE = (64, 128, 256, 512), 128


def svd_loss(xp):
    """``Re tr W^H U exp(-S) V^H``."""

    def loss(variables, constants):
        u, s, vh = xp.linalg.svd(variables[0], full_matrices=False)
        return xp.real(xp.sum(constants[0] * ((u * xp.exp(-s)) @ vh)))

    return loss


def eigh_loss(xp):
    """``Re tr W^H V exp(-w) V^H``."""

    def loss(variables, constants):
        z = variables[0]
        w, v = xp.linalg.eigh((z + xp.conj(z).T) / 2)
        return xp.real(xp.sum(constants[0] * ((v * xp.exp(-w)) @ xp.conj(v).T)))

    return loss


def qr_loss(xp):
    """``Re tr W^H Q + Re tr X^H R``."""

    def loss(variables, constants):
        q, r = xp.linalg.qr(variables[0])
        return xp.real(xp.sum(constants[0] * q)) + xp.real(xp.sum(constants[1] * r))

    return loss


def expm_loss(expm):
    """``Re tr W^H exp(A)``, with the exponential of each library."""

    def make(xp):
        function = expm(xp)
        return lambda variables, constants: (constants[0] * function(variables[0])).sum().real

    return make


def tape(loss, a, constants):
    """qad."""
    import qad

    function = qad.value_and_grad(lambda x: loss([x], constants))

    def call():
        value, gradient = function(a)
        return value, [gradient]

    return call


def own(make_loss, a, constants, name="qad"):
    """A contender of qad, whose losses are NumPy's."""
    loss = make_loss(np)
    value = partial(partial, loss, [a], constants)
    return Contender(name, partial(tape, loss, a, constants), needs="qad", forward=value)


def by_svd_function(variables, constants):
    """The loss of the SVD by `funm_svd`."""
    import qad

    return (constants[0] * qad.linalg.funm_svd(lambda s: np.exp(-s), variables[0])).sum().real


def by_herm_function(variables, constants):
    """The loss of eigh by `funm_herm`."""
    import qad

    z = variables[0]
    return (constants[0] * qad.linalg.funm_herm(lambda w: np.exp(-w), (z + z.conj().T) / 2)).sum().real


SPECTRAL = {
    "svd": ("qad, funm_svd", by_svd_function),
    "eigh": ("qad, funm_herm", by_herm_function),
}


def of_numpy(xp):
    """SciPy's name, recorded by qad."""
    import qad

    return qad.linalg.expm


def of_torch(xp):
    """PyTorch's name."""
    return xp.linalg.matrix_exp


def of_jax(xp):
    """JAX's name."""
    import jax

    return jax.scipy.linalg.expm


def cases():
    """Every decomposition at every size, and the exponential."""
    rng = np.random.default_rng(0)
    for name, make_loss in (("svd", svd_loss), ("eigh", eigh_loss), ("qr", qr_loss)):
        for n in SIZES:
            a, *constants = (rng.standard_normal((3, n, n)) + 1j * rng.standard_normal((3, n, n))) / np.sqrt(2 * n)
            contenders = [own(make_loss, a, constants)]
            if name in SPECTRAL:
                label, loss = SPECTRAL[name]
                contenders.append(own(lambda xp, loss=loss: loss, a, constants, label))
            contenders += [peer(make_loss, [a], constants, forward=True) for peer in (with_torch, with_jax)]
            yield Case(f"{name}, {n}", contenders, tolerance=1e-6)
    a, w = (rng.standard_normal((2, EXPM_SIZE, EXPM_SIZE)) + 1j * rng.standard_normal((2, EXPM_SIZE, EXPM_SIZE))) / 12
    contenders = [
        own(expm_loss(of_numpy), a, [w]),
        with_torch(expm_loss(of_torch), [a], [w], forward=True),
        with_jax(expm_loss(of_jax), [a], [w], forward=True),
    ]
    yield Case(f"expm, {EXPM_SIZE}", contenders, tolerance=1e-9)
