"""What all tests share: one thread of BLAS a process, and no search for garbage among what is there for good."""

import gc
import os

import pytest

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
