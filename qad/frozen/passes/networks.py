"""Products of products as one network, ordered again: ``(A @ B) @ v`` becomes ``A @ (B @ v)``.

A product that one other reads alone is part of its network.  One that several read, as in a forward pass whose
backward pass needs it again, is written into the networks of its readers where all of them together then take
fewer multiply-adds: forward and backward pass are one program, so their costs are weighed as one.  Of what
stays shared nothing is computed twice, and no program ever takes more multiply-adds, or makes larger results; what it
saves is more than the copies can cost that another order may ask for.
"""

from functools import lru_cache
from math import prod
from operator import attrgetter
from typing import NamedTuple

from qad.contract.costs import MULTIPLY_ADD, Replayed
from qad.contract.order import find_order
from qad.contract.planner import find_plan
from qad.contract.tree import Tree
from qad.frozen.guards import is_guard
from qad.frozen.passes.rewriting import touches
from qad.frozen.product_networks import Net, inlined, net_of
from qad.frozen.program import Step, Var
from qad.frozen.symbolic import Draft

__all__ = ["networks"]

MOST = 64  # operands of a network of products that have one reader each
MOST_SHARED = 8  # operands of a network that takes up a product with other readers
CALL = Replayed.DOT / MULTIPLY_ADD  # multiply-adds that take as long as the call of a product
SAVING = 0.05  # part of the multiply-adds below which the order stays
SWEEPS = 3


def networks(program):
    """Order the products of a program again; the number of networks that changed."""
    found = _Networks(program)
    found.join()
    found.reorder()
    for _ in range(SWEEPS):
        if not sum([found.share_out(root) for root in reversed(list(found.works))]):
            break
    return found.write(program)


class _Work(NamedTuple):
    """A network, and what its products cost as they are, or in the order that was found for it."""

    net: Net
    flops: int
    written: int
    calls: int
    ordered: bool = False

    def time(self):
        """In multiply-adds."""
        return self.flops + CALL * self.calls


class _Networks:
    """All networks of a program.

    Attributes
    ----------
    works : dict of Var -> _Work
        By the result.
    needed : set of Var
        What is read by other steps than products, or is a result of the program.
    """

    def __init__(self, program):
        self.works = {}
        pinned = program.pinned()
        lasting = [step for step in program.steps if not touches(step, pinned)]  # what others read may have changed
        definitions = {step.out: step for step in lasting}
        for step in lasting:
            if not is_guard(step):
                net = net_of(step, definitions)
                if net is not None:
                    self.works[step.out] = _Work(net, net.form.flops, step.out.size, 1)
        self.needed = self._needed(program)
        self.readers = {}
        for root, work in self.works.items():
            self._enter(root, work.net)

    def _needed(self, program):
        needed = {x for x in program.outputs if type(x) is Var}
        for step in reversed(program.steps):
            if step.out in self.works:
                needed.update(x for x in self.works[step.out].net.operands if x not in self.works)
            elif step.out in needed or not _is_idle(step):
                needed.update(step.reads())
        return needed

    def _enter(self, root, net):
        for x in net.operands:
            self.readers.setdefault(x, {})[root] = True

    def _replace(self, root, work):
        """A network has changed; its operands learn who reads them."""
        for x in self.works[root].net.operands:
            self.readers[x].pop(root, None)
        self.works[root] = work
        self._enter(root, work.net)

    def _remove(self, root):
        for x in self.works.pop(root).net.operands:
            self.readers[x].pop(root, None)

    def join(self):
        """Make products with one reader part of its network."""
        for root in list(self.works):
            reader = self._only_reader(root)
            if reader is None:
                continue
            inner, outer = self.works[root], self.works[reader]
            net = inlined(outer.net, inner.net)
            if net is not None and len(net.operands) <= MOST:
                sums = [one + two for one, two in zip(inner[1:4], outer[1:4], strict=True)]
                self._remove(root)
                self._replace(reader, _Work(net, *sums))

    def _only_reader(self, root):
        readers = list(self.readers.get(root, ()))
        if root in self.needed or len(readers) != 1:
            return None
        return readers[0] if self.works[readers[0]].net.operands.count(root) == 1 else None

    def reorder(self):
        """Find the best order of every network."""
        for root, work in self.works.items():
            if len(work.net.operands) > 2:
                new = _ordered(work.net)
                if _is_better([work], [new]):
                    self.works[root] = new

    def share_out(self, root):
        """Write a product into the networks of its readers, of all or of those that gain; whether that pays."""
        inner = self.works[root]
        changes = {}
        for reader in self.readers.get(root, ()):
            outer = self.works[reader]
            if len(inner.net.operands) + len(outer.net.operands) - 1 <= MOST_SHARED:
                net = inlined(outer.net, inner.net)
                if net is not None and len(net.operands) <= MOST_SHARED:
                    changes[reader] = _ordered(net)
        gaining = {reader: new for reader, new in changes.items() if new.time() < self.works[reader].time()}
        everyone = root not in self.needed and len(changes) == len(self.readers.get(root, ()))
        if everyone and changes and _is_better([inner, *map(self.works.get, changes)], list(changes.values())):
            self._remove(root)
        elif gaining and _is_better(list(map(self.works.get, gaining)), list(gaining.values())):
            changes = gaining
        else:
            return False
        for reader, new in changes.items():
            self._replace(reader, new)
        return True

    def write(self, program):
        """Put the products in their new order into the program; the number of networks."""
        steps, changed = [], 0
        for step in program.steps:
            work = self.works.get(step.out)
            new = _steps(work.net) if work is not None and work.ordered else None
            changed += new is not None
            steps.extend(new or [step])
        program.steps = steps
        return changed


