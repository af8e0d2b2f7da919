"""`.ci/run` reads what it needs from the README and pyproject.toml, and finds the Pythons that it tests on."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / ".ci" / "run"
SOURCE = SCRIPT.read_text("utf-8") if SCRIPT.exists() else ""  # a source distribution goes without

pytestmark = pytest.mark.skipif(not SOURCE or shutil.which("bash") is None, reason="needs .ci/run and bash")


def said(command):
    """What a command prints that may use the functions of the script."""
    functions = re.search(r"^step\(\).*?(?=^test_command=)", SOURCE, re.MULTILINE | re.DOTALL)[0]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", functions + command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_least_versions_are_those_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = dict(line.split(">=") for line in project["dependencies"])
    for name in ("numpy", "scipy"):
        assert said(f"least {name}").strip() == declared[name]
    assert ">=" + said("least requires-python").strip() == project["requires-python"]


@pytest.mark.slow
def test_pythons_are_found_without_a_path_of_this_machine():
    found = [line.split() for line in said("pythons").splitlines()]
    assert found == sorted(found, key=lambda pair: tuple(map(int, pair[0].split("."))))
    assert all(tuple(map(int, version.split("."))) >= (3, 11) for version, _ in found)
    assert not re.search(r"(?<![\w$}])/(opt|root|home|usr/local)\b", SOURCE)
    assert "3.1" not in SOURCE


def test_commands_are_the_readmes():
    readme = (ROOT / "README.md").read_text("utf-8")
    for part in ("-m pytest", "01_heisenberg_ground_state.py"):
        assert said(f"readme_command '{part}'").strip() in readme
    assert "-m pytest" not in SOURCE.replace('readme_command "-m pytest"', "")


def test_the_oldest_versions_see_every_subject_and_all_that_touches_numpy():
    chosen = (ROOT / ".ci" / "oldest").read_text("utf-8").split()
    assert [name for name in chosen if not (ROOT / name).exists()] == []
    assert {f"tests/{floor}" for floor in ("array_api", "linalg", "rules", "special")} <= set(chosen)
    assert {f"tests/core/{room}" for room in ("buffers", "tape", "transforms")} <= set(chosen)
    folders = {path.parent.name for path in (ROOT / "qad").glob("*/__init__.py")}
    floors = {name for name in folders if (ROOT / "tests" / name).is_dir()}
    assert floors - {name.split("/")[1] for name in chosen} == set()
    assert ".ci/oldest" in SOURCE
