"""The costs by which plans choose, measured on this machine: `python -m benchmarks.costs`.

Each row is a constant of `qad/contract/costs.py`: what is written there and what is measured here, in
nanoseconds.  Only
ratios matter: where all figures are larger by the same factor, nothing need be changed.
"""

import time
from functools import partial
from operator import attrgetter

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
    """Of BLAS: a multiply-add, a product of a stack, the stack."""
    import numpy as np

    large = np.ones((400, 400), complex)
    yield "MULTIPLY_ADD", nanoseconds(lambda: large @ large) / large.shape[0] ** 3
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


def calls():
    """Of calls on small arrays, as a replayed program makes them; an element of a large sum."""
    import numpy as np

    a, b, number = np.ones((2, 2), complex), np.ones((2, 2), complex), 1.5
    each, _ = slope(lambda n: partial(np.add, *[np.zeros(n, complex)] * 3), 1000, 20000)
    yield "ELEMENT_ADDED", each
    yield "Replayed.CALL", nanoseconds(lambda: np.add(a, b, out=b))
    yield "Replayed.SCALAR", nanoseconds(lambda: number * number + number)
    yield "Replayed.SUMMED", nanoseconds(lambda: np.add.reduce(a, (0,)))
    yield "Replayed.PRODUCT", nanoseconds(lambda: np.matmul(a, a, out=b))
    each, call = slope(lambda count: partial(np.concatenate, [a] * count), 4, 40)
    yield "Replayed.JOIN", call
    yield "Replayed.EACH_PART", each
    each, call = slope(lambda count: partial(np.array, [number] * count), 4, 40)
    yield "Replayed.GATHER", call
    yield "Replayed.EACH_NUMBER", each


def loops():
    """Of networks: a pair by NumPy, an entry of a compiled loop, and the loop."""
    import numpy as np

    from qad.contract.plan.planner import find_plan
    from qad.contract.run.compiler import has_compiler
    from qad.contract.run.execute import execution

    def chain(count, compiled):
        terms = tuple((place, place + 1) for place in range(count))
        path = ((0, 1), *((0, count - 1 - step) for step in range(1, count - 1)))
        plan = find_plan(terms, (0, count), ((2, 2),) * count, (), complex, path, None, compiled)
        own, operands = execution(plan, ()), [np.ones((2, 2), complex)] * count
        return lambda: own.forward(operands)

    each, _ = slope(lambda count: chain(count, False), 10, 40)
    yield "CALL", each
    if has_compiler():
        each, call = slope(lambda count: chain(count, True), 10, 40)
        yield "ENTRY", each
        yield "LOOP_CALL", call


MEASURES = (products, copies, calls, loops)


def main():
    """Measure and print."""
    limit_threads(1)
    from qad.contract import costs

    print(f"{'':22}{'written':>10}{'measured':>10}")
    for measure in MEASURES:
        for name, found in measure():
            print(f"{name:22}{attrgetter(name)(costs):10.2f}{found:10.2f}", flush=True)


if __name__ == "__main__":
    main()
