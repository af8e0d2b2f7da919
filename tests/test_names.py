"""One word, one meaning: a name of one floor is not taken for another thing on a second."""

import ast
from importlib import import_module

from tests.test_layers import FLOORS, PACKAGE, parsed

SHARED_CLASSES = {  # the same thing of chains and of two dimensions: the file of a search, and what a search found
    "Checkpoint", "GroundState",
}  # fmt: skip
SHARED_FUNCTIONS = {  # names of the field for the same thing of other tensors, other states or other lattices
    # of matrices: plain, block-sparse, of a chain
    "eigh", "expm", "funm_herm", "funm_svd", "norm", "qr", "split", "svd", "tensordot", "truncated_svd",
    # of states: of a chain, of a lattice, of qubits
    "correlation_length", "energy", "entanglement_spectrum", "evolve", "expectation", "ground_state",
    "local_expectations", "log_norm2", "norm2", "overlap", "reduced_density", "sample", "structure_factor",
    "thermal_state", "variance",
    # kernels: all that a package has to compile is compiled
    "warm_up",
    # models, by the names of those who wrote them down
    "heisenberg", "hubbard", "ising", "j1j2", "tj", "xxz",
}  # fmt: skip
OF_NUMPY = ("array_api", "rules", "special")  # whose names are those of NumPy, SciPy and the standard


def floor_of(path, root):
    """The first-level folder or module that holds a file."""
    return path.relative_to(root).with_suffix("").parts[0]


def classes(root):
    """The names of the classes of modules, each with the floors that define one."""
    found = {}
    for path in root.rglob("*.py"):
        for node in parsed(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set()).add(floor_of(path, root))
    return found


def public_functions(floors):
    """The functions that the packages of floors offer, by their names, each with the floors that define one."""
    found = {}
    for floor in floors:
        for path in sorted((PACKAGE / floor).rglob("__init__.py")):
            module = import_module(".".join(("qad", *path.parent.relative_to(PACKAGE).parts)))
            for name in getattr(module, "__all__", ()):
                defined = getattr(getattr(module, name), "__module__", None) or ""
                if callable(getattr(module, name)) and defined.split(".")[:2] == ["qad", floor]:
                    found.setdefault(name, set()).add(floor)
    return found


def on_two_floors(found):
    """The names that more than one floor has."""
    return {name for name, floors in found.items() if len(floors) > 1}


def test_classes_of_two_floors_have_two_names():
    assert on_two_floors(classes(PACKAGE)) == SHARED_CLASSES


def test_public_functions_of_two_floors_have_two_names():
    floors = [floor for floor in FLOORS if floor not in ("interop", "commands", *OF_NUMPY)]
    assert on_two_floors(public_functions(floors)) - SHARED_CLASSES == SHARED_FUNCTIONS


def test_a_class_that_two_floors_define_is_seen(tmp_path):
    for floor, names in (("mps", "Plan Sweep"), ("peps", "Plan Corner")):
        (tmp_path / floor).mkdir()
        (tmp_path / floor / "here.py").write_text("\n".join(f"class {name}:\n    pass" for name in names.split()))
    assert on_two_floors(classes(tmp_path)) == {"Plan"}
