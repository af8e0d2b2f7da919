"""Ground states by every method, against diagonalisation and published energies; searches that are ended."""

import io

import numpy as np
import pytest
from tqdm import tqdm

import qad
from qad.vmc import (
    Bosons,
    Connections,
    Direct,
    Metropolis,
    Spins,
    exchanges,
    ground_state,
    jastrow,
    log_cosh,
    marshall,
    rbm,
    symmetrized,
    translations,
)

ArgumentError = qad.errors.ArgumentError
SHIFT = {"rate": 0.1, "shift": lambda step: max(1e-4, 0.1 * 0.9**step)}


def lowest(H, space):
    return np.linalg.eigvalsh(Connections(H, space).matrix().toarray())[0]


def tied(n, alpha, seed=0, scale=0.05):
    """A Boltzmann machine that is the same after every translation of a ring, positive."""
    weights, rng = np.argsort(translations(n), axis=1).T, np.random.default_rng(seed)  # of a spin and a translation

    def log_psi(p, s):
        return log_cosh(s @ p["W"][weights].reshape(n, -1) + np.tile(p["b"], n)).sum(-1)

    return log_psi, {"W": scale * rng.normal(size=(n, alpha)), "b": scale * rng.normal(size=alpha)}


def test_exact_sums_reach_the_ground_state_of_a_ring():
    H, space = qad.mps.xxz(10, -1.0, j=-1.0, periodic=True), Spins(10, total=0)  # Heisenberg's, rotated
    log_psi, params = tied(10, 4)
    found = ground_state(log_psi, params, H, space, sampler="exact", steps=80, **SHIFT)
    assert abs(found.energy.mean / -4.515446354492 - 1) < 1e-4  # of the ring of 10, W. Marshall's signs or not
    assert (found.energy.error, found.method) == (0.0, "sr")
    assert found.variance < 5e-3
    assert len(found.history) == 80
    assert params["W"].std() < 0.1  # they are not changed


@pytest.mark.parametrize("method", ["sr", "minsr", "spring", "adam"])
def test_methods_with_noise(method):
    H, space = qad.mps.ising(8, 1.0, periodic=True), Spins(8)
    options = {"rate": 0.03} if method == "adam" else {"rate": 0.05 if method == "spring" else 0.1, "shift": 1e-2}
    found = ground_state(*tied(8, 2), H, space, 128, 50, method, seed=1, **options)
    assert found.method == method
    assert abs(found.energy.mean - lowest(H, space)) < 4 * found.energy.error + 0.02


def test_complex_parameters_find_phases():
    H, space = qad.mps.heisenberg(6, periodic=True), Spins(6, total=0)  # not rotated
    log_psi, params = rbm(6, 2, seed=3)
    params["a"][::2] += 0.5j * np.pi
    found = ground_state(log_psi, params, H, space, sampler="exact", steps=60, **SHIFT)
    assert abs(found.energy.mean / -2.8027756377 - 1) < 1e-3  # -(1 + sqrt(13)) / 2 - 1/2


def test_sums_over_symmetries_and_bosons():
    H, space = qad.mps.bose_hubbard(4, 1.0, 4.0, most=2), Bosons(4, most=2, total=4)
    log_psi, params = jastrow(4)  # repulsion, which positive Boltzmann machines do not have
    even = symmetrized(log_psi, [[0, 1, 2, 3], [3, 2, 1, 0]])
    found = ground_state(even, params, H, space, sampler="exact", steps=60, **SHIFT)
    assert abs(found.energy.mean - lowest(H, space)) < 1e-2 * abs(lowest(H, space))


def test_frustrated_ring_of_fourteen_by_samples():
    n, H = 14, qad.mps.OpSum(14)
    for i in range(n):
        for distance, j, sign in ((1, 1.0, -1), (2, 0.3, 1)):
            k = (i + distance) % n
            H.add(j, "Sz", i, "Sz", k).add(sign * j / 2, "Sp", i, "Sm", k).add(sign * j / 2, "Sm", i, "Sp", k)
    found = ground_state(*tied(n, 2, scale=0.1), H, Spins(n, total=0), 256, 60, seed=1, **SHIFT)
    assert abs(found.energy.mean / -5.542579819744 - 1) < 2e-3  # by diagonalisation
    assert found.energy.mean > -5.542579819744 - 4 * found.energy.error


