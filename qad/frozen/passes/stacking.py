"""Equal small operations that do not depend on each other become one operation on stacks.

Twenty 2x2 gates are built by one call of each function, instead of twenty.  Operands that lie in one array already, in
equal distances, are a view of it; others must be stacked first, and whether that pays is estimated by a table of
measured times.  26 times as fast on value and gradient of a program of 40 gates.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.costs import Replayed
from qad.frozen.functions import SUM
from qad.frozen.guards import is_guard
from qad.frozen.out_argument import writes
from qad.frozen.passes.common_subexpressions import frozen
from qad.frozen.passes.lifting import is_view, lifted, operands, rule_of
from qad.frozen.passes.rewriting import derived, reshaped, touches
from qad.frozen.program import Step, Var
from qad.frozen.scalar_loop import FEWEST as SCALARS
from qad.frozen.scalar_loop import is_scalar

if TYPE_CHECKING:
    from qad.frozen.program import Program

FEWEST = 4  # members of a batch
SMALL = 4096  # bytes of an operand or a result: for larger ones the time of the call itself does not matter
MARGIN = 0.8  # the largest ratio of the cost of a batch to that of its members


def batches(program: Program) -> int:
    """Merge; the number of steps that went."""
    groups = [group for group in _groups(program) if len(group) >= FEWEST]
    if not groups:
        return 0
    batching = _Batching(program, {step.out for group in groups for step in group})
    gone = sum(batching.merge(members) for group in groups for members in batching.alike(group))
    if gone:
        program.steps = batching.ordered()
    return gone


def _groups(program):
    """Lists of equal steps of equal depth: none depends on another.  In order of depth.

    Guards, and steps that have to do with memory that is written into, are never passed.
    """
    pinned, depth, floor, highest, found = program.pinned(), {}, 0, 0, {}
    for step in program.steps:
        level = 1 + max([depth.get(var, 0) for var in step.reads()], default=0)
        if is_guard(step) or touches(step, pinned):
            floor = highest = highest + 1
            depth[step.out] = floor
            continue
        level = depth[step.out] = max(level, floor + 1)
        highest = max(highest, level)
        key = _key(step)
        if key is not None:
            found.setdefault((level, key), []).append(step)
    return [found[entry] for entry in sorted(found, key=lambda entry: entry[0])]


def _key(step):
    """What members of a batch have in common: function, shapes, dtypes, keywords; None for what is not batched."""
    out = step.out
    if out.kind not in ("array", "scalar") or out.dtype.kind not in "fc" or out.nbytes > SMALL or rule_of(step) is None:
        return None
    kinds = []
    for x in operands(step):
        if type(x) is not Var:
            kinds.append(frozen(x))
        elif x.kind in ("array", "scalar") and x.nbytes <= SMALL:
            kinds.append((x.kind, x.shape, x.dtype))
        else:
            return None
    rest = frozen(step.args[1:]) if is_view(step) else None
    return step.fn, tuple(kinds), rest, frozen(step.kwargs), out.kind, out.shape, out.dtype


class _Batching:
    """The batches of a program that were made so far.

    Attributes
    ----------
    entries : dict of Var -> (stack, number)
        The result of each step that is in a batch: the stack that holds it, and its index there.
    """

    def __init__(self, program, candidates):
        self.program = program
        self.entries, self.made = {}, {}
        self.moving = _moving(program)
        self.returned = {x for x in program.outputs if type(x) is Var and x.kind == "array"}
        scalar = [step for step in program.steps if is_scalar(step)]
        self.scalars = {step.out for step in scalar} if len(scalar) >= SCALARS else set()
        single = [step for step in scalar if step.out in self.scalars]
        self.read_by_scalars = {var for step in single for var in step.reads()}
        self.surely_picked = {var for step in single if step.out not in candidates for var in step.reads()}
        pinned = program.pinned()
        entries = [step for step in program.steps if step.fn is operator.getitem and not touches(step, pinned)]
        self.shown = {step.out: self._entry(step) for step in entries}

    # -- where operands lie ----------------------------------------------------------------------

    def _entry(self, step):
        """Of ``x[i]`` or ``x[i, j, ...]``: the array, how many axes are indexed, and the flat index; else None."""
        x, index = step.args
        index = index if type(index) is tuple else (index,)
        if type(x) is not Var or x.kind != "array" or any(type(i) is not int for i in index):
            return None
        if len(index) not in (1, len(x.shape)):
            return None
        index = [i % n for i, n in zip(index, x.shape, strict=False)]
        return x, len(index), int(np.ravel_multi_index(index, x.shape[: len(index)]))

    def position(self, x):
        """Where an operand lies: (array, how many axes are indexed, flat index), or None."""
        if x in self.entries:
            stack, i = self.entries[x]
            return stack, 1, i
        return self.shown.get(x)

    def alike(self, group):
        """Parts of a group whose operands lie in the same arrays, in the order of their indices there."""
        columns = list(zip(*map(operands, group), strict=True))
        positions = [[self.position(x) if type(x) is Var else None for x in column] for column in columns]
        bases = [_bases(column, where) for column, where in zip(columns, positions, strict=True)]
        found = {}
        for i, step in enumerate(group):
            key = tuple(
                where[i][:2] if where[i] and where[i][:2] in known else None
                for where, known in zip(positions, bases, strict=True)
            )
            order = [where[i][2] for where, base in zip(positions, key, strict=True) if base]
            found.setdefault(key, []).append((order, step))
        for parts in found.values():
            for family in _families(sorted(parts, key=operator.itemgetter(0))):
                if len(family) >= FEWEST:
                    yield [step for _, step in family]

    # -- batches ---------------------------------------------------------------------------------

    def merge(self, members):
        """Make a batch, where that pays; the number of calls that it saves."""
        columns = list(zip(*map(operands, members), strict=True))
        ways = [self._stacked(column) for column in columns]
        cost = sum(cost for cost, _ in ways)
        if all(way is None for _, way in ways) or not self._pays(members, cost):
            return 0
        stacks = [
            (column[0] if way is None else way(), way is not None)
            for column, (_, way) in zip(columns, ways, strict=True)
        ]
        steps = lifted(members[0], stacks, len(members))
        self.made.update({step.out: step for step in steps})
        stack = steps[-1].out
        self.entries.update({step.out: (stack, i) for i, step in enumerate(members)})
        return 0 if is_view(members[0]) else len(members) - 1

    def _pays(self, members, stacking):
        first, count = members[0], len(members)
        if is_view(first):
            return stacking <= Replayed.MOVING
        picks = Replayed.SCALAR * sum(step.out in self.surely_picked for step in members)
        picks += Replayed.COPY * sum(step.out in self.returned for step in members)
        alone = Replayed.SCALAR if first.out in self.scalars else _cost(first, 1)
        if first.fn in (SUM, np.concatenate) and any(x in self.moving for step in members for x in operands(step)):
            alone += Replayed.GENERAL
        return stacking + picks + _cost(first, count) < MARGIN * alone * count

    def _stacked(self, column):
        """What it costs to stack a column of operands, and what makes the stack; None where all members share one."""
        if type(column[0]) is not Var or len(set(column)) == 1:
            return 0, None
        positions = [self.position(x) for x in column]
        if all(positions) and len({p[:2] for p in positions}) == 1:
            numbers = [p[2] for p in positions]
            stride = numbers[1] - numbers[0]
            if stride > 0 and numbers == list(range(numbers[0], numbers[-1] + 1, stride)):
                base, axes, _ = positions[0]
                cost = Replayed.MOVING if base in self.moving else 0
                return cost, lambda: self._slice(base, axes, slice(numbers[0], numbers[-1] + 1, stride))
        if column[0].shape == ():
            return Replayed.GATHER + Replayed.EACH_NUMBER * len(column), lambda: self._gathered(column)
        cost = Replayed.JOIN + Replayed.EACH_PART * len(column)
        if any(x in self.moving for x in column):
            cost += Replayed.GENERAL + Replayed.MOVING * len(column)
        return cost, lambda: self._joined(column)

    def _new(self, step):
        self.made[step.out] = step
        return step.out

    def _slice(self, base, axes, where):
        """A view of entries in equal distances."""
        if axes > 1:
            base = self._new(reshaped(base, (base.size,)))
        length = len(range(where.start, where.stop, where.step))
        if length == base.shape[0]:
            return base
        return self._new(derived(operator.getitem, (base, where), (length, *base.shape[1:]), base.dtype, base.root))

    def _gathered(self, column):
        x = column[0]
        return self._new(derived(np.array, (list(column),), (len(column),), x.dtype, None, {"dtype": x.dtype}))

    def _joined(self, column):
        shape = (1, *column[0].shape)
        parts = [self._new(reshaped(x, shape)) for x in column]
        joined = derived(np.concatenate, (parts,), (len(column), *shape[1:]), column[0].dtype, None, {"axis": 0})
        return self._new(joined)

    def ordered(self):
        """The steps, each after those that it reads; a result in a batch is taken out of the stack when it is read."""
        program, steps = self.program, []
        defined = program.definitions() | self.made
        defined |= {var: self._pick(defined[var], *entry) for var, entry in self.entries.items()}
        done = {*program.inputs, *program.constants}
        wanted = [step for step in program.steps if step.out not in self.entries]
        wanted += [defined[x] for x in program.outputs if type(x) is Var and x in self.entries]
        for step in wanted:
            waiting = [step]
            while waiting:
                step = waiting[-1]
                missing = [defined[var] for var in step.reads() if var not in done]
                if missing and step.out not in done:
                    waiting.extend(missing)
                    continue
                waiting.pop()
                if step.out not in done:
                    done.add(step.out)
                    steps.append(step)
        return steps

    def _pick(self, step, stack, i):
        """The step that takes one result out of the stack."""
        shown = step.out.shape == () and step.out not in self.read_by_scalars
        return Step(operator.getitem, (stack, (i, ...) if shown else i), {}, step.out)


def _moving(program):
    """What is known only in the run: inputs, what functions allocate for themselves, and views of that."""
    found = set(program.inputs)
    for step in program.steps:
        if any(var in found for var in step.reads()) if is_view(step) else not writes(step, step.out):
            found.add(step.out)
    return found


def _families(parts):
    """Members by the differences of their flat indices, where those of all together are not equally spaced.

    ``x[k + 1] @ x[k]`` and ``x[k] @ x[k]`` are two families: each is a product of two slices.
    """
    numbers = [np.diff(column) for column in zip(*[order for order, _ in parts], strict=True)]
    if all((column == column[0]).all() and column[0] > 0 for column in numbers if len(column)):
        return [parts]
    families = {}
    for order, step in parts:
        families.setdefault(tuple([number - order[0] for number in order]), []).append((order, step))
    return families.values() if min(map(len, families.values())) >= FEWEST else [parts]


def _bases(column, positions):
    """The arrays in which at least FEWEST of these operands lie, unless all operands are the same."""
    if len(set(column)) == 1:
        return ()
    found = Counter(position[:2] for position in positions if position)
    return {base for base, n in found.items() if n >= FEWEST}


def _cost(step, count):
    """Of `count` calls in one."""
    if step.fn in (np.dot, np.vdot, np.matmul):
        if count == 1:
            return Replayed.PRODUCT if step.fn is np.matmul else Replayed.CALL
        return Replayed.PRODUCT + Replayed.EACH_PRODUCT * count + Replayed.CALL * (step.fn is np.vdot)
    if step.fn is SUM:
        return Replayed.SUMMED
    if step.fn is np.concatenate:
        return Replayed.JOIN + Replayed.EACH_PART * len(operands(step))
    if step.fn is np.array:
        return (
            Replayed.GATHER + Replayed.EACH_NUMBER * len(operands(step))
            if count == 1
            else Replayed.JOIN + Replayed.EACH_PART * len(operands(step))
        )
    return Replayed.CALL
