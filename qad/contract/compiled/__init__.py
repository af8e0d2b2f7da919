"""What Numba compiles (the extra ``fast``); imported where it is installed, at first use."""
