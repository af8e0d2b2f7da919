"""Signs of fermions agree with dense arrays that exchange neighbours one by one, and with Jordan-Wigner matrices."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qad
from qad import symmetric
from qad.core.errors import ArgumentError, ShapeError
from qad.symmetric import Leg, einsum, eye, from_dense, random, tensordot, trace, twist, unfuse, vdot
from tests.cases import Case
from tests.symmetric.draw import close, tensors_of
from tests.symmetric.graded import contracted, graded, jordan_wigner

FERMIONIC = ("fZ2", "U1xfZ2", "fZ2xZ3", "fZ2xfZ2")
some, few = (settings(max_examples=number, deadline=None) for number in (6, 3))
MODE = Leg({0: 1, 1: 1}, +1, "fZ2")
BOND = Leg({1: 1, 0: 2}, +1, "fZ2")
A = random((BOND, MODE, BOND.conj()), charge=1, seed=1, dtype=complex)
B = random((BOND, MODE.conj(), BOND.conj()), charge=1, seed=2)

CASES = [
    Case(lambda a, b: einsum("lpr,rql->qp", a, b), (A, B), name="einsum-fermions"),
    Case(lambda a: twist(a.transpose(2, 0, 1).conj(), 0), (A,), name="twist"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@st.composite
def legs(draw, group):
    one = [st.integers(0, n - 1) if n else st.integers(-2, 2) for n in symmetric.symmetry(group).moduli]
    charge = st.tuples(*one) if len(one) > 1 else one[0]
    sectors = draw(st.dictionaries(charge, st.integers(1, 2), min_size=1, max_size=3))
    return Leg(sectors, draw(st.sampled_from((1, -1))), group)


@st.composite
def tensors(draw, least=1, most=4, dtype=float):
    group = draw(st.sampled_from(FERMIONIC))
    return draw(tensors_of(draw(st.lists(legs(group), min_size=least, max_size=most)), dtype))


@st.composite
def triples(draw):
    """Three tensors, pairs of which share bonds, their legs in any order, and the einsum of them."""
    group = draw(st.sampled_from(FERMIONIC))
    bonds = {label: draw(legs(group)) for label in draw(st.sets(st.sampled_from("abcd"), min_size=1))}
    ends = {"a": (0, 1), "b": (1, 2), "c": (0, 2), "d": (1, 1)}
    rows = [{"xyz"[i]: draw(legs(group))} for i in range(3)]
    for label, leg in bonds.items():
        one, two = ends[label]
        rows[one][label] = leg
        rows[two][label if one != two else "D"] = leg.conj()
    orders = [draw(st.permutations(list(row))) for row in rows]
    found = [draw(tensors_of([row[x] for x in order], complex)) for row, order in zip(rows, orders, strict=True)]
    text = ",".join("".join(order).lower() for order in orders) + "->" + "".join(draw(st.permutations(["x", "y", "z"])))
    return text, found


@given(a=tensors(), data=st.data())
@some
def test_transposed(a, data):
    order = data.draw(st.permutations(range(a.ndim)))
    found = a.transpose(order)
    np.testing.assert_array_equal(found.to_dense(), graded(a).order(order).array)
    back = found.transpose(sorted(range(a.ndim), key=order.__getitem__))
    np.testing.assert_array_equal(aligned_data(back, a), a.data)
    again = data.draw(st.permutations(range(a.ndim)))  # exchanges compose, whatever way they go
    both = found.transpose(again), a.transpose([order[i] for i in again])
    np.testing.assert_array_equal(both[0].to_dense(), both[1].to_dense())


@pytest.mark.parametrize("columns", range(1, 10))
def test_one_column_of_any_number_changes_its_sign(columns):
    """NumPy's own negation in place is wrong at strides of 64 bytes."""
    sectors = {0: 1, 1: 1}, {0: 2, 1: 3}, {0: 1, 1: columns}
    a = random([Leg(each, flow, "fZ2") for each, flow in zip(sectors, (-1, 1, -1), strict=True)], seed=3)
    for order in itertools.permutations(range(3)):
        np.testing.assert_array_equal(a.transpose(order).to_dense(), graded(a).order(order).array)
        moved = a.transpose(order).resplit(1)
        np.testing.assert_array_equal(moved.to_dense(), graded(a).order(order).array)


def aligned_data(a, b):
    return a.resplit(b.layout.split).data


