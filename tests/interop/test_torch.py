"""qad's functions differentiated by torch, and torch's by qad; complex numbers are counted alike."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

pytest.importorskip("torch", reason="the optional package torch is not installed")

import torch
from torch.autograd import forward_ad

from qad.interop.torch import primitive, wrap, wrapped

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # of torch's own, at first use


def with_qad(z, x):
    """Not holomorphic: of a complex and a real array, to a complex one."""
    return np.exp(1j * np.sum(x)) * z.conj() * z * np.sin(z) + x


def with_torch(z, x):
    return torch.exp(1j * torch.sum(x)) * z.conj() * z * torch.sin(z) + x


def point():
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    return torch.tensor(z, requires_grad=True), torch.tensor(x, requires_grad=True)


def real(f):
    return lambda z, x: (f(z, x).abs() ** 2).sum()


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_those_of_the_function_written_in_torch(order):
    found = []
    for f in (wrap(with_qad), with_torch):
        z, x = point()
        gradients = torch.autograd.grad(real(f)(z, x), (z, x), create_graph=order == 2)
        if order == 2:
            gradients = torch.autograd.grad(sum((g.abs() ** 2).sum() for g in gradients), (z, x))
        found.append(gradients)
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-10, atol=1e-10)


def test_gradcheck():
    """Torch's own, of first and second order, forward mode included."""
    z, x = point()
    f = wrap(with_qad)
    assert torch.autograd.gradcheck(f, (z, x), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, (z, x))


TRANSFORMS = {
    "grad": lambda f: torch.func.grad(f),
    "vmap of grad": lambda f: torch.func.vmap(torch.func.grad(f)),
    "jacfwd": lambda f: torch.func.jacfwd(f),
    "hessian": lambda f: torch.func.hessian(f),
    "jacrev of jacrev": lambda f: torch.func.jacrev(torch.func.jacrev(f)),
    "jvp of grad": lambda f: lambda x: torch.func.jvp(torch.func.grad(f), (x,), (x,))[1],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_torch_func(name):
    x = torch.tensor([[0.3, 0.7], [1.1, 0.2]], dtype=torch.float64)
    transform = TRANSFORMS[name]
    ours, theirs = (
        transform(wrap(lambda x: np.sum(np.sin(x) * x[..., :1]))),
        transform(lambda x: torch.sum(torch.sin(x) * x[..., :1])),
    )
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-12, atol=1e-12)


def test_pytrees_and_what_is_no_tensor():
    f = wrap(lambda tensors, power: {"sum": tensors["a"] + tensors["b"], "power": tensors["a"] ** power})
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    out = f({"a": a, "b": b}, power=3)
    (out["sum"] + out["power"]).sum().backward()
    torch.testing.assert_close(a.grad, torch.full((2,), 4.0))


def test_memory_is_shared_and_nobody_elses_is_given_away():
    seen = []

    def identity(x):
        seen.append(x)
        return x

    x = torch.arange(3.0)
    y = wrap(identity)(x)
    assert np.shares_memory(seen[0], x.numpy())
    y += 1
    torch.testing.assert_close(x, torch.arange(3.0))
    z = torch.tensor([1 + 1j]).conj()
    assert wrap(lambda z: z.copy())(z)[0] == 1 - 1j  # the conjugation that torch puts off is done


def test_a_tensor_that_has_changed_is_noticed():
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    out = wrap(lambda y: np.sum(y**2))(y)
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


@pytest.mark.parametrize(
    "f, x, message",
    [
        (np.argmax, lambda: torch.ones(2), "leave them out"),
        (np.sin, lambda: torch.ones(2, dtype=torch.bfloat16), "NumPy has no"),
        (np.sin, lambda: torch.ones(2).to_sparse(), "to_dense"),
        (np.sin, lambda: torch.ones(2, device="meta"), "on the host"),
    ],
)
def test_what_is_refused(f, x, message):
    with pytest.raises(ArgumentError, match=message):
        wrap(f)(x())


def test_a_torch_tensor_among_operands_is_named():
    with pytest.raises(ArgumentError, match=r"qad.interop.torch.wrap"):
        qad.einsum("ij,jk->ik", np.ones((2, 2)), torch.ones(2, 2))


def test_what_stands_around_a_function_of_bare_tensors_is_little(monkeypatch):
    """No trees are taken apart, and torch need not look for the signature to which it binds every call."""
    monkeypatch.setattr(wrapped, "flatten", lambda tree: pytest.fail("a tree was taken apart"))
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    wrap(lambda x: np.sum(x**2))(x).backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert "__signature__" in vars(wrapped._TorchCall.forward)


def test_an_error_of_the_function_is_torchs_callers():
    def broken(x):
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        wrap(broken)(torch.ones(1))


# -- the other way ---------------------------------------------------------------------------------------------------


def test_torch_in_qad():
    z, x = (t.detach().numpy() for t in point())
    f = primitive(with_torch)
    qad.check_grads(f, (z, x))
    np.testing.assert_allclose(qad.jacobian(f, 1)(z, x), qad.jacobian(with_qad, 1)(z, x), atol=1e-12)
    np.testing.assert_allclose(qad.vmap(f)(z, x), [f(*pair) for pair in zip(z, x, strict=True)], atol=1e-12)


def test_several_outputs_of_torch_in_qad():
    f = primitive(lambda x: (torch.sin(x), torch.cos(x)))
    np.testing.assert_allclose(qad.grad(lambda x: f(x)[1].sum())(np.ones(2)), -np.sin(np.ones(2)))
    assert [y.shape for y in f(np.ones(2))] == [(2,), (2,)]


def test_there_and_back():
    f = primitive(wrap(lambda z: z * np.abs(z)))
    qad.check_grads(f, (np.array([1 + 2j]),))


def test_a_function_that_writes_into_its_argument_is_refused():
    with pytest.raises(ArgumentError, match="wrote into its argument"):
        primitive(lambda x: x.mul_(2).sum())(np.ones(2))
    assert primitive(lambda x: x.clone().mul_(2).sum())(np.ones(2)) == 4


def test_forward_mode_over_a_gradient_without_a_graph():
    """The tangent of the input, and that of a cotangent, goes through the pullback."""
    x = torch.tensor([1.0, 2.0, 3.0])
    with forward_ad.dual_level():
        a = forward_ad.make_dual(x.clone().requires_grad_(), torch.ones(3))
        (g,) = torch.autograd.grad(wrap(lambda x: np.sum(x**3))(a), a)
        torch.testing.assert_close(forward_ad.unpack_dual(g).tangent, 6 * x)
        a, c = x.clone().requires_grad_(), forward_ad.make_dual(torch.ones(3), torch.ones(3))
        (g,) = torch.autograd.grad(wrap(lambda x: x**3)(a), a, c)
        torch.testing.assert_close(forward_ad.unpack_dual(g).tangent, 3 * x**2)


def test_a_wrapped_function_meets_a_tensor_as_it_lies():
    def f(a):
        b = a * 1.0
        b.ravel()[:2] = 0.0
        return np.sum(b * b)

    a = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    assert wrap(f)(torch.from_numpy(a)).item() == f(a) == 30
    with pytest.raises(qad.QadError, match="how an array lies in memory"):  # and never another number
        wrap(f)(torch.from_numpy(a).requires_grad_())
