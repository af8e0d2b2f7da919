"""What is called wrongly at first is answered by its own name, and with what to write."""

import copy
import traceback

import numpy as np
import pytest

import qad
from qad.core.errors import GradientTypeError, RecordedTensorError, ShapeError

TRANSFORMS = [qad.grad, qad.value_and_grad, qad.hessian, qad.jacobian, qad.wirtinger, qad.checkpoint, qad.vmap]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda f: f.__name__)
def test_what_is_no_function_is_refused_at_once(transform):
    name = f"qad.{transform.__name__}"
    with pytest.raises(
        TypeError, match=rf"^{name} takes a function, and float is not callable: write {name}\(f\)\(x\)"
    ):
        transform(3.0)


@pytest.mark.parametrize("call", [qad.vjp, lambda f, x: qad.jvp(f, (x,), (x,)), lambda f, x: qad.hvp(f, (x,), (x,))])
def test_what_is_no_function_is_refused_by_those_that_compute_at_once(call):
    with pytest.raises(TypeError, match="callable"):
        call(3.0, 1.0)


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "hessian", "hvp", "vhp"])
def test_transforms_name_themselves(name):
    def call(f, x):
        return getattr(qad, name)(f, (x,), (x,)) if name in ("hvp", "vhp") else getattr(qad, name)(f)(x)

    with pytest.raises(GradientTypeError, match=rf"^qad\.{name} needs a real output"):
        call(lambda x: 1j * x, 3.0)
    with pytest.raises(ShapeError, match=rf"^qad\.{name} needs a scalar output"):
        call(lambda x: x, np.ones(3))
    with pytest.raises(GradientTypeError, match="argument 0 has type int, which has no gradient: write 3.0, or"):
        call(lambda x: x**2, 3)


def into_zeros(x):
    b = np.zeros(3)
    for i in range(3):
        b[i] = x[i] ** 2  # the user's line
    return b.sum()


def into_a_slice(x):
    b = np.zeros(4)
    b[1:] = x**2  # the user's line
    return b.sum()


def into_a_row(x):
    b = np.zeros((2, 3))
    b[0] = x**2  # the user's line
    return b.sum()


@pytest.mark.parametrize("f", [into_zeros, into_a_slice, into_a_row])
def test_the_line_of_the_user_is_in_the_traceback(f):
    with pytest.raises(RecordedTensorError, match=r"put into a plain array.*qad\.zeros\(shape\)") as caught:
        qad.grad(f)(np.ones(3))
    assert "the user's line" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_frozen_functions_keep_their_function_and_constants(copied):
    weights = np.ones(3)
    frozen = qad.freeze(lambda x: np.sum(weights * x), constant="weights")
    assert frozen(np.ones(3)) == 3
    again = copied(frozen)
    assert again.f is frozen.f and again.constant == frozen.constant and again.stats.recordings == 0
    assert again(np.ones(4)[:3]) == 3 and again(np.ones((2, 3))) == 6
    assert copied({"step": frozen})["step"](np.ones((1, 3))) == 3
