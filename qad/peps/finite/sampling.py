"""Configurations drawn from a finite state, row by row and site by site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.core.errors import ArgumentError
from qad.extend import no_grad, value_of
from qad.peps.finite.rows import Strip, absorbed, boundaries, closed, double_layer, opened, rim
from qad.peps.finite.values import known, layers, operator_of
from qad.peps.models import Term
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.peps.finite.state import FinitePEPS
    from qad.typing import Seed


def sample(state: FinitePEPS, shots: int, chi: int = 32, seed: Seed = 0) -> NDArray[np.int64]:
    """Configurations drawn from ``|psi|**2`` independently, exactly where no boundary is cut.

    Parameters
    ----------
    state : FinitePEPS
    shots : int
    chi : int
        Largest bond of the boundary below a row (norms), and of that above it (amplitudes, of fermions norms).
    seed : int or numpy.random.Generator

    Returns
    -------
    int array (shots, rows, columns)

    Raises
    ------
    ArgumentError
        If the state is zero, or `shots` is no number.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.peps.finite.FinitePEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    >>> qad.peps.finite.sample(up, 1)
    array([[[0, 0, 0],
            [0, 0, 0]]])
    """
    if not isinstance(shots, (int, np.integer)) or shots < 1:
        raise ArgumentError(f"shots is {shots!r}: write a whole number of at least 1")
    rng = np.random.default_rng(seed)
    if known(state).conserved is not None and state.site.fermionic:
        return drawn_singly(state, shots, chi, rng)
    with no_grad(), bar_for(label="rows", total=state.shape[0]) as bar:
        sites = [[value_of(t) for t in row] for row in opened(state.without_symmetry())]
        below = boundaries([[closed(double_layer(t)) for t in row] for row in sites], chi)[1]
        above = [np.ones((shots, 1, 1, 1), state.dtype) for _ in sites[0]]
        rows = []
        for row, under in zip(sites, below, strict=True):
            drawn, chosen = drawn_row(row, above, under, rng)
            rows.append(drawn)
            bar.update()
            joined = [einsum("naub,nuldr->naldbr", a, t) for a, t in zip(above, chosen, strict=True)]
            above = cut([t.reshape(shots, t.shape[1] * t.shape[2], t.shape[3], -1) for t in joined], chi)
    return np.stack(rows, axis=1)


def drawn_singly(state: FinitePEPS, shots: int, chi: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Configurations of fermions, whose amplitudes of single states have no order: site by site, by projectors."""
    with no_grad(), bar_for(label="samples", total=shots) as bar:
        doubles = layers(state, chi)[0]
        rows = [[closed(e) for e in row] for row in doubles]
        below, one = boundaries(rows, chi)[1], np.eye(state.site.phys)
        places = np.ndindex(*state.shape)
        projectors = {at: [operator_of(state, Term(np.diag(x), (at,))) for x in one] for at in places}
        found = np.zeros((shots, *state.shape), int)
        for shot in found:
            above = rim(rows[0])
            for r, row in enumerate(rows):
                strip, chosen = Strip(above, [row], below[r]), []
                for c, double in enumerate(doubles[r]):
                    rho = strip.density({c: [double]})
                    weights = np.array([einsum("ts,ts->", rho, p).real for p in projectors[r, c]]).clip(0.0)
                    shot[r, c] = rng.choice(len(one), p=weights / weights.sum())
                    chosen.append(einsum("tsuldr,ts->uldr", double, projectors[r, c][shot[r, c]]))
                    strip.fix(c, chosen[-1])
                above = absorbed(above, chosen, chi)[0]
            bar.update()
    return found


def drawn_row(
    row: list[np.ndarray], above: list[np.ndarray], below: list[np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """States of the sites of a row, given the rows above, and the site tensors of these states, for each shot."""
    shots, columns = len(above[0]), len(row)
    under = [b.reshape(b.shape[0], t.shape[3], t.shape[3], b.shape[2]) for b, t in zip(below, row, strict=True)]
    right = [np.ones((shots, 1, 1, 1, 1, 1), row[0].dtype)]
    for j in range(columns - 1, 0, -1):
        a, t = above[j], row[j]
        x = einsum("nbBrRe,naub,suldr->nsaldBRe", right[-1], a, t)
        right.append(einsum("nsaldBRe,nAUB,sULDR,cDde->naAlLc", x, a.conj(), t.conj(), under[j]))
    right.reverse()
    left = np.ones((shots, 1, 1, 1, 1, 1), row[0].dtype)
    states, chosen = [], []
    for j in range(columns):
        a, t = above[j], row[j]
        x = einsum("naAlLc,naub,suldr->nsALcbdr", left, a, t)
        x = einsum("nsALcbdr,nAUB,sULDR,cDde->nsbBrRe", x, a.conj(), t.conj(), under[j])
        weights = einsum("nsbBrRe,nbBrRe->ns", x, right[j]).real.clip(0.0)
        total = np.cumsum(weights, axis=1)
        if not np.all(total[:, -1] > 0):
            raise ArgumentError("sample: the state is zero, or chi is too small to tell its weights: raise chi")
        s = np.sum(total <= (rng.random(shots) * total[:, -1])[:, None], axis=1)
        states.append(s)
        chosen.append(t[s])
        left = x[np.arange(shots), s]
        left = left / np.linalg.norm(left.reshape(shots, -1), axis=1).reshape(-1, 1, 1, 1, 1, 1)
    return np.stack(states, axis=1), chosen


def cut(row: list[np.ndarray], chi: int) -> list[np.ndarray]:
    """Stacks of matrix product states with bonds up to `chi`, sites of norm one: QR to the right, SVD to the left."""
    row, shots = list(row), len(row[0])
    if max(t.shape[1] for t in row) > chi:
        for j in range(len(row) - 1):
            n, a, u, b = row[j].shape
            q, r = np.linalg.qr(row[j].reshape(n, a * u, b))
            row[j], row[j + 1] = q.reshape(n, a, u, -1), einsum("nab,nbud->naud", r, row[j + 1])
        for j in range(len(row) - 1, 0, -1):
            n, a, u, b = row[j].shape
            x, s, vh = np.linalg.svd(row[j].reshape(n, a, u * b), full_matrices=False)
            k = min(chi, s.shape[1])
            row[j] = vh[:, :k].reshape(n, k, u, b)
            row[j - 1] = einsum("naub,nbc,nc->nauc", row[j - 1], x[:, :, :k], s[:, :k])
    sizes = [np.linalg.norm(t.reshape(shots, -1), axis=1).reshape(-1, 1, 1, 1) for t in row]
    return [t / np.where(size > 0, size, 1.0) for t, size in zip(row, sizes, strict=True)]
