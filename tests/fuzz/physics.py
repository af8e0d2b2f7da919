"""Random physics, every method at its defaults, beside dense matrices of at most ten sites.

A program is a random Hamiltonian (terms of any range, of spins, fermions or electrons), a random start, a method and an
observable; values and derivatives are compared with those of `tests.physics.exact`.  More words choose the kinds of
programs: ``python -m tests.fuzz physics 0 200 gradient thermal``.
"""

from dataclasses import dataclass

import numpy as np

import qad
from tests.fuzz import physics_circuits, physics_equations
from tests.fuzz.physics_models import bond_of, draw_model, draw_observable, draw_start, near
from tests.physics import exact

CONVERGED = 3e-9  # of the energy, or of a term: what "converged" is to mean at the default tolerance
TIMES = 10.0  # what an evolution may be off by, over what half its steps change and its cuts discard
CUTS = 1e-7  # what cuts may change in a value and in a slope all the same
SAME = 3e-6  # a derivative beside differences of the same call: its cuts make steps of 5e-9, by which differences jump


@dataclass(frozen=True)
class Size:
    """How large the programs of chains may be: sites, steps of an evolution, samples of a typical state."""

    sites: int
    steps: float
    samples: int


FULL, SMALL = Size(9, np.inf, 200), Size(4, 3, 20)


def check(seed, *kinds, size=FULL) -> list:
    """What is wrong with the program of this seed, in words; on chains of this size."""
    rng = np.random.default_rng([seed, 34])
    names = list(kinds) or list(PROGRAMS)
    odds = np.array([ODDS[name] for name in names])
    name = names[rng.choice(len(names), p=odds / odds.sum())]
    try:
        problems = PROGRAMS[name](rng, size) if name in CHAINS else PROGRAMS[name](rng)
    except qad.errors.QadError as error:
        problems = [f"refused: {type(error).__name__}: {error}"[:200]]
    return [f"{name}: {problem}" for problem in problems]


def ground(rng, size):
    """The lowest energy, with charges and without; and the states above."""
    model = draw_model(rng, size.sites)
    conserve = model.charge if model.charge and rng.random() < 0.5 else None
    options = {"conserve": conserve} if conserve else {}
    h = exact.dense(model.kinds, model.terms())
    if conserve:
        h, options["sector"] = model.in_sector(h, rng)
    levels = np.linalg.eigvalsh(h.toarray())
    method = rng.choice(["default", "default", "default", "dmrg", "lbfgs", "riemannian"])
    if method != "default":
        options["method"] = str(method)
    problems, found = [], []
    for k in range(min(int(rng.integers(1, 4)), len(levels))):
        excluded = {"excluded": [r.state for r in found]} if found else {}
        result = qad.mps.ground_state(model.opsum(), bond_of(model), seed=int(rng.integers(100)), **options, **excluded)
        said = f"level {k} {options} of {model}"
        if result.converged:
            problems += near(said, result.energy, levels[k], CONVERGED * max(abs(levels[k]), 0.3))
        else:
            problems.append(f"{said}: not converged at {result.energy}, exact {levels[k]}: {result.message}")
        problems += near(f"energy of {said}", qad.mps.energy(result.state, model.opsum()), result.energy, 1e-9)
        found.append(result)
    return problems


def evolution(rng, size):
    """An expectation value after real or imaginary time."""
    model, imaginary = draw_model(rng, size.sites), bool(rng.integers(2))
    start, said = draw_start(rng, model)
    observable = draw_observable(rng, model)
    time = min(float(rng.uniform(0.1, 1.0)), size.steps * model.turn())
    steps = model.steps(time)
    measured = exact.opsum(model.kinds, observable)
    final, finer = (qad.mps.evolve(start, model.opsum(), time, k * steps, imaginary=imaginary) for k in (1, 2))
    value, better = (np.real(qad.mps.expectation(result.state, measured)) for result in (final, finer))
    h, o = exact.dense(model.kinds, model.terms()), exact.dense(model.kinds, observable)
    wanted = exact.mean(o, exact.evolved(h, start.to_dense(), time, imaginary))
    left = TIMES * (abs(value - better) + np.sqrt(final.discarded) + CUTS)
    kind = "imaginary" if imaginary else "real"
    return near(f"{kind} t={time:.3f}, {steps} steps, {said}, {observable}, {model}", value, wanted, left)


