"""Index notation: from what the caller wrote to labels as small integers.

The text form (``"ij,jk->ik"``) and NumPy's interleaved form (``einsum(a, [0, 1], b, [1, 2])``) meet here in one
immutable `Expression`.  Labels become integers in order of first appearance, so networks that differ only in their
names share everything that is computed later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from typing import Any

__all__ = ["Expression", "parse", "parse_lists", "split_lists", "label_sizes"]

DOTS = "..."


@dataclass(frozen=True)
class Expression:
    """A parsed index expression.

    Attributes
    ----------
    inputs : tuple of tuples of int
        The labels of each operand, one per axis.
    output : tuple of int
        The labels of the result, one per axis.
    names : tuple of str
        What the caller calls each label; axes under an ellipsis are called ``...0``, ``...1`` from the left.
    text : str
        The expression for messages.
    """

    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    names: tuple[str, ...]
    text: str

    def term(self, labels: Iterable[int]) -> str:
        """The labels as the caller would write them."""
        names = [self.names[label] for label in labels]
        return ("" if all(len(name) == 1 for name in names) else " ").join(names)


def parse(subscripts: str, ndims: tuple[int, ...]) -> Expression:
    """Parse the text form for operands of the given numbers of axes.

    Parameters
    ----------
    subscripts : str
        NumPy's grammar: terms separated by commas, optionally ``->`` and the output.  Labels are letters and all
        characters beyond ASCII.  Without ``->`` the output holds the labels that occur once, sorted.
    ndims : tuple of int
        The number of axes of each operand.

    Returns
    -------
    Expression

    Raises
    ------
    ArgumentError
        The expression is malformed, or its number of terms is not the number of operands.
    ShapeError
        An operand has another number of axes than its term has labels.

    Examples
    --------
    >>> parse("ij,jk", (2, 2)).output
    (0, 2)
    """
    if not isinstance(subscripts, str):
        raise ArgumentError(f"einsum: subscripts must be a string, not {type(subscripts).__name__}")
    return _parse_text(subscripts, ndims)


@lru_cache(maxsize=4096)
def _parse_text(subscripts, ndims):
    text = "".join(subscripts.split())
    left, arrow, right = text.partition("->")
    if any(mark in left + right for mark in "->"):
        raise ArgumentError(f'expression "{text}": write "->" once, between the operands and the output')
    terms = [_split_term(term, text, number) for number, term in enumerate(left.split(","))]
    return _resolve(terms, _split_term(right, text, None) if arrow else None, ndims, text)


def _split_term(term, text, number):
    """One term as a list of labels, the ellipsis being one of them."""
    head, dots, tail = term.partition(DOTS)
    for mark in head + tail:
        if mark.isascii() and not mark.isalpha():
            where = "the output" if number is None else f"operand {number}"
            raise ArgumentError(
                f'expression "{text}": {where} has a stray "{mark}": labels are letters (or beyond ASCII); '
                "the form einsum(a, [0, 1], b, [1, 2], [0, 2]) takes numbers" + _pointer(text, number)
            )
    return [*head, *([DOTS] if dots else ()), *tail]


def parse_lists(
    terms: Iterable[Iterable[Hashable]], output: Iterable[Hashable] | None, ndims: tuple[int, ...]
) -> Expression:
    """Parse the interleaved form; labels are any sortable hashable objects, and Ellipsis.

    Parameters
    ----------
    terms : sequence of sequences
        The labels of each operand.
    output : sequence or None
        The labels of the result; None: those that occur once, sorted.
    ndims : tuple of int
        The number of axes of each operand.
    """
    try:
        return _parse_lists(tuple(map(tuple, terms)), None if output is None else tuple(output), ndims)
    except TypeError as error:
        raise ArgumentError(
            "einsum: in the interleaved form every operand is followed by a list of labels, "
            f"e.g. einsum(a, [0, 1], b, [1, 2], [0, 2]) ({error})"
        ) from error


@lru_cache(maxsize=4096)
def _parse_lists(terms, output, ndims):
    dotted = [[DOTS if label is Ellipsis else label for label in term] for term in terms]
    result = None if output is None else [DOTS if label is Ellipsis else label for label in output]
    show = ",".join(" ".join(map(str, term)) for term in dotted)
    if result is not None:
        show += "->" + " ".join(map(str, result))
    return _resolve(dotted, result, ndims, show)


def split_lists(arguments: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Any]:
    """Split ``(a, [0, 1], b, [1, 2], [0, 2])`` into operands, terms and output (None where it is not given)."""
    count = len(arguments) // 2
    return (
        arguments[: 2 * count : 2],
        arguments[1 : 2 * count : 2],
        arguments[2 * count] if len(arguments) % 2 else None,
    )


def _resolve(terms, output, ndims, text):
    if len(terms) != len(ndims):
        few = ("too few" if len(ndims) < len(terms) else "too many") + ', where einsum("ij,jk->ik", a, b) has two'
        raise ArgumentError(f'expression "{text}" has {len(terms)} terms, but {len(ndims)} operands are given: {few}')
    widths = [
        _dots_width(term, ndim, text, number) for number, (term, ndim) in enumerate(zip(terms, ndims, strict=True))
    ]
    most = max(widths, default=0)
    terms = [_fill_dots(term, width, most) for term, width in zip(terms, widths, strict=True)]
    counts = Counter(name for term in terms for name in term)
    output = _output(counts, output, most, text)
    numbers = {name: number for number, name in enumerate(counts)}
    names = tuple(
        name if isinstance(name, str) else str(name)
        for name in (DOTS + str(name[1]) if isinstance(name, _Dot) else name for name in numbers)
    )
    inputs = tuple(tuple(numbers[name] for name in term) for term in terms)
    return Expression(inputs, tuple(numbers[name] for name in output), names, text)


class _Dot(tuple):
    """The label of an axis under an ellipsis: a type of its own, so that no label of the caller's equals it."""


