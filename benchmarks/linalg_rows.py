"""The rows of the table of operations: real losses of one complex matrix, written once for every library.

A row is a function `f(L, z)` of a `Library` (see `linalg_table.py`) and the point. Losses do not depend on the
gauge of a decomposition, and mix its factors; truth comes from differences of their values.
"""

import numpy as np

RNG = np.random.default_rng(7)


def draw(*shape):
    """Normal random complex numbers."""
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


N = 4
SQUARE, BATCH, VECTOR = draw(N, N), draw(2, 3, 3), draw(N)
TALL, WIDE = draw(5, 3) + 3 * np.eye(5, 3), draw(3, 5) + 3 * np.eye(3, 5)
WELL = draw(N, N) + 4 * np.eye(N)
UNITARY = np.linalg.qr(draw(N, N))[0]
U5, V5 = np.linalg.qr(draw(5, 5))[0], np.linalg.qr(draw(5, 5))[0]
TWO_ZEROS = (U5 * [2, 1.5, 1, 0, 0]) @ V5
SINGULAR = draw(N, N - 1) @ draw(N - 1, N)
WITH_ZERO = np.where(np.arange(N) == 1, 0, VECTOR)
W = draw(8, 8)
EYE, ZERO = np.eye(N) + 0j, np.zeros((N, N), complex)


def probe(L, x):
    """A real number that depends on every entry of `x`."""
    n = x.shape[-1]
    w = W[: x.shape[-2], :n] if len(x.shape) > 1 else W[0, :n]
    y = L.constant(w) * x
    return L.xp.real(L.xp.sum(y * y + y))


def herm(L, z):
    return z + L.xp.conj(z).T


def adjoint(L, z):
    return L.xp.conj(z).T


def from_svd(L, z):
    """exp(-S) between the vectors, and both projectors onto the leading ones."""
    u, s, vh = L.la.svd(z, full_matrices=False)
    left, right = u[:, :2] @ adjoint(L, u[:, :2]), adjoint(L, vh[:2]) @ vh[:2]
    return probe(L, (u * L.xp.exp(-s)) @ vh) + probe(L, left) * probe(L, right)


def rebuilt(L, z):
    """``Re tr(W^H U S V^H)``, whose gradient is W."""
    u, s, vh = L.la.svd(z, full_matrices=False)
    return L.xp.real(L.xp.sum(L.constant(W[: z.shape[0], : z.shape[1]].conj()) * ((u * s) @ vh)))


def without_kernel(L, z):
    u, s, vh = L.la.svd(z, full_matrices=False)
    return probe(L, (u * s**3) @ vh)


def from_eigh(L, z):
    w, v = L.la.eigh(herm(L, z))
    return probe(L, (v * L.xp.exp(w / 4)) @ adjoint(L, v))


def from_eig(L, z):
    w, v = L.la.eig(z)
    return L.xp.real(L.xp.sum(L.xp.exp(w / 4) * L.xp.sum(L.xp.abs(v[:2]) ** 2, 0)))


def from_qr(L, z):
    q, r = L.la.qr(z)
    return probe(L, q) + probe(L, r)


def from_lu(L, z):
    _, low, up = L.lu(z)
    return probe(L, low) + probe(L, up)


def from_schur(L, z):
    t, q = L.schur(z)
    return probe(L, q @ t @ t @ adjoint(L, q))


def equation(*operands):
    """A row of einsum."""
    return lambda L, z: probe(L, L.xp.einsum(operands[0], z, *(L.constant(x) for x in operands[1:])).reshape(-1)[:8])


def flat(f):
    """A row of a function whose result has any shape."""
    return lambda L, z: probe(L, f(L, z).reshape(-1)[:8])


