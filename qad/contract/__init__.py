"""Index notation: parse, order, plan, execute; traces and whole networks."""

from qad.contract.notation.einsum import einsum, tensordot
from qad.contract.notation.ncon import ncon
from qad.contract.notation.trace import partial_trace, tr
from qad.contract.plan.plan import Plan
from qad.contract.plan.planner import plan

__all__ = ["Plan", "einsum", "ncon", "partial_trace", "plan", "tensordot", "tr"]
