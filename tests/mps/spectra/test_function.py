"""Spectral functions, beside sums over all levels of dense matrices, free fermions, and two spinons."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from tests.physics import exact

N, SITE = 8, 4
MOMENTA, FREQUENCIES = np.linspace(-np.pi, np.pi, 7), np.linspace(-4.0, 8.0, 25)
XX = exact.exchange(exact.row(N), 1.0, 0.0)  # of neighbours, without Sz Sz
CHAINS = {
    "Sz": (qad.mps.xxz(N, 0.0), XX, "Sz", "Sz", {}),
    "raised": (qad.mps.xxz(N, 0.0), XX, "Sm", "Sp", {"conserve": "Sz"}),
    "parts": (qad.mps.xxz(N, 0.0), XX, "Sx", "Sx", {"conserve": "Sz"}),
    "parity": (qad.mps.ising(N, 1.5), exact.transverse(N, 1.5), "Z", "Z", {"conserve": "parity"}),
    "imaginary": (qad.mps.ising(N, 1.5), exact.transverse(N, 1.5), "Z", "Y", {}),
}


def levels_of(terms, one, other):
    """Excitation energies of a dense chain, and ``<0| A_x |m> <m| B_j |0>`` of all x."""
    spins = ["spin-1/2"] * N
    values, vectors = np.linalg.eigh(exact.dense(spins, terms).toarray())
    ground = vectors[:, 0]
    seen = vectors.conj().T @ exact.dense(spins, [(1.0, other, SITE)]) @ ground
    rows = [ground.conj() @ exact.dense(spins, [(1.0, one, x)]) @ vectors for x in range(N)]
    return values - values[0], np.array(rows) * seen


def check(found, gaps, weights):
    """Compare correlations and spectrum with sums over all levels."""
    correlations = np.exp(-1j * np.outer(found.times, gaps)) @ weights.T
    np.testing.assert_allclose(found.correlations, correlations, atol=1e-6)
    waves = np.exp(-1j * np.outer(MOMENTA, np.arange(N) - SITE)) @ weights
    width = found.broadening
    lines = np.exp(-((FREQUENCIES[:, None] - gaps) ** 2) / (2 * width**2)) / (np.sqrt(2 * np.pi) * width)
    spectrum = waves @ lines.T
    expected = spectrum if np.iscomplexobj(found.spectrum) else spectrum.real
    np.testing.assert_allclose(found.spectrum, expected, atol=1e-6)
    assert np.abs(spectrum).max() > 0.01


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "raised")) for n in CHAINS])
def test_all_levels_of_short_chains(name):
    H, terms, one, other, how = CHAINS[name]
    psi, steps = qad.mps.ground_state(H, 16, tol=1e-13, **how).state, 15 if terms is XX else 30
    found = qad.mps.spectral_function(
        psi,
        H,
        one,
        other,
        MOMENTA,
        FREQUENCIES,
        time=1.5,
        steps=steps,
        method="tebd4",
        prediction=False,
        broadening=4.0,
    )
    check(found, *levels_of(terms, one, other))
    assert found.site == SITE
    assert np.iscomplexobj(found.spectrum) == (name == "imaginary")


def test_complex_hamiltonians_take_times_before_zero():
    terms = [*XX, *((c, one, i, other, i + 1) for c, one, other in ((0.7, "Sx", "Sy"), (-0.7, "Sy", "Sx"))
                    for i in range(N - 1)), (0.3, "Sz", 2)]  # fmt: skip
    H = exact.opsum(["spin-1/2"] * N, terms).mpo()
    psi = qad.mps.ground_state(H, 16, tol=1e-13).state
    found = qad.mps.spectral_function(
        psi, H, "Sm", "Sp", MOMENTA, FREQUENCIES, time=1.5, steps=15, method="tebd4", prediction=False, broadening=4.0
    )
    gaps, weights = levels_of(terms, "Sm", "Sp")
    assert np.abs(weights.imag).max() > 0.01
    check(found, gaps, weights)


@pytest.mark.parametrize("how", [{}, {"conserve": "N", "sector": 5}], ids=["plain", "N"])
def test_free_fermions_have_strings(how):
    n, site = 10, 5
    H = exact.opsum(["fermion"] * n, exact.hopping(exact.row(n), 1.0))
    psi = qad.mps.ground_state(H, 32, tol=1e-13, **how).state
    levels, modes = np.linalg.eigh(-(np.eye(n, k=1) + np.eye(n, k=-1)))
    momenta, frequencies = np.array([0.5, 2.0]), np.linspace(-3.0, 3.0, 5)
    for one, other, kept, sign in (("C", "Cdag", slice(5, n), 1), ("Cdag", "C", slice(5), -1)):
        found = qad.mps.spectral_function(
            psi, H, one, other, momenta, frequencies, time=0.5, steps=10, method="tebd4", kind="fermion"
        )
        phases = np.exp(-1j * sign * np.outer(found.times, levels[kept]))
        correlations = phases @ (modes[:, kept] * modes[site, kept]).T
        np.testing.assert_allclose(found.correlations, correlations, atol=1e-6)


def test_the_sum_over_frequencies_is_the_static_structure_factor():
    H = qad.mps.xxz(N, 0.0)
    psi = 3.0 * qad.mps.ground_state(H, 16, tol=1e-13).state
    frequencies = np.pi / 0.2 * np.linspace(-1, 1, 400, endpoint=False)  # all that steps of 0.2 tell apart
    found = qad.mps.spectral_function(
        psi, H, "Sz", "Sz", MOMENTA, frequencies, time=3.0, steps=15, method="tebd4", site=2
    )
    _, vectors = np.linalg.eigh(exact.dense(["spin-1/2"] * N, XX).toarray())
    table = [exact.mean(exact.dense(["spin-1/2"] * N, [(1.0, "Sz", x, "Sz", 2)]), vectors[:, 0]) for x in range(N)]
    expected = np.cos(np.outer(MOMENTA, np.arange(N) - 2)) @ np.array(table)
    np.testing.assert_allclose(found.sum_rule, expected, atol=1e-7)
    total = found.spectrum.sum(axis=1) * (frequencies[1] - frequencies[0])
    np.testing.assert_allclose(total, expected, atol=1e-7)
    assert found.broadening == pytest.approx(1 / 3)


def test_one_magnon_of_the_ising_chain():
    n, g = 12, 4.0
    H = qad.mps.ising(n, g)
    psi = qad.mps.ground_state(H, 8).state
    momenta, frequencies = np.linspace(0, np.pi, 5), np.linspace(4, 12, 161)
    found = qad.mps.spectral_function(
        psi, H, "Z", "Z", momenta, frequencies, time=2.4, steps=24, method="tebd4", bond=8, broadening=0.5
    )
    line = 2 * np.sqrt(1 + g * g - 2 * g * np.cos(momenta))
    np.testing.assert_allclose(frequencies[found.spectrum.argmax(axis=1)], line, atol=0.1)
    weights = np.trapezoid(found.spectrum, frequencies, axis=1)
    np.testing.assert_allclose(weights, found.sum_rule, rtol=0.03)


def test_a_result_draws_itself():
    H = qad.mps.ising(4, 2.0)
    psi = qad.mps.ground_state(H, 4).state
    found = qad.mps.spectral_function(psi, H, "Z", "Z", [0.0, 1.0], [4.0, 5.0, 6.0], time=1.0, steps=8)
    picture = found.plot()
    assert picture.alt == "light cone from site 2, and spectrum of 2 momenta and 3 frequencies"
    assert picture.png()[1:4] == b"PNG"
    assert "correlations" not in repr(found)


def test_refusals():
    H = qad.mps.ising(4, 2.0)
    psi = qad.mps.ground_state(H, 4).state
    call = {"psi": psi, "H": H, "one": "Z", "other": "Z", "momenta": [0.0], "frequencies": [1.0]}
    call |= {"time": 1.0, "steps": 8}
    for change, words in (
        ({"psi": qad.mps.MPS.product([0, 1, 0, 1])}, "no eigenstate"),
        ({"frequencies": [26.0]}, "give more steps"),
        ({"time": -1.0}, "time is positive"),
        ({"prediction": 5}, "half of them at most"),
        ({"broadening": 0.0}, "broadening is a positive number"),
        ({"site": 4}, "no site"),
        ({"one": "Q"}, "no operator 'Q'"),
    ):
        with pytest.raises(ArgumentError, match=words):
            qad.mps.spectral_function(**call | change)
    with pytest.raises(ArgumentError, match="not both fermionic"):
        qad.mps.spectral_function(**call | {"one": "C", "other": "N", "kind": "fermion"})
    with pytest.raises(ShapeError, match="periodic"):
        qad.mps.spectral_function(**call | {"psi": qad.mps.MPS.random(4, 2, periodic=True)})
    with pytest.raises(ShapeError, match="rows of real numbers"):
        qad.mps.spectral_function(**call | {"momenta": [[0.0]]})
    with pytest.raises(GradientTypeError, match=r"derivatives are those of qad\.mps\.evolve"):
        qad.grad(lambda g: qad.mps.spectral_function(**call | {"H": qad.mps.ising(4, g)}).spectrum.sum())(2.0)


@pytest.mark.slow
def test_two_spinons():
    H = qad.mps.heisenberg(40)
    psi = qad.mps.ground_state(H, 60, conserve="Sz").state
    momenta, frequencies = np.pi * np.array([0.5, 0.75, 1.0]), np.linspace(-2, 6, 801)
    found = qad.mps.spectral_function(
        psi, H, "Sz", "Sz", momenta, frequencies, time=10.0, steps=50, bond=60, broadening=0.15
    )
    lower, upper = np.pi / 2 * np.abs(np.sin(momenta)), np.pi * np.abs(np.sin(momenta / 2))
    reach = 3 * found.broadening
    for row, low, high, weight in zip(found.spectrum, lower, upper, found.sum_rule, strict=True):
        outside = (frequencies < low - reach) | (frequencies > high + reach)
        assert np.trapezoid(row, frequencies) == pytest.approx(weight, rel=1e-3)
        assert np.trapezoid(np.where(outside, np.abs(row), 0.0), frequencies) < 0.03 * weight
        assert low - reach < frequencies[row.argmax()] < (low + high) / 2  # most of it is near the lower bound
