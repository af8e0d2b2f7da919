"""What all tests share: one thread of BLAS a process, for the suite runs in as many processes as there are cores."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported, and for the processes that tests start
