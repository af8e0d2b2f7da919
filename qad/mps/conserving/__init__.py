"""Chains that conserve charges: states of symmetric tensors, and their ground states."""