@pytest.mark.slow
def test_ring_of_twenty_by_exact_sums():
    H, space = qad.mps.xxz(20, -1.0, j=-1.0, periodic=True), Spins(20, total=0)
    found = ground_state(
        *tied(20, 3, scale=0.1), H, space, sampler="exact", steps=30, rate=0.3, shift=lambda k: max(1e-4, 0.1 * 0.7**k)
    )
    assert abs(found.energy.mean / -8.90438653 - 1) < 1e-4


@pytest.mark.slow
def test_frustrated_lattice_by_exact_sums():
    """Signs beside Marshall's, 1.4e-2 of the energy, come from sums over translations, whose terms interfere."""
    lattice, space = qad.mps.Lattice(4, 4, along=True, around=True), Spins(16, total=0)
    log_psi, params = rbm(16, 1, scale=0.2)
    even = marshall(symmetrized(log_psi, translations((4, 4))), [i for i in range(16) if (i + i // 4) % 2])
    found = ground_state(
        even, params, qad.mps.j1j2(lattice, 1.0, 0.5), space, sampler="exact", steps=60, rate=0.2,
        shift=lambda k: max(1e-3, 0.1 * 0.9**k),
    )  # fmt: skip
    assert abs(found.energy.mean / (-33.8316934056 / 4) - 1) < 1e-3  # H. J. Schulz et al., J. Phys. I 6, 675 (1996)


@pytest.mark.slow
def test_lattice_of_ten_by_ten_by_samples():
    """A machine of alpha 1, the same after every translation; the hidden units are one matrix of its weights."""
    lattice, moved, rng = (
        qad.mps.Lattice(10, 10, along=True, around=True),
        translations((10, 10)),
        np.random.default_rng(1),
    )
    weights = np.argsort(moved, axis=1).T  # which weight binds a spin to a hidden unit

    def log_psi(p, s):
        return log_cosh(s @ p["W"][weights] + p["b"]).sum(-1)

    found = ground_state(
        log_psi, {"W": 0.05 * rng.normal(size=100), "b": np.array(0.05)}, qad.mps.xxz(lattice, -1.0, j=-1.0),
        Spins(100, total=0), 512, 60, sampler=Metropolis(exchanges(lattice.pairs())), rate=0.1,
        shift=lambda k: max(1e-3, 0.1 * 0.9**k),
    )  # fmt: skip
    assert -67.1549 < found.energy.mean < -66.443  # exact: A. W. Sandvik, Phys. Rev. B 56, 11678 (1997)
    assert found.energy.error < 0.1


@pytest.mark.slow
def test_critical_ring_of_thirty_two_by_samples():
    H, space = qad.mps.ising(32, 1.0, periodic=True), Spins(32)
    found = ground_state(
        *tied(32, 3), H, space, 1024, 300, seed=1, rate=lambda k: max(0.15 * 0.985 ** max(0, k - 100), 0.01),
        shift=lambda k: max(1e-5, 0.1 * 0.95**k),
    )  # fmt: skip
    assert abs(found.energy.mean + 40.76003249419) < 3 * found.energy.error
    assert 0 < found.energy.error < 1e-4 * 40


H8, SPACE8 = qad.mps.ising(8, 1.0, periodic=True), Spins(8)


@pytest.mark.parametrize("method", ["minsr", "spring", "adam"])
def test_checkpoints_go_on_as_if_nothing_had_happened(tmp_path, method):
    path, (log_psi, params) = tmp_path / "search.npz", tied(8, 1)
    options = {"method": method, "rate": 0.05, "seed": 2}
    whole = ground_state(log_psi, params, H8, SPACE8, 64, 8, **options)
    ground_state(log_psi, params, H8, SPACE8, 64, 3, checkpoint=path, **options)
    # the measurement in the end draws from the generator after the last checkpoint, which does not know
    again = ground_state(log_psi, params, H8, SPACE8, 64, 8, checkpoint=path, **options)
    assert np.array_equal(whole.history, again.history)
    assert np.array_equal(whole.params["W"], again.params["W"])
    with pytest.raises(ArgumentError, match="samples is 64, not 128"):
        ground_state(log_psi, params, H8, SPACE8, 128, 8, checkpoint=path, **options)


def test_the_user_ends_a_search():
    seen = []

    def interrupt(params, energy):
        seen.append(energy)
        if len(seen) == 4:
            raise KeyboardInterrupt

    found = ground_state(*tied(8, 1), H8, SPACE8, 64, 50, callback=interrupt)
    assert found.message == "stopped by the user (Ctrl-C)"
    assert len(found.history) == 4
    assert seen[0].error > 0

    def stop(params, energy):
        raise StopIteration

    assert ground_state(*tied(8, 1), H8, SPACE8, 64, 50, callback=stop).message == "stopped by the callback"


def test_a_search_that_breaks_keeps_what_it_has():
    def log_psi(p, s):
        return np.where(p > 0.15, np.nan, p) * (s[:, 1:] * s[:, :-1]).sum(1)

    found = ground_state(log_psi, np.array(0.0), H8, SPACE8, 64, 50, rate=0.1)
    assert found.message.startswith("ended before step")
    assert "log_psi is nan for the configuration" in found.message
    assert found.params <= 0.15


@pytest.mark.parametrize("rate, angle", [(50.0, 0.2), (0.001, None)])
def test_steps_turn_the_state_by_a_small_angle(rate, angle):
    (log_psi, params), seen = tied(8, 2, scale=0.3), []
    ground_state(
        log_psi, params, H8, SPACE8, steps=2, sampler="exact", rate=rate, callback=lambda p, e: seen.append((p, e))
    )
    psi = [np.exp(log_psi(p, SPACE8.states())) for p, _ in seen]
    cosine = psi[0] @ psi[1] / np.linalg.norm(psi[0]) / np.linalg.norm(psi[1])
    if angle is None:  # imaginary time turns by the deviation of the energy, of which the parameters follow a part
        angle = 0.001 * np.sqrt(seen[0][1].variance)
    assert 0.7 * angle < np.arccos(cosine) < 1.1 * angle


def test_a_collapsed_state_is_told():
    found = ground_state(lambda p, s: p * s.sum(1), np.array(20.0), H8, SPACE8, 64, steps=0)
    assert (found.energy.mean, found.variance) == (-8.0, 0.0)
    assert "all samples have one local energy: an eigenstate, or psi has collapsed" in found.message


def test_progress_and_card():
    screen = io.StringIO()
    bar = tqdm(total=5, file=screen, mininterval=0.0)
    found = ground_state(*tied(8, 1), H8, SPACE8, 64, 5, progress=bar)
    assert bar.n == 5
    assert "energy" in found._repr_html_()
    assert "±" in repr(found)


def test_bad_options():
    log_psi, params = tied(8, 1)
    with pytest.raises(ArgumentError, match="method is one of"):
        ground_state(log_psi, params, H8, SPACE8, method="newton")
    with pytest.raises(ArgumentError, match="momentum"):
        ground_state(log_psi, params, H8, SPACE8, momentum=1.0)
    with pytest.raises(TypeError, match="write rate="):
        ground_state(log_psi, params, H8, SPACE8, learning_rate=0.1)


def flat(p, s):
    return p * s.sum(1)


def broken(value):
    return lambda p, s: np.where(s[:, 0] > 0, value, flat(p, s))


COMPLEX = qad.mps.OpSum(8).add(1.0, "Y", 0, "X", 1)
OUTSIDE = Direct(lambda p, count, rng: np.zeros((count, 8), int))
LEAVES = Metropolis(lambda rows, rng: -rows)


@pytest.mark.parametrize(
    "log_psi, H, space, options, words",
    [
        (flat, H8, SPACE8, {"sampler": OUTSIDE}, r"configuration 0, \[0, 0.*\], is not in Spins\(8\)"),
        (broken(np.nan), H8, SPACE8, {}, r"log_psi is nan for the configuration \[1, "),
        (broken(np.inf), H8, SPACE8, {}, r"log_psi is inf for the configuration \[1, "),
        (broken(-np.inf), H8, SPACE8, {"sampler": "exact"}, r"psi is 0 .* for the configuration \[1, .*leave"),
        (lambda p, s: np.full(len(s), -np.inf), H8, SPACE8, {}, r"psi is 0 .* \[.*1\]: no chain may stay there"),
        (flat, COMPLEX, SPACE8, {}, "log_psi is real and H is complex: .* return complex logarithms"),
        (flat, qad.mps.heisenberg(8), Spins(8, total=2), {"sampler": LEAVES}, r"\], is not in Spins\(8, total=2\)"),
        (flat, H8, Spins(8, total=0), {}, r"the term Sx\(7\) does not conserve 'Sz': .* \(or the totals of a space\)"),
        (flat, H8, SPACE8, {"samples": 4, "sampler": Metropolis(chains=8)}, "4 samples of 8 chains: take at least one"),
    ],
)
def test_bad_input(log_psi, H, space, options, words):
    with pytest.raises(ArgumentError, match=words):
        ground_state(log_psi, np.array(0.1), H, space, **{"samples": 16, "steps": 2} | options)
