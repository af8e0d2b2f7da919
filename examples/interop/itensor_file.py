"""A chain in ITensor's HDF5 layout, written and read: its energy in memory beside that of the file."""

import tempfile
from pathlib import Path

import qad
from qad.interop.itensor import read_itensor, write_itensor

h = qad.mps.heisenberg(10)
psi = qad.mps.ground_state(h, bond=16).state
path = Path(tempfile.mkdtemp(), "chain.h5")
write_itensor(path, "psi", psi, tags="S=1/2,Site")  # in Julia: h5open(path) do f; read(f, "psi", MPS); end
write_itensor(path, "H", h, tags="S=1/2,Site")
energy = qad.mps.energy(read_itensor(path, "psi"), read_itensor(path, "H"))
print(f"energy {energy:.10f}   exact {qad.mps.energy(psi, h):.10f}")
