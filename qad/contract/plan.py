"""What a plan is: an expression and its shapes, ordered, laid out and lowered once, to be executed many times."""

from collections import Counter
from functools import cached_property
from math import prod

import numpy as np

from qad.contract.draw import draw
from qad.contract.layout import choose_layouts
from qad.contract.lower import canonical
from qad.contract.memory import peak_size
from qad.contract.network import record
from qad.contract.order import find_order, to_path
from qad.contract.pair import pair
from qad.contract.parse import label_sizes
from qad.contract.report import table
from qad.contract.residuals import SMALL, program
from qad.contract.strides import in_c_order
from qad.contract.tree import Tree
from qad.contract.unary import single
from qad.core.errors import ShapeError
from qad.core.tape.tensor import CONSTANT
from qad.extend import ARRAY_TYPES, Tensor

__all__ = ["Plan", "as_operand", "recorded"]


class Plan:
    """How a network is contracted.  Immutable and hashable; made by `qad.plan`.

    ``plan(*operands)`` contracts operands of the planned shapes, plain or recorded;
    ``print(plan)`` shows the steps, ``plan.draw()`` the tree.

    Attributes
    ----------
    expression : Expression
    shapes : tuple of tuples of int
        The shape of each operand.
    variables : tuple of int
        The operands whose gradient the order accounts for.
    path : tuple of tuples of int
        The order in opt_einsum's linear format.
    flops, flops_with_gradient : int
        Multiply-adds of the value, and of value and gradient: the product of all index sizes of each pair executed.
    write_size : int
        Elements of all intermediates and of the result.
    peak_size : int
        Elements alive at once beyond the operands: during the forward pass, or during value and gradient where there
        are variables (their gradients included).  Not counted is what a reused plan without a `memory_limit` holds of
        its constants, 16 MiB at most.
    slices : int
        The number of parts contracted one after the other; 1 unless a `memory_limit` asks for more.
    pairs : tuple of pairs of int
        The order once more, results numbered on from the operands.
    sizes : tuple of int
        Of the labels.
    terms, held : tuple
        Per node: its labels in the order of its axes, and whether it depends on a variable.
    prepare, steps : tuple
        What is executed: (operand, `Single`) for steps on single operands, (left, right, `Pair`) for pairs, whose
        results are numbered on from the operands.
    compact : bool
        Whether its arrays are so small that the time between the products counts.
    lean : bool
        Whether there is a memory limit, so that nothing may be held from one call to the next.
    again : tuple of int
        Nodes below which values are computed again in the backward pass instead of being kept, to keep to a limit.
    simple : bool
        Whether the result lies in memory in one way only: it has one axis, or is a view of a single operand.
    orders : dict
        In what order of axes NumPy's result lies in memory, by the strides; see `qad.tensor.strides`.
    programs : dict
        What is executed for which variables; see `qad.contract.residuals`.
    """

    lean = False
    again = ()

    def __init__(self, expression, shapes, variables, dtype, pairs):
        sizes = label_sizes(expression, shapes)
        network = _network(expression, shapes, sizes, variables)
        if pairs is None:
            pairs = find_order(*network)
        tree = Tree(network, pairs)
        held = tuple(tree.variables[node] > 0 for node in range(len(shapes) + len(pairs)))
        terms = _layout(tree, pairs, held)
        path = to_path(pairs, len(shapes)) or ((0,),)
        flops = sum(map(tree.forward_cost, tree.children))
        key = expression, shapes, variables, np.dtype(dtype), path
        self.__dict__.update(
            expression=expression,
            shapes=shapes,
            variables=variables,
            dtype=np.dtype(dtype),
            path=path,
            slices=1,
            flops=flops,
            flops_with_gradient=tree.cost(),
            pairs=tuple(pairs),
            held=held,
            terms=terms,
            sizes=sizes,
            steps=_steps(pairs, terms, sizes),
            prepare=_preparations(expression, shapes, terms),
            compact=len(pairs) > 2 and 0 < flops < SMALL * len(pairs),
            programs={},
            simple=_simple(expression),
            orders={},
            _key=key,
            _hash=hash(key),
        )

    def __setattr__(self, name, value):
        raise AttributeError(f"a Plan is immutable: make another one with qad.plan, instead of setting {name}")

    def __call__(self, *operands, executor=None):
        """Contract operands of the planned shapes, slices (if there are any) on an executor."""
        operands = [as_operand(operand) for operand in operands]
        if tuple(operand.shape for operand in operands) != self.shapes:
            raise ShapeError(
                f'the plan of "{self.expression.text}" is for operands of shapes {list(self.shapes)}, not '
                f"{[operand.shape for operand in operands]}: make a plan for these"
            )
        return in_c_order(self.execute(operands, recorded(operands), executor), self)

    def execute(self, operands, wanted, executor=None):
        """`__call__` for a list of arrays that are known to fit; the list is used up.

        `wanted` are the numbers of the recorded operands.  There is one slice, and an executor has nothing to do.
        """
        if wanted or not ARRAY_TYPES.issuperset(map(type, operands)):
            return record(self, operands, wanted)
        return program(self, ()).forward(operands)[0]

    @cached_property
    def write_size(self):
        return sum(prod(recipe.shapes[2]) for _, _, recipe in self.steps) or prod(self.prepare[0][1].out_shape)

    @cached_property
    def peak_size(self):
        return peak_size(self)

    def __eq__(self, other):
        return isinstance(other, Plan) and self._key == other._key

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f'<Plan "{self.expression.text}": {len(self.steps)} pairs, {self.flops:.4g} multiply-adds>'

    def __str__(self):
        return table(self)

    def draw(self, ax=None):
        """A picture of the tree with the cost of each step, as matplotlib Axes; see `qad.contract.draw.draw`."""
        return draw(self, ax)

    def table_rows(self):
        """The pairs in order: labels of both operands and of the result, the recipe, and how many cotangents follow."""
        for node, (left, right, recipe) in enumerate(self.steps, len(self.shapes)):
            terms = tuple(self.expression.term(self.terms[each]) for each in (left, right, node))
            yield terms, recipe, self.held[left] + self.held[right]


