"""Energies of chains as one node of the tape."""
