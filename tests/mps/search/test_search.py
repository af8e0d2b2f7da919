"""Ground states against exact energies; interruption, bad input, canonical form."""

import numpy as np
import pytest
import scipy.sparse.linalg

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPO, MPS, OpSum, ground_state, heisenberg, ising, norm, xxz
from qad.mps.chain.canonical import schmidt_form
from qad.mps.search import converged
from tests.mps.surroundings import Environments


@pytest.mark.parametrize(
    "H, bond, exact, tolerance",
    [
        (heisenberg(2), 2, -0.75, 1e-12),
        (heisenberg(8), 16, -3.3749325986879, 1e-10),
        (heisenberg(10), 16, -4.258035207283, 1e-8),
        (heisenberg(8, periodic=True), 16, -3.651093408937, 1e-8),
        (xxz(10, 0.5), 16, -3.5902507029866, 1e-8),
        (xxz(10, 2), 16, -5.8326813652217, 1e-8),
        (ising(10, 0.5), 8, -9.7655039579272, 1e-8),
        (ising(20, 1), 12, -25.107797111624, 1e-8),
    ],
    ids=str,
)
@pytest.mark.sampled(2)
def test_exact_energies(H, bond, exact, tolerance):
    result = ground_state(H, bond=bond, method="lbfgs", seed=1)
    assert result.energy == pytest.approx(exact, rel=tolerance)
    assert result.energy > exact - 1e-11
    assert 0 <= result.variance + 1e-12 < 1e-5
    assert result.converged
    assert norm(result.state) == pytest.approx(1)


EXACT = [
    (heisenberg(8), 16, -3.3749325986879, 1e-10),
    (heisenberg(8, periodic=True), 16, -3.651093408937, 1e-9),
    (xxz(10, 2), 16, -5.8326813652217, 1e-8),
    (ising(10, 1.0), 12, 1 - 1 / np.sin(np.pi / 42), 1e-8),
]


SOLVED = [(method, *case) for method in ("riemannian", "dmrg", "dmrg2") for case in EXACT]
SOLVED += [
    ("tebd", *EXACT[1]),
    ("tdvp", heisenberg(6), 8, -2.4935771338879, 1e-9),
    pytest.param("tebd", *EXACT[0], marks=pytest.mark.slow),
    *(pytest.param("tdvp", *case, marks=pytest.mark.slow) for case in EXACT[:2]),
]


