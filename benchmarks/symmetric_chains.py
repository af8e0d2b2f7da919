"""Chains of definite charge in qad and in TeNPy: the same models, the same states, the same number of products.

J1-J2 is the chain of spins 1/2 with couplings 1 and 0.3 to the next neighbours and the ones behind; Hubbard has hopping
1 and U = 4.  For sweeps both begin from one state, which qad grows to the bond and which is handed over dense; a step
is solved with five Lanczos products, nothing is mixed in.
"""

from functools import lru_cache

import numpy as np

PRODUCTS = 5  # of the effective operator with a vector, per step


class Model:
    """A chain by name and length: as qad and as TeNPy have it."""

    def __init__(self, name, sites):
        self.name, self.sites = name, sites
        self.conserve, self.sector = ("Sz", 0) if name == "J1-J2" else (("N", "Sz"), (sites, 0))
        self.kind = "spin-1/2" if name == "J1-J2" else "electron"

    def of_qad(self):
        """qad's operator."""
        import qad

        if self.name == "J1-J2":
            return qad.mps.j1j2(self.sites, 1.0, 0.3)
        return qad.mps.hubbard(self.sites, 1.0, 4.0)

    def of_tenpy(self):
        """TeNPy's model."""
        import warnings

        from tenpy.models.lattice import Chain
        from tenpy.models.model import CouplingMPOModel
        from tenpy.networks.site import SpinHalfFermionSite, SpinHalfSite

        warnings.simplefilter("ignore")
        spins = self.name == "J1-J2"

        class Couplings(CouplingMPOModel):
            default_lattice, force_default_lattice = Chain, True

            def init_sites(self, parameters):
                return SpinHalfSite("Sz") if spins else SpinHalfFermionSite("N", "Sz")

            def init_terms(self, parameters):
                for distance, strength in ((1, 1.0), (2, 0.3)) if spins else ():
                    self.add_coupling(strength, 0, "Sz", 0, "Sz", distance)
                    self.add_coupling(strength / 2, 0, "Sp", 0, "Sm", distance, plus_hc=True)
                if not spins:
                    self.add_onsite(4.0, 0, "NuNd")
                    self.add_coupling(-1.0, 0, "Cdu", 0, "Cu", 1, plus_hc=True)
                    self.add_coupling(-1.0, 0, "Cdd", 0, "Cd", 1, plus_hc=True)

        return Couplings({"L": self.sites, "bc_MPS": "finite"})

    def basis(self):
        """The states of the sites that a start has: Neel, in both packages' numbers."""
        if self.name == "J1-J2":
            return [0, 1] * (self.sites // 2), ["up", "down"] * (self.sites // 2)
        return [1, 2] * (self.sites // 2), ["up", "down"] * (self.sites // 2)

    def start(self):
        """qad's product state."""
        import qad

        return qad.mps.MPS.product(self.basis()[0], conserve=self.conserve, dtype=float, sites=self.kind)


MODELS = {"J1-J2": Model("J1-J2", 60), "Hubbard": Model("Hubbard", 40)}


@lru_cache
def grown(name, bond):
    """A state of this bond near the lowest one, its sweeps, and its energy."""
    from qad.mps.conserving.observables import operator_for
    from qad.mps.conserving.sweeps import TwoSites

    model = MODELS[name]
    start = model.start()
    sweeps = TwoSites(operator_for(start, model.of_qad()), start, bond)
    while sweeps.growing:
        sweeps.sweep()
    return sweeps.state


def sweeps_of_qad(name, bond):
    """One sweep of two sites, there and back."""
    from qad.mps.conserving.observables import operator_for
    from qad.mps.conserving.sweeps import TwoSites

    start = grown(name, bond)
    sweeps = TwoSites(operator_for(start, MODELS[name].of_qad()), start, bond)
    sweeps.mixing = 0.0

    def call():
        sweeps.products, sweeps.tolerance, sweeps.bond = PRODUCTS, 0.0, bond
        return sweeps.sweep()

    return call


def state_of_tenpy(name, model, state):
    """A state of qad in TeNPy."""
    import tenpy.linalg.np_conserved as npc
    from tenpy.networks.mps import MPS

    sites, tensors = model.lat.mps_sites(), []
    kinds = sites[0].leg.chinfo

    def leg(given, flow):
        charges = np.repeat(np.array(given.charges), given.dims, axis=0)
        return npc.LegCharge.from_qflat(kinds, charges, flow).bunch()[1]

    orders = [np.argsort(order) for order in state.conserved.orders]
    for tensor, order, site in zip(state, orders, sites, strict=True):
        dense = tensor.to_dense()[:, order]
        dense = dense[:, numbers_of_tenpy(name, site)]
        legs = [leg(tensor.legs[0], 1), site.leg, leg(tensor.legs[2], -1)]
        tensors.append(npc.Array.from_ndarray(dense, legs, labels=["vL", "p", "vR"], cutoff=1e-300))
    one = [np.ones(t.shape[0]) for t in tensors] + [np.ones(1)]
    psi = MPS(sites, tensors, one, bc="finite", form=None)
    psi.canonical_form()
    return psi


def numbers_of_tenpy(name, site):
    """For each basis state of a site of TeNPy its number in qad."""
    own = ["up", "down"] if name == "J1-J2" else ["empty", "up", "down", "full"]
    place = {site.state_index(label): number for number, label in enumerate(own)}
    return [place[i] for i in range(site.dim)]


def engine(psi, model, bond, combine, mixer, **options):
    """TeNPy's sweeps of two sites."""
    from tenpy.algorithms.dmrg import TwoSiteDMRGEngine

    parameters = {
        "mixer": mixer, "combine": combine, "max_E_err": 1e-14, "N_sweeps_check": 1,
        "trunc_params": {"chi_max": bond, "svd_min": 1e-10}, **options,
    }  # fmt: skip
    found = TwoSiteDMRGEngine(psi, model, parameters)
    found.pre_run_initialize()
    return found


def sweeps_of_tenpy(combine, name, bond):
    """One sweep of two sites, there and back."""
    model = MODELS[name].of_tenpy()
    found = engine(
        state_of_tenpy(name, model, grown(name, bond)), model, bond, combine, None,
        lanczos_params={"N_min": PRODUCTS, "N_max": PRODUCTS, "P_tol": 0.0, "E_tol": 0.0},
    )  # fmt: skip

    def call():
        found.sweep()
        return found.update_stats["E_total"][-1]

    return call
