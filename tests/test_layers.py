"""The import law of the house: floors import only downwards, optional packages are lazy, files are small."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "qad"

FLOORS = (
    "core",
    "native",
    "rules",
    "special",
    "linalg",
    "array_api",
    "contract",
    "symmetric",
    "frozen",
    "integrate",
    "optimize",
    "mps",
    "peps",
    "circuit",
    "vmc",
    "interop",
    "viz",
    "commands",
)
TOP = ("__init__", "__main__", "commands")  # which may import all, qad itself included
ROOMS = (  # of core, each of which imports only those before it
    "errors",
    "process",
    "counterparts",
    "tape",
    "modes",
    "structured",
    "trees",
    "freeze_hook",
    "registry",
    "vmap",
    "foreign",
    "buffers",
    "fast",
    "debug",
    "transforms",
)
PATCHES = {  # the files that change what another one has made, and what it is
    ("core/registry/attach.py", "Tensor"),  # the registration by which rules give Tensors their methods
    ("core/fast/__init__.py", "backward"),  # quick functions in the places of the plain ones
    ("core/fast/__init__.py", "recorders"),
    ("core/buffers/primitive.py", "WRITE"),  # the rules of the primitive that levels write by
    ("core/vmap/rules.py", "Batched"),  # a class and what NumPy's protocols make of it, in two files
}
INSTALLED = {"sweep", "unary", "unary_with_metadata", "binary", "product"}
FROM_CORE = {
    "errors",
    "trees",
    "process",
}  # all else comes through extend
BY_THE_DOOR = (  # which need not
    "core", "extend", "archive", "installed", "elsewhere", "keywords", "testing", "showing", "integrate", "optimize",
    "viz", "frozen", "typing", *TOP,
)  # fmt: skip
# each may import those before it, and core
BESIDE_CORE = ("extend", "archive", "installed", "elsewhere", "keywords", "testing", "showing")
WORDS = "typing"  # what annotations are written in: rests on core alone, and is open to every floor
OPTIONAL = {
    "autoray", "cotengra", "cupy", "dask", "distributed", "jax", "llvmlite", "matplotlib", "numba",
    "pennylane", "qiskit", "quimb", "tensornetwork", "torch",
}  # fmt: skip
MAY_NEED_OPTIONAL = ("interop", "viz")
MOST_LINES, MOST_OF_A_FUNCTION, MOST_FILES = 300, 40, 20
MOST_CODE = {
    "core": 4200,
    "linalg": 4899,
    "frozen": 2450,
    "rules": 3900,
    "contract": 2900,
    "symmetric": 2313,
    "native": 1150,
    "circuit": 6420,
    "interop": 1400,
    "peps": 4140,
    "mps": 10771,
    "vmc": 1309,
}  # lines of code of whole floors, which only go up by what a feature needs
LONG_FUNCTIONS = {  # whose comment gives the measured reason
    "core/fast/sweep.py: descended",
}


def allowed(floor):
    """The parts of qad that a floor may import, itself included; None for no limit."""
    if floor in TOP:
        return None
    if floor == "core":
        return {"core", WORDS}
    if floor in BESIDE_CORE:
        return {"core", *BESIDE_CORE[: BESIDE_CORE.index(floor) + 1], WORDS}
    if floor == WORDS:
        return {"core", WORDS}
    return {*FLOORS[: FLOORS.index(floor) + 1], *BESIDE_CORE, WORDS}


@cache
def parsed(source):
    """The tree of a module; nobody changes it."""
    return ast.parse(source)


@cache
def statements(source):
    """Triples (import statement, whether it runs on import, whether it is at the top for type checkers only)."""
    found = []

    def visit(node, eager, for_types):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append((node, eager, for_types))
        lazy = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or for_type_checkers(node)
        for child in ast.iter_child_nodes(node) if isinstance(node, (ast.stmt, ast.Module, ast.excepthandler)) else ():
            visit(child, eager and not lazy, for_types or (lazy and node in tree.body and for_type_checkers(node)))

    tree = parsed(source)
    visit(tree, True, False)
    return found


def imports(source, package, for_types=True):
    """Yield (line, target as a tuple, name or None, runs on import) for every import of a module.

    `package`, the tuple of package names that holds the module, resolves its relative imports.  What only type
    checkers follow is left out unless it is asked for.
    """
    for node, eager, only_types in statements(source):
        if only_types and not for_types:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split(".")), None, eager
        else:
            base = package[: len(package) - node.level + 1] if node.level else ()
            target = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield node.lineno, target, alias.name, eager


def for_type_checkers(node) -> bool:
    """Whether this is ``if TYPE_CHECKING:``, whose imports never run."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def breaches(root):
    """List every breach of the import law under the package folder `root`, as readable strings."""
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        package = ("qad", *parts[:-1])
        for line, target, name, eager in imports(path.read_text("utf-8"), package):
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
    if floor not in TOP and floor not in (*FLOORS, *BESIDE_CORE, WORDS):
        return f"'{floor}' is no floor of the house: add it to FLOORS in its place"
    other = target[1] if len(target) > 1 else name
    limit = allowed(floor)
    if limit is not None and other not in limit:
        return f"{floor} may not import {'qad itself' if other is None else f'qad.{other}'}"
    private = [part for part in (*target[2:], name or "") if part.startswith("_")]
    if other != floor and private:
        return f"{floor} imports {private[0]}, which is private to {other}"
    return None


