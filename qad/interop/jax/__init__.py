"""qad's functions in programs of JAX, and JAX's in programs of qad.

`wrap` makes a function of qad one that JAX can compile, map and differentiate to any order in both modes: one JAX
primitive that calls back to the host, and whose derivatives are such primitives again.  `primitive` is the other way.
The gradients of JAX are the complex conjugates of qad's: ``dL/dx - i dL/dy``; what passes here is converted.

Examples
--------
>>> import numpy as np, qad, jax, jax.numpy as jnp
>>> from qad.interop.jax import primitive, wrap
>>> energy = wrap(lambda z: qad.einsum("i,i->", z, z.conj()).real)
>>> jax.jit(jax.grad(energy))(jnp.array([1 + 2j]))
Array([2.-4.j], dtype=complex64)
>>> qad.grad(primitive(lambda z: jnp.sum(jnp.abs(z) ** 2)))(np.array([1 + 2j], "complex64"))
array([2.+4.j], dtype=complex64)
"""

from qad.installed import require

require("qad.interop.jax", "jax")

import jax.extend.core

from qad.interop.jax.recorded import primitive
from qad.interop.jax.wrapped import wrap

__all__ = ["primitive", "wrap"]
