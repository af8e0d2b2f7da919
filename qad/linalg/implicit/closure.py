"""Closure conversion: a function of x, and the Tensors that it closes over, as one explicit function of both.

The function runs once on a level of its own.  What that tape holds is replayed later, with other values for x
and for the captured Tensors, on plain arrays or on Tensors of any level.  Whatever the function does
without x (``A.conj()``, say) happens outside of that tape, and its result is what is captured.
"""

from operator import getitem

from qad.core.tape.node import ARGS, ID, LEAF, PARENTS, PICK, PRIMITIVE, given
from qad.core.tape.reverse import Reverse
from qad.core.tape.tensor import CONSTANT
from qad.core.transforms.arguments import run
from qad.core.transforms.grad import node_of, strip
from qad.core.transforms.leaves import lift
from qad.core.trees import flatten
from qad.extend import Tensor


class Closure:
    """A function ``closure(leaves, captured) -> leaves`` made by `capture`.

    Attributes
    ----------
    spec : the structure of the output
    steps : list of (function, arguments, keywords, places to fill in from earlier results)
    """

    __slots__ = ("spec", "steps", "outputs")

    def __init__(self, spec, steps, outputs):
        self.spec = spec
        self.steps = steps
        self.outputs = outputs  # pairs: number of a result or None, constant

    def __call__(self, leaves, captured):
        """Leaves of the output, for other `leaves` of the argument and other values of what was captured."""
        results = [*leaves, *captured]
        for fn, args, kwargs, places in self.steps:
            args = list(args)
            for i, k in places:
                args[i] = results[k]
            results.append(fn(*args, **kwargs))
        return [constant if k is None else results[k] for k, constant in self.outputs]


def capture(f, x):
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
    with Reverse() as level:
        lifted, leaves, _ = lift(x, level, "x")
        out, spec = flatten(run(f, [lifted], {}))
    nodes = _below([node_of(leaf, level) for leaf in out])
    constants = [a for node in nodes for a in _constants(node)]
    captured = _captured(constants + [x for x in out if node_of(x, level) is None])
    number = {x.node[ID]: k for k, x in enumerate(leaves)}
    number |= {-id(a): len(leaves) + k for k, a in enumerate(captured)}  # negative: never the id of a node
    steps = []
    for k, node in enumerate(nodes, len(leaves) + len(captured)):
        steps.append(_step(node, number))
        number[node[ID]] = k
    return Closure(spec, steps, [_output(leaf, node_of(leaf, level), number) for leaf in out]), captured


def _below(nodes):
    """All recorded operations that `nodes` depend on, in the order in which they ran."""
    found, waiting = {}, [node for node in nodes if node is not None]
    while waiting:
        node = waiting.pop()
        if node[ID] not in found and node[PRIMITIVE] is not LEAF:
            found[node[ID]] = node
            waiting.extend(parent for parent in node[PARENTS] if parent is not None)
    return [found[key] for key in sorted(found)]


def _constants(node):
    """Arguments of `node` that do not depend on x."""
    if node[PRIMITIVE] is PICK:
        return []
    parents = node[PARENTS]
    return [a for i, a in enumerate(node[ARGS]) if i >= len(parents) or parents[i] is None]


def _captured(constants):
    """The recorded Tensors among `constants`, each once."""
    recorded = {id(a): a for a in constants if type(a) is Tensor and a.requires_grad}
    return list(recorded.values())


def _step(node, number):
    _, p, args, _, _, parents = node
    if p is PICK:
        return getitem, (None, args), {}, [(0, number[parents[0][ID]])]
    places = [(i, number[parent[ID]]) for i, parent in enumerate(parents) if parent is not None]
    moving = {i for i, _ in places}
    places += [(i, number[-id(a)]) for i, a in enumerate(args) if i not in moving and -id(a) in number]
    blank = dict(places)
    return p.fn, tuple(None if i in blank else a for i, a in enumerate(args)), given(node), places


def _output(leaf, node, number):
    if node is not None:
        return number[node[ID]], None
    return (number[-id(leaf)], None) if -id(leaf) in number else (None, strip(leaf, CONSTANT))