def _dots(first, most):
    return [_Dot((DOTS, axis)) for axis in range(first, most)]


def _dots_width(term, ndim, text, number):
    """How many axes the ellipsis of a term stands for."""
    dotted = DOTS in term
    if term.count(DOTS) > 1:
        raise ArgumentError(
            f'expression "{text}": operand {number} has more than one ellipsis' + _pointer(text, number)
        )
    named = len(term) - dotted
    if named > ndim or (named < ndim and not dotted):
        least = "at least " if dotted else ""
        raise ShapeError(
            f'expression "{text}": operand {number} has {ndim} axes, but its term needs {least}{named}'
            + _pointer(text, number)
        )
    return ndim - named


def _fill_dots(term, width, most):
    if DOTS not in term:
        return term
    place = term.index(DOTS)
    return [*term[:place], *_dots(most - width, most), *term[place + 1 :]]


def _output(counts, output, most, text):
    if output is None:
        named = sorted(name for name, count in counts.items() if count == 1 and not isinstance(name, _Dot))
        return [*_dots(0, most), *named]
    if most and DOTS not in output:
        raise ArgumentError(
            f'expression "{text}": an ellipsis stands for {most} axes, which the output lacks: '
            'write "..." in it, or give the axes labels to sum them'
        )
    if output.count(DOTS) > 1:
        raise ArgumentError(f'expression "{text}": the output has more than one ellipsis')
    output = _fill_dots(output, most, most)
    for name, count in Counter(output).items():
        if name not in counts:
            raise ArgumentError(f'expression "{text}": output label {name!r} occurs in no operand')
        if count > 1:
            raise ArgumentError(
                f'expression "{text}": output label {name!r} occurs more than once; '
                "take the diagonal in an operand, or embed it with np.diag afterwards"
            )
    return output


@lru_cache(maxsize=4096)
def label_sizes(expression: Expression, shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """The size of every label, by NumPy's rule: an axis of size 1 stretches to the size the label has elsewhere.

    Raises
    ------
    ShapeError
        Two axes of one label disagree; inside one operand there is no stretching.
    """
    sizes, seen = [1] * len(expression.names), [0] * len(expression.names)
    for number, (labels, shape) in enumerate(zip(expression.inputs, shapes, strict=True)):
        _check_diagonal(expression, number, labels, shape)
        for label, size in zip(labels, shape, strict=True):
            if sizes[label] == 1:
                sizes[label], seen[label] = size, number
            elif size not in (1, sizes[label]):
                first = seen[label]
                raise ShapeError(
                    f'expression "{expression.text}": '
                    f"label '{expression.names[label]}' has size {sizes[label]} in operand "
                    f"{first} (shape {shapes[first]}), but size {size} in operand {number} (shape {shape})"
                    + _pointer(expression.text, number)
                )
    return tuple(sizes)


def _check_diagonal(expression, number, labels, shape):
    if len(set(labels)) == len(labels):
        return
    for label in labels:
        found = {size for other, size in zip(labels, shape, strict=True) if other == label}
        if len(found) > 1:
            raise ShapeError(
                f'expression "{expression.text}": operand {number} (shape {shape}) repeats label '
                f"'{expression.names[label]}' on axes of sizes {sorted(found)}, which have no diagonal"
                + _pointer(expression.text, number)
            )


def _pointer(text, number):
    """Two lines that underline one term of the expression (the output: number None)."""
    left, _, right = text.partition("->")
    terms = left.split(",")
    start = len(left) + 2 if number is None else sum(len(term) + 1 for term in terms[:number])
    width = len(right) if number is None else len(terms[number])
    return f"\n    {text}\n    {' ' * start}{'^' * max(width, 1)}"
