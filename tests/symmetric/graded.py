"""Fermionic tensors as dense arrays, one exchange of neighbours at a time: what the signs are checked against."""

import numpy as np


class Graded:
    """A product of graded tensors, not contracted yet: a dense array, whether each index is odd, and the flows."""

    def __init__(self, array, odd, flows):
        self.array, self.odd, self.flows = array, list(odd), list(flows)

    def exchange(self, axis):
        """Put a leg behind its right neighbour."""
        signs = 1 - 2 * np.outer(self.odd[axis], self.odd[axis + 1])
        ones = [1] * self.array.ndim
        ones[axis : axis + 2] = signs.shape
        self.array = (self.array * signs.reshape(ones)).swapaxes(axis, axis + 1)
        for row in (self.odd, self.flows):
            row[axis], row[axis + 1] = row[axis + 1], row[axis]

    def bring(self, origin, place):
        """Put a leg to a place, past all that stand between."""
        while origin < place:
            self.exchange(origin)
            origin += 1
        while origin > place:
            self.exchange(origin - 1)
            origin -= 1

    def close(self, one, two):
        """Contract two legs: a bra in front of its ket is a number."""
        bra, ket = (one, two) if self.flows[one] < 0 else (two, one)
        assert (self.flows[bra], self.flows[ket]) == (-1, 1)
        self.bring(bra, 0)
        self.bring(ket + (ket < bra), 1)
        self.array = np.trace(self.array, axis1=0, axis2=1)
        del self.odd[:2], self.flows[:2]

    def order(self, axes):
        """Put the legs into another order."""
        left = list(axes)
        for place in range(len(axes)):
            origin = left[place]
            self.bring(origin, place)
            left = [axis + (place <= axis < origin) for axis in left]
        return self


def graded(*tensors):
    """The product of some symmetric tensors, in this order."""
    whole = Graded(np.ones(()), [], [])
    for a in tensors:
        whole.array = np.multiply.outer(whole.array, a.to_dense())
        whole.flows += [leg.flow for leg in a.legs]
        whole.odd += [
            np.repeat([leg.symmetry.is_odd(charge) for charge in leg.charges], leg.dims).astype(int) for leg in a.legs
        ]
    return whole


def contracted(text, *tensors):
    """What an einsum of fermionic tensors is, dense."""
    inputs, output = text.split("->")
    whole, labels = graded(*tensors), list(inputs.replace(",", ""))
    for label in [x for i, x in enumerate(labels) if x in labels[:i]]:
        one, two = (i for i, x in enumerate(labels) if x == label)
        whole.close(one, two)
        labels = [x for x in labels if x != label]
    return whole.order([labels.index(label) for label in output]).array


def jordan_wigner(n):
    """The operators that take a fermion from each of n modes, as matrices of the Fock space."""
    lower, z = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([1.0, -1.0])
    found = []
    for mode in range(n):
        whole = np.ones((1, 1))
        for place in range(n):
            whole = np.kron(whole, z if place < mode else lower if place == mode else np.eye(2))
        found.append(whole)
    return found
