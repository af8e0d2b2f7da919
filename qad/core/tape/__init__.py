"""The tape: Tensors, the levels that record them, nodes, the backward sweep and forward mode.  Read this room first."""
