"""Adding up entries by their place, the transpose of picking them."""

import numpy as np

from qad.extend import defvjp, primitive


class Places:
    """Where the entries of a last axis go, analysed once.

    Parameters
    ----------
    places : sequence of int, length E
    size : int
        Of the axis that results.
    """

    __slots__ = ("places", "size", "_order", "_starts", "_reached")

    def __init__(self, places, size):
        self.places, self.size = np.asarray(places, np.intp), int(size)
        order = self.places.argsort(kind="stable")
        self._reached, self._starts = np.unique(self.places[order], return_index=True)
        self._order = None if np.array_equal(order, np.arange(len(order))) else order

    def add(self, x):
        """Sums (..., size) of the entries of `x` (..., E) that share a place."""
        x = x if self._order is None else x[..., self._order]
        sums = np.add.reduceat(x, self._starts, -1) if x.shape[-1] != len(self._reached) else x
        if len(self._reached) == self.size:
            return sums if sums is not x or self._order is not None else x.copy()
        out = np.zeros((*x.shape[:-1], self.size), x.dtype)
        out[..., self._reached] = sums
        return out


@primitive
def scatter(x, *, places):
    """`Places.add` as a recorded function."""
    return places.add(x)


@primitive
def gather(x, *, places):
    """The entries of the last axis that `places` names."""
    return x[..., places.places]


defvjp(scatter, lambda g, ans, x, *, places: gather(g, places=places), linear=True, fresh=True)
defvjp(gather, lambda g, ans, x, *, places: scatter(g, places=places), linear=True, fresh=True)
