"""Real forms <psi|O|psi>: half the derivative, all of the gradient, to every order."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, CheckError
from tests.contract.networks import operands_for
from tests.contract.order.test_order import chain

RNG = np.random.default_rng(0)


def hermitian(size, rng=RNG):
    h = rng.standard_normal((size, size)) + 1j * rng.standard_normal((size, size))
    return h + h.conj().T


def sandwich(length, bond, mpo, capped=False):
    """Interleaved arguments of the sandwich, operands of sites first to last: ket, operator, bra."""
    terms, shapes = chain(length, bond, mpo)
    if capped:
        caps = [min(bond, 2**site, 2 ** (length - site)) for site in range(length + 1)]
        sizes = {(name, site): caps[site] for name in "kb" for site in range(length + 1)}
        shapes = [
            tuple(sizes.get(label, size) for label, size in zip(term, shape, strict=True))
            for term, shape in zip(terms, shapes, strict=True)
        ]
    numbers = {label: number for number, label in enumerate({label for term in terms for label in term})}
    return [[numbers[label] for label in term] for term in terms], shapes


def energy(sites, operators, terms, **options):
    """<psi|H|psi> of a chain; operator legs are (bonds, ket, bra)."""
    arguments = []
    for site, (tensor, operator) in enumerate(zip(sites, operators, strict=True)):
        for operand, term in zip((tensor, operator, tensor.conj()), terms[3 * site : 3 * site + 3], strict=True):
            arguments += [operand, term]
    return qad.einsum(*arguments, [], hermitian=True, **options)


def chain_case(length, bond, kind=complex, **options):
    terms, shapes = sandwich(length, bond, 2, **options)
    rng = np.random.default_rng(1)
    sites = operands_for(rng, shapes[::3], kind)
    operators = []
    for shape in shapes[1::3]:  # each Hermitian, hence the whole
        w = operands_for(rng, [shape], kind)[0]
        operators.append(w + w.swapaxes(-1, -2).conj())
    return sites, operators, terms


@pytest.mark.parametrize("kind", [complex, float])
def test_gradient_is_that_of_the_whole(kind):
    sites, operators, terms = chain_case(4, 3, kind)

    def whole(sites):
        arguments = []
        for site, x in enumerate(sites):
            for operand, term in zip((x, operators[site], x.conj()), terms[3 * site :], strict=False):
                arguments += [operand, term]
        return qad.einsum(*arguments, []).real

    value, gradient = qad.value_and_grad(lambda sites: energy(sites, operators, terms))(sites)
    expected, wanted = qad.value_and_grad(whole)(sites)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert isinstance(value, float)
    for one, two in zip(gradient, wanted, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", [complex, float])
def test_all_orders(kind):
    sites, operators, terms = chain_case(3, 2, kind)
    qad.check_grads(lambda *sites: energy(sites, operators, terms, check=True), tuple(sites))
    qad.check_grads(lambda x: qad.grad(lambda y: energy([y, x, x[0]], operators, terms))(sites[0]), (sites[1],), 1)


def test_small_and_batched_forms():
    h = hermitian(3)
    x = operands_for(RNG, [(2, 3)])[0]
    qad.check_grads(lambda x: qad.einsum("i,ij,j->", x.conj(), h, x, hermitian=True, check=True), (x[0],))
    qad.check_grads(lambda x: qad.einsum("bi,ij,bj->b", x.conj(), h, x, hermitian=True, check=True), (x,))
    hs = np.stack([h, h @ h])
    qad.check_grads(lambda x: qad.einsum("j,i,bij->b", x, x.conj(), hs, hermitian=True, check=True), (x[0],))
    qad.check_grads(lambda x: qad.einsum("ij,kj->ik", x, x.conj()), (x,), 1)
    r = RNG.standard_normal((3, 3))
    qad.check_grads(lambda x: qad.einsum("i,ij,j->", x, r + r.T, x, hermitian=True, check=True), (r[0],))


def test_a_tensor_in_many_places():
    h = hermitian(4).reshape(2, 2, 2, 2)
    w = h + h.transpose(1, 0, 3, 2)
    a = operands_for(RNG, [(2, 2, 2)])[0]

    def uniform(a):  # ring of two equal sites
        return qad.einsum("apb,bqa,crd,dsc,rspq->", a, a, a.conj(), a.conj(), w, hermitian=True, check=True)

    qad.check_grads(uniform, (a,))
    real = (w + w.conj()).real
    qad.check_grads(lambda a: qad.einsum("apb,bqa,crd,dsc,rspq->", a, a, a, a, real, hermitian=True), (a.real.copy(),))


def test_real_variables_that_are_no_mirror_images():
    psi, o = RNG.standard_normal((2, 2)), RNG.standard_normal((2, 2))
    o = o + o.T
    qad.check_grads(lambda psi, o: qad.einsum("ab,ac,bd,cd->", psi, o, o, psi, hermitian=True), (psi, o))


def test_a_real_variable_twice_inside_the_operator():
    """<x|ww|x> is real for every x, but one w is no mirror image of the other unless w is symmetric."""
    x, w = operands_for(RNG, [(3,)])[0], RNG.standard_normal((3, 3))
    w = w + w.T

    def form(x, w):
        return qad.einsum("i,ij,jk,k->", x.conj(), w, w, x, hermitian=True)

    gradient = qad.grad(form, argnums=(0, 1))(x, w)
    product = np.outer(w @ x, x.conj()).real
    np.testing.assert_allclose(gradient[0], 2 * w @ w @ x, rtol=1e-12)
    np.testing.assert_allclose(gradient[1], product + product.T, rtol=1e-12)
    alone = qad.grad(lambda w: form(x, w))(w)
    np.testing.assert_allclose(alone, gradient[1], rtol=1e-12)
    m = np.diag([1.0, 2.0, 3.0])
    split = qad.grad(lambda w: qad.einsum("i,ij,jk,kl,l->", x.conj(), w, m, w, x, hermitian=True))(w)
    product = np.outer(m @ w @ x, x.conj()).real
    np.testing.assert_allclose(split, product + product.T, rtol=1e-12)


def test_conjugates_of_views_and_of_conjugates():
    h = hermitian(4)
    x = operands_for(RNG, [(2, 2)])[0]

    def flat(x):
        ket = x.reshape(4)
        return qad.einsum("i,ij,j->", np.conj(ket), h, ket, hermitian=True)

    def twice(x):
        ket = x.reshape(4).conj()
        return qad.einsum("i,ij,j->", ket.conj(), h, ket, hermitian=True)

    qad.check_grads(flat, (x,))
    qad.check_grads(twice, (x,))


def test_without_variables():
    h, x = hermitian(3), operands_for(RNG, [(3,)])[0]
    expected = (x.conj() @ h @ x).real
    found = qad.einsum("i,ij,j->", x.conj(), h, x, hermitian=True, check=True)
    assert isinstance(found, float)
    np.testing.assert_allclose(found, expected)
    t = qad.tensor(x)
    np.testing.assert_allclose(qad.einsum("i,ij,j->", t.conj(), h, t, hermitian=True).numpy(), expected)
    t = qad.tensor(x, requires_grad=True)
    y = qad.einsum("i,ij,j->", t.conj(), h, t, hermitian=True)
    y.backward()
    np.testing.assert_allclose(t.grad, 2 * h @ x)
    with qad.no_grad():
        assert not qad.einsum("i,ij,j->", t.conj(), h, t, hermitian=True).requires_grad


def test_single_precision():
    h, x = hermitian(3).astype(np.complex64), operands_for(RNG, [(3,)])[0].astype(np.complex64)

    def form(x):
        return qad.einsum("i,ij,j->", x.conj(), h, x, hermitian=True, check=True)

    value, gradient = qad.value_and_grad(form)(x)
    assert value.dtype == np.float32
    assert gradient.dtype == np.complex64


@pytest.mark.parametrize(
    "text, variables, complaint",
    [
        ("i,ij,j->", lambda x: (x.conj() * 1, np.eye(2), x), "operand 0 is variable and has no partner"),
        ("i,ij,j->", lambda x: (x.conj(), np.outer([1, 2], x), x), "operand 1 is variable"),
        ("i,ij,j->", lambda x: (x.reshape(2).conj(), np.eye(2), x.reshape(2)), "has no partner"),
        ("i,j,i->", lambda x: (x.conj(), x, x), "has no partner"),
        ("i,j->ij", lambda x: (x.conj(), x), "'i' is a leg of one half|'j' is a leg of one half"),
    ],
)
def test_what_does_not_pair_raises(text, variables, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        qad.grad(lambda x: qad.einsum(text, *variables(x), hermitian=True).sum())(np.array([1.0, 1j]))


def test_check_sees_a_form_that_is_not_real():
    x = np.array([1.0, 1j])
    skew = np.array([[0, 1], [0, 0]])
    for form in (lambda x: (x.conj(), skew, x), lambda x: (x.conj() * 1, skew, x * 1)):
        with pytest.raises(CheckError, match="not real"):
            qad.einsum("i,ij,j->", *form(x), hermitian=True, check=True)
    with pytest.raises(CheckError, match="not conjugate"):
        qad.grad(lambda x: qad.einsum("i,ij,j->", x, skew, x, hermitian=True, check=True))(np.array([1.0, 2.0]))
    with pytest.raises(ArgumentError, match="hermitian=True"):
        qad.einsum("i,ij,j->", x, skew, x, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("capped, most", [(False, 2.2e7), (True, 1.28e7)])
def test_cost_of_a_sandwich(counter, capped, most):
    terms, shapes = sandwich(16, 32, 5, capped)
    operands = operands_for(np.random.default_rng(0), shapes)
    sites, operators = operands[::3], [w + w.swapaxes(-1, -2).conj() for w in operands[1::3]]
    qad.value_and_grad(lambda sites: energy(sites, operators, terms))(sites)  # proves the form, once
    counter.total = 0
    qad.value_and_grad(lambda sites: energy(sites, operators, terms))(sites)
    assert counter.total <= most
    assert counter.total <= 2.43 * swept(terms, shapes)


def swept(terms, shapes):
    """Multiply-adds of the value by the site-by-site sweep: ket, operator, bra."""
    total, legs = 0, set(terms[0])
    for number, term in enumerate(terms[1:], 1):
        sizes = {label: size for t, s in zip(terms, shapes, strict=True) for label, size in zip(t, s, strict=True)}
        total += int(np.prod([sizes[label] for label in legs.union(term)]))
        rest = {label for other in terms[number + 1 :] for label in other}
        legs = legs.union(term) & rest
    return total
