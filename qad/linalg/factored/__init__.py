"""Products of the factors of a decomposition, written by hand, as functions of the matrix they came from."""
