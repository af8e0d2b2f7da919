"""The time-dependent variational principle: sweeps of local exponentials, for any operator.

Sites (or pairs of them) are evolved forward by half a step, and what two neighbours share backward, from left to
right and back: second order in the step.  J. Haegeman et al., PRB 94, 165116 (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.linalg.krylov.lanczos import exponential
from qad.mps.evolve.cut import orthonormal
from qad.mps.kernels.environments import past_left, past_right
from qad.symmetric.generic import join, laid_out, lq, numbers, qr, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.evolve.truncation import Truncation

MOST_PRODUCTS = 24
TIGHTEST, LOOSEST = 1e-14, 1e-10  # errors of an exponential


class Tdvp:
    """A chain, its environments, and steps ``exp(factor * H)`` of it.

    With one site at a time bonds and their sectors stay as they are, norm and energy are conserved.  With two bonds
    grow as far as the truncation lets them, and in real time sectors open by themselves.

    Parameters
    ----------
    kernel
        What is known of an operator (`qad.mps.kernels.operators.kernel_for`).
    tensors : list of arrays or SymTensors
        An open chain with its centre at site 0; replaced in place.
    factor : number
        ``-1j * dt``, or ``-dt`` in imaginary time.
    tol : float
        Error that an exponential may have.
    size : int
        Of a centre that evolves: 1 or 2 sites.
    H : optional
        The site tensors of the operator where they are recorded; by default those of the kernel.
    hermitian : bool
        Whether the operator is.
    """

    def __init__(
        self, kernel: Any, tensors: list[Any], factor: complex, tol: float, size: int, H: Any = None,
        hermitian: bool = True,
    ):  # fmt: skip
        self.kernel: Any = kernel
        self.H: Sequence[Any] = kernel.passed if H is None else H
        self.tensors: list[Any] = tensors
        self.hermitian: bool = hermitian
        self.factor: complex = factor / 2  # every exponential goes half a step
        self.tol: float = min(max(tol, TIGHTEST), LOOSEST)
        self.gained: float = 0.0  # logarithm of what the norm would have gained so far, were it not kept as it is
        n, (begin, end) = len(tensors), kernel.edges(tensors)
        self.size: int = min(size, n)
        self.left: list[Any] = [begin] * n  # environments of the sites before each one
        self.right: list[Any] = [end] * n  # and of those behind it
        for site in reversed(range(1, n)):
            self.passed(site, False)

    def passed(self, site: int, to_right: bool) -> None:
        """The environment past a site that has become an isometry."""
        if to_right:
            self.left[site + 1] = past_left(self.left[site], self.tensors[site], operator=self.H[site])
        else:
            self.right[site - 1] = past_right(self.right[site], self.tensors[site], operator=self.H[site])

    def evolved(self, x: Any, first: int, size: int, sign: int = 1) -> Any:
        """A centre of so many sites from `first` on, none for a bond, after half a step; of the norm of x."""
        apply, x = self.kernel.effective(first, size, self.left[first], self.right[first + size - 1], x)
        factor, hermitian = sign * self.factor, self.hermitian
        y, gained = exponential(apply, numbers(x), factor, self.tol, MOST_PRODUCTS, hermitian=hermitian)
        self.gained += gained
        return with_numbers(x, y.astype(x.dtype, copy=False))

    def step(self, truncation: Truncation) -> None:
        """One step, to the right and back; of single sites nothing is truncated."""
        last = len(self.tensors) - self.size
        way = [(site, True) for site in range(last + 1)]
        for site, to_right in way + [(site, False) for site, _ in reversed(way)]:
            at_end = site == (last if to_right else 0)
            if self.size == 2:
                self.evolve_pair(site, truncation, to_right)
                if not at_end:
                    self.evolve_site(site + to_right, -1)
            else:
                self.evolve_site(site)
                if not at_end:
                    self.pass_bond(site, to_right)

    def evolve_site(self, site: int, sign: int = 1) -> None:
        """Only the centre."""
        self.tensors[site] = laid_out(self.evolved(self.tensors[site], site, 1, sign), 2)

    def evolve_pair(self, site: int, truncation: Truncation, to_right: bool) -> None:
        """A pair forward in time; the centre moves on."""
        pair, before = join(self.tensors[site], self.tensors[site + 1]), self.tensors[site + to_right]
        self.tensors[site : site + 2] = truncation.split(self.evolved(pair, site, 2), to_right, before)
        self.passed(site if to_right else site + 1, to_right)

    def pass_bond(self, site: int, to_right: bool) -> None:
        """Leave an isometry behind; the bond matrix goes back in time before it joins the next site."""
        if to_right:
            self.tensors[site], bond = qr(self.tensors[site], pair=orthonormal)
            self.passed(site, True)
            bond = self.evolved(bond, site + 1, 0, -1)
            self.tensors[site + 1] = laid_out(join(bond, self.tensors[site + 1]), 2)
        else:
            bond, self.tensors[site] = lq(self.tensors[site], orthonormal)
            self.passed(site, False)
            self.tensors[site - 1] = join(self.tensors[site - 1], self.evolved(bond, site, 0, -1))
