"""Searches for ground states: gradients, sweeps, and imaginary time."""
