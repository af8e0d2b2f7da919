"""The equations of natural gradients: their products against whole matrices, and one method against the other."""

import subprocess
import sys

import numpy as np
import pytest

import qad
from qad.vmc import Metropolis, Spins, sample
from qad.vmc.descent import Slopes, inverse

SPACE = Spins(6, total=0)
rng = np.random.default_rng(7)
RING = qad.mps.heisenberg(6, periodic=True)


def holomorphic(p, s):
    return np.log(np.cosh(s @ p["W"] + p["b"])).sum(-1) + s @ p["a"]


def neither(p, s):  # of complex parameters, but not holomorphic
    return holomorphic(p, s) + 0.3 * (s * np.conj(p["a"])).sum(-1) * abs(p["b"][0])


def made(kind):
    def numbers(*shape):
        x = 0.3 * rng.normal(size=(2, *shape))
        return x[0] if kind == "real" else x[0] + 1j * x[1]

    params = {"W": numbers(6, 5), "b": numbers(5), "a": numbers(6)}
    if kind == "mixed":
        params["b"] = params["b"].real.copy()
    return params


KINDS = {"real": holomorphic, "complex": holomorphic, "mixed": holomorphic, "neither": neither}


def rows_by_jvp(log_psi, params, drawn, packing, size):
    """The centred rows of A, a column at a time."""
    columns = []
    for k in range(size):
        tangent = packing.unpack(np.eye(size)[k])
        slope = qad.jvp(lambda p: log_psi(p, drawn.configurations.astype(int)), (params,), (tangent,))[1]
        weights = np.full(len(slope), 1 / len(slope)) if drawn.weights is None else drawn.weights
        column = np.sqrt(weights) * (slope - weights @ slope)
        columns.append(column.view(float))  # of complex ones both parts
    return np.array(columns).T


