"""Other ways to look at a circuit: on a chain, as a network, as a drawing, as text in OpenQASM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.keywords import keywords_told
from qad.showing import card

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from matplotlib.axes import Axes

    from qad.circuit.chains.simulation import ChainSimulation
    from qad.circuit.observables.operators import Observable
    from qad.circuit.program.network import Network, NetworkSum
    from qad.showing import Picture


class Views:
    """The part of `qad.Circuit` that hands it over to other engines, and to readers."""

    __slots__ = ()

    @keywords_told
    def mps(
        self,
        bond: int | None = None,
        cutoff: float = 1e-20,
        bra_bond: int | None = None,
        *,
        conserve: str | Sequence[str] | None = None,
    ) -> ChainSimulation:
        """Run the circuit on a matrix product state: many qubits, as long as they are little entangled.

        Parameters
        ----------
        bond : int, optional
            Largest bond dimension; no limit by default.
        cutoff : float
            Largest weight (sum of squared Schmidt coefficients, relative) that is discarded at a cut below `bond`.
        bra_bond : int, optional
            Largest bond dimension of the second chain in the reverse sweep; twice `bond` by default.
        conserve : str or sequence of str, optional
            What all gates conserve: "N" (the number of ones), "Sz" (zeros less ones), or "parity" (that number modulo
            two).  Only the blocks of one sector are kept, and the state conserves it; X may prepare basis states, in
            front of gates with derivatives.

        Returns
        -------
        ChainSimulation
            With ``.state``, ``.error``, ``.expectation(H)``, ``.overlap(phi)``, ``.amplitude(bits)`` and
            ``.sample(shots)``.

        Raises
        ------
        ArgumentError, ShapeError
            For a circuit with an initial state or a batch of parameters, limits that make no sense, or a gate that
            does not conserve.

        Notes
        -----
        A gate on neighbours costs ``O(bond**3)``, one that spans m sites m times that.  The gradient is a reverse
        sweep of overlaps (`qad.circuit.chains.sweeps`) of first order; it is that of the exact circuit up to what
        both chains cut off.

        Examples
        --------
        >>> import numpy as np, qad
        >>> H = qad.PauliSum.on_sites(60, [(1.0, "ZZ", (i, i + 1)) for i in range(59)])
        >>> def energy(theta):
        ...     return qad.Circuit(60).ry(theta, range(60)).cx(range(59), range(1, 60)).mps(bond=8).expectation(H)
        >>> value, gradient = qad.value_and_grad(energy)(np.full(60, 0.1))
        >>> value.round(6), gradient.shape
        (np.float64(58.705246), (60,))
        """
        from qad.circuit.chains.simulation import ChainSimulation

        return ChainSimulation(self, bond, cutoff, bra_bond, conserve)

    def network(
        self, target: str | Sequence[int] | Observable, memory_limit: int | str | None = None
    ) -> Network | NetworkSum:
        """The tensor network of an amplitude or of an expectation value, for `qad.plan` to contract.

        Parameters
        ----------
        target : str or sequence of bits, or an observable
            Bits ask for the amplitude ``<bits|psi>``; a PauliSum, Pauli string, Hermitian matrix, Operator or
            Projector for its expectation value, each term with the gates of its light cone only.
        memory_limit : int or str, optional
            The most bytes to be alive at once, as in `qad.plan`; larger networks are contracted slice by slice.

        Returns
        -------
        Network
            With ``.value()``, differentiable to any order, and ``.plan``; of a PauliSum a `NetworkSum` with
            ``.value()`` and ``.networks``.

        Raises
        ------
        ArgumentError, ShapeError
            For a target that does not fit, or a batch of parameters.

        Examples
        --------
        >>> import numpy as np, qad
        >>> c = qad.Circuit(80).ry(np.full(80, 0.3), range(80)).cx(range(79), range(1, 80))
        >>> net = c.network(qad.PauliSum.on_sites(80, [(1.0, "ZZ", (5, 6))]))
        >>> net, net.value().round(6), np.cos(0.3).round(6)
        (NetworkSum(1 terms, up to 15 gates), np.float64(0.955336), np.float64(0.955336))
        """
        from qad.circuit.program.network import network_of

        return network_of(self, target, memory_limit)

    # -- drawings and text -----------------------------------------------------------------------

    def __str__(self) -> str:
        from qad.circuit.program.drawing import text

        return text(self)

    def _repr_html_(self) -> str:
        return card(repr(self), text=str(self))

    def draw(self, ax: Axes | None = None) -> Picture:
        """A picture of the circuit; ``print(c)`` draws it as text.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to paint the picture, too.

        Returns
        -------
        Picture
            Notebooks show it; ``.save("circuit.svg")`` writes it.

        Examples
        --------
        >>> import qad
        >>> c = qad.Circuit(3).h(0).ry(0.3, 2).cx(0, 1).controlled(0).swap(1, 2)
        >>> print(c)
        q0: ────H─────●──●─
                      │  │
        q1: ──────────⊕──×─
                         │
        q2: ─RY(0.3)─────×─
        >>> c.draw()
        <Picture: circuit of 3 qubits and 4 gates>
        """
        from qad.circuit.program.drawing import drawn

        return drawn(self).paint(ax)

    def to_qasm(self) -> str:
        """The circuit as a program in OpenQASM 2, up to a global phase.

        Returns
        -------
        str

        Raises
        ------
        ArgumentError
            For what OpenQASM 2 cannot say: matrices on two qubits or more, operators that are not unitary, initial
            states, batches; channels, measurements into no bit, and conditions on several bits.

        Notes
        -----
        Angles are written with all their digits.  Gates that ``qelib1.inc`` lacks are defined in the program.  Every
        classical bit is a register of its own, so that a gate can depend on it.

        Examples
        --------
        >>> import qad
        >>> print(qad.Circuit(2).h(0).crz(0.5, 0, 1).to_qasm())
        OPENQASM 2.0;
        include "qelib1.inc";
        qreg q[2];
        h q[0];
        crz(0.5) q[0],q[1];
        """
        from qad.circuit.qasm.write import written

        return written(self)

    @classmethod
    def from_qasm(cls, program: str) -> Self:
        """The circuit of a program in OpenQASM 2 or 3.

        Parameters
        ----------
        program : str
            The text, not the name of a file: ``from_qasm(pathlib.Path(name).read_text())``.  All registers become one
            row of qubits, in the order of their declaration.  Measurements at the end and barriers are passed over.
            Of OpenQASM 3 what others write is read: gates with modifiers, definitions, loops over ranges.

        Returns
        -------
        Circuit

        Raises
        ------
        QasmError
            With line and column, for what is malformed, and for what a circuit cannot do: resets, conditions, gates
            after a measurement.

        Examples
        --------
        >>> import qad
        >>> c = qad.Circuit.from_qasm('''
        ... OPENQASM 2.0;
        ... include "qelib1.inc";
        ... gate flip(t) a, b { rx(-t / 2) a; cx a, b; }
        ... qreg q[2];
        ... flip(2 * pi) q[0], q[1];
        ... ''')
        >>> c.probabilities().round(3)
        array([[0., 0.],
               [0., 1.]])
        """
        from qad.circuit.qasm.parse import parse

        return parse(program, cls)
