"""Looking on while operations are recorded: `qad.debug` and `qad.profile`."""
