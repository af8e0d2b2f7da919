"""Effective operators and environments, one kernel for plain arrays and one for symmetric tensors."""
