"""Random programs with the short-cuts and without them, at points with zeros in them, where roots have kinks."""

import numpy as np

import qad
from tests.fuzz.programs import draw
from tests.properties.roads import differing


def check(seed, length=8) -> list:
    """What differs between the quick and the plain roads for the program of this seed, in words."""
    program, _, wide = draw(seed, length)
    rng = np.random.default_rng([seed, 2])
    if rng.integers(2):
        wide = [np.asarray(x * (rng.random(x.shape) < 0.6)) for x in wide]
    return differing(lambda *xs: rooted(program, rng_of(seed), *xs), tuple(wide), tolerance=1e-9)


def rng_of(seed):
    return np.random.default_rng([seed, 3])


def rooted(program, rng, *xs):
    """The program, and squares of absolute values in one of the ways to write them."""
    return program(*xs) + sum(np.sum(SQUARES[rng.integers(len(SQUARES))](np.sin(x))) for x in xs)


SQUARES = [
    lambda z: abs(z) * abs(z), lambda z: np.multiply(abs(z), np.abs(z).conj()), lambda z: np.square(np.abs(z)),
    lambda z: abs(z) ** 2, lambda z: np.abs(z) ** np.float64(2), lambda z: np.power(np.abs(z.T).T, 2), qad.abs2,
    lambda z: (z * z.conj()).real, lambda z: np.vdot(z, z).real, lambda z: np.linalg.norm(z) ** 2,
    lambda z: np.dot(abs(z).reshape(-1), abs(z).reshape(-1)), lambda z: abs(z[..., None]) ** 2 * 0.5,
]  # fmt: skip
