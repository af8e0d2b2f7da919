"""Short-cuts for hot operations: nothing here changes a result."""
