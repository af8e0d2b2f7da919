"""quimb's networks, differentiable: the backend named "qad" of autoray, and of quimb's ``TNOptimizer``.

Importing this module says to autoray how Tensors are created, decomposed and split, and hands whole networks that
cotengra would contract pair by pair to qad's engine, in the order that cotengra found.  Programs on plain arrays run as
before.

    ``TNOptimizer(psi, loss, autodiff_backend="qad")`` finds values, gradients and Hessian-vector products by qad.

Examples
--------
>>> import numpy as np, qad, quimb.tensor as qtn
>>> import qad.interop.quimb
>>> def norm(a):
...     psi = qtn.MatrixProductState([a, a])
...     return (psi.H & psi) ^ all
>>> a = np.array([[1.0, 0.0], [0.0, 2.0]])
>>> float(norm(a)), qad.grad(norm)(a)
(17.0, array([[ 4.,  0.],
       [ 0., 32.]]))
"""

from qad.installed import require

require("qad.interop.quimb", "quimb", "autoray", "cotengra")

import autoray
import cotengra
import quimb.tensor

from qad.interop.quimb.arrays import register_arrays
from qad.interop.quimb.namespaces import separate_namespaces
from qad.interop.quimb.networks import contract_whole_networks
from qad.interop.quimb.optimizer import QadHandler, register_handler
from qad.interop.quimb.splits import register_splits

__all__ = ["QadHandler"]

separate_namespaces(autoray.autoray)
register_arrays()
register_splits()
register_handler()
contract_whole_networks(cotengra)
