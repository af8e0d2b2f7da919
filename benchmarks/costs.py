"""The costs by which plans choose, measured on this machine: `python -m benchmarks.costs`.

Each row is a constant of `qad/contract/plan/lower.py`: what is written there and what is measured here, in
nanoseconds.  Only ratios matter: where all figures are larger by the same factor, nothing need be changed.
"""

import time
from functools import partial

from .__main__ import limit_threads

SECONDS, SAMPLES = 0.01, 7


def nanoseconds(function):
    """The least time of a call."""
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        function()
        calls += 1
    found = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        found.append((time.perf_counter() - start) / calls)
    return 1e9 * min(found)


def slope(function, *sizes):
    """The time of a call by its size, from two sizes; the time without any size."""
    one, two = (nanoseconds(function(size)) for size in sizes)
    each = (two - one) / (sizes[1] - sizes[0])
    return each, one - each * sizes[0]


def products():
    """Of BLAS: a product of a stack, the stack, an element of an operand."""
    import numpy as np

    each, call = slope(lambda count: partial(np.matmul, *[np.ones((count, 2, 2), complex)] * 2), 200, 2000)
    yield "PRODUCT_CALL", each
    yield "MATMUL_CALL", call
    each, _ = slope(lambda n: partial(np.dot, np.ones((n, 40), complex), np.ones((40, 2), complex)), 1000, 9000)
    yield "LARGER_OPERAND", each / 40


def copies():
    """Of arrays in another order of axes: the call, an element, a run of elements side by side."""
    import numpy as np

    def turned(rows, columns):
        return np.ones((rows, rows, columns), complex).transpose(1, 0, 2).copy

    yield "COPY_CALL", nanoseconds(turned(2, 2))
    element = (nanoseconds(turned(8, 256)) - nanoseconds(turned(8, 64))) / (8 * 8 * 192)
    yield "COPY_ELEMENT", element
    yield "COPY_RUN", (nanoseconds(turned(50, 2)) - nanoseconds(turned(10, 2))) / (50**2 - 10**2) - 2 * element


MEASURES = (products, copies)


def main():
    """Measure and print."""
    limit_threads(1)
    from qad.contract.plan import lower

    print(f"{'':22}{'written':>10}{'measured':>10}")
    for measure in MEASURES:
        for name, found in measure():
            print(f"{name:22}{getattr(lower, name):10.2f}{found:10.2f}", flush=True)


if __name__ == "__main__":
    main()
