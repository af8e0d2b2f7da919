"""The import law of the house: floors import only downwards, optional packages are lazy, files are small."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "qad"

FLOORS = (
    "core",
    "rules",
    "special",
    "linalg",
    "array_api",
    "tensor",
    "freeze",
    "optimize",
    "mps",
    "circuit",
    "interop",
    "viz",
)
BESIDE_CORE = ("extend", "testing")  # rest on core alone; every floor above core may use them
OPTIONAL = {"cupy", "dask", "jax", "matplotlib", "numba", "pennylane", "qiskit", "quimb", "tensornetwork", "torch"}
MAY_NEED_OPTIONAL = ("interop", "viz")
MOST_LINES = 400
FREE_OF_CIRCLES = ("tensor",)


def allowed(floor):
    """The parts of qad that a floor may import, itself included; None for no limit."""
    if floor == "__init__":
        return None
    if floor == "core":
        return {"core"}
    if floor in BESIDE_CORE:
        return {"core", floor}
    return {*FLOORS[: FLOORS.index(floor) + 1], *BESIDE_CORE}


def imports(tree, package):
    """Yield (line, target as a tuple, name or None, runs on import) for every import of a parsed module.

    `package`, the tuple of package names that holds the module, resolves its relative imports.
    """
    lazy = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split(".")), None, id(node) not in lazy
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            target = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield node.lineno, target, alias.name, id(node) not in lazy


def breaches(root):
    """List every breach of the import law under the package folder `root`, as readable strings."""
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        package = ("qad", *parts[:-1])
        for line, target, name, eager in imports(ast.parse(path.read_text("utf-8")), package):
            complaint = judge(parts[0], target, name, eager)
            if complaint:
                found.append(f"{path.relative_to(root)}:{line}: {complaint}")
    return found


def judge(floor, target, name, eager):
    """Say what is wrong with one import made on `floor`, or return None."""
    if target[0] != "qad":
        if eager and target[0] in OPTIONAL and floor not in MAY_NEED_OPTIONAL:
            return f"imports {target[0]}, which is optional: import it inside the function that needs it"
        return None
    if floor != "__init__" and floor not in (*FLOORS, *BESIDE_CORE):
        return f"'{floor}' is no floor of the house: add it to FLOORS in its place"
    other = target[1] if len(target) > 1 else name
    limit = allowed(floor)
    if limit is not None and other not in limit:
        return f"{floor} may not import {'qad itself' if other is None else f'qad.{other}'}"
    private = [part for part in (*target[2:], name or "") if part.startswith("_")]
    if other != floor and private:
        return f"{floor} imports {private[0]}, which is private to {other}"
    return None


def long_files(root):
    """List the files of more lines than one sitting takes."""
    counts = {path: len(path.read_text("utf-8").splitlines()) for path in root.rglob("*.py")}
    return [f"{path.relative_to(root)}: {n} lines" for path, n in counts.items() if n > MOST_LINES]


def test_floors_import_only_downwards():
    assert (PACKAGE / "__init__.py").exists()
    assert breaches(PACKAGE) == []


def circles(folder, package):
    """Circles of imports among the modules in a folder, the imports made inside of functions included."""
    files = sorted(folder.rglob("*.py"))
    paths = {".".join((package, *path.relative_to(folder).with_suffix("").parts)): path for path in files}
    needs = {}
    for module, path in paths.items():
        names = set()
        for _, target, name, _ in imports(ast.parse(path.read_text("utf-8")), tuple(module.split(".")[:-1])):
            names |= {".".join(target), ".".join((*target, name or ""))}
        needs[module] = sorted(names.intersection(paths))
    found, done = [], set()

    def visit(module, above):
        if module in above:
            found.append(" -> ".join([*above[above.index(module) :], module]))
        elif module not in done:
            for other in needs[module]:
                visit(other, [*above, module])
            done.add(module)

    for module in paths:
        visit(module, [])
    return found


def test_no_circles_inside_a_floor():
    for floor in FREE_OF_CIRCLES:
        assert circles(PACKAGE / floor, f"qad.{floor}") == []


def test_circles_are_found(tmp_path):
    (tmp_path / "one.py").write_text("from qad.x.two import y\n")
    (tmp_path / "two.py").write_text("def y():\n    from qad.x import one\n")
    assert circles(tmp_path, "qad.x") == ["qad.x.one -> qad.x.two -> qad.x.one"]


def test_files_can_be_read_in_one_sitting():
    assert long_files(PACKAGE) == []


def test_importing_qad_imports_nothing_optional():
    code = f"import sys, qad; print(*sorted({OPTIONAL!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


@pytest.mark.parametrize(
    "path, line, complaint",
    [
        ("core/tape.py", "from qad.rules import elementwise", "core may not import qad.rules"),
        ("core/tape.py", "from qad.extend import primitive", "core may not import qad.extend"),
        ("core/tape.py", "from .. import mps", "core may not import qad.mps"),
        ("extend.py", "from .rules import table", "extend may not import qad.rules"),
        ("testing.py", "from qad import grad", "testing may not import qad.grad"),
        ("rules/shape.py", "import qad", "rules may not import qad itself"),
        ("tensor/trace.py", "from ..mps.state import MPS", "tensor may not import qad.mps"),
        ("optimize/scipy.py", "def f():\n    import qad.mps", "optimize may not import qad.mps"),
        ("rules/shape.py", "from ..core._heap import push", "_heap, which is private to core"),
        ("rules/shape.py", "from qad.core.node import _ids", "_ids, which is private to core"),
        ("linalg/svd.py", "import torch", "torch, which is optional"),
        ("mps/plot.py", "from matplotlib import pyplot", "matplotlib, which is optional"),
        ("attic/old.py", "from qad.core import Tensor", "'attic' is no floor"),
    ],
)
def test_the_checker_sees_a_breach(tmp_path, path, line, complaint):
    module = tmp_path / path
    module.parent.mkdir(exist_ok=True)
    module.write_text(line + "\n")
    (found,) = breaches(tmp_path)
    assert complaint in found
    assert path in found


@pytest.mark.parametrize(
    "path, line",
    [
        ("__init__.py", "from .mps import MPS"),
        ("core/tape.py", "from .node import _ids"),
        ("core/tape.py", "from . import node"),
        ("core/tape.py", "import numpy as np"),
        ("extend.py", "from .core import primitive"),
        ("rules/shape.py", "from qad.extend import defvjp"),
        ("mps/energy.py", "from ..optimize import minimize"),
        ("mps/energy.py", "from qad.testing import check_grads"),
        ("circuit/kernels.py", "def fast():\n    import numba"),
        ("viz.py", "import matplotlib"),
    ],
)
def test_the_checker_lets_the_rest_pass(tmp_path, path, line):
    module = tmp_path / path
    module.parent.mkdir(exist_ok=True)
    module.write_text(line + "\n")
    assert breaches(tmp_path) == []


def test_the_checker_sees_a_long_file(tmp_path):
    (tmp_path / "long.py").write_text("\n" * (MOST_LINES + 1))
    (tmp_path / "short.py").write_text("\n" * MOST_LINES)
    assert long_files(tmp_path) == [f"long.py: {MOST_LINES + 1} lines"]