A3 = draw(3, 3)
# group, name, function, point
ROWS = [
    ("products", "trace", lambda L, z: L.xp.real(L.xp.trace(z @ z)), SQUARE),
    ("products", "trace, batched", flat(lambda L, z: L.xp.trace(z @ z, axis1=1, axis2=2)), BATCH),
    ("products", "einsum `ii->`", lambda L, z: L.xp.real(L.xp.einsum("ii->", z @ z)), SQUARE),
    ("products", "einsum `bii->b`", equation("bii->b"), BATCH),
    ("products", "einsum `iij->j`", equation("iij->j"), draw(3, 3, 2)),
    ("products", "einsum `ii->i`", equation("ii->i"), SQUARE),
    ("products", "einsum `ij->`", lambda L, z: L.xp.real(L.xp.einsum("ij->", z * z)), SQUARE),
    ("products", "einsum `ij,jk,kl->il`", equation("ij,jk,kl->il", draw(N, 2), draw(2, 2)), SQUARE),
    ("products", "einsum with an ellipsis", equation("...ij,...jk->...ik", draw(2, 3, 2)), BATCH),
    ("products", "einsum with a constant", equation("ij,jk->ik", W[:N, :2]), SQUARE),
    ("products", "matmul, batched", flat(lambda L, z: L.xp.matmul(z, z)), BATCH),
    ("products", "matmul, broadcast", flat(lambda L, z: L.xp.matmul(z, L.constant(A3))), BATCH),
    ("products", "tensordot", lambda L, z: probe(L, L.xp.tensordot(z, z, 1)), SQUARE),
    ("products", "kron", lambda L, z: probe(L, L.xp.kron(z, z)[:8, :8]), A3),
    ("products", "outer", lambda L, z: probe(L, L.xp.outer(z, z)), VECTOR),
    ("products", "vdot", lambda L, z: L.xp.real(L.xp.vdot(z, L.constant(W[0, :N]) * z)), VECTOR),
    ("products", "matrix_power", lambda L, z: probe(L, L.la.matrix_power(z, 3)), SQUARE),
    ("decompositions", "svd, S alone", lambda L, z: L.xp.sum(L.la.svd(z, full_matrices=False)[1] ** 3), SQUARE),
    ("decompositions", "svd, square", from_svd, SQUARE),
    ("decompositions", "svd, tall", from_svd, TALL),
    ("decompositions", "svd, wide", from_svd, WIDE),
    ("decompositions", "svd, rebuilt at a unitary matrix", rebuilt, UNITARY),
    ("decompositions", "svd, rebuilt at the identity", rebuilt, EYE),
    ("decompositions", "svd, two zeros", without_kernel, TWO_ZEROS),
    ("decompositions", "svd, scale 1e-155", lambda L, z: from_svd(L, L.scaled(z)), SQUARE),
    ("decompositions", "eigh", from_eigh, SQUARE),
    ("decompositions", "eigh at the identity", from_eigh, EYE),
    ("decompositions", "eigh, w alone, at the identity", lambda L, z: L.xp.sum(L.la.eigh(herm(L, z))[0] ** 3), EYE),
    ("decompositions", "eigvals", lambda L, z: L.xp.real(L.xp.sum(L.xp.exp(L.la.eigvals(z) / 4))), SQUARE),
    ("decompositions", "eig", from_eig, SQUARE),
    ("decompositions", "qr, square", from_qr, WELL),
    ("decompositions", "qr, tall", from_qr, TALL),
    ("decompositions", "qr, wide", from_qr, WIDE),
    ("decompositions", "cholesky", lambda L, z: probe(L, L.la.cholesky(z @ adjoint(L, z) + L.constant(EYE))), SQUARE),
    ("decompositions", "lu", from_lu, WELL),
    ("decompositions", "schur", from_schur, SQUARE),
    ("solvers", "solve, matrix", lambda L, z: probe(L, L.la.solve(z, L.constant(W[:N, :2]))), WELL),
    ("solvers", "solve, right-hand side", lambda L, z: probe(L, L.la.solve(L.constant(WELL), z)), SQUARE),
    ("solvers", "solve_triangular",
     lambda L, z: probe(L, L.solve_triangular(L.xp.triu(z), L.constant(W[:N, :2]))), WELL),
    ("solvers", "inv", lambda L, z: probe(L, L.la.inv(z)), WELL),
    ("solvers", "pinv, square", lambda L, z: probe(L, L.la.pinv(z)), WELL),
    ("solvers", "pinv, tall", lambda L, z: probe(L, L.la.pinv(z)), TALL),
    ("solvers", "det", lambda L, z: L.xp.real(L.la.det(z)), SQUARE),
    ("solvers", "det, rank n - 1", lambda L, z: L.xp.real(L.la.det(z)), SINGULAR),
    ("solvers", "slogdet, logarithm", lambda L, z: L.la.slogdet(z)[1], SQUARE),
    ("solvers", "slogdet, sign", lambda L, z: L.xp.real(L.la.slogdet(z)[0]), SQUARE),
    ("functions", "expm", lambda L, z: probe(L, L.expm(z / 4)), SQUARE),
    ("functions", "logm", lambda L, z: probe(L, L.logm(z)), WELL),
    ("functions", "sqrtm", lambda L, z: probe(L, L.sqrtm(z)), WELL),
    ("functions", "V exp(w) V^H at the identity: `funm_herm`", lambda L, z: probe(L, L.funm_herm(z)), EYE),
    ("functions", "U f(S) V^H at a unitary matrix: `funm_svd`", lambda L, z: probe(L, L.funm_svd(z)), UNITARY),
    ("norms", "Frobenius", lambda L, z: L.la.norm(z), SQUARE),
    ("norms", "Frobenius, at zero", lambda L, z: L.la.norm(z), ZERO),
    ("norms", "nuclear", lambda L, z: L.la.norm(z, "nuc"), SQUARE),
    ("norms", "1-norm of rows", lambda L, z: L.xp.sum(L.la.norm(z, 1, 1) ** 2), SQUARE),
    ("elementwise", "`abs(z)**2`, with a zero", lambda L, z: L.xp.sum(L.xp.abs(z) ** 2), WITH_ZERO),
    ("elementwise", "abs", lambda L, z: L.xp.sum(L.xp.abs(z) ** 3), VECTOR),
    ("elementwise", "angle", lambda L, z: L.xp.sum(L.xp.angle(z) ** 2), VECTOR),
    ("elementwise", "`z**(2+1j)`", lambda L, z: probe(L, z ** (2 + 1j)), VECTOR),
    ("elementwise", "`z**2`, with a zero", lambda L, z: probe(L, z**2), WITH_ZERO),
    ("elementwise", "sqrt", lambda L, z: probe(L, L.xp.sqrt(z)), VECTOR),
    ("elementwise", "log", lambda L, z: probe(L, L.xp.log(z)), VECTOR),
    ("elementwise", "prod, with a zero", lambda L, z: L.xp.real(L.xp.prod(z)), WITH_ZERO),
    ("elementwise", "fft", lambda L, z: probe(L, L.xp.fft.fft(z)), VECTOR),
    ("elementwise", "conj", lambda L, z: probe(L, L.xp.conj(z) * z), VECTOR),
    ("elementwise", "imag", lambda L, z: L.xp.sum(L.xp.imag(z) ** 3), VECTOR),
]  # fmt: skip
