"""Solvers written in C that ask a recorded value for its number: the error is ours, and names what to write."""

import gc

import numpy as np
import pytest
from scipy import integrate, optimize

import qad
from qad.core.errors import RecordedTensorError


@pytest.fixture(autouse=True)
def no_collection():
    """SciPy goes on while our error is set; a callback of Python's garbage collector that ran then would swallow it."""
    gc.disable()
    yield
    gc.enable()


SOLVERS = {
    "brentq": lambda f: optimize.brentq(f, 0.0, 3.0),
    "brenth": lambda f: optimize.brenth(f, 0.0, 3.0),
    "bisect": lambda f: optimize.bisect(f, 0.0, 3.0),
    "ridder": lambda f: optimize.ridder(f, 0.0, 3.0),
    "root_scalar": lambda f: optimize.root_scalar(f, bracket=(0.0, 3.0)).root,
    "quad": lambda f: integrate.quad(f, 0.0, 1.0)[0],
    "differential_evolution": lambda f: optimize.differential_evolution(f, [(0.0, 3.0)], maxiter=2).x[0],
}

COUNTERPART = dict.fromkeys(SOLVERS, r"qad\.fixed_point") | {"quad": r"qad\.integrate"}
FUNCTIONS = {
    "arithmetic": lambda x, a: x * x - a,
    "a function of the variable": lambda x, a: np.sin(a) - x,
}

TRANSFORMS = {
    "grad": lambda f: qad.grad(f)(2.0),
    "vjp": lambda f: qad.vjp(f, 2.0),
    "jvp": lambda f: qad.jvp(f, (2.0,), (1.0,)),
    "jacobian": lambda f: qad.jacobian(f)(2.0),
    "hvp": lambda f: qad.hvp(f, (2.0,), (1.0,)),
    "hessian": lambda f: qad.hessian(f)(2.0),
    "checkpoint": lambda f: qad.grad(qad.checkpoint(f))(2.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_inside_of_transforms_the_error_is_ours(solver, transform):
    for function in FUNCTIONS.values():
        with pytest.raises(RecordedTensorError, match=rf"forced into .*{COUNTERPART[solver]}"):
            TRANSFORMS[transform](lambda a, function=function: SOLVERS[solver](lambda x: function(x, a)))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("solver", ["brentq", "bisect", "ridder"])
def test_outside_of_transforms_ours_is_the_cause(solver, function):
    """SciPy's C code goes on although an error is set, and Python says so; nothing of ours runs between the two."""
    a = qad.tensor(2.0, requires_grad=True)
    with pytest.raises((SystemError, RecordedTensorError)) as caught:
        SOLVERS[solver](lambda x: FUNCTIONS[function](x, a))
    ours = caught.value if isinstance(caught.value, RecordedTensorError) else caught.value.__cause__
    assert isinstance(ours, RecordedTensorError) and "qad.fixed_point" in str(ours)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_number_comes_out(solver):
    """NumPy 2.0 forgets an error that is set when its ufuncs are called: SciPy then finds two ends of one sign."""
    with pytest.raises((RecordedTensorError, ValueError)):
        qad.grad(lambda a: SOLVERS[solver](lambda x: np.sqrt(np.abs(x)) - np.sqrt(np.sqrt(a))))(2.0)


def test_what_the_error_names():
    def root(a):
        x = optimize.brentq(lambda x: x * x - a, 0.0, 3.0) if isinstance(a, float) else 1.4
        return qad.fixed_point(lambda x: x - (x * x - a) / (2 * x), np.array(x))

    assert qad.grad(root)(2.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-9)
