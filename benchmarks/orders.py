"""Orders of contractions beside cotengra's: `python -m benchmarks.orders` finds them and keeps their costs.

qad searches for some seconds (as `qad.plan(..., planning_seconds=)` does), cotengra (`HyperOptimizer`) until it had a
processor for as long.  Costs are multiply-adds of value and gradient by all tensors, counted by qad for both; of the
value alone they are a third.  "largest" is the largest array, in elements.  Three rounds, in each of which the tensors
are written in another order and cotengra draws other numbers; the table has medians, and in brackets the least and the
most.  cotengra minimises the cost of the value, and how far either comes in its seconds depends on the machine.  With
kahypar and optuna installed cotengra splits graphs and learns; without them it draws greedy orders.
"""

import argparse
import random
import time
from importlib.metadata import version
from statistics import median

from qad.contract.notation.parse import label_sizes, parse
from qad.contract.order.order import from_path, to_path
from qad.contract.order.timed import timed_order
from qad.contract.order.tree import Tree
from qad.contract.plan.stages import network_of

from . import RESULTS
from .contraction import network, peps
from .peers import has
from .report import markdown, write_json

KEPT = RESULTS / "orders.json"
PACKAGES = "cotengra", "kahypar", "optuna", "cotengrust", "llvmlite"
ROUNDS = 3


def regular_graph(vertices, degree=3, bond=2, seed=0):
    """A random regular graph (pairs of half-edges, drawn until they are simple), a tensor at each vertex."""
    rng = random.Random(seed)
    while True:
        halves = [vertex for vertex in range(vertices) for _ in range(degree)]
        rng.shuffle(halves)
        edges = {tuple(sorted(pair)) for pair in zip(halves[::2], halves[1::2], strict=True)}
        if len(edges) == vertices * degree // 2 and all(a != b for a, b in edges):
            break
    terms = [[edge for edge in sorted(edges) if vertex in edge] for vertex in range(vertices)]
    return network(terms, dict.fromkeys(sorted(edges), bond))


def circuit(side=5, depth=8):
    """An amplitude of a circuit on a square of qubits: layers of gates on neighbours, in four patterns that alternate.

    Gates on one qubit, the initial state and the bits belong to the tensors beside them.
    """
    time, sizes, terms = dict.fromkeys(((x, y) for x in range(side) for y in range(side)), 0), {}, []
    for layer in range(depth):
        dx, dy = ((1, 0), (0, 1))[layer % 2]
        for x in range(side - dx):
            for y in range(side - dy):
                if (x if dx else y) % 2 == layer // 2 % 2:
                    legs = []
                    for qubit in ((x, y), (x + dx, y + dy)):
                        legs += [(qubit, time[qubit]), (qubit, time[qubit] + 1)]
                        time[qubit] += 1
                    terms.append(legs)
    ends = {(qubit, t) for qubit, last in time.items() for t in (0, last)}
    terms = [[leg for leg in legs if leg not in ends] for legs in terms]
    sizes = {leg: 2 for legs in terms for leg in legs}
    return network(terms, sizes)


NETWORKS = {
    "regular graph, 100 vertices": lambda: regular_graph(100),
    "regular graph, 200 vertices": lambda: regular_graph(200),
    "regular graph, 300 vertices": lambda: regular_graph(300),
    "norm of PEPS 8x8, bond 3": lambda: peps(8, 3),
    "circuit 5x5, depth 8": circuit,
}


def numbered(text, shapes):
    """The network as the planner takes it, all operands variable."""
    shapes = tuple(map(tuple, shapes))
    expression = parse(text, tuple(map(len, shapes)))
    return network_of(expression, shapes, label_sizes(expression, shapes), range(len(shapes)))


def shuffled(text, shapes, seed):
    """The same network, its tensors in another order."""
    left, output = text.split("->")
    operands = list(zip(left.split(","), shapes, strict=True))
    random.Random(seed).shuffle(operands)
    return ",".join(term for term, _ in operands) + "->" + output, [shape for _, shape in operands]


def of_qad(text, shapes, seconds):
    return to_path(timed_order(*numbered(text, shapes), seconds), len(shapes))


def of_cotengra(text, shapes, seconds, seed=0):
    """cotengra's order as a path of pairs, after these seconds of the processor."""
    import cotengra

    random.seed(seed)
    left, output = text.split("->")
    inputs = left.split(",")
    sizes = {
        label: size for term, shape in zip(inputs, shapes, strict=True) for label, size in zip(term, shape, strict=True)
    }
    search = cotengra.HyperOptimizer(max_time=1.0, max_repeats=10**6, minimize="flops", parallel=False)
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        tree = search.search(inputs, output, sizes)  # goes on with what it knows
    return tree.get_path()


def costs(text, shapes, path):
    """Multiply-adds of value and gradient in this order, and the elements of the largest array."""
    tree = Tree(numbered(text, shapes), from_path(path, len(shapes)))
    return tree.cost(), max(map(tree.size, tree.legs.values()))


def section(kept):
    """The page of the benchmark."""
    header = ["", "tensors", "seconds", "qad", "largest", "cotengra", "largest", "/ qad"]
    rows = []
    for name, row in kept["networks"].items():
        cells, middle = [], {}
        for library in ("qad", "cotengra"):
            found, largest = zip(*row[library], strict=True)
            middle[library] = median(found)
            cells += [f"{middle[library]:.2e} ({min(found):.2e}-{max(found):.2e})", f"{median(largest):.1e}"]
        better = f"{middle['cotengra'] / middle['qad']:.2f}"
        rows.append([name, str(row["tensors"]), f"{median(row['processor']):.0f}", *cells, better])
    versions = ", ".join(f"{name} {number}" for name, number in kept["versions"].items())
    headline = "**Orders beside cotengra's, `python -m benchmarks.orders`: multiply-adds of value and gradient.**"
    note = f'"seconds" are those of the processor that either had. {versions}.'
    return "\n\n".join(["## orders", headline, __doc__.split("\n\n", 1)[1].strip(), markdown([header, *rows]), note])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=20.0, help="of search, for each network and library")
    seconds = arguments.parse_args().seconds
    versions = {name: version(name) for name in PACKAGES if has(name)}
    kept = {"seconds": seconds, "versions": versions, "networks": {}}
    for name, make in NETWORKS.items():
        row = kept["networks"][name] = {"tensors": len(make()[1]), "qad": [], "cotengra": [], "processor": []}
        for seed in range(ROUNDS):
            text, shapes = shuffled(*make(), seed)
            begin = time.process_time()
            ours = of_qad(text, shapes, seconds)
            row["processor"].append(time.process_time() - begin)
            row["qad"].append(costs(text, shapes, ours))
            row["cotengra"].append(costs(text, shapes, of_cotengra(text, shapes, row["processor"][-1], seed)))
        print(name, row, flush=True)
    write_json(kept, KEPT)


if __name__ == "__main__":
    main()
