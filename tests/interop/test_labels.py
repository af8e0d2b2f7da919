"""Labelled arrays: xarray's may hold Tensors, pandas's are constants beside them."""

import numpy as np
import pytest

import qad
from qad.core.errors import RecordedTensorError

X = np.array([1.0, 2.0, 3.0])


def test_arrays_of_xarray_hold_tensors():
    xr = pytest.importorskip("xarray", reason="the optional package xarray is not installed")
    weights = xr.DataArray([2.0, 3.0, 4.0], dims="i", coords={"i": [10, 20, 30]})
    matrix = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("j", "i"))
    for loss in (
        lambda x: (xr.DataArray(x, dims="i") * weights).sum().data,
        lambda x: (matrix.dot(xr.DataArray(x, dims="i")) ** 2).sum().data,
        lambda x: (weights * x).sum().data,
        lambda x: np.sum(x * weights),
    ):
        qad.check_grads(loss, (X,))
    with pytest.raises(RecordedTensorError):
        qad.grad(lambda x: xr.DataArray(x, dims="i").values.sum())(X)


def test_series_of_pandas_are_constants_to_the_right_of_tensors():
    pd = pytest.importorskip("pandas", reason="the optional package pandas is not installed")
    series, frame = pd.Series([2.0, 3.0, 4.0]), pd.DataFrame({"a": X, "b": X**2})
    for loss in (lambda x: np.sum(x * series), lambda x: qad.einsum("i,i->", x, series), lambda x: np.sum(x @ frame)):
        qad.check_grads(loss, (X,))
    np.testing.assert_array_equal(qad.grad(lambda x: np.sum(x**2))(series), 2 * series.to_numpy())
    for refused in (lambda x: series * x, pd.Series):
        with pytest.raises(RecordedTensorError):
            qad.grad(refused)(X)
