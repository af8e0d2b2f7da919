"""`qad.warm_up`: everything that is compiled, compiled beforehand."""

import numpy as np

from qad.circuit.circuit import Circuit
from qad.circuit.pauli import PauliSum
from qad.contract import compiler
from qad.core.waiting import tell
from qad.extend import hvp, value_and_grad

__all__ = ["warm_up"]


def warm_up():
    """Compile all kernels now: contractions, chains and circuits then never stop for it.

    It takes some seconds, once on a machine, for the kernels are kept on disk; where they are, or where Numba (the
    extra ``fast``) is not installed and there is nothing to compile, it returns at once. No result depends on it.

    Examples
    --------
    >>> import qad
    >>> qad.warm_up()
    """
    if not compiler.has_numba():
        tell("there is nothing to compile: Numba is not installed (pip install 'qad[fast]')")
        return
    compiler.warm_up()
    circuits()


def circuits():
    """Compile the kernels of circuits, by running a small one in every precision: derivatives of two orders, sums."""
    for dtype in (np.complex128, np.complex64):

        def energy(theta, dtype=dtype):
            c = Circuit(2, dtype=dtype, engine="numba").rx(theta[0], 0).ry(theta[1], 1).cx(0, 1)
            return c.expectation(PauliSum({"ZZ": 1.0, "XI": 0.5}))

        theta = np.array([0.3, 0.4])
        value_and_grad(energy)(theta)
        hvp(energy, (theta,), (theta,))
        psi = Circuit(2, dtype=dtype, engine="numba").h(0).state()
        for weight in (1.0, 1j):
            PauliSum({"ZZ": weight, "XY": weight}).apply(psi)