def rooms(root):
    """List the imports inside of core that do not go to the same room or one before it."""
    found = []
    for path in sorted((root / "core").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        for line, target, name, eager in imports(path.read_text("utf-8"), ("qad", *parts[:-1])):
            if parts[1] == "__init__" or target[:2] != ("qad", "core") or not eager:
                continue
            other = target[2] if len(target) > 2 else name
            where = f"{path.relative_to(root)}:{line}"
            if other not in ROOMS or parts[1] not in ROOMS:
                found.append(f"{where}: core has no room '{other if other not in ROOMS else parts[1]}'")
            elif ROOMS.index(other) > ROOMS.index(parts[1]):
                found.append(f"{where}: {parts[1]} imports {other}, which stands above it")
            if parts[1] != "fast" and name in INSTALLED and target[2:] in (("tape", "backward"), ("tape", "recorders")):
                found.append(f"{where}: imports {name} by name, which stays the plain one: import the module")
    return found


def past_the_door(root):
    """The files that import from core what they should have from `qad.extend`, each with the names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] in BY_THE_DOOR:
            continue
        for _, target, name, _ in imports(path.read_text("utf-8"), ("qad", *parts[:-1])):
            if target[:2] == ("qad", "core") and (*target, name)[2] not in FROM_CORE:
                found.setdefault(str(path.relative_to(root)), []).append(name)
    return found


def upward_names(root):
    """The modules of floors above that a floor imports by their names, as ``import_module("qad.mps")``."""
    found = []
    for path in sorted(root.rglob("*.py")):
        floor = path.relative_to(root).with_suffix("").parts[0]
        limit = allowed(floor)
        for call in ast.walk(parsed(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and call.args and ast.unparse(call.func).endswith("import_module"):
                words = call.args[0].values[0] if isinstance(call.args[0], ast.JoinedStr) else call.args[0]
                name = words.value.split(".") if isinstance(words, ast.Constant) else [""]
                if name[0] == "qad" and limit is not None and name[1] not in limit:
                    found.append(f"{path.relative_to(root)}:{call.lineno}: {floor} may not import qad.{name[1]}")
    return found


def patches(root):
    """The modules and classes of the package that another file changes: ``hooks.f = g``, ``setattr(Tensor, ...)``."""
    found = []
    for path in sorted(root.rglob("*.py")):
        tree = parsed(path.read_text("utf-8"))
        package = ("qad", *path.relative_to(root).with_suffix("").parts[:-1])
        ours = {name for _, target, name, _ in imports(path.read_text("utf-8"), package) if target[0] == "qad"}
        for node in ast.walk(tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
                targets = [ast.Attribute(node.args[0], "")]
            for target in (t for each in targets for t in (each.elts if isinstance(each, ast.Tuple) else [each])):
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in ours:
                    found.append((path.relative_to(root).as_posix(), target.value.id))
    return found


def graph(root, lazily=False, for_types=False):
    """The modules of the package at `root`, each with those that it imports when it is loaded.

    `lazily` counts imports inside functions as well, `for_types` also those that only type checkers follow.
    """
    files = {}
    for path in root.rglob("*.py"):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        files[parts[:-1] if parts[-1] == "__init__" else parts] = path
    found = {}
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module[:-1]
        targets = imports(path.read_text("utf-8"), package, for_types)
        modules = {(*to, name) if (*to, name) in files else to for _, to, name, eager in targets if eager or lazily}
        found[module] = (modules & files.keys()) - {module}
    return found


def circles(graph):
    """Modules that import themselves by way of others."""
    found = []
    for module in graph:
        reached, waiting = set(), list(graph[module])
        while waiting:
            other = waiting.pop()
            if other not in reached:
                reached.add(other)
                waiting.extend(graph[other])
        if module in reached:
            found.append(".".join(module))
    return found


def long_files(root):
    """The files of more lines than one sitting takes, each with their number."""
    counts = {path: len(read_lines(path.read_text("utf-8"))) for path in root.rglob("*.py")}
    return {path.relative_to(root).as_posix(): n for path, n in counts.items() if n > MOST_LINES}


def read_lines(source) -> list:
    """The lines of a module without what is there for type checkers only, and the empty lines after that."""
    lines = source.splitlines()
    for node in reversed(parsed(source).body):
        names = (node.module, *(alias.name for alias in node.names)) if isinstance(node, ast.ImportFrom) else ()
        if for_type_checkers(node) or names[:1] == ("__future__",) or names == ("typing", "TYPE_CHECKING"):
            end = next((i for i in range(node.end_lineno, len(lines)) if lines[i]), len(lines))
            del lines[node.lineno - 1 : end]
    return lines


@cache
def code_of(source):
    """The numbers of the lines of code of a module: no comments, no empty lines."""
    lines = [line.strip() for line in source.splitlines()]
    return {number for number, line in enumerate(lines, 1) if line and not line.startswith("#")}


def docstrings(tree):
    """The numbers of the lines of all docstrings in a module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    known = [node for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node) is not None]
    return {line for node in known for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)}


