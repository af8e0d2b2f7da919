"""The tape knows no function of NumPy by name: what differs from function to function stands where its rule does."""

import ast
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.extend.recording import takes_tensors

CORE = Path(qad.__file__).parent / "core"
DEFINING = {"rule", "defvjp", "defjvp", "defbatch", "implements", "passes_through"}


def function_of(node):
    """The function of NumPy that an expression such as ``np.linalg.svd`` names, or None."""
    names = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else []
    found = np if names[:1] == ["np"] else None
    for name in names[1:]:
        found = getattr(found, name, None)
    return found if names and callable(found) and not isinstance(found, type) and takes_tensors(found) else None


def members(node):
    """The expressions by which something is looked up: entries of sets and tables, keys, what is compared."""
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from filter(None, node.keys)
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DEFINING:
        yield from node.args[:1]


def named(source):
    """Pairs of a line and the function of NumPy that is singled out there."""
    for node in ast.walk(ast.parse(source)):
        for member in members(node):
            if (fn := function_of(member)) is not None:
                yield node.lineno, fn.__name__


def test_core_singles_out_no_function_of_numpy():
    paths = sorted(CORE.rglob("*.py"))
    found = [f"{path.relative_to(CORE)}:{line}: np.{fn}" for path in paths for line, fn in named(path.read_text())]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "VIEWS = {np.reshape, reshape}",
        "KINDS = {np.interp: as_number}",
        "KINDS[np.linalg.svd] = 1",
        "if fn is np.copy: pass",
        "rule(np.sin, lambda g, y, x: g)",
        "if fn in (np.add, np.subtract): pass",
    ],
)
def test_the_test_sees_it(source):
    assert list(named(source))


def test_calling_numpy_is_not_naming_it():
    assert not list(named("y = np.sum(np.asarray(x)) if type(x) is np.ndarray else x[np.newaxis]"))
