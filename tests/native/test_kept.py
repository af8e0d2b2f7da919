"""Machine code on disk: as new as its sources, sound, and shared by processes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import qad
from qad.native import Kernels, kept, machine
from tests.native import sources

X = np.array([3, 4, 5])


def run(folder, files=()):
    """Results of a kernel that is compiled or loaded, and how often it was compiled."""
    found, counted = np.zeros(20, int), []
    kernels = Kernels(sources.integers, files=[Path(sources.__file__), *files], fast=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QAD_CACHE_DIR", str(folder))
        patch.setattr(machine, "compiled", lambda text, inner=machine.compiled: counted.append(text) or inner(text))
        kernels(np.dtype(float)).integers(X, found)
    expected = np.zeros(20, int)
    sources.integers(X.tolist(), expected)
    np.testing.assert_array_equal(found, expected)
    return len(counted)


def test_code_is_compiled_once(tmp_path):
    assert [run(tmp_path / "new" / "folder") for _ in range(3)] == [1, 0, 0]
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 1


def test_code_is_as_new_as_its_files(tmp_path):
    """A change of any file that the machine code is made of makes another version, whatever the file's time says."""
    other, folder = tmp_path / "other.py", tmp_path / "kept"
    found = []
    for text in ("1", "1", "2"):
        other.write_text(text)
        os.utime(other, (0, 0))
        found.append(run(folder, [other]))
    assert found == [1, 0, 1]


@pytest.mark.parametrize("harm", [
    lambda data: b"", lambda data: data[:100], lambda data: data[:-1], lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    lambda data: bytes(len(data)), lambda data: data + b"0", lambda data: b"\x7fELF" + data[4:],
])  # fmt: skip
def test_damaged_code_is_compiled_anew(tmp_path, harm):
    assert run(tmp_path) == 1
    (file,) = tmp_path.iterdir()
    sound = file.read_bytes()
    file.write_bytes(harm(sound))
    assert [run(tmp_path), run(tmp_path)] == [1, 0]
    assert file.read_bytes()[:100] == sound[:100]


def test_code_of_another_kernel_or_machine_is_not_used(tmp_path, monkeypatch):
    assert run(tmp_path) == 1
    (file,) = tmp_path.iterdir()
    monkeypatch.setattr(machine, "description", lambda: "another machine")
    assert run(tmp_path) == 1
    (other,) = set(tmp_path.iterdir()) - {file}
    other.write_bytes(file.read_bytes())  # sound, but of another name
    assert [run(tmp_path), run(tmp_path)] == [1, 0]


def test_where_nothing_can_be_kept_kernels_run(tmp_path):
    (tmp_path / "file").write_text("")
    assert [run(tmp_path / "file" / "folder"), run(tmp_path / "file")] == [1, 1]


def test_folders(monkeypatch):
    monkeypatch.setenv("QAD_CACHE_DIR", "/some/where")
    assert kept.folder() == Path("/some/where")
    monkeypatch.delenv("QAD_CACHE_DIR")
    assert kept.folder().name == "qad"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/else/where")
    assert kept.folder() == Path("/else/where/qad")


PROGRAM = """
import numpy as np, qad
H = qad.PauliSum({"ZZ": 1.0, "XI": 0.5})
energy = lambda x: qad.Circuit(2).ry(x, range(2)).cx(0, 1).expectation(H)
print(*qad.grad(energy)(np.array([0.3, 0.4])).tolist())
"""


@pytest.mark.slow
def test_four_processes_that_compile_at_once(tmp_path):
    environment = {
        **os.environ,
        "QAD_CACHE_DIR": str(tmp_path),
        "QAD_MESSAGES": "0",
        "PYTHONPATH": str(Path(qad.__file__).parents[1]),
    }
    command = [sys.executable, "-c", PROGRAM]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    outputs = [process.communicate() for process in processes]
    assert {error for _, error in outputs} == {b""}
    assert len({value for value, _ in outputs}) == 1 and all(value for value, _ in outputs)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert [name.split("-")[0] for name in names] == ["energy_of_angles"]  # and nothing half written
    again = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert again.stdout == outputs[0][0]
    assert names == sorted(path.name for path in tmp_path.iterdir())
