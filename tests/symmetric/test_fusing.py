"""Fused legs, direct sums, and files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.symmetric import Leg, direct_sum, fuse, load, random, save, tensordot, unfuse
from tests.symmetric.draw import close, digits, some, tensors

LEFT, SPIN, RIGHT = Leg({-1: 3, 1: 2}, +1), Leg({1: 1, -1: 1}, +1), Leg({2: 1, -2: 2, 0: 3}, -1)
A = random((LEFT, SPIN, RIGHT), seed=1, dtype=complex)


@given(a=tensors(least=2), data=st.data())
@some
def test_there_and_back(a, data):
    axes = data.draw(st.permutations(range(a.ndim)))[: data.draw(st.integers(1, a.ndim))]
    flow = data.draw(st.sampled_from((1, -1, None)))
    one = fuse(a, axes, flow)
    others = [axis for axis in range(a.ndim) if axis not in axes]
    place = sum(axis < axes[0] for axis in others)
    assert one.legs[place].parts == tuple(a.legs[axis] for axis in axes)
    assert one.size == a.size and one.charge == a.charge
    back = unfuse(one, place)
    order = (*others[:place], *axes, *others[place:])
    np.testing.assert_array_equal(back.to_dense(), a.to_dense().transpose(order))
    assert np.linalg.norm(one.to_dense()) == pytest.approx(a.norm(), rel=1e-4)


@given(a=tensors(least=2, most=3), data=st.data())
@some
def test_fused_legs_contract_as_their_parts(a, data):
    axes = data.draw(st.permutations(range(a.ndim)))[:2]
    one, two = fuse(a, axes), fuse(a.conj(), axes)
    place = sum(axis < axes[0] for axis in range(a.ndim) if axis not in axes)
    assert one.legs[place].conj() == two.legs[place]
    found, expected = tensordot(one, two, ([place], [place])), tensordot(a, a.conj(), (axes, axes))
    if a.ndim == 2:
        close(found, expected, digits(a))
    else:
        close(found.to_dense(), expected.to_dense(), digits(a))


def test_derivatives():
    qad.check_grads(lambda a: unfuse(fuse(a, (2, 0)) * 2.0, 1).transpose(2, 0, 1).data ** 2, (A,))
    nested = fuse(fuse(A, (0, 1)), (0, 1), flow=-1)
    np.testing.assert_array_equal(unfuse(unfuse(nested, 0), 0).to_dense(), A.to_dense())


def test_fused_legs_add_to_plain_ones():
    one = fuse(A, (0, 1))
    plain = random((Leg(one.legs[0].sectors, 1), RIGHT), seed=2)
    np.testing.assert_allclose((one + plain).to_dense(), one.to_dense() + plain.to_dense())


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: fuse(A, (0, 0)), "name an axis twice"),
        (lambda: fuse(A, (0, 3)), "must name axes"),
        (lambda: fuse(A, ()), "must name axes"),
        (lambda: fuse(A, (0, 1), flow=2), r"must be \+1 or -1"),
        (lambda: unfuse(A, 0), "was not fused"),
        (lambda: unfuse(A, 5), "must name axes"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


# -- direct sums -----------------------------------------------------------------------------------------------------


@given(a=tensors(most=3), data=st.data())
@some
def test_direct_sums(a, data):
    axes = tuple(data.draw(st.sets(st.integers(0, a.ndim - 1), min_size=1)))
    other = data.draw(st.permutations(range(a.ndim)))[0]
    sectors = dict.fromkeys(list(a.legs[other].sectors)[:1], 1) if other in axes else a.legs[other].sectors
    legs = [Leg(sectors, x.flow, a.symmetry) if i == other else x for i, x in enumerate(a.legs)]
    try:
        b = random(legs, a.charge, a.dtype, seed=3, split=0)
    except ArgumentError:  # no block is left
        return
    both = direct_sum(a, b, axes)
    assert both.shape == tuple(m + n if i in axes else m for i, (m, n) in enumerate(zip(a.shape, b.shape, strict=True)))
    whole = (direct_sum(a, 0 * b, axes), direct_sum(0 * a, b, axes))
    close((whole[0] + whole[1]).to_dense(), both.to_dense(), digits(a))
    assert whole[0].norm() == pytest.approx(a.norm(), rel=1e-4)
    if len(axes) == a.ndim:
        kept = np.concatenate([a.data, b.data])
        np.testing.assert_array_equal(np.sort(both.data[both.data != 0]), np.sort(kept))


def test_sums_of_products():
    """(A1 + A2)(B1 + B2) with the bond as an inner sum is A1 B1 + A2 B2."""
    a, b = (random((SPIN, SPIN, Leg(bond, -1)), seed=1) for bond in ({2: 1, 0: 2}, {0: 1, -2: 2}))
    x, y = (random((leg.legs[2].conj(), SPIN, SPIN), seed=2) for leg in (a, b))
    found = tensordot(direct_sum(a, b, 2), direct_sum(x, y, [0]), 1)
    close(found.to_dense(), (tensordot(a, x, 1) + tensordot(b, y, 1)).to_dense(), 1e-13)
    qad.check_grads(lambda a, b: direct_sum(a, b, 2).data ** 2, (a, b))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: direct_sum(A, A, 3), ArgumentError, "must name axes"),
        (lambda: direct_sum(A, A, (0, -3)), ArgumentError, "name an axis twice"),
        (lambda: direct_sum(A, A.conj(), 0), ShapeError, "axis 0 is Leg"),
        (lambda: direct_sum(A, random((SPIN, SPIN, RIGHT)), 1), ShapeError, "axis 0 is Leg"),
        (lambda: direct_sum(A, random(A.legs, 2), 0), ShapeError, "different charges"),
    ],
)
def test_refused_sums(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- files -------------------------------------------------------------------------------------------------------------


@given(a=tensors(), data=st.data())
@some
def test_files(tmp_path_factory, a, data):
    path = tmp_path_factory.mktemp("files") / "a.npz"
    if a.ndim > 1 and data.draw(st.booleans()):
        a = fuse(fuse(a, (0, a.ndim - 1)), (0,), flow=-1)
    save(a, path)
    found = load(path)
    assert found.layout == a.layout and found.dtype == a.dtype
    np.testing.assert_array_equal(found.data, a.data)


def test_files_of_a_number(tmp_path):
    a = random((), symmetry="U1xZ2")
    save(a, tmp_path / "a.npz")
    assert load(tmp_path / "a.npz").item() == a.item()


def test_legs_that_were_fused_in_another_order_do_not_join():
    one, two = Leg({0: 1, 1: 2}, +1), Leg({0: 2, 1: 1}, +1)
    a = random((one, two, one.conj()), charge=1, seed=0)
    plain, turned = fuse(a, (0, 1)), fuse(a, (1, 0))  # the same sectors, whose entries stand in another order
    assert plain.legs[0].sectors == turned.legs[0].sectors
    with pytest.raises(ShapeError, match="fused from different legs, or in another order"):
        tensordot(plain, turned.conj(), ([0], [0]))
    with pytest.raises(ShapeError, match="do not fit: they were fused from different legs"):
        qad.einsum("ab,ab->", plain, turned.conj())
    with pytest.raises(ShapeError, match="tensors of different legs"):
        plain + turned
    again = fuse(a.transpose(1, 0, 2), (1, 0))  # the same order, by another way
    assert abs(tensordot(plain, again.conj(), ([0, 1], [0, 1])) - a.norm() ** 2) < 1e-13
    bare = random((Leg(plain.legs[0].sectors, -1), one), seed=2)  # what nobody fused joins
    assert tensordot(plain, bare, ([0], [0])).ndim == 2


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    save(A, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArgumentError, match="damaged"):
        load(path)
    flipped = bytearray(whole)
    flipped[whole.index(A.data.tobytes()[:16])] ^= 1
    path.write_bytes(bytes(flipped))
    with pytest.raises(ArgumentError, match="damaged"):
        load(path)
    save(A, tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as file:
        arrays = dict(file)
    for name, wrong in {
        "legs": arrays["legs"][:, :4], "data": arrays["data"][:-1], "charge": np.array([1]), "split": np.array(9),
        "symmetry": np.array("SU2"),
    }.items():  # fmt: skip
        np.savez(path, **(arrays | {name: wrong}))
        with pytest.raises(ArgumentError):
            load(path)
        del arrays[name]
        np.savez(path, **arrays)
        with pytest.raises(ArgumentError, match="damaged"):
            load(path)
        arrays[name] = np.load(tmp_path / "b.npz")[name]
    mixed = arrays["legs"].copy()
    mixed[1, 2] *= -1  # one sector of a leg flows the other way
    for wrong in ({"data": arrays["data"].astype("U4")}, {"legs": mixed}):
        np.savez(path, **(arrays | wrong))
        with pytest.raises(ArgumentError, match="damaged"):
            load(path)
    np.save(tmp_path / "c.npy", np.zeros(3))
    with pytest.raises(ArgumentError, match="damaged, or holds something else"):
        load(tmp_path / "c.npy")
    compressed = bytearray(whole)
    compressed[whole.index(b"PK\x01\x02") + 10] = 77  # a compression that nobody knows
    path.write_bytes(bytes(compressed))
    with pytest.raises(ArgumentError, match="damaged"):
        load(path)
    with pytest.raises(ArgumentError, match="below 2"):
        save(random((Leg({2**70: 1}, 1),), 2**70), path)
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ArgumentError, match="holds no symmetric tensor"):
        load(path)
    qad.mps.MPS.random(4, 2).save(path)
    with pytest.raises(ArgumentError, match="holds no symmetric tensor but 'qad chain 1 MPS'"):
        load(path)