def _ordered(net):
    """A network in its best order."""
    return _Work(net, *_cost(net.form), len(net.operands) - 1, True)


@lru_cache(maxsize=4096)
def _cost(form):
    """Multiply-adds and elements written, in the best order."""
    terms, out = form.terms()
    if len(terms) == 3:
        return _of_three(*map(set, terms), set(out), form.sizes)
    network = terms, out, form.sizes, (False,) * len(terms)
    tree = Tree(network, find_order(*network))
    return sum(map(tree.forward_cost, tree.children)), sum(tree.size(tree.legs[node]) for node in tree.children)


def _of_three(a, b, c, out, sizes):
    """The same of three operands, which most networks have."""

    def size(labels):
        return prod([sizes[label] for label in labels])

    def cost(one, two, last):
        made = (one | two) & (last | out)
        return size(one | two) + size(made | last), size(made) + size(out)

    return min(cost(a, b, c), cost(a, c, b), cost(b, c, a))


def _steps(net):
    """The steps of a network in its order; None where the result would be of another kind."""
    terms, out = net.form.terms()
    shapes = tuple([tuple([net.form.sizes[label] for label in term]) for term in terms])
    plan, root, steps = find_plan(terms, out, shapes, (), net.root.dtype), net.root, []
    values = [Draft(x, steps).reshape(shape) for x, shape in zip(net.operands, shapes, strict=True)]
    for left, right, recipe in plan.steps:
        values.append(recipe.run(values[left], values[right]))
    last = values[-1].reshape(root.shape)
    if last.var is not steps[-1].out or last.var.kind != root.kind:
        return None
    return [*steps[:-1], Step(steps[-1].fn, steps[-1].args, {}, root)]


def _is_idle(step):
    """Whether a step is a mere view, which matters only if somebody reads it."""
    return step.out.root is not step.out


def _is_better(old, new):
    """Whether works save more multiply-adds than some copies would cost, and write no more."""
    saved, less, shorter = (
        sum(map(figure, old)) - sum(map(figure, new))
        for figure in (attrgetter("flops"), attrgetter("written"), _Work.time)
    )
    margin = CALL + sum(work.written for work in new) + SAVING * sum(work.flops for work in old)
    return min(saved, shorter) > margin and less >= 0
