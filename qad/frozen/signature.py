"""What a program depends on besides the numbers: structure, shapes, dtypes, static values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optree
from numpy import ndarray

from qad.core.attributes import NAMESPACE, Rest
from qad.core.errors import ArgumentError
from qad.core.tape.operands import check_arithmetic
from qad.core.tape.tensor import Tensor
from qad.core.trees import flatten, leaf_path, nesting, unflatten
from qad.extend import is_foreign
from qad.frozen.static_values import Fixed, held, typed, unhashable
from qad.frozen.traced import Traced


@dataclass(slots=True, eq=False)
class Signature:
    """One structure of arguments.  Hashable; equal where the same programs serve.

    Attributes
    ----------
    spec : the tree of ``(args, kwargs)``
    kinds : tuple
        Of each leaf: ("array", shape, dtype), ("scalar", dtype), ("number", type) or ("static", type, Fixed).
    static : tuple of (name, value)
    orders : tuple
        The keys of each dict, in the order of insertion; those that may equal others of another type as Fixed.
    aliases : tuple of int
        For each array the number of the first that is the same object; () where all differ.
    rests : tuple
        What each container holds beside its fields.
    """

    spec: Any
    kinds: tuple[Any, ...]
    static: tuple[tuple[str, Any], ...] = ()
    orders: tuple[Any, ...] = ()
    aliases: tuple[int, ...] = ()
    rests: tuple[Rest, ...] = ()
    _typed: Hashable = field(init=False)
    _hash: int = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._typed = typed(self.static), held([rest.attributes for rest in self.rests]) if self.rests else ()
            self._hash = hash((self.spec, self.kinds, self._typed, self.orders, self.aliases))
        except TypeError as error:
            raise unhashable(error) from None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: Any) -> bool:
        return (
            self.kinds == other.kinds
            and self.orders == other.orders
            and self.aliases == other.aliases
            and self.spec == other.spec
            and self._typed == other._typed
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Signature, (self.spec, self.kinds, self.static, self.orders, self.aliases, self.rests)

    def is_plain(self, leaves: Sequence[Any], args: Sequence[Any]) -> bool:
        """Whether the arguments are positional plain arrays and nothing else."""
        if self.static or self.aliases or len(args) != len(leaves):
            return False
        return all(x is leaf and kind[0] == "array" for x, leaf, kind in zip(args, leaves, self.kinds, strict=True))

    def statics(self) -> list[Any]:
        """The static values."""
        leaves = [kind[2].value for kind in self.kinds if kind[0] == "static"]
        return [*(value for _, value in self.static), *leaves, *self.rests]

    def rebuilt(self, values: Iterable[Any]) -> Any:
        """``(args, kwargs)`` with these values for arrays and numbers; aliases get one object again."""
        values = list(values)
        values = iter([values[first] for first in self.aliases] or values)
        return unflatten(self.spec, [kind[2].value if kind[0] == "static" else next(values) for kind in self.kinds])

    def moving(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves that are no static values."""
        return [x for x, kind in zip(leaves, self.kinds, strict=True) if kind[0] != "static"]

    def difference(self, other: Signature) -> str:
        """In words, how this differs from an earlier signature."""
        if self.spec != other.spec:
            return f"structure {nesting(self.spec)} instead of {nesting(other.spec)}"
        if self._typed[1] != other._typed[1]:
            return "attributes of an argument that are no fields"
        if self._typed != other._typed:
            return f"static arguments {dict(self.static)} instead of {dict(other.static)}"
        if self.orders != other.orders:
            return f"keys in the order {self.orders} instead of {other.orders}"
        if self.aliases != other.aliases:
            return "arguments that are one array" if self.aliases else "arguments that are different arrays"
        tree = unflatten(self.spec, list(range(len(self.kinds))))
        changed = [
            f"{_where(tree, i)}: {_words(one)} instead of {_words(two)}"
            for i, (one, two) in enumerate(zip(self.kinds, other.kinds, strict=True))
            if one != two
        ]
        return "; ".join(changed[:3]) + ("; and more" if len(changed) > 3 else "")


def _where(tree, i):
    return f"args{path[3:]}" if (path := leaf_path(tree, i)).startswith("[0]") else f"kwargs{path[3:]}"


