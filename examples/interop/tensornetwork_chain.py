"""A chain of the tensornetwork package under qad's tape: a magnetisation and its gradient, beside NumPy's."""

import numpy as np
import tensornetwork as tn

import qad
import qad.interop.tensornetwork  # registers the backend

rng = np.random.default_rng(0)
tensors = [rng.normal(size=shape) for shape in ((1, 2, 3), (3, 2, 3), (3, 2, 1))]
z = np.diag([1.0, -1.0])


def magnetisation(tensors):
    chain = tn.FiniteMPS(tensors, canonicalize=True, backend="qad")
    return sum(chain.measure_local_operator([z] * 3, range(3)))


def dense(tensors):
    psi = np.einsum("aib,bjc,ckd->ijk", *tensors)
    spins = sum(np.einsum(word, z, psi, psi) for word in ("ix,ijk,xjk->", "jx,ijk,ixk->", "kx,ijk,ijx->"))
    return spins / np.sum(psi**2)


value, gradient = qad.value_and_grad(magnetisation)(tensors)
print(f"magnetisation {value:.10f}   exact {dense(tensors):.10f}")
h, step = 1e-6, np.eye(1, 9).reshape(3, 1, 3).repeat(2, 1)
up, down = ([tensors[0], tensors[1] + sign * h * step, tensors[2]] for sign in (1, -1))
print(f"slope {np.sum(gradient[1] * step):.8f}   exact {(dense(up) - dense(down)) / (2 * h):.8f}")
