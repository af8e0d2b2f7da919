"""A chain of qad trained by an optimiser of torch: the ground state of a transverse Ising ring."""

import numpy as np
import torch

import qad
from qad.interop.torch import wrap

n = 6
hamiltonian = qad.mps.ising(n, 1.0, periodic=True)
start = qad.mps.MPS.random(n, 8, seed=0).tensors
energy = wrap(lambda tensors: qad.mps.energy(qad.mps.MPS(list(tensors)), hamiltonian))

tensors = [torch.tensor(np.asarray(t), requires_grad=True) for t in start]
optimizer = torch.optim.LBFGS(
    tensors, max_iter=300, tolerance_grad=1e-9, tolerance_change=1e-14, line_search_fn="strong_wolfe"
)


def closure():
    optimizer.zero_grad()
    loss = energy(tensors)
    loss.backward()
    return loss


optimizer.step(closure)
exact = np.linalg.eigvalsh(hamiltonian.to_dense())[0]
print(f"energy {energy(tensors).item():.8f}   exact {exact:.8f}")
