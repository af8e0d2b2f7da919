"""Batches of examples: values that are stacks, and rules for what a primitive does to them."""
