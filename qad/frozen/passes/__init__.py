"""The passes that improve a program, in the order in which they run; each is a file of its own.

A pass is a function of a `Program` that changes it in place and returns how many steps it changed.
"""

from qad.core.errors import ArgumentError
from qad.frozen.passes.algebra import algebra
from qad.frozen.passes.canonical import canonical
from qad.frozen.passes.common_subexpressions import common
from qad.frozen.passes.conjugates import conjugates
from qad.frozen.passes.constants import constants
from qad.frozen.passes.dead_code import dead
from qad.frozen.passes.elementwise_chains import chains
from qad.frozen.passes.identity_testing import equals
from qad.frozen.passes.networks import networks
from qad.frozen.passes.products import products
from qad.frozen.passes.scatters import scatters
from qad.frozen.passes.sparsity import zeros
from qad.frozen.passes.stacking import batches
from qad.frozen.passes.sums import sums
from qad.frozen.passes.traces import traces

__all__ = ["DEFAULT", "LAST", "PASSES", "chosen", "improve"]

PASSES = {
    "dead": dead,
    "canonical": canonical,
    "constants": constants,
    "common": common,
    "algebra": algebra,
    "scatters": scatters,
    "traces": traces,
    "networks": networks,
    "equals": equals,
    "sums": sums,
    "conjugates": conjugates,
    "products": products,
    "zeros": zeros,
    "batches": batches,
    "chains": chains,
}
DEFAULT = tuple([name for name in PASSES if name != "equals"])  # which is right with high probability, not for sure
ONCE = ("networks", "equals")  # in the first round alone: they see the whole at once
LAST = ("zeros", "batches", "chains")  # run when nothing else changes any more: they hide what the others look for
ROUNDS = 3


def chosen(names):
    """The passes of these names: None for the usual ones, "all" for all."""
    names = DEFAULT if names is None else tuple(PASSES) if names == "all" else tuple(names)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ArgumentError(f"qad.freeze has no pass {unknown[0]!r}: the passes are {', '.join(PASSES)}")
    return names


def improve(program, names):
    """Run the named passes until nothing changes; `program.counts` says what each has done."""
    program.counts = dict.fromkeys(names, 0)
    early = [name for name in PASSES if name in names and name not in LAST]
    for turn in range(ROUNDS):
        if not run(program, [name for name in early if not (turn and name in ONCE)]):
            break
    run(program, [name for last in LAST for name in ("dead", last) if name in names])
    return program


def run(program, names):
    """Run these passes one after another; how many steps they changed."""
    changes = 0
    for name in names:
        found = PASSES[name](program)
        program.counts[name] += found
        changes += found
    return changes