def _simple(expression):
    """Whether there is but one layout of the result: it has one axis at most, or is a view of the only operand."""
    alone = len(expression.inputs) == 1 and set(expression.output) == set(expression.inputs[0])
    return alone or len(expression.output) < 2


def _network(expression, shapes, sizes, variables):
    """What is left to order after the steps on single operands.

    A repeated label is a diagonal, a stretched axis is dropped (the other operands carry its label), and a label that
    one operand alone holds is summed at once.
    """
    terms = [
        tuple(dict.fromkeys(label for label, size in zip(labels, shape, strict=True) if size == sizes[label]))
        for labels, shape in zip(expression.inputs, shapes, strict=True)
    ]
    holders = Counter(label for term in (*terms, expression.output) for label in term)
    terms = tuple(tuple(label for label in term if holders[label] > 1) for term in terms)
    return terms, expression.output, sizes, tuple(number in variables for number in range(len(shapes)))


def _layout(tree, pairs, held):
    """The labels of all nodes, in their order: operands, intermediates, the result."""
    terms, output, sizes, _ = tree.network
    if not pairs:
        return [output]
    inner = [tree.legs[len(terms) + number] for number in range(len(pairs) - 1)]
    return choose_layouts(pairs, [*terms, *inner, output], len(terms), sizes, held)


def _preparations(expression, shapes, terms):
    """The steps on single operands: those that change something, and that of a network of one operand."""
    return tuple(
        (number, single(*canonical((labels, term)), shape))
        for number, (labels, term, shape) in enumerate(
            zip(expression.inputs, terms[: len(shapes)], shapes, strict=True)
        )
        if labels != term or len(shapes) == 1
    )


def _steps(pairs, terms, sizes):
    """The steps on pairs: two nodes and a recipe."""
    steps = []
    for node, (left, right) in enumerate(pairs, len(pairs) + 1):
        labels = terms[left], terms[right], terms[node]
        steps.append((left, right, pair(labels, tuple(tuple(sizes[label] for label in term) for term in labels))))
    return tuple(steps)


def as_operand(operand):
    """What has no shape (a Python number, a list) becomes an array."""
    return operand if type(operand) is Tensor or hasattr(operand, "shape") else np.asarray(operand)


def recorded(operands):
    """The numbers of the operands that are being recorded."""
    return tuple(
        [number for number, operand in enumerate(operands) if type(operand) is Tensor and operand.level is not CONSTANT]
    )
