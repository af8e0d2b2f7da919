"""Random programs of views and writes, against NumPy itself.

Plain arrays say what the value of a program is; derivatives are compared with differences of that, and transforms and
frozen functions with each other.  A program may be refused by an error of qad's; the tests bound the share of those.
"""

from collections import Counter

import numpy as np

import qad
from tests.fuzz.writes import draw

REFUSALS = Counter()  # messages of what was refused, and the number of programs under "programs"


STEP = 2.5e-4


def differences(f, inputs, direction):
    """Five-point differences along a direction, and how far they are off: much across a kink."""
    at = {k: f(*[x + k * STEP * v for x, v in zip(inputs, direction, strict=True)]) for k in (-4, -2, -1, 1, 2, 4)}
    fine, coarse = ((at[-2 * n] - 8 * at[-n] + 8 * at[n] - at[2 * n]) / (12 * n * STEP) for n in (1, 2))
    return fine, np.max(np.abs(fine - coarse), initial=0)


class Check:
    """One program at one point; what disagrees is gathered in `found`."""

    def __init__(self, program, inputs):
        self.program, self.inputs, self.found = program, inputs, []
        rng = np.random.default_rng(3)
        self.v = rng.normal(size=3), rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))
        self.other = [0.9 * x for x in inputs]
        self.gradient = qad.value_and_grad(program, (0, 1))

    def plain(self, *inputs):
        """What NumPy says."""
        return float(self.program(*[x.copy() for x in inputs]))

    def same(self, what, a, b, tolerance=1e-11):
        a, b = np.asarray(a), np.asarray(b)
        error = np.max(np.abs(a - b), initial=0)
        if not error <= tolerance * (1 + np.max(np.abs(b), initial=0)):
            self.found.append(f"{what}: off by {error:.2e} of {np.max(np.abs(b)):.2e}")

    def along(self, gradient):
        return sum(float(np.vdot(v, g).real) for v, g in zip(self.v, gradient, strict=True))

    def eager(self):
        x, program = self.inputs, self.program
        value, self.g = self.gradient(*x)
        self.same("value", value, self.plain(*x))
        slope, doubt = differences(self.plain, x, self.v)
        if not np.isfinite(doubt):
            raise qad.QadError("NumPy's own values beside the point are not finite: rounding divides there")
        if doubt < 1e-6:
            self.same("gradient", self.along(self.g), slope, 1e-8 + 100 * doubt)
        value, moved = qad.jvp(program, x, self.v)
        self.same("value of jvp", value, self.plain(*x))
        self.same("jvp", moved, self.along(self.g))
        leaves = [qad.tensor(y, requires_grad=True) for y in x]
        program(*leaves).backward()
        for leaf, g in zip(leaves, self.g, strict=True):
            self.same("backward", 0 * g if leaf.grad is None else leaf.grad, g)

    def constant(self):
        """On Tensors of which nothing is recorded."""
        value = self.program(*[qad.tensor(y) for y in self.inputs])
        self.same("value of constants", qad.extend.value_of(value), self.plain(*self.inputs))

    def second(self):
        h = qad.hvp(self.program, self.inputs, self.v)
        curve, doubt = differences(lambda *x: self.along(self.gradient(*x)[1]), self.inputs, self.v)
        if doubt < 1e-6 * (1 + abs(curve)):
            self.same("hvp", self.along(h), curve, 1e-8 + 100 * doubt)

    def levels(self):
        """Each input on a level of its own: what one level records is written into while the other records."""
        x, z = self.inputs

        def slope(x):
            return np.vdot(self.v[1], qad.grad(lambda z: self.program(x, z))(z)).real

        h = qad.hvp(self.program, self.inputs, (np.zeros(3), self.v[1]))
        self.same("gradient of the other gradient", qad.grad(slope)(x), h[0], 1e-9)
        each = qad.vmap(qad.grad(lambda x: self.program(x, qad.tensor(z))))(np.stack([x, self.other[0]]))
        self.same("vmap of one of the inputs", each[0], self.g[0])
        each = qad.vmap(lambda x: qad.grad(lambda z: self.program(x, z))(z))(np.stack([x, self.other[0]]))
        self.same("vmap of the other input", each[0], self.g[1])

    def batches(self):
        stacks = [np.stack(pair) for pair in zip(self.inputs, self.other, strict=True)]
        values = [self.plain(*self.inputs), self.plain(*self.other)]
        self.same("vmap", qad.vmap(self.program)(*stacks), values)
        value, g = qad.vmap(self.gradient)(*stacks)
        self.same("value of vmap of the gradient", value, values)
        for a, b in zip(g, self.g, strict=True):
            self.same("vmap of the gradient", a[0], b)

    def frozen(self):
        """Recorded at the other point, replayed at this one."""
        x, other = self.inputs, self.other
        for passes in (None, ()):
            step = qad.freeze(self.gradient, passes=passes)
            self.same("recorded value", step(*other)[0], self.plain(*other))
            value, g = step(*x)
            self.same("frozen value", value, self.plain(*x))
            for a, b in zip(g, self.g, strict=True):
                self.same("frozen gradient", a, b)
            if step.stats.replays and step.program.writes:  # it is run as it was recorded, whatever the passes
                break
        f = qad.freeze(self.program)
        self.same("recorded function", f(*other), self.plain(*other))
        self.same("frozen function", f(*x), self.plain(*x))
        for a, b in zip(qad.grad(f, (0, 1))(*x), self.g, strict=True):
            self.same("gradient of the frozen function", a, b)

    def nothing(self):
        """What is dear is looked at for every other program."""

    def frozen_forward(self):
        step = qad.freeze(lambda x, z: qad.jvp(self.program, (x, z), self.v))
        step(*self.other)
        value, moved = step(*self.inputs)
        self.same("frozen jvp's value", value, self.plain(*self.inputs))
        self.same("frozen jvp", moved, self.along(self.g))


def check(seed, *looks, length=14) -> list:
    """What is wrong with the program of this seed, in words; what is refused is counted in `REFUSALS`.

    `looks` are the names of methods of `Check`; all by default, of which frozen functions take most of the time.
    """
    program, inputs = draw(seed, length)
    c = Check(program, inputs)
    REFUSALS["programs"] += 1
    rare = [c.second, c.frozen_forward, c.levels, c.nothing][seed % 4]
    for look in [getattr(c, name) for name in looks] or (c.eager, c.constant, c.batches, c.frozen, rare):
        try:
            look()
        except qad.QadError as error:
            REFUSALS[f"{look.__name__}: {error}"] += 1
            if look == c.eager:
                break
    return [f"{problem}  {program.names}" for problem in c.found]
