"""Axes as groups of labels: what reshapes take apart and put together, and which axes of two arrays are the same.

An axis is a tuple of labels, the slowest first: one where nothing takes it apart, none where its size is 1.
"""

__all__ = ["Labels", "renamed"]


class Labels:
    """Numbers for labels, with their sizes.

    Attributes
    ----------
    sizes : list of int
        The size of each label.
    """

    def __init__(self, sizes=()):
        self.sizes = list(sizes)

    def new(self, size):
        """A new label."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def axes(self, shape):
        """New axes for an array of this shape."""
        return tuple([() if size == 1 else (self.new(size),) for size in shape])

    def reshaped(self, axes, shape):
        """A reshape of axes: the new axes, and the labels that stand for each old one; None where they do not fit."""
        rest, found, made = self._stack([label for axis in axes for label in axis]), {}, []
        for size in shape:
            axis = []
            while size > 1:
                label, whole = rest.pop()
                piece = min(size, whole)
                if max(size, whole) % piece:
                    return None
                axis.append(self._take(piece, whole, label, rest, found))
                size //= piece
            made.append(tuple(axis))
        return tuple(made), found

    def matched(self, pairs):
        """Labels that stand for each old one once the axes of every pair are the same; None where they cannot be."""
        found = {}
        for one, two in pairs:
            one, two = self._stack(one), self._stack(two)
            while one and two:
                (left, m), (right, n) = one.pop(), two.pop()
                piece = min(m, n)
                if max(m, n) % piece:
                    return None
                label = self._take(piece, m, left, one, found)
                found.setdefault(right, []).append(label)
                if n > piece:
                    two.append((right, n // piece))
            if one or two:
                return None
        return found

    def _stack(self, axis):
        return [(label, self.sizes[label]) for label in reversed(axis)]

    def _take(self, piece, whole, label, rest, found):
        """A new label for the slowest part of another; what is left of that goes back to the stack."""
        made = self.new(piece)
        found.setdefault(label, []).append(made)
        if whole > piece:
            rest.append((label, whole // piece))
        return made


def renamed(axes, found):
    """Axes with other labels in the places of those that were found to consist of them."""
    return tuple([tuple([new for label in axis for new in found.get(label, (label,))]) for axis in axes])
