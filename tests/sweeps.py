"""Sweeps: derivatives at hundreds of decades of arguments, against mpmath.

A table names the mpmath function of every function swept.  The reference differentiates it by central differences in as
many digits as it takes: their number grows until two results agree, so that no cancellation goes unnoticed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import mpmath
import numpy as np
from mpmath import mp

import qad

DIGITS = (60, 130, 350, 900, 2000)
AGREED = mpmath.mpf(10) ** -14
VALUED = 1e-12  # the error of a value from which on its derivatives are not asked for
TURN = mpmath.mpc(3, 2)  # mixes the parts of a complex number, of which one may have lost its digits alone
NOTHING = mpmath.mpf(10) ** -400
FAILURES = (ValueError, ZeroDivisionError, OverflowError, TypeError, NotImplementedError, mpmath.libmp.NoConvergence)


# -- entries of a table --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Swept:
    """A function and its reference, with the points at which the two are compared.

    Attributes
    ----------
    f, reference : callable
        Of NumPy or SciPy, and of mpmath.
    kinds : str
        "r" for the real line, "c" for the plane.
    where : callable
        Which points: leaves out where the reference has no derivative, or SciPy's own functions no digits.
    most : int
        The most digits that the reference takes.
    heavy : bool
        Whether the reference takes so long that it is left to the dense sweep.
    extra : tuple
        More points of the real line.
    """

    f: Callable
    reference: Callable
    kinds: str = "rc"
    where: Callable = lambda x: np.ones(np.shape(x), bool)
    most: int = 900
    heavy: bool = False
    extra: tuple = ()

    def check(self, dense=False):
        """Fail with the worst of what is wrong."""
        bad, known = [], 0
        for kind, points in (("r", np.append(line(dense), self.extra)), ("c", plane(dense))):
            if kind in self.kinds:
                reference = real_valued(self.reference) if kind == "r" else self.reference
                complaints, n = sweep(self.f, reference, (points[self.where(points)],), most=self.most)
                bad, known = bad + complaints, known + n
        assert known >= 5, "the reference knows no points"
        assert not bad, f"{len(bad)} of {known}:\n" + "\n".join(map(str, bad[:8]))


def real_valued(reference):
    """A reference without value where it is complex."""

    def function(*x):
        y = reference(*x)
        if isinstance(y, mpmath.mpc):
            raise ValueError
        return y

    return function


# -- points ------------------------------------------------------------------------------------------------------------
def decades(step):
    """Real numbers of both signs over 600 decades."""
    sizes = 1.37 * 10.0 ** np.arange(-300, 301, step)
    return np.concatenate([-sizes, sizes])


def near(specials, exponents):
    """Special points, points at these distances around them, and their neighbours among the floats."""
    around = [c + s * 10.0**-e for c in specials for s in (1, -1) for e in exponents]
    return np.array([*specials, *around, *np.nextafter(specials, np.inf), *np.nextafter(specials, -np.inf)])


def line(dense=False, specials=(0.0, 1.0, -1.0)):
    """The real line: decades, a stretch around the origin, and special points."""
    middle = np.linspace(-45, 45, 181 if dense else 11) + 0.0123
    return np.concatenate([decades(5 if dense else 75), middle, near(specials, range(1, 16) if dense else (5, 13))])


def plane(dense=False, specials=(1, -1, 1j, -1j)):
    """The complex plane: rays, their sides of the real axis, and special points."""
    r = 1.37 * 10.0 ** np.arange(-300, 301, 25 if dense else 150)
    r = np.concatenate([r, np.geomspace(0.03, 1000, 20 if dense else 4)])
    angles = np.exp(1j * np.pi * (np.arange(8 if dense else 3) + 0.3) / (4 if dense else 1.5))
    axes = np.array([1, 1j, -1j, complex(1, -0.0), complex(-1, 0.0), complex(-1, -0.0)] if dense else [1, -1j])
    turns = (1, -1, 1j, -1j, (3 - 4j) / 5) if dense else (1j, (3 - 4j) / 5)
    close = [c + t * 10.0**-e for c in specials for e in (range(1, 16, 2) if dense else (4, 12)) for t in turns]
    rays = [complex(a.real * x, a.imag * x) for a in (*angles, *axes) for x in r]
    return np.array([*rays, *close, *specials, 0.0], complex)


# -- the reference -----------------------------------------------------------------------------------------------------
def exact(x):
    """A number of NumPy in mpmath, a signed zero as the side of a branch cut."""
    if not isinstance(x, complex):
        return mpmath.mpf(float(x))
    tiny = mpmath.mpf(10) ** (-3 * mp.dps) * (abs(x) or 1)
    return mpmath.mpc(*(mpmath.mpf(p) if p else tiny * np.copysign(1, p) for p in (x.real, x.imag)))


def quotient(f, at, places):
    """The derivative of `f` in the arguments numbered `places` (one or two) by central differences.

    A step is a small part of the argument or of 1, whichever is less: of what surrounds a branch point at 0, and of the
    period of what oscillates far out.
    """
    h = [(min(abs(x), 1) if abs(x) > NOTHING else 1) * mpmath.mpf(10) ** -(mp.dps_asked // 4) for x in at]

    def moved(*steps):
        x = list(at)
        for i, s in zip(places, steps, strict=True):
            x[i] = x[i] + s * h[i]
        y = f(*x)
        return y * TURN if isinstance(y, mpmath.mpc) else y

    if not places:
        return f(*at)
    i, j = places[0], places[-1]
    if len(places) == 1:
        return (moved(1) - moved(-1)) / (2 * h[i])
    if i == j:
        return (moved(1, 0) - 2 * moved(0, 0) + moved(-1, 0)) / h[i] ** 2
    return (moved(1, 1) - moved(1, -1) - moved(-1, 1) + moved(-1, -1)) / (4 * h[i] * h[j])


def reference(f, point, places, most=350):
    """The derivative (the value, for no places) in digits of which two numbers agree, None where there is none."""
    seen = []
    spread = sum(abs(np.log10(abs(x))) for x in point if x)
    for digits in [d for d in DIGITS if d <= most]:
        with mp.workdps(int(digits + (1 + len(places)) * spread + 5)):
            try:
                mp.dps_asked = digits
                y = quotient(f, [exact(x) for x in point], places)
                y = y / TURN if places and isinstance(y, mpmath.mpc) else y
            except FAILURES:
                return None
        if not mpmath.isfinite(y):
            return None
        if seen and y and abs(y - seen[-1]) <= AGREED * abs(y) + NOTHING:
            return y
        seen.append(y)
    certain = digits * (1 - len(places) / 4) > 420  # then what is lost in the last digit underflows
    return None if any(seen) or not certain else mpmath.mpf(0)


# -- what qad says -----------------------------------------------------------------------------------------------------
def slopes(f, args, holomorphic):
    """The first derivative of elementwise `f` in every argument, by a function that may be differentiated again."""
    turn = np.conj if holomorphic else lambda x: x

    def gradient(*args):
        y, pull = qad.vjp(f, *args)
        return tuple([turn(c) for c in pull(np.ones_like(qad.extend.value_of(y)))])

    return gradient


def _along(f, args, i):
    """`f` as a function of argument `i` alone."""
    return lambda x: f(*args[:i], x, *args[i + 1 :])


def _slope(f, one):
    return lambda x: qad.jvp(f, (x,), (one,))[1]


def derivatives(f, args):
    """Pairs (places, mode) -> derivatives: both modes, both orders.  An argument that stays is a constant."""
    gradient, found = slopes(f, args, np.iscomplexobj(args[0])), {}
    ones = [np.ones_like(x) for x in args]
    first = gradient(*args)
    for i, x in enumerate(args):
        one = ones[i]
        found[(i,), "reverse"] = first[i]
        found[(i,), "forward"] = qad.jvp(_along(f, args, i), (x,), (one,))[1]
        slope = _slope(_along(f, args, i), one)
        found[(i, i), "forward over forward"] = qad.jvp(slope, (x,), (one,))[1]
        for j, moved in enumerate(qad.jvp(_along(gradient, args, i), (x,), (one,))[1]):
            found[tuple(sorted((i, j))), f"forward over reverse {i} {j}"] = moved
        for j in range(len(args)):
            back = qad.vjp(_along(lambda *a, j=j: gradient(*a)[j], args, i), x)[1](np.ones_like(first[j]))[0]
            found[tuple(sorted((i, j))), f"reverse over reverse {i} {j}"] = (
                np.conj(back) if np.iscomplexobj(x) else back
            )
    return found


def error(got, true, lenient=False):
    """The relative error of a number of NumPy: 0 where both overflow or underflow.

    Infinite complex numbers have NaN in them, as NumPy multiplies: that they are not finite is all one can ask.
    `lenient` asks no more of real ones.
    """
    info, lenient = np.finfo(got.dtype), lenient or got.dtype.kind == "c"
    largest, smallest = mpmath.mpf(float(info.max)), 64 * mpmath.mpf(float(info.tiny))
    if not np.isfinite(got):
        overflows = abs(true) >= largest / 8
        return 0.0 if overflows and (lenient or got == np.inf * float(mpmath.sign(true))) else np.inf
    wrong = abs(mpmath.mpmathify(got.item()) - true)
    return 0.0 if wrong <= smallest else float(wrong / max(abs(true), smallest))


def sweep(f, ref, points, tolerance=1e-10, most=900, valued=VALUED, lenient=False):
    """Complaints about the derivatives of `f` at `points`, a tuple of arrays of equal length, and how many were known.

    Points are left out where the value that NumPy or SciPy gives is itself wrong: no derivative is better than that.
    """
    with np.errstate(all="ignore"):
        values, found = f(*points), derivatives(f, points)
    wanted = [p for k in (1, 2) for p in combinations_with_replacement(range(len(points)), k)]
    complaints, known = [], 0
    for k in range(len(points[0])):
        point = [x[k].item() for x in points]
        true = reference(ref, point, (), most)
        if true is None or not error(values[k], true) <= valued:
            continue
        for places in wanted:
            true = reference(ref, point, places, most)
            if true is None:
                continue
            known += 1
            for (where, mode), numbers in found.items():
                if where == places and not (e := error(numbers[k], true, lenient)) <= tolerance:
                    complaints.append((point, places, mode, numbers[k].item(), mpmath.nstr(true, 8), e))
    return complaints, known
