"""Quantum control: which pulses take a chain of spins across its critical point, with the least energy left over?

H(t) = -sum sz_i sz_(i+1) - g(t) sum sx_i goes from g = 3 to g = 0 in a short time, in pulses of constant field.  The
gradient of the final energy by every pulse is one reverse sweep through the evolution (TEBD).  Exact: the same pulses
on free fermions, whose covariance is a matrix of 2n rows.  ``--short``: 8 spins and 10 pulses instead of 20 and 50.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, pulses, dt, rounds = (8, 10, 0.1, 3) if short else (20, 50, 0.06, 15)
final = qad.mps.ising(n, 0.0)
start = qad.mps.MPS.product([np.array([1.0, 1.0]) / np.sqrt(2)] * n)


def left_over(fields, method="tebd"):
    """The energy per site above the ground state of g = 0, after all pulses on the chain."""
    psi = start
    for g in fields:
        psi = qad.mps.evolve(psi, qad.mps.ising(n, g), dt, 1, method, bond=16, cutoff=1e-12, reach=1.0).state
    return (qad.mps.energy(psi, final) + n - 1) / n


def left_over_of_fermions(fields):
    """The same from the covariance of the Majorana fermions a_2i = (prod sx) sz_i and a_2i+1 = (prod sx) sy_i."""
    paired = np.kron(np.eye(n), [[0.0, 1.0], [-1.0, 0.0]])  # i sx_i = a_2i a_2i+1 (all fields along x: the beginning)
    bonds = np.zeros((2 * n, 2 * n))
    for i in range(n - 1):
        bonds[2 * i + 1, 2 * i + 2], bonds[2 * i + 2, 2 * i + 1] = 1.0, -1.0
    covariance = paired
    for g in fields:
        turn = qad.linalg.expm(2 * dt * (bonds - g * paired))
        covariance = turn @ covariance @ turn.T
    return (np.sum(covariance * bonds) / 2 + n - 1) / n


ramp = np.linspace(3.0, 0.0, pulses)
found = qad.optimize.minimize(left_over, ramp, maxiter=rounds)
for name, fields in (("straight ramp", ramp), ("found pulses ", found.params)):
    energy, exact = left_over(fields, "tebd4"), left_over_of_fermions(fields)
    print(f"{name}   energy left over per site {energy:.6f}   exact {exact:.6f} (free fermions)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.step(dt * np.arange(pulses), ramp, label="straight ramp")
left.step(dt * np.arange(pulses), found.params, label="found")
left.set(xlabel="time", ylabel="field g")
left.legend()
right.semilogy(found.history)
right.set(xlabel="iteration", ylabel="energy left over per site")
right.locator_params("x", integer=True)
figure.savefig(__file__.replace(".py", ".png"))
