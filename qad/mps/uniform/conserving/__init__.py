"""Infinite chains of definite charge: uniform states of symmetric tensors, and their search."""
