"""Optimisation over any pytree of real and complex arrays, and over manifolds of constrained ones."""

from qad.optimize.adam import adam
from qad.optimize.descent import minimize_on
from qad.optimize.equations import least_squares, root
from qad.optimize.manifolds import Euclidean, Grassmann, Product, Sphere, Stiefel, Unitary
from qad.optimize.minimization import minimize
from qad.optimize.natural import natural_descent
from qad.optimize.points import Manifold
from qad.optimize.result import OptimizeResult

__all__ = [
    "Euclidean", "Grassmann", "Manifold", "OptimizeResult", "Product", "Sphere", "Stiefel", "Unitary", "adam",
    "least_squares", "minimize", "minimize_on", "natural_descent", "root",
]  # fmt: skip
