"""Operators by name: of infinite chains too, and of the kind of site that stands there."""

import numpy as np
import pytest

import qad
from qad import mps
from qad.core.errors import ArgumentError, ShapeError


@pytest.mark.slow
def test_names_work_in_infinite_chains():
    """<X> of the Ising chain at g = 2 by P. Pfeuty (1970), which is the derivative of the energy by the field."""
    state = mps.uniform.ground_state(mps.uniform.ising(2.0), 12, cell=1).state
    k = (np.arange(4000) + 0.5) * np.pi / 4000
    exact = np.mean((2 + np.cos(k)) / np.sqrt(5 + 4 * np.cos(k)))
    assert mps.uniform.local_expectations(state, "X")[0] == pytest.approx(exact, abs=1e-8)
    up = mps.uniform.UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    assert mps.uniform.local_expectations(up, "Z") == pytest.approx([1.0])
    neel = mps.uniform.ground_state(mps.uniform.xxz(3.0), 4, conserve="Sz").state
    assert abs(mps.uniform.local_expectations(neel, "Sz").sum()) < 1e-10
    pair = mps.uniform.UniformMPS([up[0], up[0][:, ::-1]])
    np.testing.assert_allclose(mps.uniform.local_expectations(pair, [np.diag([1.0, 2.0]), np.eye(2)]), [1, 1])
    one = mps.uniform.UniformMPS([np.array([0.0, 1.0]).reshape(1, 2, 1)])
    assert mps.uniform.local_expectations(one, "N", kind="fermion") == pytest.approx([1.0])


@pytest.mark.parametrize("conserve", ["N", ("N", "Sz")])
def test_charges_tell_what_stands_on_the_sites(conserve):
    found = mps.ground_state(mps.hubbard(4, 1.0, 4.0), 16, conserve=conserve, sector=4 if conserve == "N" else (4, 0))
    assert mps.measure(found.state, "N").sum() == pytest.approx(4)
    assert mps.local_expectations(found.state, "Nup").sum() == pytest.approx(2)
    assert abs(mps.measure(found.state, "Sz", 0)) < 1e-8
    dense = mps.correlations(found.state.without_symmetry(), "Cdagup", "Cup", kind="electron")
    np.testing.assert_allclose(mps.correlations(found.state, "Cdagup", "Cup"), dense, atol=1e-10)


def test_charges_of_spins_are_no_charges_of_electrons():
    """A t-J chain conserves that, too, as empty sites minus electrons of spin down: another sector was searched."""
    H = mps.tj(4, 1.0, 0.5)
    spins = mps.MPS.product([1, 2, 1, 0], phys=3, conserve="Sz")
    electrons = mps.MPS.product([1, 2, 1, 0], phys=3, conserve="Sz", kind="t-J")
    for call in (
        lambda psi: mps.ground_state(H, start=psi),
        lambda psi: mps.evolve(psi, H, 0.1, 1),
        lambda psi: mps.energy(psi, H),
    ):
        with pytest.raises(ArgumentError, match=r"kind 't-J'.*charges \[2, 0, -2\].*kind='t-J'"):
            call(spins)
        call(electrons)
    assert mps.measure(electrons, "Sz").real == pytest.approx([0.5, -0.5, 0.5, 0.0])


def test_states_that_do_not_tell_ask_for_the_kind():
    electrons = mps.MPS(mps.MPS.product(["up", "updown", "down"], kind="electron").tensors)
    for name in ("N", "Nup", "Sz", "Sx"):  # the spin-3/2 has Sz too, and another one
        for call in (
            mps.measure,
            mps.local_expectations,
            lambda psi, name: mps.measure(psi, name, 1),
            lambda psi, name: mps.correlations(psi, name, name),
            lambda psi, name: mps.multipoint(psi, (name, name), [[0, 1]]),
        ):
            with pytest.raises(ArgumentError, match=rf"what stands.*electron.*'{name}'.*site\('electron'\)"):
                call(electrons, name)
    assert mps.local_expectations(electrons, "N", kind="electron").real == pytest.approx([1, 2, 1])
    matrix = mps.site("electron").operators["N"]
    assert mps.measure(electrons, matrix).real == pytest.approx([1, 2, 1])
    with pytest.raises(ArgumentError, match=r"fermion, boson-1 have 'N'"):
        mps.measure(mps.MPS.product([0, 1]), "N")
    assert mps.measure(mps.MPS(electrons.tensors, kind="electron"), "N").real == pytest.approx([1, 2, 1])
    with pytest.raises(ShapeError, match="site 0 of the MPS has shape .*'fermion' has 2 basis states"):
        mps.MPS(electrons.tensors, kind="fermion")


