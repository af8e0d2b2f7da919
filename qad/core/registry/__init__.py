"""The registry of primitives and their rules, and the ways by which Tensors reach them."""
