"""What the transforms take, give and refuse: numbers out of Tensors, trees, memory, pickles."""

import numpy as np
import pytest

import qad
from qad.core.errors import BatchError, RecordedTensorError

OUT = {
    "item": lambda x: x.item(),
    "item at an index": lambda x: x.reshape(1).item(0),
    "tolist": lambda x: x.tolist(),
    "tolist of a vector": lambda x: x.reshape(1).tolist()[0],
    "float": float,
    "complex": complex,
    "array": np.asarray,
}


@pytest.mark.parametrize("name", OUT)
def test_a_way_out_that_loses_the_gradient_is_refused(name):
    f = OUT[name]
    for transform in (qad.grad, lambda f: lambda x: qad.jvp(f, (x,), (1.0,)), qad.hessian, qad.jacobian):
        with pytest.raises(RecordedTensorError, match=r"x\.numpy\(\).*qad\.stop_gradient\(x\)"):
            transform(lambda x: x * f(x))(2.0)
    with pytest.raises(RecordedTensorError, match=r"x\.detach\(\)"):
        f(qad.tensor(2.0, requires_grad=True))
    with pytest.raises(BatchError, match="keep it a Tensor"):
        qad.vmap(f)(np.ones(3))
    assert f(qad.tensor(2.0)) == 2.0
    with qad.no_grad():
        assert f(2.0 * qad.tensor(1.0, requires_grad=True)) == 2.0


def test_ways_out_on_purpose_have_no_derivative():
    for out in (lambda x: x.detach().item(), lambda x: float(x.detach()), lambda x: x.numpy(), qad.stop_gradient):
        assert qad.grad(lambda x, out=out: x * out(x))(3.0) == 3.0


def test_steps_branches_and_text_are_no_losses_of_a_gradient():
    assert qad.grad(lambda x: x * int(x) if x > 0 else 0 * x)(2.5) == 2.0
    assert qad.grad(lambda x: x * len(f"{x:.1f} {x}"))(2.5) == len(f"{2.5:.1f} {2.5}")
    assert qad.grad(lambda x: sum([x for _ in range(int(x))], 0 * x))(3.0) == 3.0
