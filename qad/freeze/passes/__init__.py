"""The passes that improve a program, in the order in which they run; each is a file of its own.

A pass is a function of a `Program` that changes it in place and returns how many steps it changed.
"""

from qad.core.errors import ArgumentError
from qad.freeze.passes.algebra import algebra
from qad.freeze.passes.canonical import canonical
from qad.freeze.passes.common import common
from qad.freeze.passes.conjugates import conjugates
from qad.freeze.passes.constants import constants
from qad.freeze.passes.dead import dead
from qad.freeze.passes.networks import networks
from qad.freeze.passes.products import products
from qad.freeze.passes.scatters import scatters
from qad.freeze.passes.sums import sums
from qad.freeze.passes.traces import traces

__all__ = ["PASSES", "improve"]

PASSES = {
    "dead": dead,
    "canonical": canonical,
    "constants": constants,
    "common": common,
    "algebra": algebra,
    "scatters": scatters,
    "traces": traces,
    "networks": networks,
    "sums": sums,
    "conjugates": conjugates,
    "products": products,
}
ROUNDS = 3
ONCE = frozenset(("networks",))  # passes of the first round alone: they see the whole at once


def improve(program, names=None):
    """Run the named passes, or all of them, until nothing changes; `program.counts` says what each has done."""
    names = tuple(PASSES) if names is None else tuple(names)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ArgumentError(f"qad.freeze has no pass {unknown[0]!r}: the passes are {', '.join(PASSES)}")
    program.counts = dict.fromkeys(names, 0)
    for turn in range(ROUNDS):
        changes = 0
        for name in PASSES:
            if name in names and not (turn and name in ONCE):
                found = PASSES[name](program)
                program.counts[name] += found
                changes += found
        if not changes:
            break
    if "dead" in names:
        program.counts["dead"] += dead(program)
    return program
