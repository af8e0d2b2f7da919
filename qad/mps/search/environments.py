"""Environments of one or two sites of ``<psi|H|psi>``, shaped so that the effective operator is two matrix products.

The operator that acts on the centre ``x`` (its left legs as rows, its right legs as columns) is
``sum_v LEFT[v] @ x @ RIGHT[v]``, one term per channel ``v`` of the operator's bond in the middle.  With ``left`` of
shape (rows' v, rows) and ``right`` of shape (v columns, columns') that is, without a transposition in between::

    (rows' v, rows) @ (rows, columns)  ->  (rows', v columns) @ (v columns, columns')

U. Schollwöck, Ann. Phys. 326, 96 (2011), section 6.
"""

import numpy as np


def edge(dtype):
    """The environment beyond an end of the chain, legs (bra, operator, ket)."""
    return np.ones((1, 1, 1), dtype)


def left_block(environment, w):
    """A left environment (a', u, a) and the site operator `w` right of it, as ``(a' s' v, a s)``."""
    block = np.tensordot(environment, w, (1, 0)).transpose(0, 3, 2, 1, 4)  # a' a v s' s -> a' s' v a s
    return block.reshape(-1, block.shape[3] * block.shape[4])


def right_block(w, environment):
    """The site operator `w` and the right environment (b', u, b) right of it, as ``(v s b, s' b')``."""
    block = np.tensordot(w, environment, (1, 1)).transpose(0, 2, 4, 1, 3)  # v s' s b' b -> v s b s' b'
    return block.reshape(-1, block.shape[3] * block.shape[4])


def left_edge_block(environment):
    """A left environment (a', v, a) alone, as ``(a' v, a)``."""
    return environment.reshape(-1, environment.shape[2])


def right_edge_block(environment):
    """A right environment (b', v, b) alone, as ``(v b, b')``."""
    return np.ascontiguousarray(environment.transpose(1, 2, 0)).reshape(-1, environment.shape[0])


def effective(left, right, shape):
    """The effective operator as a function of vectors; `shape` is that of the centre, (rows, columns)."""
    rows = shape[0]

    def apply(x):
        return ((left @ x.reshape(shape)).reshape(rows, -1) @ right).reshape(-1)

    return apply


def absorb_left(block, tensor):
    """The left environment past a site tensor (a, s, b), given its `left_block`; legs (b', v, b)."""
    half = tensor.reshape(-1, tensor.shape[2])
    rows, bond = half.shape
    environment = half.conj().T @ (block @ half).reshape(rows, -1)
    return environment.reshape(bond, -1, bond)


def absorb_right(block, tensor):
    """The right environment past a site tensor (a, s, b), given its `right_block`; legs (a', v, a)."""
    half = tensor.reshape(tensor.shape[0], -1)
    bond, columns = half.shape
    environment = half @ (block @ half.conj().T).reshape(-1, columns, bond)  # v a a'
    return np.ascontiguousarray(environment.transpose(2, 0, 1))


class Environments:
    """The environments of every site of an open chain, kept while a centre moves along it.

    ``left[i]`` is of the sites before i, ``right[i]`` of the sites after i; those on the far side of the
    centre are up to date, the others are written as it passes.
    """

    def __init__(self, H, tensors, dtype):
        self.H = [w.astype(np.result_type(w.dtype, dtype), copy=False) for w in H]
        n = len(tensors)
        self.left, self.right = [edge(dtype)] * n, [edge(dtype)] * n
        for site in reversed(range(1, n)):
            self.pass_left(site, tensors[site])

    def pass_right(self, site, tensor):
        """The centre moves from `site` to the next one, leaving the left isometry `tensor` behind."""
        self.left[site + 1] = absorb_left(self.before(site), tensor)

    def pass_left(self, site, tensor):
        """The centre moves from `site` to the previous one, leaving the right isometry `tensor` behind."""
        self.right[site - 1] = absorb_right(self.after(site), tensor)

    def before(self, site):
        """What stands left of the bond right of `site`, its operator included."""
        return left_block(self.left[site], self.H[site])

    def after(self, site):
        """What stands right of the bond left of `site`, its operator included."""
        return right_block(self.H[site], self.right[site])

    def one_site(self, site, shape):
        """The effective operator of the site tensor (a, s, b)."""
        return effective(self.before(site), right_edge_block(self.right[site]), (shape[0] * shape[1], shape[2]))

    def two_sites(self, site, shape):
        """The effective operator of `site` and the next one together, legs (a, s, t, b)."""
        return effective(self.before(site), self.after(site + 1), (shape[0] * shape[1], shape[2] * shape[3]))

    def bond(self, site, shape):
        """The effective operator of the matrix on the bond right of `site`, both neighbours passed."""
        return effective(left_edge_block(self.left[site + 1]), right_edge_block(self.right[site]), shape)
