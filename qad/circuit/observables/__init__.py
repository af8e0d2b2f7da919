"""Observables: Pauli sums, matrices, projectors, fermions; energies and samples."""