def test_states_know_what_stands_on_their_sites(tmp_path):
    H, kind = mps.tj(4, 1.0, 0.5), "t-J"
    start = mps.MPS.random(4, 3, kind=kind)
    start.save(tmp_path / "state.npz")
    found = mps.ground_state(H, 8)
    states = [
        start, 2.0 * start, start + start, start.canonicalize(1), start.truncate(2)[0], start.apply("N", 1), H @ start,
        start.swap(0, 2), start.conj(), mps.MPS.load(tmp_path / "state.npz"), found.state,
        mps.ground_state(H, 8, conserve=("N", "Sz"), sector=(2, 0)).state.without_symmetry(),
        mps.evolve(mps.MPS(start.tensors), H, 0.1, 2).state, mps.evolve(start, H, 0.1, 2, "tebd").state,
        mps.metts(H, 0.5, 1, warm_up=0).states[0], mps.MPS.product([0, "up"], kind=kind),
        qad.grad(lambda psi: np.real(mps.measure(psi, "N")).sum())(start),
    ]  # fmt: skip
    for psi in states:
        assert {site.name for site in psi.sites} == {kind}
        np.testing.assert_allclose(psi.measure("Sz"), mps.local_expectations(psi, "Sz", kind=kind), atol=1e-14)
    assert mps.measure(mps.MPS.product([0, "up"], kind=kind), "N").real == pytest.approx([0, 1])
    mixed = mps.MPS.random(3, 4, kind=["spin-1/2", "electron", "boson-2"])
    assert mixed.phys == (2, 4, 3) and mixed.bonds == (1, 2, 3, 1)


def test_what_stands_on_a_site_moves_with_it():
    kinds = ["spin-1/2", "fermion", "fermion", "boson-1"]
    psi = mps.MPS.product(["down", "full", "empty", 1], kind=kinds)
    for state in (psi, mps.MPS.product(["down", "full", "empty", 1], kind=kinds, conserve="parity")):
        moved = state.swap(0, 2)
        assert [site.name for site in moved.sites] == ["fermion", "fermion", "spin-1/2", "boson-1"]
        np.testing.assert_allclose(mps.measure(moved, "N", 0), 0, atol=1e-14)
        np.testing.assert_allclose(mps.measure(moved, "Sz", 2), -0.5, atol=1e-14)
    for total in (mps.MPS(psi.tensors) + psi, psi + mps.MPS(psi.tensors)):  # one of both knows
        assert [site.name for site in total.sites] == kinds


def test_infinite_states_know_what_stands_on_their_sites():
    hops = [("Cdag", 0, "C", 1), ("Cdag", 1, "C", 0)]
    H = mps.uniform.UniformOpSum(kind="fermion").add(-0.5, "N", 0)
    for hop in hops:
        H = H.add(-1.0, *hop)
    psi = mps.uniform.ground_state(H, 8, cell=2).state
    cooled = mps.uniform.evolve(psi, H, 0.1, 1, imaginary=True).state
    for state in (psi, cooled):
        np.testing.assert_allclose(
            mps.uniform.local_expectations(state, "N"), mps.uniform.local_expectations(state, "N", kind="fermion")
        )


def test_the_couplings_of_the_frustrated_models_stand_in_one_order():
    pair = np.kron(*[mps.site("spin-1/2").operators["Sz"]] * 2)
    for model in (qad.peps.j1j2(2.0, 3.0),):
        sizes = [abs(np.sum(t.operator.reshape(4, 4) * pair)) / np.sum(pair**2) for t in model.terms]
        distance = [sum(map(abs, np.subtract(*t.sites))) for t in model.terms]
        assert [(d, round(float(size), 9)) for d, size in zip(distance, sizes, strict=True)] == [
            (1, 2.0), (1, 2.0), (2, 3.0), (2, 3.0),
        ]  # fmt: skip
    assert mps.j1j2(3, 2.0, 3.0).to_dense()[0, 0] == pytest.approx(2 * 2.0 / 4 + 3.0 / 4)
    with pytest.raises(TypeError, match="j2"):
        qad.peps.j1j2(0.5)


@pytest.mark.parametrize("name", ["Sz", "Sp", "Sx"])
def test_a_chain_without_charges_does_not_read_the_operators_of_electrons_as_those_of_spin_one(name):
    """A t-J chain without charges had the magnetisation of a spin 1: 1 on an empty site."""
    found = mps.MPS(mps.ground_state(mps.tj(4, 1.0, 0.5), 8).state.tensors)
    for call in (
        mps.measure,
        mps.local_expectations,
        lambda psi, name: mps.correlations(psi, name, name),
        lambda psi, name: psi.apply(name, 1),
    ):
        with pytest.raises(ArgumentError, match=rf"spin-1, t-J have '{name}': make the state with kind='t-J'"):
            call(found, name)
    assert abs(mps.local_expectations(found, "Sz", kind="t-J").sum()) < 1e-8


def test_an_operator_is_applied_by_the_name_that_the_charges_of_a_state_tell():
    """Sz of electrons was that of a spin 3/2."""
    electrons = mps.MPS.product(["up", "down"], kind="electron", conserve=("N", "Sz"))
    turned = electrons.apply("Sz", 1)
    assert turned.without_symmetry().to_dense()[1, 2].real == pytest.approx(-0.5)


def test_states_of_different_sites_are_not_added():
    with pytest.raises(ArgumentError, match="site 0 of the state is of kind 'fermion', of the other state 'spin-1/2'"):
        mps.MPS.random(3, 2, kind="fermion") + mps.MPS.random(3, 2, kind="spin-1/2")
