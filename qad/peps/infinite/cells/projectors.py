"""Projectors on the cuts between enlarged corners, all cuts in one stack.

With a and b what stands on both sides of a cut, and ``M = a b = U S V^H`` truncated,

    A = b V S^(-1/2) g,        B = a^T conj(U S^(-1/2) g),        A B^T ~ 1.

g is unitary, so that the metric of the truncation stays as it is: the one that is nearest to a reference.
Of symmetric tensors the cut is one in each sector, and all of these stand in the stack, filled up with zeros; how many
states a cut keeps is decided for all of its sectors together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.linalg.support.drivers import singular_triples
from qad.peps.infinite.cells.sectors import sectors_of
from qad.peps.infinite.polar import polar
from qad.peps.infinite.stacks import join, permuted
from qad.symmetric.stacks import SymStack

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.peps.infinite.cells.lattice import Wiring
    from qad.peps.infinite.stacks import Stack
    from qad.typing import Array

UNUSED = 2.0  # value of states that fill up a shorter leg; M has norm 1


class Frame(NamedTuple):
    """What the next cuts are compared with: projectors, and the spaces from which they are found."""

    a: np.ndarray  # (n, chi D^2, chi)
    v: np.ndarray


class Spaces(NamedTuple):
    """The singular value decomposition of all cuts at a fixed point, and the bases g: constants of derivatives."""

    u: np.ndarray
    s: np.ndarray
    v: np.ndarray
    rest_u: np.ndarray
    others: np.ndarray  # the discarded values
    rest_v: np.ndarray
    turn: np.ndarray
    scale: np.ndarray  # that M is multiplied by
    used: np.ndarray  # which states are
    groups: np.ndarray  # the cut of each


class Cuts(NamedTuple):
    """What stands on both sides of each cut, as matrices of all sectors, and to which cut each belongs."""

    a: Array  # (m, rows, cut)
    b: Array  # (m, cut, columns)
    groups: np.ndarray
    projectors: Callable[[Array, Array, np.ndarray], tuple[Stack, Stack]]  # from matrices, and how many states are used


def sides(corners: Stack, w: Wiring, method: str) -> Cuts:
    """What stands before and behind each cut, the legs of the cut between them."""
    a, b = corners, permuted(corners, w.across)
    if method == "full":
        a = join(permuted(corners, w.under), a, ((2, 3), (0, 1)))
        b = join(b, permuted(corners, w.over), ((2, 3), (0, 1)))
    if type(a) is SymStack:
        return Cuts(*sectors_of(a, b))
    n, chi, p = a.shape[0], *a.shape[3:]

    def projectors(first: Array, second: Array, used: np.ndarray) -> tuple[Array, Array]:
        return first.reshape(n, chi, p, -1), second.mT.reshape(n, -1, chi, p)

    return Cuts(a.reshape(n, -1, chi * p), b.reshape(n, chi * p, -1), np.arange(n), projectors)


def truncated(
    cuts: Cuts, cut: Callable[[np.ndarray, np.ndarray], np.ndarray], frame: Frame | None
) -> tuple[Stack, Stack, Frame, Spaces]:
    """A and B of all cuts, near the frame.

    `cut` says how many of the descending values of each matrix are kept, given to which cut it belongs.
    """
    a, b, groups, projectors = cuts
    m = a @ b
    scale = 1 / np.sqrt(np.bincount(groups, np.linalg.norm(m, axis=(1, 2)) ** 2))[groups, None, None]
    u, s, vh = singular_triples(m * scale, full=True)
    v = vh.conj().mT
    sizes = cut(s, groups)
    most, least = sizes.max(), sizes.min()
    used = np.arange(s.shape[1]) < sizes[:, None]
    keep, rest = used[:, None, :most], ~used[:, None, least:]
    values = np.where(used, s, UNUSED)[:, :most]
    u_kept, v_kept = u[:, :, :most] * keep, v[:, :, :most] * keep
    root = np.sqrt(values)[:, None]
    first, second = b @ (v_kept / root), a.mT @ (u_kept / root).conj()
    turn = np.broadcast_to(np.eye(most, dtype=first.dtype), (len(s), most, most))
    if frame is not None and frame.a.shape == first.shape and (frame.a.any(1) == keep[:, 0]).all():
        turn = nearest(second, frame.a, keep)
    first, second = first @ turn, second @ turn.conj()
    others = np.where(used, 0, s)[:, least:]
    spaces = Spaces(
        u_kept, values, v_kept, u[:, :, least:] * rest, others, v[:, :, least:] * rest, turn, scale, keep[:, 0], groups
    )
    return *projectors(first, second, sizes), Frame(first, v_kept), spaces


def nearest(second: np.ndarray, reference: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The unitary that turns A nearest to the reference; the unit matrix among states that are not used."""
    return polar(second.mT @ reference + unused(used[:, 0]))


