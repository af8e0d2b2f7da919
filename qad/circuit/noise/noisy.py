"""Circuits with channels, measurements and conditions between their gates, as density matrices.

A density matrix on n qubits is a state on 2n, rows first: a gate acts on the rows and its complex conjugate on the
columns, a channel as the matrix ``sum_k K_k (x) conj(K_k)`` on both.  A classical bit is one more axis: the density
matrices of all values of the bits stand side by side, a measurement writes from the qubit's axes to the bit's, and a
condition is a control.  So everything that holds for states, the gradient included, holds for density matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from qad.circuit.gates.checks import check_memory, check_norm
from qad.circuit.noise.channels import Channel
from qad.circuit.noise.doubled import doubled
from qad.circuit.noise.steps import NoisySteps
from qad.circuit.observables.operators import apply_any, as_observable, hermitian
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.observables.sampling import counted, draws, marginal
from qad.circuit.program.builder import Builder
from qad.circuit.program.circuit import Circuit
from qad.circuit.program.conversions import Views
from qad.core.errors import ShapeError
from qad.extend import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from qad.circuit.noise.trajectories import Trajectories
    from qad.circuit.observables.operators import Observable
    from qad.typing import Array, Seed


class NoisyCircuit(NoisySteps):
    """A circuit with channels, measurements, resets and classical conditions between its gates.

    Gates are methods, as of `qad.Circuit`.  What is asked of it is exact, by the density matrix of 4**n entries, once
    for each value of the classical bits; `trajectories` draws pure states instead.

    Parameters
    ----------
    n : int
    bits : int
        How many classical bits there are, all 0 at the beginning.
    dtype, engine
        As of `qad.Circuit`.

    Attributes
    ----------
    n, bits : int
    circuit : Circuit
        The circuit on 2n + bits qubits whose state is the density matrix for each value of the bits.

    Examples
    --------
    >>> import numpy as np, qad
    >>> c = qad.circuit.NoisyCircuit(2).h(0).cx(0, 1).channel(qad.circuit.depolarizing(0.1), 0)
    >>> c.expectation("ZZ").round(6), c.purity().round(6)
    (np.float64(0.866667), np.float64(0.813333))

    A state is teleported, with two measurements and two conditions:

    >>> c = qad.circuit.NoisyCircuit(3, bits=2).ry(0.3, 0).h(1).cx(1, 2)
    >>> c = c.cx(0, 1).h(0).measure([0, 1], into=[0, 1]).if_(1, "x", 2).if_(0, "z", 2)
    >>> c.expectation("IIX").round(6) == np.sin(0.3).round(6)
    np.True_
    """

    __slots__ = ()
    draw: ClassVar[Callable[..., Any]] = Views.draw
    to_qasm: ClassVar[Callable[..., str]] = Views.to_qasm

    def append(self, circuit: Builder) -> Self:
        """Apply all operations of a circuit on n qubits; returns self."""
        return self._extend(circuit)

    @classmethod
    def from_qasm(cls, program: str) -> Self:
        """The circuit of a program in OpenQASM 2 or 3, with its measurements, resets and conditions.

        Parameters
        ----------
        program : str
            All registers of qubits become one row of qubits, those of bits one row of classical bits, in the order of
            their declaration; the first bit of a register is its lowest.  Of OpenQASM 3 what others write is read:
            gates with modifiers, definitions, measurements, resets, branches on bits, loops over ranges.

        Raises
        ------
        QasmError
            With line and column, for what is malformed, and for what a circuit cannot do.

        Examples
        --------
        >>> import qad
        >>> c = qad.circuit.NoisyCircuit.from_qasm('''
        ... OPENQASM 2.0;
        ... include "qelib1.inc";
        ... qreg q[2];
        ... creg c[2];
        ... h q[0];
        ... measure q[0] -> c[0];
        ... if (c == 1) x q[1];
        ... ''')
        >>> c.probabilities().round(3)
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        from qad.circuit.qasm.parse import parse

        return parse(program, cls)

    # -- as a density matrix ---------------------------------------------------------------------

    @property
    def circuit(self) -> Circuit:
        """The circuit on 2n + bits qubits whose state is the density matrix for each value of the bits."""
        check_memory(2 * self.n + self.bits, self.dtype, "a density matrix (trajectories take 2**n entries each)")
        found = Circuit(2 * self.n + self.bits, dtype=self.dtype, engine=self.engine)
        found._chunks, found._size = self._chunks, self._size
        found.matrices = [u.both() if type(u) is Channel else u for u in self.matrices]
        found.operations = list(doubled(self.n, tuple(self.operations)))
        return found

    def _blocks(self):
        """The density matrices (2**n, 2**n, 2**bits), each times the probability of its bits."""
        circuit = self.circuit
        state = circuit.state()
        if state.ndim > circuit.n:
            raise ShapeError("a noisy circuit has no batches of angles: call it for one example, under qad.vmap")
        return state.reshape(2**self.n, 2**self.n, 2**self.bits)

    def density_matrix(self) -> Array:
        """The density matrix (2**n, 2**n), qubit 0 most significant, whatever the classical bits are."""
        return self._blocks().sum(-1)

    def probabilities(self, qubits: Sequence[int] | None = None) -> Array:
        """The probabilities of all outcomes, a tensor (2, ..., 2), or those of some qubits, in the order given."""
        return marginal(np.diagonal(self.density_matrix()).real.reshape((2,) * self.n), self.n, qubits)

    def bit_probabilities(self) -> Array:
        """The probabilities of all values of the classical bits, a tensor (2, ..., 2), bit 0 leftmost."""
        return np.trace(self._blocks()).real.reshape((2,) * self.bits)

    def expectation(self, observable: Observable) -> Array:
        """``tr(rho H)``, real, of any observable of `qad.Circuit.expectation`."""
        observable = as_observable(observable)
        if isinstance(observable, PauliSum):
            hermitian(observable, self.n)
        return np.trace(apply_any(observable, self.density_matrix().T, self.n)).real

    def variance(self, observable: Observable) -> Array:
        """The variance ``tr(rho (H - m)^2)`` with ``m = tr(rho H)``, of the normalised density matrix.

        Examples
        --------
        >>> import qad
        >>> qad.circuit.NoisyCircuit(1).channel(qad.circuit.flip(0.1), 0).variance("Z").round(6)
        np.float64(0.36)
        """
        observable, rho = as_observable(observable), self.density_matrix().T
        if isinstance(observable, PauliSum):
            hermitian(observable, self.n)
        rho = rho * (1 / check_norm(np.trace(rho).real))
        once = apply_any(observable, rho, self.n)
        once = once - np.trace(once).real * rho
        return np.trace(apply_any(observable, once, self.n)).real  # of (H - m) rho, m tr((H - m) rho) is 0

    def sample(self, shots: int, seed: Seed = 0) -> NDArray[np.int64]:
        """Outcomes (shots, n) of measuring all qubits, drawn from the exact distribution; see `Circuit.sample`.

        Where the density matrix does not fit into memory, ``.trajectories(shots).sample()`` draws from pure states.

        Examples
        --------
        >>> import qad
        >>> qad.circuit.NoisyCircuit(2).x(1).channel(qad.circuit.flip(1.0), 0).sample(2)
        array([[1, 1],
               [1, 1]])
        """
        return draws(np.maximum(value_of(self.probabilities()), 0.0), self.n, shots, seed)

    def counts(self, shots: int, seed: Seed = 0) -> dict[str, int]:
        """How often each outcome was drawn, a dict from strings of bits; see `Circuit.counts`.

        Examples
        --------
        >>> import qad
        >>> qad.circuit.NoisyCircuit(2).x(1).channel(qad.circuit.flip(1.0), 0).counts(5)
        {'11': 5}
        """
        return counted(self.sample(shots, seed))

    def purity(self) -> Array:
        """``tr(rho^2)``."""
        rho = self.density_matrix()
        return (rho.real**2 + rho.imag**2).sum()

    # -- as pure states --------------------------------------------------------------------------

    def trajectories(self, shots: int, seed: Seed = 0) -> Trajectories:
        """Draw pure states: each channel and measurement takes one of its Kraus matrices, by its probability.

        Parameters
        ----------
        shots : int
            How many trajectories.
        seed : int or numpy.random.Generator

        Returns
        -------
        Trajectories
            With ``.states``, ``.bits``, ``.sample()``, ``.values(H)``, and ``.expectation(H)``, which has a gradient.

        Raises
        ------
        ArgumentError
            For operators that are not unitary, and for states that do not fit into memory.

        Notes
        -----
        Quantum jumps: ``K_k psi / |K_k psi|`` follows ``psi`` with probability ``|K_k psi|^2`` (K. Mølmer, Y. Castin,
        J. Dalibard, J. Opt. Soc. Am. B 10, 524 (1993)).  Trajectories whose jumps so far are the same are one state,
        which is computed once.

        Examples
        --------
        >>> import numpy as np, qad
        >>> c = qad.circuit.NoisyCircuit(2).ry(0.3, 0).cx(0, 1).channel(qad.circuit.amplitude_damping(0.4), 1)
        >>> found = c.trajectories(2000, seed=1)
        >>> abs(found.expectation("ZI") - np.cos(0.3)) < 5 * found.error("ZI")
        np.True_
        """
        from qad.circuit.noise.trajectories import Trajectories

        return Trajectories(self, shots, seed)

    def __str__(self) -> str:
        return Views.__str__(self)

    def __repr__(self) -> str:
        return f"NoisyCircuit({self.n} qubits, {self.bits} bits, {len(self.operations)} operations)"
