"""The geometry of a family of states: quantum geometric tensor, metric and Fisher information.

    Q_ij = <d_i psi|d_j psi> - <d_i psi|psi><psi|d_j psi>,    metric Re Q,    quantum Fisher information 4 Re Q

Derivatives of the state along all parameters of a block, whose products these are, come as a batch.  Where they are too
large to be kept, portions of them are swept back through the circuit, which gives the products of each with all
others: however many parameters there are, few states are in memory (after T. Jones, arXiv:2011.02991).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import jvp, vjp, vmap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit.program.circuit import Circuit
    from qad.typing import Array, ArrayLike, Function

AT_ONCE = 2**22  # amplitudes of derivatives in memory at once, or one derivative


def geometric_tensor(
    f: Callable[[Any], Circuit | Array], blocks: Sequence[Sequence[int]] | None = None
) -> Callable[[ArrayLike], Array]:
    """Make the function that computes the quantum geometric tensor in the user's own parameters.

    Parameters
    ----------
    f : callable
        From a real array of P parameters to a `Circuit` (or to a normalised state).
    blocks : list of sequences of int, optional
        Sets of parameters, by their index in the flattened array; entries between different sets are left zero.

    Returns
    -------
    callable
        From parameters to the Hermitian matrix (P, P), rows and columns in the order of the flattened parameters.

    Examples
    --------
    >>> import numpy as np, qad
    >>> f = lambda t: qad.Circuit(1).ry(t[0], 0).rz(t[1], 0)
    >>> abs(qad.circuit.geometric_tensor(f)(np.array([np.pi / 2, 0.2]))).round(6)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """

    def state(theta):
        out = f(theta)
        return out.state() if hasattr(out, "state") else out

    def tensor(theta):
        theta = np.asarray(theta, float)
        psi, pullback = vjp(state, theta)
        along = products(pullback, psi[None])[0]  # <psi|d_j psi>
        q = np.zeros((theta.size, theta.size), complex)
        for block in checked(blocks, theta.size):
            q[np.ix_(block, block)] = gram(state, theta, pullback, block, psi.size)
            q[np.ix_(block, block)] -= np.outer(along[block].conj(), along[block])
        return (q + q.conj().T) / 2

    return tensor


def gram(state: Function, theta: np.ndarray, pullback: Function, block: np.ndarray, size: int) -> np.ndarray:
    """The products ``<d_i psi|d_j psi>`` for the parameters of a block, of states of this size."""
    step = max(1, AT_ONCE // size)
    if len(block) <= step:
        rows = derivatives(state, theta, block).reshape(len(block), -1)
        return rows.conj() @ rows.T
    parts = [block[i : i + step] for i in range(0, len(block), step)]
    return np.concatenate([products(pullback, derivatives(state, theta, part))[:, block] for part in parts])


def derivatives(state: Function, theta: np.ndarray, block: np.ndarray) -> np.ndarray:
    """The derivatives of the state along the parameters of these indices, stacked."""
    directions = np.eye(theta.size)[block].reshape(-1, *theta.shape)
    return vmap(lambda direction: jvp(state, (theta,), (direction,))[1])(directions)


def products(pullback: Function, bras: np.ndarray) -> np.ndarray:
    """``<bra|d_j psi>`` (bras, P) for all parameters: a pullback gives the real part."""
    swept = vmap(lambda bra: pullback(bra)[0])
    real, imaginary = (swept(x).reshape(len(bras), -1) for x in (bras, 1j * bras))
    return real + 1j * imaginary


def checked(blocks: Sequence[Sequence[int]] | None, size: int) -> list[np.ndarray]:
    """Blocks of parameters as arrays of their indices."""
    if blocks is None:
        return [np.arange(size)]
    blocks = [np.asarray(block, np.intp) for block in blocks]
    every = np.concatenate(blocks)
    if len(np.unique(every)) < len(every) or (every.size and not 0 <= every.min() <= every.max() < size):
        raise ArgumentError(f"blocks are sets without common parameters, numbered from 0 to {size - 1}")
    return blocks


def metric(
    f: Callable[[Any], Circuit | Array], blocks: Sequence[Sequence[int]] | None = None
) -> Callable[[ArrayLike], Array]:
    """Make the function that computes the quantum metric, the real part of `geometric_tensor`.

    Parameters
    ----------
    f, blocks
        As in `geometric_tensor`.

    Returns
    -------
    callable
        From parameters to a symmetric, positive semidefinite matrix (P, P).

    Examples
    --------
    >>> import numpy as np, qad
    >>> f = lambda t: qad.Circuit(1).ry(t[0], 0).rz(t[1], 0)
    >>> abs(qad.circuit.metric(f)(np.array([np.pi / 2, 0.2]))).round(6)
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """
    tensor = geometric_tensor(f, blocks)
    return lambda theta: np.array(tensor(theta).real)


def fisher(
    f: Callable[[Any], Circuit | Array], blocks: Sequence[Sequence[int]] | None = None
) -> Callable[[ArrayLike], Array]:
    """Make the function that computes the quantum Fisher information, four times the `metric`.

    Parameters
    ----------
    f, blocks
        As in `geometric_tensor`.

    Returns
    -------
    callable
        From parameters to a symmetric, positive semidefinite matrix (P, P).

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.circuit.fisher(lambda t: qad.Circuit(1).ry(t[0], 0))(np.array([0.3])).round(6)
    array([[1.]])
    """
    tensor = geometric_tensor(f, blocks)
    return lambda theta: 4 * tensor(theta).real


def natural_gradient(matrix: ArrayLike, gradient: ArrayLike, damping: float = 1e-6) -> Array:
    """The gradient in the geometry of a metric, ``(G + damping)^-1 g``.

    Parameters
    ----------
    matrix : array (P, P)
        A symmetric metric G.
    gradient : array of P entries
    damping : real
        Added to the diagonal, where the metric is singular.

    Returns
    -------
    array like `gradient`

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.circuit.natural_gradient(np.diag([0.25, 0.0]), np.array([1.0, 0.0]), damping=0.0 + 1e-12).round(6)
    array([4., 0.])
    """
    gradient = np.asarray(gradient)
    if matrix.shape != (gradient.size,) * 2:
        raise ShapeError(f"a metric of shape {matrix.shape} does not fit a gradient of {gradient.size} entries")
    solution = np.linalg.solve(matrix + damping * np.eye(gradient.size), gradient.reshape(-1))
    return solution.reshape(gradient.shape)
