"""Sums of operators: against Kronecker products, smallest bonds, derivatives, and what is refused."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS, OpSum, Site
from qad.mps.operators.automaton import rows_of_cover


def dense(n, kind, terms):
    """The matrix of a sum of terms (coefficient, operator, site, ...), with Jordan-Wigner strings written out."""
    operators = qad.mps.site(kind).operators
    unit, parity = operators["Id"], operators.get("F")
    total = 0
    for coefficient, *factors in terms:
        product = np.eye(len(unit) ** n)
        for name, site in zip(factors[::2], factors[1::2], strict=True):
            string = parity if name in ("C", "Cdag") else unit
            sites = [string if i < site else operators[name] if i == site else unit for i in range(n)]
            matrix = np.eye(1)
            for one in sites:
                matrix = np.kron(matrix, one)
            product = product @ matrix
        total = total + coefficient * product
    return total


def summed(n, kind, terms):
    total = OpSum(n, kind)
    for term in terms:
        total.add(*term)
    return total


SUMS = {
    "long strings": ("spin-1/2", [(0.3, "X", 0, "Y", 2, "Z", 3), (1.0, "Z", 1), (-2.0, "Y", 3, "X", 1), (0.5,)]),
    "complex": ("spin-1/2", [(1j, "Sp", 0, "Sm", 4), (-1j, "Sm", 0, "Sp", 4), (0.2 - 0.1j, "Sz", 2)]),
    "one site twice": ("spin-1", [(1.5, "Sz", 1, "Sz", 1), (1.0, "Sx", 0, "Sy", 2, "Sx", 0)]),
    "unordered": ("spin-1/2", [(1.0, "X", 3, "Z", 0), (2.0, "Z", 0, "X", 3), (1.0, "Sp", 2, "Sm", 2)]),
    "bosons": ("boson-2", [(-1.0, "Bdag", 0, "B", 1), (-1.0, "Bdag", 1, "B", 0), (0.5, "N", 1, "N", 1), (0.5, "N", 3)]),
    "fermions": (
        "fermion",
        [(-1.0, "Cdag", i, "C", j) for i in range(4) for j in range(4) if i != j] + [(2.0, "N", 0, "N", 3)],
    ),
    "four fermions": (
        "fermion",
        [(0.7, "Cdag", 3, "Cdag", 0, "C", 1, "C", 4), (0.7, "Cdag", 4, "Cdag", 1, "C", 0, "C", 3)],
    ),
    "pairs and parities": ("fermion", [(1.0, "C", 2, "C", 0), (1.0, "F", 1, "C", 3, "Cdag", 1), (1.0, "F", 2)]),
}


@pytest.mark.parametrize("kind, terms", SUMS.values(), ids=SUMS)
def test_against_kronecker_products(kind, terms):
    H = summed(5, kind, terms).mpo()
    np.testing.assert_allclose(H.to_dense(), dense(5, kind, terms), atol=1e-13)
    assert H.dtype == (
        complex if np.iscomplexobj(dense(5, kind, terms)) and dense(5, kind, terms).imag.any() else float
    )


def test_sites_of_different_kinds():
    H = OpSum(3, ["spin-1/2", "spin-1", "boson-2"]).add(2.0, "X", 0, "Sz", 1, "N", 2).add(1.0, "Sz", 1).mpo()
    x, z, number = np.array([[0, 1], [1, 0]]), np.diag([1.0, 0.0, -1.0]), np.diag([0.0, 1.0, 2.0])
    expected = 2 * np.kron(np.kron(x, z), number) + np.kron(np.kron(np.eye(2), z), np.eye(3))
    np.testing.assert_allclose(H.to_dense(), expected)


def test_operators_given_as_matrices_or_kinds_of_ones_own():
    clock = Site("clock", {"Id": np.eye(3), "U": np.diag(np.exp(2j * np.pi * np.arange(3) / 3))})
    named = OpSum(3, clock).add(1.0, "U", 0, "U", 2).mpo()
    given = OpSum(3, clock).add(1.0, clock.operators["U"], 0, clock.operators["U"], 2).mpo()
    np.testing.assert_array_equal(named.to_dense(), given.to_dense())


def test_random_sums_have_the_rank_of_their_operator():
    """The smallest automaton of generic coefficients has as many states as the operator has rank (plus one)."""
    rng = np.random.default_rng(0)
    total = OpSum(6)
    for i in range(6):
        for j in range(i):
            for a in "XZ":
                total.add(rng.normal(), a, j, a, i)
    H = total.mpo()
    matrix = H.to_dense().reshape((2,) * 12)
    for cut in range(1, 6):
        left = [*range(cut), *range(6, 6 + cut)]
        right = [axis for axis in range(12) if axis not in left]
        rank = np.linalg.matrix_rank(matrix.transpose(left + right).reshape(4**cut, -1))
        assert H.bonds[cut] <= rank + 1
    assert H.bonds == (1, 4, 6, 8, 6, 4, 1)


def test_free_fermions():
    """The lowest energy of a hopping chain is the sum of its negative levels, whatever the range."""
    rng = np.random.default_rng(1)
    hopping = rng.normal(size=(6, 6)) + 1j * rng.normal(size=(6, 6))
    hopping = hopping + hopping.conj().T
    total = OpSum(6, "fermion")
    for i, j in np.ndindex(6, 6):
        total.add(complex(hopping[i, j]), "Cdag", i, "C", j)
    levels = np.linalg.eigvalsh(hopping)
    assert np.linalg.eigvalsh(total.mpo().to_dense())[0] == pytest.approx(levels[levels < 0].sum(), abs=1e-12)


def test_exponentials():
    H = OpSum(5, "fermion").add_exponential(0.5, 0.3, "Cdag", "C").add_exponential(-1.0, 2.0, "N", "N").mpo()
    terms = [(0.5 * 0.3 ** (j - i), "Cdag", i, "C", j) for j in range(5) for i in range(j)]
    terms += [(-1.0 * 2.0 ** (j - i), "N", i, "N", j) for j in range(5) for i in range(j)]
    np.testing.assert_allclose(H.to_dense(), dense(5, "fermion", terms), atol=1e-12)
    assert H.bond == 4


def test_coefficients_are_differentiable():
    psi = MPS.random(5, 3, seed=1)

    def value(parameters):
        hop, rate = parameters
        total = OpSum(5).add_exponential(hop, rate, "Sz", "Sz").add(hop * rate, "Sp", 1, "Sm", 3)
        return qad.mps.expectation(psi, total.add(hop, "Sp", 3, "Sm", 1).mpo())

    qad.check_grads(value, ((np.array(0.7), np.array(0.4)),))
    qad.check_grads(lambda z: qad.mps.expectation(psi, OpSum(5).add(z, "X", 2, "Y", 4).mpo()), (np.array(0.3 + 0.1j),))


def test_terms_that_are_nothing():
    total = OpSum(3).add(0.0, "X", 0).add(1.0, "Sp", 0, "Sp", 0)
    assert len(total) == 0
    assert not total.mpo().to_dense().any()
    one = OpSum(1).add(2.0, "X", 0).add(1.0)
    np.testing.assert_array_equal(one.mpo().to_dense(), [[1, 2], [2, 1]])


@pytest.mark.parametrize(
    "factors, message",
    [
        (("Szz", 0), r"no operator 'Szz': did you mean 'Sz'\?"),
        (("sigma", 0), "it has Id, Sx"),
        (("X", 4), "site 4 of 'X' is out of range: sites are 0 to 3"),
        (("X", -1), "out of range"),
        (("X",), "operator, site"),
        (("X", "Y"), "belongs"),
        (("X", 0.5), "belongs"),
    ],
)
def test_terms_that_are_refused(factors, message):
    with pytest.raises(ArgumentError, match=message):
        OpSum(4).add(1.0, *factors)


def test_sums_that_are_refused():
    with pytest.raises(ArgumentError, match="spin-1/2"):
        OpSum(4, "anyon")
    with pytest.raises(ArgumentError, match="3 kinds of site were given for 4"):
        OpSum(4, ["spin-1"] * 3)
    with pytest.raises(ArgumentError, match="coefficient of a term, .* must be a finite number"):
        OpSum(4).add(np.nan, "X", 0)
    with pytest.raises(ShapeError, match="site 1, which has dimension 2"):
        OpSum(4).add(1.0, np.eye(3), 1)
    with pytest.raises(ArgumentError, match="same operators on every site"):
        OpSum(2, ["spin-1/2", "spin-1"]).add_exponential(1.0, 0.5, "Sz", "Sz")
    for wrong in ("spin-0", "spin-1/3", "boson-0", "boson-x"):
        with pytest.raises(ArgumentError):
            OpSum(2, wrong)


def test_terms_are_added_in_place():
    chained = OpSum(3).add(0.5, "Sp", 0, "Sm", 1).add(0.5, "Sm", 0, "Sp", 1)
    written = other = OpSum(3)
    written += 0.5, "Sp", 0, "Sm", 1
    written += 0.5, "Sm", 0, "Sp", 1
    assert written is other
    np.testing.assert_array_equal(written.mpo().to_dense(), chained.mpo().to_dense())
    written += chained
    assert len(other) == 2 and written is not other
    np.testing.assert_allclose(written.mpo().to_dense(), 2 * chained.mpo().to_dense())
    with pytest.raises(TypeError):
        written += "Sz"


def test_the_cover_takes_indices_of_any_width():
    """SciPy's matching takes 32-bit indices, and before 1.14 no others."""
    assert rows_of_cover([(0, 0), (0, 1), (1, 0), (2, 0)], 3, 2) == {0}


@pytest.mark.parametrize("edges, rows", [([], set()), ([(1, 2), (3, 0)], {1, 3}), ([(0, 0), (0, 1)], {0})])
def test_edges_that_share_nothing_are_covered_by_their_rows(edges, rows):
    """Rows and columns without edges are of no cover."""
    assert rows_of_cover(edges, 4, 4) == rows
