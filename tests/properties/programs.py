"""Programs that hold and make arrays: transforms, contractions, chains, linear algebra, optimizers, frozen functions.

Each runs on NumPy's arrays as it stands, and on others by ``tests.strict_array.abroad``, which moves what it holds and
what it makes.
"""

import numpy as np

import qad
from tests.cases import normal

X, Z = normal(4), normal(3, complex)
A, B, C = normal(3, 4, complex), normal(4, 5, complex, seed=1), normal(5, 3, complex, seed=2)
SPD = A @ A.conj().T + 3 * np.eye(3)
SYM = SPD.real
NEARLY_SINGULAR = np.diag([1.0, 1e-8, 2e-8])[:, :2] + np.diag([0.0, 0.0, 1e-8])[:, 1:]
KETS = [normal(*shape, seed=i) for i, shape in enumerate([(1, 2, 2), (2, 2, 3), (3, 2, 2), (2, 2, 1)])]
COMPLEX_KETS = [normal(*t.shape, complex, seed=9 + i) for i, t in enumerate(KETS)]
HAMILTONIAN = list(qad.mps.heisenberg(4))
RING = list(qad.mps.heisenberg(3, periodic=True))
RING_KETS = [normal(2, 2, 2, complex, seed=i) for i in range(3)]
SPIN = np.diag([0.5, -0.5])
PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


def wave(x):
    return np.sum(np.sin(x) * x**2) + np.prod(x)


def size(z):
    return qad.abs2(z @ np.conj(z) * z).sum() + qad.abs2(z).sum() ** 2


# -- transforms --------------------------------------------------------------------------------------------------------


@program
def grad_and_value():
    return qad.value_and_grad(wave)(X), qad.grad(size)(Z), qad.grad(size, convention="jax")(Z)


@program
def grad_with_aux():
    return qad.value_and_grad(lambda x: (wave(x), np.cos(x)), has_aux=True)(X)


@program
def grad_of_trees():
    return qad.grad(lambda p: wave(p["x"]) + size(p["z"]))({"x": X, "z": Z})


@program
def grad_of_numbers():
    return qad.grad(lambda t: (t * X).sum() ** 2)(0.5)


@program
def vjp_and_jvp():
    return qad.vjp(np.cumsum, X)[1](np.cos(X)), qad.jvp(size, (Z,), (np.cos(Z),))


@program
def nested_gradients():
    return qad.grad(lambda x: np.sum(np.cos(qad.grad(wave)(x))))(X)


@program
def hessian_real():
    return qad.hessian(wave)(X), qad.hessian(wave)(X[:0] + 1.0)


@program
def hessian_complex():
    h = qad.hessian(size)(Z)
    return h.zz, h.zzbar


@program
def jacobians():
    return qad.jacobian(np.cumprod)(X), qad.jacobian(lambda x: np.outer(x, x))(X), qad.jacobian(lambda x: x[:2])(X)


@program
def jacobian_of_many_outputs():
    return qad.jacobian(lambda x: np.outer(np.sin(x), x).reshape(-1))(X[:2])


@program
def wirtinger_derivatives():
    return qad.wirtinger(lambda z: z * np.conj(z) ** 2)(Z)


@program
def holomorphic():
    return qad.is_holomorphic(np.exp)(Z), qad.is_holomorphic(np.conj)(Z)


@program
def hvp_and_vhp():
    return qad.hvp(wave, (X,), (np.cos(X),)), qad.vhp(size, (Z,), (np.cos(Z),))


@program
def vmaps():
    rows = np.stack([X, 2 * X, 3 * X])
    return (
        qad.vmap(wave)(rows),
        qad.vmap(qad.grad(wave))(rows),
        qad.vmap(lambda x, y: x * y, in_axes=(0, None))(rows, X),
    )


@program
def grad_of_vmap():
    return qad.grad(lambda x: qad.vmap(wave)(np.stack([x, x * x])).sum())(X)


@program
def checkpoints():
    f = qad.checkpoint(lambda x: np.sum(np.sin(np.cos(x) * x)))
    return qad.grad(f)(X), qad.hvp(f, (X,), (np.cos(X),))


@program
def tapes():
    x = qad.tensor(X, requires_grad=True)
    wave(x).backward()
    return x.grad


@program
def stopped():
    return qad.grad(lambda x: np.sum(x * qad.stop_gradient(x)))(X)


@program
def constants_that_change():
    weights = np.cos(X)

    def f(x):
        y = (x * weights).sum()
        weights[...] = 0.0
        return y

    return qad.grad(f)(X)


@program
def buffers():
    def f(x):
        out = np.zeros_like(x)
        out[1:] = x[:-1] ** 2
        out[0] += x[0] * x[1]
        return np.sum(out * x)

    return qad.grad(f)(X), qad.hvp(f, (X,), (np.cos(X),))


@program
def gradients_are_their_owners():
    w = np.cos(X)
    g = qad.grad(lambda x: (x * w).sum())(X)
    g[...] = 0.0
    return w


