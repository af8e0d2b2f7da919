"""Arrays of classes of their own are refused, for these may have arithmetic of their own."""

import numpy as np
import pytest

import qad


class _Hundredfold(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **kwargs) * 100.0


class _Adding(np.ndarray):
    __array_priority__ = 100

    def __rmul__(self, other):
        return np.asarray(other) + np.asarray(self)


class _Named(np.ndarray):
    name = "harmless"


@pytest.mark.parametrize("kind", [_Hundredfold, _Adding, _Named])
def test_arrays_of_other_classes_are_refused(kind):
    w = np.full(2, 5.0).view(kind)
    with pytest.raises(qad.QadError, match="arithmetic of its own: write np.asarray"):
        qad.freeze(lambda y: y * w)(np.ones(2))
    frozen = qad.freeze(lambda y: y * np.asarray(w))
    for _ in range(2):
        np.testing.assert_array_equal(frozen(np.ones(2)), 5.0)
