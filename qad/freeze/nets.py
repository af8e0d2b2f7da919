"""The products of a program as tensor networks: which axes of which arrays are summed with which.

Views on the way from one product to the next are looked through, also where they take axes apart.
"""

from qad.freeze.functions import TRANSPOSE
from qad.freeze.labels import renamed
from qad.freeze.notations import notation
from qad.freeze.passes.rewriting import is_view

__all__ = ["Net", "inlined", "net_of"]


class Net:
    """A product of several arrays.  Immutable.

    Attributes
    ----------
    root : Var
        The result.
    operands : tuple of (Var, axes)
        Axes as in `qad.freeze.labels`; a label that is not in `out` is summed.
    out : axes
        Those of the result.
    """

    __slots__ = ("root", "operands", "out")

    def __init__(self, root, operands, out):
        self.root, self.operands, self.out = root, tuple(operands), out

    def renamed(self, found):
        """The same network with other labels."""
        return Net(self.root, [(x, renamed(axes, found)) for x, axes in self.operands], renamed(self.out, found))

    def copied(self, labels):
        """The same network with labels of its own."""
        used = dict.fromkeys(label for _, axes in self.operands for axis in axes for label in axis)
        return self.renamed({label: (labels.new(labels.sizes[label]),) for label in used})

    def terms(self):
        """The labels of each operand, and those of the result."""
        return [_flat(axes) for _, axes in self.operands], _flat(self.out)


def _flat(axes):
    return tuple([label for axis in axes for label in axis])


def net_of(step, definitions, labels):
    """The network of one step; None where it is no product of arrays of one dtype, or its axes do not fit together."""
    terms = notation(step)
    if terms is None or any(x.dtype != step.out.dtype for x in step.reads()):
        return None
    net, known = Net(step.out, (), ()), {}
    for x, term in zip(step.reads(), terms[:-1], strict=True):
        base, own, axes = _seen(x, definitions, labels)
        found = labels.matched([(known[i], axis) for i, axis in zip(term, axes, strict=True) if i in known])
        if found is None:
            return None
        net = Net(step.out, (*net.operands, (base, own)), ()).renamed(found)
        known |= dict(zip(term, axes, strict=True))
        known = {i: renamed((axis,), found)[0] for i, axis in known.items()}
    return Net(step.out, net.operands, tuple([known[i] for i in terms[-1]]))


def _seen(x, definitions, labels):
    """What `x` is a view of, the axes of that, and those of `x`."""
    chain = []
    while (step := definitions.get(x)) is not None and is_view(step):
        chain.append(step)
        x = step.args[0]
    own = axes = labels.axes(x.shape)
    for step in reversed(chain):
        if step.fn is TRANSPOSE:
            axes = tuple([axes[axis] for axis in step.args[1]])
            continue
        made = labels.reshaped(axes, step.out.shape)
        if made is None:  # this reshape is where looking ends
            x = step.out
            own = axes = labels.axes(x.shape)
        else:
            axes, found = made
            own = renamed(own, found)
    return x, own, axes


def inlined(net, root, inner, labels):
    """A network with that of `root` in the places where `root` is an operand; None where axes do not fit together."""
    while root in [x for x, _ in net.operands]:
        k = [x for x, _ in net.operands].index(root)
        new = inner.copied(labels)
        found = labels.matched(zip(net.operands[k][1], new.out, strict=True))
        if found is None:
            return None
        operands = [*net.operands[:k], *new.operands, *net.operands[k + 1 :]]
        net = Net(net.root, operands, net.out).renamed(found)
    return net
