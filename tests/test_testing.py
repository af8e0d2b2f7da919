"""`check_grads` catches wrong rules; each test makes one wrong on purpose."""

import numpy as np
import pytest

import qad
from qad.core.errors import CheckError
from qad.core.tape import backward
from qad.extend import Tensor, defvjp, primitive

Z = np.array([0.3 + 0.7j, -1.1 + 0.2j, 0.5 - 0.4j])


def with_rule(fn, *rules, **flags):
    wrapped = primitive(fn)
    defvjp(wrapped, *rules, **flags)
    return wrapped


def caught(f, *args, order=2):
    with pytest.raises(CheckError) as error:
        qad.check_grads(f, args, order=order)
    return str(error.value)


def test_right_rules_pass():
    qad.check_grads(with_rule(lambda x: x * x, lambda g, y, x: 2 * g * x), (Z,))
    qad.check_grads(lambda a, b: {"p": a * b, "s": [(a * a).sum()]}, (Z, Z.real.copy()))


def test_factor_two():
    report = caught(with_rule(lambda x: x * x, lambda g, y, x: 4 * g * x), Z)
    assert "ratio 2" in report
    assert "order 1, argument [0] along v" in report


def test_missing_conjugate():
    caught(with_rule(lambda x: x.conj() * 2.0, lambda g, y, x: 2.0 * g), Z)


def test_transpose_for_adjoint():
    """A published formula transcribed without the conjugate that the inside convention asks for."""
    a = np.array([[1 + 2j, 0.5j], [0.3, 1 - 1j]])
    caught(with_rule(lambda x: a @ x, lambda g, y, x: a.conj().T @ g), Z[:2])


def test_wrong_only_along_i():
    """Exact for real directions, wrong for imaginary ones."""
    report = caught(with_rule(lambda x: x * x, lambda g, y, x: (2 * g * x).real + 0j), Z)
    assert "along iv" in report


def test_wrong_only_at_second_order():
    frozen = with_rule(lambda x: x * x, lambda g, y, x: g * 2 * qad.extend.value_of(x))
    qad.check_grads(frozen, (Z,), order=1)
    assert "order 2" in caught(frozen, Z)


def test_complex_gradient_of_real_input(monkeypatch):
    """Without the projection to real a real input would get a complex cotangent."""
    monkeypatch.setattr(backward, "prepared", lambda g, owned, ans, p: (g, owned))
    monkeypatch.setattr("qad.core.transforms.leaves.publish", lambda g, owned, value: g.conj())
    report = caught(lambda x: x * (1 + 2j), Z.real.copy())
    assert "the gradient is complex128(3,), the argument float64(3,)" in report


def test_assignment_for_scatter_add():
    index = np.array([0, 1, 0])

    def assign(g, y, x):
        out = np.zeros(x.shape, x.dtype)
        out[index] = qad.extend.value_of(g)
        return out

    caught(with_rule(lambda x: x[index], assign), Z, order=1)


def test_gradient_of_wrong_shape():
    with pytest.raises(qad.errors.ShapeError, match="cotangent of shape"):
        qad.grad(lambda x: with_rule(lambda x: x * 1.0, lambda g, y, x: g[:1])(x).real.sum())(Z)


def test_single_precision_is_checked_in_double_and_compared():
    qad.check_grads(lambda x: x * x, (Z.astype(np.complex64),))


def test_modes():
    qad.check_grads(lambda x: x * x, (Z,), modes=("forward",))
    qad.check_grads(lambda x: x * x, (Z,), modes=("reverse",))
    assert Tensor is qad.Tensor
