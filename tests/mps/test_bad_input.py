"""What chains are given by mistake: refused, with words that say what to write instead."""

import re

import numpy as np
import pytest

import qad
from qad.core.errors import QadError
from qad.mps import MPO, MPS, OpSum, Site, correlations, entanglement_entropy, structure_factor, thermal_state

PSI, H = MPS.random(4, 3), qad.mps.heisenberg(4)
SPINS, FERMIONS = (MPS.random(3, 2, kind=kind) for kind in ("spin-1/2", "fermion"))
WALKER = MPS.random(3, 2, kind="fermion", conserve="N", sector=1)
HOPPING = OpSum(3, "fermion").add(1.0, "Cdag", 0, "C", 1).add(1.0, "Cdag", 1, "C", 0)
EYE, STEP = np.eye(2), np.eye(2, k=1)
ALTERNATING = [row.reshape(1, 2, 1) for row in EYE]

CALLS = {
    "a matrix that is not finite": (lambda: OpSum(2).add(1.0, np.full((2, 2), np.nan), 0), "no finite numbers"),
    "a matrix of objects": (lambda: OpSum(2).add(1.0, EYE.astype(object), 0), "no finite numbers"),
    "a sum times nan": (lambda: OpSum(2) * np.nan, "the factor of a sum must be a finite number"),
    "a sum times nothing": (lambda: OpSum(2) * None, "the factor of a sum must be a finite number"),
    "a sum over zero": (lambda: OpSum(2) / 0, "not divided by zero"),
    "a state over zero": (lambda: PSI / np.float64(0.0), "not divided by zero"),
    "symmetric tensors alone": (
        lambda: qad.mps.uniform.UniformMPS(MPS.product([0, 1], conserve="Sz").tensors),
        "UniformMPS(tensors, psi.conserved)",
    ),
    "a repeated state that conserves a name": (
        lambda: qad.mps.uniform.UniformMPS(MPS.product([0, 1], conserve="Sz").tensors, "Sz"),
        "what another state conserves",
    ),
    "a set of sites": (lambda: OpSum(2, {"spin-1", "fermion"}), "there is no kind of site"),
    "a site without identity": (lambda: Site("x", {"A": EYE}), "has no operator 'Id'"),
    "a rectangle on a site": (lambda: Site("x", {"Id": EYE, "A": np.ones((2, 3))}), "no matrix of 2 x 2"),
    "another identity": (lambda: Site("x", {"Id": np.diag([1.0, 2.0])}), "is not the identity"),
    "fermions without parity": (lambda: Site("x", {"Id": EYE, "C": STEP}, frozenset({"C"})), "the parity 'F'"),
    "a quantity that is a number": (lambda: OpSum(2).add(1.0, "Z", 0).mpo(conserve=3), "must name quantities"),
    "a correlation with nothing": (lambda: correlations(PSI, None, "Sz"), "a name, a matrix or one matrix"),
    "a correlation of other sites": (lambda: correlations(PSI, "Sz", "Sz", kind="spin-1"), "does not fit site 0"),
    "momenta in letters": (lambda: structure_factor(PSI, "Sz", "Sz", ["a"]), "momenta are finite real numbers"),
    "complex momenta": (lambda: structure_factor(PSI, "Sz", "Sz", [1j]), "momenta are finite real numbers"),
    "entropy of nothing": (lambda: entanglement_entropy(0 * PSI), "zero or not finite"),
    "entropy of a bond in letters": (lambda: entanglement_entropy(PSI, "a"), "there is no bond 'a'"),
    "a chain for a site": (lambda: qad.mps.reduced_density(PSI, PSI), "sites are whole numbers"),
    "a chain for the other site": (lambda: qad.mps.swap(PSI, 0, PSI), "sites are whole numbers"),
    "a density matrix of half a site": (lambda: qad.mps.reduced_density(PSI, 1.5), "there is no site 1.5"),
    "half a site": (lambda: PSI.canonicalize(1.5), "there is no site 1.5"),
    "a bond of one and a half": (lambda: MPO.from_dense(np.eye(4), bond=1.5), "bond must be a whole number"),
    "a bond of nothing": (lambda: MPS.from_dense(np.eye(2), bond=0), "bond must be a whole number"),
    "a dimension in letters": (lambda: MPO.from_dense(np.eye(4), phys="2"), "phys must be a whole number"),
    "an overlap of spins and fermions": (
        lambda: qad.mps.overlap(SPINS, FERMIONS),
        "site 0 of the state is of kind 'spin-1/2', of the other state 'fermion': make both for the same kind",
    ),
    "an energy of spins that hop": (
        lambda: qad.mps.energy(SPINS, HOPPING),
        "site 0 of the state is of kind 'spin-1/2', of the operator 'fermion': make both for the same kind",
    ),
    "an overlap of fermions and bosons with N": (
        lambda: qad.mps.overlap(WALKER, MPS.random(3, 2, kind="boson-1", conserve="N", sector=1)),
        "site 0 of the state is of kind 'fermion', of the other state 'boson-1': make both for the same kind",
    ),
    "an energy of fermions that hop as bosons": (
        lambda: qad.mps.energy(WALKER, OpSum(3, "boson-1").add(1.0, "Bdag", 0, "B", 2).add(1.0, "Bdag", 2, "B", 0)),
        "site 0 of the state is of kind 'fermion', of the operator 'boson-1': make both for the same kind",
    ),
    "a product of an operator of fermions and spins": (
        lambda: HOPPING.mpo() @ SPINS,
        "site 0 of the state is of kind 'spin-1/2', of the operator 'fermion': make both for the same kind",
    ),
    "a sum of operators of spins and fermions": (
        lambda: qad.mps.heisenberg(3) + HOPPING.mpo(),
        "site 0 of the operator is of kind 'spin-1/2', of the other operator 'fermion': make both for the same kind",
    ),
    "a product of operators of fermions and spins": (
        lambda: HOPPING.mpo() @ qad.mps.heisenberg(3),
        "site 0 of the operator is of kind 'fermion', of the other operator 'spin-1/2': make both for the same kind",
    ),
    "a mean of fermions in spins that are warm": (
        lambda: qad.mps.thermal_state(qad.mps.heisenberg(3), 1.0).expectation(HOPPING),
        "site 0 of the state is of kind 'spin-1/2', of the observable 'fermion': make both for the same kind",
    ),
    "an energy of infinite fermions that hop as bosons, by cells of 2 and 1": (
        lambda: qad.mps.uniform.energy_density(
            qad.mps.uniform.UniformMPS(ALTERNATING, kind="fermion"),
            qad.mps.uniform.UniformOpSum(1, "boson-1").add(1.0, "Bdag", 0, "B", 1).add(1.0, "Bdag", 1, "B", 0),
        ),
        "site 0 of the state is of kind 'fermion', of the operator 'boson-1': make both for the same kind",
    ),
    "a fidelity of infinite fermions and spins": (
        lambda: qad.mps.uniform.fidelity(
            *(qad.mps.uniform.UniformMPS(ALTERNATING, kind=kind) for kind in ("fermion", "spin-1/2"))
        ),
        "site 0 of the state is of kind 'fermion', of the other state 'spin-1/2': make both for the same kind",
    ),
    "a search of fermions from spins": (
        lambda: qad.mps.ground_state(HOPPING, 2, start=SPINS),
        "site 0 of the state is of kind 'spin-1/2', of the operator 'fermion': make both for the same kind",
    ),
    "a temperature in letters": (lambda: thermal_state(H, "1"), "time is one real number"),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused_in_words(name):
    call, words = CALLS[name]
    with pytest.raises(QadError, match=re.escape(words)):
        call()


def test_site_of_lists():
    kind = Site("mine", {"Id": [[1, 0], [0, 1]], "A": [[1, 0], [0, 2]]})
    np.testing.assert_array_equal(OpSum(1, kind).add(2.0, "A", 0).mpo().to_dense(), np.diag([2.0, 4.0]))


def test_no_momenta():
    assert structure_factor(PSI, "Sz", "Sz", np.zeros(0)).shape == (0,)


def test_one_side_that_does_not_know_its_sites_is_taken():
    unknown = MPS(FERMIONS.tensors)
    assert qad.mps.overlap(SPINS, unknown) == pytest.approx(np.vdot(SPINS.to_dense(), FERMIONS.to_dense()))
    assert qad.mps.energy(unknown, HOPPING) == pytest.approx(qad.mps.energy(FERMIONS, HOPPING))
    assert qad.mps.overlap(WALKER, MPS(WALKER.tensors, WALKER.conserved)) == pytest.approx(1.0)


def test_a_kind_that_the_user_extends_is_the_same_kind():
    """The operators that both know are the same; where they are not, as in another basis, that is told."""
    known = qad.mps.site("spin-1/2")
    wider = Site(known.name, {**known.operators, "up": np.diag([1.0, 0.0])}, charges=known.charges)
    psi = MPS.random(3, 2, kind=wider)
    assert qad.mps.overlap(psi, MPS(psi.tensors, kind=known)) == pytest.approx(1.0)
    assert qad.mps.norm(psi + MPS(psi.tensors, kind=known)) == pytest.approx(2.0)
    H = qad.mps.heisenberg(3)
    assert qad.mps.energy(psi, H) == pytest.approx(qad.mps.energy(MPS(psi.tensors), H))
    turned = MPS(psi.tensors, kind=Site(known.name, {"Id": EYE, "Sz": known.operators["Sx"]}))
    with pytest.raises(QadError, match="'spin-1/2', of the other state 'spin-1/2' with other operators"):
        qad.mps.overlap(psi, turned)
