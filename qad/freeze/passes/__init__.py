"""The passes that improve a program, in the order in which they run; each is a file of its own.

A pass is a function of a `Program` that changes it in place and returns how many steps it changed.
"""

from qad.core.errors import ArgumentError
from qad.freeze.passes.algebra import algebra
from qad.freeze.passes.batches import batches
from qad.freeze.passes.canonical import canonical
from qad.freeze.passes.chains import chains
from qad.freeze.passes.common import common
from qad.freeze.passes.conjugates import conjugates
from qad.freeze.passes.constants import constants
from qad.freeze.passes.dead import dead
from qad.freeze.passes.equals import equals
from qad.freeze.passes.networks import networks
from qad.freeze.passes.products import products
from qad.freeze.passes.scatters import scatters
from qad.freeze.passes.sums import sums
from qad.freeze.passes.traces import traces
from qad.freeze.passes.zeros import zeros

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
