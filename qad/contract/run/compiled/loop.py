"""The loop that carries out tables of numbers (`qad.contract.run.entries`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.compiled.kernel import multiply
from qad.contract.run.entries import ADD, IN_ADD, IN_PRODUCT, IN_RESCALE, PRODUCT

if TYPE_CHECKING:
    from qad.native.values import KernelArray

__all__ = ["replay"]


def replay(code: KernelArray, work: KernelArray, room: KernelArray) -> None:
    """Carry out all entries of `code`, an array of int64, on a block of numbers, shape (size,), with scratch memory."""
    place = 0
    while place < len(code):
        if code[place] == PRODUCT:
            place = product(code, place, work, room)
        elif code[place] == ADD:
            place = add(code, place, work)
        else:
            place = rescale(code, place, work)


def product(code: KernelArray, place: int, work: KernelArray, room: KernelArray) -> int:
    """A product of matrices, either of which may lie transposed."""
    fields, at = code[place:], IN_PRODUCT
    one, two, out, form = fields[at.first], fields[at.second], fields[at.out], fields[at.form]
    multiply(work, one, two, out, fields[at.m], fields[at.k], fields[at.n], form, room)
    return place + 1 + len(at)


def add(code: KernelArray, place: int, work: KernelArray) -> int:
    """A matrix of zeros, or a multiple of a matrix written or added to another; rows may lie apart."""
    fields, at = code[place:], IN_ADD
    fresh, factor, columns = fields[at.fresh], fields[at.factor], fields[at.columns]
    read, from_step, write, to_step = fields[at.read], fields[at.from_step], fields[at.write], fields[at.to_step]
    c = work[factor] if factor >= 0 else work[0]
    for i in range(fields[at.rows]):
        x = work[read + i * from_step : read + i * from_step + columns]
        y = work[write + i * to_step : write + i * to_step + columns]
        if factor < 0:
            for j in range(columns):
                y[j] = 0
        elif fresh and c == 1:
            for j in range(columns):
                y[j] = x[j]
        elif fresh:
            for j in range(columns):
                y[j] = c * x[j]
        elif c == 1:
            for j in range(columns):
                y[j] += x[j]
        else:
            for j in range(columns):
                y[j] += c * x[j]
    return place + 1 + len(at)


def rescale(code: KernelArray, place: int, work: KernelArray) -> int:
    """A piece divided by a power of two where its largest number has drifted too far from 1; the power is written."""
    fields, at = code[place:], IN_RESCALE
    room, exponent, largest = fields[at.room], 0, 0.0
    piece = work[fields[at.start] : fields[at.start] + fields[at.size]]
    for x in piece:
        largest = max(largest, abs(x.real), abs(x.imag))
    if 0 < largest < np.inf and not 2.0**-room < largest < 2.0**room:
        exponent = math.frexp(largest)[1]
        for i in range(len(piece)):
            piece[i] *= 2.0**-exponent
    work[fields[at.exponent]] = exponent
    return place + 1 + len(at)
