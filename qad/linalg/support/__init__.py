"""What several decompositions and functions share: checks of arguments, drivers, degenerate spectra."""
