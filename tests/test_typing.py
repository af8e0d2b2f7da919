"""The public API says its types: arguments, results, attributes.  ``python -m tests.test_typing`` asks a type checker.

Public is what the modules of `MODULES` offer in ``__all__``.  The type checker has to know more: every function and
every attribute of every module, and what they lead to; types of other packages are taken as they are,
and so are those few classes of ours whose base class is one of a package without types, which `UNTYPED_BASES` names.
"""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.array_api import creation
from qad.circuit.gates.table import TABLE
from qad.elsewhere import ours_of

PACKAGE = Path(qad.__file__).parent
USAGE = Path(__file__).with_name("typing_usage.py")
MODULES = (
    "qad", "qad.array_api", "qad.array_api.fft", "qad.array_api.linalg", "qad.circuit", "qad.core.errors", "qad.extend",
    "qad.extend.batching", "qad.extend.memory", "qad.extend.recording", "qad.extend.structure", "qad.linalg", "qad.mps",
    "qad.mps.uniform", "qad.optimize", "qad.peps", "qad.special", "qad.symmetric", "qad.typing", "qad.viz", "qad.vmc",
)  # fmt: skip
NEED_OTHERS = ("qad.interop.pennylane", "qad.interop.qiskit")  # which are read here, not imported
# Derived from a class of tensornetwork, which has no types and is not installed beside the checker.
UNTYPED_BASES = {"qad.interop.tensornetwork.QadBackend", "qad.interop.tensornetwork.backend.QadBackend"}
CHECKER = importlib.util.find_spec("pyright") is not None


def names_of(module) -> list:
    """What a module offers: ``__all__``, or its own public names."""
    own = [n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", own))


def in_stub(path) -> dict:
    """The functions of a ``.pyi`` file of the package, those of classes included, by name; ``g = f`` is one more."""
    nodes = list(ast.walk(ast.parse((PACKAGE / path).read_text())))
    found = {f.name: f for f in nodes if isinstance(f, ast.FunctionDef)}
    same = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)]
    return found | {target.id: found[node.value.id] for node in same for target in node.targets}


# -- annotations, without a type checker ---------------------------------------------------------------------------


def methods_of(cls):
    """Pairs (name, function) of the public methods and properties that are written in a class or its bases."""
    for base in cls.__mro__:
        for name, value in vars(base).items():
            value = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
            private = name.startswith("_") and not name.endswith("__")
            if not private and written(value) and value.__qualname__.startswith(base.__qualname__ + "."):
                yield f"{base.__module__}.{base.__qualname__}.{name}", value


def written(value) -> bool:
    """Whether something is a function whose text is ours; dataclasses and named tuples make others."""
    code = getattr(inspect.unwrap(value), "__code__", None) if inspect.isfunction(value) else None
    return code is not None and code.co_filename.startswith(str(PACKAGE))


def public_functions() -> dict:
    """All public functions and methods by name, whether they have a first argument that is the object itself."""
    found = {}
    for place in MODULES:
        module = importlib.import_module(place)
        stub = in_stub("array_api/signatures.pyi") if place == "qad.array_api" else {}
        for name in names_of(module):
            value = getattr(module, name)
            if inspect.isclass(value):
                found.update({path: (f, True) for path, f in methods_of(value)})
            elif written(value) and name not in stub:
                found[f"{place}.{name}"] = value, False
    return found


FUNCTIONS = public_functions()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_public_functions_say_their_types(name):
    """One made by a decorator has the annotations of what it was made of."""
    function, method = FUNCTIONS[name]
    signature = inspect.signature(function)
    arguments = list(signature.parameters.values())[method:]
    assert [p.name for p in arguments if p.annotation is p.empty] == []
    assert signature.return_annotation is not signature.empty or name.endswith(".__init__")


def test_many_functions_are_public():
    assert len(FUNCTIONS) > 400
    assert {"qad.grad", "qad.linalg.svd", "qad.mps.chain.chain.Chain.save", "qad.core.tape.tensor.Tensor.numpy"} <= {
        *FUNCTIONS
    }


# -- stubs, for what is made while qad is imported -----------------------------------------------------------------


