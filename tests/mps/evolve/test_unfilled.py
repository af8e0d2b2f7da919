"""Random evolutions whose bonds have room that nothing fills: derivatives are right, or refused where bonds are small.

References are those of the same product formula on dense states.
"""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.mps import MPS, OpSum, evolve
from qad.mps.evolve.neighbours import neighbour_terms
from qad.mps.evolve.suzuki import rounds

PAIRS, TURNED = [("X", "X"), ("Y", "Y"), ("Z", "Z"), ("X", "Z")], np.array([[0.3, 1.0], [1.0, -0.3]])
ORDERS = {"tebd": 2, "tebd4": 4}
UNFILLED, FILLED = (64, 84, 86, 99, 274, 313), (59, 177, 294, 1011)  # found among a thousand
TRUNCATED = (2, 3, 6, 15, 19)  # what weighs is cut off


def beginning(kind, n, rng, seed):
    """Products of basis vectors, of random vectors, of a pair and basis vectors, and states of bonds 2 and 8."""
    if kind == 0:
        return MPS.product(list(rng.integers(0, 2, n)))
    if kind == 1:
        return MPS.product([v / np.linalg.norm(v) for v in rng.normal(size=(n, 2))])
    if kind == 3:
        return MPS([*MPS.from_dense(rng.normal(size=(2, 2))), *MPS.product([0] * (n - 2))])
    return MPS.random(n, 2 if kind == 2 else 8, seed=seed)


def couplings(n, rng):
    """A model of random terms, and its coefficients, of which some are 0 and some whole numbers."""
    pairs = [PAIRS[i] for i in rng.choice(4, size=rng.integers(1, 4), replace=False)]
    fields = [f for f in "XYZ" if rng.random() < 0.5]
    terms = [(a, i, b, i + 1) for a, b in pairs for i in range(n - 1)] + [(f, i) for f in fields for i in range(n)]
    p = rng.normal(size=len(terms))
    p = np.where(rng.random(len(terms)) < rng.choice([0, 0.3, 0.7]), 0.0, p)

    def model(p):
        H = OpSum(n)
        for k, term in enumerate(terms):
            H.add(p[k], *term)
        return H.mpo()

    return model, np.round(p) if rng.random() < 0.3 else p


def program(seed, cutoff=1e-24):
    """A measurement after an evolution, on the chain and on the dense state; and its arguments.

    With a `cutoff` the chain is cut, though its bonds could hold every state.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    model, p = couplings(n, rng)
    psi = beginning(rng.integers(5), n, rng, seed)
    time, steps = float(rng.choice([0.0, 0.1, 0.5, 1.0])), int(rng.integers(1, 4))
    method = "tebd" if rng.choice([2, 4]) == 2 else "tebd4"
    weights, target = rng.normal(size=n), MPS.random(n, 3, seed=seed + 1)
    imaginary, overlap = rng.random() < 0.25, rng.integers(2)

    def chain(p, time, tensors):
        final = evolve(MPS(tensors), model(p), time, steps, method, cutoff=cutoff, imaginary=imaginary).state
        if overlap:
            return qad.abs2(qad.mps.overlap(target, final))
        return qad.mps.local_expectations(final, TURNED).real @ weights

    def dense(p, time, tensors):
        v, terms = MPS(tensors).to_dense(), neighbour_terms(model(p))
        for shares in rounds(ORDERS[method], steps):
            for first, share in enumerate(shares):
                for b in range(first, n - 1, 2) if share else ():
                    g = qad.linalg.expm((-1.0 if imaginary else -1j) * (time / steps * share) * terms[b].reshape(4, 4))
                    v = np.tensordot(g.reshape(2, 2, 2, 2), v, ((2, 3), (b, b + 1)))
                    v = np.moveaxis(v, (0, 1), (b, b + 1))
        v = v / np.linalg.norm(v.reshape(-1))
        if overlap:
            return qad.abs2((target.to_dense().conj() * v).sum())
        means = [(v.conj() * np.moveaxis(np.tensordot(TURNED, v, (1, i)), 0, i)).sum().real for i in range(n)]
        return sum(w * m for w, m in zip(weights, means, strict=True))

    return chain, dense, (p, time, list(psi))


@pytest.mark.parametrize("cutoff", [1e-24, None])
@pytest.mark.parametrize("seed", UNFILLED + FILLED)
@pytest.mark.sampled(4)
def test_right(seed, cutoff):
    """Also where changes at different times lead to directions that the state has not."""
    chain, dense, args = program(seed, cutoff)
    found, exact = (flatten(qad.grad(f, (0, 1, 2))(*args))[0] for f in (chain, dense))
    for a, b in zip(found, exact, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-7)


def test_what_is_refused_may_be_asked_for():
    """Two states to a bond have no room for what turns spins; a coupling along z does not."""
    up, target = MPS.product([0] * 8), MPS.random(8, 3, seed=1)

    def turned(g, reach):
        psi = evolve(up, qad.mps.xxz(8, g), 0.4, 4, "tebd4", bond=2, cutoff=1e-12, reach=reach).state
        return qad.abs2(qad.mps.overlap(target, psi))

    with pytest.raises(ArgumentError, match="reach=1.0"):
        qad.grad(turned)(0.9, 1e-5)
    assert qad.grad(turned)(0.9, 1.0) == pytest.approx(0.0, abs=1e-9)


def truncated(seed):
    """A measurement after an evolution whose bonds cut off what weighs, with far and nonlinear measurements too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 11))
    model, p = couplings(n, rng)
    psi, bond = beginning(rng.integers(5), n, rng, seed), int(rng.integers(2, 9))
    time, steps = float(rng.choice([0.2, 0.5, 1.0])), int(rng.integers(1, 4))
    method, imaginary = str(rng.choice(["tebd", "tebd4"])), rng.random() < 0.25
    weights, target, kind = rng.normal(size=n) * (rng.random(n) < 0.3), MPS.random(n, 3, seed=seed + 1), rng.integers(3)

    def loss(p, time):
        final = evolve(psi, model(p), time, steps, method, bond=bond, cutoff=1e-24, imaginary=imaginary).state
        if kind == 0:
            return qad.abs2(qad.mps.overlap(target, final))
        if kind == 1:
            return qad.mps.local_expectations(final, TURNED).real @ weights
        ends = qad.mps.correlations(final, TURNED, TURNED).real[0, n - 1]
        return ends + qad.mps.entanglement_entropy(final, n // 2, order=2)

    return loss, p, time


@pytest.mark.parametrize("seed", TRUNCATED)
@pytest.mark.sampled(2)
def test_what_is_truncated_against_differences(seed):
    """Those of the same program: of hundreds, what was not refused was right."""
    loss, p, time = truncated(seed)
    by_p, by_time = qad.grad(loss, (0, 1))(p, time)
    v, h = np.random.default_rng(seed).normal(size=p.shape), 1e-3
    sides = {k: loss(p + k * h * v, time + 0.7 * k * h) for k in (-2, -1, 1, 2)}
    difference = (8 * (sides[1] - sides[-1]) - (sides[2] - sides[-2])) / (12 * h)
    assert by_p @ v + 0.7 * by_time == pytest.approx(difference, abs=1e-6)