def code_lines(root):
    """How many lines of code the modules under a folder have, without docstrings."""
    paths = [path for pattern in ("*.py", "*.pyi") for path in root.rglob(pattern)]
    sources = [path.read_text("utf-8") for path in paths]
    return sum(len(code_of(source) - docstrings(parsed(source))) for source in sources)


def full_folders(root):
    """The folders of more files than a reader looks through, each with their number."""
    counts = {path.relative_to(root).as_posix(): len([*path.glob("*.py")]) for path in root.rglob("*") if path.is_dir()}
    return {folder: n for folder, n in counts.items() if n > MOST_FILES}


def long_functions(root):
    """The functions of more lines of code than the eye takes in: without docstrings, comments and empty lines."""
    found = {}
    for path in root.rglob("*.py"):
        source = path.read_text("utf-8")
        code = code_of(source)
        for function in ast.walk(parsed(source)):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                own = code.intersection(range(function.lineno, function.end_lineno + 1))
                if ast.get_docstring(function) is not None:
                    own -= set(range(function.body[0].lineno, function.body[0].end_lineno + 1))
                if len(own) > MOST_OF_A_FUNCTION:
                    found[f"{path.relative_to(root).as_posix()}: {function.name}"] = len(own)
    return found


def test_floors_import_only_downwards():
    assert (PACKAGE / "__init__.py").exists()
    assert breaches(PACKAGE) == []


def test_rooms_of_core_import_only_those_before_them():
    assert rooms(PACKAGE) == []
    assert {path.name.removesuffix(".py") for path in (PACKAGE / "core").glob("[a-z]*")} == set(ROOMS)


def test_rules_come_through_the_door():
    """What a floor needs of core besides errors, trees and containers: `qad.extend` has it."""
    assert past_the_door(PACKAGE) == {}


def test_floors_import_by_name_only_downwards():
    assert upward_names(PACKAGE) == []


def test_files_do_not_change_each_other():
    """What a lower file asks for comes through a registration (`attach`, a table), not through a late assignment."""
    assert set(patches(PACKAGE)) <= PATCHES


def test_nothing_imports_itself_by_way_of_others():
    assert circles(graph(PACKAGE)) == []
    assert circles(graph(PACKAGE, lazily=True)) == []
    assert circles(graph(PACKAGE, lazily=True, for_types=True)) == []


@pytest.mark.parametrize(
    "path, line, complaint",
    [
        ("core/tape/record.py", "from qad.core.vmap.rules import Batch", "tape imports vmap, which stands above it"),
        ("core/tape/record.py", "from qad.core import trees", "tape imports trees, which stands above it"),
        ("core/vmap/rules.py", "from qad.core.attic import x", "core has no room 'attic'"),
        ("core/transforms/grad.py", "from qad.core.tape.backward import sweep", "imports sweep by name"),
    ],
)
def test_the_checker_sees_a_breach_between_rooms(tmp_path, path, line, complaint):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(line + "\n")
    (found,) = rooms(tmp_path)
    assert complaint in found


def test_the_checker_sees_a_circle(tmp_path):
    root = tmp_path / "qad"
    (root / "mps").mkdir(parents=True)
    for name, line in {
        "a": "from qad.mps import b",
        "b": "from .c import x",
        "c": "from qad.mps.a import y",
        "d": "",
    }.items():
        (root / "mps" / f"{name}.py").write_text(line + "\n")
    assert sorted(circles(graph(root))) == ["qad.mps.a", "qad.mps.b", "qad.mps.c"]
    (root / "mps" / "c.py").write_text("def f():\n    from qad.mps.a import y\n")
    assert circles(graph(root)) == []
    assert sorted(circles(graph(root, lazily=True))) == ["qad.mps.a", "qad.mps.b", "qad.mps.c"]


