"""Hamiltonians of well-known chains, ladders and cylinders."""
