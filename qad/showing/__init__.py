"""What people see: pictures, drawn by hand as SVG or by matplotlib, and cards in notebooks."""

from qad.showing.card import card
from qad.showing.drawing import Drawing
from qad.showing.picture import Picture
