"""The parameter-shift rule: exact derivatives from expectation values at shifted parameters, and estimates from shots.

A gate ``exp(-i t G)`` makes expectation values trigonometric polynomials in t whose frequencies W_k are the
differences of G's eigenvalues.  Then ``E'(t) = sum_m c_m (E(t + s_m) - E(t - s_m))`` where ``sum_m c_m 2 sin(W_k s_m) =
W_k`` for every k (D. Wierichs et al., Quantum 6, 677 (2022)).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.checks import check_circuit
from qad.circuit.observables.operators import as_observable, hermitian
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.program.cone import reached
from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.extend import Tensor, any_traced, defvjp, primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from qad.circuit.gates.table import Gate
    from qad.circuit.program.circuit import Circuit
    from qad.typing import Array, Seed

STEP = 1e-3  # for the generator of a gate
SCALES = np.linspace(1.0, 0.2, 41)  # of shifts, which serve equidistant frequencies as they are
WORST = 100.0  # condition number of the sines at the shifts, by which errors and the noise of shots grow


def parameter_shift(circuit: Circuit, observable: PauliSum, shots: int | None = None, seed: Seed = 0) -> Array:
    """The gradient of an expectation value with respect to `circuit.parameters`, by the shift rule.

    Parameters
    ----------
    circuit : Circuit
        Every parameter in one gate; a gate with several parameters is refused.
    observable : PauliSum
    shots : int, optional
        Estimate every expectation value from so many shots per Pauli string; exact by default.
    seed : int or numpy.random.Generator

    Returns
    -------
    array (P,)
        Differentiable by the parameters and whatever else makes the expectation value.

    Raises
    ------
    ArgumentError
        A gate has several parameters, a parameter several gates, or the parameters are a batch.

    Examples
    --------
    >>> import numpy as np, qad
    >>> c = qad.Circuit(2).ry(0.4, 0).crx(0.7, 0, 1)
    >>> exact = qad.grad(lambda t: c.with_parameters(t).expectation("ZZ"))(c.parameters)
    >>> np.allclose(qad.circuit.parameter_shift(c, "ZZ"), exact)
    True
    """
    check_circuit(circuit, "parameter_shift(circuit, observable)")
    theta = circuit.parameters
    if theta.ndim != 1:
        raise ArgumentError("the parameter-shift rule takes one set of parameters, not a batch")
    rng, observable = np.random.default_rng(seed), as_observable(observable)

    def value(at, number):
        shifted = circuit.with_parameters(at)
        return shifted.expectation(observable) if shots is None else estimate(shifted, observable, shots, rng)

    return differences(value, theta, shifts_of(circuit, reached(circuit, observable)))


def differences(value: Callable[[Array, int], Array], theta: Array, shifts: list[tuple[int, float, float]]) -> Array:
    """The gradient (P,) from values at shifted parameters, which are told their numbers, too."""
    out = list(0.0 * theta)
    for m, (slot, weight, shift) in enumerate(shifts):
        step = shift * (np.arange(theta.shape[0]) == slot)
        out[slot] = out[slot] + weight * (value(theta + step, 2 * m + 1) - value(theta - step, 2 * m + 2))
    return np.stack(out) if out else np.zeros(0)


def shifts_of(circuit: Circuit, gates: Collection[int] | None = None) -> list[tuple[int, float, float]]:
    """Which parameter is shifted, the weight of the difference, and the shift; of the `gates` of these indices."""
    slots = [slot for operation in circuit.operations for slot in operation.slots]
    if len(set(slots)) < len(slots):
        raise ArgumentError("the parameter-shift rule takes circuits whose parameters belong to one gate each")
    return [
        (slot, weight, shift)
        for index, operation in enumerate(circuit.operations)
        for slot in (operation.slots if gates is None or index in gates else ())
        for weight, shift in zip(*rule_of(operation.gate, bool(operation.controls)), strict=True)
    ]


@lru_cache(maxsize=512)
def rule_of(gate: Gate, controlled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Weights c_m and shifts s_m for a gate of one parameter."""
    if gate.params != 1:
        raise ArgumentError(f"the parameter-shift rule takes gates of one parameter; {gate.name} has {gate.params}")
    u = [np.asarray(gate.matrix(np.asarray(t)), complex) for t in (-2 * STEP, -STEP, STEP, 2 * STEP)]
    slope = (u[0] - 8 * u[1] + 8 * u[2] - u[3]) / (12 * STEP)
    eigenvalues = np.linalg.eigvalsh(1j * slope @ np.asarray(gate.matrix(np.asarray(0.0))).conj().T)
    eigenvalues = np.append(eigenvalues, [0.0] * controlled)
    frequencies = np.unique(np.abs(eigenvalues[:, None] - eigenvalues).round(9))[1:]  # the first is 0
    if not len(frequencies):
        return np.zeros(1), np.ones(1)
    count = len(frequencies)
    shifts = (2 * np.arange(count) + 1) * np.pi / (2 * count * frequencies[0])
    for scale in SCALES:
        sines = 2 * np.sin(np.outer(frequencies, scale * shifts))
        if np.linalg.cond(sines) < WORST:
            return np.linalg.solve(sines, frequencies), scale * shifts
    raise ArgumentError(f"no shifts tell the frequencies {frequencies} of {gate.name} apart: use qad.grad")