@given(case=triples())
@some
def test_any_order_of_contractions(case):
    text, found = case
    expected = contracted(text, *found)
    for path in ([(0, 1), (0, 1)], [(0, 2), (0, 1)], [(1, 2), (0, 1)]):
        close(einsum(text, *found, optimize=path).to_dense(), expected, 1e-13)


@given(case=triples())
@few
def test_gradient_of_any_order(case):
    """Two orders of contraction have the same gradient, which is that of central differences."""
    text, found = case

    def value(path):
        def f(*xs):
            found = einsum(text, *xs, optimize=path)
            return found.norm() ** 2 + found.data.real.sum()

        return f

    one, two = (qad.grad(value(path), argnums=(0, 1, 2))(*found) for path in ([(0, 1), (0, 1)], [(1, 2), (0, 1)]))
    for x, y in zip(one, two, strict=True):
        close(x.data, y.data, 1e-12)
    step, f = random(found[0].legs, found[0].charge, complex, seed=7, split=found[0].layout.split), value("auto")
    numeric = (f(found[0] + 1e-5 * step, *found[1:]) - f(found[0] - 1e-5 * step, *found[1:])) / 2e-5
    close(vdot(one[0], step).real, numeric, 1e-6)


@given(a=tensors(2, 4), data=st.data())
@some
def test_fused_legs_are_contracted_like_their_parts(a, data):
    """Fusing two legs of one tensor, and those that join them of another, changes no contraction; unfuse undoes it."""
    one, two = data.draw(st.permutations(range(a.ndim)))[:2]
    row = [a.legs[one].conj(), a.legs[two].conj(), data.draw(legs(str(a.symmetry)))]
    b = data.draw(tensors_of(row, float))
    whole = tensordot(a, b, ([one, two], [0, 1]))
    fused, flow = symmetric.fuse(a, (one, two), data.draw(st.sampled_from((1, -1)))), None
    place = next(i for i, leg in enumerate(fused.legs) if leg.parts)
    flow = -fused.legs[place].flow
    found = tensordot(fused, symmetric.fuse(b, (0, 1), flow), ([place], [0]))
    close(found.to_dense(), whole.to_dense(), 1e-13)
    again = tensordot(symmetric.fuse(b, (0, 1), flow), fused, ([0], [place]))
    close(again.to_dense(), tensordot(b, a, ([0, 1], [one, two])).to_dense(), 1e-13)
    rest = [i for i in range(a.ndim) if i not in (one, two)]
    parted = unfuse(fused, place)
    order = [*rest[:place], one, two, *rest[place:]]
    np.testing.assert_array_equal(parted.to_dense(), a.transpose(order).to_dense())


@given(a=tensors(2, 4, complex), data=st.data())
@some
def test_conjugate_is_an_adjoint(a, data):
    """It turns products round, undoes itself, and reversed it is the conjugate of the entries."""
    np.testing.assert_array_equal(a.conj().conj().data, a.data)
    np.testing.assert_array_equal(a.conj().T.to_dense(), a.to_dense().conj().T)
    b = data.draw(tensors_of([a.legs[-1].conj(), data.draw(legs(str(a.symmetry)))], complex))
    one = tensordot(a, b, 1).conj()
    two = tensordot(b.conj(), a.conj(), ([0], [a.ndim - 1]))
    close(one.to_dense(), two.transpose([*range(1, a.ndim), 0]).to_dense(), 1e-13)
    kets = [axis for axis, leg in enumerate(a.legs) if leg.flow < 0]
    whole = list(range(a.ndim))
    close(tensordot(a.conj(), twist(a, kets), (whole, whole)), vdot(a, a), 1e-13)


@given(a=tensors(1, 3), data=st.data())
@some
def test_identity_and_traces(a, data):
    axis = data.draw(st.integers(0, a.ndim - 1))
    one = eye(a.legs[axis].conj())
    order = [*(i for i in range(a.ndim) if i != axis), axis]
    close(tensordot(a, one, ([axis], [0])).to_dense(), a.transpose(order).to_dense(), 0)
    leg = data.draw(legs(str(a.symmetry)))
    b = data.draw(tensors_of([*a.legs, leg, leg.conj()], float))
    order = data.draw(st.permutations(range(b.ndim)))
    whole, two = graded(b), b.transpose(order)
    whole.close(b.ndim - 2, b.ndim - 1)
    found = trace(two, order.index(b.ndim - 2), order.index(b.ndim - 1))
    left = sorted(range(a.ndim), key=order.index)
    close(found.transpose(sorted(range(a.ndim), key=left.__getitem__)).to_dense(), whole.array, 1e-13)


