"""The order of a contraction, for value and gradient together, and what is cut where memory is short."""
