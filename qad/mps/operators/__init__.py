"""Operators on chains: named local operators, sums of their products, and matrix product operators."""
