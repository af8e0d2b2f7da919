"""qad's functions in programs of PyTorch, and PyTorch's in programs of qad.

`wrap` makes a function of qad one of torch tensors: an ``autograd.Function`` whose derivatives are such functions
again, so that gradients of every order, forward mode and ``torch.func`` go through it.  `primitive` is the other way.
Both count the gradient of a real loss as ``dL/dx + i dL/dy``, so that nothing is conjugated on the way.  Memory on the
host is shared, not copied.

Examples
--------
>>> import numpy as np, qad, torch
>>> from qad.interop.torch import primitive, wrap
>>> energy = wrap(lambda z: qad.einsum("i,i->", z, z.conj()).real)
>>> z = torch.tensor([1 + 2j], requires_grad=True)
>>> energy(z).backward()
>>> z.grad
tensor([2.+4.j])
>>> qad.grad(primitive(lambda x: torch.sin(x).sum()))(np.array([0.0]))
array([1.])
"""

from qad.installed import require

require("qad.interop.torch", "torch")

from qad.interop.torch.recorded import primitive
from qad.interop.torch.wrapped import wrap

__all__ = ["primitive", "wrap"]
