"""Pictures: the graph of a recorded Tensor."""

from qad.viz.picture import Picture, draw
