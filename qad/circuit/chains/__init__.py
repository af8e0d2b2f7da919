"""Circuits on matrix product states: many qubits, little entanglement, gradients by a reverse sweep."""
