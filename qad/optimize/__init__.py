"""Optimisation over any pytree of real and complex arrays, and over manifolds of constrained ones."""

from qad.optimize.descent import minimize_on
from qad.optimize.equations import least_squares, root
from qad.optimize.manifolds import Euclidean, Grassmann, Manifold, Product, Sphere, Stiefel, Unitary
from qad.optimize.minimization import minimize
from qad.optimize.rates import adam, natural_descent
from qad.optimize.result import OptimizeResult

__all__ = [
    "Euclidean", "Grassmann", "Manifold", "OptimizeResult", "Product", "Sphere", "Stiefel", "Unitary", "adam",
    "least_squares", "minimize", "minimize_on", "natural_descent", "root",
]  # fmt: skip