def gradient(rng, size):
    """The derivative of the same by a coupling, or by the time."""
    model, imaginary = draw_model(rng, min(size.sites, 6)), rng.random() < 0.25
    start, said = draw_start(rng, model)
    observable = draw_observable(rng, model)
    time = min(float(rng.uniform(0.1, 0.6)), size.steps * model.turn())
    steps = model.steps(time)
    which = int(rng.integers(-1, len(model.groups)))
    x0 = time if which < 0 else model.groups[which][0]
    measured, o = exact.opsum(model.kinds, observable), exact.dense(model.kinds, observable)

    def value(x, several=1):
        t, terms = (x, model.terms()) if which < 0 else (time, model.terms(which, x))
        H = exact.opsum(model.kinds, terms)
        final = qad.mps.evolve(start, H, t, several * steps, imaginary=imaginary).state
        return qad.mps.expectation(final, measured).real

    def wanted(x):
        t, terms = (x, model.terms()) if which < 0 else (time, model.terms(which, x))
        return exact.mean(o, exact.evolved(exact.dense(model.kinds, terms), start.to_dense(), t, imaginary))

    found, better = (qad.grad(value)(x0, several) for several in (1, 2))
    by = "time" if which < 0 else f"coupling {which}"
    said = f"d/d {by} at t={time:.3f}, {steps} steps, imaginary={imaginary}, {said}, {observable}, {model}"
    right = exact.difference(wanted, x0)
    size = max(1.0, abs(right))
    problems = near(said, found, right, TIMES * (abs(found - better) + CUTS * size))
    if rng.random() < 0.3:
        problems += near("same call: " + said, found, exact.difference(value, x0, 1e-2), SAME * size)
    return problems


def thermal(rng, size):
    """The partition function and the energy of a thermal state, and their slopes by the temperature."""
    model = draw_model(rng, min(size.sites, 5))
    beta = float(rng.uniform(0.05, 3.0) * rng.choice([0.1, 1.0]))
    h = exact.dense(model.kinds, model.terms())
    values = np.linalg.eigvalsh(h.toarray())
    weights = np.exp(-beta * (values - values[0]))
    weights /= weights.sum()
    mean, spread = weights @ values, weights @ values**2 - (weights @ values) ** 2
    H, size = model.opsum(), max(1.0, float(np.ptp(values)))
    state = qad.mps.thermal_state(H, beta)
    said = f"beta={beta:.3f}, {model}"
    problems = near("energy " + said, state.energy, mean, 1e-4 * size)
    problems += near("ln Z " + said, state.log_partition, exact.thermal(h, beta)[0], 1e-4 * size)
    slopes = qad.grad(lambda b: qad.mps.thermal_state(H, b).log_partition)(beta)
    problems += near("d ln Z / d beta " + said, slopes, -mean, 1e-3 * size)
    slopes = qad.grad(lambda b: qad.mps.thermal_state(H, b).energy)(beta)
    return problems + near("dE / d beta " + said, slopes, -spread, 1e-3 * size**2)


def typical(rng, size):
    """Samples of typical thermal states, whose mean lies within five of their own errors."""
    model = draw_model(rng, min(size.sites, 4))
    observable = draw_observable(rng, model)
    beta = float(rng.uniform(0.1, 0.6))
    h, o = exact.dense(model.kinds, model.terms()), exact.dense(model.kinds, observable)
    wanted = exact.thermal(h, beta, o)[1]
    samples = qad.mps.metts(model.opsum(), beta, size.samples, seed=int(rng.integers(1000)))
    mean, error = samples.expectation(exact.opsum(model.kinds, observable))
    return near(f"beta={beta:.3f}, {observable}, {model}", mean, wanted, 5 * error + 1e-3)


