"""Plans: an expression and its shapes, ordered, laid out and lowered once, to be executed many times."""

from collections import Counter
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.tensor.layout import choose_layouts
from qad.tensor.lower import canonical
from qad.tensor.memory import peak_size
from qad.tensor.network import network
from qad.tensor.order import find_order, from_path, to_path
from qad.tensor.pair import contract, pair
from qad.tensor.parse import label_sizes, parse, parse_lists
from qad.tensor.report import table
from qad.tensor.single import reduce, single
from qad.tensor.tree import Tree

__all__ = ["Plan", "plan", "find_plan"]


class Plan:
    """How a network is contracted.  Immutable and hashable; made by `qad.plan`.

    ``plan(*operands)`` contracts operands of the planned shapes, plain or recorded; ``print(plan)`` shows the steps.

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
        are variables (their gradients included).
    slices : int
        The number of parts contracted one after the other.
    prepare, steps : tuple
        What is executed: (operand, `Single`) for steps on single operands, (left, right, `Pair`) for pairs, whose
        results are numbered on from the operands.
    """

    def __init__(self, expression, shapes, variables, dtype, pairs):
        sizes = label_sizes(expression, shapes)
        network = _network(expression, shapes, sizes, variables)
        if pairs is None:
            pairs = find_order(*network)
        tree = Tree(network, pairs)
        held = tuple(tree.variables[node] > 0 for node in range(len(shapes) + len(pairs)))
        terms = _layout(tree, pairs, held)
        path = to_path(pairs, len(shapes)) or ((0,),)
        self.__dict__.update(
            expression=expression,
            shapes=shapes,
            variables=variables,
            dtype=np.dtype(dtype),
            path=path,
            slices=1,
            flops=sum(map(tree.forward_cost, tree.children)),
            flops_with_gradient=tree.cost(),
            _held=held,
            _terms=terms,
            steps=_steps(pairs, terms, sizes),
            prepare=_preparations(expression, shapes, terms),
            _key=(expression, shapes, variables, np.dtype(dtype), path),
        )

    def __setattr__(self, name, value):
        raise AttributeError(f"a Plan is immutable: make another one with qad.plan, instead of setting {name}")

    def __call__(self, *operands):
        """Contract operands of the planned shapes."""
        operands = [as_operand(operand) for operand in operands]
        if tuple(operand.shape for operand in operands) != self.shapes:
            raise ShapeError(
                f'the plan of "{self.expression.text}" is for operands of shapes {list(self.shapes)}, not '
                f"{[operand.shape for operand in operands]}: make a plan for these"
            )
        return self.execute(operands, recorded(operands))

    def execute(self, operands, wanted):
        """`__call__` for a list of arrays that are known to fit; the list is used up.

        `wanted` are the numbers of the recorded operands.
        """
        if wanted or Tensor in map(type, operands):
            return self._record(operands, wanted)
        for number, recipe in self.prepare:
            operands[number] = recipe.run(operands[number])
        for left, right, recipe in self.steps:
            one, two = operands[left], operands[right]
            operands[left] = operands[right] = None
            operands.append(recipe.run(one, two))
        return operands[-1]

    def _record(self, operands, wanted):
        """Small networks pair by pair, which forward mode likes, larger ones as one node."""
        if len(self.steps) > 2:
            return network(*operands, plan=self, wanted=wanted)[0]
        for number, recipe in self.prepare:
            operands[number] = reduce(operands[number], recipe=recipe)
        for left, right, recipe in self.steps:
            operands.append(contract(operands[left], operands[right], recipe=recipe))
        return operands[-1]

    @cached_property
    def write_size(self):
        return sum(prod(recipe.shapes[2]) for _, _, recipe in self.steps) or prod(self.prepare[0][1].out_shape)

    @cached_property
    def peak_size(self):
        return peak_size(self)

    def __eq__(self, other):
        return isinstance(other, Plan) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    def __repr__(self):
        return f'<Plan "{self.expression.text}": {len(self.steps)} pairs, {self.flops:.4g} multiply-adds>'

    def __str__(self):
        return table(self)

    def table_rows(self):
        """The pairs in order: labels of both operands and of the result, the recipe, and how many cotangents follow."""
        for node, (left, right, recipe) in enumerate(self.steps, len(self.shapes)):
            terms = tuple(self.expression.term(self._terms[each]) for each in (left, right, node))
            yield terms, recipe, self._held[left] + self._held[right]


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
    return operand if hasattr(operand, "shape") else np.asarray(operand)


