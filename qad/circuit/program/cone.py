"""Light cones: the gates on which an observable depends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.circuit.observables.operators import as_observable
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.program.network import light_cone

if TYPE_CHECKING:
    from qad.circuit.observables.operators import Observable
    from qad.circuit.program.circuit import Circuit


def pruned(circuit: Circuit, observable: Observable) -> Circuit:
    """The circuit without the gates on which an expectation value does not depend.

    Parameters
    ----------
    circuit : Circuit
    observable : PauliSum, str, array, Operator, Projector

    Returns
    -------
    Circuit
        Of the same qubits, parameters and expectation value; parameters of gates that are gone have no effect.

    Examples
    --------
    >>> import numpy as np, qad
    >>> c = qad.Circuit(6).ry(np.full(6, 0.3), range(6)).cx(range(5), range(1, 6))
    >>> few = qad.circuit.pruned(c, "ZIIIII")
    >>> len(c), len(few), few.expectation("ZIIIII").round(6) == np.cos(0.3).round(6)
    (11, 3, np.True_)
    """
    inside = reached(circuit, observable)
    found = circuit.copy()
    found.operations = [o for index, o in enumerate(circuit.operations) if index in inside]
    found._program = None
    return found


def reached(circuit: Circuit, observable: Any) -> set[int]:
    """Indices of the gates in the light cone of an observable."""
    observable = as_observable(observable)
    if isinstance(observable, PauliSum):
        qubits = {q for string in observable.strings for q, letter in enumerate(string) if letter != "I"}
    else:
        qubits = set(observable.qubits)
    return set(light_cone(circuit, qubits)[0])
