"""Programs of views and writes, each named by what it does; NumPy says what they mean."""

import numpy as np


def row_by_two_indices(x):
    b = np.outer(x, x)
    b[1][:] = 0.0
    return b * b


def loop_over_rows(x):
    b = np.outer(x, x)
    for r in b:
        r /= r.sum()
    return b


def write_into_transpose(x):
    b = np.outer(x, x)
    b.T[0] = np.sin(x)
    b.T[1:, 0] *= x[0]
    return b


def write_into_reshape(x):
    b = np.outer(x, x).copy()
    b.reshape(3, 3, 1)[0] = x[:, None] ** 2
    b.reshape(-1)[::2] = x.sum()
    b.ravel()[1] = x[0]
    return b


def write_into_parts(x):
    z = (np.outer(x, x) * (1 + 0.5j)).copy()
    z.real[:] = x
    z.T.imag[1] += x
    z[0].real[1:] *= x[0]
    return z


def set_parts(x):
    z = (np.outer(x, x) + 0j).copy()
    z.real, z.imag = x, x * x
    z.real += x
    z.imag[0] -= 2.0
    return z


def write_into_einsum(x):
    b = np.outer(x, x)
    np.einsum("ii->i", b)[:] = np.cos(x)
    np.einsum("ij->ji", b)[0] *= 2.0
    return b


def row_taken_before(x):
    b = np.outer(x, x)
    r = b[0]
    b[0] = 0.0
    return r * r + r


def transpose_taken_before(x):
    b = np.outer(x, x)
    t = b.T
    b[0] = x**3
    return t


def part_taken_before(x):
    z = (np.outer(x, x) + 1j).copy()
    r, i, c = z.real, z.imag, np.outer(x, x).conj()
    z[1] = x * 1j
    c[0] = 0.0
    return r + 2 * i + c


def wider_views_taken_before(x):
    b = (x * x).copy()
    wide, high, same = np.broadcast_to(b, (3, 3)), np.atleast_2d(b), np.atleast_1d(b)
    b[0] = x[1]
    return wide + high + same


def many_views_taken_before(x):
    b = np.outer(x, x).copy()
    taken = [
        b.swapaxes(0, 1), np.moveaxis(b, 0, 1), np.squeeze(b[None]), np.expand_dims(b, 0)[0], np.flip(b), np.rot90(b),
        np.fliplr(b), b.reshape(9).reshape(3, 3), b[None][0], b[...], b.view() if type(b) is np.ndarray else b[:],
        np.split(b, [1])[1][[0, 1, 1]], np.broadcast_arrays(b, x)[0] * 1.0, np.diag(b) * np.ones((3, 1)),
        b.diagonal() + np.zeros((3, 1)), np.real(b), np.asarray(b) if type(b) is np.ndarray else b,
    ]  # fmt: skip
    last = np.diagonal(b)
    b[1] = np.sin(x)
    b[:, 2] += x
    return sum(taken) + last


def views_of_views(x):
    b = np.outer(x, x).copy()
    v = b.T[1:][::-1].reshape(-1)
    w = b[1:].T
    first = w[0]
    b[1][2] = x[0]
    first[:] = x[:2]
    b.T[1:, 0] = 7.0
    return v.sum() + w + first + b[0, 0]


def swap_through_a_temporary(x):
    b = np.outer(x, x * x).copy()
    t = b[0]
    b[0] = b[1]
    b[1] = t
    return b


def swap_at_once(x):
    b = np.outer(x, x * x).copy()
    b[0], b[1] = b[1], b[0]
    return b


def swap_by_lists(x):
    b = np.outer(x, x * x).copy()
    b[[0, 1]] = b[[1, 0]]
    return b


def overlapping(x):
    b = np.concatenate([x, x * x]).copy()
    b[1:] = b[:-1]
    b[:-1] += b[1:]
    b[::-1][:3] = b[:3]
    return b


def sort_in_place(x):
    b = np.outer(x, -x).copy()
    b.sort()
    b.T.sort(0)
    b[0].partition(1)
    return b


def flat(x):
    b = np.outer(x, x)
    f = b.flat
    f[::2] = x
    f[1] = x[0]
    b.T.flat[[3, 4]] = x[:2]
    return b * f[2] + sum(b.flat)


def flat_as_a_whole(x):
    b = np.outer(x, x)
    b.flat = x
    return b


def methods_of_ufuncs(x):
    b = np.outer(x, x)
    np.subtract.at(b, ([0, 0, 1], [1, 1, 2]), x)
    np.multiply.at(b, [0, 0, 1], x)
    np.maximum.at(b, ([0, 0], [1, 1]), 3.0)
    np.minimum.at(b, (2, 2), x[0])
    np.divide.at(b, (0, 1), x[0])
    np.negative.at(b, [1, 1, 2])
    np.power.at(b[2], [0, 0], 2.0)
    np.add.at(b.T, (0, [1, 1]), x[1])
    return b


def copies_are_copies(x):
    b = np.outer(x, x).copy()
    copies = [b.copy(), b.flatten(), b.T.ravel(), b[[0, 1, 2]], np.conjugate(b), np.repeat(b, 1, 0), np.take(b, 0)]
    grids = np.meshgrid(b[0], b[1])
    b[:] = 0.0
    copies[1][0] = 5.0
    return sum(c.sum() for c in copies) + sum(g.sum() for g in grids) + b


def whole_of_an_entry(x):
    b = (x * 1.0).copy()
    last = b[..., -1]
    last[...] = np.tanh(x.sum())
    return b * last


def functions_that_write(x):
    b = np.outer(x, x)
    np.copyto(b[0], x * x)
    np.put(b.T, [0, 4], x[:2])
    np.fill_diagonal(b[1:], x[0])
    b[2].fill(x[1])
    return b


PROGRAMS = [
    row_by_two_indices, loop_over_rows, write_into_transpose, write_into_reshape, write_into_parts, set_parts,
    write_into_einsum, row_taken_before, transpose_taken_before, part_taken_before, wider_views_taken_before,
    many_views_taken_before, views_of_views, swap_through_a_temporary, swap_at_once, swap_by_lists, overlapping,
    sort_in_place, flat, flat_as_a_whole, methods_of_ufuncs, copies_are_copies, whole_of_an_entry, functions_that_write,
]  # fmt: skip
