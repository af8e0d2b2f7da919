"""`check_grads`: derivatives of any function against differences, in both modes, to any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, CheckError
from qad.core.foreign import as_array, like
from qad.core.tape.tensor import value_of
from qad.core.transforms.grad import vjp
from qad.core.transforms.jvp import jvp
from qad.core.transforms.leaves import number
from qad.core.trees import flatten, leaf_path, unflatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Function, Tree

_STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # five-point first derivative
_STEPS = (1e-3, 1e-4)  # the second where the first disagrees: a truncation error shrinks, a wrong rule stays
_SINGLE = {"float32": np.float64, "complex64": np.complex128}


def check_grads(
    f: Function,
    args: Sequence[Tree],
    order: int = 2,
    modes: Sequence[str] = ("forward", "reverse"),
    rtol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Check the derivatives of `f` at a point; silence is success.

    Each array among `args` is moved along random directions v and, if it is complex, iv.  Checked are: the
    jvp against five-point differences; the vjp, for cotangents w and iw, against the same differences; the
    adjoint identity ``Re <w, J v> = Re <J* w, v>`` to 1e-11; shapes and dtypes of gradients; and all
    of that again for the gradient as a function, up to `order`.

    Parameters
    ----------
    f : callable
        Returns an array or a pytree of arrays.
    args : tuple of pytrees
        Positional arguments, of float or complex arrays.
    order : int
        Highest order of derivatives.
    modes : tuple of str
        "forward", "reverse" or both.
    rtol : float
        Tolerance of the comparison with differences, relative to the size of what is compared. For single
        precision the derivatives are checked in double, and then compared to 1e-3.
    seed : int
        Of the random directions.

    Raises
    ------
    ArgumentError
        If `args` is no tuple.
    CheckError
        With a line for each check that failed.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.check_grads(lambda z: z * np.exp(z), (np.array([0.3 + 0.1j]),))
    """
    if not isinstance(args, (tuple, list)):
        raise ArgumentError("args is a tuple of the arguments of f: write qad.check_grads(f, (x,))")
    args = tuple(args)
    leaves, spec = flatten(args)
    wide = [_double(x) for x in leaves]
    check = _Check(np.random.default_rng([seed, 0x51AD]), tuple(modes), rtol)  # no seed that a test would choose
    check.run(f, unflatten(spec, wide), order, "")
    if not check.failures and any(x is not y for x, y in zip(leaves, wide, strict=True)):
        check.single(f, args, unflatten(spec, wide))
    if check.failures:
        name = getattr(f, "__name__", repr(f))
        raise CheckError(f"derivatives of {name} failed {len(check.failures)} checks:\n" + "\n".join(check.failures))


def _double(x):
    """An array of single precision in double, anything else as it is."""
    dtype = str(getattr(x, "dtype", ""))
    return x.astype(_SINGLE[dtype]) if dtype in _SINGLE else x


def _inner(a, b):
    """``Re sum conj(a) b`` over lists of arrays."""
    return sum(float(np.real(np.vdot(x, y))) for x, y in zip(a, b, strict=True))


def _norm(a):
    return np.sqrt(_inner(a, a))


