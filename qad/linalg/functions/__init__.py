"""Functions of matrices: exponentials and logarithms, determinants, norms, and functions of the user's own."""
