"""A ground state of TeNPy's DMRG in qad: the same energy, and the field's gradient of it beside the magnetisation."""

import numpy as np
from tenpy.algorithms.dmrg import TwoSiteDMRGEngine
from tenpy.models.tf_ising import TFIChain
from tenpy.networks.mps import MPS

import qad
from qad.interop.tenpy import from_tenpy

model = TFIChain({"L": 8, "J": 1.0, "g": 1.5, "bc_MPS": "finite", "conserve": "parity"})
start = MPS.from_product_state(model.lat.mps_sites(), ["up"] * 8, bc="finite")
exact, found = TwoSiteDMRGEngine(start, model, {"trunc_params": {"chi_max": 16}}).run()
psi, h = from_tenpy(found), from_tenpy(model.H_MPO)
print(f"energy {qad.mps.energy(psi, h):.10f}   exact {exact:.10f}")

flip = from_tenpy(TFIChain({"L": 8, "J": 0.0, "g": 1.0, "bc_MPS": "finite", "conserve": "parity"}).H_MPO)
slope = qad.grad(lambda dg: qad.mps.energy(psi, h) + dg * qad.mps.energy(psi, flip))(0.0)  # Hellmann-Feynman
print(f"slope {slope:.8f}   exact {-np.sum(found.expectation_value('Sigmaz')):.8f}")
