"""Rows of site tensors: states, their gauges and canonical forms, gates on them, and their files."""
