"""How the results of functions lie in memory under `qad.vmap`, see `qad.core.vmap.layouts`."""

from operator import getitem

import numpy as np

from qad.extend.batching import ENTRYWISE, GIVES_C, KEEPS_C, SHOWS_OR_C
from qad.rules import casts, diagonal, index, join, logsumexp, products, reduce, repeat, scan, shape
from qad.rules import sorting as order
from qad.rules import structured_cotangents as lazy
from qad.rules.complex import direction, imag_part, real_part

ENTRYWISE |= {
    np.conjugate, np.sign, real_part, imag_part, direction, casts.cast, casts.replace_nonfinite, index.chosen, np.round,
    np.around, np.trunc,
}  # fmt: skip
KEEPS_C |= {
    np.copy, np.tril, np.triu, np.roll, np.tile, reduce.sum_over, reduce.var_over, reduce.std_over, logsumexp.logsumexp,
    order.max_over, order.min_over, scan.cumsum_over, scan.cumprod_over, scan.prod_over, order.sort_along, join.joined,
    join.stacked, repeat.pad_with, lazy.scatter, getitem,
}  # fmt: skip
SHOWS_OR_C.add(shape.reshape)
GIVES_C |= {products.matrix_product, np.outer, diagonal.on_diagonal}
