"""Functions of a module, which other processes import: a scan, amplitudes, a search from several starts."""

import numpy as np

import qad


def energy_and_slope(h, angle):
    """Of one angle of a circuit."""

    def energy(t):
        return qad.Circuit(2).ry(t, 0).cx(0, 1).rx(0.3 * t, 1).expectation(h)

    return qad.value_and_grad(energy)(angle)


def amplitude(tensors, bits):
    """Of a configuration of three spins."""
    a, b, c = (tensor[bit] for tensor, bit in zip(tensors, bits, strict=True))
    return qad.einsum("i,ij,j->", a, b, c)


def minimum(matrix, seed):
    """The lowest value that a search from a random start finds, and where."""
    start = np.random.default_rng(seed).normal(size=len(matrix))
    found = qad.optimize.minimize(lambda x: x @ matrix @ x / (x @ x) + 0.1 * np.sum(x**4), start)
    return found.fun, found.params


def broken(shared, point):
    return 1 / (point - 2)


RNG = np.random.default_rng(0)
JOBS = {
    "scan of a parameter": (energy_and_slope, qad.PauliSum({"XZ": 0.5, "ZI": 1.0}), [0.1, 0.5, 0.9]),
    "amplitudes": (amplitude, [RNG.normal(size=shape) for shape in ((2, 3), (2, 3, 3), (2, 3))],
                   [(0, 0, 0), (0, 1, 0), (1, 1, 1)]),
    "search from several starts": (minimum, np.diag([3.0, -1.0, 2.0]), [1, 2, 3]),
}  # fmt: skip
