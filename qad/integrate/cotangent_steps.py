"""Steps that carry derivatives: those that the values chose, divided until cotangents pass back through them exactly.

The derivative M of a step is exact to the order of the method where its step size is small by what f' does, of which
the values may know nothing: at rest every step is exact.  So a random cotangent c is carried back from each time that
is asked for, and a step counts as short enough where ``c M`` and the derivatives by all that is differentiated change
by no more than `rtol` with the embedded method, or `atol` times what c has been.  For second orders the same holds of
their derivative in a random direction.  What is random is always the same.
"""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError, GradientTypeError
from qad.core.tape.node import next_id
from qad.extend import jvp, unrecorded, vjp
from qad.integrate.dormand_prince import pair_of
from qad.integrate.origins import origins
from qad.integrate.solver import size_of
from qad.linalg.implicit.closure import capture
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from qad.integrate.solver import Solver, Start
    from qad.typing import Array

PARTS = 10  # into which a step is divided at most, at once
HALVINGS = 40  # that find a jump
ASIDE = 2.0**-30  # of the state, beside which kinks are looked for
SMALL = 0.1  # of its neighbours is the size of a step with a jump inside


def refined(solver: Solver, taken: list[list[Start]], ends: list[Array], order: int, moving: bool) -> list[list[float]]:
    """For each interval the times at which steps begin that carry `order` derivatives.

    `taken` are the steps that the values chose, `ends` the states after each interval; `moving` tells whether times
    are differentiated.
    """
    _refuse_jumps(solver, solver.slope, [step for steps in taken for step in steps], "jumps")
    for steps, end in zip(taken, ends, strict=True):
        _refuse_rest(solver, *steps[0], steps[1][2] if len(steps) > 1 else end)
    back, found = _Back(solver, min(order, 2), moving), []
    for steps, end in zip(reversed(taken), reversed(ends), strict=True):
        back.seed(end)
        found.insert(0, [piece for step in reversed(steps) for piece in back.through(*step)][::-1])
    if order > 1:
        _refuse_jumps(solver, back.pulled_slope, [step for steps in found for step in steps], "has a kink")
    return [[t for t, _, _ in steps] for steps in found]


class _Back:
    """A cotangent on its way back, and what it has collected."""

    def __init__(self, solver, order, moving):
        self.solver, self.order, self.moving = solver, order, moving
        self.tol, self.left = max(solver.rtol + solver.atol, 1e-14), solver.left
        self.rng = np.random.default_rng(0)
        self.cotangent, self.seeded, self.collected = 0.0, 0.0, defaultdict(float)

    def seed(self, y):
        """A time that is asked for."""
        self.cotangent = self.cotangent + normal(self.rng, y.shape, y.dtype)
        self.seeded = max(self.seeded, size_of(self.cotangent))

    def through(self, t, size, y):
        """Go back through a step, in pieces that are short enough: these, the last one first."""
        parts = self.pull(t, size, y)
        if parts == 1:
            yield t, size, y
            return
        self.left -= parts
        if self.left < 0 or abs(size) <= 40 * np.spacing(abs(t)):
            raise ConvergenceError(
                f"solve_ivp: the derivative is stuck at t = {t:.6g} with steps of {abs(size):.3g}: the right-hand side "
                "may have no derivative there, or is stiff; max_steps= allows more of them, and a larger rtol= makes "
                "them longer"
            )
        states, part = [y], size / parts
        for k in range(parts - 1):
            states.append(self.solver.advanced(t + k * part, states[-1], part))
        for k in reversed(range(parts)):
            yield from self.through(t + k * part, part, states[k])

    def pull(self, t, span, y):
        """Into how many pieces a step has to be divided; if it is one, the cotangent passes."""
        found = list(self.changes(t, span, y))
        collected, worst, size = {}, 0.0, size_of(self.cotangent)
        for key, change, error, scale in found:
            error, done, is_state = size_of(error), size_of(change), key[1] is None
            collected[key] = done if is_state else self.collected[key] + done
            allowed = (
                max(self.tol * max(done, size), self.solver.atol * self.seeded)
                if is_state
                else max(self.tol * collected[key], self.solver.atol * size / scale)
            )
            worst = np.maximum(worst, error / allowed if allowed else np.inf if error else 0.0)  # NaN, where one is
        if worst <= 1:
            self.cotangent = found[0][1]
            self.collected.update(collected)
            return 1
        return PARTS if not worst < PARTS**5 else max(2, ceil(1.1 * worst**0.2))

    def changes(self, t, size, y):
        """Keys of all that the state after a step depends on, the cotangents of these, their errors, and their sizes.

        A key is the order less one, and a name; that of the state before the step is None, and comes first.
        """
        first, names = ([y, np.float64(t)], [None, "time"]) if self.moving else ([y], [None])
        f, args, n, mark = self.solver.f, self.solver.args, len(first), next_id()
        closure, captured = capture(lambda z: pair_of(f, z[1] if self.moving else t, z[0], size, args), first)
        known, values, make = origins(captured, mark)
        names, point = [*names, *known], (*first, *values)

        def gradients(*point):
            _, pullback = vjp(lambda *p: tuple(closure(p[:n], make(p[n:]))), *point)
            zero = np.zeros_like(self.cotangent)
            return pullback((self.cotangent, zero)), pullback((zero, self.cotangent))

        scales = [max(1.0, size_of(x)) for x in point]
        if self.order == 1:
            found = [gradients(*point)]
        else:
            along = [normal(self.rng, x.shape, x.dtype) * c + 0 * x for x, c in zip(point, scales, strict=True)]
            found = jvp(gradients, point, tuple(along))
        keys = [(k, name) for k in range(len(found)) for name in names]
        changes, errors = ([x for pulled in found for x in pulled[part]] for part in (0, 1))
        return zip(keys, changes, errors, scales * len(found), strict=True)

    def pulled_slope(self, t, y):
        """A random cotangent through the derivative of f."""
        value, pullback = vjp(lambda y: self.solver.f(t, y, *self.solver.bare), y)
        return unrecorded(pullback(normal(np.random.default_rng(1), value.shape, value.dtype))[0])


