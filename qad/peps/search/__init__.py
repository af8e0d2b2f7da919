"""Searches for the ground states of infinite lattices."""
