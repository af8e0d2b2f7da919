"""Cotangents and tangents that the caller gives, checked against what they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.foreign import as_array
from qad.core.tape.tensor import CONSTANT, Tensor, value_of
from qad.core.transforms.leaves import number
from qad.core.trees import check_arithmetic, flatten, nesting, strip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.words import Cotangent, Spec, Value
    from qad.typing import Tree


def seeds_like(w: Tree, values: Sequence[Value], spec: Spec) -> list[Cotangent]:
    """Public cotangents `w` as the tape's: conjugated, checked against the outputs `values`."""
    leaves, given = flatten(w)
    if given != spec:
        raise ArgumentError(
            f"the cotangent is nested like {nesting(given)}, the output like {nesting(spec)}: they must agree"
        )
    return [np.conj(match(c, value, "cotangent")) for c, value in zip(leaves, values, strict=True)]


def match(c: Any, value: Value, what: str) -> Value:
    """`c` as an array of the shape and kind of `value`; raises where it is complex for something real."""
    c = strip(c, CONSTANT)
    if type(c) is not Tensor:
        check_arithmetic(c)
        c = as_array(number(c))
    shape, dtype = np.shape(value_of(value)), np.result_type(value_of(value))
    if c.shape != shape:
        raise ShapeError(f"the {what} has shape {c.shape}, but its array has shape {shape}")
    if c.dtype.kind == "c" and dtype.kind == "f":
        raise GradientTypeError(f"the {what} is complex, but its array is real: write {what}.real")
    return c.astype(dtype) if c.dtype.kind not in "fc" or dtype.kind == "c" != c.dtype.kind else c
