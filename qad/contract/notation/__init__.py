"""From what the caller writes, subscripts, labels or factors of a trace, to networks."""
