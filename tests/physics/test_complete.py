"""Whoever adds a public function calls it here at its defaults: no name of the floors of physics is left out."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import qad

MODULES = ("qad.mps", "qad.mps.uniform", "qad.peps", "qad.peps.classical", "qad.peps.finite", "qad.circuit",
           "qad.integrate", "qad.optimize")  # fmt: skip
IMPLICIT = ("linear_solve", "lowest_eig", "dominant_eig", "expm_multiply", "truncated_svd", "truncated_eigh")
METHODS = {
    "Circuit": (qad.Circuit, "expectation variance state probabilities amplitude sample counts mps evolve"),
    "NoisyCircuit": (qad.circuit.NoisyCircuit, "expectation density_matrix purity probabilities trajectories"),
    "MPS": (qad.mps.MPS, "amplitudes log_amplitudes sample measure truncate product random to_dense"),
}


def public():
    """Pairs of the last word of a module and the name of a function."""
    for module in MODULES:
        for name, thing in vars(import_module(module)).items():
            if inspect.isfunction(thing) and not name.startswith("_") and listed(module, name):
                yield module.rpartition(".")[2], name
    yield from (("linalg", name) for name in IMPLICIT)
    yield ("qad", "fixed_point")


def listed(module, name):
    """Whether a module says that a name is public."""
    return name in getattr(import_module(module), "__all__", [name])


def called():
    """What the tests of this folder call: by its owner and name, by the name alone, or as a value."""
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                yield getattr(owner, "attr", getattr(owner, "id", None)), node.attr
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield None, node.func.id


def test_every_public_function_is_called_at_its_defaults():
    calls = set(called())
    names = {f"{owner}.{name}" for owner, name in public() if (owner, name) not in calls and (None, name) not in calls}
    assert not names


def test_every_method_of_a_state_or_circuit_is_called():
    attributes = {name for _, name in called()}
    for _, (kind, names) in METHODS.items():
        missing = [name for name in names.split() if hasattr(kind, name) and name not in attributes]
        assert not missing
