"""Spectral functions of chains, by evolution in real time."""
