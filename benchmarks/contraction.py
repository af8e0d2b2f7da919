"""Value and gradient of tensor networks, complex128, every library contracting in the same order.

The order is qad's, for value and gradient together (`qad.plan`); opt_einsum carries it out in torch and jax. The loss
is the real part of the network (of the sum of its entries where it is open), its gradient with respect to
all tensors, but for "one variable", where it is one of twenty. "products" is a yardstick: the time of one large
complex matrix product with three times the multiply-adds of the value. In the cases called "real form" the sandwich is
a function of its sites, and "qad" says `hermitian=True`, which "qad, both halves" and the peers do not know. The
first call of jitted jax compiles; that of qad searches the order. In "one variable" torch and "jax, jitted" are given
all twenty arrays at every call, while the plan of "qad" holds the constants (`Plan.hold`). Beside them stand the others
that know them beforehand: "qad, frozen", which still looks whether they have changed, and jax.
"""

from functools import partial

import numpy as np
import opt_einsum

from .case import Case, Contender
from .peers import with_jax, with_torch

WIDTH = 256  # of the yardstick's matrices


def network(terms, sizes, output=()):
    """Expression and shapes from terms of any hashable labels."""
    symbol = {label: opt_einsum.get_symbol(number) for number, label in enumerate(sizes)}
    text = ",".join("".join(symbol[label] for label in term) for term in terms)
    text += "->" + "".join(symbol[label] for label in output)
    return text, [tuple(sizes[label] for label in term) for term in terms]


def trace(factors=8, size=20, batch=64):
    """The sum of a batch of traces of products."""
    terms = [("batch", place, (place + 1) % factors) for place in range(factors)]
    return network(terms, {"batch": batch} | dict.fromkeys(range(factors), size))


def sandwich(bond, length=40, operator=5):
    """<bra|operator|ket> of open chains, site by site: ket, operator, bra."""
    terms, sizes = [], {}
    for site in range(length):
        for layer, size, legs in (("ket", bond, "p"), ("operator", operator, "pq"), ("bra", bond, "q")):
            bonds = [(layer, place) for place in (site, site + 1) if 0 < place < length]
            physical = [(leg, site) for leg in legs]
            sizes |= dict.fromkeys(bonds, size) | dict.fromkeys(physical, 2)
            terms.append((*bonds, *physical))
    return network(terms, sizes)


def peps(side=4, bond=3):
    """The norm of a square lattice of tensors."""
    terms, sizes = [], {}
    for x in range(side):
        for y in range(side):
            links = [("x", x, y), ("x", x + 1, y), ("y", x, y), ("y", x, y + 1)]
            links = [link for link in links if 0 < link["xy".index(link[0]) + 1] < side]
            for layer in range(2):
                bonds = [(layer, link) for link in links]
                sizes |= dict.fromkeys(bonds, bond) | {(x, y): 2}
                terms.append((*bonds, (x, y)))
    return network(terms, sizes)


def regular(count, bond, seed=0):
    """A random graph, three bonds at every tensor."""
    rng = np.random.default_rng(seed)
    while True:
        ends = rng.permutation(np.repeat(np.arange(count), 3)).reshape(-1, 2)
        if len({tuple(sorted(pair)) for pair in ends.tolist()}) == len(ends) and (ends[:, 0] != ends[:, 1]).all():
            break
    terms = [tuple(np.nonzero((ends == number).any(axis=1))[0].tolist()) for number in range(count)]
    return network(terms, dict.fromkeys(range(len(ends)), bond))


def renormalisation(size=16):
    """Four tensors of three legs around a plaquette make the next coarse tensor."""
    terms = [(place, (place + 1) % 4, 4 + place) for place in range(4)]
    return network(terms, dict.fromkeys(range(8), size), range(4, 8))


def arrays(shapes):
    """Random tensors of norm one, times two lest the value vanish."""
    rng = np.random.default_rng(0)
    found = [rng.standard_normal(shape) + 1j * rng.standard_normal(shape) for shape in shapes]
    return [2 * x / np.linalg.norm(x) for x in found]


def hermitian_operators(operators):
    """Each Hermitian in its physical legs, which come last."""
    return [(w + w.swapaxes(-1, -2).conj()) / 2 for w in operators]


def make_loss(xp, text, shapes, path, arrange):
    """The network in any library's namespace; `arrange` makes its operands of variables and constants."""
    contract = opt_einsum.contract_expression(text, *shapes, optimize=path)
    return lambda variables, constants: xp.real(contract(*arrange(xp, variables, constants))).sum()


