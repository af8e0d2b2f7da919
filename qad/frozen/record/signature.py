"""What a program depends on besides the numbers: structure, order of keys, shapes, dtypes, values of Python's.

A signature is a tuple (spec, kinds, orders), equal where the same programs serve.  The kind of a leaf is ("array",
shape, dtype), ("scalar", dtype), ("number", type) or ("static", type, value); static leaves are not operands.
"""

from __future__ import annotations

from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import optree
from numpy import ndarray

from qad.core.errors import ArgumentError
from qad.core.tape.operands import check_arithmetic
from qad.core.tape.tensor import Tensor
from qad.core.trees import NAMESPACE, Rest, flatten, leaf_path, nesting, unflatten
from qad.extend import is_foreign
from qad.frozen.record.captures import NUMBERS
from qad.frozen.record.code import is_library
from qad.frozen.record.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    Key: TypeAlias = tuple[Any, tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...]]

_LEAVES = frozenset((ndarray, float, int, complex, bool, str, type(None), np.float64, np.complex128, Tensor, Traced))


def signature_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key | None, list[Any], list[Any]]:
    """The signature and leaves of ``(args, kwargs)``, and objects among them that are followed like captured ones.

    The signature is None where `f` itself is to be called.

    That is where a leaf is itself recorded, or is an array of another library: programs write into memory of the host.
    """
    leaves, spec = flatten((args, kwargs))
    if any(type(x) is Tensor or type(x) is Traced or is_foreign(x) for x in leaves):
        return None, leaves, []
    found, rests = [], []
    _collect((args, kwargs), found, rests)
    kinds = tuple(map(kind_of, leaves))
    rests += [x for x, kind in zip(leaves, kinds, strict=True) if kind[0] == "static"]
    return (spec, kinds, tuple(found)), leaves, rests


def _collect(x, found, rests):
    """The keys of each dict in a tree, in the order of insertion, and what containers hold beside their fields."""
    if type(x) in _LEAVES:
        return
    if isinstance(x, dict):
        found.append(tuple([key if type(key) is str else typed(key) for key in x]))
        children = x.values()
    elif type(x) in (tuple, list):
        children = x
    elif optree.tree_is_leaf(x, namespace=NAMESPACE):
        return
    else:
        children, rest, *_ = optree.tree_flatten_one_level(x, namespace=NAMESPACE)
        if type(rest) is Rest:
            rests += [value for _, value in rest.attributes]
            found.append(tuple([(name, typed(value)) for name, value in rest.attributes if isinstance(value, NUMBERS)]))
    for each in children:
        _collect(each, found, rests)


def kind_of(x: Any) -> tuple[Any, ...]:
    """What a program has to know of a leaf."""
    if isinstance(x, ndarray):
        check_arithmetic(x)
        if x.dtype.kind not in "fciub":
            raise ArgumentError(f"qad.freeze takes arrays of numbers, not dtype {x.dtype}: close over what is constant")
        return "array", x.shape, x.dtype
    if isinstance(x, np.generic):
        return "scalar", x.dtype
    if type(x) in (float, complex):
        return "number", type(x)
    try:
        found = typed(x)
        hash(found)
    except TypeError as error:
        raise ArgumentError(
            f"qad.freeze: an argument cannot be hashed ({error}): pass it as an array, a tuple or a frozen dataclass, "
            "or close over it"
        ) from None
    return "static", *found


def typed(x: Any) -> tuple[type, Hashable]:
    """A value with its type, by which 2 and True differ, and 0.0 and -0.0; a user's objects by identity."""
    kind = type(x)
    if kind is slice:
        return kind, (x.start, x.stop, x.step)
    if isinstance(x, (float, complex, np.generic)):
        return kind, repr(x)
    hash(x)  # which raises for what is meant to be compared by its entries
    by_value = is_library(kind.__module__) or isinstance(x, Enum) or hasattr(kind, "__dataclass_params__")
    return kind, x if by_value else id(x)  # a program that serves it holds it


def difference(one: Key, two: Key) -> str:
    """In words, how a signature differs from an earlier one."""
    (spec, kinds, orders), (other, others, before) = one, two
    if spec != other:
        return f"structure {nesting(spec)} instead of {nesting(other)}"
    tree = unflatten(spec, list(range(len(kinds))))
    changed = [
        f"argument{leaf_path(tree, i)}: {_words(now)} instead of {_words(then)}"
        for i, (now, then) in enumerate(zip(kinds, others, strict=True))
        if now != then
    ]
    return "; ".join(changed[:3]) or f"keys in the order {orders} instead of {before}"


def _words(kind):
    if kind[0] == "array":
        return f"shape {kind[1]} of {kind[2]}"
    return f"{kind[2]!r}" if kind[0] == "static" else f"a {kind[0]} of {kind[1]}"


def front(kinds: Sequence[tuple[Any, ...]]) -> Callable[[tuple[Any, ...]], bool]:
    """A test whether arguments are plain arrays of these kinds."""
    types, forms, form = [ndarray] * len(kinds), [kind[1:] for kind in kinds], attrgetter("shape", "dtype")
    return lambda args: [*map(type, args)] == types and [*map(form, args)] == forms
