"""Noisy circuits as trajectories need them: sites, and the stretches between those that depend on the state.

A channel, a measurement or a reset is a site, which takes one of its Kraus matrices.  Where these are multiples of
unitary matrices, their probabilities depend on no state: all that a trajectory takes in a stretch of such sites is
drawn beforehand, and the stretch is one circuit (`qad.circuit.noise.frames`).  Other sites stand at the end of a
stretch; what is taken there is the first gate of the next.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.noise.channels import Channel, kraus_of
from qad.circuit.noise.frames import Stretch, StretchBuilder
from qad.circuit.noise.kraus import FIXED
from qad.circuit.program.analysis import program_of
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.program.ir import CircuitProgram, Operation
    from qad.typing import Array


class NoisyProgram(NamedTuple):
    """A noisy circuit: the program of its gates, the operation of every site, and the order of both.

    `order` has an item for each: the condition, a mask of bits and their values, and the number of the gate or, as -1
    and less, of the site.
    """

    program: CircuitProgram
    sites: tuple[Operation, ...]
    order: tuple[tuple[tuple[int, int], int], ...]

    def channels(self, matrices: Sequence[Any]) -> list[Channel]:
        """The channel of every site, of weights 1 where no derivative by rates is asked for."""
        every = [FIXED[o.gate.name] if o.given is None else matrices[o.given] for o in self.sites]
        return [u if type(u) is Channel and u.recorded else Channel(np.ones(len(u)), kraus_of(u)) for u in every]

    def kraus(self, matrices: Sequence[Any]) -> list[Array]:
        """The Kraus matrices (K, d, d) of every site."""
        return [kraus_of(FIXED[o.gate.name] if o.given is None else matrices[o.given]) for o in self.sites]

    def bits(self, choices: np.ndarray, count: int) -> np.ndarray:
        """The classical bits (T, count) at the end, from the choices (T, S), -1 where a site was passed over."""
        found = np.zeros((len(choices), count), np.int64)
        for s, site in enumerate(self.sites):
            if site.into is not None:
                done = choices[:, s] >= 0
                found[done, site.into] = choices[done, s]
        return found


@lru_cache(maxsize=256)
def plan_of(n: int, size: int, operations: tuple[Operation, ...]) -> NoisyProgram:
    """The plan of a noisy circuit's operations."""
    gates, sites, order = [], [], []
    for o in operations:
        site = o.gate.name in (*FIXED, "channel") and not o.gate.unitary
        if not o.gate.unitary and not site:
            raise ArgumentError("trajectories take unitary gates and channels: write c.operator(...) as a c.channel")
        order.append((condition(o.when), -1 - len(sites) if site else len(gates)))
        if site:
            sites.append(o)
        else:
            gates.append(o._replace(when=()))
    return NoisyProgram(program_of(n, size, tuple(gates)), tuple(sites), tuple(order))


def condition(when: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """A mask of bits, and the values that they are to have."""
    mask = value = 0
    for bit, wanted in when:
        if mask >> bit & 1 and value >> bit & 1 != wanted:
            return 0, 1  # never
        mask, value = mask | 1 << bit, value | wanted << bit
    return mask, value


@lru_cache(maxsize=64)
def stretches_of(plan: NoisyProgram, kinds: tuple[str, ...]) -> list[Stretch]:
    """The stretches of a plan whose sites are of these kinds: "string", "unitary" or "state"."""
    n, found = plan.program.n, []
    builder = StretchBuilder(n)
    for when, number in plan.order:
        if when != builder.condition:
            found.append(builder.stretch())
            builder = StretchBuilder(n, when)
        if number >= 0:
            builder.gate(plan.program.instructions[number])
        elif kinds[-1 - number] == "state":
            found.append(builder.stretch(-1 - number))
            builder = StretchBuilder(n)
            builder.jump(plan.sites[-1 - number].qubits)
        else:
            builder.error(-1 - number, plan.sites[-1 - number].qubits, kinds[-1 - number])
    return [*found, builder.stretch()]
