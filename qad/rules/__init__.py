"""Derivative rules of NumPy's functions, a table per family."""

from qad.rules import elementwise
from qad.rules import index, shape, diagonal, repeat, join, products
