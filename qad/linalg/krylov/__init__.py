"""Krylov methods: eigenpairs, linear equations and singular triples from products with vectors alone."""
