"""A pytest plugin: tensornetwork's own tests, run against the backend of our choice.

The tests hard-code backend names in tables and parameters, so the backend under test takes the names that they
know; of tests that come once per name, the one named "numpy" is kept. The environment variable
QAD_TENSORNETWORK chooses the backend; see `backends.make`.
"""

import os

import pytest

from . import stubs

stubs.install()

import tensornetwork  # noqa: E402
from tensornetwork.backends import backend_factory, numpy  # noqa: E402

from . import backends  # noqa: E402

OTHERS = ("jax", "pytorch", "tensorflow")


def pytest_configure():
    kind = backends.make(os.environ["QAD_TENSORNETWORK"])
    for name in ("numpy", *OTHERS):
        backend_factory._BACKENDS[name] = backends.renamed(kind, name)
    numpy.numpy_backend.NumPyBackend = backend_factory._BACKENDS["numpy"]
    numpy.decompositions = backends.decompositions(kind)


@pytest.fixture
def backend():
    return "numpy"


@pytest.fixture(autouse=True)
def _default_backend():
    tensornetwork.set_default_backend("numpy")


def pytest_collection_modifyitems(config, items):
    """Leave out what would be run more than once."""
    dropped = [item for item in items if set(OTHERS) & set(_parameters(item))]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]


def _parameters(item):
    """Names among the parameters of a test, those of backend objects included."""
    for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
        for entry in value if isinstance(value, tuple) else (value,):
            name = getattr(entry, "name", entry)
            if isinstance(name, str):
                yield name
