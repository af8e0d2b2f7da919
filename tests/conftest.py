"""What all tests share: one thread of BLAS a process, no search for garbage among what is there for good, samples."""

import gc
import os
from operator import attrgetter

import pytest

from tests.sampling import thin

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported, and for the processes that tests start


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Half a million objects of modules and tests stay to the end; a full collection would go through all of them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before cases are left out by their marks
def pytest_collection_modifyitems(items):
    """Large families of cases are sampled; see `tests.sampling`."""
    thin(items)


@pytest.fixture
def registries_as_before():
    """The rules and gates that a test, or an example, defines are gone after it."""
    from qad.circuit.gates.table import GATES  # after the number of threads has been set
    from qad.core.registry.define import PRIMITIVES
    from qad.core.registry.families import BATCHING
    from qad.core.tape.dispatch import FUNCTIONS, UFUNCS
    from qad.core.tape.node import Primitive

    registries = PRIMITIVES, UFUNCS, FUNCTIONS, BATCHING, GATES
    rules_of = attrgetter(*Primitive.__slots__)
    before = [dict(registry) for registry in registries]
    known = {p for known in PRIMITIVES.values() for p in (known, known.broadcasting) if p is not None}
    rules = [(p, rules_of(p)) for p in known]
    yield
    for p, before_it in rules:
        for slot, rule, now in zip(Primitive.__slots__, before_it, rules_of(p), strict=True):
            if now is not rule:
                setattr(p, slot, rule)
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)