@pytest.mark.parametrize("method, H, bond, exact, tolerance", SOLVED, ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.sampled(4)
def test_every_method_finds_exact_energies(method, H, bond, exact, tolerance):
    if method == "tebd" and exact == -3.651093408937:
        with pytest.raises(ArgumentError, match="neighbours"):
            ground_state(H, bond, method)
        return
    result = ground_state(H, bond, method, seed=1)
    assert result.energy == pytest.approx(exact, rel=tolerance)
    assert result.energy > exact - 1e-11
    assert result.converged, result.message
    assert qad.mps.energy(result.state, H) == pytest.approx(result.energy, rel=1e-13)
    assert result.state.bond <= bond
    assert norm(result.state) == pytest.approx(1)


@pytest.mark.parametrize("method", ["riemannian", "dmrg", "dmrg2"])
@pytest.mark.sampled(1)
def test_complex_hamiltonians(method):
    twist = MPS([np.exp(1j * k)[None, :, None] * np.ones((1, 2, 1)) for k in np.outer(range(6), [0.3, -0.2])])
    phases = [np.diag(t[0, :, 0]) for t in twist]
    H = qad.mps.MPO([np.einsum("xo,aboi,iy->abxy", p, w, p.conj()) for p, w in zip(phases, heisenberg(6), strict=True)])
    result = ground_state(H, 8, method)
    assert result.energy == pytest.approx(-2.4935771338879, rel=1e-9)
    assert result.state.dtype == complex


@pytest.mark.slow
@pytest.mark.parametrize("method", ["riemannian", "dmrg2", "dmrg"])
def test_spin_one(method):
    assert ground_state(qad.mps.aklt(8), 4, method, seed=2).energy == pytest.approx(-2 / 3 * 7, abs=1e-9)
    H = heisenberg(6, spin=1)
    exact = np.linalg.eigvalsh(H.to_dense())[0]
    assert ground_state(H, 27, method, seed=2).energy == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("method", ["riemannian", "dmrg2"])
@pytest.mark.parametrize("n", [8, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.sampled(1)
def test_spin_one_chains_by_diagonalisation(method, n):
    H = heisenberg(n, spin=1)
    dense = scipy.sparse.linalg.LinearOperator((3**n, 3**n), lambda x: applied(H, x), dtype=float)
    exact = scipy.sparse.linalg.eigsh(dense, 1, which="SA")[0][0]
    assert ground_state(H, 60, method, seed=0, tol=1e-12).energy == pytest.approx(exact, abs=1e-7)


def applied(H, x):
    """An operator on a dense vector, site by site."""
    x = x.reshape(1, -1)
    for w in H:
        left, right, _, in_ = w.shape
        x = x.reshape(left, in_, -1)
        x = np.einsum("lroi,lix->rxo", w, x, optimize=True).reshape(right, -1)
    return x.reshape(-1)


@pytest.mark.slow
def test_methods_agree_on_the_best_state_of_a_small_bond():
    H = heisenberg(16)
    energies = [ground_state(H, 8, method, tol=1e-12).energy for method in ("riemannian", "dmrg", "dmrg2", "lbfgs")]
    np.testing.assert_allclose(energies, min(energies), rtol=1e-8)


@pytest.mark.parametrize("method", ["lbfgs", "riemannian", "dmrg", "dmrg2"])
@pytest.mark.sampled(2)
def test_excited_states(method):
    H = ising(6, 1.3)
    exact = np.linalg.eigvalsh(H.to_dense())[:3]
    found = []
    for level in range(3):
        result = ground_state(H, 8, method, excluded=found, seed=3)
        assert result.energy == pytest.approx(exact[level], abs=1e-7)
        found.append(result.state)


def test_few_sites():
    for n in (2, 3):
        exact = np.linalg.eigvalsh(heisenberg(n).to_dense())[0]
        for method in ("riemannian", "dmrg", "dmrg2", "tebd", "tdvp"):
            assert ground_state(heisenberg(n), 4, method).energy == pytest.approx(exact, abs=1e-10)


def test_effective_operators_are_projections_of_the_whole():
    H = xxz(5, 0.7)
    state = MPS(schmidt_form(MPS.random(5, 3, seed=2).tensors)[0])
    environments = Environments(H, state.tensors, complex)
    x = state[0]
    (rows, _), dense = (2, 2), H.to_dense()
    assert rows == x.shape[1]
    vector = state.to_dense().reshape(-1)
    value = np.vdot(x, environments.one_site(0, x.shape)(x.reshape(-1)))
    assert value == pytest.approx(np.vdot(vector, dense @ vector))
    pair = np.tensordot(state[0], state[1], 1)
    value = np.vdot(pair, environments.two_sites(0, pair.shape)(pair.reshape(-1)))
    assert value == pytest.approx(np.vdot(vector, dense @ vector))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_twenty_sites(seed):
    result = ground_state(heisenberg(20), bond=24, seed=seed)
    assert result.energy == pytest.approx(-8.682473334399, rel=2e-8)


def test_history_goes_down_and_agrees_with_the_result():
    H = heisenberg(6)
    result = ground_state(H, bond=8, method="lbfgs", seed=0)
    assert result.history[0] == pytest.approx(qad.mps.energy(MPS.random(6, 8, dtype=float, seed=0), H))
    assert result.history[-1] == pytest.approx(result.energy)
    assert np.all(np.diff(result.history) <= 1e-12)
    assert result.nfev >= len(result.history) - 1


def test_the_method_is_picked_and_said():
    found = ground_state(heisenberg(6), bond=8)
    assert found.method == "dmrg2"
    assert "method='dmrg2'" in repr(found)
    assert ground_state(heisenberg(2), 2, conserve="Sz").method == "dmrg2"
    assert ground_state(heisenberg(2), 2, "lbfgs", conserve="Sz").method == "lbfgs"
    with pytest.raises(ArgumentError, match="'auto', 'lbfgs'"):
        ground_state(heisenberg(4), method="best")
    with pytest.raises(ShapeError, match=r"ring.*OpSum"):
        ground_state(qad.mps.MPO([np.ones((2, 2, 2, 2))] * 4))


def test_real_states_stay_real():
    result = ground_state(heisenberg(6), bond=8, dtype=float)
    assert result.state.dtype == float
    assert result.energy == pytest.approx(-2.4935771338879, rel=1e-9)


@pytest.mark.parametrize("knows", [True, False])
def test_sites_of_different_dimensions(knows):
    """Spins 1/2, 1, 1/2: with ``S`` of both ends 1, ``2 H = J(J+1) - 2 - 2`` is least at J = 0."""
    chain = OpSum(3, ["spin-1/2", "spin-1", "spin-1/2"])
    for i in range(2):
        for name in ("Sx", "Sy", "Sz"):
            chain.add(1.0, name, i, name, i + 1)
    H = chain.mpo()
    assert ground_state(H if knows else MPO(H.tensors), 4).energy == pytest.approx(-2.0, abs=1e-12)


def test_start_states():
    neel = MPS.product([0, 1] * 3)
    mean_field = ground_state(heisenberg(6), method="lbfgs", start=neel)
    assert mean_field.energy == pytest.approx(-1.25)  # the best product state
    found = ground_state(heisenberg(6), bond=8)
    again = ground_state(heisenberg(6), start=found.state)
    assert again.energy == pytest.approx(found.energy, abs=1e-9)


def test_callback_sees_states_and_may_stop():
    seen = []

    def callback(state, energy):
        seen.append(energy)
        assert isinstance(state, MPS)
        assert qad.mps.energy(state, H) == pytest.approx(energy)
        if len(seen) == 25:
            raise StopIteration

    H = heisenberg(8)
    result = ground_state(H, bond=8, method="lbfgs", callback=callback)
    assert len(seen) == 25
    np.testing.assert_array_equal(result.history[1:], seen)
    assert not result.converged
    assert "callback" in result.message


def test_ctrl_c_returns_the_best_state():
    calls = []

    def callback(state, energy):
        calls.append(energy)
        if len(calls) == 10:
            raise KeyboardInterrupt

    result = ground_state(heisenberg(8), bond=8, method="lbfgs", callback=callback)
    assert "Ctrl-C" in result.message
    assert not result.converged
    assert result.energy == pytest.approx(min(calls))


def test_maxiter():
    result = ground_state(heisenberg(8), bond=8, method="lbfgs", maxiter=40)
    assert len(result.history) == 41
    assert not result.converged
    assert "maxiter" in result.message


@pytest.mark.parametrize(
    "wrong, match",
    [
        ({"method": "dmrg3"}, "dmrg2"),
        ({"bond": 0}, "bond"),
        ({"tol": -1}, "tol"),
        ({"tol": np.nan}, "tol"),
        ({"maxiter": 0}, "maxiter"),
        ({"start": MPS.random(5, 2)}, "5 sites"),
        ({"start": MPS.random(4, 2, periodic=True)}, "periodic"),
        ({"start": MPS([np.zeros((1, 2, 1))] * 4)}, "norm 0"),
        ({"weight": -1.0}, "weight"),
        ({"method": "tebd", "excluded": [MPS.random(4, 2)]}, "dmrg"),
        ({"checkpoint": "/no such folder/file.npz"}, "folder"),
    ],
    ids=str,
)
def test_bad_input(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        ground_state(heisenberg(4), **wrong)


def test_an_operator_that_is_none():
    with pytest.raises(ArgumentError, match="an MPO is needed"):
        ground_state(np.eye(4))


@pytest.mark.parametrize("options", [{}, {"conserve": "Sz", "sector": 0}])
@pytest.mark.parametrize("dtype", [float, np.float32, int, object])
def test_dtypes_that_cannot_hold_the_ground_state(dtype, options):
    """They were promoted in silence."""
    H = qad.mps.OpSum(4)
    for i in range(3):
        H = H.add(0.5 + 0.5j, "Sp", i, "Sm", i + 1).add(0.5 - 0.5j, "Sm", i, "Sp", i + 1)
    with pytest.raises(ArgumentError, match=r"dtype .* cannot hold the ground state of a complex128 Hamiltonian"):
        ground_state(H, bond=4, dtype=dtype, **options)
    found = ground_state(H, bond=4, dtype=complex, **options)
    if not options and dtype is float:
        with pytest.raises(ArgumentError, match="cannot hold a state above complex ones"):
            ground_state(heisenberg(4), bond=4, dtype=float, excluded=found.state)


@pytest.mark.slow
@pytest.mark.parametrize("charged", [False, True])
def test_imaginary_time_has_room_for_terms_beyond_neighbours(monkeypatch, charged):
    """From a product state it stood still at <H>, with a variance of 1.25, until a probe led on."""
    monkeypatch.setattr(converged, "refuted", lambda *args, **options: False)
    H = OpSum(6).add(0.3, "Z", 1, "Z", 3)
    for i, j in ((0, 2), (2, 5), (1, 4), (3, 5)):
        H = H.add(0.5, "Sp", i, "Sm", j).add(0.5, "Sm", i, "Sp", j)
    start = MPS.product([0, 1, 1, 0, 0, 1], **({"conserve": "Sz"} if charged else {}))
    found = ground_state(H, 8, "tdvp", start=start)
    levels, sector = H.mpo().to_dense(), np.flatnonzero([bin(k).count("1") == 3 for k in range(64)])
    assert found.converged
    assert found.energy == pytest.approx(np.linalg.eigvalsh(levels[np.ix_(sector, sector)])[0], abs=1e-8)
