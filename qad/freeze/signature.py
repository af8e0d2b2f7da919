"""What a program depends on besides the numbers: structure, shapes, dtypes, static values."""

import numpy as np
from numpy import ndarray

from qad.core.errors import ArgumentError
from qad.core.operands import check_arithmetic
from qad.core.tensor import Tensor
from qad.core.trees import flatten, leaf_path, nesting, unflatten
from qad.freeze.traced import Traced

__all__ = ["Signature", "front", "kind_of", "signature_of", "typed"]


class Signature:
    """One structure of arguments.  Hashable; equal where the same programs serve.

    Attributes
    ----------
    spec : the tree of ``(args, kwargs)``
    kinds : tuple
        Of each leaf: ("array", shape, dtype), ("scalar", dtype), ("number", type) or ("static", type, value).
    """

    __slots__ = ("spec", "kinds", "static", "_typed", "_hash")

    def __init__(self, spec, kinds, static=()):
        self.spec = spec
        self.kinds = kinds
        self.static = static
        try:
            self._typed = typed(static)
            self._hash = hash((spec, kinds, self._typed))
        except TypeError as error:
            raise ArgumentError(
                f"qad.freeze: a static argument cannot be hashed ({error}): pass it as an array, a tuple or a frozen "
                "dataclass, or close over it"
            ) from None

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self.kinds == other.kinds and self.spec == other.spec and self._typed == other._typed

    def is_plain(self, leaves, args):
        """Whether the arguments are positional plain arrays and nothing else."""
        return all(kind[0] == "array" for kind in self.kinds) and len(args) == len(leaves) and not self.static

    def statics(self):
        """The static values."""
        return [value for _, value in self.static] + [kind[2] for kind in self.kinds if kind[0] == "static"]

    def rebuilt(self, traced):
        """``(args, kwargs)`` with these in the places of the arrays and numbers."""
        traced = iter(traced)
        return unflatten(self.spec, [kind[2] if kind[0] == "static" else next(traced) for kind in self.kinds])

    def moving(self, leaves):
        """The leaves that are no static values."""
        return [x for x, kind in zip(leaves, self.kinds, strict=True) if kind[0] != "static"]

    def difference(self, other):
        """In words, how this differs from an earlier signature."""
        if self.spec != other.spec:
            return f"structure {nesting(self.spec)} instead of {nesting(other.spec)}"
        if self._typed != other._typed:
            return f"static arguments {dict(self.static)} instead of {dict(other.static)}"
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


def typed(x):
    """A static value with its type, by which 2, 2.0 and True differ, and 0.0 and -0.0."""
    kind = type(x)
    if kind in (tuple, frozenset):
        return kind, kind(map(typed, x))
    return kind, repr(x) if isinstance(x, (float, complex, np.generic)) else x


def signature_of(args, kwargs, static=()):
    """The signature and the leaves of ``(args, kwargs)``; None for the signature where a leaf is itself recorded."""
    leaves, spec = flatten((args, kwargs))
    if any(type(x) is Tensor or type(x) is Traced for x in leaves):
        return None, leaves, spec
    return Signature(spec, tuple(map(kind_of, leaves)), static), leaves, spec


def kind_of(x):
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
    return "static", kind, x


def front(kinds):
    """A quick test whether arguments are plain arrays of these kinds; for one or two it is written out."""
    shapes, dtypes = [kind[1] for kind in kinds], [kind[2] for kind in kinds]
    if len(kinds) == 1:
        (s,), (d,) = shapes, dtypes
        return lambda x: type(x) is ndarray and x.shape == s and x.dtype is d
    if len(kinds) == 2:
        (s, t), (d, e) = shapes, dtypes
        return lambda x, y: (
            type(x) is type(y) is ndarray and x.shape == s and y.shape == t and x.dtype is d and y.dtype is e
        )

    def fits(*args):
        for x, s, d in zip(args, shapes, dtypes, strict=True):
            if type(x) is not ndarray or x.shape != s or x.dtype is not d:
                return False
        return True

    return fits
