"""What a state of definite charge says of configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import value_of
from qad.mps.chain import site_count
from qad.mps.conserving.amplitudes import scaled_amplitudes
from qad.mps.conserving.sampling import drawn
from qad.symmetric.tensor import bare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.mps.conserving.quantities import Quantities
    from qad.typing import Array, ArrayLike, Seed


class Readings:
    """The part of `qad.mps.SymmetricMPS` that takes configurations, or gives them."""

    __slots__ = ()
    tensors: tuple[Any, ...]
    conserved: Quantities

    def amplitudes(self, configurations: ArrayLike) -> Array:
        """Amplitudes of many configurations, as `qad.mps.MPS.amplitudes`, from products of blocks.

        Parameters
        ----------
        configurations : int array (B, n)
            A basis state for every site, numbered as the site does.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.product([0, 1, 1], conserve="Sz").amplitudes([[0, 1, 1], [0, 0, 1]]).real
        array([1., 0.])
        """
        values, logs = scaled_amplitudes(self.tensors, self.conserved, configurations)
        return values * np.exp(logs).astype(values.real.dtype)

    def log_amplitudes(self, configurations: ArrayLike) -> Any:
        """Their complex logarithms, as `qad.mps.MPS.log_amplitudes`; ``-inf`` outside of the sector.

        Examples
        --------
        >>> import numpy as np, qad
        >>> neel = qad.mps.MPS.product([0, 1] * 300, conserve="Sz")
        >>> neel.log_amplitudes(np.array([[0, 1] * 300]))
        array([0.+0.j])
        """
        values, logs = scaled_amplitudes(self.tensors, self.conserved, configurations)
        with np.errstate(divide="ignore"):
            return np.log(values + 0j) + logs.astype(values.real.dtype)

    def sample(self, shots: int, seed: Seed = 0) -> NDArray[np.int64]:
        """Configurations drawn from ``|psi|**2``, exactly and independently; each has the charge of the state.

        Parameters
        ----------
        shots : int
        seed : int or numpy.random.Generator

        Returns
        -------
        int array (shots, n)
            Basis states, numbered as the sites do.

        Raises
        ------
        ArgumentError
            If the state is zero.

        Notes
        -----
        Those of `qad.mps.MPS.sample` of the ordinary state, from products of blocks.

        Examples
        --------
        >>> import qad
        >>> words = qad.mps.MPS.random(8, 8, conserve="Sz", sector=2).sample(50)
        >>> set((1 - 2 * words).sum(axis=1).tolist())
        {2}
        """
        shots = site_count(shots, 1, "shots")
        tensors = [bare(t.layout, value_of(t.data)) for t in self.tensors]
        return drawn(tensors, self.conserved, shots, np.random.default_rng(seed))
