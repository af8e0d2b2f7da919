"""Derivative rules of NumPy's functions, a table per family."""

from qad.rules import (
    casts,
    complex,
    creation,
    diagonal,
    elementwise,
    fft,
    index,
    join,
    operators,
    order,
    passes,
    powers,
    products,
    reduce,
    repeat,
    scan,
    shape,
    special,
    write,
)
