"""A sudden quench: all spins point up when H = -sum sz_i sz_(i+1) - sum sx_i is switched on; where does <sz> go?

Two ways to follow it in real time, gates on neighbours (TEBD of fourth order) and the time-dependent variational
principle (TDVP on two sites), beside exact diagonalisation.  ``--short``: 6 sites until t = 1 instead of 10 until 3.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, times = (6, np.linspace(0, 1, 21)) if short else (10, np.linspace(0, 3, 61))
sz = np.diag([1.0, -1.0])

H = qad.mps.OpSum(n).add(-1.0, "X", n - 1)
for i in range(n - 1):
    H.add(-1.0, "Z", i, "Z", i + 1).add(-1.0, "X", i)
H, up = H.mpo(), qad.mps.MPS.product([0] * n)


def by_diagonalisation():
    """The mean of <sz> over the chain at all times, from eigenvectors of the matrix of H."""
    levels, vectors = np.linalg.eigh(H.to_dense())
    waves = vectors @ (np.exp(-1j * np.outer(levels, times)) * vectors.T[:, :1])  # basis state 0: all spins up
    spins = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    return spins.mean(1) @ qad.abs2(waves)


def by_chain(method):
    """The same from a matrix product state of bond 32."""
    curve = [1.0]
    measure = lambda psi, time: curve.append(np.mean(qad.mps.local_expectations(psi, sz)).real)
    qad.mps.evolve(up, H, times[-1], len(times) - 1, method, 32, callback=measure)
    return np.array(curve)


exact, curves = by_diagonalisation(), {}
for method in ("tebd4", "tdvp2"):
    curves[method] = by_chain(method)
    print(f"{method}   <sz> {curves[method][-1]:.9f}   exact {exact[-1]:.9f} (diagonalisation)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(times, exact, label="exact")
for (method, curve), mark in zip(curves.items(), "o+", strict=True):
    left.plot(times[::4], curve[::4], mark, label=method)
    right.semilogy(times[1:], np.abs(curve - exact)[1:], label=method)
left.set(xlabel="time", ylabel=r"$\langle\sigma_z\rangle$")
right.set(xlabel="time", ylabel="error")
left.legend(), right.legend()
figure.savefig(__file__.replace(".py", ".png"))
