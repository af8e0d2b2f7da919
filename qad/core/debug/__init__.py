"""Observers of recorded operations: `qad.debug` and `qad.profile`."""
