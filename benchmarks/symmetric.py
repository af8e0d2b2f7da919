"""One contraction of symmetric tensors: an environment times two sites, charges of spin chains.

The environment has the legs (operator, bra, ket), the two sites (left, spin, spin, right); sectors of the bonds are
distributed as at the centre of a chain of spins 1/2, those of the operator are those of J1-J2 (bond 8).  "dense" is
NumPy's `tensordot` of the dense arrays.  symmray runs in both of its modes.  "its gradient" is qad's value and gradient
of the squared norm of the result.
"""

import time
from functools import partial

import numpy as np

from .case import Case, Contender

BONDS = (32, 64, 128, 256)
CALLS = 20  # that `repeated` times together
OPERATOR = {-2: 2, 0: 4, 2: 2}


def sectors(bond):
    """Dimensions by charge, of a normal distribution."""
    weights = {q: np.exp(-(q**2) / 20.5) for q in range(-8, 9, 2)}
    return {q: max(1, round(bond * w / sum(weights.values()))) for q, w in weights.items()}


def operands(bond):
    """The environment and the two sites, as qad has them."""
    from qad.symmetric import Leg, random

    ket, spin, operator = Leg(sectors(bond), +1), Leg({-1: 1, 1: 1}, +1), Leg(OPERATOR, -1)
    return random((operator, ket, ket.conj()), seed=0), random((ket, spin, spin, ket.conj()), seed=1)


def by_qad(bond):
    """A contraction by qad; the sites lie as a decomposition leaves them."""
    from qad.symmetric import tensordot

    one, two = operands(bond)
    return lambda: tensordot(one, two, ([2], [0]))


def gradient(bond):
    """Value and gradient of the squared norm of the result."""
    import qad

    function = qad.value_and_grad(lambda one, two: qad.tensordot(one, two, ([2], [0])).norm() ** 2, argnums=(0, 1))
    one, two = operands(bond)
    return lambda: function(one, two)


def by_tenpy(bond):
    """The same tensors in TeNPy."""
    import warnings

    import tenpy.linalg.np_conserved as npc

    warnings.simplefilter("ignore")
    kinds = npc.ChargeInfo([1])

    def leg(given):
        charges = np.repeat(list(given.sectors), list(given.sectors.values()))
        return npc.LegCharge.from_qflat(kinds, charges[:, None], given.flow).bunch()[1]

    one, two = (npc.Array.from_ndarray(x.to_dense(), [leg(given) for given in x.legs]) for x in operands(bond))
    return lambda: npc.tensordot(one, two, axes=([2], [0]))


def by_symmray(mode, bond):
    """The same tensors in symmray."""
    import symmray

    def array(x):
        maps = [np.repeat(list(leg.sectors), list(leg.sectors.values())).tolist() for leg in x.legs]
        return symmray.U1Array.from_dense(x.to_dense(), maps, [leg.flow < 0 for leg in x.legs])

    one, two = map(array, operands(bond))
    return lambda: symmray.tensordot(one, two, axes=([2], [0]), mode=mode)


def repeated(name, bond):
    """The norm of the result of qad, TeNPy or symmray, and the seconds of the processor for a call."""
    call = {"qad": by_qad, "TeNPy": by_tenpy, "symmray": partial(by_symmray, "auto")}[name](bond)

    def timed():
        start = time.process_time()
        for _ in range(CALLS):
            found = call()
        spent = (time.process_time() - start) / CALLS
        return float(np.linalg.norm(found.to_ndarray() if name == "TeNPy" else found.to_dense())), spent

    return timed


def dense(bond):
    """NumPy's product of the dense arrays."""
    one, two = (x.to_dense() for x in operands(bond))
    return lambda: np.tensordot(one, two, ([2], [0]))


def cases():
    """Four bond dimensions."""
    for bond in BONDS:
        contenders = [
            Contender("dense", partial(dense, bond), lambda x: (x, ()), baseline=True),
            Contender("qad", partial(by_qad, bond), lambda x: (x.to_dense(), None)),
            Contender("its gradient", partial(gradient, bond), result=None),
            Contender("TeNPy", partial(by_tenpy, bond), lambda x: (x.to_ndarray(), None), needs="tenpy"),
        ] + [
            Contender(f"symmray, {mode}", partial(by_symmray, mode, bond), lambda x: (x.to_dense(), None),
                      needs="symmray")
            for mode in ("fused", "blockwise")
        ]  # fmt: skip
        yield Case(f"bond {bond}", contenders)
