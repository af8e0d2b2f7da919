"""Dependencies are what is used: what pyproject.toml declares is imported in qad/, and the other way round."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from qad.installed import DISTRIBUTION, NEEDED, command
from tests.test_layers import imports

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FOR_DEVELOPERS = ("docs", "test", "types", "bench")  # extras that bring tools and peers; the others serve qad itself


IMPORTED_AS = {"physics_tenpy": "tenpy", "cupy_cuda12x": "cupy"}


def package(requirement):
    """What ``name[extra]>=1.0; marker`` is imported as, which is mostly its name."""
    name = re.match(r"[\w.-]+", requirement)[0].lower().replace("-", "_")
    return IMPORTED_AS.get(name, name)


def declared(project):
    """The packages that are always there, and those of the extras that serve qad."""
    extras = project["optional-dependencies"]
    optional = [line for name in extras if name not in FOR_DEVELOPERS for line in extras[name]]
    return {*map(package, project["dependencies"])}, {*map(package, optional)}


def used(root):
    """The packages that modules under `root` import: all of them, and those imported with the module."""
    everywhere, eagerly = set(), set()
    for path in root.rglob("*.py"):
        for _, target, _, eager in imports(path.read_text("utf-8"), ("qad",)):
            if target[0] != "qad" and target[0] not in sys.stdlib_module_names:
                everywhere.add(target[0])
                eagerly |= {target[0]} if eager else set()
    return everywhere, eagerly


def complaints(project, root):
    """What is declared and not used, used and not declared, or declared twice, in words."""
    (required, optional), (everywhere, _) = declared(project), used(root)
    found = [f"{name} is declared, and imported nowhere in qad/" for name in (required | optional) - everywhere]
    found += [f"{name} is imported in qad/, and not declared" for name in everywhere - required - optional]
    lists = {"dependencies": project["dependencies"], **project["optional-dependencies"]}
    for place, lines in lists.items():
        names = [package(line) for line in lines]
        found += [f"{name} stands twice in {place}" for name in {n for n in names if names.count(n) > 1}]
    return sorted(found)


def test_what_is_declared_is_used_and_what_is_used_is_declared():
    assert complaints(PROJECT, ROOT / "qad") == []


def test_import_qad_needs_nothing_optional():
    """Optional packages are imported with a module only in the few that are themselves imported late."""
    _, optional = declared(PROJECT)
    for path in [ROOT / "qad" / "__init__.py", *(ROOT / "qad" / "core").rglob("*.py")]:
        for _, target, _, eager in imports(path.read_text("utf-8"), ("qad",)):
            assert not (eager and target[0] in optional), path


def test_installers_know_one_name():
    """Registries have a package named qad that is not this one: no command, page or message may install that."""
    extras = PROJECT["optional-dependencies"]
    assert PROJECT["name"] == DISTRIBUTION
    assert {extra for _, extra in NEEDED.values()} <= set(extras)
    assert command("fast") == "pip install 'qad-tensors[fast]', or in a clone: pip install -e '.[fast]'"
    pages = [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs").rglob("*.ipynb"),
        *ROOT.glob("*.md"),
        ROOT / "pyproject.toml",
    ]
    for path in [*pages, *(ROOT / "qad").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]:
        text = path.read_text("utf-8")
        assert not re.search(r"install (-\w+ )*['\"]?qad\b(?!-tensors)", text), path
        assert {extra for named in re.findall(r"qad-tensors\[([\w,]+)\]", text) for extra in named.split(",")} <= set(
            extras
        )


def test_the_changelog_tells_of_versions_that_there_are():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version = re.search(r'^__version__ = "(.*)"', (ROOT / "qad" / "__init__.py").read_text("utf-8"), re.MULTILINE)[1]
    (entry,) = re.findall(r"^## \[(.*)\] - (.*)$", text, re.MULTILINE)
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert entry == (version, re.search(r"^date-released: (.*)$", cited, re.MULTILINE)[1])
    assert f"\nversion: {version}\n" in cited
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize(
    "dependencies, extra, line, complaint",
    [
        (["numpy>=2", "cotengra"], [], "import numpy", "cotengra is declared, and imported nowhere in qad/"),
        (["numpy"], ["quimb>=1.1"], "import numpy", "quimb is declared, and imported nowhere in qad/"),
        (
            ["numpy"],
            [],
            "import numpy\ndef f():\n    from torch import nn",
            "torch is imported in qad/, and not declared",
        ),
        (["numpy", "NumPy>=2.0"], [], "import numpy.linalg", "numpy stands twice in dependencies"),
    ],
)
def test_the_checker_sees_what_is_wrong(tmp_path, dependencies, extra, line, complaint):
    (tmp_path / "module.py").write_text(f"import os\nfrom qad.core import Tensor\n{line}\n")
    project = {"dependencies": dependencies, "optional-dependencies": {"extra": extra, "test": ["pytest"]}}
    assert complaints(project, tmp_path) == [complaint]
