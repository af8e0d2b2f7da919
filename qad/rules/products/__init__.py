"""Products of arrays, convolutions, transforms and polynomials."""