@given(a=tensors(2, 4, complex))
@some
def test_decompositions(a):
    """Factors give the tensor again, and are isometries of the spaces whose inner product is positive."""
    u, s, v = symmetric.svd(a, split=a.ndim - 1)
    q, r = symmetric.qr(a, split=a.ndim - 1)
    left, right = symmetric.split(a, split=a.ndim - 1)
    for one, two in ((symmetric.scale(u, s), v), (q, r), (left, right)):
        close(tensordot(one, two, 1).to_dense(), a.to_dense(), 1e-12)
    rows = list(range(a.ndim - 1))
    bras = [axis for axis in rows if a.legs[axis].flow < 0]
    for x in (u, q):
        gram = tensordot(x.conj(), twist(x, bras), (rows, rows))
        close(gram.to_dense(), np.eye(x.shape[-1]), 1e-12)


def mode_operator(charge, matrix):
    return from_dense(np.array(matrix, float), (MODE, MODE.conj()), charge)


LOWER, RAISE = mode_operator(1, [[0, 1], [0, 0]]), mode_operator(1, [[0, 0], [1, 0]])


@pytest.mark.parametrize("i", range(3))
@pytest.mark.parametrize("j", range(3))
def test_odd_operators_are_those_of_jordan_and_wigner(i, j):
    """<s| Cdag_i C_j |t>, without a string anywhere, for all states and for any order of contraction."""
    modes = jordan_wigner(3)
    exact = (modes[i].T @ modes[j]).reshape((2,) * 6)
    twice = (modes[i] @ modes[j]).reshape((2,) * 6)
    for t in itertools.product((0, 1), repeat=3):
        ket = basis(t)
        for operator, matrix in ((RAISE, exact), (LOWER, twice)):
            middle, out = "abc"[j], list("abc")
            out[j] = "x"
            inner, out[i] = out[i], "y"
            text = f"y{inner},x{middle},abc->{''.join(out)}"
            for path in ([(1, 2), (0, 1)], [(0, 1), (0, 1)], [(0, 2), (0, 1)]):
                found = einsum(text, operator, LOWER, ket, optimize=path)
                np.testing.assert_array_equal(found.to_dense(), matrix[(..., *t)])


def basis(state):
    dense = np.zeros((2,) * len(state))
    dense[state] = 1.0
    return from_dense(dense, (MODE,) * len(state), sum(state) % 2)


# -- a lattice of fermions, 2 x 3, and no strings ----------------------------------------------------------------------

EDGES = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
PAIR = np.array([[0, 0, 0, 0.4], [0, 0, -1, 0], [0, -1, 0, 0], [0.4, 0, 0, 0.7]])  # pairs appear: parity is conserved


def as_map(matrix):
    """A matrix between Fock states of some modes as a tensor: bras stand in reversed order."""
    n = int(np.log2(len(matrix)))
    order = (*range(n), *reversed(range(n, 2 * n)))
    legs = [MODE] * n + [MODE.conj()] * n
    return from_dense(matrix.reshape((2,) * 2 * n).transpose(order), legs).transpose(order)


def exact_terms(n, edges):
    """The same terms by Jordan-Wigner matrices."""
    modes = jordan_wigner(n)
    for i, j in edges:
        hop, pair = modes[i].T @ modes[j], modes[i].T @ modes[j].T
        yield 0.4 * (pair + pair.T) - hop - hop.T + 0.7 * modes[i].T @ modes[i] @ modes[j].T @ modes[j]


def on_lattice(term, i, j, n):
    """A term of two modes as a map of n modes."""
    kets, bras = "abcdef"[:n], "ABCDEF"[:n]
    others = [k for k in range(n) if k not in (i, j)]
    text = f"{kets[i]}{kets[j]}{bras[i]}{bras[j]}," + ",".join(kets[k] + bras[k] for k in others) + f"->{kets}{bras}"
    return einsum(text, term, *[eye(MODE)] * len(others))


