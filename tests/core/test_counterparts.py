"""A function of SciPy that asks a Tensor for plain numbers is named, with what qad has in its place."""

import subprocess
import sys

import numpy as np
import pytest
import scipy
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, special, stats
from scipy.sparse import linalg as sparse_linalg

import qad
from qad.core.counterparts import INSTEAD, NONE
from qad.core.errors import RecordedTensorError

X, A, S = np.array([0.5, 1.0, 1.5]), np.diag([2.0, 1.0, 3.0]), sparse.csr_matrix(np.diag([2.0, 1.0, 3.0]))
ASKED = {  # a call with a recorded Tensor -> what it counts as, what the error says to write
    "minimize": (lambda x: optimize.minimize(lambda y: np.sum((y - x) ** 2), X), "optimize.minimize", "qad.optim"),
    "start": (lambda x: optimize.root(lambda y: y, x), "optimize.root", "qad.optimize.root"),
    "fit": (lambda x: optimize.least_squares(lambda y: y - x, X), "optimize.least_squares", "least_sq"),
    "brentq": (lambda x: optimize.brentq(lambda y: y - x[0], 0, 2), "optimize.brentq", "qad.optimize.root"),
    "solve_ivp": (lambda x: integrate.solve_ivp(lambda t, y: y * x[0], (0, 1), X), "integrate.solve_ivp", "qad.int"),
    "odeint": (lambda x: integrate.odeint(lambda y, t: -y, x * 1.0, X), "integrate.odeint", "qad.integrate.solve_ivp"),
    "quad": (lambda x: integrate.quad(lambda t: t * x[0], 0, 1), "integrate.quad", "leggauss"),
    "simpson": (integrate.simpson, "integrate.simpson", "np.trapezoid"),
    "expm": (lambda x: linalg.expm(A * x), "linalg.expm", "qad.linalg.expm"),
    "eigh": (lambda x: linalg.eigh(A * x), "linalg.eigh", "qad.linalg.eigh"),
    "cho_solve": (lambda x: linalg.cho_solve((A, True), x), "linalg.cho_solve", "qad.linalg.solve"),
    "hessenberg": (lambda x: linalg.hessenberg(A * x), "linalg.hessenberg", "qad.extend.primitive"),
    "product": (lambda x: S @ x, "sparse.csr_matrix", "qad.sparse"),
    "entries": (lambda x: sparse.csr_array(A * x), "sparse.csr_array", "qad.sparse"),
    "operator": (lambda x: sparse_linalg.aslinearoperator(A) @ x, "sparse.linalg.LinearOperator", "linear_solve"),
    "cg": (lambda x: sparse_linalg.cg(A, x), "sparse.linalg.cg", "qad.linalg.linear_solve"),
    "multigammaln": (lambda x: special.multigammaln(x, 1), "special.multigammaln", "qad.extend.primitive"),
    "dct": (fft.dct, "fft.dct", "np.fft"),
    "spline": (lambda x: interpolate.CubicSpline(X, x), "interpolate.CubicSpline", "np.interp"),
    "convolve": (lambda x: signal.convolve(x, x), "signal.convolve", "np.convolve"),
    "density": (stats.norm.pdf, "stats.rv_continuous", "qad.extend.primitive"),
    "filter": (lambda x: ndimage.gaussian_filter(x, 1.0), "ndimage.gaussian_filter", "qad.extend.primitive"),
}  # fmt: skip


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
    for module, known in INSTEAD.items():
        for name, words in known.items():
            assert not name or hasattr(sys.modules[module], name) or name in ("simpson", "trapezoid"), name
            for word in words.replace(",", " ").replace(";", " ").split():
                here = qad if word.startswith("qad.") else np if word.startswith("np.") else None
                for part in word.split("(")[0].split(".")[1:] if here else ():
                    here = getattr(here, part)
    assert "qad.extend.primitive" in NONE and scipy.__version__


def test_solvers_that_forget_the_error_print_it():
    """MINPACK raises an error of its own in the place of ours, which is on the terminal."""
    program = (
        "import numpy as np, qad\n"
        "from scipy.optimize import fsolve\n"
        "qad.grad(lambda x: np.sum(fsolve(lambda y: y - x, np.ones(2))))(np.ones(2))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode and "by scipy.optimize.fsolve" in found.stderr and "qad.optimize.root" in found.stderr


def test_the_counterpart_is_named_though_nobody_imported_it():
    """``qad.special`` is imported when it is asked for."""
    program = "import numpy as np, qad, scipy.special\nqad.grad(scipy.special.logsumexp)(np.ones(2))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode and "write qad.special.logsumexp" in found.stderr
