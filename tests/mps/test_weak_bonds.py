"""Derivatives of chains with bonds of little weight: right, or refused."""

import numpy as np
import pytest

import qad
from qad import mps
from qad.core.errors import ArgumentError

GATE = np.linalg.qr(np.random.default_rng(5).standard_normal((4, 4)))[0]
STEPS = {
    "gates that undo each other": lambda psi: psi.apply(GATE, (1, 2)).apply(GATE.T, (1, 2)),
    "gates at the left end": lambda psi: psi.apply(GATE, (0, 1)).apply(GATE.T, (0, 1)),
    "swaps": lambda psi: mps.swap(mps.swap(psi, 0, 2), 0, 2),
    "truncate": lambda psi: psi.truncate()[0],
    "truncate to a bond": lambda psi: psi.truncate(4)[0],
    "canonicalize at 0": lambda psi: psi.canonicalize(0),
    "canonicalize at 2": lambda psi: psi.canonicalize(2),
    "canonicalize at 3": lambda psi: psi.canonicalize(3),
}


def chain(bond, weight, middle):
    rng, widths = np.random.default_rng(3), (1, 2, middle, 2, 1)
    tensors = [rng.standard_normal((widths[i], 2, widths[i + 1])) for i in range(4)]
    tensors[bond][..., 0] *= weight  # the direction of little weight comes first: its size is no order of the basis
    return rng.standard_normal(16), tensors, tuple(rng.standard_normal(t.shape) for t in tensors)


def derivatives(loss, tensors, moved):
    """Of the first and of the second order along a direction, each in several ways."""
    every = tuple(range(len(tensors)))

    def dot(found):
        return sum(np.sum(x * y) for x, y in zip(found, moved, strict=True))

    def slope(*t):
        return qad.jvp(loss, t, moved)[1]

    yield "first", lambda: dot(qad.grad(loss, every)(*tensors))
    yield "first", lambda: slope(*tensors)
    yield "second", lambda: dot(qad.hvp(loss, tuple(tensors), moved))
    yield "second", lambda: qad.jvp(slope, tuple(tensors), moved)[1]
    yield "second", lambda: dot(qad.grad(lambda *t: dot(qad.grad(loss, every)(*t)), every)(*tensors))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("bond", [0, 1, 2])
@pytest.mark.parametrize("digits", [3, 6, 8, 9, 10, 11, 12, 13])
@pytest.mark.parametrize("middle", [3, 4])
@pytest.mark.sampled(10)
def test_derivatives_at_a_weak_bond_are_right_or_refused(step, bond, digits, middle):
    x, tensors, moved = chain(bond, 10.0**-digits, middle)
    bra = mps.MPS.from_dense(x.reshape(2, 2, 2, 2))
    plain = dict(derivatives(lambda *t: mps.overlap(bra, mps.MPS(list(t))), tensors, moved))
    right = {order: compute() for order, compute in plain.items()}
    for order, compute in derivatives(lambda *t: mps.overlap(bra, STEPS[step](mps.MPS(list(t)))), tensors, moved):
        try:
            found = compute()
        except ArgumentError as error:
            half_empty = middle == 3 and ("gates" in step or "swaps" in step)
            rounding = digits > 5 and "basis of a bond" in str(
                error
            )  # taken for a dependence on the basis, on some LAPACKs
            assert digits > 7 or half_empty or rounding
            continue
        assert abs(found - right[order]) < 1e-4 * abs(right[order])


@pytest.mark.parametrize("digits", [6, 9, 11, 12])
def test_gates_that_nearly_undo_an_entanglement_keep_their_second_derivative(digits):
    rng = np.random.default_rng(3)
    tensors = [rng.standard_normal(shape) for shape in ((1, 2, 2), (2, 2, 2), (2, 2, 1))]
    tensors[0][:, :, -1] *= 10.0**-digits
    x, moved = rng.standard_normal(8), tuple(rng.standard_normal(t.shape) for t in tensors)
    bra = mps.MPS.from_dense(x.reshape(2, 2, 2))

    def loss(*t):
        return mps.overlap(bra, mps.MPS(list(t)).apply(GATE, (0, 1)).apply(GATE.T, (0, 1))).real

    for order, compute in derivatives(loss, tensors, moved):
        np.testing.assert_allclose(compute(), {"first": 15.410486, "second": 29.07965}[order], rtol=1e-5)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (4, 4)])
@pytest.mark.parametrize("least", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
def test_split_of_a_matrix_with_a_small_value_is_right_or_refused(shape, least):
    rng = np.random.default_rng(1)
    k = min(shape)
    u, v = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in shape)
    a = (u[:, :k] * np.geomspace(1, least, k)) @ v[:k]
    w, e = rng.standard_normal((2, *shape))

    def loss(x):
        left, right = qad.linalg.split(x)
        return np.sum(w * (left @ right))

    for compute, right in ((lambda: qad.grad(loss)(a), w), (lambda: qad.hvp(loss, (a,), (e,))[0], 0.0)):
        try:
            found = compute()
        except ArgumentError:
            assert least < 1e-5
            continue
        assert np.abs(found - right).max() < 1e-4
