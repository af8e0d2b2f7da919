"""Functions of each entry."""