# -- contractions ------------------------------------------------------------------------------------------------------


@program
def einsums():

    def f(a, b):
        return qad.abs2(qad.einsum("ij,jk->ik", a, b)).sum()

    return qad.grad(f, argnums=(0, 1))(A, B), qad.einsum("ij,jk,ki->", A, B, C), qad.einsum("ii->i", SPD)


@program
def traces():
    return qad.tr(A, B, C), qad.grad(lambda a: qad.abs2(qad.tr(a, B, C)))(A), qad.tr(SPD)


@program
def ncons():
    return qad.ncon([A, B, C], [[1, 2], [2, 3], [3, 1]]), qad.ncon([A, B], [[-1, 1], [1, -2]])


@program
def plans():
    plan = qad.plan("ij,jk,ki->", A.shape, B.shape, C.shape)
    return (
        plan(A, B, C),
        qad.grad(lambda a: qad.abs2(plan(a, B, C)))(A),
        qad.hvp(lambda a: qad.abs2(plan(a, B, C)), (A,), (np.cos(A),)),
    )


@program
def sliced_plans():
    plan = qad.plan("ij,jk,ki->", A.shape, B.shape, C.shape, memory_limit=1600)
    return plan(A, B, C), qad.grad(lambda a: qad.abs2(plan(a, B, C)))(A)


@program
def tensordots():
    return qad.tensordot(A, B, 1), qad.grad(lambda a: qad.abs2(np.tensordot(a, B, 1)).sum())(A)


# -- chains ------------------------------------------------------------------------------------------------------------


def chain(tensors):
    return qad.mps.MPS(tensors), qad.mps.MPO(HAMILTONIAN)


@program
def energies():
    psi, H = chain(KETS)
    phi, _ = chain(COMPLEX_KETS)
    return qad.mps.energy(psi, H), qad.mps.energy(phi, H)


@program
def gradients_of_energies():
    psi, H = chain(COMPLEX_KETS)
    value, g = qad.value_and_grad(qad.mps.energy)(psi, H)
    return value, list(g)


@program
def hvp_of_energies():
    psi, H = chain(KETS)
    return [list(x) for x in qad.hvp(lambda p: qad.mps.energy(p, H), (psi,), (psi,))]


@program
def overlaps():
    psi, _ = chain(KETS)
    phi, _ = chain(COMPLEX_KETS)
    return qad.mps.overlap(psi, phi), list(psi + phi)


@program
def canonical_forms():
    psi, _ = chain(COMPLEX_KETS)
    return list(psi.canonicalize(2)), list(psi.truncate(2)[0])


@program
def measurements():
    psi, H = chain(COMPLEX_KETS)
    return qad.mps.expectation(psi, H), qad.mps.entanglement_entropy(psi, 2), qad.mps.variance(psi, H)


@program
def dense_states():
    psi, _ = chain(COMPLEX_KETS)
    return psi.to_dense(), list(qad.mps.MPS.from_dense(psi.to_dense()))


@program
def amplitudes():
    psi, _ = chain(COMPLEX_KETS)
    return psi.amplitudes([[0, 1, 0, 1], [1, 1, 0, 0]])


@program
def operators():
    _, H = chain(KETS)
    return list(H @ H), H.to_dense()


@program
def norms_and_densities():
    psi, _ = chain(COMPLEX_KETS)
    return qad.mps.norm(psi), qad.mps.reduced_density(psi, [1]), qad.mps.correlations(psi, SPIN, SPIN)


@program
def gates_on_chains():
    psi, _ = chain(COMPLEX_KETS)
    moved = psi.apply(SPIN, 1).swap(0, 2)
    return list(moved), moved.measure(SPIN, [0, 2]), moved.conj().copy().overlap(psi)


@program
def blocks_of_chains():
    psi, _ = chain(COMPLEX_KETS)
    spectrum, entropy = qad.mps.entanglement_spectrum(psi, 1), qad.mps.entanglement_entropy(psi, order=2)
    blocks = qad.mps.mutual_information(psi, 0, 2), qad.mps.negativity(psi, 0, [1, 2])
    return spectrum, entropy, blocks, list(qad.grad(lambda p: qad.mps.negativity(p, 0, 1))(psi))


@program
def correlators_of_chains():
    psi, _ = chain(COMPLEX_KETS)
    string = qad.mps.correlations(psi, SPIN, SPIN, string=SPIN)
    return string, qad.mps.structure_factor(psi, SPIN, SPIN, [0.3]), qad.mps.multipoint(psi, ["Sz"] * 2, [(0, 2)])


@program
def smaller_operators():
    _, H = chain(KETS)
    smaller, error = (H @ H).truncate(bond=3)
    return list(smaller), error, list(qad.mps.MPO.from_dense(H.to_dense()).dagger())


@program
def gradients_of_entropies():
    psi, _ = chain(COMPLEX_KETS)
    return list(qad.grad(lambda p: qad.mps.entanglement_entropy(p, 2))(psi))


