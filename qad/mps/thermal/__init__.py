"""Thermal states of chains: purifications by squaring, and samples."""
