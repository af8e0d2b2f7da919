"""Channels, measurements and conditions, as density matrices and as trajectories."""
