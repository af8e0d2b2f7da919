"""Run tensornetwork's own tests in a process of its own and read the outcomes."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
FILES = (
    "backends/decorators_test.py",
    "backends/numpy/decompositions_test.py",
    "backends/numpy/numpy_backend_test.py",
    "contractors/bucket_contractor_test.py",
    "contractors/custom_path_solvers/nconinterface_test.py",
    "contractors/opt_einsum_paths/path_contractors_node_test.py",
    "matrixproductstates/base_mps_test.py",
    "matrixproductstates/dmrg_test.py",
    "matrixproductstates/finite_mps_test.py",
    "matrixproductstates/infinite_mps_test.py",
    "matrixproductstates/mpo_test.py",
    "tests/backend_contextmanager_test.py",
    "tests/ncon_interface_test.py",
    "tests/network_components_free_test.py",
    "tests/network_operations_test.py",
    "tests/network_test.py",
    "tests/serialize_test.py",
    "tests/split_node_test.py",
    "tests/tensor_test.py",
    "tests/tensornetwork_test.py",
)


def outcomes(backend, folder, files=FILES, select=None):
    """Run `files` of the installed package against a backend.

    Parameters
    ----------
    backend : str
        See `plugin`.
    folder : Path
        Where the report goes.
    files : sequence of str
        Test files, relative to the package.
    select : str, optional
        pytest's ``-k``.

    Returns
    -------
    dict
        Test name to ("passed" | "failed" | "skipped", message).
    """
    package = Path(find_spec("tensornetwork").origin).parent
    report = folder / f"{backend}.xml"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "tests.interop.upstream.plugin", "-p", "no:cacheprovider",
        "-c", os.devnull, "--rootdir", str(package), f"--junitxml={report}", "--import-mode=importlib",
        *(["-k", select] if select else []), *(str(package / f) for f in files if (package / f).exists()),
    ]  # fmt: skip
    environment = {**os.environ, "QAD_TENSORNETWORK": backend, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if process.returncode not in (0, 1):
        raise RuntimeError(process.stdout[-3000:] + process.stderr[-3000:])
    return dict(map(_outcome, ET.parse(report).iter("testcase")))


def _outcome(case):
    name = f"{case.get('classname')}::{case.get('name')}"
    for entry in case:
        if entry.tag in ("failure", "error"):
            return name, ("failed", entry.get("message") or "")
        if entry.tag == "skipped":
            return name, ("skipped", entry.get("message") or "")
    return name, ("passed", "")
