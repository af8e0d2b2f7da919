"""Derivative rules of NumPy's functions, a table per family."""

from qad.rules.elementwise import complex, functions, logsumexp, no_derivative, powers, sinc
from qad.rules.making import casts, creation, devices, grids
from qad.rules.products import fft, polynomials, products, series, signal, sparse, vectors
from qad.rules.protocol import array_protocol, operators, piecewise, refused, ufuncs
from qad.rules.reductions import nans, quantiles, reduce, scan, sets, sorting, statistics
from qad.rules.shapes import diagonal, index, join, padding, repeat, resizing, shape, windows, write
