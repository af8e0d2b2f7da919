"""The present names of modules and functions that stored files call by the names of their time."""

from __future__ import annotations

import sys
from importlib import import_module

MOVED = {  # modules of primitives, which stored programs name: before -> now
    "qad.core.places": "qad.core.mutation.view_indices",
    "qad.circuit.action": "qad.circuit.pauli_apply",
    "qad.linalg.cholesky": "qad.linalg.decompositions.cholesky",
    "qad.linalg.clusters": "qad.linalg.support.clusters",
    "qad.linalg.det": "qad.linalg.functions.det",
    "qad.linalg.eig": "qad.linalg.decompositions.eig",
    "qad.linalg.eigh": "qad.linalg.decompositions.eigh",
    "qad.linalg.expm": "qad.linalg.functions.expm",
    "qad.linalg.funm": "qad.linalg.functions.funm",
    "qad.linalg.funm_herm": "qad.linalg.functions.funm_herm",
    "qad.linalg.funm_svd": "qad.linalg.functions.funm_svd",
    "qad.linalg.implicit": "qad.linalg.implicit.root",
    "qad.linalg.inv": "qad.linalg.equations.inv",
    "qad.linalg.kernel": "qad.linalg.support.null_space",
    "qad.linalg.logm": "qad.linalg.functions.logm",
    "qad.linalg.lu": "qad.linalg.decompositions.lu",
    "qad.linalg.norm": "qad.linalg.functions.norm",
    "qad.linalg.pinv": "qad.linalg.equations.pinv",
    "qad.linalg.qr": "qad.linalg.decompositions.qr",
    "qad.linalg.quotients": "qad.linalg.support.gap_quotients",
    "qad.linalg.rivals": "qad.linalg.krylov.rival_levels",
    "qad.linalg.schur": "qad.linalg.decompositions.schur",
    "qad.linalg.slogdet": "qad.linalg.functions.slogdet",
    "qad.linalg.solve": "qad.linalg.equations.solve",
    "qad.linalg.split": "qad.linalg.truncation.split",
    "qad.linalg.sqrtm": "qad.linalg.functions.sqrtm",
    "qad.linalg.svd": "qad.linalg.decompositions.svd",
    "qad.linalg.triangular": "qad.linalg.equations.triangular",
    "qad.mps.amplitudes": "qad.mps.amplitudes.amplitudes",
    "qad.rules.lazy": "qad.rules.structured_cotangents",
    "qad.rules.order": "qad.rules.sorting",
    "qad.tensor.network": "qad.contract.network",
    "qad.tensor.pair": "qad.contract.pair",
    "qad.tensor.single": "qad.contract.unary",
    "qad.tensor.slices": "qad.contract.slices",
    "qad.tensor.trace": "qad.contract.trace",
}
RENAMED = {  # functions: those of a module that stayed where it is
    "check_layout": "check_value",
    "qad.circuit.trigonometry.numbers": "qad.circuit.trigonometry.entries",
    "qad.mps.measures.matrix_entropy": "qad.mps.entanglement.matrix_entropy",
}
GONE = frozenset(("chained",))  # functions that stored programs may call and that are no more: elementwise, by blocks
PICKLED = {  # modules of the classes and functions in a pickle; the first is the package of the next
    "qad.freeze": "qad.frozen",
    "qad.freeze.frozen": "qad.frozen.freeze",
    "qad.freeze.signature": "qad.frozen.signature",
    "qad.core.tensor": "qad.core.tape.tensor",
}


def current(name: str) -> str:
    """What the function that a file calls `name` is called now."""
    name = RENAMED.get(name, name)
    module, _, function = name.rpartition(".")
    return f"{MOVED[module]}.{function}" if module in MOVED else name


def register() -> None:
    """Let pickle find by their old names the modules that pickles name."""
    for before, now in PICKLED.items():
        sys.modules.setdefault(before, import_module(now))