@dataclass
class _Check:
    """One run of `check_grads`: its random numbers, tolerances and the failures so far."""

    rng: np.random.Generator
    modes: tuple
    rtol: float
    failures: list = field(default_factory=list)

    def random_like(self, x):
        """Normal random numbers of the shape and dtype of `x`."""
        r = self.rng.standard_normal(np.shape(x))
        if as_array(x).dtype.kind == "c":
            r = r + 1j * self.rng.standard_normal(np.shape(x))
        return like(x).asarray(np.asarray(r).astype(as_array(x).dtype))

    def run(self, f, args, order, where):
        """Check `f` and, below `order`, its gradient."""
        where = where or "order 1"
        leaves, spec = flatten(args)
        leaves = [as_array(number(x)) for x in leaves]
        names = [leaf_path(args, i) for i in range(len(leaves))]

        def flat(*xs):
            return f(*unflatten(spec, list(xs)))

        out, pullback = vjp(flat, *leaves)
        values, out_spec = flatten(out)
        values = [as_array(v) for v in values]
        cotangents = [self.random_like(v) for v in values]
        seeds = [(cotangents, "w")]
        if any(v.dtype.kind == "c" for v in values):
            seeds.append(([1j * w if w.dtype.kind == "c" else w for w in cotangents], "iw"))
        reverse = seeds if "reverse" in self.modes else []
        pulled = [(w, name, pullback(unflatten(out_spec, list(w)))) for w, name in reverse]
        for _, _, gradients in pulled[:1]:
            self.kinds(gradients, leaves, names, where)
        for i, x in enumerate(leaves):
            v = self.random_like(x)
            for direction, label in ((v, "v"), (1j * v, "iv"))[: 2 if x.dtype.kind == "c" else 1]:
                self.direction(flat, leaves, i, direction, pulled, f"{where}, argument {names[i]} along {label}")
        if order > 1 and not self.failures:
            w = unflatten(out_spec, cotangents)
            self.run(lambda *a: vjp(f, *a)[1](w), args, order - 1, f"order {int(where.split()[1]) + 1}")

    def kinds(self, gradients, leaves, names, where):
        """Gradients have the shape and dtype of their arguments."""
        for g, x, name in zip(gradients, leaves, names, strict=True):
            if np.shape(g) != x.shape or as_array(g).dtype != x.dtype:
                self.failures.append(
                    f"  {where}, argument {name}: the gradient is {as_array(g).dtype}{np.shape(g)}, "
                    f"the argument {x.dtype}{x.shape}"
                )

    def direction(self, flat, leaves, i, v, pulled, where):
        """Compare both modes with differences of leaf `i` along `v`, and with each other."""
        moved = None
        if "forward" in self.modes:
            tangents = tuple(v if k == i else np.zeros_like(x) for k, x in enumerate(leaves))
            moved = [as_array(t) for t in flatten(jvp(flat, tuple(leaves), tangents)[1])[0]]
        for step in _STEPS:
            expected = _difference(flat, leaves, i, v, step)
            complaints = self.complaints(moved, pulled, i, v, expected, where)
            if not complaints:
                break
        self.failures += complaints
        for w, name, gradients in pulled if moved is not None else ():
            allowed = 1e-11 * (_norm(w) * _norm(moved) + (_norm([gradients[i]]) + 1e-3) * _norm([v]))
            what = f"{where}: adjoint identity, cotangent {name}"
            self.failures += _compared(what, _inner([gradients[i]], [v]), _inner(w, moved), allowed)

    def complaints(self, moved, pulled, i, v, expected, where):
        """What is wrong with the tangent and the gradients, given the difference `expected`."""
        found, size, little = [], _norm(expected), 1e-3 * _norm([v]) + 1e-300
        if moved is not None:
            error = _norm([a - b for a, b in zip(moved, expected, strict=True)])
            if not error <= self.rtol * (size + little):
                found.append(f"  {where}: forward mode against differences: they differ by {error:.3g}, of {size:.3g}")
        for w, name, gradients in pulled:
            what = f"{where}: reverse mode, cotangent {name}, against differences"
            allowed = self.rtol * (_norm(w) * size + little)
            found += _compared(what, _inner([gradients[i]], [v]), _inner(w, expected), allowed)
        return found

    def single(self, f, args, doubled):
        """Gradients in single precision agree with those in double."""
        (out, pull), (wide_out, wide_pull) = vjp(f, *args), vjp(f, *doubled)
        values, spec = flatten(out)
        wide_values = flatten(wide_out)[0]
        ws = [self.random_like(as_array(v)) for v in wide_values]
        narrow = [as_array(w).astype(as_array(v).dtype) for w, v in zip(ws, values, strict=True)]
        got = flatten(pull(unflatten(spec, narrow)))[0]
        expected = flatten(wide_pull(unflatten(spec, ws)))[0]
        self.kinds(got, map(as_array, flatten(args)[0]), range(len(got)), "single precision")
        for i, (g, e) in enumerate(zip(got, expected, strict=True)):
            error, size = _norm([g - e]), _norm([e])
            if not error <= 1e-3 * (1e-3 + size):
                self.failures.append(f"  single precision, array {i}: gradients differ by {error:.3g}, of {size:.3g}")


def _compared(what, found, expected, allowed):
    """What is wrong with a number that may be off by so much: one line, or none."""
    if abs(found - expected) <= allowed:
        return []
    ratio = found / expected if expected else float("nan")
    return [f"  {what}: the rule gives {found:.12g}, expected {expected:.12g} (ratio {ratio:.6g})"]


def _difference(flat, leaves, i, v, step):
    """Five-point difference of every output along `v` in leaf `i`."""
    samples = []
    for k, weight in _STENCIL:
        moved = [*leaves[:i], leaves[i] + k * step * v, *leaves[i + 1 :]]
        samples.append([weight / step * as_array(value_of(x)) for x in flatten(flat(*moved))[0]])
    return [sum(terms) for terms in zip(*samples, strict=True)]