def _words(kind):
    if kind[0] == "array":
        return f"shape {kind[1]} of {kind[2]}"
    return f"{kind[2]!r}" if kind[0] == "static" else f"a {kind[0]} of {kind[1]}"


def orders(tree: Any) -> tuple[tuple[Any, ...], tuple[Rest, ...]]:
    """What the structure of a pytree leaves out.

    That is the keys of each dict with their types, in the order of insertion, and what containers hold beside fields.
    """
    found, rests = [], []
    _collect(tree, found, rests)
    return tuple(found), tuple(rests)


_LEAVES = frozenset((ndarray, float, int, complex, bool, str, type(None), np.float64, np.complex128, Tensor, Traced))


_PLAIN_KEYS = frozenset((str, int))  # which differ where they compare so; 1 and True and 1.0 are equal, 0.0 and -0.0


def _collect(x, found, rests):
    if type(x) in _LEAVES:
        return
    if isinstance(x, dict):
        if x:
            found.append(tuple([key if type(key) in _PLAIN_KEYS else Fixed(key) for key in x]))
            for each in x.values():
                _collect(each, found, rests)
    elif type(x) in (tuple, list):
        for each in x:
            _collect(each, found, rests)
    elif not optree.tree_is_leaf(x, namespace=NAMESPACE):
        children, rest, *_ = optree.tree_flatten_one_level(x, namespace=NAMESPACE)
        if type(rest) is Rest and rest.attributes:
            rests.append(rest)
        for each in children:
            _collect(each, found, rests)


def signature_of(
    args: tuple[Any, ...], kwargs: dict[str, Any], static: tuple[tuple[str, Any], ...] = ()
) -> tuple[Signature | None, list[Any], Any]:
    """The signature and the leaves of ``(args, kwargs)``; None for the signature where `f` itself is to be called.

    That is where a leaf is itself recorded, or is an array of another library: programs write into memory of the host.
    """
    leaves, spec = flatten((args, kwargs))
    if any(type(x) is Tensor or type(x) is Traced or is_foreign(x) for x in leaves):
        return None, leaves, spec
    kinds = tuple(map(kind_of, leaves))
    moving = [id(x) for x, kind in zip(leaves, kinds, strict=True) if kind[0] != "static"]
    arrays = [id(x) for x, kind in zip(leaves, kinds, strict=True) if kind[0] == "array"]
    aliases = tuple([moving.index(x) for x in moving]) if len(set(arrays)) < len(arrays) else ()
    keys, rests = orders((args, kwargs))
    return Signature(spec, kinds, static, keys, aliases, rests), leaves, spec


def kind_of(x: Any) -> tuple[Any, ...]:
    """What a program has to know of a leaf."""
    kind = type(x)
    if isinstance(x, np.ndarray):
        check_arithmetic(x)
        if x.dtype.kind not in "fciub":
            raise ArgumentError(f"qad.freeze takes arrays of numbers, not dtype {x.dtype}: close over what is constant")
        return "array", x.shape, x.dtype
    if isinstance(x, np.generic):
        return "scalar", x.dtype
    if kind in (float, complex):
        return "number", kind
    try:
        return "static", kind, Fixed(x)
    except TypeError as error:
        raise unhashable(error) from None


def front(kinds: Sequence[tuple[Any, ...]]) -> Callable[..., bool]:
    """A test whether arguments are plain arrays of these kinds; written out for one or two, where its time counts."""
    shapes, dtypes = [kind[1] for kind in kinds], [kind[2] for kind in kinds]
    if len(kinds) == 1:
        (s,), (d,) = shapes, dtypes
        return lambda x: type(x) is ndarray and x.shape == s and x.dtype is d
    if len(kinds) == 2:
        (s, t), (d, e) = shapes, dtypes
        return lambda x, y: (
            type(x) is type(y) is ndarray
            and x.shape == s
            and y.shape == t
            and x.dtype is d
            and y.dtype is e
            and x is not y
        )

    def fits(*args):
        for x, s, d in zip(args, shapes, dtypes, strict=True):
            if type(x) is not ndarray or x.shape != s or x.dtype is not d:
                return False
        return len(set(map(id, args))) == len(args)

    return fits