@program
def rings():
    H = qad.mps.MPO(RING)
    psi = qad.mps.MPS(RING_KETS)
    value, g = qad.value_and_grad(qad.mps.energy)(psi, H)
    return value, list(g)


@program
def evolutions():
    psi, H = chain(COMPLEX_KETS)
    return list(qad.mps.evolve(psi, H, 0.01, steps=2, bond=3).state)


@program
def ground_states():
    psi, H = chain(KETS)
    return round(float(qad.mps.ground_state(H, method="lbfgs", start=psi).energy), 8)


@program
def swept_ground_states():
    psi, H = chain(KETS)
    return round(float(qad.mps.ground_state(H, start=psi, bond=4, method="dmrg2").energy), 8)


# -- linear algebra ----------------------------------------------------------------------------------------------------


@program
def truncations():
    return qad.linalg.truncated_svd(A, 2), qad.grad(lambda a: qad.linalg.truncated_svd(a, 2)[1].sum())(A)


@program
def matrix_functions():

    def f(a):
        return np.real(np.trace(qad.linalg.expm(a)))

    return qad.linalg.expm(SPD), qad.grad(f)(SPD), qad.hvp(f, (SPD,), (SPD,))


@program
def hermitian_functions():

    def f(a):
        return np.real(np.trace(qad.linalg.funm_herm(np.exp, a)))

    return f(SPD), qad.grad(f)(SPD), qad.hvp(f, (SPD,), (SPD,))


@program
def funm_of_terms_that_cancel():
    def f(a):
        return np.sum(qad.linalg.funm_svd(lambda s: np.exp(s) - 1, a) ** 2)

    return qad.grad(f)(NEARLY_SINGULAR), qad.hvp(f, (NEARLY_SINGULAR,), (NEARLY_SINGULAR * 0 + 1.0,))


@program
def exponentials_on_vectors():
    return qad.linalg.expm_multiply(SYM, X[:3], 0.3), qad.grad(
        lambda v: (qad.linalg.expm_multiply(SYM, v, 0.3) ** 2).sum()
    )(X[:3])


@program
def lowest_levels():

    def f(t):
        return qad.linalg.lowest_eig(lambda v: t * (SYM @ v) + v * X[:3] * t**2, X[:3])[0]

    return f(0.7), qad.grad(f)(0.7)


@program
def dominant_levels():
    return qad.linalg.dominant_eig(lambda v: SYM @ v, X[:3])[0]


@program
def fixed_points():

    def f(a):
        return qad.fixed_point(lambda x, a: 0.5 * (x + a / x), np.ones(4), a).sum()

    return f(np.abs(X) + 1), qad.grad(f)(np.abs(X) + 1)


@program
def linear_solves():

    def f(b):
        return (qad.linalg.linear_solve(lambda x: SYM @ x, b) ** 2).sum()

    return qad.linalg.linear_solve(lambda x: SYM @ x, X[:3]), qad.grad(f)(X[:3]), qad.hvp(f, (X[:3],), (X[1:],))


@program
def solutions():

    def f(a):
        return qad.abs2(np.linalg.solve(a, A)).sum() + qad.abs2(np.linalg.inv(a)).sum()

    return qad.grad(f)(SPD), np.linalg.lstsq(A.T, X + 0j)[0]


# -- optimizers --------------------------------------------------------------------------------------------------------


def bowl(p):
    return qad.abs2(p["z"] - Z).sum() + ((p["x"] - X) ** 2).sum()


START = {"z": 0 * Z, "x": 0 * X}


@program
def minima():
    found = qad.optimize.minimize(bowl, START)
    return found.fun, found.params["z"], found.params["x"]


@program
def adams():
    return qad.optimize.adam(bowl, START, rate=0.1, maxiter=5).params["z"]


@program
def spheres():
    found = qad.optimize.minimize_on(
        lambda x: x @ SYM @ x, X[:3] / np.linalg.norm(X[:3]), manifold=qad.optimize.Sphere()
    )
    return found.fun


@program
def natural_gradients():
    found = qad.optimize.natural_descent(lambda x: x @ SYM @ x, X[:3], lambda x: SYM, rate=0.5, maxiter=3, damping=0.1)
    return found.params


# -- testing -----------------------------------------------------------------------------------------------------------


@program
def checks_of_gradients():
    qad.check_grads(size, (Z,), order=2)
    qad.check_grads(np.cumsum, (X,), order=2)


# -- frozen functions --------------------------------------------------------------------------------------------------


@program
def frozen_functions():
    f = qad.freeze(lambda x: np.cumsum(np.sin(x) * x))
    return f(X), f(2 * X)


@program
def frozen_gradients():
    f = qad.freeze(qad.value_and_grad(wave))
    return f(X), f(2 * X)


@program
def frozen_contractions():
    f = qad.freeze(lambda a: qad.einsum("ij,jk->ik", a, B))
    return f(A), f(2 * A)
