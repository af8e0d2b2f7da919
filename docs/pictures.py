"""Write the pictures of docs/pictures.md and the README into docs/pictures: ``python docs/pictures.py``."""

from pathlib import Path

import numpy as np

import qad

BETHE = -8.6824733344  # the energy of 20 open Heisenberg spins: examples/mps/01_heisenberg_ground_state.py
FOLDER = Path(__file__).with_name("pictures")


def graph():
    """The graph of an energy <psi|H|psi> / <psi|psi>, with its gradient."""
    H = np.array([[1.0, 0.5j], [-0.5j, -1.0]])
    psi = qad.tensor(np.array([1.0, 1.0j]), requires_grad=True)
    energy = (np.vdot(psi, H @ psi) / np.vdot(psi, psi)).real
    return qad.draw(energy, names={"psi": psi})


DRAWINGS = {
    "graph": graph,
    "state": lambda: qad.draw(qad.mps.MPS.random(30, bond=32)),
    "operator": lambda: qad.draw(qad.mps.heisenberg(6)),
    "plane": lambda: qad.draw(qad.peps.finite.FinitePEPS.random(2, 4, bond=3)),
    "plan": lambda: qad.draw(
        qad.plan("ab,bc,cd,de,ea->", (2, 2), (2, 20), (20, 50), (50, 10), (10, 2), variables=[0, 1])
    ),
    "circuit": lambda: qad.draw(qad.Circuit(3).h(0).ry(0.3, [1, 2]).cx([0, 1], [1, 2]).rzz(0.5, 0, 2).swap(1, 2)),
    "lattice": lambda: qad.mps.Lattice.cylinder(4, 3).draw(shells=2),
}


def plots():
    """Those that searches make."""
    H = qad.mps.heisenberg(20)
    searches = {name: qad.mps.ground_state(H, bond=32, method=name) for name in ("dmrg2", "riemannian")}
    return {
        "history": qad.viz.history(searches, exact=BETHE),
        "entanglement": qad.viz.entanglement({"Heisenberg": searches["dmrg2"].state,
                                              "a random state": qad.mps.MPS.random(20, 32)}),
        "gradient_check": qad.viz.gradient_check(lambda psi: qad.mps.energy(psi, H), (qad.mps.MPS.random(20, 4),)),
    }  # fmt: skip


def main():
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        draw().save(FOLDER / f"{name}.svg")
    for name, plot in plots().items():
        plot.save(FOLDER / f"{name}.png", dpi=100)


if __name__ == "__main__":
    main()
