"""What a plan does for some variable operands: which values are kept for the backward pass, and its products.

A network that is contracted again and again with the same constants is not contracted whole each time: what constants
alone make is held (`qad.tensor.fold`).  Where its arrays are small, what is left runs as one compiled loop
(`qad.tensor.schedule`) from the third time on, if Numba is there.
"""

from numpy import concatenate, empty, frombuffer, ndarray, result_type

from qad.core.repeating import repeating
from qad.tensor.compiler import has_numba, loop
from qad.tensor.fold import LITTLE, Fold, octets
from qad.tensor.schedule import Schedule
from qad.tensor.stacks import DTYPES

__all__ = ["Program", "program"]

WARM = 3  # the call from which on a network of small arrays runs as a compiled loop
FEW = 2  # pairs that are quicker one by one
SMALL = 200_000  # multiply-adds of a mean pair below which that pays


class Program:
    """A plan for given variables; made by `program`, and all its results depend on the arguments alone.

    Attributes
    ----------
    kept : tuple of int
        Nodes whose values the backward pass needs, beyond the operands themselves.
    again : dict
        Where memory is short: node -> the steps below it, which the backward pass carries out once more when it gets
        there, for the values of the nodes `renewed`.
    steps : tuple
        The backward pass, from the root down: the result's node, the operands' nodes, the recipes of their cotangents,
        None where one is not needed.
    fixed, moving, whole : tuple
        The forward pass: node, operands' nodes, recipe, for the nodes that depend on no variable, the others, and all.
    """

    def __init__(self, plan, wanted):
        self.plan, self.wanted, count = plan, wanted, len(plan.shapes)
        held, needed, steps = set(wanted), set(), []
        self.fixed, self.moving = (), ()
        for node, (left, right, recipe) in enumerate(plan.steps, count):
            to_left, to_right = left in held, right in held
            if not (to_left or to_right):
                self.fixed += ((node, left, right, recipe),)
                continue
            held.add(node)
            self.moving += ((node, left, right, recipe),)
            needed.update(child for child, side in ((right, to_left), (left, to_right)) if side)
            steps.append((node, left, right, recipe.left if to_left else None, recipe.right if to_right else None))
        self.whole = tuple(sorted(self.fixed + self.moving))
        prepared = {number for number, _ in plan.prepare}
        needed = {node for node in needed if node >= count or node in prepared}
        self.again = {top: self._below(top, count) for top in plan.again if top in held}
        self.renewed = needed.intersection(node for part in self.again.values() for node, *_ in part)
        self.passing = {node for part in self.again.values() for node, *_ in part} - self.renewed
        starts = {
            child for part in self.again.values() for _, *pair, _ in part for child in pair if child in self.again
        }
        self.kept = tuple(sorted((needed - self.renewed) | starts))
        self.steps = tuple(reversed(steps))
        sides = {
            child
            for _, *pair, to_left, to_right in steps
            for child, to in zip(pair, (to_right, to_left), strict=True)
            if to is not None
        }
        constants = set(range(count)).difference(wanted)
        self._read = tuple(sorted(constants if self.again else constants & sides))
        self.fold = Fold(plan, self.fixed) if wanted and self.fixed and not plan.lean else None
        self._uses, self._schedules = 0, {}

    def _below(self, top, count):
        """The steps below a node that is the top of a subtree to be computed again, down to the next such nodes."""
        steps, found, stack = {step[0]: step for step in self.whole}, [], [top]
        while stack:
            for child in steps[stack.pop()][1:3]:
                if child >= count and child not in self.plan.again:
                    found.append(steps[child])
                    stack.append(child)
        return sorted(found)

    def renew(self, part, values):
        """Carry out the steps of a subtree once more; `values` are updated with what the backward pass needs."""
        found = dict(values)
        for node, left, right, recipe in part:
            found[node] = recipe.run(found[left], found[right])
            for child in (left, right):
                if child not in values and child not in self.renewed:
                    del found[child]
        values.update((node, found[node]) for node, *_ in part if node in self.renewed)

    def prepared(self, operands):
        """A list of the values of all nodes that are known before any pair: operands, and what constants make."""
        values = [*operands, *[None] * len(self.plan.steps)]
        for number, recipe in self.plan.prepare:
            values[number] = recipe.run(values[number])
        folded = self.fold is not None and self.fold.fill(values)
        return values, folded

    @property
    def warm(self):
        """Whether it has run so often that compiled loops pay, and need not run again as it ran before."""
        return self._uses >= WARM and has_numba() and not repeating()

    def schedule(self, values, folded):
        """The schedule for arrays like `values` and their dtype; (None, None) where there is none."""
        if not (self.warm and self.plan.compact):
            return None, None
        if folded not in self._schedules:
            steps = self.moving if folded else self.whole
            many = len(steps) > FEW
            self._schedules[folded] = Schedule(self.plan, steps, self.kept, self.steps) if many else None
        found = self._schedules[folded]
        if found is None or {type(values[node]) for node in found.leaves} != {ndarray}:
            return None, None
        kinds = {values[node].dtype for node in found.leaves}
        kind = kinds.pop() if len(kinds) == 1 else result_type(*kinds)
        return (found, kind) if kind in DTYPES else (None, None)

    def forward(self, operands):
        """The value of the network for plain operands, and what `backward` needs besides."""
        values, folded = self.prepared(operands)
        self._uses += 1
        schedule, kind = self.schedule(values, folded)
        if schedule is not None:
            block = empty(schedule.size, kind)
            gather([values[node] for node in schedule.leaves], block[: schedule.inputs])
            loop(block.dtype)(schedule.forward, block, block)
            root = len(values) - 1
            return schedule.values(block, (root,))[root].copy()[()], (schedule, block)
        kept, carry_out = self.kept, quickly if self.warm else plainly
        for node, left, right, recipe in self.moving if folded else self.whole:
            values[node] = carry_out(recipe, values[left], values[right])
            for child in (left, right):
                if child not in kept:
                    values[child] = None
        return values[-1], (None, {node: values[node] for node in kept})

    def read(self, state):
        """The numbers of the constant operands that the backward pass reads: in a compiled loop it has copies."""
        return self._read if state[0] is None else ()

    def intermediates(self, operands, state):
        """The values of all nodes that the backward pass needs, operands included; `state` is what `forward` left."""
        schedule, found = state
        kept = found if schedule is None else schedule.values(found, (*schedule.leaves, *self.kept))
        values = dict(enumerate(operands)) | kept
        for part in self.again.values():
            self.renew(part, values)
        return values

    def backward(self, g, operands, state):
        """The cotangents of the operands `wanted` (after the steps on single operands), for plain arrays."""
        schedule, block = state
        if schedule is not None:
            work = empty(schedule.back_size, block.dtype)
            schedule.seed(work)[...] = g
            loop(block.dtype)(schedule.backward, block, work)
            return schedule.cotangents(work)
        values, carry_out = dict(enumerate(operands)) | block, quickly if self.warm else plainly
        found = {len(self.plan.terms) - 1: g}
        for node, left, right, to_left, to_right in self.steps:
            if node in self.again:
                self.renew(self.again[node], values)
            c = found.pop(node)
            if to_left is not None:
                found[left] = carry_out(to_left, c, values[right])
            if to_right is not None:
                found[right] = carry_out(to_right, values[left], c)
            for child in self.renewed.intersection((left, right)):
                del values[child]
        return found


def gather(arrays, out):
    """Write the numbers of arrays one after another; many little ones as bytes, quicker than `concatenate` does it."""
    if out.nbytes <= LITTLE and {x.dtype for x in arrays} == {out.dtype}:
        out[...] = frombuffer(octets(arrays), out.dtype)
    else:
        concatenate(arrays, axis=None, out=out)


def plainly(recipe, a, b):
    return recipe.run(a, b)


def quickly(recipe, a, b):
    return recipe.quick(a, b)


def program(plan, wanted):
    """The program of a plan for the variable operands `wanted`, a tuple of numbers."""
    found = plan.programs.get(wanted)
    if found is None:
        found = plan.programs[wanted] = Program(plan, wanted)
    return found