def test_spectrum_of_a_lattice():
    """All levels of fermions on 2 x 3 sites, in both sectors, and the exponential of a ladder's plaquette."""
    H = sum(on_lattice(as_map(PAIR), i, j, 6) for i, j in EDGES)
    values, vectors = symmetric.eigh(H)
    exact = sum(exact_terms(6, EDGES))
    odd = np.array([bin(k).count("1") % 2 for k in range(64)])
    for parity, found in zip(vectors.legs[-1].sectors, np.split(values, 2), strict=True):
        close(found, np.linalg.eigvalsh(exact[np.ix_(odd == parity, odd == parity)]), 1e-12)
    edges = [(0, 1), (2, 3), (0, 2), (1, 3)]
    small = sum(on_lattice(as_map(PAIR), i, j, 4) for i, j in edges)
    w, u = np.linalg.eigh(sum(exact_terms(4, edges)))
    expected = as_map(u * np.exp(-0.3 * w) @ u.T).to_dense()
    close(symmetric.expm(-0.3 * small).to_dense(), expected, 1e-12)
    close(symmetric.funm_herm(lambda x: np.exp(-0.3 * x), small).to_dense(), expected, 1e-12)
    w, u = symmetric.eigh(small)
    bond = u.ndim - 1
    close(tensordot(symmetric.scale(u, w), u.conj(), ([bond], [bond])).to_dense(), small.to_dense(), 1e-12)


def test_gates_on_a_lattice_without_strings():
    """exp(-h/5) on all edges, one after the other, in three orders of contraction, against Jordan-Wigner matrices."""
    gate = symmetric.expm(-0.2 * as_map(PAIR))
    state = (1, 0, 1, 1, 0, 0)
    vector = np.eye(64)[int("".join(map(str, state)), 2)]
    fresh, now, terms = iter("ghijklmnopqrstuv"), list("abcdef"), []
    for (i, j), term in zip(EDGES, exact_terms(6, EDGES), strict=True):
        w, u = np.linalg.eigh(term)
        vector = u @ (np.exp(-0.2 * w) * (u.T @ vector))
        new = next(fresh), next(fresh)
        terms.append("".join((*new, now[i], now[j])))
        now[i], now[j] = new
    text = ",".join(["abcdef", *terms]) + "->" + "".join(now)
    ahead, back = [(0, 1)] + [(0, 6 - k) for k in range(6)], [(6 - k, 7 - k) for k in range(7)]
    for path in ("auto", ahead, back):
        found = einsum(text, basis(state), *[gate] * 7, optimize=path)
        close(found.to_dense().ravel(), vector, 1e-13)


def test_two_layers_of_a_projected_entangled_pair_state():
    """Norm and a term across the diagonal of 2 x 2 sites, in two orders of contraction, against the state of 16."""
    inner = Leg({0: 1, 1: 2}, +1, "fZ2")
    sites = [
        random((MODE, inner.conj(), inner.conj()), seed=0),
        random((MODE, inner, inner.conj()), charge=1, seed=1, dtype=complex),
        random((MODE, inner, inner.conj()), charge=1, seed=2),
        random((MODE, inner, inner), seed=3),
    ]
    layers = [*(x.conj() for x in reversed(sites)), *sites]
    dense = einsum("pab,qac,rbd,scd->pqrs", *sites).to_dense().ravel()
    text = "sCD,rBD,qAC,pAB,pab,qac,rbd,scd->"
    for optimize in ("auto", [(0, 7), (0, 6), (0, 5), (0, 1), (0, 1), (0, 1), (0, 1)], [(0, 1)] * 7):
        close(einsum(text, *layers, optimize=optimize), np.vdot(dense, dense), 1e-12)
    (term,) = exact_terms(4, [(0, 3)])
    value = einsum("SCD,rBD,qAC,PAB,PSps,pab,qac,rbd,scd->", *layers[:4], as_map(PAIR), *sites)
    close(value, np.vdot(dense, term @ dense), 1e-12)


def test_refusals():
    ket, bra = random((MODE, MODE)), random((MODE, MODE.conj(), MODE.conj(), MODE))
    with pytest.raises(ShapeError, match="does not join"):
        tensordot(ket, ket, 1)
    with pytest.raises(ShapeError, match="symmetry fZ2 and one of Z2"):
        tensordot(ket, random(Leg({0: 1, 1: 1}, -1, "Z2")), 1)
    with pytest.raises(ShapeError, match=r"eigh: functions of fermionic maps take first legs of flow \+1"):
        symmetric.eigh(bra)
    with pytest.raises(ArgumentError, match="twist: axes=2"):
        twist(ket, 2)
    with pytest.raises(ArgumentError, match='"fZ2" for the parity of fermions'):
        Leg({0: 1}, 1, "fZ3")


def test_stored(tmp_path):
    symmetric.save(A, tmp_path / "a.npz")
    found = symmetric.load(tmp_path / "a.npz")
    assert found.legs == A.legs and found.symmetry is A.symmetry is symmetric.symmetry("fZ2")
    np.testing.assert_array_equal(found.transpose(2, 1, 0).data, A.transpose(2, 1, 0).data)
