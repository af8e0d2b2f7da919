"""Instructions as rows of site operators, with legs (left, right, out, in), over all sites that they span.

A controlled gate is ``1 + n (U - 1)``, n projecting the controls on 1; a Pauli rotation ``c + s (-i P)``.  So every
gate is a sum of a few rows, however far apart its qubits are; sums are direct sums of bonds.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import ID, SWAP, X, pauli_matrix
from qad.mps.chain.chain import added

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.program.ir import Instruction

ONE = np.diag([0.0, 1.0])  # the projector on 1
RANK_TOLERANCE = 1e-15


def site_operators(op: Instruction, v: np.ndarray | None) -> tuple[int, list[np.ndarray]]:
    """The first site of an instruction and its site operators, from its numbers."""
    sites = sorted((*op.controls, *op.targets))
    span = range(sites[0], sites[-1] + 1)
    idle = 1.0 if op.controls else 0.0  # what acts where a control is 0, too
    if op.kind == "pauli":
        letters = {q: pauli_matrix(letter)[None, None] for q, letter in zip(op.targets, op.letters, strict=True)}
        rows = [(v[0] - idle, {}), (-1j * v[1], letters)]
    else:
        u = dense(op, v)
        rows = [(1.0, factors(u - idle * np.eye(len(u)), op.targets))]
    rows = [row(factor, span, found, op.controls) for factor, found in rows]
    return span[0], summed([row(1.0, span, {}, ()), *rows] if op.controls else rows)


def dense(op: Instruction, v: np.ndarray | None) -> np.ndarray:
    """The matrix of an instruction on its targets."""
    if op.kind == "matrix":
        return v.reshape(2 ** len(op.targets), -1)
    return {"diagonal": np.diag, "flip": lambda _: X, "swap": lambda _: SWAP}[op.kind](v)


def factors(u: np.ndarray, targets: Sequence[int]) -> dict[int, np.ndarray]:
    """Site operators whose product is the matrix `u` on `targets`, by site; singular values of zero are dropped."""
    k = len(targets)
    order = np.argsort(targets)
    rest = u.reshape((2,) * (2 * k)).transpose([axis for t in order for axis in (t, k + t)]).reshape(1, -1)
    found = {}
    for t in order[:-1]:
        left, s, right = np.linalg.svd(rest.reshape(len(rest) * 4, -1), full_matrices=False)
        kept = max(1, np.count_nonzero(s > RANK_TOLERANCE * s[0]))
        found[targets[t]] = left[:, :kept].reshape(-1, 2, 2, kept).transpose(0, 3, 1, 2)
        rest = s[:kept, None] * right[:kept]
    found[targets[order[-1]]] = rest.reshape(-1, 1, 2, 2)
    return found


def row(factor: complex, span: range, found: dict[int, np.ndarray], controls: Sequence[int]) -> list[np.ndarray]:
    """The site operators of one product over `span`: those that were found, projectors at controls, else nothing."""
    tensors, bond = [], 1
    for site in span:
        if site in found:
            tensor = found[site]
            bond = tensor.shape[1]
        else:
            tensor = np.eye(bond)[:, :, None, None] * (ONE if site in controls else ID)
        tensors.append(tensor)
    return [factor * tensors[0], *tensors[1:]]


def summed(rows: list[list[np.ndarray]]) -> list[np.ndarray]:
    """The sum of rows of site operators."""
    return reduce(lambda total, other: added(total, other, right=1), rows)


def adjoint(operators: list[np.ndarray]) -> list[np.ndarray]:
    """Site operators of the Hermitian conjugate."""
    return [w.conj().swapaxes(2, 3) for w in operators]
