"""Value and gradient of a log-likelihood: 4096 configurations of a periodic matrix product state, n = 64, bond 32.

The loss is the mean of log |psi(s)|^2 over random configurations s, its gradient by every tensor. "qad" calls
`psi.log_amplitudes`, which makes the product of every word of a few sites once and every configuration's
from those. The peers gather the matrix of every site for every configuration and multiply them in batches, the way it
is written in their libraries; "qad, peers' way" differentiates that same code. The first call of jitted jax compiles.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from .case import Case, Contender
from .peers import with_jax, with_torch

SITES, BOND, WORDS = 64, 32, 4096


def make_loss(xp):
    """The mean of log |amplitude|^2 by batched products of gathered matrices, in any library's namespace."""

    def loss(sites, configurations):
        product = None
        for site, column in zip(sites, configurations, strict=True):
            matrices = xp.moveaxis(site, 1, 0)[column]
            product = matrices if product is None else product @ matrices
        amplitudes = xp.diagonal(product, 0, -2, -1).sum(-1)
        return (2 * xp.log(xp.abs(amplitudes))).mean()

    return loss


def chain_likelihood(psi, configurations):
    """qad's own amplitudes; the gradient is a state."""
    import qad

    function = qad.value_and_grad(lambda psi: 2 * psi.log_amplitudes(configurations).real.mean())
    return lambda: function(psi)


def peers_way(sites, columns):
    """qad's gradient of the code that the peers run."""
    import qad

    loss = make_loss(np)
    function = qad.value_and_grad(lambda sites: loss(sites, columns))
    return lambda: function(sites)


def case(dtype):
    """One dtype."""
    import qad

    psi = qad.mps.MPS.random(SITES, BOND, dtype=dtype, seed=0, periodic=True)
    psi = qad.mps.MPS([1.4 * tensor for tensor in psi])  # amplitudes near one, so that the peers' stay in range
    words = np.random.default_rng(0).integers(0, 2, (WORDS, SITES))
    sites, columns = list(psi.tensors), list(np.ascontiguousarray(words.T))
    contenders = [
        Contender("qad", partial(chain_likelihood, psi, words), lambda output: (output[0], output[1].tensors)),
        Contender("qad, peers' way", partial(peers_way, sites, columns), most_rounds=1),
        *(replace(peer(make_loss, sites, columns), most_rounds=2) for peer in (with_torch, with_jax)),
    ]
    return Case(np.dtype(dtype).name, contenders, tolerance=1e-8)


def cases():
    """Two dtypes."""
    return [case(float), case(complex)]