def separate(xp, variables, constants):
    """Variables first."""
    return [*variables, *constants]


def sites(xp, variables, constants):
    """Ket, operator, bra."""
    triples = zip(variables, constants, variables, strict=True)
    return [x for ket, operator, bra in triples for x in (ket, operator, xp.conj(bra))]


def with_qad(text, arrange, variables, constants, **options):
    """qad's einsum as a user writes it."""
    import qad

    def loss(variables):
        return qad.einsum(text, *arrange(np, variables, constants), **options).real.sum()

    function = qad.value_and_grad(loss)
    return lambda: function(variables)


def with_plan(text, variable, constants):
    """The constants held by a plan."""
    import qad

    plan = qad.plan(text, variable, *constants, variables=[0]).hold(dict(enumerate(constants, 1)))
    function = qad.value_and_grad(lambda variables: plan(*variables).real.sum())
    return lambda: function([variable])


def with_frozen_qad(text, variable, constants):
    """The same frozen, the constants part of the program."""
    import qad

    function = qad.freeze(qad.value_and_grad(lambda x: qad.einsum(text, x, *constants).real.sum()))
    return lambda: function(variable)


def value_with_qad(text, arrange, variables, constants):
    """The value alone, in the order that is best for it alone."""
    import qad

    return lambda: qad.einsum(text, *arrange(np, variables, constants)).real.sum()


def yardstick(flops):
    """A complex matrix product of three times so many multiply-adds."""
    rng = np.random.default_rng(0)
    one = rng.standard_normal((max(1, round(3 * flops / WIDTH**2)), WIDTH)) + 0j
    two = rng.standard_normal((WIDTH, WIDTH)) + 0j
    return lambda: one @ two


def compare(name, text, shapes, chosen, arrange=separate, constants=(), hermitian=False):
    """A case of all contenders; `chosen` are the variables."""
    import qad

    numbers = range(len(chosen)) if arrange is separate else range(2, len(shapes), 3)
    everything = range(len(chosen)) if arrange is separate else [n for n in range(len(shapes)) if n % 3 != 1]
    path = qad.plan(text, *shapes, variables=everything).path
    flops = qad.plan(text, *shapes, variables=numbers).flops
    value = partial(value_with_qad, text, arrange, chosen, constants)
    loss = partial(make_loss, text=text, shapes=shapes, path=path, arrange=arrange)
    own = partial(with_qad, text, arrange, chosen, constants, hermitian=hermitian)
    if arrange is separate and constants:
        own = partial(with_plan, text, *chosen, constants)
    contenders = [
        Contender("qad", own, forward=value),
        with_torch(loss, chosen, constants),
        with_jax(loss, chosen, constants, given=arrange is separate),
        Contender("products", partial(yardstick, flops), lambda _: (value()(), None)),
    ]
    if hermitian:
        contenders.insert(1, Contender("qad, both halves", partial(own, hermitian=False), forward=value))
    elif constants:
        frozen = partial(with_frozen_qad, text, *chosen, constants)
        contenders.insert(1, Contender("qad, frozen", frozen, lambda found: (found[0], found[1:])))
        contenders.append(with_jax(loss, chosen, constants, name="jax, constants compiled in"))
    return Case(name, contenders, tolerance=1e-9)


def cases():
    """The networks of the table."""
    chains = {bond: sandwich(bond) for bond in (16, 64)}
    named = {
        "trace of eight 20x20, batch 64": trace(),
        **{f"sandwich of 40 sites, bond {bond}": chain for bond, chain in chains.items()},
        "norm of 4x4 PEPS, bond 3": peps(),
        "random 3-regular, 40 tensors, bond 3": regular(40, 3),
        "TRG step, bond 16": renormalisation(),
    }
    for name, (text, shapes) in named.items():
        yield compare(name, text, shapes, arrays(shapes))
    text, shapes = regular(20, 6)
    tensors = arrays(shapes)
    yield compare("one variable of twenty tensors, bond 6", text, shapes, tensors[:1], constants=tensors[1:])
    for bond, (text, shapes) in chains.items():
        tensors = arrays(shapes)
        operators = hermitian_operators(tensors[1::3])
        yield compare(f"real form, bond {bond}", text, shapes, tensors[::3], sites, operators, hermitian=True)
