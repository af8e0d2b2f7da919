"""Names of types in the signatures of core, more general than those of `qad.typing`: of whichever level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""An array, a Tensor or a number, of whichever level: plain, recorded, batched or traced."""

Answer: TypeAlias = Any
"""What a primitive returns: a value, or a tuple or list of them."""

Cotangent: TypeAlias = Any
"""What reverse mode sends backwards: a value, or a `Lazy` one, which is expanded when needed.

Of several outputs: a list, with None where nothing has arrived.
"""

Tangent: TypeAlias = Any
"""What forward mode sends along: a value; of several outputs a tuple or list of them."""

Index: TypeAlias = Any
"""What stands in the brackets of ``x[index]``: integers, slices, None, ``...``, arrays, or a tuple of them."""

Node: TypeAlias = list[Any]
"""``[id, primitive, args, kwargs, answer, parents]``, see `qad.core.tape.node`."""

Keywords: TypeAlias = dict[str, Any]
"""Arguments by name: metadata, no operands."""

Rule: TypeAlias = Callable[..., Any]
"""A derivative rule, or a rule of `qad.vmap`; the functions that define rules say of what."""

Recorder: TypeAlias = Callable[..., Any]
"""What stands in NumPy's place for one primitive."""

Origin: TypeAlias = tuple[Any, tuple[Value, ...], Keywords]
"""The primitive that made a Tensor, its operands and keywords; None and nothing where that is not known."""

Pair: TypeAlias = tuple[Value, Value]
"""The derivatives by z and by conj z; by a real array the one, and None."""

Spec: TypeAlias = Any
"""How a tree is nested: a PyTreeSpec of optree."""

Roots: TypeAlias = list[tuple[Node, Cotangent]]
"""Where a backward sweep begins."""

Found: TypeAlias = dict[int, tuple[Cotangent, bool, Node]]
"""What a sweep found: id of leaf -> (cotangent, whether nobody else holds its memory, the leaf)."""
