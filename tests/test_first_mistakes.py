"""The forty commonest mistakes of the first day: each message is a sentence of cause, and a line of code to write."""

import math
import warnings

import numpy as np
import pytest
import scipy.linalg

import qad
from qad import mps, peps

X = np.array([1.0, 2.0])
H, PSI = mps.heisenberg(4), mps.MPS.random(4, 2, seed=0)
SPIN = qad.symmetric.Leg({1: 1, -1: 1}, flow=1)
MISTAKES = {  # what is done -> the call, the words of the cause, the code that is shown
    # derivatives
    "integers": (lambda: qad.grad(np.sum)(np.arange(3)), "int64, which has no gradient", "np.asarray(x, dtype=float)"),
    "a complex loss": (lambda: qad.grad(lambda z: (z * z).sum())(X + 1j), "needs a real output", "return out.real"),
    "several losses": (lambda: qad.grad(np.sin)(X), r"a scalar output, but got shape \(2,\)", "return out.sum()"),
    "the value in place of the function": (lambda: qad.grad(X), "ndarray is not callable", "qad.grad(f)(x)"),
    "arguments beside the function": (lambda: qad.grad(np.sum, X), "argnums is an integer", "qad.grad(f)(x)"),
    "an argument that is not there": (lambda: qad.grad(np.sum, 1)(X), "1 positional", "qad.grad(f, argnums=1)"),
    "no result": (lambda: qad.grad(lambda x: None)(X), "this one returned NoneType", "return x.sum()"),
    "a Python number": (lambda: qad.grad(lambda x: float(x[0]))(X), "forced into a Python float", "float(x.detach())"),
    "the math module": (lambda: qad.grad(lambda x: math.sin(x[0]))(X), "cut it off", "np.sin(x) for math.sin(x)"),
    "an array of results": (lambda: qad.grad(lambda x: np.array([x[0]]).sum())(X), "ndarray", "qad.array([x, y])"),
    "SciPy": (lambda: qad.grad(lambda x: scipy.linalg.expm(x[:, None] * x).sum())(X), "ndarray", "qad.linalg"),
    "an array that is filled": (
        lambda: qad.grad(lambda x: np.zeros(2).__setitem__(0, x[0]))(X), "cut it off", "qad.zeros(shape)",
    ),
    "an argument that is changed": (
        lambda: qad.grad(lambda x: x.__setitem__(0, 1.0))(X), "cannot be written into", "y = x.copy()",
    ),
    "two backward passes": (
        lambda: [(y := qad.tensor(X, requires_grad=True).sum()).backward(), y.backward()], "was freed by an earlier",
        "y.backward(retain_graph=True)",
    ),
    "a branch in a batch": (lambda: qad.vmap(lambda x: x if x > 0 else -x)(X), "differs from example", "qad.where("),
    "batches of two sizes": (
        lambda: qad.vmap(np.multiply)(X, np.ones(3)), "2 in argument .0. and 3 in argument .1.", "in_axes=(0, None)",
    ),
    "names of other libraries": (lambda: qad.jit, "no attribute 'jit'", "qad.freeze(f)"),
    "a frozen value": (lambda: qad.freeze(X), "takes a function, not ndarray", "qad.freeze(f)(x)"),
    # matrices and contractions
    "vectors of equal levels": (
        lambda: qad.grad(lambda a: np.linalg.eigh(a)[1][0, 0])(np.eye(2)), "degenerate", "qad.linalg.funm_herm(f, A)",
    ),
    "a matrix of NaN": (lambda: qad.linalg.svd(np.full((2, 2), np.nan)), r"entry \[0, 0\] is nan", "qad.debug()"),
    "a missing operand": (lambda: qad.einsum("ij,jk->ik", np.eye(2)), "too few", 'einsum("ij,jk->ik", a, b)'),
    "factors that close no ring": (lambda: qad.tr(np.ones((2, 3)), np.ones((2, 3))), "close a ring", "qad.tr(A, B.mT)"),
    "charges that do not add up": (
        lambda: qad.symmetric.from_dense(np.ones((2, 2)), (SPIN, SPIN)), "is not allowed with flows", "tol=1",
    ),
    # chains
    "an operator that is not there": (lambda: mps.OpSum(4).add(1.0, "Sq", 0), "no operator 'Sq'", "did you mean 'Sx'"),
    "a site beyond the end": (lambda: mps.OpSum(4).add(1.0, "Z", 4), "sites are 0 to 3", "(i + 1) % 4"),
    "an operator without its site": (lambda: mps.OpSum(4).add(1.0, "Z"), "operator, site", 'add(1.0, "Z", 0, "Z", 1)'),
    "the coefficient last": (lambda: mps.OpSum(4).add("Z", 0, 1.0), "must be a finite number", 'add(1.0, "Z", 0)'),
    "operator and state swapped": (lambda: mps.energy(H, PSI), "states come first", "energy(psi, H)"),
    "chains of two lengths": (lambda: mps.energy(PSI, mps.heisenberg(5)), "has 4 sites, .* has 5", "same n"),
    "a matrix for a chain": (lambda: mps.ground_state(np.eye(16), 4), "but got ndarray", "qad.mps.MPO(tensors)"),
    "the keyword of another package": (lambda: mps.ground_state(H, chi=4), "takes no keyword 'chi'", "write bond="),
    "a sector of nothing": (lambda: mps.ground_state(H, 4, sector=0), "what is conserved", 'conserve="Sz"'),
    "an infinite chain for a finite one": (
        lambda: mps.ground_state(mps.uniform.heisenberg(), 4), "takes finite chains", "qad.mps.uniform",
    ),
    "a vector for a chain": (lambda: mps.MPS(np.ones(16)), "has shape", "from_dense(v.reshape((2,) * n))"),
    "an operator of two sites on one": (lambda: PSI.apply(np.eye(4), 0), r"it has shape \(2, 2\);", "(i, i + 1)"),
    # two dimensions, circuits, optimisation
    "a model of chains in two dimensions": (lambda: peps.ground_state(H, 2, 8), "but got MPO", "qad.peps.heisenberg()"),
    "a gate on one qubit twice": (lambda: qad.Circuit(2).cx(0, 0), "repeated in", "cx(0, 1)"),
    "an observable of other letters": (lambda: qad.PauliSum({"ZQ": 1.0}), "not 'ZQ'", 'PauliSum({"ZI": 1.0})'),
    "the start before the loss": (lambda: qad.optimize.minimize(X, np.sum), "is no function", "minimize(fun, params)"),
    "a manifold by its name": (
        lambda: qad.optimize.minimize_on(np.sum, X, manifold="sphere"), "no manifold", "manifold=qad.optimize.Sphere()",
    ),
}  # fmt: skip
LONGEST = 560  # what lists the counterparts of SciPy's functions


def test_there_are_forty():
    assert len(MISTAKES) == 40


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_says_why_and_what_to_write(name):
    call, cause, code = MISTAKES[name]
    with warnings.catch_warnings(), pytest.raises(Exception, match=cause) as caught:
        call()
    said = str(caught.value)
    assert code in said
    assert "\n" not in said and not said.endswith(".")
    assert len(said) <= LONGEST
