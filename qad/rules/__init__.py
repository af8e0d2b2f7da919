"""Derivative rules of NumPy's functions, a table per family."""

from qad.rules import casts, complex, elementwise, fft, operators, order, passes, powers, reduce, scan, special
