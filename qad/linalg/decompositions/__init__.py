"""Decompositions of matrices, one per file: spectra, singular values, triangular and polar factors."""
