"""Circuits: how they are written down, analysed, drawn and asked."""
