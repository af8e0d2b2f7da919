"""Contractions within a limit of memory, slice by slice, under `qad.vmap`."""

import numpy as np
import pytest

import qad

RNG = np.random.default_rng(0)
NETWORK, LIMIT = "abc,ade,bdf,cef->", "70kB"


def whole(*tensors):
    return qad.einsum(NETWORK, *tensors)


def cut(*tensors):
    return qad.einsum(NETWORK, *tensors, memory_limit=LIMIT)


@pytest.mark.parametrize("axes", [(0, 0, 0, 0), (0, None, None, None), (None, 0, None, 0)])
def test_batches_of_contractions_in_slices(axes):
    tensors = [RNG.standard_normal((8, 8, 8) if axis is None else (3, 8, 8, 8)) for axis in axes]
    shapes = [x.shape[-3:] for x in tensors]
    assert qad.plan(NETWORK, *shapes, memory_limit=LIMIT).slices > 1
    x = tensors[0]
    for loss in (
        lambda f: qad.vmap(f, in_axes=axes)(*tensors),
        lambda f: qad.vmap(qad.grad(f, argnums=(0, 1)), in_axes=axes)(*tensors),
        lambda f: qad.grad(lambda x: np.sum(qad.vmap(f, in_axes=axes)(x, *tensors[1:]) ** 2))(x),
        lambda f: qad.vmap(lambda *t: qad.jvp(f, t, t)[1], in_axes=axes)(*tensors),
        lambda f: qad.freeze(qad.vmap(qad.grad(f), in_axes=axes))(*tensors),
        lambda f: qad.vmap(lambda x, *t: qad.hvp(lambda x: f(x, x, *t[1:]), (x,), (t[0],))[0], in_axes=axes)(*tensors),
    ):
        for one, two in zip(np.broadcast_arrays(*loss(cut)), np.broadcast_arrays(*loss(whole)), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
