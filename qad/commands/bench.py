"""``qad bench``: times of a few gradients, beside those of the functions alone."""

from __future__ import annotations

from statistics import median
from timeit import repeat, timeit
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from typing import Any

    Case = tuple[Callable[..., Any], Any]  # a real function, and where it is differentiated

LEAST = 5  # samples


def arguments(parser: ArgumentParser) -> None:
    """How long to measure."""
    parser.add_argument("--seconds", type=float, default=0.3, help="for each line and column (default 0.3)")


def run(args: Namespace) -> int:
    """Measure, and print a line as soon as it is there."""
    from qad import value_and_grad

    print(f"{'':44}{'value, ms':>12}{'and gradient':>14}{'ratio':>8}")
    for name, make in CASES.items():
        f, x = make()
        alone, both = (sample(g, x, args.seconds) for g in (f, value_and_grad(f)))
        print(f"{name:44}{alone:>12.3g}{both:>14.3g}{both / alone:>8.1f}", flush=True)
    print("Medians of this process; python -m qad info says which BLAS, how many threads, and what is compiled.")
    return 0


def sample(f: Callable[[Any], Any], x: Any, seconds: float) -> float:
    """The median time of a call in milliseconds, after one that warms up."""
    f(x)
    once = timeit(lambda: f(x), number=1)
    return 1e3 * median(repeat(lambda: f(x), number=1, repeat=max(LEAST, int(seconds / once))))


def trace() -> Case:
    """A trace of a product of two matrices."""
    from qad import tr

    a, b = gaussian(2, 30, 30)
    return lambda x: tr(x, b).real, a


def chain(bond: int) -> Case:
    """The energy of a matrix product state."""
    from qad import mps

    H = mps.heisenberg(40)
    return lambda psi: mps.energy(psi, H), mps.MPS.random(40, bond, seed=0)


def singular_values() -> Case:
    """A sum of singular values."""
    return lambda x: np.linalg.svd(x, compute_uv=False).sum(), gaussian(128, 128)


def circuit() -> Case:
    """The energy of layers of rotations and CNOTs."""
    from qad import Circuit, PauliSum

    n = 10
    H = PauliSum.on_sites(n, [(-1.0, "ZZ", (i, i + 1)) for i in range(n - 1)] + [(-1.0, "X", (i,)) for i in range(n)])

    def energy(theta: Any) -> Any:
        c = Circuit(n)
        for layer in theta:
            c.ry(layer[0], range(n)).rz(layer[1], range(n)).cx(range(n - 1), range(1, n))
        return c.expectation(H)

    return energy, np.random.default_rng(0).normal(size=(4, 2, n))


def gaussian(*shape: int) -> np.ndarray:
    """Complex random numbers."""
    rng = np.random.default_rng(0)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


CASES: dict[str, Callable[[], Case]] = {
    "tr(A @ B), 30 x 30, complex": trace,
    "energy of a chain, 40 sites, bond 8": lambda: chain(8),
    "energy of a chain, 40 sites, bond 32": lambda: chain(32),
    "singular values, 128 x 128, complex": singular_values,
    "circuit, 10 qubits, 4 layers": circuit,
}
