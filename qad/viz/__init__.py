"""Pictures: of graphs, networks, plans and circuits, and plots of what searches and checks have found."""

from qad.showing.picture import Picture
from qad.viz.draw import draw
from qad.viz.network import network
from qad.viz.plots import entanglement, gradient_check, history

__all__ = ["Picture", "draw", "entanglement", "gradient_check", "history", "network"]