def strangers(root):
    """Modules and files of the package that its texts mention, but that do not exist."""
    files = [path.relative_to(root).as_posix() for path in root.rglob("*.py")]
    found = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text("utf-8")
        for name in re.findall(r"`{1,2}([\w/]+\.py)`{1,2}", text):
            if not any(("/" + file).endswith("/" + name) for file in files) and not (root.parent / name).exists():
                found.append(f"{path.name}: {name}")
        for name in re.findall(r"`{1,2}qad\.((?:core|contract|frozen)\.[a-z_.]+)`{1,2}", text):
            parts = name.split(".")
            if not any(
                "/".join(parts[:n]) + end in files
                for n in (len(parts), len(parts) - 1)
                for end in (".py", "/__init__.py")
            ):
                found.append(f"{path.name}: qad.{name}")
    return found


def test_texts_mention_files_that_exist():
    assert strangers(PACKAGE) == []


def test_folders_can_be_looked_through():
    assert full_folders(PACKAGE) == {}


def test_the_count_sees_a_full_folder(tmp_path):
    for name in ("full", "fine"):
        (tmp_path / name).mkdir()
        for i in range(MOST_FILES + (name == "full")):
            (tmp_path / name / f"{i}.py").touch()
    assert full_folders(tmp_path) == {"full": MOST_FILES + 1}


def test_files_can_be_read_in_one_sitting():
    assert long_files(PACKAGE) == {}


@pytest.mark.parametrize("floor", MOST_CODE)
def test_floors_do_not_grow(floor):
    assert code_lines(PACKAGE / floor) <= MOST_CODE[floor]


def test_lines_of_code_are_no_comments_and_no_docstrings(tmp_path):
    (tmp_path / "here.py").write_text(
        '"""Says\n\nmuch."""\n\n# why\ndef f(a):\n    """Does."""\n    return (\n        a\n    )\n'
    )
    assert code_lines(tmp_path) == 4


def test_functions_can_be_read_at_a_glance():
    assert long_functions(PACKAGE).keys() == LONG_FUNCTIONS


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
        ("core/tape.py", "if TYPE_CHECKING:\n    from qad.mps import MPS", "core may not import qad.mps"),
        ("typing.py", "from qad.mps import MPS", "typing may not import qad.mps"),
        ("core/tape.py", "from .. import mps", "core may not import qad.mps"),
        ("extend.py", "from .rules import table", "extend may not import qad.rules"),
        ("testing.py", "from qad import grad", "testing may not import qad.grad"),
        ("rules/shape.py", "import qad", "rules may not import qad itself"),
        ("contract/trace.py", "from ..mps.state import MPS", "contract may not import qad.mps"),
        ("optimize/scipy.py", "def f():\n    import qad.mps", "optimize may not import qad.mps"),
        ("rules/shape.py", "from ..core._heap import push", "_heap, which is private to core"),
        ("rules/shape.py", "from qad.core.tape.node import _ids", "_ids, which is private to core"),
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
        ("core/tape.py", "if TYPE_CHECKING:\n    from qad.typing import Array"),
        ("mps/plot.py", "if TYPE_CHECKING:\n    from matplotlib.axes import Axes"),
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
    assert long_files(tmp_path) == {"long.py": MOST_LINES + 1}


def test_the_checker_sees_a_long_function(tmp_path):
    words = f'    """Says.\n{MOST_OF_A_FUNCTION * chr(10)}    """\n    # and a comment\n'
    body = "    x = 1\n" * (MOST_OF_A_FUNCTION - 1)
    (tmp_path / "here.py").write_text(f"def short(a):\n{words}{body}\n\nasync def long(a):\n{words}{body}    x = 1\n")
    assert long_functions(tmp_path) == {"here.py: long": MOST_OF_A_FUNCTION + 1}


def test_the_checker_sees_a_module_above_that_is_imported_by_its_name(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "shape.py").write_text('import_module("qad.mps")\nimport_module(f"qad.linalg.{name}")\n')
    assert [line.split()[-1] for line in upward_names(tmp_path)] == ["qad.mps", "qad.linalg"]


@pytest.mark.parametrize("line", ["hooks.f = g", "hooks.f, x = g", 'setattr(hooks, "f", g)'])
def test_the_checker_sees_what_another_file_changes(tmp_path, line):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "late.py").write_text(f"from qad.core.tape import hooks\nown.f = g\n{line}\n")
    assert patches(tmp_path) == [("core/late.py", "hooks")]
