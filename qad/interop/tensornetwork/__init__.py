"""The backend named "qad" of the tensornetwork package: its networks and chains, differentiable and complex.

Importing this module registers the backend (with tensornetwork 0.4.6 or its fork tensornetwork-ng, which share the
import name).  Nothing else changes in a program: ``backend="qad"``, or ``tensornetwork.set_default_backend("qad")``.

Nodes, edges, ``ncon``, contractors, ``split_node`` and its relatives, FiniteMPS, InfiniteMPS and FiniteDMRG run on
plain arrays and on Tensors, and what they compute from Tensors is recorded; docs/tensornetwork.md has examples.

Examples
--------
>>> import numpy as np, qad, tensornetwork as tn
>>> import qad.interop.tensornetwork
>>> def overlap(a, b):
...     a, b = tn.Node(a, backend="qad"), tn.Node(b, backend="qad")
...     a[0] ^ b[0]
...     return qad.abs2((a @ b).tensor)
>>> qad.grad(overlap)(np.array([1.0, 1j]), np.array([1.0, 2.0]))
array([2.+4.j, 4.+8.j])
"""

from qad.installed import require

require("qad.interop.tensornetwork", "tensornetwork")

from tensornetwork.backends import backend_factory

from qad.interop.tensornetwork.backend import QadBackend
from qad.interop.tensornetwork.energy import keep_energies_recorded

__all__ = ["QadBackend"]

backend_factory._BACKENDS["qad"] = QadBackend  # the package has no public way; its MPS code looks backends up by name
keep_energies_recorded()
