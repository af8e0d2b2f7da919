"""Amplitudes of configurations, their logarithms, and samples of a chain."""
