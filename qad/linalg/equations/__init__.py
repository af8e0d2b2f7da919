"""Linear equations and inverses."""
