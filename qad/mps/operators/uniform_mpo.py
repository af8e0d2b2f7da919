"""Matrix product operators of infinite chains: sums of terms that repeat from cell to cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, like, value_of
from qad.mps.energy import hamiltonian
from qad.mps.operators.automaton import has_form
from qad.mps.operators.mpo import OperatorChain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from qad.mps.charges.quantities import Kinds
    from qad.typing import ArrayLike


class UniformMPO(OperatorChain):
    """A sum of local terms on an infinite chain, as the cell of an operator that repeats without end.

    Parameters
    ----------
    tensors : sequence of arrays
        The cell: site tensors with legs ``(left, right, out, in)``.  Channel 0 of every bond has placed nothing yet and
        the last one a whole term: both lead on by the identity, nothing leads into the one and nothing out of the
        other.  `UniformOpSum` writes such tensors.

    Raises
    ------
    ShapeError
        If a tensor has not four legs, a bond does not fit, or a physical dimension differs between out and in.
    ArgumentError
        If the first and last channels are not as above, or couplings do not decay with distance: the channels in
        between must lead to each other by operators whose norms multiply to less than 1.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x, z, one = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)
    >>> w = np.zeros((3, 3, 2, 2))
    >>> w[0, 0], w[0, 1], w[1, 2], w[0, 2], w[2, 2] = one, z, -z, -1.5 * x, one
    >>> qad.mps.uniform.UniformMPO([w])  # the Ising chain in a field
    UniformMPO(1 sites, repeated, bonds 3-3, float64)
    """

    def __init__(self, tensors: Iterable[ArrayLike], kind: Kinds = None):
        super().__init__(tensors, None, kind)
        check_triangular(self)

    @property
    def phys(self) -> tuple[int, ...]:
        """Physical dimensions of the sites of the cell."""
        return tuple(w.shape[2] for w in self)

    def repeated(self, cell: int) -> UniformMPO:
        """The same operator in a larger cell, a multiple of its own.

        Parameters
        ----------
        cell : int
            Number of sites.

        Raises
        ------
        ArgumentError
            If it is no multiple.
        """
        if cell % len(self):
            raise ArgumentError(
                f"a cell of {cell} sites does not repeat an operator's cell of {len(self)}: give a multiple of it"
            )
        times = cell // len(self)
        return UniformMPO(self.tensors * times, self.sites and self.sites * times)

    def __add__(self, other: object) -> NoReturn:
        raise ArgumentError("operators of infinite chains are added and multiplied as sums: UniformOpSum, then mpo()")

    def _times(self, factor: object) -> NoReturn:
        self + factor

    def __repr__(self) -> str:
        return super().__repr__().replace("periodic", "repeated").replace("open", "repeated")


def check_triangular(H: UniformMPO) -> None:
    """Raise unless the first and the last channel of every bond are what they should be, and the others decay."""
    going = np.eye(H.bonds[0] - 2) if H.bonds[0] > 1 else np.zeros((0, 0))
    for site, tensor in enumerate(map(value_of, H)):
        if tensor.shape[2] != tensor.shape[3] or min(tensor.shape[:2]) < 2:
            raise ShapeError(
                f"site {site} of the UniformMPO has shape {tensor.shape}: its legs (left, right, out, in) need bonds "
                "of 2 or more and equal physical dimensions"
            )
        if not has_form(tensor):
            raise ArgumentError(
                f"site {site} of the UniformMPO is not in triangular form: channel 0 and the last one lead to "
                "themselves by the identity, nothing leads into the first or out of the last; UniformOpSum writes it so"
            )
        if not np.isfinite(tensor).all():
            raise ArgumentError(f"site {site} of the UniformMPO holds inf or nan")
        going = going @ np.linalg.norm(tensor[1:-1, 1:-1], 2, axis=(2, 3))
    if going.size and np.abs(np.linalg.eigvals(going)).max() >= 1:
        raise ArgumentError("couplings must decay with distance, for the energy per site to be finite: rates below 1")


def of_neighbours(h: np.ndarray) -> UniformMPO:
    """The sum of a two-site term, legs (out, out, in, in), over all bonds.

    With what acts on one site alone apart, the operator Schmidt decomposition of the rest gives the fewest channels.
    """
    d = h.shape[0]
    pair = h.transpose(0, 2, 1, 3).reshape(d * d, d * d)  # operators on the left site, on the right one
    one = np.eye(d).reshape(-1)
    right = one @ pair / d
    left = pair @ one / d - one * (right @ one) / d
    pair = pair - np.outer(left, one) - np.outer(one, right)
    if type(h) is Tensor:  # a change of it may be any term
        first, second = like(h).eye(d * d), pair
    else:
        u, s, vh = np.linalg.svd(pair)
        rank = np.count_nonzero(s > 1e-15 * d * np.linalg.norm(h))
        root = np.sqrt(s[:rank])
        first, second = (u[:, :rank] * root).T, root[:, None] * vh[:rank]
    one, size = like(h).eye(d).reshape(1, d * d), len(first) + 1
    begins = np.concatenate([one, first, (left + right)[None]])
    ends = np.concatenate([like(h).zeros((size, size, d * d)), np.concatenate([second, one])[:, None]], axis=1)
    return UniformMPO([np.concatenate([begins[None], ends]).reshape(size + 1, size + 1, d, d)])


def check_hermitian(H: UniformMPO) -> None:
    """Raise unless the sum is its own adjoint."""
    hamiltonian.check_hermitian(window(H))


def size_of(H: UniformMPO) -> float:
    """The size of the terms: the standard deviation of the energy at infinite temperature, per root of a site.

    Constants do not count.
    """
    return hamiltonian.strength(window(H))


def window(H: UniformMPO) -> list[np.ndarray]:
    """The open operator of more sites than there are channels, and so of every term that does not repeat."""
    first, *others, last = [value_of(w) for w in H] * (H.bond + 1)
    return [first[:1], *others, last[:, -1:]]
