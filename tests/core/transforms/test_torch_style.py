"""PyTorch style: `tensor`, `backward`, accumulation, freeing; `no_grad`, `detach`, `stop_gradient`."""

import math

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, FreedGraphError, GradientTypeError, RecordedTensorError, ShapeError

Z = np.array([1 + 2j, 3 - 1j])


def leaf(data=Z):
    return qad.tensor(data, requires_grad=True)


def loss(z):
    return (z * z.conj() * z).real.sum()


def test_backward_equals_grad_and_accumulates():
    z = leaf()
    loss(z).backward()
    np.testing.assert_allclose(z.grad, qad.grad(loss)(Z))
    assert type(z.grad) is np.ndarray
    loss(z).backward()
    np.testing.assert_allclose(z.grad, 2 * qad.grad(loss)(Z))
    z.zero_grad()
    assert z.grad is None


def test_second_backward_raises_and_retain_graph_allows_it():
    z = leaf()
    y = loss(z)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(FreedGraphError, match="retain_graph=True"):
        y.backward()
    np.testing.assert_allclose(z.grad, 2 * qad.grad(loss)(Z))


def test_a_shared_part_that_was_freed_raises():
    z = leaf()
    shared = z * z
    shared.real.sum().backward()
    with pytest.raises(FreedGraphError):
        (shared * shared).real.sum().backward()


def test_backward_with_a_cotangent():
    z = leaf()
    (z * z).backward(Z)
    np.testing.assert_allclose(z.grad, 2 * Z.conj() * Z)


def test_backward_of_complex_or_vector_raises():
    with pytest.raises(GradientTypeError, match=r"qad\.wirtinger"):
        leaf().sum().backward()
    with pytest.raises(qad.errors.ShapeError):
        (leaf() * leaf().conj()).real.backward()
    with pytest.raises(ArgumentError, match="nest"):
        qad.grad(lambda z: loss(z).backward())(Z)
    with pytest.raises(ArgumentError, match="constant"):
        qad.tensor(Z).backward()


def test_data_is_copied():
    data = Z.copy()
    z = qad.tensor(data, requires_grad=True)
    data[:] = 0
    np.testing.assert_array_equal(z.numpy(), Z)


def test_integers_cannot_require_gradients():
    with pytest.raises(GradientTypeError, match="dtype=float"):
        qad.tensor([1, 2], requires_grad=True)
    assert qad.tensor([1, 2]).dtype == np.int64
    assert qad.tensor([1, 2], dtype=float, requires_grad=True).requires_grad


def test_a_held_gradient_does_not_change():
    z = leaf()
    loss(z).backward()
    held = z.grad
    kept = held.copy()
    loss(z).backward()
    np.testing.assert_array_equal(held, kept)


def test_views_are_read_only():
    z = leaf()
    for view in (z.numpy(), z.detach().numpy()):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0


def test_detach_and_no_grad_and_stop_gradient():
    z = leaf()
    assert not z.detach().requires_grad
    with qad.no_grad():
        y = z * z
        with qad.no_grad():
            pass
        assert not (z * 2).requires_grad
    assert not y.requires_grad
    assert (z * 2).requires_grad

    @qad.no_grad()
    def quiet(x):
        return x * x

    assert not quiet(z).requires_grad
    x = np.array([3.0])
    np.testing.assert_allclose(qad.grad(lambda x: (x * qad.stop_gradient(x)).sum())(x), x)
    np.testing.assert_allclose(qad.grad(lambda x: (x * quiet(x)).sum())(x), x * x)
    np.testing.assert_allclose(qad.jvp(lambda x: x * quiet(x), (x,), (x,))[1], x * x * x)


def test_transforms_inside_no_grad_still_differentiate():
    x = np.array([1.0, 3.0])
    with qad.no_grad():
        np.testing.assert_array_equal(qad.grad(lambda x: (x * x).sum())(x), 2 * x)
    outer = qad.grad(lambda x: (qad.no_grad()(qad.grad(lambda y: (y * y * x).sum()))(x) * x).sum())(x)
    np.testing.assert_array_equal(outer, 2 * x * x)


@pytest.mark.parametrize(
    "force",
    [
        np.asarray,
        float,
        complex,
        lambda x: x.item(),
        lambda x: x.tolist(),
        lambda x: np.array([x]),
        lambda x: np.zeros(1).__setitem__(0, x),
        lambda x: math.sqrt(x),
    ],
)
def test_forcing_a_recorded_tensor_raises(force):
    x = qad.tensor(2.0, requires_grad=True)
    with pytest.raises((RecordedTensorError, ValueError)) as error:
        force(x)
    ours = error.value if isinstance(error.value, RecordedTensorError) else error.value.__cause__
    assert isinstance(ours, RecordedTensorError)
    assert "x.numpy()" in str(ours)


def test_leaving_the_tape_on_purpose():
    x = qad.tensor(2.0, requires_grad=True)
    assert x.detach().item() == qad.stop_gradient(x).tolist() == float(x.detach()) == 2.0
    assert x.numpy() == 2.0
    assert bool(x)
    assert int(x) == 2
    assert float(qad.tensor(2.0)) == 2.0
    np.testing.assert_array_equal(np.asarray(qad.tensor(Z)), Z)
    assert f"{x:.1f}" == "2.0"


def test_setitem_names_the_fix():
    with pytest.raises(ArgumentError, match=r"x\.copy\(\)"):
        leaf()[0] = 1


def test_repr_shows_shape_dtype_and_operation():
    assert repr(leaf()) == "Tensor([1.+2.j, 3.-1.j], shape=(2,), dtype=complex128, requires_grad)"
    assert "op=multiply" in repr(leaf() * 2)
    y = loss(leaf())
    y.backward()
    assert "freed" in repr(y)
    assert repr(qad.tensor([1.0])) == "Tensor([1.], shape=(1,), dtype=float64)"


def test_grad_may_be_set():
    z = leaf()
    loss(z).backward()
    before = z.grad.copy()
    z.grad *= 0.5
    np.testing.assert_allclose(z.grad, 0.5 * before)
    z.grad = None
    assert z.grad is None
    with pytest.raises(ShapeError):
        z.grad = np.ones(3)
    with pytest.raises(ArgumentError):
        (2 * z).grad = np.ones(2)


def test_constant_tensors_as_cotangents_give_plain_gradients():
    z, w = leaf(), qad.tensor(np.ones(2))
    (z * z).backward(w)
    assert type(z.grad) is np.ndarray
    assert type(qad.vjp(lambda z: z * z, Z)[1](w)[0]) is np.ndarray
    assert type(qad.jvp(lambda z: z * z, (Z,), (w,))[1]) is np.ndarray
