"""Checks of random programs: each transform against differences and against all others."""

import numpy as np

import qad
from tests.fuzz.programs import draw

NUMBERS = (0, 1, 2)
EPS = np.finfo(float).eps


def inner(a, b):
    return sum(float(np.vdot(x, y).real) for x, y in zip(a, b, strict=True))


def norm(a):
    return np.sqrt(inner(a, a))


def minus(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


STEP = 2.5e-4


def differences(f, here, point, direction):
    """Five-point differences of a function to a list of arrays, and how far they are off: much across a kink or at one.

    That is told by steps of two sizes, and by how the slopes on both sides of the point differ, where `f` is `here`.
    """
    at = {k: f(*(x + k * STEP * v for x, v in zip(point, direction, strict=True))) for k in (-4, -2, -1, 1, 2, 4)}
    at[0] = here
    fine, coarse = (five_points([at[n * k] for k in (-2, -1, 1, 2)], n * STEP) for n in (1, 2))
    small, large = (jump([at[n * k] for k in (-1, 0, 1)], n * STEP) for n in (1, 2))
    return fine, norm(minus(fine, coarse)) + norm([2 * a - b for a, b in zip(small, large, strict=True)])


def five_points(values, h):
    return [(a - 8 * b + 8 * c - d) / (12 * h) for a, b, c, d in zip(*values, strict=True)]


def jump(values, h):
    """By how much the slopes on both sides of the point differ; of a smooth function of the order of h."""
    return [(a - 2 * b + c) / h for a, b, c in zip(*values, strict=True)]


class Check:
    """One program at one point; what disagrees is gathered in `found`."""

    def __init__(self, seed, length):
        self.program, self.inputs, self.wide = draw(seed, length)
        rng = np.random.default_rng([seed, 1])
        v = [rng.normal(size=x.shape) + 1j * rng.normal(size=x.shape) for x in self.wide]
        self.v = [np.asarray(t if x.dtype.kind == "c" else t.real) for t, x in zip(v, self.wide, strict=True)]
        self.gradient = qad.grad(self.program, argnums=NUMBERS)
        self.g = self.gradient(*self.wide)
        self.h = qad.hvp(self.program, tuple(self.wide), tuple(self.v))
        near = [[np.asarray(x + s * EPS * t) for x, t in zip(self.wide, self.v, strict=True)] for s in (-1, 1)]
        self.rounding = max(norm(minus(self.gradient(*xs), self.g)) for xs in near)  # what the last digit moves
        self.found = []

    def compare(self, what, a, b, tolerance):
        error, size = norm(minus(a, b)), norm(b)
        if not error <= tolerance * (1 + size):
            self.found.append(f"{what}: off by {error:.2e} of {size:.2e}")

    def against_differences(self):

        def value(*xs):
            return [np.asarray(self.program(*xs))]

        slope, doubt = differences(value, value(*self.wide), self.wide, self.v)
        self.smooth = doubt < 1e-6
        if self.smooth:
            self.compare("gradient", [inner(self.g, self.v)], slope, 1e-8 + 100 * doubt)
        curve, doubt = differences(self.gradient, self.g, self.wide, self.v)
        if doubt < 1e-6 * (1 + norm(self.h)):
            self.compare("hvp", self.h, curve, 1e-8 + 100 * doubt)

    def against_each_other(self):
        program, wide, v = self.program, self.wide, tuple(self.v)
        value, moved = qad.jvp(program, tuple(wide), v)
        self.compare("value", [value], [program(*wide)], 1e-13)
        self.compare("jvp", [moved], [inner(self.g, v)], 1e-11 + self.rounding)
        self.compare("checkpoint", qad.grad(qad.checkpoint(program), NUMBERS)(*wide), self.g, 1e-11)

        def slope(*xs):
            return sum(np.vdot(t, u).real for t, u in zip(v, self.gradient(*xs), strict=True))

        self.compare("reverse over reverse", qad.grad(slope, NUMBERS)(*wide), self.h, 1e-10)
        moving = qad.grad(lambda *xs: qad.jvp(program, xs, v)[1], NUMBERS)
        self.compare("reverse over forward", moving(*wide), self.h, 1e-10)
        leaves = [qad.tensor(x, requires_grad=True) for x in wide]
        program(*leaves).backward()
        got = [0 * x if t.grad is None else t.grad for t, x in zip(leaves, wide, strict=True)]
        self.compare("backward", got, self.g, 1e-13)

    def batches(self):
        """Two examples at once, of values and of gradients, unless the program writes in place."""
        try:
            self.two_examples()
        except (qad.errors.BatchError, qad.errors.ArgumentError) as error:
            if "written into" not in str(error) and "layout of an example" not in str(error):
                raise

    def two_examples(self):
        stacks = [np.stack([x, 0.9 * x]) for x in self.wide]
        looped = [self.program(*x) for x in (self.wide, [0.9 * x for x in self.wide])]
        if not np.isfinite(looped).all():
            return
        self.compare("vmap", [qad.vmap(self.program)(*stacks)], [np.stack(looped)], 1e-12)
        for g, g0 in zip(qad.vmap(self.gradient)(*stacks), self.g, strict=True):
            self.compare("vmap of the gradient", [g[0]], [g0], 1e-10 + self.rounding)
        whole = qad.grad(lambda *xs: qad.vmap(self.program)(*xs).sum(), NUMBERS)(*stacks)
        self.compare("gradient of vmap", [g[0] for g in whole], self.g, 1e-10 + self.rounding)

    def single_precision(self):
        single = self.gradient(*self.inputs)
        if self.smooth:  # at a kink rounding chooses the side
            self.compare("single precision", single, self.g, 1e-2 * (1 + norm(self.h)))
        self.kinds(single, self.inputs)

    def kinds(self, gradients, inputs):
        for g, x in zip(gradients, inputs, strict=True):
            if type(g) is not type(x) or g.shape != x.shape or g.dtype != x.dtype:
                self.found.append(f"a gradient is {type(g)} {g.dtype}{g.shape}, its input {type(x)} {x.dtype}{x.shape}")

    def memory(self):
        """Gradients may be written into without changing inputs, each other or another call."""
        expected = [x.copy() for x in self.g]
        arrays = [x for x in (*self.g, *self.h, *self.wide) if type(x) is np.ndarray]
        if any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i]):
            self.found.append("shared memory")
        for x in (x for x in (*self.g, *self.h) if type(x) is np.ndarray):
            x.fill(7)
        self.compare("another call", self.gradient(*self.wide), expected, 1e-13)


def check(seed, length=20) -> list:
    """What is wrong with the program of this seed, in words.  Differences that a kink spoils are not compared."""
    c = Check(seed, length)
    c.kinds((*c.g, *c.h), (*c.wide, *c.wide))
    c.against_differences()
    c.against_each_other()
    c.batches()
    c.single_precision()
    c.memory()
    return c.found
