"""qad: derivatives of programs over complex numbers and tensor networks.

Transforms        grad  value_and_grad  vjp  jvp  hvp  vhp  wirtinger  jacobian  value_and_jacobian  hessian
                  checkpoint  stop_gradient, and is_holomorphic
Batches           vmap
Static programs   freeze
The tape          tensor  Tensor  no_grad
Contractions      tr  einsum  tensordot  ncon  partial_trace  plan
Equations         fixed_point, differentiated implicitly
Sparse matrices   sparse: SciPy's, as constants: sparse(S) @ x
Containers        register_container  apply_updates  tree_map
Seeing            draw  profile  debug
Matrices          qad.linalg    decompositions and functions of matrices
Functions         qad.special   erf, gamma, Bessel functions and so on, as SciPy has them
Other libraries   qad.array_api  the namespace of the array-API standard
Chains            qad.mps       matrix product states, operators, ground states, time evolution
Symmetric         qad.symmetric  block-sparse tensors that conserve charges
Two dimensions    qad.peps      projected entangled pair states, their environments and ground states
Monte Carlo       qad.vmc       wave functions written in NumPy, sampled and improved
Circuits          Circuit  PauliSum, and qad.circuit
Optimisation      qad.optimize  minimise over any structure of complex arrays
Time              qad.integrate  differential equations
Settings          config, and warm_up, which compiles everything beforehand
Your own rules    qad.extend    and check_grads, which finds the mistake in them
Errors            qad.errors    all of them under QadError
Building          array, r_, c_: arrays from nested lists of Tensors and numbers
State             zeros, ones, empty, full and their kin: arrays into which recorded values may be written
NumPy             sin, sum, reshape, ...: NumPy's own functions, which take Tensors
"""

from importlib import import_module as _load
from typing import TYPE_CHECKING as _FOR_EDITORS

from numpy import e, fft, inf, nan, newaxis, pi

if _FOR_EDITORS:
    from numpy import *  # of which qad offers what Tensors may be given to

from qad import extend, linalg
from qad import rules as _rules  # gives NumPy's functions and Tensor their derivatives
from qad.contract.notation.einsum import einsum, tensordot
from qad.contract.notation.ncon import ncon
from qad.contract.notation.trace import partial_trace, tr
from qad.contract.plan.plan import Plan
from qad.contract.plan.planner import plan
from qad.contract.run.tasks import for_each
from qad.core import errors
from qad.core.debug.debug import debug
from qad.core.debug.profile import profile
from qad.core.errors import QadError
from qad.core.modes import no_grad
from qad.core.process.config import config
from qad.core.tape.tensor import Tensor
from qad.core.transforms.checkpoint import checkpoint
from qad.core.transforms.grad import grad, value_and_grad, vjp
from qad.core.transforms.hessian import hessian
from qad.core.transforms.jvp import hvp, jvp, vhp
from qad.core.transforms.torch_style import stop_gradient, tensor
from qad.core.transforms.vmap import vmap
from qad.core.transforms.wirtinger import is_holomorphic, jacobian, value_and_jacobian, wirtinger
from qad.core.trees import apply_updates, register_container, tree_map
from qad.elsewhere import missing as _missing
from qad.elsewhere import ours_of as _ours_of
from qad.frozen.freeze import freeze
from qad.linalg.implicit.fixed_point import fixed_point
from qad.rules.elementwise.complex import abs2
from qad.rules.elementwise.logsumexp import logsumexp
from qad.rules.making import building as _building
from qad.rules.making import creation as _creation
from qad.rules.making.building import *
from qad.rules.making.creation import *
from qad.rules.making.devices import to_device
from qad.rules.products import series as polynomial
from qad.rules.products.sparse import sparse
from qad.rules.protocol.array_protocol import attach_namespace as _attach_namespace
from qad.rules.protocol.exports import exported as _exported
from qad.testing import check_grads

__version__ = "0.1.0"

if _FOR_EDITORS:  # which do not run `__getattr__`
    from qad import array_api, circuit, integrate, interop, mps, optimize, peps, special, symmetric, viz, vmc
    from qad.circuit import Circuit, PauliSum
    from qad.circuit.engines.warming import warm_up
    from qad.viz import draw

_LATE = {  # what is loaded when it is first touched, and whence: a program that differentiates needs none of it
    **{name: f"qad.{name}" for name in (
        "array_api", "circuit", "integrate", "interop", "mps", "optimize", "peps", "special", "symmetric", "viz", "vmc",
    )},
    "Circuit": "qad.circuit", "PauliSum": "qad.circuit", "draw": "qad.viz",
    "warm_up": "qad.circuit.engines.warming",
}  # fmt: skip

_NUMPYS = {name: function for name, function in _exported().items() if name not in globals()}
globals().update(_NUMPYS)

__all__ = [
    # transforms
    "grad", "value_and_grad", "vjp", "jvp", "hvp", "wirtinger", "jacobian", "hessian", "checkpoint", "stop_gradient",
    "freeze", "vmap", "vhp", "value_and_jacobian", "is_holomorphic",
    # the tape
    "Tensor", "no_grad", "tensor",
    # contractions, and many points on executors
    "Plan", "einsum", "for_each", "ncon", "partial_trace", "plan", "tensordot", "tr",
    # solutions of equations, sparse matrices
    "fixed_point", "sparse",
    # containers, devices
    "apply_updates", "register_container", "to_device", "tree_map",
    # seeing
    "debug", "profile",
    # parts, settings, checks, errors
    "QadError", "check_grads", "config", "errors", "extend", "linalg",
    # parts that come when they are first touched, and all of NumPy's
    *_LATE, *_building.__all__, *_creation.__all__, *_NUMPYS,
    "abs2", "e", "fft", "inf", "logsumexp", "nan", "newaxis", "pi", "polynomial",
]  # fmt: skip


extend.rules_of("scipy.special", lambda: _load("qad.special"))
_attach_namespace(lambda: _load("qad.array_api"))


def __getattr__(name: str) -> object:
    if name not in _LATE:
        _missing("module 'qad'", name, _ours_of("qad").get(name))
    module = _load(_LATE[name])
    found = globals()[name] = module if _LATE[name] == f"qad.{name}" else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return ["__version__", *__all__]
