"""Benchmarks of qad beside its peers, in one process and one run: `python -m benchmarks --list`.

A benchmark is a module of this package that ends in a function `cases()`; its docstring says what is
measured. Nothing here imports NumPy, so that `__main__` can set the number of BLAS threads first.
"""

from pathlib import Path

NAMES = (
    "trace_product", "overhead", "transforms", "linalg", "contraction", "mps_energy", "amplitudes", "time_to_energy",
    "freeze", "freeze_large", "circuits", "trajectories", "symmetric", "bridges", "quimb_ring",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results"
