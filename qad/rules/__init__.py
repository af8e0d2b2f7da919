"""Derivative rules of NumPy's functions, a table per family."""

from qad.rules import diagonal, elementwise, index, join, products, repeat, shape
