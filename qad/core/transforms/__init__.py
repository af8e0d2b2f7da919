"""The transforms: what the user calls."""
