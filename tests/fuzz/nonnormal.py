"""Random losses of ``np.linalg.eig`` of matrices that are not normal, up to defective ones: right or refused.

The same functions of the matrix, made of products or by `expm`, say what is right.
"""

import numpy as np

import qad
from qad.linalg import expm

FUNCTIONS = {
    "square": (lambda w: w * w, lambda a: a @ a),
    "cube": (lambda w: w**3, lambda a: a @ a @ a),
    "exp": (np.exp, expm),
}


def draw(seed):
    """(name, matrix, direction, losses): of each pair of losses one by eigenvectors or values, one without."""
    rng = np.random.default_rng(seed)
    n, kind, name = int(rng.integers(2, 6)), "rc"[rng.integers(2)], list(FUNCTIONS)[rng.integers(len(FUNCTIONS))]

    def normal(*shape):
        x = rng.standard_normal(shape)
        return x + 1j * rng.standard_normal(shape) if kind == "c" else x

    gap, coupling = 10 ** rng.uniform(-14, 0), 10 ** rng.uniform(-14, 0.5) * (rng.random() < 0.85)
    w = np.sort(rng.uniform(0.25, 2, n))
    w[1 : 3 if rng.random() < 0.3 else 2] = w[0] + gap
    frame = np.linalg.qr(normal(n, n))[0] if rng.random() < 0.7 else np.eye(n)
    frame = frame * (10 ** rng.uniform(-2, 2, n) if rng.random() < 0.3 else 1.0)
    a = frame @ (np.diag(w) + np.triu(normal(n, n), 1) * coupling) @ np.linalg.inv(frame)
    x, e, (f, whole) = normal(n, n) if rng.random() < 0.8 else np.eye(n), normal(n, n), FUNCTIONS[name]

    def by_hand(a):
        w, v = np.linalg.eig(a)
        return np.sum(x.T * ((v * f(w)) @ np.linalg.inv(v))).real

    losses = {
        "V f(w) V^-1": (by_hand, lambda a: np.sum(x.T * whole(a)).real),
        "sum of f(w)": (lambda a: np.sum(f(np.linalg.eigvals(a))).real, lambda a: np.trace(whole(a)).real),
    }
    return f"{name}, {a.dtype}{a.shape}, gap {gap:.1e}, coupling {coupling:.1e}", a, e, losses


MODES = {
    "grad": lambda f, a, e: qad.grad(f)(a),
    "jvp": lambda f, a, e: qad.jvp(f, (a,), (e,))[1],
    "hvp": lambda f, a, e: qad.hvp(f, (a,), (e,))[0],
    "reverse over reverse": lambda f, a, e: qad.grad(lambda a: np.sum(e.conj() * qad.grad(f)(a)).real)(a),
}


def check(seed) -> list:
    """What is wrong with the losses of this seed, in words."""
    name, a, e, losses = draw(seed)
    found = []
    for form, (loss, reference) in losses.items():
        size = np.linalg.norm(qad.grad(reference)(a)) * np.linalg.norm(e)
        for mode in MODES:
            right = MODES[mode](reference, a, e)
            scale = size if mode == "jvp" else np.abs(right).max()
            try:
                error = np.abs(MODES[mode](loss, a, e) - right).max()
            except (qad.QadError, np.linalg.LinAlgError):
                continue
            if not error <= 1e-4 * scale:
                found.append(f"{form} ({name}), {mode}: off by {error:.1e} of {scale:.1e}")
    return found