def test_the_stub_of_tensor_has_what_is_attached_to_it():
    source = ast.parse((PACKAGE / "core/tape/tensor.py").read_text())
    (cls,) = (node for node in source.body if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    written_there = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)} | {*qad.Tensor.__slots__}
    made_by_python = {"__doc__", "__hash__", "__module__", "__slots__", "__annotations__", "__firstlineno__",
                      "__static_attributes__", "__annotate_func__", "__annotations_cache__"}  # fmt: skip
    attached = {*vars(qad.Tensor)} - written_there - made_by_python - ours_of("Tensor").keys()
    assert {*in_stub("typing/attached.pyi")} == attached


def test_the_stub_of_gates_has_the_table():
    stub = in_stub("circuit/gates/methods.pyi")
    assert stub.keys() == {name for name, *_ in TABLE}
    assert {name: len(f.args.posonlyargs) - 1 for name, f in stub.items()} == {n: q + p for n, q, p, _ in TABLE}


@pytest.mark.parametrize("part", ["fft", "linalg"])
def test_the_stubs_of_the_array_api_have_its_names(part):
    module = importlib.import_module(f"qad.array_api.{part}")
    assert {*in_stub(f"array_api/{part}.pyi")} == {*module.__all__}


def test_the_stub_of_the_array_api_has_the_functions_of_numpy():
    wrapped = {name: getattr(getattr(qad.array_api, name), "__wrapped__", None) for name in qad.array_api.__all__}
    numpys = {name for name, function in wrapped.items() if function and function is getattr(np, name, 0)}
    assert {*in_stub("array_api/signatures.pyi")} == numpys - {*creation.__all__}


# -- what a type checker says --------------------------------------------------------------------------------------


def facade() -> str:
    """A module that offers all that is public, each name but once."""
    pairs = [(place, name) for place in MODULES for name in names_of(importlib.import_module(place))]
    for place in NEED_OTHERS:
        source = ast.parse(PACKAGE.joinpath(*place.split(".")[1:]).with_suffix(".py").read_text())
        (names,) = (
            n.value for n in source.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"
        )
        pairs += [(place, name) for name in ast.literal_eval(names)]
    lines = [f"from {place} import {name} as {place.replace('.', '_')}__{name}" for place, name in pairs]
    return "\n".join([*lines, f"__all__ = {[line.rpartition(' ')[2] for line in lines]}", ""])


def checked(folder, *arguments) -> dict:
    """What pyright reports of an installed copy of the package."""
    installed, inside = Path(folder, "installed"), Path(folder, "work")
    if not installed.exists():
        shutil.copytree(PACKAGE, installed / "qad", ignore=shutil.ignore_patterns("__pycache__"))
        inside.mkdir()
        (inside / "names.py").write_text(facade())
        shutil.copy(USAGE, inside / "usage.py")
    environment = os.environ | {
        "PYTHONPATH": str(installed),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    command = [sys.executable, "-m", "pyright", "--outputjson", *arguments]
    run = subprocess.run(command, cwd=inside, env=environment, capture_output=True, text=True)
    return json.loads(run.stdout)


def unknown(folder) -> list:
    """What has no type that is known for certain, inside of the package too; the causes if there are any."""
    report = checked(folder, "--verifytypes", "qad", "--ignoreexternal")["typeCompleteness"]
    assert sum(report["exportedSymbolCounts"].values()) > 7000  # it has been found, and all of it was looked at
    found = {s["name"]: [d["message"] for d in s["diagnostics"]] for s in report["symbols"] if not s["isTypeKnown"]}
    found = {name: messages for name, messages in found.items() if name not in UNTYPED_BASES}
    causes = {name: [m for m in messages if "partially unknown" not in m] for name, messages in found.items()}
    return [f"{name}: {'; '.join(m)}" for name, m in causes.items() if m] or [*found]


def complaints(folder) -> list:
    """Errors in a user's program that imports every public name, and in one that says which types it expects."""
    found = checked(folder, "names.py", "usage.py")
    assert found["summary"]["filesAnalyzed"] == 2
    return [
        f"{Path(d['file']).name}:{d['range']['start']['line'] + 1}: {d['message']}" for d in found["generalDiagnostics"]
    ]


@pytest.mark.skipif(not CHECKER, reason="needs pyright: pip install -e '.[types]'")
def test_a_type_checker_knows_all_public_types(tmp_path):
    assert unknown(tmp_path) == []
    assert complaints(tmp_path) == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        everything = [*unknown(place), *complaints(place)]
    print(*everything or ["all public types are known"], sep="\n")
    sys.exit(bool(everything))
