"""Random symmetric tensors for hypothesis: symmetries, legs, flows, total charges, dtypes, layouts."""

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import qad
from qad.symmetric import Leg, symmetry
from qad.symmetric.blocks.combinations import fusion

SYMMETRIES = ("U1", "Z2", "Z3", "U1xU1", "U1xZ2")
DTYPES = (np.float64, np.complex128, np.float32, np.complex64)
some = settings(max_examples=12, deadline=None)
few = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@st.composite
def legs(draw, group):
    """A leg of up to three sectors, whose charges stand in any order."""
    one = [st.integers(0, n - 1) if n else st.integers(-2, 2) for n in symmetry(group).moduli]
    charge = st.tuples(*one) if len(one) > 1 else one[0]
    sectors = draw(st.dictionaries(charge, st.integers(1, 3), min_size=1, max_size=3))
    return Leg(sectors, draw(st.sampled_from((1, -1))), group)


@st.composite
def rows_of_legs(draw, group, least=1, most=3):
    return tuple(draw(st.lists(legs(group), min_size=least, max_size=most)))


@st.composite
def tensors_of(draw, row, dtype=None, charge=None):
    """A tensor of these legs, of any total charge that they allow, laid out anyhow."""
    group = row[0].symmetry
    totals = sorted(fusion(tuple(row), group).dims)
    total = group.shown(draw(st.sampled_from(totals))) if charge is None else charge
    dtype = draw(st.sampled_from(DTYPES)) if dtype is None else dtype
    split, seed = draw(st.integers(0, len(row))), draw(st.integers(0, 9))
    return qad.symmetric.random(row, total, dtype, seed=seed, split=split)


@st.composite
def tensors(draw, least=1, most=4, dtype=None):
    group = draw(st.sampled_from(SYMMETRIES))
    return draw(tensors_of(draw(rows_of_legs(group, least, most)), dtype))


@st.composite
def pairs(draw, dtype=None, most=2):
    """Two tensors and the axes over which they may be contracted: of the first, of the second."""
    group = draw(st.sampled_from(SYMMETRIES))
    shared = draw(rows_of_legs(group, 0, most))
    one, two = draw(rows_of_legs(group, 0 if shared else 1, most)), draw(rows_of_legs(group, 0 if shared else 1, most))
    first = draw(st.permutations([*enumerate(shared), *((None, leg) for leg in one)]))
    second = draw(st.permutations([*enumerate(leg.conj() for leg in shared), *((None, leg) for leg in two)]))
    axes = [[[i for i, _ in row].index(number) for number in range(len(shared))] for row in (first, second)]
    a, b = (draw(tensors_of([leg for _, leg in row], dtype)) for row in (first, second))
    return a, b, axes


@st.composite
def squares(draw, dtype=None):
    """A neutral map from some legs to their conjugates."""
    group = draw(st.sampled_from(SYMMETRIES))
    row = draw(rows_of_legs(group, 1, 2))
    return draw(tensors_of((*row, *[leg.conj() for leg in row]), dtype, group_neutral(row)))


def group_neutral(row):
    return row[0].symmetry.shown(row[0].symmetry.neutral)


def digits(*tensors):
    """How far results of such dtypes may lie from exact ones, relatively to their size."""
    return 1e-4 if any(x.dtype.char in "fF" for x in tensors) else 1e-12


def close(found, expected, tolerance):
    """Whether two arrays agree, up to a part of the largest entry, which is not below one."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, atol=tolerance * size, rtol=0)
