"""Recording: the highest level among the operands is found, and asked."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError, LeakedTensorError, QadError, ShapeError
from qad.core.tape.levels import mode
from qad.core.tape.operands import FAMILIAR, brought, highest, refuse_devices
from qad.core.tape.views import look

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.core.tape.node import Primitive
    from qad.typing.words import Answer, Keywords, Value


def record(p: Primitive, args: Sequence[Value], kwargs: Keywords | None = None) -> Answer:
    """Apply primitive `p` to `args`: plain operands give a plain answer, constants and `qad.no_grad` a constant."""
    if not FAMILIAR.issuperset(map(type, args)):
        args = tuple(map(brought, args))
    if p.canonical is not None and (ans := p.canonical(*args)) is not None:
        return ans
    return handed_down(p, args, kwargs or {}, mode())


def handed_down(p: Primitive, args: Sequence[Value], kwargs: Keywords, top: Any) -> Answer:
    """`record`, where `top` (a Mode, or None) stands above the levels."""
    level = highest(args)
    handler = level if top is None or level.number == inf else top.above(level)  # what a buffer holds will be asked
    if not handler.open:
        raise leaked(p.name)
    try:
        out = handler.apply(p, args, kwargs)
    except (ValueError, TypeError) as error:
        explain(p, args, error)
        raise
    if p.shows:
        look(out, args[0], p, args[1:], kwargs)
    return out


def leaked(where: str) -> LeakedTensorError:
    return LeakedTensorError(
        f"a Tensor of a finished transform was used in {where}: it leaked through a global, a closure or an "
        "attribute. Return it from the function (has_aux=True hands extra results out), or store x.numpy()"
    )


def explain(p: Primitive, args: Sequence[Value], error: ValueError | TypeError) -> None:
    """Raise an error that primitive `p` met as one of ours: a plain ValueError, and a TypeError about devices."""
    if isinstance(error, TypeError):
        refuse_devices(p.name, args, error)
    if type(error) is not ValueError or isinstance(error.__cause__, QadError):
        return
    shapes = " and ".join(str(a.shape) for a in args if hasattr(a, "shape"))
    text = f"{p.name} of shape {shapes}: {str(error).strip()}"
    if p.broadcasting is not None:
        text += "; axes are matched from the last one and must be equal or 1: insert one of length 1 with x[:, None]"
    about_shapes = any(word in str(error) for word in ("shape", "dimension", "size", "axis", "axes"))
    raise (ShapeError if about_shapes else ArgumentError)(text) from error
