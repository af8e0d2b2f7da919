"""Decompositions that keep the leading singular values only, exact or iterative."""
