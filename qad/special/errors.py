"""The error function and its relatives, on the real line and in the complex plane: a line each."""

from math import pi, sqrt

import numpy as np
from scipy import special

from qad.rules.elementwise import table

_C = 2 / sqrt(pi)

table(special.erf, lambda g, y, x: g * (_C * np.exp(-x * x)))
table(special.erfc, lambda g, y, x: g * (-_C * np.exp(-x * x)))
table(special.erfcx, lambda g, y, x: g * (2 * x * y - _C))
table(special.erfi, lambda g, y, x: g * (_C * np.exp(x * x)))
table(special.erfinv, lambda g, y, x: g * (np.exp(y * y) / _C))
table(special.erfcinv, lambda g, y, x: -g * (np.exp(y * y) / _C))
table(special.dawsn, lambda g, y, x: g * (1 - 2 * x * y))
table(special.wofz, lambda g, y, z: g * (1j * _C - 2 * z * y))
table(special.ndtr, lambda g, y, x: g * (np.exp(-0.5 * x * x) / sqrt(2 * pi)))
table(special.log_ndtr, lambda g, y, x: g * (np.exp(-0.5 * x * x - y) / sqrt(2 * pi)))
table(special.ndtri, lambda g, y, p: g * (sqrt(2 * pi) * np.exp(0.5 * y * y)))
