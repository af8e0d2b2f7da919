"""A part of SciPy that asks a Tensor for plain numbers is named, with what qad has in its place."""

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import fft, integrate, interpolate, linalg, optimize, signal, sparse, special
from scipy.sparse import linalg as sparse_linalg

import qad
from qad.core.counterparts import COLLECT, ELSE, INSTEAD
from qad.core.errors import RecordedTensorError

X, A, S = np.array([0.5, 1.0, 1.5]), np.diag([2.0, 1.0, 3.0]), sparse.csr_matrix(np.diag([2.0, 1.0, 3.0]))
ASKED = {  # a call with a recorded Tensor -> the part of SciPy that it counts as, what the error says to write
    "minimize": (lambda x: optimize.minimize(lambda y: np.sum((y - x) ** 2), X), "optimize", "qad.optimize"),
    "start": (lambda x: optimize.root(lambda y: y, x), "optimize", "qad.optimize"),
    "brentq": (lambda x: optimize.brentq(lambda y: y - x[0], 0, 2), "optimize", "qad.fixed_point"),
    "solve_ivp": (lambda x: integrate.solve_ivp(lambda t, y: y * x[0], (0, 1), X), "integrate", "qad.integrate"),
    "quad": (lambda x: integrate.quad(lambda t: t * x[0], 0, 1), "integrate", "leggauss"),
    "expm": (lambda x: linalg.expm(A * x), "linalg", "qad.linalg"),
    "product": (lambda x: S @ x, "sparse", "qad.sparse"),
    "operator": (lambda x: sparse_linalg.aslinearoperator(A) @ x, "sparse", "qad.sparse"),
    "multigammaln": (lambda x: special.multigammaln(x, 1), "special", "qad.special"),
    "dct": (fft.dct, "fft", "np.fft"),
    "spline": (lambda x: interpolate.CubicSpline(X, x), "interpolate", "qad.extend.primitive"),
    "convolve": (lambda x: signal.convolve(x, x), "signal", "qad.extend.primitive"),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("transform", [qad.grad, lambda f: lambda x: qad.jvp(f, (x,), (x,))])
def test_who_asked_is_named_with_its_counterpart(name, transform):
    call, asked, counterpart = ASKED[name]
    with pytest.raises(RecordedTensorError, match=rf"by scipy\.{asked}, which.*write .*{counterpart}.*x\.detach\(\)"):
        transform(call)(X)


def test_the_users_own_question_is_the_users():
    """A function that SciPy calls, and that asks itself; and one that SciPy does not call at all."""
    for asks in (lambda x: optimize.brentq(lambda y: float(y - x[0]), 0, 2), lambda x: float(x[0])):
        with pytest.raises(RecordedTensorError, match=r"float, which would cut it off"):
            qad.grad(asks)(X)


def test_what_is_named_exists():
    for words in (*INSTEAD.values(), ELSE, COLLECT):
        for path in re.findall(r"\b(?:qad|np)(?:\.\w+)+", words):
            here = {"qad": qad, "np": np}[path.split(".")[0]]
            for part in path.split(".")[1:]:
                here = getattr(here, part)


def test_solvers_that_forget_the_error_print_it():
    """MINPACK raises an error of its own in the place of ours, which is on the terminal."""
    program = (
        "import numpy as np, qad\n"
        "from scipy.optimize import fsolve\n"
        "qad.grad(lambda x: np.sum(fsolve(lambda y: y - x, np.ones(2))))(np.ones(2))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode and "by scipy.optimize" in found.stderr and "qad.optimize" in found.stderr
