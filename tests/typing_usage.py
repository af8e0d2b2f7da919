"""A user's program for a type checker, which `test_typing` runs on it; what Python makes of it is beside the point."""
# pyright: basic, reportUnnecessaryTypeIgnoreComment=true

from typing import Any, assert_type

import numpy as np

import qad
from qad.typing import Array, QRResult, Real, Scalar, SVDResult


def loss(theta: Array, k: int = 2) -> Array:
    circuit = qad.Circuit(2).ry(theta[0], [0, 1]).cx(0, 1).controlled(0).rz(k * theta[1], 1)
    return circuit.expectation(qad.PauliSum({"ZZ": 1.0, "XI": 0.5}))


# Transforms keep the arguments of a function.
theta = np.zeros(2)
value, gradient = qad.value_and_grad(loss)(theta, k=3)
assert_type(value, Array)
qad.grad(loss)(theta, m=3)  # pyright: ignore[reportCallIssue]
qad.vmap(loss)(theta, 1, 2)  # pyright: ignore[reportCallIssue]
assert_type(qad.checkpoint(loss)(theta), Array)
assert_type(qad.jvp(loss, (theta,), (theta,)), tuple[Array, Any])
assert_type(qad.is_holomorphic(loss)(theta), bool)
assert_type(qad.freeze(loss)(theta), Array)
qad.freeze(loss)(theta, m=3)  # pyright: ignore[reportCallIssue]


@qad.freeze
def doubled(x: Array) -> Array:
    return 2 * x


@qad.extend.primitive
def cube(x: Array) -> Array:
    return x * x * x


@qad.extend.primitive(name="the cube")
def named(x: Array) -> Array:
    return x * x * x


assert_type(doubled(theta), Array)
assert_type(cube(theta), Array)
named(theta, 2)  # pyright: ignore[reportCallIssue]
qad.extend.defvjp(cube, lambda g, ans, x: 3 * g * x**2, elementwise=True)

# Tensors have the operators and methods of arrays.
x = qad.tensor([1.0, 2.0], requires_grad=True)
y = ((2.0 * x + 1.0 - theta) @ x).sum()
assert_type(y, qad.Tensor)
y.backward()
assert_type(x.T.conj().reshape(2, 1).mH[0], qad.Tensor)
assert_type(qad.zeros(3), qad.Tensor)
state = qad.zeros((2, 2), complex)
state[0, 0] = y
np.sum(np.sin(x))
with qad.no_grad(), qad.profile(show=False):
    float(y)

# Matrices.
assert_type(qad.linalg.svd(x), SVDResult)
assert_type(qad.linalg.svd(x, compute_uv=False), Array)
assert_type(qad.linalg.qr(x), QRResult)
assert_type(qad.linalg.qr(x, "r"), Array)
assert_type(qad.linalg.dominant_eig(np.eye(2), theta, "both"), tuple[Scalar, Any, Any])
u, s, vh = qad.linalg.svd(np.eye(2), full_matrices=False)
assert_type(u @ np.diag(s) @ vh, Array)

# Chains, and standard names.
h = qad.mps.heisenberg(8)
found = qad.mps.ground_state(h, bond=8, callback=lambda state, energy: state.bond)
assert_type(found.state.canonicalize(3), qad.mps.MPS)
assert_type(h @ found.state, qad.mps.MPS)
assert_type(h @ h, qad.mps.MPO)
assert_type(qad.mps.energy(found.state, h), Real)
assert_type(qad.mps.MPS.load("state.npz"), qad.mps.MPS)
assert_type(qad.array_api.sin(x), qad.Tensor)
assert_type(qad.plan("ij,jk", (2, 3), (3, 4)).flops, int)
