"""A matrix function of qad under JAX's transforms: the Hessian of log det, compiled, beside its formula."""

import jax
import jax.numpy as jnp
import numpy as np

import qad
from qad.interop.jax import wrap

jax.config.update("jax_enable_x64", True)
log_det = wrap(lambda a: qad.linalg.slogdet(a)[1])
a = jnp.asarray(np.diag([1.0, 2.0, 3.0]) + 0.1)
hessian = jax.jit(jax.hessian(log_det))(a)
inverse = np.linalg.inv(a)
exact = -np.einsum("li,jk->ijkl", inverse, inverse)  # d(A^-1) = -A^-1 dA A^-1
print(f"norm {np.linalg.norm(hessian):.10f}   exact {np.linalg.norm(exact):.10f}")