def measurement(rng, size):
    """Expectation values, correlators, densities and entropies of a random chain, and their slopes."""
    model = draw_model(rng, min(size.sites, 7))
    d, n = exact.size_of(model.kinds[0]), len(model.kinds)
    base, other = (qad.mps.MPS.random(n, 5, phys=d, seed=int(rng.integers(10**6))).tensors for _ in range(2))
    moved = lambda x: qad.mps.MPS([a + x * b for a, b in zip(base, other, strict=True)])
    spread = lambda x: contracted([a + x * b for a, b in zip(base, other, strict=True)])
    one, two = sorted(rng.choice(n, 2, replace=False).tolist())
    first, second, shared = model.names
    terms = draw_observable(rng, model)
    measured, o = exact.opsum(model.kinds, terms), exact.dense(model.kinds, terms)
    pair, single = exact.product(model.kinds, first, one, second, two), exact.product(model.kinds, shared, two)
    M, sites = qad.mps, list(model.kinds)
    cases = {
        "expectation": (lambda p: M.expectation(p, measured).real, lambda v: exact.mean(o, v) * np.vdot(v, v).real),
        "energy": (lambda p: M.energy(p, measured), lambda v: exact.mean(o, v)),
        "local": (lambda p: M.local_expectations(p, shared, sites)[two].real, lambda v: exact.mean(single, v)),
        "correlation": (
            lambda p: M.correlations(p, first, second, kind=sites)[one, two].real,
            lambda v: exact.mean(pair, v),
        ),
        "multipoint": (
            lambda p: M.multipoint(p, (first, second), [one, two], kind=sites).real,
            lambda v: exact.mean(pair, v),
        ),
        "density": (
            lambda p: M.reduced_density(p, [one, two])[0, 0].real,
            lambda v: exact.reduced(unit(v), [one, two])[0, 0].real,
        ),
        "entropy": (
            lambda p: M.entanglement_entropy(p, one + 1),
            lambda v: exact.entropy(exact.schmidt(unit(v), one + 1) ** 2),
        ),
        "information": (lambda p: M.mutual_information(p, one, two), lambda v: information(unit(v), one, two)),
        "norm2": (M.norm2, lambda v: float(np.vdot(v, v).real)),
    }
    name = list(cases)[rng.integers(len(cases))]
    qads, denses = cases[name]
    said, right = f"{name} {first} {second} at {one} {two}, {terms}, {model}", denses(spread(0.3))
    problems = near(said, qads(moved(0.3)), right, 1e-10 * max(1.0, abs(right)))
    slope = exact.difference(lambda x: denses(spread(x)), 0.3)
    return problems + near(
        "slope of " + said, qad.grad(lambda x: qads(moved(x)))(0.3), slope, 1e-6 * max(1.0, abs(slope))
    )


def contracted(tensors):
    """The dense state of site tensors."""
    psi = tensors[0]
    for a in tensors[1:]:
        psi = np.tensordot(psi, a, 1)
    return psi[0, ..., 0]


def unit(v):
    """A state of norm 1."""
    return v / np.linalg.norm(v)


def information(psi, one, two):
    """Mutual information of two sites."""
    s = [exact.entropy(np.linalg.eigvalsh(exact.reduced(psi, sites))) for sites in ([one], [two], [one, two])]
    return s[0] + s[1] - s[2]


CHAINS = {
    "ground": ground, "evolution": evolution, "gradient": gradient, "thermal": thermal, "typical": typical,
    "measurement": measurement,
}  # fmt: skip
PROGRAMS = {
    **CHAINS,
    "circuit": physics_circuits.circuit, "noise": physics_circuits.noise,
    "equation": physics_equations.equation, "implicit": physics_equations.implicit,
}  # fmt: skip
ODDS = {  # by what a program costs
    "ground": 20, "evolution": 20, "gradient": 12, "thermal": 10, "typical": 3, "measurement": 10, "circuit": 8,
    "noise": 8, "equation": 5, "implicit": 4,
}  # fmt: skip
