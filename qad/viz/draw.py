"""`qad.draw`: the picture of a Tensor, a network, a plan, a chain or a circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.extend import Tensor
from qad.viz.network import is_network, network
from qad.viz.plots import history
from qad.viz.tape_graph import graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qad.showing import Picture


def draw(y: object, names: Mapping[str, Tensor] | None = None) -> Picture:
    """Draw what there is to see of an object of qad.

    A recorded Tensor is drawn as the graph of its operations, their values in green and its gradients in red, of
    more than 40 with repeated steps folded into one card; a plan as its tree; a circuit; a matrix product state or
    operator, or a PEPS, as its network; a lattice as its sites and bonds; what a search has found as
    its course.

    Parameters
    ----------
    y : Tensor, Plan, Circuit, MPS, MPO, PEPS, Lattice, GroundState, OptimizeResult and their kin
        A recorded Tensor that is a real scalar shows gradients, in the public convention ``dL/dx + i dL/dy``; any other
        one its values alone.
    names : dict of str to Tensor, optional
        What the leaves of a graph are called.

    Returns
    -------
    Picture
        Notebooks show it; ``.save("graph.svg")`` writes it.

    Raises
    ------
    ArgumentError
        If there is no picture of `y`, a Tensor is not recorded, or its graph has more than 400 operations.
    FreedGraphError
        If a backward pass has freed the graph.
    ModuleNotFoundError
        If a plot needs matplotlib, and it is not installed.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x = qad.tensor([1.0, 2.0], requires_grad=True)
    >>> qad.draw(np.sum(np.sin(x) * x), names={"x": x})
    <Picture: graph of 4 operations>
    >>> qad.draw(qad.Circuit(2).h(0).cx(0, 1))
    <Picture: circuit of 2 qubits and 2 gates>
    >>> qad.draw(qad.mps.heisenberg(4))
    <Picture: MPO(4 sites, open, bonds 1-5-5-5-1, float64)>
    """
    if type(y) is Tensor and y.node is not None:
        return graph(y, names)
    if is_network(y):
        return network(y)
    if hasattr(y, "history"):
        return history(y)
    if hasattr(y, "draw"):
        return y.draw()
    raise ArgumentError(
        f"there is no picture of {type(y).__name__}: qad.draw shows recorded Tensors (x = qad.tensor(data, "
        "requires_grad=True)), plans, circuits, chains, PEPS, lattices, and what searches have found"
    )
