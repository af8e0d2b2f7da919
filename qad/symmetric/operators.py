"""Operators that mean nothing for symmetric tensors: they are refused, and say what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import MissingRuleError

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from qad.typing import Function

__all__ = ["FUNCTIONS", "Refusals", "refused"]

FUNCTIONS: dict[Function, Function] = {}  # NumPy's functions that mean the same here, filled by ``protocol.py``

BLOCKS = "take a.blocks()[charges], a.sectors(), or a.to_dense()"
ELEMENTS = "elements are in a.data; qad.symmetric.funm_herm and funm_svd are functions of matrices"
SUM = "write qad.symmetric.from_dense(array, legs), or .to_dense() of the other"
PRODUCT = "a factor is a number; qad.symmetric.scale multiplies along a leg, qad.tensordot and qad.einsum contract"


def refused(sign: str, other: Any) -> NoReturn:
    """Raise for a sum or a product with `other`."""
    advice = SUM if sign in "+-" else PRODUCT
    raise MissingRuleError(f"a symmetric tensor {sign} {type(other).__name__} is not defined: {advice}")


class Refusals:
    """The operators that a symmetric tensor does not have."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> NoReturn:
        raise MissingRuleError(f"a[...]: the entries of a symmetric tensor lie in blocks: {BLOCKS}")

    def __iter__(self) -> NoReturn:
        raise MissingRuleError(f"iter(a): a symmetric tensor is no sequence: {BLOCKS}")

    def __len__(self) -> NoReturn:
        raise MissingRuleError("len(a): a symmetric tensor is no sequence: take a.shape, a.ndim, a.size or a.legs")

    def __bool__(self) -> NoReturn:
        raise MissingRuleError("bool(a): a symmetric tensor is neither true nor false: take a.norm() > 0")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Refusals | np.ndarray):
            raise MissingRuleError("a == b: compare a.legs, a.charge and (a - b).norm(), or the arrays of a.to_dense()")
        return NotImplemented

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __array_function__(self, function: Function, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in FUNCTIONS:
            name = getattr(function, "__name__", function)
            raise MissingRuleError(
                f"np.{name} does not take symmetric tensors: see qad.symmetric, or take .data, .blocks() or .to_dense()"
            )
        return FUNCTIONS[function](*args, **kwargs)

    def __matmul__(self, other: Any) -> NoReturn:
        raise MissingRuleError("a @ b: say which legs are contracted: qad.tensordot(a, b, 1), or qad.einsum")

    __rmatmul__ = __matmul__

    def __abs__(self) -> NoReturn:
        raise MissingRuleError(f"abs(a): a.norm() is the size of a symmetric tensor; {ELEMENTS}")

    def __pow__(self, power: Any) -> NoReturn:
        raise MissingRuleError(f"a ** n: {ELEMENTS}")

    def __rtruediv__(self, other: Any) -> NoReturn:
        raise MissingRuleError(f"x / a: {ELEMENTS}")
