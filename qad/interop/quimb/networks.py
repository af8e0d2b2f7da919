"""Whole networks for qad's engine: one plan, in the order that cotengra found, instead of calls pair by pair."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import autoray

from qad.contract import einsum
from qad.contract.hermitian.real_form import partners

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from types import ModuleType
    from typing import Any

    from qad.typing import Array, Function

__all__ = ["contract_whole_networks", "hermitian_forms"]

_hermitian: ContextVar[bool] = ContextVar("hermitian", default=False)


@contextmanager
def hermitian_forms(meant: bool = True) -> Iterator[None]:
    """Within, scalar networks in which every recorded tensor meets its conjugate are ``<psi|O|psi>``; see `einsum`."""
    token = _hermitian.set(meant)
    try:
        yield
    finally:
        _hermitian.reset(token)


def contract_whole_networks(cotengra: ModuleType) -> None:
    """Have ``cotengra.array_contract`` hand networks with Tensors to qad; once, however often it is called."""
    if not hasattr(cotengra.array_contract, "before"):
        found = partial(_contract, cotengra, cotengra.array_contract)
        found.before = cotengra.array_contract
        cotengra.array_contract = found


def _contract(
    cotengra: ModuleType, pairwise: Function, arrays: Sequence[Array], inputs: Sequence[Sequence[Hashable]],
    output: Sequence[Hashable] | None = None, optimize: Any = "auto", backend: str | None = None, **keywords: Any,
) -> Any:  # fmt: skip
    arrays = tuple(arrays)
    wanted = backend in (None, "qad") and not keywords.get("strip_exponent")
    if len(arrays) < 2 or not wanted or all(autoray.infer_backend(x) != "qad" for x in arrays):
        return pairwise(arrays, inputs, output, optimize=optimize, backend=backend, **keywords)
    numbers: dict[Hashable, int] = {}  # labels are random text in quimb; plans are kept by structure
    terms = tuple(tuple(numbers.setdefault(label, len(numbers)) for label in term) for term in inputs)
    if output is None:
        labels = [label for term in terms for label in term]
        out = tuple(label for label in numbers.values() if labels.count(label) == 1)
    else:
        out = tuple(numbers[label] for label in output)
    path = _path(cotengra, terms, out, tuple(tuple(x.shape) for x in arrays), optimize)
    if path is None:
        return pairwise(arrays, inputs, output, optimize=optimize, backend=backend, **keywords)
    operands = [part for x, term in zip(arrays, terms, strict=True) for part in (x, term)]
    hermitian = _hermitian.get() and not out and bool(partners(arrays))
    return einsum(*operands, out, optimize=path, hermitian=hermitian)


def _path(cotengra, terms, output, shapes, optimize):
    """The order as pairs, or None where the tree is sliced or has steps that are no pairs."""
    if isinstance(optimize, list):
        optimize = tuple(map(tuple, optimize))
    find = _path_of_structure if isinstance(optimize, str | tuple) else _path_of_structure.__wrapped__
    return find(cotengra, terms, output, shapes, optimize)


@lru_cache(maxsize=1024)
def _path_of_structure(cotengra, terms, output, shapes, optimize):
    tree = cotengra.array_contract_tree(terms, output, shapes=shapes, optimize=optimize)
    path = tuple(map(tuple, tree.get_path()))
    return None if tree.sliced_inds or any(len(step) != 2 for step in path) else path
