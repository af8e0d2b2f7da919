"""The pages of the API reference, one for each public module, written from what the modules offer."""

import importlib
import inspect
from pathlib import Path

from sphinx.ext.autodoc.mock import mock

from .links import write

PAGES = {
    "Differentiating": ["qad", "qad.special", "qad.array_api"],
    "Matrices and tensors": ["qad.linalg", "qad.symmetric"],
    "Chains and lattices": ["qad.mps", "qad.mps.uniform", "qad.peps", "qad.peps.finite"],
    "Circuits": ["qad.circuit"],
    "Optimisation and equations": ["qad.optimize", "qad.integrate"],
    "Pictures": ["qad.viz"],
    "Bridges": [
        "qad.interop.torch", "qad.interop.cotengra", "qad.interop.tenpy", "qad.interop.itensor",
        "qad.interop.qiskit", "qad.interop.pennylane", "qad.interop.tensornetwork",
    ],  # those to JAX and quimb write into tables of their packages when they are imported: the guide describes them
    "Rules, types and errors": ["qad.extend", "qad.typing", "qad.core.errors"],
}  # fmt: skip
FIRST = {"qad.circuit", "qad.linalg", "qad.mps"}  # where what has a second name elsewhere is described
BRIDGED = ["cotengra", "h5py", "pennylane", "qiskit", "tenpy", "torch"]  # need not be there to build the site
MODULES = [name for names in PAGES.values() for name in names]


def entry(module, name, homes):
    """How a name of a module is written in the reference: directive, its argument, options, and text below it."""
    thing = getattr(module, name)
    home = getattr(thing, "__module__", None) or ""
    if inspect.ismodule(thing):
        return []
    if not home.startswith("qad"):
        said = f"{title(home)}'s own, which takes Tensors." if callable(thing) else f"``{thing!r}``"
        return [f".. py:data:: {name}", "", f"   {said}", ""]
    if homes.setdefault(id(thing), f"{module.__name__}.{name}") != f"{module.__name__}.{name}":
        return [f".. py:data:: {name}", "", f"   The same as :py:obj:`{homes[id(thing)]}`.", ""]
    if inspect.isclass(thing):
        return [f".. autoclass:: {module.__name__}.{name}", "   :members:", "   :special-members: __call__", ""]
    directive = "autofunction" if inspect.isroutine(thing) else "autodata"
    return [f".. {directive}:: {module.__name__}.{name}", ""]


def title(home):
    """What a library is called."""
    return {"numpy": "NumPy", "scipy": "SciPy"}.get(home.partition(".")[0], home or "NumPy")


def page(name, homes):
    """The page of a module, in reStructuredText; `homes` says where things are described that have several names."""
    with mock(BRIDGED):
        module = importlib.import_module(name)
    first = inspect.getdoc(module).partition("\n")[0]
    lines = [name, "=" * len(name), "", f".. py:module:: {name}", "", first, ""]
    for each in sorted(public(module), key=str.lower):
        lines += entry(module, each, homes)
    return "\n".join(lines) + "\n"


def public(module):
    """Names that a module offers."""
    if hasattr(module, "__all__"):
        return module.__all__
    return [name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__]


def write_pages(app):
    """Write the pages that have changed, and their list."""
    homes = {}
    pages = {name: page(name, homes) for name in sorted(MODULES, key=FIRST.__contains__, reverse=True)}
    trees = [
        "\n".join([f".. toctree::\n   :caption: {caption}\n", *(f"   {name}" for name in names), ""])
        for caption, names in PAGES.items()
    ]
    pages["index"] = "Reference\n=========\n\nEvery public name.\n\n" + "\n".join(trees)
    for name, text in pages.items():
        write(Path(app.srcdir) / "reference" / f"{name}.rst", text)


def setup(app):
    """What Sphinx calls."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
