"""The words of the signatures in core, which are more general than those of `qad.typing`: of whichever level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""An array or a number: plain, or a Tensor; whatever speaks NumPy's protocols."""

Answer: TypeAlias = Any
"""What a primitive returns: a value, or a tuple or list of them."""

Cotangent: TypeAlias = Any
"""A value, or a `Lazy` one.  Of several outputs: a list, with None where nothing has arrived."""

Tangent: TypeAlias = Any
"""A value.  Of several outputs: a tuple or list of them."""

Index: TypeAlias = Any
"""What stands in brackets."""

Node: TypeAlias = list[Any]
"""``[id, primitive, args, kwargs, answer, parents]``, see `qad.core.tape.node`."""

Parents: TypeAlias = tuple[Node | None, ...]
"""The nodes of arguments, None where one is a constant."""

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
