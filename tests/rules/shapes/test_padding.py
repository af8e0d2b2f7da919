"""`np.pad` in every mode, against NumPy itself and against differences."""

from functools import partial

import numpy as np
import pytest

import qad
from tests.cases import Case, apart, normal

WIDTHS = (2, (1, 3), ((0, 2), (4, 1)), ((7, 9), (8, 11)))
MODES = [
    {"mode": "constant"},
    {"mode": "constant", "constant_values": ((1.0, 2.0), (3.0, 4.0))},
    {"mode": "empty"},
    {"mode": "linear_ramp"},
    {"mode": "linear_ramp", "end_values": ((1.0, 2.0), (3.0, 4.0))},
    *({"mode": mode} for mode in ("edge", "wrap", "maximum", "minimum", "mean", "median")),
    *({"mode": mode, "stat_length": ((1, 2), (3, 9))} for mode in ("maximum", "minimum", "mean", "median")),
    *({"mode": mode, "reflect_type": kind} for mode in ("reflect", "symmetric") for kind in ("even", "odd")),
]
REAL_ALONE = ("maximum", "minimum", "median")


def label(mode):
    return "-".join(str(value) for value in mode.values()).replace(" ", "")


CASES = [
    Case(lambda x, mode=mode: np.pad(x, ((0, 2), (4, 1)), **mode), x, name=label(mode))
    for mode in MODES
    for x in (normal(2, 3), normal(2, 3, complex))
    if mode["mode"] != "empty" and (x.dtype == float or mode["mode"] not in REAL_ALONE)
]
CASES += [
    Case(lambda x, v: np.pad(x, 2, constant_values=v), (normal(2, 3), normal(2, 2)), name="constants"),
    Case(lambda x, v: np.pad(x, 2, "linear_ramp", end_values=v), (normal(2, 3), normal(2)), name="ends"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("mode", MODES, ids=label)
@pytest.mark.parametrize("shape", [(2, 3), (1, 2), (1, 1), (5, 4)])
def test_values_are_numpys(mode, shape):
    x = apart(*shape)
    for widths in WIDTHS:
        expected = np.pad(x, widths, **mode)
        found = np.pad(qad.tensor(x, requires_grad=True), widths, **mode).numpy()
        known = np.pad(np.ones(shape), widths) > 0 if mode["mode"] == "empty" else np.ones(expected.shape, bool)
        np.testing.assert_allclose(found[known], expected[known], rtol=1e-12, atol=1e-12)


def test_dictionaries():
    found = np.pad(qad.tensor(normal(2, 3), requires_grad=True), {1: (1, 2)}, "reflect", reflect_type="odd")
    assert found.shape == (2, 6)


def test_functions_are_refused():
    with pytest.raises(qad.errors.ArgumentError, match="concatenate"):
        np.pad(qad.tensor(normal(2, 3)), 1, lambda vector, width, axis, kwargs: None)


def test_batches_and_frozen_programs():
    x = apart(4, 2, 3)
    for mode in MODES:
        if mode["mode"] == "empty":
            continue
        f = partial(np.pad, pad_width=((0, 2), (4, 1)), **mode)
        np.testing.assert_allclose(qad.vmap(f)(x), np.stack([f(a) for a in x]), atol=1e-12)
        g = qad.grad(lambda x, f=f: np.sum(f(x) ** 2))
        frozen = qad.freeze(g)
        for a in x[:3]:
            np.testing.assert_allclose(frozen(a), g(a), rtol=1e-12)


def test_what_is_wrong_is_refused():
    x = qad.tensor(normal(2, 3), requires_grad=True)
    for call in (
        lambda: np.pad(x, 1, "unknown"),
        lambda: np.pad(x, 1, "edge", end_values=2),
        lambda: np.pad(x, -1),
        lambda: np.pad(x, 1.5),
        lambda: np.pad(x[:, :0], 1, "mean"),
    ):
        with pytest.raises(qad.errors.ArgumentError, match=r"np\.pad"):
            call()