@pytest.mark.parametrize("sampler", ["exact", Metropolis()])
@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_the_whole_matrix(kind, sampler):
    log_psi, params = KINDS[kind], made(kind)
    drawn = sample(log_psi, params, SPACE, 32, sampler)
    slopes = Slopes(log_psi, params).at(params, drawn)
    A = rows_by_jvp(log_psi, params, drawn, slopes.packing, slopes.size)
    values = rng.normal(size=len(drawn.log_psi)) + 1j * rng.normal(size=len(drawn.log_psi))
    b = slopes.centred(values)
    v = rng.normal(size=slopes.size)
    assert np.allclose(slopes.transposed(b), A.T @ b.view(float), atol=1e-12)
    assert np.allclose(slopes.times(v).view(float), A @ v, atol=1e-12)
    assert np.allclose(slopes.metric(), A.T @ A, atol=1e-12)
    assert np.allclose(slopes.gram(), A @ A.T, atol=1e-12)
    slopes.limit = 8 * slopes.parts * slopes.size * 10  # blocks of 8 and 2 samples
    assert slopes.most(0.8) == 8
    assert np.allclose(slopes.gram(), A @ A.T, atol=1e-12)
    assert np.allclose(slopes.metric(), A.T @ A, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_methods_agree_on_the_same_samples(kind):
    log_psi, params = KINDS[kind], made(kind)
    drawn = sample(log_psi, params, SPACE, 64)
    slopes = Slopes(log_psi, params).at(params, drawn)
    b = slopes.centred(rng.normal(size=64) + 1j * rng.normal(size=64))
    sr, minsr = (slopes.direction(b, method, 1e-3) for method in ("sr", "minsr"))
    assert np.abs(sr - minsr).max() < 1e-10 * np.abs(sr).max()
    last = rng.normal(size=slopes.size)  # SPRING: the least |A d - b|^2 + shift |d - mu last|^2
    spring = slopes.direction(b, "spring", 1e-3, 0.9 * last)
    slope = slopes.transposed(slopes.times(spring) - b) + 1e-3 * (spring - 0.9 * last)
    assert np.abs(slope).max() < 1e-10 * np.abs(spring).max()


def test_holomorphic_functions_have_the_complex_equations():
    params = made("complex")
    drawn = sample(holomorphic, params, SPACE, 64)
    slopes = Slopes(holomorphic, params).at(params, drawn)
    values = rng.normal(size=64) + 1j * rng.normal(size=64)
    found = slopes.packing.unpack(slopes.direction(slopes.centred(values), "sr", 1e-2))
    whole = qad.jacobian(lambda p: holomorphic(p, drawn.configurations.astype(int)), holomorphic=True)(params)
    slope = np.concatenate([whole[name].reshape(64, -1) for name in params], axis=1)
    slope, rest = slope - slope.mean(0), values - values.mean()
    d = np.linalg.solve(slope.conj().T @ slope / 64 + 1e-2 * np.eye(slope.shape[1]), slope.conj().T @ rest / 64)
    assert np.allclose(np.concatenate([found[name].ravel() for name in params]), d, atol=1e-10)


def test_smooth_pseudo_inverse():
    u = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    matrix = (u * [1.0, 1e-3, 1e-14, 0.0]) @ u.T
    x = rng.normal(size=4)
    parts = u.T @ inverse(matrix, 0.0, u @ x)
    assert np.allclose(parts, [x[0], 1e3 * x[1], 0.0, 0.0], atol=1e-6)
    assert np.array_equal(inverse(np.zeros((3, 3)), 0.0, np.ones(3)), np.zeros(3))


def test_zeros_are_refused():
    def log_psi(p, s):
        return np.where(s[:, 0] > 0, p * s[:, 1], -np.inf)

    drawn = sample(log_psi, 0.3, SPACE, sampler="exact")
    with pytest.raises(qad.errors.ArgumentError, match=r"psi is 0 .* for the configuration \[-1,"):
        Slopes(log_psi, 0.3).at(0.3, drawn)


def pairs(p, s):
    return p[0] * (s * np.roll(s, 1, axis=1)).sum(1) + p[1] * (s * np.roll(s, 2, axis=1)).sum(1)


def metric_of(log_psi, p, drawn):
    """The product with A^T A, as `natural_descent` takes it."""
    s = drawn.configurations.astype(int)
    w = np.full(len(s), 1 / len(s)) if drawn.weights is None else drawn.weights

    def product(v):
        slope = qad.jvp(lambda p: log_psi(p, s), (p,), (v,))[1]
        return qad.vjp(lambda p: log_psi(p, s), p)[1](w * (slope - w @ slope))[0]

    return product


ISING, START = qad.mps.ising(8, 1.0, periodic=True), np.array([0.1, -0.05])


def test_natural_descent_takes_the_same_steps():
    space, seen = Spins(8), []
    qad.vmc.ground_state(
        pairs, START, ISING, space, method="sr", steps=4, sampler="exact", rate=0.02, shift=1e-3,
        callback=lambda p, energy: seen.append(p),
    )  # fmt: skip
    found = qad.optimize.natural_descent(
        lambda p: qad.vmc.expect(pairs, p, ISING, space, sampler="exact").mean, START,
        lambda p: metric_of(pairs, p, sample(pairs, p, space, sampler="exact")), rate=0.01, damping=1e-3, maxiter=3,
    )  # fmt: skip
    np.testing.assert_allclose(found.params, seen[3], atol=1e-9)


def test_natural_descent_of_a_loss_with_noise():
    space, rng = Spins(8), np.random.default_rng(3)

    def energy(p):
        return qad.vmc.expect(pairs, p, ISING, space, 128, Metropolis(chains=128, discard=5), seed=rng).mean

    def metric(p):
        return metric_of(pairs, p, sample(pairs, p, space, 128, Metropolis(chains=128, discard=5), seed=rng))

    found = qad.optimize.natural_descent(energy, START, metric, rate=0.1, damping=1e-2, maxiter=15, gtol=0.0)
    rises = np.diff(found.history) > 0
    assert (len(found.history), found.nit) == (16, 15)
    assert rises.any()  # a higher loss is no reason to turn back
    exact = qad.vmc.ground_state(pairs, START, ISING, space, steps=60, sampler="exact", rate=0.1)
    value = qad.vmc.expect(pairs, found.params, ISING, space, sampler="exact").mean
    assert value < exact.energy.mean + 0.02


LARGE = """
import resource
import numpy as np, qad
from qad.vmc.descent import Slopes
log_psi, params = qad.vmc.rbm(100, alpha=10, dtype=float)
rows = qad.vmc.Spins(100, total=0).random(2048, rng=0)
slopes = Slopes(log_psi, params).at(params, qad.vmc.Samples(rows, log_psi(params, rows.astype(int)), 2048))
assert slopes.size > 10**5
b = slopes.centred(np.random.default_rng(1).normal(size=2048))
d = slopes.direction(b, "minsr", 1e-3)
rest = slopes.transposed(slopes.times(d) - b) + 1e-3 * d
assert np.abs(rest).max() < 1e-8 * np.abs(d).max()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_minsr_of_many_parameters_takes_little_memory():
    pytest.importorskip("resource")  # of Unix
    found = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 4 * 2**20  # kibibytes, so 4 GiB
