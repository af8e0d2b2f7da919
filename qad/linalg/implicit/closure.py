"""Closure conversion: a function of x, and the Tensors that it closes over, as one explicit function of both.

The function runs once on a level of its own.  What that tape holds is replayed later, with other values for x
and for the captured Tensors, on plain arrays or on Tensors of any level.  Whatever the function does
without x (``A.conj()``, say) happens outside of that tape, and its result is what is captured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qad.extend import Tensor
from qad.extend.recording import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from qad.typing import Array, Tree

    Step: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], list[tuple[int, int]]]


@dataclass(eq=False)
class Closure:
    """A function ``closure(leaves, captured) -> leaves`` made by `capture`.

    Attributes
    ----------
    steps : list of (function, arguments, keywords, places to fill in from earlier results)
    """

    steps: list[Step]
    outputs: list[tuple[int | None, Any]]  # number of a result or None, constant

    def __call__(self, leaves: Sequence[Array], captured: Sequence[Array]) -> list[Array]:
        """Leaves of the output, for other `leaves` of the argument and other values of what was captured."""
        results = [*leaves, *captured]
        for fn, args, kwargs, places in self.steps:
            args = list(args)
            for i, k in places:
                args[i] = results[k]
            results.append(fn(*args, **kwargs))
        return [constant if k is None else results[k] for k, constant in self.outputs]


def capture(f: Callable[[Tree], Tree], x: Tree) -> tuple[Closure, list[Tensor]]:
    """Record ``f(x)`` and separate from it what it closes over.

    Parameters
    ----------
    f : callable
        A function of one pytree. Its branches are those taken at `x`.
    x : pytree of plain arrays

    Returns
    -------
    closure : Closure
    captured : list of Tensors
        Those of open levels that `f` uses, each once.
    """
    leaves, found, outputs, _ = operations(f, x)
    captured = _captured([a for op in found for a in _constants(op)] + [y for number, y in outputs if number is None])
    number = {leaf: k for k, leaf in enumerate(leaves)}
    number |= {-id(a): len(leaves) + k for k, a in enumerate(captured)}  # negative: never the number of an operation
    number |= {op.number: k for k, op in enumerate(found, len(leaves) + len(captured))}
    return Closure([_step(op, number) for op in found], [_output(*out, number) for out in outputs]), captured


def _constants(op):
    """Arguments of an operation that do not depend on x."""
    return [a for i, a in enumerate(op.args) if i not in op.parents]


def _captured(constants):
    """The recorded Tensors among `constants`, each once."""
    recorded = {id(a): a for a in constants if type(a) is Tensor and a.requires_grad}
    return list(recorded.values())


def _step(op, number):
    blank = {i: number[parent] for i, parent in op.parents.items()}
    blank |= {i: number[-id(a)] for i, a in enumerate(op.args) if i not in blank and -id(a) in number}
    return op.fn, tuple(None if i in blank else a for i, a in enumerate(op.args)), op.keywords, list(blank.items())


def _output(made, value, number):
    if made is not None:
        return number[made], None
    return (number[-id(value)], None) if -id(value) in number else (None, value)
