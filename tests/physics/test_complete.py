"""Whoever adds a public function calls it here at its defaults: no name of the floors of physics is left out."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import qad

MODULES = ("qad.mps", "qad.mps.uniform", "qad.peps", "qad.peps.classical", "qad.peps.finite", "qad.circuit", "qad.vmc",
           "qad.integrate", "qad.linalg", "qad.optimize")  # fmt: skip
# files and pictures, and what the package alone calls
NO_PHYSICS = {"save", "load", "draw", "draw_bond", "plot", "after", "ordinary", "way"}
KINDS = (
    qad.Circuit, qad.circuit.NoisyCircuit, qad.PauliSum, qad.mps.MPS, qad.mps.MPO, qad.mps.OpSum,
    qad.mps.Lattice, qad.mps.ThermalState, qad.mps.ThermalCurve, qad.mps.Metts, qad.mps.uniform.UniformMPS,
    qad.peps.PEPS,
)  # fmt: skip


def public():
    """Pairs of the last word of a module and the name of a function."""
    for module in MODULES:
        for name, thing in vars(import_module(module)).items():
            if inspect.isfunction(thing) and not name.startswith("_") and listed(module, name):
                yield module.rpartition(".")[2], name
    yield ("qad", "fixed_point")


def listed(module, name):
    """Whether a module says that a name is public."""
    return name in getattr(import_module(module), "__all__", [name])


def nightly(node):
    """Whether a part of a module is a test of the night alone."""
    return isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "pytest.mark.slow" for d in node.decorator_list)


def called():
    """What the ordinary tests of this folder call: by its owner and name, by the name alone, or as a value."""
    for path in Path(__file__).parent.glob("test_*.py"):
        parts = [part for part in ast.parse(path.read_text()).body if not nightly(part)]
        for node in ast.walk(ast.Module(parts, [])):
            if isinstance(node, ast.Attribute):
                owner = node.value
                yield getattr(owner, "attr", getattr(owner, "id", None)), node.attr
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield None, node.func.id


def test_every_public_function_is_called_at_its_defaults():
    calls = set(called())
    names = {f"{owner}.{name}" for owner, name in public() if (owner, name) not in calls and (None, name) not in calls}
    assert not names


def test_every_method_of_a_state_model_or_circuit_is_called():
    names = {name for pair in called() for name in pair}
    gates = (Path(__file__).parent / "test_gates.py").read_text()  # which calls them by their names
    for kind in KINDS:
        methods = {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name, None))}
        missing = {name for name in methods - names - NO_PHYSICS if f'"{name}"' not in gates}
        assert not missing, kind
