"""Methods of states give what the functions give; copies are copies."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS

Z, STATES = np.diag([1.0, -1.0]), {"ordinary": {}, "symmetric": {"conserve": "Sz"}}


@pytest.mark.parametrize("kind", STATES)
def test_thin_methods(kind):
    psi, phi = (2.0 * MPS.random(6, 4, seed=seed, **STATES[kind]) for seed in (1, 2))
    H = qad.mps.heisenberg(6)
    assert psi.norm() == pytest.approx(2)
    assert psi.overlap(phi) == qad.mps.overlap(psi, phi) == (psi @ phi)
    assert psi.expectation(H) == qad.mps.expectation(psi, H)
    np.testing.assert_array_equal(psi.entanglement_entropy(), qad.mps.entanglement_entropy(psi))
    assert psi.entanglement_entropy(2) == qad.mps.entanglement_entropy(psi, 2)
    np.testing.assert_allclose(psi.conj().overlap(phi.conj()), psi.overlap(phi).conj(), rtol=1e-13)
    again = psi.copy()
    for one, two in zip(qad.core.trees.flatten(psi)[0], qad.core.trees.flatten(again)[0], strict=True):
        assert not np.shares_memory(one, two)
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", STATES)
def test_measurements(kind):
    psi = 3.0 * MPS.random(6, 4, seed=1, **STATES[kind])
    rho, values = qad.mps.reduced_density(psi, [1, 3]), qad.mps.local_expectations(psi, Z / 2)
    np.testing.assert_array_equal(psi.measure("Sz"), values)
    np.testing.assert_array_equal(psi.measure(Z / 2, [3, 0]), values[[3, 0]])
    assert psi.measure("Sz", 3) == values[3]
    u = np.arange(16.0).reshape(4, 4)
    flipped = u.reshape(2, 2, 2, 2).transpose(1, 0, 3, 2).reshape(4, 4)
    assert psi.measure(u, (1, 3)) == pytest.approx(np.trace(rho @ u))
    assert psi.measure(flipped, (3, 1)) == pytest.approx(np.trace(rho @ u))
    electrons = MPS.product(["up", "updown"], kind="electron")
    np.testing.assert_allclose(qad.mps.local_expectations(electrons, "N", kind="electron"), [1, 2])


@pytest.mark.parametrize(
    "wrong, match",
    [
        (("S+",), r"did you mean 'Sp'\?"),
        (("Sz", 5), "sites are whole numbers from 0 to 4"),
        ((np.eye(3), [1, 2]), r"\(4, 4\)"),
    ],
    ids=str,
)
def test_bad_measurements(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        MPS.random(5, 2).measure(*wrong)


# -- names -------------------------------------------------------------------------------------------------------------


def test_products_of_named_states():
    np.testing.assert_array_equal(MPS.product(["up", "down"]).to_dense(), MPS.product([0, 1]).to_dense())
    assert MPS.product(["up", "down", "Up"], conserve="Sz").sector == 1
    bosons = MPS.product(["2", "empty", 1], kind="boson-3")
    assert bosons.phys == (4, 4, 4)
    assert bosons.to_dense()[2, 0, 1] == 1
    doped = MPS.product(["up", "empty", "updown"], 4, kind="electron", conserve=("N", "Sz"))
    assert doped.sector == (3, 1)
    assert MPS.product(["down", "0"], 3).to_dense()[2, 1] == 1  # spins 1
    with pytest.raises(ArgumentError, match="give conserve= too"):
        MPS.random(4, 2, sector=0)
    with pytest.raises(ArgumentError, match=r"no basis state 'left'; it has 'up', 'down'.*kind="):
        MPS.product(["left"])


@pytest.mark.parametrize(
    "kind, wrong, right",
    [
        ("spin-1/2", "S+", "'Sp'"), ("spin-1/2", "Sx+", "'Sx' or 'Sp'"), ("spin-1/2", "s_minus", "'Sm'"),
        ("electron", "c_up", "'Cup'"), ("electron", "c^dagger_down", "'Cdagdn'"), ("electron", "n_up", "'Nup'"),
        ("boson-2", "a†", "'Bdag'"), ("fermion", "c_dag", "'Cdag'"), ("spin-1/2", "sigma_z", "'Z'"),
        ("fermion", "c+", "'Cdag'"), ("boson-2", "a+", "'Bdag'"), ("electron", "c_up+", "'Cdagup'"),
    ],
)  # fmt: skip
def test_the_right_name_is_suggested(kind, wrong, right):
    with pytest.raises(ArgumentError, match=rf"did you mean {right}\?"):
        qad.mps.OpSum(2, kind).add(1.0, wrong, 0)


def test_names_of_other_kinds_say_where_they_are():
    with pytest.raises(ArgumentError, match=r"of dimension 2 fermion has 'Cdag': make the state with kind="):
        qad.mps.correlations(MPS.product([0, 1]), "Cdag", "C")


# -- numbers that floating point cannot hold ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STATES)
def test_numbers_out_of_range_are_refused(kind):
    psi, H = MPS.random(40, 3, **STATES[kind]), qad.mps.heisenberg(40)
    large, larger = scaled(psi, 1e7), scaled(psi, 1e10)
    assert large.norm() == pytest.approx(1e280)
    assert qad.mps.log_norm2(larger) == pytest.approx(800 * np.log(10))
    for refused in (larger.norm, lambda: qad.mps.norm2(large), lambda: large @ large, lambda: larger.expectation(H)):
        with pytest.raises(ArgumentError, match="log_norm2"):
            refused()
    with pytest.raises(ArgumentError, match=r"exp\(-1842"):
        qad.mps.norm2(scaled(psi, 1e-10))
    assert larger.normalized().norm() == pytest.approx(1)


def scaled(psi, factor):
    """The state with all of its tensors multiplied."""
    return qad.tree_map(lambda array: factor * array, psi)
