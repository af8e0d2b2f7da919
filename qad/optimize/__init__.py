"""Optimisation over any pytree of real and complex arrays, and over manifolds of constrained ones."""

from qad.optimize.descent import Manifold, minimize_on
from qad.optimize.manifolds import Euclidean, Grassmann, Product, Sphere, Stiefel, Unitary
from qad.optimize.minimization import minimize
from qad.optimize.result import OptimizeResult

__all__ = [
    "Euclidean", "Grassmann", "Manifold", "OptimizeResult", "Product", "Sphere", "Stiefel", "Unitary", "minimize",
    "minimize_on",
]  # fmt: skip
