"""Symmetric tensors: block-sparse tensors under U(1), Z_n, fermion parity and products of them."""

from qad.contract.notation.einsum import einsum
from qad.contract.notation.ncon import ncon
from qad.symmetric import networks as _networks  # has qad.einsum and qad.ncon take symmetric tensors
from qad.symmetric.blocks.layout import Layout
from qad.symmetric.contraction import tensordot, trace, vdot
from qad.symmetric.create import eye, from_blocks, from_dense, random, zeros
from qad.symmetric.decompositions import eigh, expm, funm_herm, funm_svd, qr, svd
from qad.symmetric.fusing import fuse, unfuse
from qad.symmetric.groups import Symmetry, symmetry
from qad.symmetric.legs import Leg
from qad.symmetric.protocol import norm
from qad.symmetric.scaling import scale, twist
from qad.symmetric.storage import load, save
from qad.symmetric.summing import direct_sum
from qad.symmetric.tensor import SymTensor
from qad.symmetric.truncation import split, truncated_svd

__all__ = [
    "Layout", "Leg", "SymTensor", "Symmetry", "direct_sum", "eigh", "einsum", "expm", "eye", "from_blocks",
    "from_dense", "funm_herm", "funm_svd", "fuse", "load", "ncon", "norm", "qr", "random", "save", "scale", "split",
    "svd", "symmetry", "tensordot", "trace", "truncated_svd", "twist", "unfuse", "vdot", "zeros",
]  # fmt: skip
