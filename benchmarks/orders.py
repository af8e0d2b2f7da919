"""The table of contraction orders in `docs/benchmarks.md`: `python -m benchmarks.orders` finds them and writes it.

qad (`qad.plan(..., planning_seconds=)`) and cotengra (`HyperOptimizer(max_time=)`) search for the same seconds on one
processor. Costs are multiply-adds, counted by qad for both: of the value, and of value and gradient by all tensors.
cotengra is told to minimise the former, which is what it can do; qad minimises the latter. cotengra searches with what
it finds installed: with kahypar and optuna it splits graphs and learns, without them it draws greedy orders at random.
"""

import argparse
import random
from importlib.metadata import version
from pathlib import Path

import qad

from .contraction import network, peps
from .peers import has

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- table: python -m benchmarks.orders -->", "<!-- end of orders -->"


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


def of_qad(text, shapes, seconds):
    return qad.plan(text, *shapes, planning_seconds=seconds).path


def of_cotengra(text, shapes, seconds):
    """cotengra's order as a path of pairs."""
    import cotengra

    random.seed(0)
    inputs, output = text.split("->")
    search = cotengra.HyperOptimizer(
        max_time=seconds, max_repeats=10**6, minimize="flops", parallel=False, progbar=False
    )
    tree = cotengra.array_contract_tree(inputs.split(","), output, shapes=shapes, optimize=search)
    return tree.get_path()


def costs(text, shapes, path):
    """Multiply-adds of the value, and of value and gradient, in this order."""
    plan = qad.plan(text, *shapes, optimize=tuple(map(tuple, path)))
    return plan.flops, plan.flops_with_gradient


def lines(seconds):
    """The rows, in the format of Markdown."""
    yield "| network | tensors | qad: value | with gradient | cotengra: value | with gradient | cotengra / qad, both |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, make in NETWORKS.items():
        text, shapes = make()
        ours = costs(text, shapes, of_qad(text, shapes, seconds))
        theirs = costs(text, shapes, of_cotengra(text, shapes, seconds))
        numbers = " | ".join(f"{number:.2e}" for number in (*ours, *theirs))
        yield f"| {name} | {len(shapes)} | {numbers} | {theirs[1] / ours[1]:.2f} |"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=20.0, help="of search, for each network and library")
    arguments.add_argument("--print", action="store_true", help="and leave the page alone")
    given = arguments.parse_args()
    rows = []
    for row in lines(given.seconds):
        print(row, flush=True)
        rows.append(row)
    if given.print:
        return
    versions = [f"{name} {version(name)}" for name in ("cotengra", "kahypar", "optuna") if has(name)]
    note = f"Each searched for {given.seconds:g} s of one processor. Run with {', '.join(versions)}."
    head, rest = PAGE.read_text("utf-8").split(BEGIN)
    table = "\n".join(rows)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{note}\n\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
