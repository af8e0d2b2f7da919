"""Infinite states: a cell of tensors, its environment, and what is measured in it."""
