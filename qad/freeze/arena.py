"""How buffers share memory: each piece of memory is used again when what it holds is not needed any more."""

from qad.freeze.program import Var
from qad.freeze.written import allocates

__all__ = ["Arena"]

ALIGNMENT = 64


class Arena:
    """Numbers of pieces of memory for the buffers of a program.

    Attributes
    ----------
    piece : dict of Var -> int
    sizes : list of int
        Of the pieces, in bytes.
    """

    def __init__(self, places):
        self.piece, self.sizes = {}, []
        free = []  # pairs (size, piece)
        last = _last_uses(places)
        ending = {}
        for var in places.copies.intersection(places.program.inputs):
            self._take(var, free)
            ending.setdefault(last.get(var, -1), []).append(var)
        for number, step in enumerate(places.program.steps):
            var = step.out
            if var in places.buffers:
                self._take(var, free)
                ending.setdefault(max(last.get(var, number), number), []).append(var)
            for gone in ending.pop(number, ()):
                free.append((self.sizes[self.piece[gone]], self.piece[gone]))

    def _take(self, var, free):
        """The smallest free piece that is large enough, the one that was freed last among equals."""
        size = max(var.nbytes, 1)
        fitting = [entry for entry in free if size <= entry[0] <= 4 * size + 1024]
        if fitting:
            best = min(reversed(fitting))
            free.remove(best)
            self.piece[var] = best[1]
        else:
            self.piece[var] = len(self.sizes)
            self.sizes.append(-(-size // ALIGNMENT) * ALIGNMENT)


def _last_uses(places):
    """For each buffer the number of the last step that reads it, also through whatever may show its memory.

    Results are read at the end.  Only what writes into a buffer of its own, or surely allocates, shows nothing.
    """
    steps = places.program.steps
    shown = {var: (var,) for var in places.buffers}
    last = {}
    for number, step in enumerate(steps):
        sources = {buffer for var in step.reads() for buffer in shown.get(var, ())}
        if step.out not in places.views:
            end = len(steps) if step.out in places.last else number
            last.update({buffer: max(end, last.get(buffer, 0)) for buffer in sources})
        if step.out not in places.buffers and not allocates(step):
            shown[step.out] = tuple(sources)
    for x in places.program.outputs:
        if type(x) is Var:
            last.update(dict.fromkeys(shown.get(x, ()), len(steps)))
    return last
