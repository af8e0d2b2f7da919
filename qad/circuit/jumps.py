"""Trajectories of a noisy circuit: what is planned once, and the engine in NumPy.

A step is a run of gates, and then a site: a channel, a measurement or a reset, which takes one of its Kraus matrices.
Trajectories that have taken the same ones so far are one state; a site divides them into groups, one for each matrix
that is taken, which go on one after the other.  So what trajectories have in common is computed once, and the result is
that of each alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit import reference
from qad.circuit.analysis import program_of
from qad.circuit.channels import Channel, opened
from qad.core.errors import ArgumentError
from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.ir import Operation, Program
    from qad.typing import Array

FIXED: dict[str, np.ndarray] = {  # Kraus matrices: of the outcomes 0 and 1, and of both ways to 0
    "measure": np.stack([np.diag([1.0 + 0j, 0.0]), np.diag([0.0, 1.0])]),
    "reset": np.array([[[1.0 + 0j, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]),
}


class Step(NamedTuple):
    """Instructions `first` to `last` and then a site, -1 for none, where the bits of `mask` are those of `value`."""

    first: int
    last: int
    mask: int
    value: int
    site: int


class Plan(NamedTuple):
    """A noisy circuit as steps: the program of its gates, and the operation of every site."""

    program: Program
    steps: tuple[Step, ...]
    sites: tuple[Operation, ...]

    def kraus(self, matrices: Sequence[Array]) -> list[Array]:
        """The Kraus matrices (K, d, d) of every site."""
        return [FIXED[o.gate.name] if o.given is None else opened(matrices[o.given]) for o in self.sites]

    def channels(self, matrices: Sequence[Any]) -> list[Channel]:
        """The channel of every site, of weights 1 where no derivative by rates is asked for."""
        every = [FIXED[o.gate.name] if o.given is None else matrices[o.given] for o in self.sites]
        recorded = [type(u) is Channel and u.recorded for u in every]
        return [u if own else Channel(np.ones(len(u)), opened(u)) for u, own in zip(every, recorded, strict=True)]

    def bits(self, choices: np.ndarray, count: int) -> np.ndarray:
        """The classical bits (T, count) at the end, from the choices (T, S), -1 where a site was passed over."""
        found = np.zeros((len(choices), count), np.int64)
        for s, site in enumerate(self.sites):
            if site.into is not None:
                done = choices[:, s] >= 0
                found[done, site.into] = choices[done, s]
        return found


def unitaries(kraus: Array) -> np.ndarray | None:
    """The unitary matrices (K, d, d) that plain Kraus matrices are multiples of, if they are."""
    if type(kraus) is Tensor:
        return None
    products = np.swapaxes(kraus.conj(), -1, -2) @ kraus
    squares = products[:, 0, 0].real
    if np.abs(products - squares[:, None, None] * np.eye(kraus.shape[-1])).max() > 1e-14:
        return None
    return kraus / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None, None]


@lru_cache(maxsize=256)
def plan_of(n: int, size: int, operations: tuple[Operation, ...]) -> Plan:
    """The plan of a noisy circuit's operations."""
    gates, sites, steps = [], [], []
    begin, now = 0, ()
    for o in operations:
        site = o.gate.name if o.gate.name in (*FIXED, "channel") and not o.gate.unitary else ""
        if not o.gate.unitary and not site:
            raise ArgumentError("trajectories take unitary gates and channels: write c.operator(...) as a c.channel")
        if o.when != now and len(gates) > begin:
            steps.append(Step(begin, len(gates), *condition(now), -1))
            begin = len(gates)
        now = o.when
        if not site:
            gates.append(o._replace(when=()))
            continue
        steps.append(Step(begin, len(gates), *condition(now), len(sites)))
        sites.append(o)
        begin = len(gates)
    steps.append(Step(begin, len(gates), *condition(now), -1))
    return Plan(program_of(n, size, tuple(gates)), tuple(steps), tuple(sites))


def condition(when: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """A mask of bits, and the values that they are to have."""
    mask = value = 0
    for bit, wanted in when:
        if mask >> bit & 1 and value >> bit & 1 != wanted:
            return 0, 1  # never
        mask, value = mask | 1 << bit, value | wanted << bit
    return mask, value


def written(bits: int, into: int | None, outcome: int) -> int:
    """The classical bits after an outcome."""
    return bits if into is None else bits & ~(1 << into) | outcome << into


def draw(
    plan: Plan, real: np.ndarray, complex_: np.ndarray, kraus: Sequence[np.ndarray], uniforms: np.ndarray,
    dtype: np.dtype,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Final states (G, 2**n), which of them each trajectory ends in (T,), and its choices (T, S).

    They follow from uniform numbers (T, S) and the gates' entries.
    """
    n, vectors = plan.program.n, {"real": real, "complex": complex_}
    out, which, choices = [], np.empty(len(uniforms), np.int64), np.full(uniforms.shape, -1)
    zero = np.zeros((1, 2**n), dtype)
    zero[0, 0] = 1
    groups = [(zero, np.arange(len(uniforms)), 0, 0)]
    while groups:
        psi, members, at, bits = groups.pop()
        for place, step in enumerate(plan.steps[at:], at):
            if bits & step.mask != step.value:
                continue
            for op in plan.program.instructions[step.first : step.last]:
                (psi,) = reference.apply(op, reference.entries_of(op, vectors), [psi], n)
            if step.site < 0:
                continue
            site = plan.sites[step.site]
            after = images(kraus[step.site], psi, site.qubits, n)
            weights = (after.real**2 + after.imag**2).sum(-1)
            chosen = choices[members, step.site] = outcomes(weights, uniforms[members, step.site])
            parts = [(k, members[chosen == k]) for k in np.unique(chosen).tolist()]
            parts.sort(key=lambda part: len(part[1]))
            every = [
                ((after[k : k + 1] / np.sqrt(weights[k])).astype(dtype), own, place + 1, written(bits, site.into, k))
                for k, own in parts
            ]
            psi, members, _, bits = every[-1]
            groups += every[:-1]
        which[members] = len(out)
        out.append(psi)
    return np.concatenate(out), which, choices


def images(kraus: np.ndarray, psi: np.ndarray, qubits: tuple[int, ...], n: int) -> np.ndarray:
    """All Kraus matrices (K, d, d) on one state (1, 2**n): (K, 2**n)."""
    rest = [q for q in range(n) if q not in qubits]
    order = (*qubits, *rest)
    rows = psi.reshape((2,) * n).transpose(order).reshape(2 ** len(qubits), -1)
    found = (kraus @ rows).reshape(-1, *(2,) * n)
    return found.transpose(0, *(1 + np.argsort(order))).reshape(len(kraus), -1)


def outcomes(weights: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Indices drawn with these weights, by inversion."""
    cumulative = np.cumsum(weights)
    found = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return np.minimum(found, np.flatnonzero(weights)[-1])


def measured(psi: np.ndarray, which: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """The index of one basis state of ``psi[which[t]]``, for each t, by inversion."""
    weights = psi.real**2 + psi.imag**2
    return np.array([outcomes(weights[i], u) for i, u in zip(which, uniforms, strict=True)])
