"""Optimisation over any pytree of real and complex arrays, and over manifolds of constrained ones."""

from qad.elsewhere import names_told as _names_told
from qad.optimize.descent import minimize_on
from qad.optimize.equations import least_squares, root
from qad.optimize.manifolds import Euclidean, Grassmann, Manifold, Sphere, Stiefel, Unitary
from qad.optimize.minimization import minimize
from qad.optimize.moments import adam, adam_steps
from qad.optimize.products import Product
from qad.optimize.rates import natural_descent
from qad.optimize.result import OptimizeResult

__all__ = [
    "Euclidean", "Grassmann", "Manifold", "OptimizeResult", "Product", "Sphere", "Stiefel", "Unitary", "adam",
    "adam_steps", "least_squares", "minimize", "minimize_on", "natural_descent", "root",
]  # fmt: skip

_names_told(__name__)
