"""The passes that improve a program, in the order in which they run; each is a file of its own.

A pass of the whole program is a function that changes it in place and returns how many steps it changed.  The others
make a visitor, to which `qad.frozen.passes.rewriting.rewrite` offers one step after another.
"""

from collections import Counter

from qad.core.errors import ArgumentError
from qad.frozen.passes.algebra import algebra
from qad.frozen.passes.canonical import canonical
from qad.frozen.passes.common_subexpressions import common
from qad.frozen.passes.conjugates import conjugates
from qad.frozen.passes.constants import constants
from qad.frozen.passes.dead_code import dead
from qad.frozen.passes.elementwise_chains import chains
from qad.frozen.passes.networks import networks
from qad.frozen.passes.products import products
from qad.frozen.passes.rewriting import rewrite
from qad.frozen.passes.scatters import scatters
from qad.frozen.passes.sparsity import zeros
from qad.frozen.passes.stacking import batches
from qad.frozen.passes.sums import sums
from qad.frozen.passes.traces import traces

__all__ = ["PASSES", "chosen", "improve"]

LOCAL = {  # look at a step and at what it reads
    "canonical": canonical,
    "constants": constants,
    "algebra": algebra,
    "scatters": scatters,
    "common": common,
}
SHARED = {  # look also at who else reads that
    "traces": traces,
    "sums": sums,
    "conjugates": conjugates,
    "products": products,
}
WHOLE = {  # look at the whole program
    "dead": dead,
    "networks": networks,
    "zeros": zeros,
    "batches": batches,
    "chains": chains,
}
LAST = ("zeros", "batches", "chains")  # run when nothing else changes any more: they hide what the others look for
PASSES = LOCAL | SHARED | WHOLE
DEFAULT = tuple(PASSES)
ROUNDS = 3


def chosen(names):
    """The passes of these names; None for all."""
    names = DEFAULT if names is None else (names,) if type(names) is str else tuple(names)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ArgumentError(f"qad.freeze has no pass {unknown[0]!r}: the passes are {', '.join(PASSES)}")
    return names


def improve(program, names):
    """Run the named passes until nothing changes; `program.counts` says what each has done."""
    program.counts = dict.fromkeys(names, 0)
    for turn in range(ROUNDS):
        changes = run(program, ["dead", *LOCAL], names)
        changes += run(program, ["dead", "networks"], names) if turn == 0 else 0
        changes += run(program, SHARED, names)
        if not changes:
            break
    for last in LAST:
        run(program, ["dead", last], names)
    return program


def run(program, group, names):
    """Run those passes of a group that are named, the visitors among them in one walk; how many changes they made."""
    found = Counter()
    for name in group:
        if name in WHOLE and name in names:
            found[name] = WHOLE[name](program)
    visitors = {name: make(program) for name, make in (LOCAL | SHARED).items() if name in group and name in names}
    if visitors:
        found += rewrite(program, visitors)
    for name, count in found.items():
        program.counts[name] += count
    return found.total()
