"""The functions that are reachable as ``qad.<name>``: NumPy's own, which dispatch on Tensors, and qad's.

``qad.sin is numpy.sin``; a name stands here when a Tensor may be among its arguments.  Plain arrays give plain arrays.
"""
# ruff: noqa: I001 - these imports are the table of what `qad` offers, by family

from numpy import (  # elementwise
    abs, absolute, add, angle, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, cbrt, ceil, clip, conj,
    conjugate, copysign, cos, cosh, deg2rad, degrees, divide, divmod, exp, exp2, expm1, fabs, float_power, floor,
    floor_divide, fmax, fmin, fmod, frexp, heaviside, hypot, imag, ldexp, log, log1p, log2, log10, logaddexp,
    logaddexp2, maximum, minimum, mod, modf, multiply, nan_to_num, negative, nextafter, positive, power, rad2deg,
    radians, real, real_if_close, reciprocal, remainder, rint, round, sign, sinc, sin, sinh, sqrt, square, subtract,
    tan, tanh, true_divide, trunc, unwrap,
)  # fmt: skip
from numpy import (  # reductions, order, differences
    all, amax, amin, any, argmax, argmin, argsort, average, count_nonzero, cumprod, cumsum, diff, max, mean, median,
    min, nonzero, prod, ptp, searchsorted, sort, std, sum, trapezoid, var,
)  # fmt: skip
from numpy import (  # shapes, indices, products
    argwhere, array_split, atleast_1d, atleast_2d, atleast_3d, broadcast_to, column_stack, concatenate, diag,
    diagflat, diagonal, dot, dstack, expand_dims, flip, fliplr, flipud, hstack, inner, kron, matmul, moveaxis,
    outer, pad, ravel, repeat, reshape, roll, rot90, select, split, squeeze, stack, swapaxes, take, take_along_axis,
    tile, trace, transpose, tril, triu, vdot, vstack, where,
    append, block, broadcast_arrays, choose, compress, concat, cross, delete, dsplit, extract, hsplit, matrix_transpose,
    permute_dims, rollaxis, vecdot, vsplit,
)  # fmt: skip
from numpy import (  # the array API's names
    acos, acosh, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or,
    bitwise_right_shift, bitwise_xor, pow, unique_all, unique_counts, unique_inverse, unique_values,
)  # fmt: skip
from numpy import (  # signals, statistics, polynomials, grids, sets, what leaves NaN out
    apply_along_axis, apply_over_axes, bincount, convolve, corrcoef, correlate, cov, ediff1d, geomspace, gradient,
    histogram, i0, insert, interp, linspace, logspace, meshgrid, nancumprod, nancumsum, nanmax, nanmean, nanmedian,
    nanmin, nanpercentile, nanprod, nanquantile, nanstd, nansum, nanvar, partition, percentile, piecewise, poly,
    polyadd, polyder, polyfit, polyint, polymul, polysub, polyval, quantile, resize, roots, setdiff1d, trim_zeros,
    union1d, unique, vander,
)  # fmt: skip
from numpy import (  # without derivative
    allclose, array_equal, equal, greater, greater_equal, isclose, iscomplex, iscomplexobj, isfinite,
    isinf, isnan, isreal, isrealobj, less, less_equal, logical_and, logical_not, logical_or, logical_xor, ndim,
    not_equal, result_type, shape, signbit, size, argpartition, digitize, flatnonzero, isin, lexsort, nanargmax,
    nanargmin,
)  # fmt: skip
from numpy import astype, copy, e, fft, inf, nan, newaxis, pi

from qad.rules import series as polynomial
from qad.rules.complex import abs2
from qad.rules.logsumexp import logsumexp

__all__ = [
    "abs", "abs2", "absolute", "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any",
    "append", "apply_along_axis", "apply_over_axes", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "argmax", "argmin", "argpartition", "argsort", "argwhere", "array_equal",
    "array_split", "asin", "asinh", "astype", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d",
    "atleast_3d", "average", "bincount", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "block", "broadcast_arrays", "broadcast_to", "cbrt", "ceil", "choose",
    "clip", "column_stack", "compress", "concat", "concatenate", "conj", "conjugate", "convolve", "copy",
    "copysign", "corrcoef", "correlate", "cos", "cosh", "count_nonzero", "cov", "cross", "cumprod", "cumsum",
    "deg2rad", "degrees", "delete", "diag", "diagflat", "diagonal", "diff", "digitize", "divide", "divmod",
    "dot", "dsplit", "dstack", "e", "ediff1d", "equal", "exp", "exp2", "expand_dims", "expm1", "extract",
    "fabs", "fft", "flatnonzero", "flip", "fliplr", "flipud", "float_power", "floor", "floor_divide", "fmax",
    "fmin", "fmod", "frexp", "geomspace", "gradient", "greater", "greater_equal", "heaviside", "histogram",
    "hsplit", "hstack", "hypot", "i0", "imag", "inf", "inner", "insert", "interp", "isclose", "iscomplex",
    "iscomplexobj", "isfinite", "isin", "isinf", "isnan", "isreal", "isrealobj", "kron", "ldexp", "less",
    "less_equal", "lexsort", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logspace", "logsumexp", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "median", "meshgrid", "min", "minimum", "mod", "modf",
    "moveaxis", "multiply", "nan", "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax",
    "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
    "ndim", "negative", "newaxis", "nextafter", "nonzero", "not_equal", "outer", "pad", "partition",
    "percentile", "permute_dims", "pi", "piecewise", "poly", "polyadd", "polyder", "polyfit", "polyint",
    "polymul", "polynomial", "polysub", "polyval", "positive", "pow", "power", "prod", "ptp", "quantile",
    "rad2deg", "radians", "ravel", "real", "real_if_close", "reciprocal", "remainder", "repeat", "reshape",
    "resize", "result_type", "rint", "roll", "rollaxis", "roots", "rot90", "round", "searchsorted", "select",
    "setdiff1d", "shape", "sign", "signbit", "sin", "sinc", "sinh", "size", "sort", "split", "sqrt", "square",
    "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tile",
    "trace", "transpose", "trapezoid", "tril", "trim_zeros", "triu", "true_divide", "trunc", "union1d",
    "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unwrap", "vander", "var",
    "vdot", "vecdot", "vsplit", "vstack", "where",
]  # fmt: skip
