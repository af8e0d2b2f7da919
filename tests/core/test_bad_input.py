"""What cannot be differentiated says so at the call, and every message shows what to write instead."""

import re

import numpy as np
import pytest
from scipy import integrate, special

import qad

X = np.array([0.3, 0.7])
Z = X + 1j


def write(target, index, value):
    target[index] = value


def backward_twice():
    y = (qad.tensor(X, requires_grad=True) * 2).sum()
    y.backward()
    y.backward()


def leak():
    kept = []
    qad.grad(lambda x: kept.append(x) or x.sum())(X)
    return kept[0] * 2


REFUSED = {
    # results and arguments without a gradient
    "integer result": lambda: qad.grad(lambda x: np.argmax(x))(X),
    "boolean result": lambda: qad.grad(lambda x: x[0] > 0)(X),
    "no array": lambda: qad.grad(lambda x: "energy")(X),
    "several results": lambda: qad.grad(lambda x: (x[0], x[1]))(X),
    "result with axes": lambda: qad.grad(np.sin)(X),
    "complex result": lambda: qad.grad(np.sum)(Z),
    "integer argument": lambda: qad.grad(np.sum)(np.arange(3)),
    "integer leaf": lambda: qad.grad(lambda p: p["w"].sum())({"w": np.arange(3)}),
    "integer tensor": lambda: qad.tensor([1, 2], requires_grad=True),
    "object array": lambda: qad.grad(lambda x: (x * np.array([1, None])).sum())(X),
    "object argument": lambda: qad.grad(np.sum)(np.array([1.0, None])),
    "masked array": lambda: qad.grad(lambda x: (x * np.ma.masked_array([1.0, 2.0])).sum())(X),
    "list of Tensors": lambda: qad.grad(lambda x: np.sum(x * [x[0], x[1]]))(X),
    # complex numbers have no order
    "complex max": lambda: qad.grad(lambda z: np.max(z).real)(Z),
    "complex sort": lambda: qad.grad(lambda z: np.sort(z)[0].real)(Z),
    "complex maximum": lambda: qad.grad(lambda z: np.maximum(z, 0).sum().real)(Z),
    "complex jacobian": lambda: qad.jacobian(np.sin)(Z),
    "not holomorphic": lambda: qad.jacobian(np.conj, holomorphic=True)(Z),
    "real wirtinger": lambda: qad.wirtinger(np.sin)(X),
    # out=, where=, forced conversions
    "out=": lambda: qad.grad(lambda x: np.sin(x, out=np.zeros(2)).sum())(X),
    "out= of a reduction": lambda: qad.grad(lambda x: np.sum(x, out=np.zeros(())))(X),
    "asarray": lambda: qad.grad(lambda x: np.asarray(x).sum())(X),
    "float": lambda: qad.grad(lambda x: float(x[0]))(X),
    "complex": lambda: qad.grad(lambda x: complex(x[0]).real)(X),
    "SciPy": lambda: qad.grad(lambda x: integrate.simpson(np.asarray(x)))(X),
    "function without a rule": lambda: qad.grad(lambda x: special.pdtrc(1.0, x).sum())(X),
    # in place
    "leaf +=": lambda: qad.grad(lambda x: x.__iadd__(1.0).sum())(X),
    "leaf item": lambda: qad.grad(lambda x: write(x, 0, 1.0))(X),
    "leaf of the tape": lambda: write(qad.tensor(X, requires_grad=True), 0, 1.0),
    "view": lambda: qad.grad(lambda x: write((2 * x)[::-1], 0, 1.0))(X),
    "plain array item": lambda: qad.grad(lambda x: write(np.zeros(2), 0, x[0]))(X),
    "plain array part": lambda: qad.grad(lambda x: write(np.zeros((2, 2)), 0, x))(X),
    "plain array +=": lambda: qad.grad(lambda x: np.zeros(2).__iadd__(x).sum())(X),
    "complex into real": lambda: qad.grad(lambda z: write(qad.zeros(2), 0, z[0]))(Z),
    "integer buffer": lambda: qad.grad(lambda x: write(qad.zeros(2, int), 0, x[0]))(X),
    # lifetimes
    "backward twice": backward_twice,
    "leaked": leak,
    "pickled": lambda: qad.grad(lambda x: (x * 2).__reduce__())(X),
    "drawn": lambda: qad.draw(X),
}


CODE = r"qad\.\w+|np\.\w+\(|\w+ = \w+|\w+=True|\w+\.(copy|numpy|real|sum|item|filled|detach|astype)\b"


@pytest.mark.parametrize("name", REFUSED)
def test_messages_name_the_way(name):
    with pytest.raises(qad.QadError) as caught:
        REFUSED[name]()
    message = str(caught.value)
    assert isinstance(caught.value, (TypeError, ValueError, RuntimeError, ArithmeticError))
    assert re.search(CODE, message), message
    assert len(message) < 600