def estimate(circuit: Circuit, observable: PauliSum | str, shots: int, seed: Seed = 0) -> Array:
    """An expectation value estimated from shots, string by string, as a quantum computer would.

    Its derivatives, of any order and in both modes, are estimates as well: those by coefficients from the same shots,
    those by parameters from shots of their own, by the shift rule.

    Parameters
    ----------
    circuit : Circuit
        Parameters that are differentiated stand in one gate each.
    observable : PauliSum or str
    shots : int
        For each Pauli string.
    seed : int or numpy.random.Generator
        An int, where derivatives are taken.

    Raises
    ------
    ArgumentError
        No Pauli sum; or a matrix or the initial state depends on what is differentiated, of which shots say nothing.

    Examples
    --------
    >>> import numpy as np, qad
    >>> float(qad.circuit.estimate(qad.Circuit(2).h(0), "XZ", shots=50))
    1.0
    >>> g = qad.grad(lambda t: qad.circuit.estimate(qad.Circuit(1).ry(t, 0), "Z", shots=10000))(0.5)
    >>> abs(g + np.sin(0.5)) < 0.05
    np.True_
    """
    check_circuit(circuit, "estimate(circuit, observable, shots)")
    observable = as_observable(observable)
    if not isinstance(observable, PauliSum):
        raise ArgumentError("estimates from shots take a PauliSum")
    if any(type(x) is Tensor and x.requires_grad for x in flatten([circuit.matrices, circuit.initial])[0]):
        raise ArgumentError(
            "estimates from shots have derivatives by angles of gates alone, not by matrices or an initial state: "
            "write the circuit with gates, or use expectation"
        )
    c, theta = hermitian(observable, circuit.n), circuit.parameters
    if type(theta) is not Tensor and not any_traced(theta):
        means = string_means(circuit, observable.strings, shots, np.random.default_rng(seed))
    elif isinstance(seed, (int, np.integer)):
        bare = circuit.with_parameters(np.zeros(circuit._size))
        means = sampled(theta, circuit=bare, strings=observable.strings, shots=shots, seed=(int(seed),))
    else:
        raise ArgumentError("derivatives of estimates from shots take an int as their seed")
    return (c * means).sum()


def string_means(circuit: Circuit, strings: tuple[str, ...], shots: int, rng: np.random.Generator) -> np.ndarray:
    """The mean outcome (T,) of each Pauli string, from shots of its own."""
    found = []
    for string in strings:
        rotated, measured = circuit.copy(), [q for q, letter in enumerate(string) if letter != "I"]
        for q in measured:
            if string[q] == "Y":
                rotated.sdg(q)
            if string[q] in "XY":
                rotated.h(q)
        found.append((1 - 2 * (rotated.sample(shots, rng)[:, measured].sum(-1) & 1)).mean())
    return np.array(found)


@primitive
def sampled(
    theta: Array, *, circuit: Circuit, strings: tuple[str, ...], shots: int, seed: tuple[int, ...]
) -> Array:  # fmt: skip
    """The mean outcome (T,) of each Pauli string at parameters (P,); other seeds make independent shots."""
    if theta.ndim != 1:
        raise ArgumentError("derivatives of estimates from shots take one set of parameters, not a batch")
    return string_means(circuit.with_parameters(theta), strings, shots, np.random.default_rng(list(seed)))


def sampled_vjp(
    g: Array, ans: Array, theta: Array, *, circuit: Circuit, strings: tuple[str, ...], shots: int, seed: tuple[int, ...]
) -> Array:
    """The shift rule, in terms of `sampled` itself, so that it serves every order."""
    given = {"circuit": circuit, "strings": strings, "shots": shots}
    return differences(lambda at, m: (g * sampled(at, seed=(*seed, m), **given)).sum(), theta, shifts_of(circuit))


defvjp(sampled, sampled_vjp)
