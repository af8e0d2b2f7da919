"""Circuits: gates in order, and everything that can be asked of the state that they prepare."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.choice import engine_of
from qad.circuit.engines.evolution import evolve
from qad.circuit.gates.checks import amplitudes_of, check_bits, check_initial, check_memory, check_norm
from qad.circuit.observables import operators as observables
from qad.circuit.observables.apply import energy
from qad.circuit.observables.energies import SMALL, energy_of_angles
from qad.circuit.observables.masks import strings_of
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.observables.sampling import counted, draws, marginal
from qad.circuit.program.builder import Builder
from qad.circuit.program.conversions import Views
from qad.core.errors import ArgumentError
from qad.extend import Tensor, memory, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.circuit.observables.operators import Observable
    from qad.mps.chain.state import MPS
    from qad.typing import Array, ArrayLike, DTypeLike, Seed

ONE = {np.dtype(t): np.ones((1, 1, 1), t) for t in (np.complex128, np.complex64)}  # one amplitude stands for |0...0>


class Circuit(Builder, Views):
    """A quantum circuit on n qubits.

    Gates are methods named as in OpenQASM, angles first and then qubits: ``c.ry(0.3, 0)``, ``c.cx(0, 1)``; each
    changes the circuit and returns it.  An angle may be a Tensor, so that every output below can be differentiated with
    respect to it.  Qubit 0 is the leftmost axis of the state, the most significant bit.

    Parameters
    ----------
    n : int
        Number of qubits.
    initial : array (..., 2, ..., 2) or (..., 2**n), or MPS, optional
        The initial state, ``|0...0>`` by default; leading axes are a batch.  It may be a Tensor.  From a matrix product
        state `Circuit.mps` and `Circuit.network` go on as chains and networks; others write out its amplitudes.
    dtype : dtype
        complex128 or complex64, of the state.
    engine : str
        "compiled" for compiled kernels, "numpy", or "auto" for the first that there is.

    Attributes
    ----------
    n : int
    operations : list of Operation
    parameters : array (..., P)
        All angles in the order in which they were given.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def energy(theta):
    ...     c = qad.Circuit(2).ry(theta, [0, 1]).cx(0, 1)
    ...     return c.expectation(qad.PauliSum({"ZZ": 1.0, "XI": 0.5}))
    >>> value, gradient = qad.value_and_grad(energy)(np.array([0.1, 0.2]))
    >>> value.round(6), gradient.round(6)
    (np.float64(0.989983), array([ 0.098838, -0.149748]))
    """

    __slots__ = ()

    def __init__(
        self, n: int, initial: ArrayLike | MPS | None = None, dtype: DTypeLike = complex, engine: str = "auto"
    ):
        super().__init__(n, dtype, engine)
        self.initial: Array | MPS | None = None if initial is None else check_initial(initial, self.n)

    # -- the state -------------------------------------------------------------------------------

    def _final(self):
        """The final states (B, 2**n) and the shape of their batch."""
        program = self._analysed()
        theta = self.parameters if self._size else np.zeros(0)
        psi, matrices, batch = self.initial, self.matrices, ()
        chain = psi if hasattr(psi, "to_dense") else None
        lead = () if psi is None or chain is not None else self._batch_of(psi)
        if lead or theta.ndim > 1 or any(u.ndim > 2 for u in matrices):
            batch = np.broadcast_shapes(theta.shape[:-1], lead, *(u.shape[:-2] for u in matrices))
            if 0 in batch:
                raise ArgumentError(f"a batch of circuits has at least one example, but this one has the shape {batch}")
            theta = widened(theta, batch, 1)
            matrices = [widened(u, batch, 2) for u in matrices]
            psi = psi if psi is chain else widened(psi, batch, psi.ndim - len(lead))
        recorded = any(type(x) is Tensor for x in (theta, *(chain or (psi,)), *matrices))
        what, copies = ("the gradient of a state", 3) if recorded else ("a state", 1)
        check_memory(self.n, self.dtype, what, copies=copies * prod(batch))
        memory.ready(2**self.n * self.dtype.itemsize if recorded else 0)
        psi = psi if chain is None else amplitudes_of(chain)
        psi = ONE[self.dtype] if psi is None else (psi + np.zeros((), self.dtype)).reshape(1, -1, 2**self.n)
        x = theta.reshape(1, -1, self._size) if program.by_angles else program.entries(theta, matrices)
        return evolve(x, psi, program=program, engine=engine_of(self.engine)), batch

    def _batch_of(self, psi):
        """The shape of a batch of initial states."""
        return psi.shape[: -self.n] if psi.shape[-self.n :] == (2,) * self.n else psi.shape[:-1]

    def state(self) -> Array:
        """The final state, a tensor (..., 2, ..., 2) with qubit 0 leftmost; leading axes are the batch.

        Raises
        ------
        ArgumentError
            If it does not fit into memory; the message says how much it would take.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).x(1).state()
        array([[0.+0.j, 1.+0.j],
               [0.+0.j, 0.+0.j]])
        """
        final, batch = self._final()
        return final.reshape(*batch, *(2,) * self.n)

    def amplitude(self, bits: str | Sequence[int]) -> Array:
        """The amplitude of one basis state, ``<bits|psi>``; (...) of a batch.

        Parameters
        ----------
        bits : str or sequence of int
            One bit per qubit.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).h(0).cx(0, 1).amplitude("11").round(6)
        np.complex128(0.707107+0j)
        """
        bits = check_bits(bits, self.n, f"an amplitude of {self.n} qubits is named")
        final, batch = self._final()
        return final[0, :, int("".join(map(str, bits)), 2)].reshape(batch)[()]

    def probabilities(self, qubits: Sequence[int] | None = None) -> Array:
        """The probabilities of all outcomes, a tensor (..., 2, ..., 2).

        Parameters
        ----------
        qubits : sequence of int, optional
            Those that are measured, in the order of the axes that result; all by default.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).h(0).cx(0, 1).probabilities([1]).round(6)
        array([0.5, 0.5])
        """
        state = self.state()
        return marginal(state.real**2 + state.imag**2, self.n, qubits)

    # -- expectation values ----------------------------------------------------------------------

    def expectation(self, observable: Observable | Sequence[Observable]) -> Array:
        """The expectation value ``<psi|H|psi>``, real; (...) of a batch.

        Parameters
        ----------
        observable : PauliSum, str, array, Operator, Projector, or a list of them
            A string is one of Pauli letters, an array a Hermitian matrix on the first qubits.

        Returns
        -------
        real scalar or array (...)
            With a last axis over the observables if a list was given; the gradient of any weighted sum of them still
            takes one backward sweep.

        Raises
        ------
        ArgumentError
            If the observable is not Hermitian.
        ShapeError
            If it does not fit the number of qubits.

        Examples
        --------
        >>> import numpy as np, qad
        >>> c = qad.Circuit(2).ry(np.pi / 3, 0)
        >>> c.expectation([qad.PauliSum({"ZI": 1.0}), "XI", np.diag([0.0, 1.0])]).round(6)
        array([0.5     , 0.866025, 0.25    ])
        """
        if type(observable) is PauliSum:
            return self._energy(observables.hermitian(observable, self.n), strings_of(observable.strings))
        final, batch = self._final()
        psi = final.reshape(-1, 2**self.n)
        if not isinstance(observable, (list, tuple)):
            return observables.expectation(psi, observable, self.n, engine_of(self.engine)).reshape(batch)[()]
        if not observable:
            raise ArgumentError("expectation takes an observable or a list of them, not an empty one")
        engine = engine_of(self.engine)
        values = [observables.expectation(psi, one, self.n, engine).reshape(batch) for one in observable]
        return np.stack(values, -1)

    def _energy(self, c, strings):
        """The expectation value of a sum of strings with real coefficients (T,)."""
        engine, program, theta = engine_of(self.engine), self._analysed(), self.parameters
        small = program.by_angles and 2**self.n <= SMALL and theta.ndim == 1 and self.initial is None
        if small and type(c) is np.ndarray:
            psi = ONE[self.dtype]
            return energy_of_angles(theta, c, psi=psi, program=program, strings=strings, engine=engine)[0]
        final, batch = self._final()
        return energy(c, final, strings=strings, engine=engine, shape=batch)

    def variance(self, observable: Observable) -> Array:
        """The variance ``<H^2> - <H>^2 = |(H - <H>) psi|^2`` in the normalised state; (...) of a batch.

        Refused where the state is zero.  `expectation` is not divided by the norm of an initial state.

        Examples
        --------
        >>> import numpy as np, qad
        >>> qad.Circuit(1).ry(np.pi / 3, 0).variance("Z").round(6)
        np.float64(0.75)
        """
        final, batch = self._final()
        psi = final.reshape(-1, 2**self.n)
        norm2 = check_norm((psi.real**2 + psi.imag**2).sum(-1))
        mean = observables.expectation(psi, observable, self.n, engine_of(self.engine)) / norm2
        rest = observables.apply_any(observable, psi, self.n) - mean[:, None] * psi
        return ((rest.real**2 + rest.imag**2).sum(-1) / norm2).reshape(batch)[()]

    # -- samples ---------------------------------------------------------------------------------

    def sample(self, shots: int, seed: Seed = 0) -> NDArray[np.int64]:
        """Outcomes of measuring all qubits, drawn from the exact distribution.

        Parameters
        ----------
        shots : int
        seed : int or numpy.random.Generator

        Returns
        -------
        array of int (shots, n)
            (..., shots, n) of a batch.  Samples have no gradient; `qad.circuit.parameter_shift` estimates one.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).h(0).cx(0, 1).sample(4, seed=1)
        array([[1, 1],
               [1, 1],
               [0, 0],
               [1, 1]])
        """
        return draws(np.asarray(value_of(self.probabilities())), self.n, shots, seed)

    def counts(self, shots: int, seed: Seed = 0) -> Any:
        """How often each outcome was drawn, a dict from strings of bits; a list of them of a batch.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).x(1).counts(100)
        {'01': 100}
        """
        return counted(self.sample(shots, seed))

    def __repr__(self) -> str:
        return f"Circuit({self.n} qubits, {len(self.operations)} gates, {self._size} parameters)"


def widened(x: Array, batch: tuple[int, ...], axes: int) -> Array:
    """`x`, whose last axes are its own, over the whole batch unless it is the same for all."""
    lead = x.shape[: x.ndim - axes]
    return x if lead in ((), batch) else x + np.zeros((*batch, *(1,) * axes))
