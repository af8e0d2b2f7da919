"""Programs of others that are written for the array-API standard: SciPy's, with its switch on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import scipy

CODE = """
import numpy as np, qad
from scipy import fft, integrate, signal, special, stats

x = np.array([[0.3, 1.2, -0.4], [0.9, -1.1, 0.2]])
for f in (
    lambda x: special.logsumexp(x, axis=1), lambda x: special.softmax(x, axis=1), lambda x: integrate.trapezoid(x),
    lambda x: stats.zscore(x, axis=1), lambda x: stats.skew(x, axis=1), lambda x: signal.fftconvolve(x, x),
    lambda x: fft.fft(x),
):
    np.testing.assert_allclose(f(qad.tensor(x)).numpy(), f(x), rtol=1e-12, atol=1e-14)
    qad.check_grads(lambda x: f(qad.array_api.asarray(x)), (x,), order=1)
"""


@pytest.mark.slow  # its packages take seconds to load
@pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 17), reason="SciPy is still on its way there"
)
def test_scipy_differentiates_unmodified():
    env = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=env)
    assert run.returncode == 0, run.stderr
