"""Derivative rules of your own; the built-in rules use the same functions.

A cotangent ``g`` is unconjugated: the loss changes by ``Re sum(g * d_ans)``.  A holomorphic
function has the textbook's rule ``g * f'(x)``, any other ``g * f_z + conj(g * f_zbar)``.  Rules are written
in NumPy's functions and ndarray's methods, and are recorded themselves when they are called with Tensors; so a rule
serves every order.  It must not test for ndarray or write in place.

Few rules need the four modules `memory` (buffers and writes), `batching` (rules of `qad.vmap` for families of
functions), `recording` (which transform differentiates an operand, what was recorded) and `structure` (factors of
decompositions); the other packages of qad use them.
"""

from qad.core.foreign import as_array, is_foreign, like
from qad.core.freeze_hook import any_traced, opaque
from qad.core.modes import no_grad
from qad.core.registry.attach import attach, attach_operator, quick, quick_product, quick_with_metadata
from qad.core.registry.define import defjvp, defvjp, primitive, rule, unbroadcast
from qad.core.registry.families import AXIS, ENTRIES, SHAPE, core, defbatch, shifted, spread_out
from qad.core.registry.handlers import implements, passes_through, rules_of
from qad.core.tape.cotangents import Lazy, One
from qad.core.tape.dispatch import refuse_out
from qad.core.tape.levels import unrecorded
from qad.core.tape.node import ARRAY_TYPES
from qad.core.tape.operands import operand
from qad.core.tape.roots import operand_of, same_root, square_of_root
from qad.core.tape.tensor import Tensor, value_of
from qad.core.transforms.grad import value_and_grad, vjp
from qad.core.transforms.jvp import hvp, jvp
from qad.core.transforms.torch_style import stop_gradient
from qad.core.transforms.vmap import vmap
from qad.core.vmap.batched import on_stack, stack_of
from qad.core.vmap.rules import each_alone

__all__ = [
    "ARRAY_TYPES", "AXIS", "ENTRIES", "Lazy", "One", "SHAPE", "Tensor", "any_traced", "as_array", "attach",
    "attach_operator", "core", "defbatch", "defjvp", "defvjp", "each_alone", "hvp",
    "implements", "is_foreign", "jvp", "like", "no_grad", "on_stack", "opaque", "operand", "operand_of",
    "passes_through", "primitive", "quick", "quick_product", "quick_with_metadata", "refuse_out", "rule", "rules_of",
    "same_root", "shifted", "spread_out", "square_of_root", "stack_of", "stop_gradient", "unbroadcast", "unrecorded",
    "value_and_grad", "value_of", "vjp", "vmap",
]  # fmt: skip