def unused(used: np.ndarray) -> np.ndarray:
    """A diagonal matrix of ones at states that are not used."""
    return ~used[:, :, None] * np.eye(used.shape[1])


def followed(cuts: Cuts, frame: Frame, used: np.ndarray) -> tuple[Stack, Stack, Frame]:
    """A and B of all cuts, near the frame, from two steps of subspace iteration."""
    a, b, _, projectors = cuts
    m, v = a @ b, frame.v
    keep = used[:, None]
    back = m.conj().mT
    for _ in range(2):
        u = np.linalg.qr(m @ v)[0] * keep
        v, r = np.linalg.qr(back @ u)
        v = v * keep
    left, s, right = singular_triples(r.conj().mT, full=True)  # unused states have the value zero, and come last
    root = np.sqrt(np.where(used, s, 1.0))[:, None]
    first, second = b @ (v @ right.conj().mT * keep / root), a.mT @ (u @ left * keep / root).conj()
    turn = nearest(second, frame.a, keep)
    first = first @ turn
    return *projectors(first, second @ turn.conj(), used.sum(1)), Frame(first, v)


def smooth(cuts: Cuts, at: Spaces, order: int) -> tuple[Stack, Stack]:
    """A and B of all cuts as smooth functions, right to some order around the decomposition `at`.

    The values are those of the polar factor of ``U^H M V``: nothing is divided by differences of kept values.
    """
    a, b, _, projectors = cuts
    m = (a @ b) * at.scale
    u, v = spaces_of(m, at, order)
    left, right = (at.u, at.v) if order == 1 else (u, v)  # what the others add to values is of second order
    values = left.conj().mT @ (m @ right) + UNUSED * unused(at.used)
    root = root_of(values @ values.conj().mT, np.sqrt(at.s), order)
    first = b @ (v @ np.linalg.solve(values, root @ at.turn))
    return projectors(first, a.mT @ (u @ np.linalg.solve(root, at.turn)).conj(), at.used.sum(1))


def root_of(squares: Array, near: np.ndarray, order: int) -> Array:
    """The fourth root of matrices that are near to ``diag(near^4)``, right to some order.

    Newton's method with the derivative there: ``d(R^4) = sum_(i+j=3) r^i dR r^j``.
    """
    x, y = near[:, :, None], near[:, None, :]
    eye = np.eye(near.shape[1])
    change = (squares - x**4 * eye) / ((x + y) * (x * x + y * y))
    root = x * eye + change
    for _ in range(order - 1):
        square = root @ root
        root = root + (squares - square @ square) / ((x + y) * (x * x + y * y))
    return root


def spaces_of(m: Array, at: Spaces, order: int) -> tuple[Array, Array]:
    """Bases of the kept spaces of M, ``U + U_rest X`` and ``V + V_rest Y``, orthonormal to third order.

    Newton's method with the derivative at the decomposition: each step is right to one order more.

        X S - S_rest Y = U_rest^H M V - X U^H M V,      Y S - S_rest^H X = V_rest^H M^H U - Y V^H M^H U
    """
    x = y = None
    u, v, s, others = at.u, at.v, at.s[:, None], at.others[:, :, None]
    back, straight, crossed = m.conj().mT, s / (s**2 - others**2), others / (s**2 - others**2)
    for _ in range(order):
        mv, mu = m @ v, back @ u
        e, f = at.rest_u.conj().mT @ mv, at.rest_v.conj().mT @ mu
        if x is not None:
            e, f = e - x @ (at.u.conj().mT @ mv), f - y @ (at.v.conj().mT @ mu)
        dx, dy = e * straight + f * crossed, f * straight + e * crossed
        x, y = (dx, dy) if x is None else (x + dx, y + dy)
        u, v = at.u + at.rest_u @ x, at.v + at.rest_v @ y
    if order > 1:
        one = 3 * unused(~at.used)
        u, v = (z @ (one - z.conj().mT @ z) / 2 for z in (u, v))
    return u, v
