"""Exchanges in contraction trees (`qad.contract.order.exchange`), the same steps compiled: forty times as fast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.order.exchange import ACCURACY, DRAWS, FACTOR, LOW, WORD
from qad.native import FLOAT, INT, Block, Kernels, intrinsic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.contract.order.exchange import Exchanger
    from qad.native.statements import KernelFunction
    from qad.native.values import KernelArray, Scalar

__all__ = ["EXCHANGES", "CompiledExchanger"]


@intrinsic
def ones(code: KernelFunction, x: Scalar) -> Scalar:
    """How many bits of a word are set."""
    code.declare("declare i64 @llvm.ctpop.i64(i64)")
    return code.emit("i64", f"call i64 @llvm.ctpop.i64(i64 {code.whole(x).name})")


def kernels() -> Kernels:
    """The kernel of `sweep`."""

    def exchanges(
        tree: Block(INT, 2), legs: Block(INT, 2), costs: Block(FLOAT), weights: Block(INT), whole: Block(FLOAT),
        part: Block(FLOAT), limits: Block(FLOAT), fresh: Block(INT), state: Block(INT),
    ):  # fmt: skip
        sweep(tree, legs, costs, weights, whole, part, limits, fresh, state)

    return Kernels(exchanges, files=[Path(__file__), Path(__file__).parents[2] / "order" / "exchange.py"], fast=False)


def sweep(
    tree: KernelArray, legs: KernelArray, costs: KernelArray, weights: KernelArray, whole: KernelArray,
    part: KernelArray, limits: KernelArray, fresh: KernelArray, state: KernelArray,
) -> None:  # fmt: skip
    """`Exchanger.sweep`.

    Parameters
    ----------
    tree : array of int, shape (3, nodes)
        Left and right children, and whether a variable is below.
    legs : array of int, shape (nodes, words)
        Sets of labels.
    costs, weights, whole, part, limits : arrays
        As there.
    fresh : array of int, shape (words,)
        Scratch memory.
    state : array of int, shape (2,)
        That of the random numbers, and how many times.
    """
    draw, nodes, fraction = state[0], tree.shape[1], (1 << ACCURACY) - 1
    count = (nodes + 1) // 2
    for _ in range(state[1]):
        for parent in range(count, nodes):
            draw = FACTOR * (draw & LOW) + (draw >> 32)
            child, other = tree[draw & 1, parent], tree[1 - (draw & 1), parent]
            if child < count:
                child, other = other, child
            if child >= count:
                one, two = tree[draw >> 1 & 1, child], tree[1 - (draw >> 1 & 1), child]
                first = second = 0
                for word in range(weights.shape[0]):
                    joined = legs[one, word] | legs[other, word]
                    fresh[word] = joined & (legs[two, word] | legs[parent, word])
                    first += weights[word] * ones(joined)
                    second += weights[word] * ones(fresh[word] | legs[two, word])
                below = tree[2, one] | tree[2, other]
                lower = whole[first >> ACCURACY] * part[first & fraction] * (1 + tree[2, one] + tree[2, other])
                upper = whole[second >> ACCURACY] * part[second & fraction] * (1 + below + tree[2, two])
                if lower + upper <= (costs[child] + costs[parent]) * limits[draw >> 22 & DRAWS - 1]:
                    for word in range(weights.shape[0]):
                        legs[child, word] = fresh[word]
                    tree[0, child], tree[1, child], tree[2, child] = one, other, below
                    tree[0, parent], tree[1, parent] = child, two
                    costs[child], costs[parent] = lower, upper
    state[0] = draw


EXCHANGES = kernels()


class CompiledExchanger:
    """Goes on from where an `Exchanger` is."""

    plain: Exchanger
    state: np.ndarray
    tree: np.ndarray
    legs: np.ndarray
    costs: np.ndarray
    weights: np.ndarray
    whole: np.ndarray
    part: np.ndarray

    def __init__(self, plain: Exchanger):
        words = range(len(plain.weights))
        self.plain, self.state = plain, np.array([plain.draw, 0])
        self.tree = np.array([plain.left, plain.right, plain.held])
        split = [[labels >> WORD * word & (1 << WORD) - 1 for word in words] for labels in plain.legs]
        self.legs = np.array(split, np.int64)
        self.costs, self.weights = np.array(plain.costs), np.array(plain.weights, np.int64)
        self.whole, self.part = np.array(plain.whole), np.array(plain.part)

    def sweep(self, times: int, limits: Sequence[float]) -> None:
        """As `Exchanger.sweep`."""
        self.state[1] = times
        fresh, tables = np.empty_like(self.weights), (self.weights, self.whole, self.part, np.array(limits))
        EXCHANGES(self.costs.dtype).exchanges(self.tree, self.legs, self.costs, *tables, fresh, self.state)

    def pairs(self) -> list[tuple[int, int]]:
        """As `Exchanger.pairs`."""
        self.plain.left, self.plain.right, _ = self.tree.tolist()
        return self.plain.pairs()
