"""What cannot be differentiated says so at the call, and says what to write: code, or a function of qad."""

import re

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy import sparse, special

import qad

X, Z = np.array([[1.0, 2.0], [3.0, 4.5]]), np.array([1.0 + 1j, 2.0])
CALLS = {
    "integer argument": lambda: qad.grad(np.sum)(np.arange(3)),
    "boolean argument": lambda: qad.grad(np.sum)(np.array([True])),
    "integer result": lambda: qad.grad(np.argmax)(X),
    "boolean result": lambda: qad.grad(np.all)(X),
    "complex result": lambda: qad.grad(np.sum)(Z),
    "maximum of complex numbers": lambda: qad.grad(lambda z: abs(np.max(z)))(Z),
    "sort of complex numbers": lambda: qad.grad(lambda z: abs(np.sort(z)).sum())(Z),
    "partition of complex numbers": lambda: qad.grad(lambda z: abs(np.partition(z, 1)).sum())(Z),
    "sort_complex": lambda: qad.grad(lambda x: abs(np.sort_complex(x)).sum())(X),
    "complex to real": lambda: qad.grad(lambda z: z.astype(float).sum())(Z),
    "ufunc with out": lambda: qad.grad(lambda x: np.sin(x, out=np.zeros((2, 2))).sum())(X),
    "reduction with out": lambda: qad.grad(lambda x: np.sum(x, out=np.zeros(())))(X),
    "product with out": lambda: qad.grad(lambda x: np.dot(x, x, out=np.zeros((2, 2))).sum())(X),
    "method with out": lambda: qad.grad(lambda x: x.cumsum(out=np.zeros(4)).sum())(X),
    "transform with out": lambda: qad.grad(lambda x: abs(np.fft.fft(x, out=np.zeros((2, 2), complex))).sum())(X),
    "array of objects": lambda: qad.grad(lambda x: (x * np.array([1, None], object)).sum())(X),
    "list of Tensors": lambda: qad.grad(lambda x: np.sin([x[0, 0], x[0, 1]]).sum())(X),
    "masked array": lambda: qad.grad(lambda x: (x * np.ma.masked_array(X, X > 2)).sum())(X),
    "np.asarray": lambda: qad.grad(lambda x: np.asarray(x).sum())(X),
    "np.array of a list": lambda: qad.grad(lambda x: np.array([x[0, 0], 1.0]).sum())(X),
    "float": lambda: qad.grad(lambda x: float(x[0, 0]))(X),
    "math": lambda: qad.grad(lambda x: __import__("math").sin(x[0, 0]))(X),
    "writing into an ndarray": lambda: qad.grad(lambda x: np.zeros(2).__setitem__(0, x[0, 0]))(X),
    "dot of an ndarray": lambda: qad.grad(lambda x: X.dot(x).sum())(X),
    "sparse @ Tensor": lambda: qad.grad(lambda x: (sparse.eye_array(2) @ x).sum())(X),
    "sparse + Tensor": lambda: qad.grad(lambda x: (x + sparse.eye_array(2)).sum())(X),
    "order of a Bessel function": lambda: qad.grad(lambda v: special.jv(v, 1.0))(0.5),
    "a function without rule": lambda: qad.grad(lambda x: special.kelvin(x)[0].sum())(X),
    "in place on an argument": lambda: qad.grad(lambda x: x.__setitem__(0, 1.0))(X),
    "in place on a leaf": lambda: qad.tensor(X, requires_grad=True).__setitem__(0, 1.0),
    "sort in place": lambda: qad.grad(lambda x: x.sort())(X),
    "file": lambda: qad.grad(lambda x: np.save("x.npy", x))(X),
    "quantile of another kind": lambda: qad.grad(lambda x: np.quantile(x, 0.5, method="inverted_cdf"))(X),
    "layout in memory": lambda: qad.grad(lambda x: x.reshape(4, order="A").sum())(X),
    "windows to write into": lambda: qad.grad(lambda x: sliding_window_view(x, 2, 0, writeable=True).sum())(X),
    "axes of a ufunc": lambda: qad.grad(lambda x: np.matmul(x, x, axes=[(0, 1)] * 3).sum())(X),
}
CODE = re.compile(r"qad\.\w+|np\.\w+\(|\b(x|out|array)?\.[a-z]\w+|a\[i|a\[mask|\w+=\S|= ?x |defvjp\(")


@pytest.mark.parametrize("name", CALLS)
def test_the_message_shows_what_to_write(name):
    with pytest.raises(Exception) as caught:  # NumPy may wrap our error as its cause
        CALLS[name]()
    error = caught.value if isinstance(caught.value, qad.QadError) else caught.value.__cause__
    assert isinstance(error, qad.QadError), caught.value
    assert CODE.search(str(error)), str(error)
