"""The pages of the API reference, one for each public module, written from what the modules offer."""

import importlib
import inspect
import re
from pathlib import Path

from sphinx.ext.autodoc.mock import mock

from .links import write

PAGES = {
    "Differentiating": ["qad", "qad.special", "qad.array_api"],
    "Matrices and tensors": ["qad.linalg", "qad.symmetric"],
    "Chains and lattices": ["qad.mps", "qad.mps.uniform", "qad.peps", "qad.peps.finite", "qad.vmc"],
    "Circuits": ["qad.circuit"],
    "Optimisation and equations": ["qad.optimize", "qad.integrate"],
    "Pictures": ["qad.viz"],
    "Bridges": [
        "qad.interop.torch", "qad.interop.cotengra", "qad.interop.tenpy", "qad.interop.itensor",
        "qad.interop.qiskit", "qad.interop.pennylane", "qad.interop.tensornetwork",
    ],  # those to JAX and quimb write into tables of their packages when they are imported: the guide describes them
    "Rules, types and errors": ["qad.extend", "qad.typing", "qad.core.errors"],
}  # fmt: skip
COLUMNS = 5  # of the tables of names that are NumPy's own
FIRST = {"qad.circuit", "qad.linalg", "qad.mps"}  # where what has a second name elsewhere is described
BRIDGED = ["cotengra", "h5py", "pennylane", "qiskit", "tenpy", "torch"]  # need not be there to build the site
MODULES = [name for names in PAGES.values() for name in names]


def entry(module, name, homes):
    """How a name of qad's is written in the reference: directive, its argument, options, and text below it."""
    thing = getattr(module, name)
    if homes.setdefault(id(thing), f"{module.__name__}.{name}") != f"{module.__name__}.{name}":
        return [f".. py:data:: {name}", "", f"   The same as :py:obj:`{homes[id(thing)]}`.", ""]
    if inspect.isclass(thing):
        return [f".. autoclass:: {module.__name__}.{name}", "   :members:", "   :special-members: __call__", ""]
    directive = "autofunction" if inspect.isroutine(thing) else "autodata"
    return [f".. {directive}:: {module.__name__}.{name}", ""]


def page(name, homes):
    """The page of a module, in reStructuredText; `homes` says where things are described that have several names."""
    with mock(BRIDGED):
        module = importlib.import_module(name)
    first = inspect.getdoc(module).partition("\n")[0]
    lines = [name, "=" * len(name), "", f".. py:module:: {name}", "", first, ""]
    names = sorted((each for each in public(module) if not inspect.ismodule(getattr(module, each))), key=str.lower)
    own = [each for each in names if home(module, each).startswith("qad")]
    groups = by_task(module, own) if name == "qad" else by_room(module, own)
    for (heading, words), members in groups.items():
        lines += [heading, "-" * len(heading), "", words, ""] if len(groups) > 1 else []
        for each in members:
            lines += entry(module, each, homes)
    return "\n".join([*lines, *borrowed([each for each in names if each not in own], name)]) + "\n"


def home(module, name):
    """The module in which a name is defined."""
    return getattr(getattr(module, name), "__module__", None) or ""


def by_task(module, names):
    """The names under the headings of the module's docstring, and what these leave out."""
    groups, heading, left = {}, None, set(names)
    for line in inspect.getdoc(module).splitlines()[2:]:
        label, _, words = line.partition("  ")
        heading = label or heading
        found = [word for word in dict.fromkeys(re.findall(r"\w+", words)) if word in left]
        groups.setdefault((heading, ""), []).extend(found)
        left -= set(found)
    groups["Others", ""] = sorted(left, key=str.lower)
    return {key: members for key, members in groups.items() if members}


def by_room(module, names):
    """The names by the room in which they are defined, whose docstring is heading and words; large rooms first."""
    groups = {}
    for name in names:
        room = home(module, name)
        if (above := room.rpartition(".")[0]) not in (module.__name__, "qad", "qad.core"):
            room = above
        heading, _, words = inspect.getdoc(importlib.import_module(room)).partition("\n")[0].rstrip(".").partition(":")
        words = f"{words.strip().capitalize()}." if words else ""
        groups.setdefault((heading, words), []).append(name)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def borrowed(names, module):
    """Names that are NumPy's or SciPy's own: targets that are not shown, and one table."""
    if not names:
        return []
    library = "SciPy" if module == "qad.special" else "NumPy"
    heading = f"{library}'s own" if module != "qad.typing" else "Words for types"
    words = f"{library}'s functions and constants, which take Tensors." if module != "qad.typing" else ""
    hidden = [line for name in names for line in (f".. py:data:: {name}", "   :no-typesetting:", "")]
    rows = [names[i : i + COLUMNS] for i in range(0, len(names), COLUMNS)]
    table = [(("     - " if i else "   * - ") + (f"``{name}``" if name else "")).rstrip() for row in rows
             for i, name in enumerate([*row, *[""] * (COLUMNS - len(row))])]  # fmt: skip
    return [heading, "-" * len(heading), "", words, "", *hidden, ".. list-table::", "", *table]


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
