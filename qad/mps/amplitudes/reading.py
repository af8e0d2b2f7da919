"""What a state says of configurations: their amplitudes, and samples of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.amplitudes.amplitudes import scaled_amplitudes
from qad.mps.amplitudes.sectors import drawn
from qad.mps.chain.chain import site_count
from qad.mps.open.pairs import DENSITY
from qad.symmetric.generic import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.typing import Array, ArrayLike, Seed


class Readings:
    """The part of `qad.mps.MPS` that takes configurations, or gives them."""

    __slots__ = ()

    def amplitudes(self, configurations: ArrayLike) -> Array:
        """``psi[s1, ..., sn]`` of many configurations at once.

        Parameters
        ----------
        configurations : int array (B, n)
            A basis state for every site, numbered as the site does.

        Returns
        -------
        array (B,)
            Zero outside of the sector of a state with charges.

        Raises
        ------
        ShapeError
            If the shape is another.
        ArgumentError
            If a basis state does not exist, or they are no whole numbers.

        Notes
        -----
        Products are made once for each distinct beginning and each distinct word of a few sites
        (`qad.mps.amplitudes.prefix_trees`); ``O(B n bond**2)`` for an open chain, ``O(B n bond**3)`` for a ring, and
        in both less by the number of sites in a word.  With charges they are products of blocks.

        Examples
        --------
        >>> import numpy as np, qad
        >>> psi = qad.mps.MPS.product([0, 1, 1])
        >>> psi.amplitudes(np.array([[0, 1, 1], [0, 0, 1]])).real
        array([1., 0.])
        """
        values, logs = self._scaled(configurations)
        return values * np.exp(logs).astype(values.real.dtype)

    def log_amplitudes(self, configurations: ArrayLike) -> Any:
        """``log psi[s1, ..., sn]``, complex, of many configurations at once; no chain is too long.

        Parameters
        ----------
        configurations : int array (B, n)

        Returns
        -------
        complex array (B,)
            The imaginary part is the phase; ``-inf`` where an amplitude vanishes.

        Raises
        ------
        ShapeError, ArgumentError
            As in `amplitudes`.

        Examples
        --------
        >>> import numpy as np, qad
        >>> psi = qad.mps.MPS.product([np.array([1e-3, 1.0])] * 500)
        >>> float(psi.log_amplitudes(np.zeros((1, 500), int))[0].real.round(6))
        -3453.877639
        """
        values, logs = self._scaled(configurations)
        with np.errstate(divide="ignore"):
            return np.log(values + 0j) + logs.astype(values.real.dtype)

    def sample(self, shots: int, seed: Seed = 0) -> NDArray[np.int64]:
        """Configurations drawn from ``|psi|**2``, exactly and independently.

        Parameters
        ----------
        shots : int
        seed : int or numpy.random.Generator

        Returns
        -------
        int array (shots, n)

        Raises
        ------
        ArgumentError
            If the state is zero, or a density matrix.

        Notes
        -----
        ``O(shots n phys bond**2)``; a ring is drawn from as the open chain that it is, of squared bonds.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.product([0, 1, 0]).sample(2)
        array([[0, 1, 0],
               [0, 1, 0]])
        """
        if any(kind.name.startswith(DENSITY) for kind in self.sites or ()):
            raise ArgumentError(
                "probabilities of a density matrix are not the squares of its entries: "
                "qad.mps.trajectories(...).sample() draws configurations"
            )
        shots, psi = site_count(shots, 1, "shots"), in_own_basis(self).opened()
        return drawn([plain(t) for t in psi], psi.conserved, shots, np.random.default_rng(seed))

    def _scaled(self, configurations: ArrayLike) -> tuple[Array, Array]:
        """Amplitudes divided by ``exp(logs)``, and the constant logs."""
        psi = in_own_basis(self)
        return scaled_amplitudes(psi.tensors, psi.conserved, configurations)


def in_own_basis(psi: Any) -> Any:
    """The state itself, or without its symmetry where other states than those of the basis are counted."""
    return psi if psi.conserved is None or psi.conserved.states[0] is None else psi.without_symmetry()
