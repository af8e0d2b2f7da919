"""Optimisation over any pytree of real and complex arrays."""

from qad.optimize.minimization import minimize
from qad.optimize.result import OptimizeResult

__all__ = ["OptimizeResult", "minimize"]
