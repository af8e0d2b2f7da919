"""Energies of infinite cylinders of one repeated site, exactly: dominant vectors of rings of double layers."""

import numpy as np


def energy_of_cylinder(site, across, down, circumference):
    """The energy per site of terms (d, d, d, d) on neighbours around the cylinder and along it."""
    plain = [layer(site)] * circumference
    upper, lower = dominant(plain, (0, 1, 2, 3)), dominant(plain, (2, 1, 0, 3))
    total, norm = 0.0, lower @ ring(upper, plain)
    for a, b in factors(across):
        total += lower @ ring(upper, [layer(site, a), layer(site, b), *plain[2:]]) / norm
    norm = lower @ ring(ring(upper, plain), plain)
    for a, b in factors(down):
        total += lower @ ring(ring(upper, [layer(site, a), *plain[1:]]), [layer(site, b), *plain[1:]]) / norm
    return total


def layer(site, operator=None):
    """Ket and bra of a site, and an operator between them, with legs (up, left, down, right)."""
    ket = site if operator is None else np.tensordot(operator, site, (1, 0))
    both = np.tensordot(ket, site, (0, 0)).transpose(0, 4, 1, 5, 2, 6, 3, 7)
    return both.reshape([n * n for n in site.shape[1:]])


def factors(term):
    """A term of two sites as a sum of products."""
    d = len(term)
    u, s, vh = np.linalg.svd(term.transpose(0, 2, 1, 3).reshape(d * d, d * d))
    return [(x * u[:, k].reshape(d, d), vh[k].reshape(d, d)) for k, x in enumerate(s) if x > 1e-12]


def ring(v, layers):
    """A vector of upper legs carried through a ring to its lower legs."""
    p = layers[0].shape[0]
    x = np.tensordot(layers[0], v.reshape(p, -1), (0, 0)).transpose(0, 2, 3, 1)  # left, right, upper legs, lower legs
    for site in layers[1:]:
        x = np.tensordot(x.reshape(p, p, p, -1, x.shape[-1]), site, ((1, 2), (1, 0)))
        x = x.transpose(0, 4, 1, 2, 3).reshape(p, p, x.shape[1], -1)
    return np.trace(x.reshape(p, p, -1))


def dominant(layers, order):
    """The dominant vector above a ring, or below it where its legs are taken in another order."""
    layers = [x.transpose(order) for x in layers]
    v = np.ones(layers[0].shape[0] ** len(layers))
    for _ in range(500):
        new = ring(v, layers)
        new /= np.linalg.norm(new)
        if np.linalg.norm(new - v) < 1e-9:
            return new
        v = new
    raise AssertionError("power iteration did not converge")
