"""Which object stands behind each name that a function reads: compared before every run.

A binding is (form, owner, key, value): the contents of a cell, an entry of a dict, an attribute, a key that a dict has
not ("absent"; "apart" for many), the number of keys ("count"; "names" for all of them in order), the class of an
object, the layout and bytes of an array, or a test of a whole container.  Of an array in C or Fortran order ("memory"
and "turned") a bytearray is compared with its memory as it is, in 50 ns up to a kilobyte, and 0.2 µs for 20 kB; others
are copied for that.  `Bindings.quick` asks for all of them in one expression, made as a dataclass makes its methods;
`holds` is the same for one of them, and what the expression is tested against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Binding: TypeAlias = tuple[str, Any, Any, Any]  # form, owner, key, value

FORMS = {
    "cell": "{owner}.cell_contents is {value}",
    "item": "{owner}[{key!r}] is {value}",
    "attribute": "{owner}.{key} is {value}",
    "absent": "{key!r} not in {owner}",
    "apart": "{owner}.isdisjoint({value})",
    "names": "tuple({owner}) == {value}",
    "count": "len({owner}) == {value}",
    "empty": "not {owner}",
    "kind": "type({owner}) is {value}",
    "array": "{key}.fits({owner}) and {value} == {owner}.tobytes()",
    "layout": "{key}.fits({owner})",
    "memory": "{owner}.dtype is {dtype} and {owner}.shape == {shape!r} and {value} == {owner}",
    "turned": "{owner}.dtype is {dtype} and {owner}.shape == {shape!r} and {value} == {owner}.T",
    "test": "{value}()",
}
ARRAYS: dict[str, Callable[..., Any]] = {
    "array": np.ndarray.tobytes,
    "memory": lambda x: x,
    "turned": np.ndarray.transpose,
}  # what is compared
COUNTED: dict[str, Callable[[Any, Any, Any], bool]] = {
    "absent": lambda owner, key, value: key not in owner,
    "apart": lambda owner, key, value: owner.isdisjoint(value),
    "names": lambda owner, key, value: tuple(owner) == value,
    "count": lambda owner, key, value: len(owner) == value,
    "empty": lambda owner, key, value: not owner,
}  # of the keys of a dict
VALUES = (bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, np.generic, np.dtype)
GONE = (AttributeError, KeyError, IndexError, ValueError, TypeError)
AT_ONCE = 200  # bindings of one expression


class Layout(NamedTuple):
    """What of an array can be set in place besides its entries."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, x: np.ndarray) -> Layout:
        """That of an array, as it is now."""
        return cls(x.dtype, x.shape, x.strides)

    def fits(self, x: np.ndarray) -> bool:
        """Whether an array has it still; the dtype is the same object, unless it was set."""
        return x.dtype is self.dtype and x.shape == self.shape and x.strides == self.strides

    def __str__(self) -> str:
        return f"an array of shape {self.shape}"


class Bindings:
    """The bindings of one function, as they were when it was recorded.

    Attributes
    ----------
    listed : list of bindings
    quick : callable or None
        Whether all hold; raises one of GONE where something is not there any more.
    """

    __slots__ = ("listed", "quick")

    def __init__(self, bindings: Iterable[Binding]):
        self.listed: list[Binding] = list(bindings)
        tests = [_compiled(self.listed[i : i + AT_ONCE]) for i in range(0, len(self.listed), AT_ONCE)]
        self.quick: Callable[[], bool] | None = tests[0] if len(tests) == 1 else _all(tests) if tests else None

    def hold(self) -> bool:
        """Whether every name still stands for what it did."""
        try:
            return self.quick is None or self.quick()
        except GONE:
            return False

    def broken(self) -> list[str]:
        """The keys of those that do not hold."""
        return [_told(x).lstrip(".") for x in self.listed if not holds(x)]


def _told(binding):
    """What a binding is about, in words."""
    form, owner, key, value = binding
    return ", ".join(sorted(value & owner)) if form == "apart" else str(key)


def _all(tests):
    return lambda: all(test() for test in tests)


def holds(binding: Binding) -> bool:
    """Whether one binding holds."""
    form, owner, key, value = binding
    try:
        if form in COUNTED:
            return COUNTED[form](owner, key, value)
        if form in ARRAYS:
            return key.fits(owner) and bool(value == ARRAYS[form](owner))
        if form == "layout":
            return key.fits(owner)
        if form == "kind":
            return type(owner) is value
        if form == "test":
            return value()
        now = owner.cell_contents if form == "cell" else owner[key] if form == "item" else getattr(owner, key)
        return same(now, value)
    except GONE:
        return False


def same(one: Any, two: Any) -> bool:
    """Whether two objects are one, or equal values of one type; 0.0 and -0.0 differ, nan and nan do not."""
    if one is two:
        return True
    if type(one) is not type(two) or not isinstance(one, VALUES):
        return False
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, (float, complex, np.generic)):
        return repr(one) == repr(two) and (not isinstance(one, np.generic) or one.tobytes() == two.tobytes())
    if isinstance(one, frozenset):
        return one == two and sorted(map(repr, one)) == sorted(map(repr, two))
    return bool(one == two)


def _compiled(bindings):
    """A function without arguments that says whether these hold."""
    space, parts, names = {"same": same}, [], {}
    for form, owner, key, value in bindings:
        one, two = (_name(x, space, names) for x in (owner, value))
        if type(key) is Layout and form != "test":
            dtype, layout = (_name(x, space, names) for x in (key.dtype, key))
            part = FORMS[form].format(owner=one, key=layout, dtype=dtype, shape=key.shape, value=two)
        else:
            part = FORMS[form].format(owner=one, key=key, value=two)
        if form in ("cell", "item", "attribute") and isinstance(value, VALUES):
            part = f"({part} or same({part.rpartition(' is ')[0]}, {two}))"
        parts.append(part)
    return eval(f"lambda: {' and '.join(parts)}", space)


def _name(x, space, names):
    """The name under which an expression finds `x`."""
    if id(x) not in names:
        names[id(x)] = f"x{len(names)}"
        space[names[id(x)]] = x
    return names[id(x)]
