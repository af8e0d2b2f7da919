"""Pauli sums: arithmetic and everything they turn into, against their matrices."""

import numpy as np
import pytest

import qad
from tests.circuit.dense import random_sum


@pytest.mark.parametrize("terms", [1, 3, 40])
def test_apply_matrix_and_mpo(terms):
    rng = np.random.default_rng(terms)
    H = random_sum(rng, 4, terms)
    letters = {"I": np.eye(2), "X": np.eye(2)[::-1], "Y": np.array([[0, -1j], [1j, 0]]), "Z": np.diag([1, -1])}
    dense = 0
    for string, c in H.terms.items():
        term = np.eye(1)
        for letter in string:
            term = np.kron(term, letters[letter])
        dense = dense + c * term
    np.testing.assert_allclose(H.matrix(), dense, atol=1e-13)
    np.testing.assert_allclose(H.mpo().to_dense(), dense, atol=1e-13)
    psi = rng.normal(size=(3, 16)) + 1j * rng.normal(size=(3, 16))
    np.testing.assert_allclose(H.apply(psi), psi @ dense.T, atol=1e-12)


def test_arithmetic():
    rng = np.random.default_rng(0)
    a, b = random_sum(rng, 3, 9), random_sum(rng, 3, 9)
    ma, mb = a.matrix(), b.matrix()
    for found, expected in [
        (a + b, ma + mb), (a - b, ma - mb), (-a, -ma), (a @ b, ma @ mb), (2j * a, 2j * ma), (a / 4, ma / 4),
        (a + 1.5, ma + 1.5 * np.eye(8)), (1 - a, np.eye(8) - ma), (np.float64(2) * a, 2 * ma),
        ((a @ b).adjoint(), (ma @ mb).conj().T), (sum([a, b]), ma + mb), (a * b, ma @ mb),
    ]:  # fmt: skip
        np.testing.assert_allclose(found.matrix(), expected, atol=1e-12)
    assert len(a + a) == len(a)
    assert (a @ a).coefficients.dtype.kind in "fc"


def test_zeros_are_dropped():
    a = qad.PauliSum({"XI": 1.0, "ZZ": 0.0})
    assert (
        a.strings == ("XI",)
        and (a - a).terms == {"II": 0.0}
        and (a + qad.PauliSum({"XI": -1.0, "YY": 2.0})).strings == ("YY",)
    )
    anticommutator = qad.PauliSum({"X": 1.0}) * qad.PauliSum({"Z": 2.0}) + qad.PauliSum({"Z": 2.0}) * qad.PauliSum(
        {"X": 1.0}
    )
    assert anticommutator.terms == {"I": 0.0}
    c = qad.Circuit(2).h(0)
    assert qad.grad(lambda t: c.expectation(qad.PauliSum({"XI": t, "ZZ": 1.0})))(0.0) == pytest.approx(1.0)


def test_coefficients_may_be_differentiated():
    c = qad.Circuit(3).ry(np.array([0.3, 0.5, 0.7]), range(3)).cx([0, 1], [1, 2])

    def energy(x):
        H = qad.PauliSum({"ZZI": x[0], "IXX": x[1] * x[0], "YYZ": 2.0, "ZZI"[::-1]: x[2]})
        return c.expectation(H + x[1] * qad.PauliSum({"ZZI": 1.0}))

    qad.check_grads(energy, (np.array([0.2, -0.4, 1.1]),), order=2)


def test_a_chain_has_small_bonds():
    terms = [(1.0, "ZZ", (i, i + 1)) for i in range(9)] + [(0.5, "X", (i,)) for i in range(10)]
    H = qad.PauliSum.on_sites(10, terms)
    assert H.mpo().bond <= 3
    assert np.isrealobj(H.mpo()[3])


@pytest.mark.parametrize("seed", range(30))
def test_bonds_are_small(seed):
    """At every bond as many states as the operator of generic coefficients has rank, or one more."""
    rng = np.random.default_rng(seed)
    n, letters = 6, list("IIXYZ")
    strings = sorted({"".join(rng.choice(letters, n)) for _ in range(int(rng.integers(1, 25)))})
    H = qad.PauliSum(zip(strings, rng.normal(size=len(strings)), strict=True))
    for bond in range(1, n):
        rows, columns = (sorted({s[part] for s in strings}) for part in (slice(bond), slice(bond, n)))
        table = np.zeros((len(rows), len(columns)))
        for string in strings:
            table[rows.index(string[:bond]), columns.index(string[bond:])] = rng.normal()
        assert H.mpo().bonds[bond] - np.linalg.matrix_rank(table) in (0, 1)
    assert qad.PauliSum({strings[0]: 1.0}).mpo().bonds == (1,) * (n + 1)


def test_many_terms_take_few_passes():
    n = 10
    H = qad.PauliSum.on_sites(n, [(1.0, "ZZ", (i, j)) for i in range(n) for j in range(i)])
    psi = qad.Circuit(n).h(range(n)).rzz(0.3, range(0, 9, 2), range(1, 10, 2)).ry(0.2, range(n)).state().ravel()
    z = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1) & 1)
    diagonal = (z.sum(1) ** 2 - n) / 2
    c = qad.Circuit(n, initial=psi)
    np.testing.assert_allclose(c.expectation(H), abs(psi) ** 2 @ diagonal, atol=1e-11)
