"""Searches for ground states: gradients, Riemannian and plain, sweeps, and imaginary time."""
