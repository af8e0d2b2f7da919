"""``qad info``: what a report of a mistake should say."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from qad.installed import NEEDED, command

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    """None."""


def run(args: Namespace) -> int:
    """Print it all."""
    for name, value in [*versions(), *threads(), ("kernels", kernels()), *extras()]:
        print(f"{name:20}{value}")
    return 0


def versions() -> list[tuple[str, str]]:
    """Of qad and what it needs."""
    import qad

    needed = ("numpy", "scipy", "opt_einsum", "cotengrust", "optree")
    return [
        ("qad", qad.__version__),
        ("python", f"{platform.python_version()}, {sys.executable}"),
        ("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"),
        *((name, version(name)) for name in needed),
    ]


def threads() -> list[tuple[str, str]]:
    """Libraries of BLAS and their threads, and what qad was told."""
    import scipy.linalg  # noqa: F401  loads the BLAS of SciPy
    from threadpoolctl import threadpool_info

    from qad import config

    rows = [
        (pool["user_api"], f"{pool['internal_api']} {pool['version'] or ''}, {pool['num_threads']} threads, "
                           f"{os.path.basename(pool['filepath'])}")
        for pool in threadpool_info()
    ]  # fmt: skip
    asked = os.environ.get("OMP_NUM_THREADS", "not set")
    return [*rows, ("threads", f"qad.config().threads = {config().threads!r}, OMP_NUM_THREADS {asked}")]


def kernels() -> str:
    """Where compiled kernels are kept, and how many."""
    from qad.native.kept import folder

    if find_spec("llvmlite") is None:
        return f"not compiled: {command('fast')}"
    place = folder()
    files = [path for path in place.rglob("*") if path.is_file()] if place.is_dir() else []
    return f"{place}, {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB"


def extras() -> list[tuple[str, str]]:
    """Which optional packages are there."""
    there = packages_distributions()
    rows = []
    for name, (_, extra) in NEEDED.items():
        found = f"{name} {version(there[name][0])}" if name in there else f"{name}: {command(extra)}"
        rows.append((f"extra {extra}", found))
    return rows
