"""Elementwise functions."""

import numpy as np

from qad.extend import attach, attach_operator, defvjp, quick

defvjp(np.add, lambda g, y, a, b: g, lambda g, y, a, b: g, elementwise=True)
defvjp(np.subtract, lambda g, y, a, b: g, lambda g, y, a, b: -g, elementwise=True)
defvjp(np.multiply, lambda g, y, a, b: g * b, lambda g, y, a, b: g * a, elementwise=True, fresh=True)
defvjp(np.sin, lambda g, y, x: g * np.cos(x), elementwise=True, fresh=True)
defvjp(np.cos, lambda g, y, x: g * -np.sin(x), elementwise=True, fresh=True)
defvjp(np.negative, lambda g, y, x: -g, elementwise=True, fresh=True)
defvjp(np.conjugate, lambda g, y, x: g.conj(), linear=True)
defvjp(np.real, lambda g, y, x: g, linear=True)
defvjp(np.sum, lambda g, y, x, axis=None, keepdims=False: g + np.zeros(x.shape), linear=True, fresh=True)
attach("conj", quick(np.conjugate))
attach("real", lambda x: np.real(x) if x.dtype.kind == "c" else x, property=True)
attach("sum", lambda x, axis=None, keepdims=False: np.sum(x, axis=axis, keepdims=keepdims))
attach("__neg__", quick(np.negative))
attach_operator("mul", np.multiply)
attach_operator("add", np.add)
attach_operator("sub", np.subtract)
