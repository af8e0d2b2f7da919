"""Chains of elementwise functions on large arrays become one step that works block by block.

See `qad.frozen.elementwise_blocks`.  The same functions are called on the same entries, so that the values are the
same to the last bit; only the large intermediates vanish.  What somebody outside of the chain reads stays a step of
its own.
"""

import numpy as np

from qad.frozen.elementwise_blocks import chained
from qad.frozen.functions import attribute
from qad.frozen.passes.rewriting import touches
from qad.frozen.program import Step, Var

__all__ = ["chains"]

LARGE = 1 << 16  # entries; smaller arrays stay in the caches anyway
SAVED = 1 << 22  # bytes of intermediates that pay for the blocks
PARTS = frozenset((attribute("real"), attribute("imag")))  # of complex blocks: shown, not computed


def chains(program):
    """Merge; the number of steps that went."""
    pinned, readers = program.pinned(), _readers(program)
    possible = [step for step in program.steps if _is_elementwise(step) and not touches(step, pinned)]
    found = {}  # the result of a chain -> its steps
    member = {}
    for step in reversed(possible):
        ends = {member.get(x) for x in readers.get(step.out, ())}
        end = ends.pop() if len(ends) == 1 else None
        if end is None or end.shape != step.out.shape:
            if step.fn in PARTS:
                continue
            end = step.out
        member[step.out] = end
        found.setdefault(end, []).append(step)
    merged = {end: _fused(chain[::-1]) for end, chain in found.items() if _saved(chain) >= SAVED}
    gone = {step.out for end in merged for step in found[end][1:]}
    program.steps = [merged.get(step.out, step) for step in program.steps if step.out not in gone]
    return len(gone)


def _saved(chain):
    """Bytes of the intermediates of a chain, whose end comes first."""
    return sum(step.out.nbytes for step in chain[1:] if step.fn not in PARTS)


def _readers(program):
    """Dict of Var -> the results of the steps that read it, None where the program returns it."""
    found = {}
    for step in program.steps:
        for var in step.reads():
            found.setdefault(var, set()).add(step.out)
    for x in program.outputs:
        if type(x) is Var:
            found.setdefault(x, set()).add(None)
    return found


def _is_elementwise(step):
    """Whether a step makes a large array, entry by entry."""
    out = step.out
    if out.kind != "array" or out.size < LARGE or step.kwargs or out.dtype.kind not in "biufc":
        return False
    if step.fn in PARTS:
        return step.args[0].kind == "array" and step.args[0].dtype.kind == "c"
    if not isinstance(step.fn, np.ufunc) or step.fn.nout != 1 or step.fn.signature or len(step.args) != step.fn.nin:
        return False
    return all(type(x) is Var or isinstance(x, (int, float, complex, np.generic)) for x in step.args)


def _fused(chain):
    """One step for a chain."""
    inside = {step.out for step in chain}
    operands = list(dict.fromkeys(x for step in chain for x in step.args if type(x) is Var and x not in inside))
    number = {x: i for i, x in enumerate(operands)}
    literals = [x for step in chain for x in step.args if type(x) is not Var]
    number |= {step.out: len(operands) + len(literals) + i for i, step in enumerate(chain)}
    slots, scratch = _slots(chain)
    rest, calls = iter(range(len(operands), len(operands) + len(literals))), []
    for step in chain:
        numbers = tuple([number[x] if type(x) is Var else next(rest) for x in step.args])
        calls.append((step.fn, numbers, slots[step.out]))
    out = chain[-1].out
    kwargs = {"calls": tuple(calls), "scratch": scratch, "dtype": out.dtype}
    return Step(chained, (*operands, *literals), kwargs, out)


def _slots(chain):
    """Where each call writes: into the block of the result as long as that is free, else into scratch blocks."""
    owner, last = {}, {}  # whose memory a value shows, and when that is read last
    for i, step in enumerate(chain):
        owner[step.out] = owner.get(step.args[0]) if step.fn in PARTS else step.out
        last.update({owner[x]: i for x in step.reads() if owner.get(x)})
    kinds, held, slots = [chain[-1].out.dtype], {}, {}
    for i, step in enumerate(chain):
        if step.fn in PARTS:
            slots[step.out] = None
            continue
        fits = (n for n, kind in enumerate(kinds) if kind == step.out.dtype and held.get(n, -1) <= i)
        slot = 0 if step is chain[-1] else next(fits, len(kinds))
        if slot == len(kinds):
            kinds.append(step.out.dtype)
        slots[step.out], held[slot] = slot, last.get(step.out, i)
    return slots, tuple(kinds[1:])
