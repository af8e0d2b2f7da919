"""Random differential equations, linear equations and fixed points for `tests.fuzz.physics`."""

import numpy as np
from scipy.linalg import expm

import qad
from tests.fuzz.physics_models import near


def equation(rng):
    """A linear equation, at rest or not: its solution and its slopes by start and rate; or the logistic one."""
    time = float(rng.choice([0.5, 2.0, 10.0, 40.0]))
    if rng.random() < 0.3:
        return logistic(rng, time)
    n = int(rng.integers(1, 4))
    a = rng.normal(size=(n, n)) - 1.5 * np.eye(n) * rng.integers(0, 2) * rng.choice([1.0, 5.0])
    a -= max(0.0, np.linalg.eigvals(a).real.max()) * np.eye(n)
    y0 = rng.normal(size=n) * rng.choice([0.0, 1e-6, 1.0])
    w = rng.normal(size=n)
    solve = lambda y, r: w @ qad.integrate.solve_ivp(lambda t, y, r: r * (a @ y), [0.0, time], y, (r,))[-1]
    turn, said = expm(a * time), f"y' = A y, A={a.tolist()}, y0={y0.tolist()}, t={time}"
    size = max(1.0, float(abs(turn).max())) * max(1.0, float(abs(y0).max()))
    problems = near(said, solve(y0, 1.0), w @ turn @ y0, 1e-6 * size)
    by_start, by_rate = qad.grad(solve, argnums=(0, 1))(y0, 1.0)
    error = float(abs(by_start - turn.T @ w).max())
    problems += near("error of d/dy0 of " + said, error, 0.0, 1e-6 * size * max(1.0, time))
    slope = w @ (a * time) @ turn @ y0
    problems += near("d/drate of " + said, by_rate, slope, 1e-6 * size * max(1.0, time))
    tangent = qad.jvp(lambda y: solve(y, 1.0), (y0,), (w,))[1]
    return problems + near("forward d/dy0 of " + said, tangent, w @ turn @ w, 1e-5 * size)


def logistic(rng, time):
    """``y' = y (1 - y)``, at its two points of rest too."""
    y0 = float(rng.choice([0.0, 1.0, 0.3]))
    final = lambda y: qad.integrate.solve_ivp(lambda t, y: y * (1 - y), [0.0, min(time, 10.0)], y)[-1]
    growth = np.exp(min(time, 10.0))
    slope = growth / (1 + y0 * (growth - 1)) ** 2
    problems = near(f"logistic y0={y0}, t={time}", final(y0), y0 * growth / (1 + y0 * (growth - 1)), 1e-6)
    return problems + near(f"slope of logistic y0={y0}, t={time}", qad.grad(final)(y0), slope, 1e-6 * max(1.0, slope))


def implicit(rng):
    """Fixed points, linear equations and lowest eigenvalues at odd scales: what they are in units of the scale."""
    n, scale = int(rng.integers(1, 8)), 10.0 ** int(rng.choice([-170, -160, -100, -12, 0, 12, 100, 150]))
    a = rng.normal(size=(n, n))
    a = a + a.T if rng.integers(2) else a
    m, b, w = 0.7 * a / np.linalg.norm(a, 2), rng.normal(size=n), rng.normal(size=n)
    name = str(rng.choice(["fixed_point", "linear_solve", "lowest_eig"]))
    said, one = f"{name} at {scale:g}, n={n}", np.eye(n)
    if name == "lowest_eig":
        h = a + a.T
        value = qad.linalg.lowest_eig(h * scale, b)[0] / scale
        slope = qad.grad(lambda x: qad.linalg.lowest_eig(x * (h * scale), b)[0] / scale)(1.0)
        level = np.linalg.eigvalsh(h)[0]
        return near(said, value, level, 1e-9 * n) + near("slope of " + said, slope, level, 1e-8 * n)
    if name == "fixed_point":
        solve = lambda b: qad.fixed_point(lambda x, b: m @ x + b, np.zeros(n), b)
    else:
        solve = lambda b: qad.linalg.linear_solve(lambda x: x - m @ x, b)
    wanted = np.linalg.solve(one - m, b)
    found = solve(b * scale) / scale
    problems = near("error of " + said, abs(found - wanted).max(), 0.0, 1e-8 * max(1.0, abs(wanted).max()))
    slope = qad.grad(lambda b: w @ solve(b))(b * scale)
    right = np.linalg.solve((one - m).T, w)
    return problems + near(
        "error of slope of " + said, abs(slope - right).max(), 0.0, 1e-8 * max(1.0, abs(right).max())
    )
