"""Forward levels: tangents pushed through a primitive.

No primitive needs a forward rule of its own.  In this order: the rules given by `defjvp`; a (multi)linear
function applied to the tangent; the reverse rule of a holomorphic elementwise function, which is its
forward rule too; else the transpose of the reverse rule, obtained by sweeping it backward from a dummy
cotangent.  Nothing is kept, so memory does not grow with the depth of the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.tape import backward
from qad.core.tape.backward import arrived
from qad.core.tape.cotangents import Lazy
from qad.core.tape.dispatch import hidden, missing_rule
from qad.core.tape.levels import Level
from qad.core.tape.node import leaf
from qad.core.tape.operands import split
from qad.core.tape.reverse import Reverse
from qad.core.tape.roots import remembered
from qad.core.tape.tensor import Tensor, rebuild, value_of
from qad.core.tape.writing import taken, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.tape.node import Primitive
    from qad.typing.words import Answer, Index, Keywords, Tangent, Value


class Forward(Level):
    """A level whose Tensors carry tangents; it records nothing."""

    __slots__ = ()
    copies = True
    direction: str | None = "forward"

    def lift(self, x: Tensor) -> Tensor:
        """`x` with the tangent 0."""
        lifted = super().lift(x)
        lifted.tangent = np.zeros_like(value_of(x))
        return lifted

    def read(self, x: Tensor, index: Index) -> Tensor:
        return Tensor(taken(x.value, index), None, self, taken(x.tangent, index))

    def write(self, x: Tensor, index: Index, v: Value, add: bool) -> None:
        below, tangent = (v.value, v.tangent) if type(v) is Tensor and v.level is self else (v, 0)
        if x.tangent.dtype != x.dtype:  # that of a complex array may be real
            x.tangent = x.tangent.astype(x.dtype)
        x.tangent = written(x.tangent, index, tangent, add)
        x.value = written(x.value, index, below, add)

    def apply(self, p: Primitive, args: Sequence[Value], kwargs: Keywords) -> Answer:
        """Run `p` on the values of the level below, and push the tangents through it."""
        return remembered(p, self.push(p, args, kwargs), args, kwargs)

    def push(self, p: Primitive, args: Sequence[Value], kwargs: Keywords) -> Answer:
        values, _ = split(args, self)
        tangents = [a.tangent if type(a) is Tensor and a.level is self else None for a in args]
        ans = p.fn(*values, **kwargs)
        if type(ans) is Tensor and ans.level.number >= self.number:
            raise hidden(p.name)
        moving = tuple(i for i, t in enumerate(tangents) if t is not None)
        for i in moving:
            if not (p.has_rule(i) or p.jvps or p.forward):
                raise missing_rule(p.fn, i if any(p.vjps) else None)
        out = tangent_of(p, moving, tangents, ans, values, kwargs)
        if isinstance(ans, (tuple, list)):
            parts = zip(ans, out, strict=True)
            return rebuild(ans, [a if t is None else Tensor(a, None, self, t) for a, t in parts])
        return Tensor(ans, None, self, out)


def tangent_of(
    p: Primitive, moving: Sequence[int], tangents: Sequence[Tangent], ans: Answer, values: Sequence[Value],
    kwargs: Keywords
) -> Tangent:  # fmt: skip
    """The tangent of `ans` (a list of them for several outputs)."""
    if p.forward:
        return summed((p.forward(tangents, ans, *values, **kwargs),), ans)
    if p.jvps:
        parts = [p.jvps[i](tangents[i], ans, *values, **kwargs) for i in moving]
    elif p.linear:
        parts = [p.fn(*values[:i], tangents[i], *values[i + 1 :], **kwargs) for i in moving]
    elif p.elementwise:
        parts = [p.vjps[i](tangents[i], ans, *values, **kwargs) for i in moving]
    else:
        return transpose(p, moving, tangents, ans, values, kwargs)
    return summed(parts, ans)


def summed(parts: Sequence[Tangent], ans: Answer) -> Tangent:
    if isinstance(ans, (tuple, list)):
        pairs = zip(zip(*parts, strict=True), ans, strict=True)
        return [summed(part, a) if hasattr(a, "shape") else None for part, a in pairs]  # Python's integers do not move
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    if total.shape != ans.shape:
        total = total + np.zeros_like(value_of(ans), total.dtype)
    return total.real if ans.dtype.kind == "f" and total.dtype.kind == "c" else total


def transpose(
    p: Primitive, moving: Sequence[int], tangents: Sequence[Tangent], ans: Answer, values: Sequence[Value],
    kwargs: Keywords
) -> Tangent:  # fmt: skip
    """Tangent by transposition.

    The rule maps g to cotangents c_i, linearly over the reals, and ``Re sum c_i t_i = Re sum g t`` holds
    for the tangent t of the answer; so t is the cotangent of g when the c_i are given cotangents t_i.
    """
    several = isinstance(ans, (tuple, list))
    with Reverse() as level:
        probes = [_probe(a, level) for a in (ans if several else (ans,))]
        g = tuple(probes) if several else probes[0]
        cotangents = p.cotangents(moving, g, ans, values, kwargs)
    roots = []
    for c, i in zip(cotangents, moving, strict=True):
        c = c.dense() if isinstance(c, Lazy) else c
        if type(c) is Tensor and c.level is level:
            roots.append((c.node, tangents[i]))
    found = backward.sweep(roots)
    out = [arrived(found, probe.node)[0] for probe in probes]
    out = [np.zeros_like(value_of(a)) if t is None else t for t, a in zip(out, ans if several else (ans,), strict=True)]
    return out if several else out[0]


def _probe(ans: Value, level: Level) -> Tensor:
    """A zero cotangent of the shape and dtype of `ans`."""
    zero = np.zeros_like(value_of(ans))
    return Tensor(zero, leaf(zero), level)
