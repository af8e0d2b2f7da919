"""Index notation: parse, order, plan, execute; traces and whole networks."""

from qad.contract.einsum import einsum, tensordot
from qad.contract.ncon import ncon
from qad.contract.plan import Plan
from qad.contract.planner import plan
from qad.contract.trace import partial_trace, tr

__all__ = ["Plan", "einsum", "ncon", "partial_trace", "plan", "tensordot", "tr"]
