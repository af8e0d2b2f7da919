"""The products of a program as tensor networks: which axes of which arrays are summed with which.

Views on the way from one product to the next are looked through, also where they take axes apart.  Programs repeat
themselves, so all that concerns labels alone is cached.
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

from qad.frozen.axis_labels import Labels, renamed
from qad.frozen.functions import TRANSPOSE
from qad.frozen.index_notation import notation
from qad.frozen.passes.rewriting import is_view
from qad.frozen.program import Var

__all__ = ["Form", "Net", "inlined", "net_of"]


class Form(NamedTuple):
    """A network without its arrays; equal ones are equal.

    Attributes
    ----------
    operands : tuple of axes
        As in `qad.frozen.axis_labels`, labels numbered in order of appearance; what is not in `out` is summed.
    out : axes
        Those of the result.
    sizes : tuple of int
        Of the labels.
    """

    operands: tuple
    out: tuple
    sizes: tuple

    @property
    def flops(self):
        """Multiply-adds of the whole product at once."""
        return prod(self.sizes)

    def terms(self):
        """The labels of each operand, and those of the result."""
        return tuple(map(_flat, self.operands)), _flat(self.out)


class Net(NamedTuple):
    """A product of several arrays: the result, the operands, and how they hang together."""

    root: Var
    operands: tuple
    form: Form


def _flat(axes):
    return tuple([label for axis in axes for label in axis])


def _form(operands, out, labels):
    """The form with these labels."""
    numbers = {}
    for axes in operands:
        for label in _flat(axes):
            numbers.setdefault(label, len(numbers))
    found = {label: (number,) for label, number in numbers.items()}
    sizes = tuple([labels.sizes[label] for label in numbers])
    return Form(tuple([renamed(axes, found) for axes in operands]), renamed(out, found), sizes)


def net_of(step, definitions):
    """The network of one step; None where it is no product of arrays of one dtype, or its axes do not fit together."""
    terms = notation(step)
    if terms is None or any(x.dtype != step.out.dtype for x in step.reads()):
        return None
    chains, views = [], []
    for x in step.reads():
        chain = [x]
        while (view := definitions.get(chain[-1])) is not None and is_view(view):
            chain.append(view.args[0])
        ways = [definitions[y] for y in chain[:-1]]
        chains.append(chain)
        views.append((chain[-1].shape, tuple([(way.fn is TRANSPOSE, way.args[1]) for way in reversed(ways)])))
    found = _product(terms, tuple(views))
    if found is None:
        return None
    form, bases = found
    return Net(step.out, tuple([chain[-1 - base] for chain, base in zip(chains, bases, strict=True)]), form)


@lru_cache(maxsize=4096)
def _product(terms, views):
    """The form of a product of arrays that are views, and how many views each operand is then away from its base."""
    labels, operands, bases, known = Labels(), [], [], {}
    for term, (shape, ways) in zip(terms[:-1], views, strict=True):
        base, own, axes = _seen(shape, ways, labels)
        found = labels.matched([(known[i], axis) for i, axis in zip(term, axes, strict=True) if i in known])
        if found is None:
            return None
        bases.append(base)
        operands = [renamed(each, found) for each in (*operands, own)]
        known |= dict(zip(term, axes, strict=True))
        known = {i: renamed((axis,), found)[0] for i, axis in known.items()}
    return _form(operands, tuple([known[i] for i in terms[-1]]), labels), tuple(bases)


def _seen(shape, ways, labels):
    """After which view an array is seen through, the axes that it has there, and those after the last."""
    base, own = 0, labels.axes(shape)
    axes = own
    for number, (is_transpose, argument) in enumerate(ways, 1):
        if is_transpose:
            axes = tuple([axes[axis] for axis in argument])
            continue
        made = labels.reshaped(axes, argument)
        if made is None:  # an axis is cut in a way that labels cannot follow: what comes before stays
            base, own = number, labels.axes(argument)
            axes = own
        else:
            axes, found = made
            own = renamed(own, found)
    return base, own, axes


def inlined(net, inner):
    """A network with another in the places of its result; None where their axes do not fit together."""
    while inner.root in net.operands:
        k = net.operands.index(inner.root)
        form = _inlined(net.form, k, inner.form)
        if form is None:
            return None
        net = Net(net.root, (*net.operands[:k], *inner.operands, *net.operands[k + 1 :]), form)
    return net


@lru_cache(maxsize=4096)
def _inlined(outer, k, inner):
    """A form with another in the place of its operand number `k`."""
    labels = Labels(outer.sizes + inner.sizes)
    moved = {label: (len(outer.sizes) + label,) for label in range(len(inner.sizes))}
    found = labels.matched(zip(outer.operands[k], renamed(inner.out, moved), strict=True))
    if found is None:
        return None
    new = [renamed(axes, moved) for axes in inner.operands]
    operands = [renamed(axes, found) for axes in (*outer.operands[:k], *new, *outer.operands[k + 1 :])]
    return _form(operands, renamed(outer.out, found), labels)
