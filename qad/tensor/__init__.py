"""Index notation: parse, order, plan, execute; traces and whole networks."""

from qad.tensor.einsum import einsum, tensordot
from qad.tensor.ncon import ncon
from qad.tensor.plan import Plan
from qad.tensor.planner import plan
from qad.tensor.trace import partial_trace, tr

__all__ = ["Plan", "einsum", "ncon", "partial_trace", "plan", "tensordot", "tr"]
