"""Instructions as rows of site operators, with legs (left, right, out, in), over all sites that they span.

A controlled gate is ``1 + n (U - 1)``, n projecting the controls on 1; a Pauli rotation ``c + s (-i P)``.  So every
gate is a sum of a few rows, however far apart its qubits are; sums are direct sums of bonds.

On chains that conserve charges gates and observables have parts, by the charge that they add.  One part alone of a gate
has to be left in the present state: so gates that conserve are fine, and so is X on a qubit that is known to be 0 or 1,
which takes the state to another sector.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import ID, SWAP, X, pauli_matrix
from qad.core.errors import ArgumentError
from qad.mps.chain.chain import added
from qad.mps.chain.site_tensors import applied as site_applied
from qad.mps.charges.parts import applied as on_site
from qad.mps.charges.quantities import changes
from qad.mps.evolve.tebd import applied
from qad.mps.operators.local import Site, spin
from qad.mps.operators.mpo import MPO
from qad.symmetric.create import eye, from_dense
from qad.symmetric.generic import join, laid_out, norm, qr, split
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.program.ir import Instruction
    from qad.mps.charges.quantities import Charge, Quantities
    from qad.symmetric.tensor import SymTensor


PAULIS = {name: spin(0.5).operators[name] for name in ("Id", "X", "Y", "Z")}
QUBIT = Site("qubit", PAULIS, charges={"N": (0, 1), "Sz": (1, -1), "parity": (0, 1)})
ONE = np.diag([0.0, 1.0])  # the projector on 1
RANK_TOLERANCE = 1e-15
WIDEST = 8  # qubits that one gate may join
LOST = 1e-13  # relative norm of a part of a gate that is no more than rounding of its matrix


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
    rows = [row(1.0, span, {}, ()), *rows] if op.controls else rows
    return span[0], reduce(partial(added, right=1), rows)


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


def whole(tensors: Sequence[np.ndarray], op: Instruction, numbers: np.ndarray | None, back: bool) -> list[Any]:
    """The tensors from its first qubit on of this plain state after an instruction."""
    first, operators = site_operators(op, numbers)
    operators = [(w.conj().swapaxes(2, 3) if back else w).astype(tensors[0].dtype, copy=False) for w in operators]
    operator: Any = operators if len(operators) > 2 else operators[0][0, 0]
    if len(operators) == 2:
        operator = np.tensordot(operators[0][0], operators[1][:, 0], (0, 0)).transpose(0, 2, 1, 3)
    return acted(operator, tensors, first)


# -- gates by charge ---------------------------------------------------------------------------------------------------


def sites_of(op: Instruction) -> list[int]:
    """The qubits of an instruction, ascending."""
    sites = sorted((*op.controls, *op.targets))
    if len(sites) > WIDEST:
        raise ArgumentError(
            f"c.mps(conserve=...) takes gates of at most {WIDEST} qubits, not of {len(sites)}: leave conserve out"
        )
    return sites


def called(op: Instruction) -> str:
    """An instruction in messages."""
    return f"a gate ({op.letters or op.kind}) on qubits {sites_of(op)}"


def matrix_of(op: Instruction, numbers: np.ndarray | None) -> np.ndarray:
    """The matrix of an instruction of these numbers on the sites on which it does something."""
    sites, (first, operators) = sites_of(op), site_operators(op, numbers)
    return MPO([operators[site - first] for site in sites]).to_dense()


def parts_of(matrix: np.ndarray, sites: Sequence[int], conserved: Quantities) -> dict[Charge, np.ndarray]:
    """A matrix on some qubits by the charge that its parts add, the neutral one first."""
    group, charges = conserved.symmetry, [conserved.symmetry.neutral]
    for site in sites:
        charges = [group.plus(before, own) for before in charges for own in conserved.charges[site]]
    found = {q: np.where(here, matrix, 0) for q, here in changes(charges, group.minus).items()}
    return {q: found[q] for q in sorted(found, key=lambda q: (any(q), q)) if found[q].any()}


def breaking(matrix: np.ndarray, sites: Sequence[int], conserved: Quantities) -> str:
    """What a matrix on some qubits adds to their charge, in words; nothing where it conserves."""
    parts, allowed = parts_of(matrix, sites, conserved), LOST * np.linalg.norm(matrix)
    return ", ".join(
        str(conserved.symmetry.shown(q)) for q, part in parts.items() if any(q) and np.linalg.norm(part) > allowed
    )


def require_conserving(op: Instruction, numbers: np.ndarray | None, conserved: Quantities) -> None:
    """Raise unless a gate conserves, whatever state it acts on."""
    if broken := breaking(matrix_of(op, numbers), sites_of(op), conserved):
        raise ArgumentError(
            f"{called(op)} adds {broken} and stands behind a gate of which derivatives are asked for: "
            "c.mps(conserve=...) has derivatives where it and all gates behind it conserve; put those that prepare "
            "a basis state in front, or leave conserve out"
        )


def surviving(
    tensors: Sequence[SymTensor], op: Instruction, numbers: np.ndarray | None, back: bool, conserved: Quantities
) -> list[Any]:
    """The tensors from its first qubit on of this state after an instruction; an added charge is carried to the end.

    The centre stands among its qubits.  Raises where parts of it are left that add different charges.
    """
    sites, matrix = sites_of(op), matrix_of(op, numbers).astype(tensors[0].dtype)
    parts = parts_of(matrix.conj().T if back else matrix, sites, conserved)
    span, found = range(sites[0], sites[-1] + 1), {}
    for q, part in parts.items():
        near = len(span) < 3 and not any(q)
        operator = symmetric(part, sites, conserved) if near else row_of(part, q, sites, span, conserved)
        found[q] = acted(operator, tensors, sites[0])
    left = list(found)
    if len(found) > 1:
        norms = {q: weight(changed) for q, changed in found.items()}
        left = [q for q, size in norms.items() if size > LOST * max(norms.values())]
    if len(left) != 1:
        shown = ", ".join(str(conserved.symmetry.shown(q)) for q in sorted(left)) or "none"
        names = ", ".join(map(repr, conserved.names))
        raise ArgumentError(
            f"{called(op)} does not conserve {names}: parts of it add {shown} to qubits {sites} of this state; leave "
            "conserve out, or name what all gates conserve"
        )
    bond, behind = end_leg(left[0], conserved), range(span.stop, len(tensors) if any(left[0]) else 0)
    return found[left[0]] + acted([idle(bond, site, matrix.dtype, conserved) for site in behind], tensors, span.stop)


def acted(operator: Any, tensors: Sequence[Any], first: int) -> list[Any]:
    """The tensors from the site `first` on after an operator on it or on a pair, or after a list of site operators."""
    if isinstance(operator, list):
        return [site_applied(w, tensors[site]) for site, w in enumerate(operator, first)]
    if operator.ndim == 4:
        return [laid_out(applied(operator, tensors, first), 2)]
    return [laid_out(on_site(operator, tensors[first]), 2)]


def weight(tensors: Sequence[SymTensor]) -> float:
    """The norm of a row of tensors, of any gauge, between isometries."""
    centre = tensors[0]
    for tensor in tensors[1:]:
        if not centre.size:
            return 0.0
        centre = join(qr(centre)[1], tensor)
    return norm(centre)


# -- operators as symmetric tensors ------------------------------------------------------------------------------------


def symmetric(part: np.ndarray, sites: Sequence[int], conserved: Quantities, ends: tuple[Leg, ...] = ()) -> SymTensor:
    """The tensor of a matrix that conserves, legs (out, ..., in, ...), between legs `ends` of dimension 1."""
    legs, orders = [conserved.legs[site] for site in sites], [conserved.orders[site] for site in sites]
    array = part.reshape((2,) * (2 * len(sites)))[np.ix_(*orders * 2)]
    both = (*ends[:1], *legs, *[leg.conj() for leg in legs], *ends[1:])
    return from_dense(array.reshape([leg.dim for leg in both]), both, tol=0.0)


def row_of(
    part: np.ndarray, charge: Charge, sites: Sequence[int], span: range, conserved: Quantities
) -> list[SymTensor]:
    """The site operators (left, right, out, in) over a span of a matrix on some sites that adds a charge.

    What it adds flows out through the last bond.
    """
    one, end = (end_leg(q, conserved) for q in (conserved.symmetry.neutral, charge))
    rest, k = symmetric(part, sites, conserved, (one, end.conj())), len(sites)
    rest = rest.transpose(0, *[axis for site in range(1, k + 1) for axis in (site, k + site)], 2 * k + 1)
    found, bond = [], one
    for site in span:
        if site not in sites:
            found.append(idle(bond, site, part.dtype, conserved))
            continue
        own = rest
        if site != sites[-1]:
            own, rest = split(rest, 3, None, RANK_TOLERANCE, "cut")
        found.append(own.transpose(0, 3, 1, 2))
        bond = own.legs[3].conj()
    return found


def end_leg(charge: Charge, conserved: Quantities) -> Leg:
    """The outer bond of an operator that adds a charge."""
    return Leg({charge: 1}, 1, conserved.symmetry)


def idle(bond: Leg, site: int, dtype: Any, conserved: Quantities) -> SymTensor:
    """The site operator that does nothing and carries a bond on."""
    return join(eye(bond, dtype), eye(conserved.legs[site], dtype), ((), ()))
