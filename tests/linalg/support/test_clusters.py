"""Second derivatives at nearly degenerate spectra: right, or refused at the order at which they cannot be right."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from qad.core.errors import ArgumentError
from tests.fuzz.spectra import check
from tests.linalg.draw import apart, draw, herm, unitary

GAPS = [1e-3, 2e-5, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-11, 1e-13, 0.0]
X, E = herm(draw(4, 4, seed=1)), herm(draw(4, 4, seed=2))
D = draw(4, 4, seed=5)


def weighed(p):
    return np.sum((X.conj() * p).real)


def near(gap):
    """A Hermitian matrix with two of its larger eigenvalues at this distance."""
    q = unitary(4)
    return herm((q * np.array([2, 2 + gap, 1, 0.5])) @ q.conj().T)


def onto(v):
    return v @ v.conj().mT


def kept(a):
    return weighed(la.funm_herm(lambda w: w > 1.5, herm(a)))


def best(a):
    return weighed(la.funm_svd(lambda s: np.where(s > 1.5, s, 0.0), a))


PROJECTORS = {
    "eigh": lambda a: weighed(onto(np.linalg.eigh(herm(a)).eigenvectors[:, 2:])),
    "svd": lambda a: weighed(onto(np.linalg.svd(herm(a)).U[:, :2])),
    "truncated_eigh": lambda a: weighed(onto(la.truncated_eigh(herm(a), 2)[1])),
    "truncated_svd": lambda a: weighed(onto(la.truncated_svd(herm(a), 2)[0])),
}
PRODUCTS = {
    "split": lambda a: weighed(np.matmul(*la.split(a, 2))),
    "funm_svd": best,
}


def exponential(a):
    return weighed(la.funm_herm(np.exp, herm(a)))


def kept_exponential(a):
    return weighed(la.funm_herm(lambda w: np.where(w > 1.5, np.exp(w), 0.0), herm(a)))


def _rebuilt(w, v):
    return (v * np.exp(w)) @ v.conj().mT


OUT_OF_SIGHT = {
    "eigh": lambda a: weighed(_rebuilt(*map(apart, np.linalg.eigh(herm(a))))),
    "eig": lambda a: _by_eig(herm(a)),
    "truncated_eigh": lambda a: weighed(_rebuilt(*map(apart, la.truncated_eigh(herm(a), 2)[:2]))),
    "truncated_svd": lambda a: weighed(_product(*map(apart, la.truncated_svd(a, 2)[:3]))),
}
RIGHT = {"eigh": exponential, "eig": exponential, "truncated_eigh": kept_exponential, "truncated_svd": best}


def _by_eig(a):
    w, v = np.linalg.eig(a)
    return np.sum((X.conj() * ((v * np.exp(w)) @ np.linalg.inv(v))).real)


def _product(u, s, vh):
    return (u * s) @ vh


def off(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


def along(f, a, e=E):
    return qad.hvp(f, (a,), (e,))[0]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("f", PROJECTORS.values(), ids=PROJECTORS)
@pytest.mark.sampled(14)
def test_projectors_with_the_pair_inside_are_right_at_every_gap(f, gap):
    a = near(gap)
    assert off(qad.grad(f)(a), qad.grad(kept)(a)) < 1e-12
    assert off(along(f, a), along(kept, a)) < 1e-9


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("f", PRODUCTS.values(), ids=PRODUCTS)
@pytest.mark.sampled(10)
def test_products_of_factors_that_are_functions_of_the_matrix_are_right_at_every_gap(f, gap):
    """Against the expansion of the projected matrix, ``P A`` with the projector P."""
    a, e = near(gap), draw(4, 4, seed=5)

    def reference(a):
        return weighed(la.funm_herm(lambda w: w > 2.25, a @ a.conj().T) @ a)

    assert off(qad.grad(f)(a), qad.grad(reference)(a)) < 1e-9
    assert off(along(f, a, e), along(reference, a, e)) < 1e-8


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", OUT_OF_SIGHT)
@pytest.mark.sampled(16)
def test_functions_of_the_factors_out_of_sight_are_right_or_refused(name, gap):
    f, right = OUT_OF_SIGHT[name], RIGHT[name]
    a = near(gap)
    if gap >= 2e-5:
        assert off(along(f, a), along(right, a)) < 1e-4
    else:
        with pytest.raises(qad.QadError, match=r"Use (qad\.linalg\.funm|expm)"):
            along(f, a)
    if gap >= 1e-9:  # at first order they go on to be right
        assert off(qad.grad(f)(a), qad.grad(right)(a)) < 1e-6


NESTS = {
    "hvp": lambda f, a: along(f, a, D),
    "hessian": lambda f, a: qad.hessian(lambda t: f(a + t * D))(0.0),
    "grad of grad": lambda f, a: qad.grad(lambda a: np.sum((D.conj() * qad.grad(f)(a)).real))(a),
    "grad of jvp": lambda f, a: qad.grad(lambda a: qad.jvp(f, (a,), (D,))[1])(a),
    "jvp of jvp": lambda f, a: qad.jvp(lambda a: qad.jvp(f, (a,), (D,))[1], (a,), (D,))[1],
    "jvp of grad": lambda f, a: qad.jvp(qad.grad(f), (a,), (D,))[1],
}


@pytest.mark.parametrize("gap", [1e-6, 1e-7, 1e-8, 1e-9])
@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_every_nest_of_two_derivatives_refuses(nest, gap):
    with pytest.raises(qad.QadError, match="derivative of order 2"):
        nest(OUT_OF_SIGHT["eigh"], near(gap))


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_below_what_a_first_derivative_needs_all_are_refused(nest):
    """The bound had room for sums of 10 terms; a cut through three close values was off by 4e-4."""
    for gap in (1e-10, 1e-11):
        with pytest.raises(qad.QadError, match="are too close|degenerate to rounding"):
            nest(OUT_OF_SIGHT["eigh"], near(gap))
    assert not check(95008019)


@pytest.mark.parametrize("seed", [95100284, 95100336, 95100570])
def test_projectors_on_one_vector_are_known_at_the_points_of_the_spectrum_alone(seed):
    """Between these their function is a step, which an integral of its slope misses."""
    assert not check(seed)


def test_a_batch_is_refused_by_its_worst_entry():
    f, batch = OUT_OF_SIGHT["eigh"], np.stack([near(0.5), near(1e-8)])
    assert np.isfinite(qad.vmap(lambda a: along(f, a))(np.stack([near(0.5), near(0.2)]))).all()
    with pytest.raises(qad.QadError, match=r"batch entry \(1,\)"):
        qad.vmap(lambda a: along(f, a))(batch)


def test_a_loss_that_is_stationary_in_a_pair_is_not_taken_for_one_that_ignores_it():
    """``|V_00|^2`` at a diagonal matrix: its slope along the turn of a pair vanishes, its curvature does not."""

    def f(a):
        return qad.abs2(np.linalg.eigh(herm(a)).eigenvectors[0, 0])

    for gap in (1e-7, 1e-9, 1e-12, 0.0):
        with pytest.raises(qad.QadError, match="funm_herm"):
            along(f, np.diag([1.0, 1.0 + gap, 2.0]), np.ones((3, 3)))


def test_an_even_function_of_a_pair_around_zero_is_not_taken_for_a_constant():
    def f(a):
        w, v = np.linalg.eigh(herm(a))
        return weighed((apart(v) * np.cos(w)) @ v.conj().T)

    q = unitary(4)
    for gap in (1e-7, 1e-9, 1e-11):
        a = herm((q * np.array([-gap, gap, 1, 2])) @ q.conj().T)
        with pytest.raises(qad.QadError, match="funm_herm"):
            along(f, a)


def test_sums_of_functions_of_the_values():
    for gap in (1e-4, 1e-7, 1e-9, 1e-10):
        a = near(gap)
        found = along(lambda a: np.sum(np.linalg.eigvalsh(herm(a)) ** 3), a)
        assert off(found, 3 * (a @ E + E @ a)) < 1e-5
        found = along(lambda a: np.sum(np.linalg.svdvals(a) ** 4), a)
        right = along(lambda a: np.sum(qad.abs2(a.conj().T @ a)), a)
        assert off(found, right) < 1e-5


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 0.0])
def test_a_sum_of_kept_levels_is_right_at_every_gap(gap):
    def f(a):
        return np.linalg.eigvalsh(herm(a))[2:].sum()

    a = near(gap)
    right = along(lambda a: np.trace(la.funm_herm(lambda w: np.where(w > 1.5, w, 0.0), herm(a))).real, a)
    assert off(along(f, a), right) < 1e-9


def test_decaying_singular_values_are_not_refused():
    """Small gaps among small values: their vectors weigh as little, and so does rounding."""
    values = np.array([1, 1e-2, 1e-4, 1e-6, 1e-7, 1e-8])
    u, v = (np.linalg.qr(draw(6, 6, seed=seed))[0] for seed in (3, 4))
    a, e, x = (u * values) @ v, draw(6, 6, seed=5), draw(6, 6, seed=6)

    def f(a):
        u, s, vh = np.linalg.svd(a)
        return np.sum((x.conj() * ((u * s**3) @ vh)).real)

    right = along(lambda a: np.sum((x.conj() * la.funm_svd(lambda s: s**3, a)).real), a, e)
    assert off(along(f, a, e), right) < 1e-7


def test_single_precision_has_wider_gaps():
    f, a = OUT_OF_SIGHT["eigh"], near(1e-3).astype(np.complex64)
    with pytest.raises(qad.QadError, match="derivative of order 2"):
        along(f, a, E.astype(np.complex64))
    assert off(along(PROJECTORS["eigh"], a, E.astype(np.complex64)), along(kept, near(1e-3))) < 1e-4


def test_eigenvalues_near_a_defective_matrix():
    """``[[0, 1], [d, 0]]`` has the eigenvalues ±sqrt(d), conditioned as badly as they are close."""
    direction = np.array([[0.0, 0.0], [1.0, 0.0]])

    def level(a):
        w = np.linalg.eigvals(a)
        return w.real[np.argmax(qad.extend.stack_of(w).real)]

    for d in (1e-2, 1e-6, 1e-10):
        point = np.array([[0.0, 1.0], [d, 0.0]])
        found = np.sum(qad.grad(level)(point) * direction)
        assert abs(found * 2 * np.sqrt(d) - 1) < 1e-4
    with pytest.raises(qad.QadError, match="expm"):
        qad.grad(level)(np.array([[0.0, 1.0], [1e-15, 0.0]]))


def test_the_nuclear_norm_at_a_value_that_is_small_but_not_zero():
    u, v = np.linalg.qr(draw(3, 3, real=True, seed=1))[0], np.linalg.qr(draw(3, 3, real=True, seed=2))[0]

    def gradient(smallest):
        return qad.grad(lambda a: np.linalg.norm(a, "nuc"))((u * np.array([1, 0.5, smallest])) @ v)

    np.testing.assert_allclose(gradient(1e-9), u @ v, atol=1e-6)
    np.testing.assert_allclose(gradient(0.0), u[:, :2] @ v[:2], atol=1e-12)
    with pytest.raises(qad.QadError, match="zero"):
        gradient(5e-13)


@pytest.mark.parametrize("function", [np.linalg.eigh, np.linalg.svd], ids=["eigh", "svd"])
@pytest.mark.parametrize(
    "weights, dtype",
    [([[0, 1], [1, 0]], float), ([[0, 1], [1, 0]], complex), ([[0, -1j], [1j, 0]], complex)],
    ids=["real X", "X", "Y"],
)
def test_weights_without_diagonal_hide_no_function_of_equal_values(function, weights, dtype):
    """The basis that LAPACK chose gave the values no cotangent, and the function of them was taken for a projector."""

    def f(a):
        found = function(a)
        left, s, right = found if function is np.linalg.svd else (found[1], found[0], found[1].conj().T)
        return np.sum(np.array(weights) * ((apart(left) * s**3) @ right)).real

    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(f)(1.5 * np.eye(2, dtype=dtype))


@pytest.mark.parametrize("levels", [1.5 * np.eye(2), np.diag([1.0, 1.0, 3.0]), np.diag([2.0, 1.0, 1.0, 1.0])], ids=len)
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_vector_that_lapack_chose_is_refused_where_the_loss_is_stationary_in_the_choice(levels, dtype):
    """The derivative was given as zero, for the vectors were unit vectors."""
    a = levels.astype(dtype)
    for f in (
        lambda a: np.sum(np.abs(np.linalg.eigh(a)[1]) ** 4),
        lambda a: np.sum(np.abs(np.linalg.svd(a)[0]) ** 4),
        lambda a: np.sum(np.abs(np.linalg.svd(np.concatenate([a, a]), full_matrices=False)[0]) ** 4),
    ):
        for derivative in (qad.grad(f), lambda a, f=f: qad.jvp(f, (a,), (np.ones_like(a),))):
            with pytest.raises(ArgumentError, match="degenerate|phase|chosen|arbitrary|determine"):
                derivative(a)


def test_equal_values_keep_their_products_and_plain_results():
    a = np.diag([2.0, 1.0, 1.0, 1.0])
    w, v = qad.vjp(lambda a: tuple(np.linalg.eigh(a)), a)[0]
    assert np.allclose((v * w) @ v.T, a, atol=1e-15) and np.allclose(v.T @ v, np.eye(4), atol=1e-15)
    u, s, vh = qad.vjp(lambda a: tuple(np.linalg.svd(a)), a[:, :3])[0]
    assert np.allclose((u[:, :3] * s) @ vh, a[:, :3], atol=1e-15) and np.allclose(u.T @ u, np.eye(4), atol=1e-15)
    assert np.array_equal(qad.vmap(lambda a: np.linalg.eigh(a)[1])(np.stack([a, a]))[1], np.linalg.eigh(a)[1])
