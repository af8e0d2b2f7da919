"""Write the pictures of docs/pictures.md and the README into docs/pictures: ``python docs/pictures.py``."""

from pathlib import Path

import numpy as np

import qad
from qad.showing import Drawing, Picture
from qad.showing.drawing import BLUE, GREY, INK, RED

BETHE = -8.6824733344  # the energy of 20 open Heisenberg spins: examples/mps/01_heisenberg_ground_state.py
FOLDER = Path(__file__).with_name("pictures")


def graph():
    """The graph of an energy <psi|H|psi> / <psi|psi>, with its gradient."""
    H = np.array([[1.0, 0.5j], [-0.5j, -1.0]])
    psi = qad.tensor(np.array([1.0, 1.0j]), requires_grad=True)
    energy = (np.vdot(psi, H @ psi) / np.vdot(psi, psi)).real
    return qad.draw(energy, names={"psi": psi})


def flow(sheet, begin, end, colour=INK):
    """A leg from one point to another, whose arrow says which way it flows."""
    dx, dy = np.subtract(end, begin) / np.hypot(*np.subtract(end, begin))
    x, y = np.add(begin, end) / 2 + (4 * dx, 4 * dy)
    sheet.line([begin, end], colour, 2)
    sheet.line(
        [(x - 8 * dx + 5 * dy, y - 8 * dy - 5 * dx), (x, y), (x - 8 * dx - 5 * dy, y - 8 * dy + 5 * dx)], colour, 2
    )


def site(sheet, x, y, label, colour, sign=1):
    """A site, up and left entering, down and right leaving; the other way round in its conjugate."""
    for dx, dy, enters in ((0, -1, 1), (-1, 0, 1), (0, 1, -1), (1, 0, -1)):
        ends = [(x + r * dx, y + r * dy) for r in (58, 14)]
        flow(sheet, *ends[:: sign * enters], colour)
    sheet.disc(x, y, 14, "#ffffff", colour)
    sheet.text(x, y, label, 13, colour, bold=True)


def fermions():
    """The convention of fermions: a site and its flows, the double layer, and the two rules that give signs."""
    sheet = Drawing(700, 270)
    for x, title in ((110, "A site"), (340, "The double layer"), (575, "Where a sign comes from")):
        sheet.text(x, 18, title, 13, bold=True)
    site(sheet, 110, 130, "A", BLUE)
    flow(sheet, (62, 178), (100, 140), BLUE)
    names = [(118, 80, "up, +"), (20, 112, "left, +"), (118, 182, "down, \u2212"), (150, 112, "right, \u2212"),
             (22, 190, "physical, +")]  # fmt: skip
    for x, y, words in names:
        sheet.text(x, y, words, 11, align="start")
    sheet.text(110, 236, "in, +: a ket |i)", 11)
    sheet.text(110, 253, "out, \u2212: a bra (i|", 11)
    site(sheet, 372, 96, "A", BLUE)
    site(sheet, 308, 168, "A*", RED, -1)
    flow(sheet, (318, 157), (362, 106))
    sheet.text(340, 236, "conj turns every arrow;", 11)
    sheet.text(340, 253, "the physical legs are joined", 11)
    for x in (0, 1):
        ends = [(485 + 50 * x, 50), (535 - 50 * x, 110)]
        sheet.line(ends, RED, 2)
    sheet.text(510, 128, "|i)|j) = \u2212 |j)|i)", 11)
    sheet.text(510, 145, "both odd: \u22121", 11, RED)
    sheet.path("MCC", [(640, 50), (607, 50), (607, 110), (640, 110), (673, 110), (673, 50), (640, 50)], RED, 2)
    sheet.line([(626, 44), (634, 50), (626, 56)], RED, 2)
    sheet.text(640, 128, "ket, then its bra", 11)
    sheet.text(640, 145, "odd: \u22121", 11, RED)
    flow(sheet, (540, 185), (610, 185), GREY)
    sheet.text(575, 205, "bra, then its ket: no sign", 11, GREY)
    sheet.text(575, 236, "all sites are even, so that any order", 11)
    sheet.text(575, 253, "of contraction gives the same", 11)
    return Picture(sheet, fermions.__doc__)


DRAWINGS = {
    "graph": graph,
    "state": lambda: qad.draw(qad.mps.MPS.random(30, bond=32)),
    "operator": lambda: qad.draw(qad.mps.heisenberg(6)),
    "plane": lambda: qad.draw(qad.peps.finite.FinitePEPS.random(2, 4, bond=3)),
    "plan": lambda: qad.draw(
        qad.plan("ab,bc,cd,de,ea->", (2, 2), (2, 20), (20, 50), (50, 10), (10, 2), variables=[0, 1])
    ),
    "fermions": fermions,
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