def plan(subscripts, *operands, variables=None, dtype=complex, memory_limit=None):
    """Plan the contraction of a network for value and gradient together.

    Parameters
    ----------
    subscripts : str
        An expression in the notation of `qad.einsum`.
    *operands : array or tuple of int
        The operands, or their shapes.
    variables : sequence of int, optional
        The operands that will be differentiated.  By default the recorded ones, and all of them where shapes are given.
    dtype : dtype
        Of the elements, for memory in bytes.
    memory_limit : int or str, optional
        Not supported yet; anything but None raises.

    Returns
    -------
    Plan
        From a bounded cache: planning a network that was planned before takes microseconds.

    Raises
    ------
    ArgumentError, ShapeError
        The expression and the operands do not fit; the message quotes the expression and points at the operand.

    Notes
    -----
    A pair of arrays costs the product of all its index sizes c in the forward pass, and c again for each of the two
    that depends on a variable.  Up to 12 operands the order that minimises the sum is found exactly; in a closed
    network it costs 3 times the forward pass where all are variable, and no more than it where one is
    (Evenbly and Pfeifer, Phys. Rev. B 89, 245118).

    Examples
    --------
    >>> import qad
    >>> p = qad.plan("ij,jk,kl->il", (2, 30), (30, 30), (30, 40), variables=[2])
    >>> p.path, p.flops, p.flops_with_gradient
    (((0, 1), (0, 1)), 4200, 6600)
    """
    if memory_limit is not None:
        raise ArgumentError("memory_limit is not supported yet: leave it None")
    if all(type(operand) is tuple for operand in operands):
        shapes = operands
        variables = range(len(shapes)) if variables is None else variables
    else:
        operands = [as_operand(operand) for operand in operands]
        shapes = tuple(tuple(operand.shape) for operand in operands)
        variables = recorded(operands) if variables is None else variables
    return find_plan(subscripts, None, shapes, _checked(variables, len(shapes)), dtype, None)


def recorded(operands):
    """The numbers of the operands that are being recorded."""
    return tuple(
        [number for number, operand in enumerate(operands) if type(operand) is Tensor and operand.requires_grad]
    )


def _checked(variables, count):
    found = tuple(sorted({int(number) for number in variables}))
    if found and not 0 <= found[0] <= found[-1] < count:
        raise ArgumentError(f"plan: variables {list(variables)} must be numbers of operands, 0 to {count - 1}")
    return found


@lru_cache(maxsize=1024)
def find_plan(subscripts, output, shapes, variables, dtype=complex, path=None):
    """The plan from the cache, made where it is missing.

    `subscripts` is text (`output` None), or a tuple of tuples in the interleaved form; `path` is an order prescribed in
    opt_einsum's linear format, or None.
    """
    ndims = tuple(map(len, shapes))
    if isinstance(subscripts, tuple):
        expression = parse_lists(subscripts, output, ndims)
    else:
        expression = parse(subscripts, ndims)
    pairs = None if path is None else _given_order(path, len(shapes), expression.text)
    return Plan(expression, shapes, variables, dtype, pairs)


def _given_order(path, count, text):
    pairs = from_path(path, count)
    if pairs is None and path != ((0,),) * (count == 1):
        raise ArgumentError(
            f'expression "{text}": the path {list(path)} does not contract {count} operands to one: give '
            f"{count - 1} pairs of different positions, each in the list of what is left at that step"
        )
    return pairs or ()
