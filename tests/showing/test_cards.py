"""What notebooks show of plans, chains, circuits, sums and results: well-formed, and what `repr` says."""

from xml.etree import ElementTree

import numpy as np
import pytest

import qad
from qad.mps import MPS

TERM = np.diag([-1.0, 1.0, 1.0, -1.0]).reshape(2, 2, 2, 2)
SHOWN = {
    "plan": (lambda: qad.plan("ij,jk->ik", (2, 3), (3, 4)), ["ij,jk->ik", "24"]),
    "chain": (lambda: MPS.random(30, 4), ["MPS of 30 sites", "endsopen", "1-2-4-4-4-...-4-4-4-2-1", "complex128"]),
    "ring": (lambda: MPS.uniform([np.ones((3, 2, 3))], 4), ["endsperiodic", "3-3-3-3-3"]),
    "gradient": (lambda: qad.grad(qad.mps.energy)(MPS.random(4, 2), qad.mps.ising(4, 1.0)), ["MPS of 4 sites"]),
    "operator": (lambda: qad.mps.heisenberg(4), ["MPO of 4 sites", "largest bond5"]),
    "charge": (lambda: MPS.random(4, 4, conserve="Sz", sector=0), ["MPS of 4 sites", "Sz0"]),
    "infinite": (lambda: qad.mps.uniform.UniformMPS.random(4), ["endsrepeated"]),
    "circuit": (lambda: qad.Circuit(2).h(0).cx(0, 1), ["Circuit(2 qubits", "q0: ─H──●─"]),
    "sum": (lambda: qad.PauliSum({"ZZ": -1.0, "XI": 0.5}), ["PauliSum of 2 terms on 2 qubits", "ZZ-1.0"]),
    "long sum": (lambda: qad.PauliSum.on_sites(30, [(1.0, "Z", (i,)) for i in range(30)]), ["...10 more"]),
    "search": (lambda: qad.mps.ground_state(qad.mps.ising(4, 1.0), bond=4), ["GroundState", "methoddmrg2", "steps"]),
    "infinite search": (
        lambda: qad.mps.uniform.ground_state(TERM, bond=1, cell=1, starts=1),
        ["UniformGroundState", "energy-", "convergedTrue"],
    ),
    "minimisation": (lambda: qad.optimize.minimize(lambda x: (x - 1) ** 2, 0.0), ["OptimizeResult", "successTrue"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_cards(name):
    make, words = SHOWN[name]
    root = ElementTree.fromstring(make()._repr_html_())
    text = "".join(root.itertext())
    for word in words:
        assert word in text
