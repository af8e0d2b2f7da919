"""A quench of an Ising chain: the Loschmidt echo, and its gradient by field and time.

All spins point along the field, which falls at once to g: ``L(t) = |<psi| exp(-i H t) |psi>|^2`` beside dense matrices.
``--short``: 8 spins instead of 10.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, g, time = (8 if short else 10), 0.5, 0.8
plus = qad.mps.MPS.product([np.full(2, 0.5**0.5)] * n)


def echo(g, time):
    """The echo of matrix product states."""
    return qad.abs2(plus.overlap(qad.mps.evolve(plus, qad.mps.ising(n, g), time, steps=40, method="tebd4").state))


def dense(g, time):
    """The echo of all amplitudes."""
    start = plus.to_dense().reshape(-1)
    return qad.abs2(start.conj() @ (qad.linalg.expm(-1j * time * qad.mps.ising(n, g).to_dense()) @ start))


value, slopes = qad.value_and_grad(echo, argnums=(0, 1))(g, time)
exact, exact_slopes = qad.value_and_grad(dense, argnums=(0, 1))(g, time)
print(f"echo {value:.8f}   exact {exact:.8f} (dense)")
for name, slope, right in zip(("field", "time"), slopes, exact_slopes, strict=True):
    print(f"slope by the {name} {slope:.7f}   exact {right:.7f} (dense)")