def _refuse_jumps(solver, slope, steps, what):
    """Raise where `slope` jumps with the state; the step over a jump is much smaller than those around it."""
    sizes = np.abs([size for _, size, _ in steps])
    for k, (t, size, y) in enumerate(steps):
        if sizes[k] < SMALL * sizes[max(0, k - 10) : k + 11].max() and (found := _jump(solver, slope, t, size, y)):
            raise GradientTypeError(
                f"solve_ivp: the right-hand side {what} at t = {found:.6g}, where the state crosses to another branch: "
                "its derivative misses how that moves. Smooth the switch, or end the interval there and go on with "
                "the other branch"
            )


def _refuse_rest(solver, t, size, y, after):
    """Raise where entries of a state do not move in a step and `f` has a kink there, or jumps: it stays on it."""
    resting = np.equal(y, after) * 1.0
    if not size_of(resting):
        return
    direction = ASIDE * (1.0 + np.abs(y)) * resting * normal(np.random.default_rng(3), y.shape, y.dtype)
    here, bends = solver.slope(t, y), []
    for part in (1.0, 1 / 16):
        one, other = (solver.slope(t, y + sign * part * direction) - here for sign in (1, -1))
        bends.append((size_of(one + other), max(size_of(one), size_of(other))))
    (bend, reach), (bend_near, reach_near) = bends
    rounding = 1e-14 * (1.0 + size_of(here))
    kink = bend_near > max(bend / 64, 0.01 * reach_near, rounding)  # what is smooth goes down by 256
    if kink or reach_near > max(reach / 8, rounding):
        raise GradientTypeError(
            f"solve_ivp: the right-hand side has a kink at t = {t:.6g}, or jumps, where the state rests: its "
            "derivative is another one on either side. Start beside it, or smooth it"
        )


def _jump(solver, slope, t, size, y):
    """The time at which `slope` jumps in a step because the state does; None where it does not."""
    step = solver.advanced(t, y, size) - y

    def at(s, off=0.0):
        return slope(t + s * size, y + s * step + off)

    left, right, before, after = 0.0, 1.0, at(0.0), at(1.0)
    whole = size_of(after - before)
    for _ in range(HALVINGS):
        middle = at((left + right) / 2)
        if size_of(middle - before) > size_of(after - middle):
            right, after = (left + right) / 2, middle
        else:
            left, before = (left + right) / 2, middle
    if not size_of(after - before) > 0.3 * whole > 1e-10 * size_of(before):
        return None
    aside = 1e-3 * (size_of(y) + 1.0) * normal(np.random.default_rng(2), y.shape, y.dtype)
    if all(size_of(at(right, off) - at(left, off)) > 0.1 * whole for off in (aside, -aside)):
        return None  # time alone is what switches
    return t + left * size
