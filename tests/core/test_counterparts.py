"""Where a recorded Tensor is asked for plain numbers, the error names what qad has for SciPy's functions."""

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import fft, integrate, interpolate, linalg, optimize, signal, sparse, special
from scipy.sparse import linalg as sparse_linalg

import qad
from qad.core.counterparts import KEEP
from qad.core.errors import RecordedTensorError

X, A, S = np.array([0.5, 1.0, 1.5]), np.diag([2.0, 1.0, 3.0]), sparse.csr_matrix(np.diag([2.0, 1.0, 3.0]))
ASKED = {  # a call with a recorded Tensor -> what the error says to write
    "minimize": (lambda x: optimize.minimize(lambda y: np.sum((y - x) ** 2), X), "qad.optimize"),
    "start": (lambda x: optimize.root(lambda y: y, x), "qad.optimize"),
    "brentq": (lambda x: optimize.brentq(lambda y: y - x[0], 0, 2), "qad.fixed_point"),
    "solve_ivp": (lambda x: integrate.solve_ivp(lambda t, y: y * x[0], (0, 1), X), "qad.integrate"),
    "quad": (lambda x: integrate.quad(lambda t: t * x[0], 0, 1), "qad.integrate"),
    "expm": (lambda x: linalg.expm(A * x), "qad.linalg"),
    "product": (lambda x: S @ x, "qad.sparse"),
    "operator": (lambda x: sparse_linalg.aslinearoperator(A) @ x, "qad.sparse"),
    "multigammaln": (lambda x: special.multigammaln(x, 1), "qad.special"),
    "dct": (fft.dct, "NumPy's functions"),
    "spline": (lambda x: interpolate.CubicSpline(X, x), "qad.extend.primitive"),
    "convolve": (lambda x: signal.convolve(x, x), "qad.extend.primitive"),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("transform", [qad.grad, lambda f: lambda x: qad.jvp(f, (x,), (x,))])
def test_what_to_write_is_named(name, transform):
    call, counterpart = ASKED[name]
    with pytest.raises(RecordedTensorError, match=rf"forced into .*{counterpart}.*x\.detach\(\)"):
        transform(call)(X)


def test_what_is_named_exists():
    for path in re.findall(r"\b(?:qad|np)(?:\.\w+)+", KEEP):
        here = {"qad": qad, "np": np}[path.split(".")[0]]
        for part in path.split(".")[1:]:
            here = getattr(here, part)


@pytest.mark.slow
def test_solvers_that_forget_the_error_print_it():
    """MINPACK raises an error of its own in the place of ours, which is on the terminal."""
    program = (
        "import numpy as np, qad\n"
        "from scipy.optimize import fsolve\n"
        "qad.grad(lambda x: np.sum(fsolve(lambda y: y - x, np.ones(2))))(np.ones(2))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode and "qad.optimize" in found.stderr
